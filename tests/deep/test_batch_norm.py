"""Batch renormalisation: the formula by hand, the kernels against autograd, running statistics, the learner."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from norm_cases import inputs_like, learner_of, network_of, random_batch
from torch import Tensor

from pyresac.deep.algorithms import ALGORITHMS
from pyresac.deep.algorithms.sac import SACOptions
from pyresac.deep.networks.batch_passes import run_batch_compiled, run_batch_eager
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.networks.running_statistics import BATCH_EPSILON, LARGEST_RATIO, LARGEST_SHIFT, MOMENTUM
from pyresac.errors import InputError

EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=40)


def column_by_hand(values: list[float], mean: float, variance: float, correct: bool) -> list[float]:
    """x̂ of one unit over the batch, Algorithm 1 of Ioffe 2017 in Python's floats."""
    own_mean = sum(values) / len(values)
    own_variance = sum((x - own_mean) ** 2 for x in values) / (len(values) - 1)
    own, usual = math.sqrt(own_variance + BATCH_EPSILON), math.sqrt(variance + BATCH_EPSILON)
    ratio, shift = 1.0, 0.0
    if correct:
        ratio = max(1 / LARGEST_RATIO, min(LARGEST_RATIO, own / usual))
        shift = max(-LARGEST_SHIFT, min(LARGEST_SHIFT, (own_mean - mean) / usual))
    return [(x - own_mean) / own * ratio + shift for x in values]


def by_hand(network: Network, head: int, rows: list[list[float]], correct: bool) -> list[list[float]]:
    """Outputs of one head for a batch without codes, unit by unit."""
    layout, running = network.layout, network.running
    assert running is not None
    weights, biases, _ = ([part[head].tolist() for part in parts] for parts in layout.split(network.matrix))
    scales, shifts = ([part[head].tolist() for part in parts] for parts in layout.affine(network.matrix))
    statistics = [(mean[head].tolist(), variance[head].tolist()) for mean, variance in running.by_layer(layout)]
    value = rows
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        if layer > 0:
            value = [[math.tanh(x) if layout.activation == "tanh" else max(0.0, x) for x in row] for row in value]
        columns = [
            column_by_hand([row[i] for row in value], statistics[layer][0][i], statistics[layer][1][i], correct)
            for i in range(len(weight))
        ]
        seen = [
            [scales[layer][i] * columns[i][row] + shifts[layer][i] for i in range(len(weight))]
            for row in range(len(value))
        ]
        value = [[b + sum(x * weight[i][j] for i, x in enumerate(row)) for j, b in enumerate(bias)] for row in seen]
    return value


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("correct", [False, True])
def test_the_formula(activation: str, correct: bool) -> None:
    network = network_of(NetworkLayout(3, (), (5, 4), 2, activation, "batch"), 2, dtype=torch.float64, correct=correct)
    assert network.running is not None
    given_inputs = inputs_like(network.layout, 6)
    through, _, _ = run_batch_eager(network.matrix, network.layout, given_inputs, network.running)
    for head in range(2):
        expected = by_hand(network, head, given_inputs.dense.tolist(), correct)
        np.testing.assert_allclose(through.output[head].numpy(), expected, rtol=1e-11, atol=1e-11)


LAYOUTS = st.builds(
    NetworkLayout,
    dense=st.integers(1, 4),
    categories=st.sampled_from([(), (2,), (3, 6)]),
    hidden=st.lists(st.integers(1, 37), min_size=1, max_size=3).map(tuple),
    outputs=st.integers(1, 3),
    activation=st.sampled_from(["relu", "tanh"]),
    normalisation=st.just("batch"),
)


@EXAMPLES
@given(LAYOUTS, st.integers(1, 3), st.integers(2, 40), st.integers(0, 2**16), st.booleans())
def test_the_kernels_are_autograd_of_the_formula(
    layout: NetworkLayout, heads: int, size: int, seed: int, correct: bool
) -> None:
    """In float64, where rounding is far below any wrong term."""
    network = network_of(layout, heads, seed, torch.float64, correct=correct)
    assert network.running is not None
    arguments = (network.matrix, layout, inputs_like(layout, size, seed), network.running)
    (compiled, *found), (eager, *expected) = run_batch_compiled(*arguments, 1), run_batch_eager(*arguments)
    close(compiled.output, eager.output)
    for one, other in zip(found, expected, strict=True):
        close(one, other)
    slope = torch.randn(heads, size, layout.outputs, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    close(compiled.gradient(slope), eager.gradient(slope))
    close(compiled.input_gradient(slope), eager.input_gradient(slope))
    close(compiled.input_gradient(slope, 1), eager.input_gradient(slope, 1))
    first = max(1, size // 2)
    close(compiled.first(first).output, eager.first(first).output)
    close(compiled.first(first).gradient(slope[:, :first]), eager.first(first).gradient(slope[:, :first]))


@EXAMPLES
@given(LAYOUTS, st.integers(1, 3), st.integers(1, 20), st.integers(0, 2**16))
def test_by_running_statistics_it_is_a_plain_network(layout: NetworkLayout, heads: int, size: int, seed: int) -> None:
    """The folded network against the formula with the running statistics in the batch's place."""
    network = network_of(layout, heads, seed, torch.float64)
    assert network.running is not None
    given_inputs = inputs_like(layout, size, seed)
    leaf = network.matrix.clone().requires_grad_()
    dense = given_inputs.dense.clone().requires_grad_()
    expected = with_running(leaf, network, given_inputs._replace(dense=dense))
    through = network.run(given_inputs)
    close(through.output, expected.detach())
    slope = torch.randn(heads, size, layout.outputs, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    wanted = torch.autograd.grad(expected, [leaf, dense], slope)
    close(through.gradient(slope), wanted[0])
    close(through.input_gradient(slope), wanted[1])
    close(network.run(given_inputs, keep=False).output, expected.detach())


def with_running(matrix: Tensor, network: Network, given_inputs: Inputs) -> Tensor:
    """Outputs by running statistics, layer by layer."""
    layout, running = network.layout, network.running
    assert running is not None
    weights, biases, tables = layout.split(matrix)
    scales, shifts = layout.affine(matrix)
    parts = [given_inputs.dense.expand(len(matrix), *given_inputs.dense.shape)]
    if given_inputs.codes is not None:
        parts += [table[:, given_inputs.codes[:, f] - layout.code_offsets[f]] for f, table in enumerate(tables)]
    value = torch.cat(parts, 2)
    for layer, (mean, variance) in enumerate(running.by_layer(layout)):
        if layer > 0:
            value = value.relu() if layout.activation == "relu" else value.tanh()
        value = (value - mean[:, None]) / (variance + BATCH_EPSILON).sqrt()[:, None]
        value = (scales[layer][:, None] * value + shifts[layer][:, None]) @ weights[layer] + biases[layer][:, None]
    return value


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-8)


def test_threads_change_no_bit_and_float32_is_near() -> None:
    layout = NetworkLayout(5, (4,), (256, 256), 1, "relu", "batch")
    network = network_of(layout, 3, correct=True)
    assert network.running is not None
    arguments = (network.matrix, layout, inputs_like(layout, 512, dtype=torch.float32), network.running)
    alone, shared = run_batch_compiled(*arguments, 1)[0], run_batch_compiled(*arguments, 3)[0]
    eager = run_batch_eager(*arguments)[0]
    slope = torch.ones(3, 512, 1)
    assert torch.equal(alone.output, shared.output)
    assert torch.equal(alone.gradient(slope), shared.gradient(slope))
    torch.testing.assert_close(alone.output, eager.output, rtol=1e-4, atol=1e-4)


def test_a_batch_moves_the_running_statistics_and_a_pass_by_them_does_not() -> None:
    network = network_of(NetworkLayout(2, (), (3,), 1, "relu", "batch"), 2)
    assert network.running is not None
    before = network.running.clone()
    given_inputs = inputs_like(network.layout, 7, dtype=torch.float32)
    network.run(given_inputs)
    assert torch.equal(before.mean, network.running.mean)
    network.run_batch(given_inputs)
    own = given_inputs.dense
    expected = before.mean[:, :2] + MOMENTUM * (own.mean(0) - before.mean[:, :2])
    torch.testing.assert_close(network.running.mean[:, :2], expected)
    expected = before.variance[:, :2] + MOMENTUM * (own.var(0, correction=1) - before.variance[:, :2])
    torch.testing.assert_close(network.running.variance[:, :2], expected)
    assert network.running.batches.item() == before.batches.item() + 1


def test_the_warm_up_counts_batches() -> None:
    network = network_of(NetworkLayout(2, (), (3,), 1, "relu", "batch"), 1, warmup=2)
    assert network.running is not None
    seen = []
    for _ in range(4):
        seen.append(network.running.correct)
        network.run_batch(inputs_like(network.layout, 5, dtype=torch.float32))
    assert seen == [False, False, False, True]


def test_a_unit_that_never_moves_has_a_finite_gradient() -> None:
    """Its variance is 0, where the derivative of a deviation without ε has no value."""
    network = network_of(NetworkLayout(2, (), (3,), 1, "relu", "batch"), 1, dtype=torch.float64, correct=True)
    given_inputs = Inputs(torch.ones(4, 2, dtype=torch.float64), None)
    through = network.run_batch(given_inputs)
    assert bool(torch.isfinite(through.gradient(torch.ones(1, 4, 1, dtype=torch.float64))).all())


def test_a_copy_and_a_head() -> None:
    network = network_of(NetworkLayout(2, (), (3,), 1, "relu", "batch"), 3)
    other = network.clone()
    given_inputs = inputs_like(network.layout, 5, dtype=torch.float32)
    assert torch.equal(network.head(1).run(given_inputs).output, network.run(given_inputs).output[1:2])
    network.run_batch(given_inputs)
    assert not torch.equal(other.run(given_inputs).output, network.run(given_inputs).output)
    other.copy(network)
    assert torch.equal(other.run(given_inputs).output, network.run(given_inputs).output)
    with pytest.raises(ValueError, match="a batch of one"):
        network.run_batch(inputs_like(network.layout, 1, dtype=torch.float32))


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "dsac"])
@pytest.mark.parametrize(("actions", "dense", "categories"), [(1, 1, ()), (2, 3, (4, 6)), (1, 0, (2,))])
@pytest.mark.parametrize("warmup", [0, 100])
def test_every_algorithm_learns_with_it(
    algorithm: str, actions: int, dense: int, categories: tuple[int, ...], warmup: int
) -> None:
    sizes = (actions, dense, categories)
    learner = learner_of(algorithm, *sizes, normalisation="batch", actor_every=3, ema_rate=0.5, renorm_warmup=warmup)
    before = {name: tensor.clone() for name, tensor in learner.networks().items()}
    for seed in range(7):
        learner.update(random_batch(*sizes, seed=seed))
    assert learner.not_finite is None
    after = learner.networks()
    assert not any(name.startswith("target") for name in after)
    for name, tensor in after.items():
        assert bool(torch.isfinite(tensor).all()), name
        assert name.startswith("best") != (not torch.equal(before[name], tensor)), name
    assert after["critic_running_batches"].item() == 7
    assert after["actor_running_batches"].item() == 2
    state = random_batch(*sizes, seed=9).state
    assert np.isfinite(learner.explore(state)).all()
    assert np.isfinite(learner.exploit(state)).all()


def test_implicit_critics_refuse_it_by_name() -> None:
    with pytest.raises(InputError, match="normalisation = 'batch'; implicit quantile critics have none or 'layer'"):
        learner_of("dsac", normalisation="batch")


def test_an_averaged_policy_has_averaged_statistics() -> None:
    learner = learner_of("sac", normalisation="batch", ema_rate=0.25)
    averaged, actor = learner.averaged.running, learner.actor.running
    assert averaged is not None
    assert actor is not None
    before = averaged.mean.clone()
    learner.update(random_batch())
    torch.testing.assert_close(averaged.mean, before + 0.25 * (actor.mean - before))
    learner = learner_of("sac", normalisation="batch")
    learner.update(random_batch())
    assert torch.equal(learner.networks()["averaged_running_mean"], learner.networks()["actor_running_mean"])
    state = random_batch().state
    assert np.array_equal(learner.exploit(state), learner.exploit(state, learner.actor))


def test_a_batch_of_one_is_refused() -> None:
    with pytest.raises(InputError, match="one transition has no variance; take at least 2"):
        SACOptions(batch_size=1, normalisation="batch")


def test_two_transitions_are_enough() -> None:
    learner = learner_of("sac", 1, 1, (), normalisation="batch", batch_size=2)
    for seed in range(3):
        learner.update(random_batch(1, 1, (), size=2, seed=seed))
    assert bool(torch.isfinite(learner.critic.matrix).all())


def test_an_unknown_code_is_named() -> None:
    network = network_of(NetworkLayout(1, (3,), (4,), 1, "relu", "batch"), 1)
    for run in (network.run, network.run_batch):
        with pytest.raises(IndexError, match="they must lie in 0 … 2"):
            run(Inputs(torch.zeros(2, 1), torch.tensor([[3], [0]])))
