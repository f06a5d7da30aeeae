"""A policy's draw, its gradient, and Adam's step: compiled and in PyTorch's operations, against plain formulas."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from deep_cases import ROUNDING, numbers
from pyresac.deep.networks.squashed_gaussian import (
    LOG_STD_RANGE,
    compiled_draw,
    compiled_gradient,
    eager_draw,
    eager_gradient,
)
from torch import Tensor

from pyresac.deep.adam import Adam

DRAWS = pytest.mark.parametrize(
    ("draw", "gradient"), [(compiled_draw, compiled_gradient), (eager_draw, eager_gradient)], ids=["compiled", "eager"]
)
"""What `draw` and `SampledAction.gradient` choose from, by the device."""


@DRAWS
def test_a_draw_is_a_sample_and_has_its_gradient(draw: Any, gradient: Any) -> None:
    """Against plain operations of PyTorch, and beyond the bounds of log s as well, where its gradient is 0."""
    outputs, noise = numbers(6, 4, seed=0), numbers(6, 2, seed=1)
    outputs[0, 2], outputs[1, 3] = LOG_STD_RANGE[0] - 5.0, LOG_STD_RANGE[1] + 5.0
    outputs.requires_grad_()
    mean, log_std = outputs[:, :2], outputs[:, 2:].clamp(*LOG_STD_RANGE)
    before = mean + log_std.exp() * noise
    unit = torch.tanh(before)
    gaussian = -0.5 * noise.square() - log_std - 0.5 * math.log(2.0 * math.pi)
    # 1 − tanh² = cosh⁻²
    log_prob = (gaussian + 2.0 * torch.log(torch.cosh(before))).sum(1) - 0.7
    drawn = draw(outputs.detach(), noise, 0.7)
    torch.testing.assert_close(drawn.unit, unit.detach(), **ROUNDING)
    torch.testing.assert_close(drawn.log_prob, log_prob.detach(), **ROUNDING)
    of_unit = numbers(6, 2, seed=2)
    (wanted,) = torch.autograd.grad((unit * of_unit).sum() + 0.3 * log_prob.sum(), outputs)
    torch.testing.assert_close(gradient(drawn, of_unit, 0.3), wanted, **ROUNDING)
    assert not gradient(drawn, of_unit, 0.3)[[0, 1], [2, 3]].any()
    part = drawn.first(4)
    torch.testing.assert_close(gradient(part, of_unit[:4], 0.3), wanted[:4], **ROUNDING)
    assert torch.equal(part.gradient(of_unit[:4], 0.3), compiled_gradient(part, of_unit[:4], 0.3))
    # at a bound itself there is no slope either
    at = torch.tensor([[0.3, LOG_STD_RANGE[0]], [0.3, LOG_STD_RANGE[1]]], dtype=torch.double)
    assert not gradient(draw(at, numbers(2, 1, seed=3), 0.7), numbers(2, 1, seed=4), 0.3)[:, 1].any()


@DRAWS
def test_a_draw_keeps_its_digits(draw: Any, gradient: Any) -> None:
    """float32 beside the formula in 128 bits or what the machine has, where tanh vanishes and where it saturates."""
    size = np.concatenate([np.logspace(-30, 2, 200), [0.0, 9.0, 15.0, 40.0, 88.0, 89.0, 104.0, 1e4]])
    mean = np.concatenate([size, -size]).astype(np.float32)
    outputs = torch.from_numpy(np.stack([mean, np.full_like(mean, -1.0)], 1))
    drawn = draw(outputs, torch.zeros(len(mean), 1), 0.0)
    exact = mean.astype(np.longdouble)
    # two roundings in e^(−2|u|) − 1 and two in the quotient, each a few units in the last place
    assert drawn.unit[:, 0].numpy() == pytest.approx(np.tanh(exact), rel=8 * 2.0**-24, abs=1e-44)
    log_density = np.longdouble(1.0 - 0.5 * math.log(2 * math.pi)) + 2 * np.logaddexp(exact, -exact) - 2 * np.log(2.0)
    assert drawn.log_prob.numpy() == pytest.approx(log_density.astype(float), rel=8 * 2.0**-24, abs=8 * 2.0**-24)
    slope = gradient(drawn, torch.ones(len(mean), 1), 1.0)[:, 0].numpy()
    # 1 − tanh² errs by two roundings of tanh² at most
    assert slope == pytest.approx(1 - np.tanh(exact) ** 2 + 2 * np.tanh(exact), rel=8 * 2.0**-24, abs=8 * 2.0**-24)


@DRAWS
def test_what_is_no_number_stays_so_in_a_draw(draw: Any, gradient: Any) -> None:
    """Else a network that has diverged would go on unnoticed."""
    nan = math.nan
    outputs = torch.tensor([[nan, 0.0], [0.0, nan], [0.0, 0.0], [math.inf, 0.0]])
    drawn = draw(outputs, torch.tensor([[0.0], [0.5], [nan], [0.0]]), 0.0)
    assert drawn.unit[:3].isnan().all()
    assert drawn.log_prob[:3].isnan().all()
    assert (drawn.unit[3].item(), drawn.log_prob[3].item()) == (1.0, math.inf)
    finite = draw(torch.zeros(2, 2), torch.ones(2, 1), 0.0)
    assert gradient(finite, torch.tensor([[nan], [0.0]]), 1.0)[0].isnan().all()
    assert gradient(drawn, torch.zeros(4, 1), 1.0)[:3, 0].isnan().all()


# --- the step


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
