"""Adam's step, compiled and in PyTorch's operations, against torch.optim.Adam and against its formula."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
import torch
from deep_cases import numbers
from torch import Tensor

from pyresac.deep.adam import Adam
from pyresac.deep.networks.pointwise_kernels import FAINT, NO_MEAN, NO_SQUARE


def optimiser(compiled: bool, *arguments: Any) -> Adam:
    """Whose step is the compiled loop, or the one for other devices."""
    made = Adam(*arguments)
    if not compiled:
        made._arrays = None
    return made


def stepped(compiled: bool, share: float | None, steps: int) -> tuple[Tensor, Adam]:
    """Steps beside PyTorch's optimiser in float64 and an average moved by hand; our average and optimiser."""
    own, exact = numbers(3, 5, seed=0).float(), numbers(3, 5, seed=0).float().double().requires_grad_()
    average = numbers(3, 5, seed=1).float()
    followed = average.double()
    ours = optimiser(compiled, own, 1e-2, *(() if share is None else (average, share)))
    theirs = torch.optim.Adam([exact], lr=1e-2)
    for step in range(steps):
        gradient = (10.0 ** (step % 5 - 3) * numbers(3, 5, seed=2 + step)).float()
        exact.grad = gradient.double()
        ours.step(gradient)
        theirs.step()
        if share is not None:
            followed += share * (exact.detach() - followed)
    # every step adds some roundings of numbers up to 3 to what there was
    bound = 8 * 2.0**-24 * 3.0 * steps
    torch.testing.assert_close(own.double(), exact.detach(), rtol=0.0, atol=bound)
    torch.testing.assert_close(average.double(), followed, rtol=0.0, atol=bound)
    return average, ours


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("share", [None, 0.0, 0.005, 0.49, 0.5, 0.7, 1.0])
def test_a_step_is_adams_and_the_average_follows(compiled: bool, share: float | None) -> None:
    average, ours = stepped(compiled, share, 40)
    if share in (None, 0.0):
        assert torch.equal(average, numbers(3, 5, seed=1).float())
    assert ours.moments["step"] == 40


@pytest.mark.parametrize("compiled", [True, False])
def test_an_average_that_is_to_be_the_parameter_is_it(compiled: bool) -> None:
    """To the bit, from wherever it comes."""
    own, average = numbers(3, 5, seed=0).float(), 1e8 * numbers(3, 5, seed=1).float()
    ours = optimiser(compiled, own, 1e-2, average, 1.0)
    ours.step(numbers(3, 5, seed=2).float())
    assert torch.equal(average, own)


@pytest.mark.parametrize("compiled", [True, False])
def test_an_average_that_waits_stays(compiled: bool) -> None:
    """As target networks do that move only when the actor does: the parameter goes on, the average not."""
    own, average = numbers(3, 5, seed=0).float(), numbers(3, 5, seed=1).float()
    ours, alone = optimiser(compiled, own, 1e-2, average, 0.5), numbers(3, 5, seed=0).float()
    other = optimiser(compiled, alone, 1e-2)
    for step in range(3):
        gradient = numbers(3, 5, seed=2 + step).float()
        ours.step(gradient, follow=False)
        other.step(gradient)
        assert torch.equal(average, numbers(3, 5, seed=1).float())
        assert torch.equal(own, alone)
    expected = torch.lerp(average, own, 0.5)
    ours.step(torch.zeros(3, 5))
    assert not torch.equal(average, expected)
    torch.testing.assert_close(average, torch.lerp(numbers(3, 5, seed=1).float(), own, 0.5))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("begun", [0, 1, 5_000, 200_000])
def test_small_gradients_and_late_steps(compiled: bool, begun: int) -> None:
    """Where ε counts, and where the corrections of the moments fade: Adam's formula in float64, for one step."""
    gradient = (10.0 ** torch.linspace(-12.0, 3.0, 40)).float()
    ours = optimiser(compiled, torch.zeros(40), 1.0)
    ours.moments["step"].fill_(begun)
    ours.step(gradient)
    mean, square = 0.1 * gradient.double(), 0.001 * gradient.double() ** 2
    steps = begun + 1
    expected = -(mean / (1 - 0.9**steps)) / ((square / (1 - 0.999**steps)).sqrt() + 1e-8)
    # squares below 1e-38 lose digits in float32; they are far below ε²
    torch.testing.assert_close(ours._parameter.double(), expected, rtol=1e-5, atol=0.0)


def test_no_moment_is_subnormal() -> None:
    """However long a unit does not fire, and however small its gradients were: such numbers are slow."""
    gradient = (10.0 ** torch.linspace(-44.0, 3.0, 400)).float()
    ours = optimiser(True, torch.ones(400), 1e-3)
    ours.moments["exp_avg_sq"].copy_(10.0 ** torch.linspace(-44.0, -30.0, 400))
    for _ in range(3):
        ours.step(gradient)
    for _ in range(5_000):
        ours.step(torch.zeros(400))
        for name in ("exp_avg", "exp_avg_sq"):
            sizes = ours.moments[name].abs()
            assert not ((sizes > 0.0) & (sizes < torch.finfo(torch.float32).tiny)).any()
    assert not ours.moments["exp_avg"].any()


@pytest.mark.parametrize("begun", [0, 200_000])
def test_what_counts_as_nothing_changes_no_step(begun: int) -> None:
    """Adam's formula in float64, from moments and gradients at and about where they count as 0."""
    around = torch.cat([level * torch.tensor([0.5, 0.99, 1.0, 1.01, 2.0]) for level in (FAINT, 1e-8, 1e-20)])
    gradient, squares = (
        torch.cartesian_prod(around, torch.tensor([0.0, 0.9, 1.1, 1e6]) * NO_SQUARE).float().T.contiguous()
    )
    ours = optimiser(True, torch.zeros(len(gradient)), 1.0)
    ours.moments["step"].fill_(begun)
    ours.moments["exp_avg"].copy_(0.9 * NO_MEAN)
    ours.moments["exp_avg_sq"].copy_(squares)
    ours.step(gradient)
    mean = 0.9 * 0.9 * NO_MEAN + 0.1 * gradient.double()
    square = 0.999 * squares.double() + 0.001 * gradient.double() ** 2
    steps = begun + 1
    expected = -(mean / (1 - 0.9**steps)) / ((square / (1 - 0.999**steps)).sqrt() + 1e-8)
    torch.testing.assert_close(ours._parameter.double(), expected, rtol=1e-6, atol=0.0)


def test_what_does_not_fit_a_step_is_refused() -> None:
    """The compiled loop would go beyond its arrays."""
    ours = Adam(torch.zeros(3), 0.1)
    with pytest.raises(ValueError, match=r"the gradient is torch.float32\(2,\); it must be torch.float32\(3,\)"):
        ours.step(torch.ones(2))
    with pytest.raises(ValueError, match=r"the gradient is torch.float64"):
        ours.step(torch.ones(3, dtype=torch.double))
    with pytest.raises(ValueError, match=r"the average is torch.float32\(2, 2\); it must be torch.float32\(2, 3\)"):
        Adam(torch.zeros(2, 3), 0.1, torch.zeros(2, 2), 0.5)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            copied(ours)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_step_of_a_scalar_and_along_nothing(compiled: bool) -> None:
    """As the temperature's is; a gradient of 0 moves nothing from rest, and what is no number stays so."""
    scalar = torch.tensor(0.25)
    ours = optimiser(compiled, scalar, 0.1)
    ours.step(torch.tensor(0.0))
    assert scalar == 0.25
    ours.step(torch.tensor(3.0))
    # m̂ = 0.3/(1 − 0.81), v̂ = 0.009/(1 − 0.998001)
    assert scalar.item() == pytest.approx(0.25 - 0.1 * (0.3 / 0.19) / math.sqrt(0.009 / 0.001999), abs=1e-6)
    ours.step(torch.tensor(math.nan))
    assert scalar.isnan()
