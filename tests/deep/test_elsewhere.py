"""Where numbers lie on no CPU, PyTorch's operations compute what the kernels do here; on the CPU the kernels do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from deep_cases import RecordedNoise, numbers
from norm_cases import inputs_like, network_of
from torch import Tensor

from pyresac.deep import adam
from pyresac.deep.adam import Adam
from pyresac.deep.networks import batch_norm_kernels, batch_passes
from pyresac.deep.networks.batch_passes import CompiledBatchPass
from pyresac.deep.networks.compiled_passes import CompiledPass
from pyresac.deep.networks.eager_passes import EagerPass
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.policies.policy import TracedAction
from pyresac.deep.policies.squashed_gaussian import CompiledAction, SquashedGaussian
from pyresac.deep.quantiles import ascending, quantile_huber


class Elsewhere(torch.Tensor):
    """A tensor of the CPU that says it lies on another device; what is computed of it is a plain one."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]
    device = SimpleNamespace(type="cuda")  # type: ignore[assignment]


def elsewhere(tensor: Tensor) -> Tensor:
    """The same numbers, sharing memory."""
    return tensor.as_subclass(Elsewhere)


def close(found: Tensor, expected: Tensor) -> None:
    assert not found.requires_grad
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("by_batch", [False, True])
def test_a_pass(by_batch: bool) -> None:
    """And the running statistics that follow it."""
    layout = NetworkLayout(2, (3,), (4, 3), 2, "tanh", "batch" if by_batch else "layer")
    here, there = (network_of(layout, 2, dtype=torch.double, correct=True) for _ in range(2))
    there.matrix = elsewhere(there.matrix)
    inputs, weights = inputs_like(layout, 6), numbers(2, 6, 2, seed=4)
    passes: list[Any] = [network.run_batch(inputs) for network in (here, there)]
    assert [type(one) for one in passes] == [CompiledBatchPass if by_batch else CompiledPass, EagerPass]
    for name in ("gradient", "input_gradient"):
        close(*(getattr(one, name)(weights) for one in passes))
    close(passes[0].output, passes[1].output)
    if here.running is not None and there.running is not None:
        for name, tensor in here.running.tensors("own").items():
            close(tensor, there.running.tensors("own")[name])
        close(*(batch_passes.folded_now(one.matrix, layout, here.running) for one in (here, there)))
    close(here.run(inputs).output, there.run(inputs).output)


def test_running_statistics_are_folded_in_by_the_kernel_here_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    network, used = network_of(NetworkLayout(2, (), (3,), 1, "relu", "batch"), 1), list[str]()
    assert network.running is not None
    arguments = network.layout, network.running
    for owner, name in ((batch_passes, "folded"), (batch_norm_kernels, "fold_running")):
        monkeypatch.setattr(owner, name, lambda *_, name=name: used.append(name))
    for matrix in (network.matrix, elsewhere(network.matrix)):
        batch_passes.folded_now(matrix, *arguments)
    assert used == ["fold_running", "folded"]


def test_a_sample() -> None:
    """By the compiled loop for float32 of the CPU alone."""
    policy, outputs, noise = SquashedGaussian(0.3), numbers(5, 4, seed=0), numbers(5, 2, seed=1)
    kinds = {CompiledAction: [outputs.float()], TracedAction: [outputs, elsewhere(outputs), elsewhere(outputs.float())]}
    for kind, given in kinds.items():
        for one in given:
            found = policy.sample_with(one, noise.to(one.dtype))
            assert isinstance(found, kind)
            torch.testing.assert_close(found.unit.double(), policy.traced(outputs, noise).unit, rtol=1e-6, atol=1e-6)
    drawn = RecordedNoise(2)
    assert policy.sample(outputs.float(), drawn).unit.shape == (5, 2)
    assert [part.shape for part in drawn.drawn] == [(5, 2)]


def test_quantiles() -> None:
    """Sorted along the last axis; the loss by its double sum there, by one function of its own here."""
    atoms = numbers(3, 4, 5, seed=0)
    expected = torch.tensor([[sorted(row) for row in table] for table in atoms.tolist()], dtype=torch.double)
    for one in (atoms, elsewhere(atoms)):
        assert torch.equal(ascending(one), expected)
    target, fractions, weights = numbers(4, 6, seed=1), numbers(4, 5, seed=2).sigmoid(), numbers(4, 6, seed=3).exp()
    heads = atoms.clone().requires_grad_()
    here, there = (quantile_huber(one, target, fractions, weights) for one in (heads, elsewhere(heads)))
    assert [type(loss.grad_fn).__name__ == "QuantileHuberBackward" for loss in (here, there)] == [True, False]
    torch.testing.assert_close(here, there, rtol=1e-12, atol=1e-12)


def test_a_step_is_one_call_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fused one, which is the reason for taking it."""
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(adam, "adam", lambda *_, **how: asked.append(how))
    ours = Adam(torch.zeros(3), 0.1, beta1=0.5)
    assert ours._arrays is not None, "here the compiled loop takes it"
    ours.step(torch.ones(3))
    assert asked == []
    ours._arrays = None
    ours.step(torch.ones(3))
    assert asked == [
        {
            "fused": True,
            "amsgrad": False,
            "maximize": False,
            "beta1": 0.5,
            "beta2": 0.999,
            "lr": 0.1,
            "eps": 1e-8,
            "weight_decay": 0.0,
        }
    ]


@pytest.mark.parametrize("compiled", [True, False])
def test_an_average_of_one_number_follows_it(compiled: bool) -> None:
    own, average = torch.tensor([1.0]), torch.tensor([5.0])
    ours = Adam(own, 0.5, average, 0.25)
    if not compiled:
        ours._arrays = None
    ours.step(torch.tensor([2.0]))
    # Adam's first step is its rate
    assert (own.item(), average.item()) == pytest.approx((0.5, 5.0 - 0.25 * 4.5), abs=1e-6)
