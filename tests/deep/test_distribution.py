"""The squashed Gaussian on any box: its density, its limits, its bounds."""

from __future__ import annotations

import math
from functools import cache

import gymnasium as gym
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyresac.deep.networks.squashed_gaussian import SquashedGaussian
from scipy import stats

from pyresac.errors import InputError
from pyresac.tasks.action_box import Box

Floats = NDArray[np.float64]
EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=60)
BOXES = [([-1.0], [1.0]), ([0.0], [60.0]), ([-0.5], [3.0]), ([-4.0, 0.0, -0.25], [-1.0, 60.0, 0.125])]


def box_of(low: list[float], high: list[float]) -> Box:
    return Box.of(gym.spaces.Box(np.array(low, dtype=np.float32), np.array(high, dtype=np.float32)), "here")


@cache
def fine_grid() -> tuple[Floats, Floats]:
    """Gauss–Legendre's nodes and weights, which take seconds to find."""
    return np.polynomial.legendre.leggauss(2000)


def log_density(box: Box, mean: Floats, log_std: Floats, action: Floats) -> Floats:
    """log π at `action` (B, A) strictly inside: the noise that leads there, through `sample`."""
    unit = (action - box.centre) / box.half.astype(np.float64)
    noise = (np.arctanh(unit) - mean) / np.exp(log_std)
    means, spreads = (torch.from_numpy(np.broadcast_to(array, unit.shape).copy()) for array in (mean, log_std))
    reached, log_prob = SquashedGaussian(means, spreads).sample(torch.from_numpy(noise), box.log_volume)
    assert reached.numpy() == pytest.approx(unit, abs=1e-12)
    return log_prob.numpy()


@pytest.mark.parametrize(("low", "high"), BOXES)
def test_the_density_is_the_slope_of_the_distribution(low: list[float], high: list[float]) -> None:
    """Φ((artanh((a − c)/h) − μ)/s) is the chance of an action below a; its slope is the density in the box's units."""
    box, size = box_of(low, high), len(low)
    generator = np.random.default_rng(0)
    mean, log_std = generator.normal(size=size), generator.uniform(-1.0, 0.5, size)
    action = box.centre + box.half * generator.uniform(-0.95, 0.95, size=(50, size))
    step = 1e-5 * box.half

    def below(at: Floats) -> Floats:
        result: Floats = stats.norm.cdf((np.arctanh((at - box.centre) / box.half) - mean) / np.exp(log_std))
        return result

    slope = (below(action + step) - below(action - step)) / (2 * step)
    density = np.exp(log_density(box, mean, log_std, action))
    # a central difference errs by step²·(third derivative)/6, and rounding by 2⁻⁵³/step, both below 1e-7 of the scale
    assert density == pytest.approx(slope.prod(axis=1), rel=2e-6, abs=2e-7 * float((1 / box.half).prod()))


@pytest.mark.parametrize(("low", "high"), BOXES[:3])
@pytest.mark.parametrize(("mean", "log_std"), [(0.0, -0.5), (1.0, -1.0), (-0.7, 0.0)])
def test_the_density_integrates_to_one(low: list[float], high: list[float], mean: float, log_std: float) -> None:
    box = box_of(low, high)
    # Gauss–Legendre in the action itself, where the density vanishes at both ends faster than any power
    nodes, weights = fine_grid()
    action = box.centre + box.half * nodes[:, None].astype(np.float64)
    density = np.exp(log_density(box, np.array([mean]), np.array([log_std]), action))
    assert float((density * weights).sum() * box.half[0]) == pytest.approx(1.0, abs=1e-6)


def test_two_dimensions_integrate_to_one() -> None:
    box = box_of([0.0, -3.0], [60.0, -2.5])
    nodes, weights = np.polynomial.legendre.leggauss(300)
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(log_density(box, np.array([0.4, -0.2]), np.array([-0.7, -0.4]), box.centre + box.half * grid))
    total = (density * np.outer(weights, weights).reshape(-1)).sum() * box.half.astype(np.float64).prod()
    assert float(total) == pytest.approx(1.0, abs=1e-5)


def test_the_volume_is_that_of_half_the_ranges() -> None:
    assert box_of([0.0], [60.0]).log_volume == pytest.approx(math.log(30.0), rel=1e-7)
    assert box_of([-4.0, 0.0], [-1.0, 60.0]).log_volume == pytest.approx(math.log(1.5 * 30.0), rel=1e-7)
    zero = torch.zeros(1, 1)
    _, narrow = SquashedGaussian(zero, zero).sample(zero, 0.0)
    _, broad = SquashedGaussian(zero, zero).sample(zero, math.log(30.0))
    assert (narrow - broad).item() == pytest.approx(math.log(30.0), rel=1e-6)
    assert narrow.item() == pytest.approx(-0.5 * math.log(2 * math.pi), rel=1e-6)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("far", [1.0, 9.0, 18.0, 40.0, -40.0])
def test_saturation_has_finite_values_and_gradients(far: float, kind: torch.dtype) -> None:
    mean = torch.full((3, 2), far, dtype=kind, requires_grad=True)
    log_std = torch.full((3, 2), -1.0, dtype=kind, requires_grad=True)
    noise = torch.linspace(-1, 1, 6, dtype=kind).reshape(3, 2)
    unit, log_prob = SquashedGaussian(mean, log_std).sample(noise, 0.0)
    # log(1 − tanh² u) = log 4 − 2|u| − 2·log(1 + e^(−2|u|)), whatever the size of u
    size = (mean + log_std.exp() * noise).abs().detach().double()
    jacobian = math.log(4.0) - 2 * size - 2 * torch.log1p(torch.exp(-2 * size))
    gaussian = -0.5 * noise.double() ** 2 + 1.0 - 0.5 * math.log(2 * math.pi)
    expected = (gaussian - jacobian).sum(1)
    assert log_prob.detach().double().numpy() == pytest.approx(expected.numpy(), rel=1e-5)
    slopes = torch.autograd.grad(log_prob.sum() + unit.sum(), [mean, log_std])
    assert all(bool(torch.isfinite(slope).all()) for slope in slopes)
    assert (unit.abs() <= 1.0).all()
    # ∂log π/∂μ = 2·tanh u: a saturated policy still knows which way its density falls
    alone = torch.autograd.grad(SquashedGaussian(mean, log_std).sample(noise, 0.0)[1].sum(), [mean])[0]
    if abs(far) > 5:
        assert alone.numpy() == pytest.approx(np.full((3, 2), 2.0 * np.sign(far)), abs=1e-3)


@pytest.mark.parametrize("beyond", [-25.0, 5.0])
def test_the_spread_is_bounded_and_has_no_slope_beyond(beyond: float) -> None:
    log_std = torch.full((1, 1), beyond, requires_grad=True)
    zero = torch.zeros(1, 1)
    policy = SquashedGaussian(zero, log_std)
    assert policy.log_std.item() == min(max(beyond, -20.0), 2.0)
    (slope,) = torch.autograd.grad(policy.sample(zero + 0.1, 0.0)[1].sum(), [log_std])
    assert slope.item() == 0.0


def test_the_deterministic_action_is_the_median() -> None:
    mean = torch.tensor([[0.3, -2.0]])
    policy = SquashedGaussian(mean, torch.zeros(1, 2))
    assert policy.mode().tolist() == policy.sample(torch.zeros(1, 2), 0.0)[0].tolist() == torch.tanh(mean).tolist()


@st.composite
def bounds(draw: st.DrawFn) -> tuple[float, float]:
    low = draw(st.floats(-1e6, 1e6, width=32))
    high = draw(st.floats(-1e6, 1e6, width=32).filter(lambda x: x != low))
    return min(low, high), max(low, high)


@settings(EXAMPLES, max_examples=400)
@given(bounds(), st.floats(-1.0, 1.0, width=32))
def test_actions_stay_inside_and_come_back(pair: tuple[float, float], inside: float) -> None:
    low, high = pair
    space = gym.spaces.Box(np.float32(low), np.float32(high), (1,))
    box = Box.of(space, "here")
    for unit in (-1.0, 1.0, inside):
        action = box.to_action(np.array([unit], dtype=np.float32))
        assert action.dtype == np.float32
        assert space.contains(action), (unit, action)
    middle = box.to_action(np.zeros(1, dtype=np.float32))
    width = high - low
    rounding = 2.0**-22 * max(abs(low), abs(high))
    assert abs(float(middle[0]) - (low + high) / 2) <= rounding
    if rounding < 1e-3 * width:
        back = box.to_unit(box.to_action(np.array([inside], dtype=np.float32)))
        assert abs(float(back[0]) - inside) <= 4 * rounding / width + 2.0**-22
        ends = box.to_action(np.array([[-1.0], [1.0]], dtype=np.float32))
        assert np.abs(ends[:, 0] - [low, high]).max() <= rounding


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (gym.spaces.Discrete(3), r"here has the action space Discrete\(3\); the deep agent needs a Box"),
        (gym.spaces.Box(-np.inf, 1.0, (2,)), r"action coordinate 0 lies in \[-inf, 1.0\]; it needs finite bounds"),
        (gym.spaces.Box(np.float32([0, 2]), np.float32([1, 2])), r"action coordinate 1 lies in \[2.0, 2.0\]"),
    ],
)
def test_spaces_without_bounds_are_refused(space: gym.Space[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Box.of(space, "here")


def test_a_box_of_float64_contains_its_float32_actions() -> None:
    space = gym.spaces.Box(np.array([0.1, -0.3]), np.array([0.7, 0.1]), dtype=np.float64)
    for unit in (-1.0, 1.0):
        action = Box.of(space, "here").to_action(np.full(2, unit, dtype=np.float32))
        assert space.contains(action.astype(np.float64))
