"""Forms of a policy: densities, limits, gradients; compiled loops beside the formula that autograd differentiates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from deep_cases import ROUNDING, RecordedNoise, numbers
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor

from pyresac.deep.policies.deterministic import Deterministic
from pyresac.deep.policies.policy import SampledAction
from pyresac.deep.policies.squashed_gaussian import LOG_STD_RANGE, SquashedGaussian, compiled_sample
from pyresac.tasks.action_box import ActionBox

Floats = NDArray[np.float64]
Sampler = Callable[[Tensor, Tensor, float], SampledAction]
BOXES = [([-1.0], [1.0]), ([0.0], [60.0]), ([-0.5], [3.0]), ([-4.0, 0.0, -0.25], [-1.0, 60.0, 0.125])]


def traced(outputs: Tensor, noise: Tensor, log_volume: float) -> SampledAction:
    return SquashedGaussian(log_volume).traced(outputs, noise)


@pytest.fixture(params=[compiled_sample, traced])
def sampled(request: pytest.FixtureRequest) -> Sampler:
    """What `SquashedGaussian.sample` chooses from, by the device."""
    found: Sampler = request.param
    return found


def box_of(low: list[float], high: list[float]) -> ActionBox:
    return ActionBox.of(gym.spaces.Box(np.array(low, dtype=np.float32), np.array(high, dtype=np.float32)), "here")


@cache
def fine_grid() -> tuple[Floats, Floats]:
    """Gauss–Legendre's nodes and weights, which take seconds to find."""
    return np.polynomial.legendre.leggauss(2000)


def log_density(sampled: Sampler, box: ActionBox, mean: Floats, log_std: Floats, action: Floats) -> Floats:
    """log π at `action` (B, A) strictly inside: the noise that leads there, through a sample."""
    unit = (action - box.centre) / box.half.astype(np.float64)
    noise = (np.arctanh(unit) - mean) / np.exp(log_std)
    outputs = torch.from_numpy(np.concatenate([np.broadcast_to(part, unit.shape) for part in (mean, log_std)], axis=1))
    found = sampled(outputs, torch.from_numpy(noise), box.log_volume)
    assert found.unit.numpy() == pytest.approx(unit, abs=1e-12)
    result: Floats = found.log_prob.numpy()
    return result


@pytest.mark.parametrize(("low", "high"), BOXES)
def test_the_density_is_the_slope_of_the_distribution(low: list[float], high: list[float], sampled: Sampler) -> None:
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
    density = np.exp(log_density(sampled, box, mean, log_std, action))
    # a central difference errs by step²·(third derivative)/6, and rounding by 2⁻⁵³/step, both below 1e-7 of the scale
    assert density == pytest.approx(slope.prod(axis=1), rel=2e-6, abs=2e-7 * float((1 / box.half).prod()))


@pytest.mark.parametrize(("low", "high"), BOXES[:3])
@pytest.mark.parametrize(("mean", "log_std"), [(0.0, -0.5), (1.0, -1.0), (-0.7, 0.0)])
def test_the_density_integrates_to_one(
    low: list[float], high: list[float], mean: float, log_std: float, sampled: Sampler
) -> None:
    box = box_of(low, high)
    # Gauss–Legendre in the action itself, where the density vanishes at both ends faster than any power
    nodes, weights = fine_grid()
    action = box.centre + box.half * nodes[:, None].astype(np.float64)
    density = np.exp(log_density(sampled, box, np.array([mean]), np.array([log_std]), action))
    assert float((density * weights).sum() * box.half[0]) == pytest.approx(1.0, abs=1e-6)


def test_two_dimensions_integrate_to_one(sampled: Sampler) -> None:
    box = box_of([0.0, -3.0], [60.0, -2.5])
    nodes, weights = np.polynomial.legendre.leggauss(300)
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    action = box.centre + box.half * grid
    density = np.exp(log_density(sampled, box, np.array([0.4, -0.2]), np.array([-0.7, -0.4]), action))
    total = (density * np.outer(weights, weights).reshape(-1)).sum() * box.half.astype(np.float64).prod()
    assert float(total) == pytest.approx(1.0, abs=1e-5)


def test_the_volume_is_subtracted(sampled: Sampler) -> None:
    zero = torch.zeros(1, 2)
    narrow, broad = (sampled(zero, torch.zeros(1, 1), volume).log_prob.item() for volume in (0.0, math.log(30.0)))
    assert narrow - broad == pytest.approx(math.log(30.0), rel=1e-6, abs=0)
    assert narrow == pytest.approx(-0.5 * math.log(2 * math.pi), rel=1e-6, abs=0)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("far", [1.0, 9.0, 18.0, 40.0, -40.0])
def test_saturation_has_finite_values_and_gradients(far: float, kind: torch.dtype, sampled: Sampler) -> None:
    outputs = torch.cat([torch.full((3, 2), far, dtype=kind), torch.full((3, 2), -1.0, dtype=kind)], 1)
    noise = torch.linspace(-1, 1, 6, dtype=kind).reshape(3, 2)
    found = sampled(outputs, noise, 0.0)
    # log(1 − tanh² u) = log 4 − 2|u| − 2·log(1 + e^(−2|u|)), whatever the size of u
    size = (far + math.exp(-1.0) * noise.double()).abs()
    jacobian = math.log(4.0) - 2 * size - 2 * torch.log1p(torch.exp(-2 * size))
    gaussian = -0.5 * noise.double() ** 2 + 1.0 - 0.5 * math.log(2 * math.pi)
    expected = (gaussian - jacobian).sum(1)
    assert found.log_prob.double().numpy() == pytest.approx(expected.numpy(), rel=1e-5, abs=0)
    ones = torch.ones(3, dtype=kind)
    assert torch.isfinite(found.gradient(torch.ones(3, 2, dtype=kind), ones)).all()
    assert (found.unit.abs() <= 1.0).all()
    # ∂log π/∂μ = 2·tanh u: a saturated policy still knows which way its density falls
    alone = found.gradient(torch.zeros(3, 2, dtype=kind), ones)[:, :2]
    if abs(far) > 5:
        assert alone.numpy() == pytest.approx(np.full((3, 2), 2.0 * np.sign(far)), abs=1e-3)


def test_a_sample_is_its_formula_and_has_its_gradient(sampled: Sampler) -> None:
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
    found = sampled(outputs.detach(), noise, 0.7)
    torch.testing.assert_close(found.unit, unit.detach(), **ROUNDING)
    torch.testing.assert_close(found.log_prob, log_prob.detach(), **ROUNDING)
    assert not found.unit.requires_grad
    assert not found.log_prob.requires_grad
    of_unit, of_log = numbers(6, 2, seed=2), numbers(6, seed=3)
    (wanted,) = torch.autograd.grad((unit * of_unit).sum() + (log_prob * of_log).sum(), outputs, retain_graph=True)
    torch.testing.assert_close(found.gradient(of_unit, of_log), wanted, **ROUNDING)
    assert not found.gradient(of_unit, of_log)[[0, 1], [2, 3]].any()
    (alone,) = torch.autograd.grad((unit * of_unit).sum(), outputs)
    torch.testing.assert_close(found.gradient(of_unit, None), alone, **ROUNDING)
    part = found.first(4)
    torch.testing.assert_close(part.unit, unit.detach()[:4], **ROUNDING)
    torch.testing.assert_close(part.log_prob, log_prob.detach()[:4], **ROUNDING)
    torch.testing.assert_close(part.gradient(of_unit[:4], of_log[:4]), wanted[:4], **ROUNDING)
    torch.testing.assert_close(part.first(2).gradient(of_unit[:2], None), alone[:2], **ROUNDING)


def test_at_a_bound_of_the_spread_the_compiled_loop_has_no_slope() -> None:
    """Nor has it beyond; `traced` is held to the same beyond the bounds."""
    at = torch.tensor([[0.3, LOG_STD_RANGE[0]], [0.3, LOG_STD_RANGE[1]]], dtype=torch.double)
    found = compiled_sample(at, numbers(2, 1, seed=3), 0.7)
    assert not found.gradient(numbers(2, 1, seed=4), numbers(2, seed=5))[:, 1].any()


@pytest.mark.parametrize("beyond", [-25.0, 5.0])
def test_the_spread_is_bounded(beyond: float, sampled: Sampler) -> None:
    outputs, noise = torch.tensor([[0.0, beyond]], dtype=torch.double), torch.full((1, 1), 1e-3, dtype=torch.double)
    spread = math.exp(min(max(beyond, -20.0), 2.0))
    assert sampled(outputs, noise, 0.0).unit.item() == pytest.approx(math.tanh(spread * 1e-3), rel=1e-12, abs=0)


def test_a_sample_keeps_its_digits() -> None:
    """float32 beside the formula in 128 bits or what the machine has, where tanh vanishes and where it saturates."""
    size = np.concatenate([np.logspace(-30, 2, 200), [0.0, 9.0, 15.0, 40.0, 88.0, 89.0, 104.0, 1e4]])
    mean = np.concatenate([size, -size]).astype(np.float32)
    outputs = torch.from_numpy(np.stack([mean, np.full_like(mean, -1.0)], 1))
    found = compiled_sample(outputs, torch.zeros(len(mean), 1), 0.0)
    exact = mean.astype(np.longdouble)
    # two roundings in e^(−2|u|) − 1 and two in the quotient, each a few units in the last place
    assert found.unit[:, 0].numpy() == pytest.approx(np.tanh(exact), rel=8 * 2.0**-24, abs=1e-44)
    log_density = np.longdouble(1.0 - 0.5 * math.log(2 * math.pi)) + 2 * np.logaddexp(exact, -exact) - 2 * np.log(2.0)
    assert found.log_prob.numpy() == pytest.approx(log_density.astype(float), rel=8 * 2.0**-24, abs=8 * 2.0**-24)
    slope = found.gradient(torch.ones(len(mean), 1), torch.ones(len(mean)))[:, 0].numpy()
    # 1 − tanh² errs by two roundings of tanh² at most
    assert slope == pytest.approx(1 - np.tanh(exact) ** 2 + 2 * np.tanh(exact), rel=8 * 2.0**-24, abs=8 * 2.0**-24)


def test_what_is_no_number_stays_so_in_a_sample(sampled: Sampler) -> None:
    """Else a network that has diverged would go on unnoticed."""
    nan = math.nan
    outputs = torch.tensor([[nan, 0.0], [0.0, nan], [0.0, 0.0], [math.inf, 0.0]])
    found = sampled(outputs, torch.tensor([[0.0], [0.5], [nan], [0.0]]), 0.0)
    assert found.unit[:3].isnan().all()
    assert found.log_prob[:3].isnan().all()
    assert (found.unit[3].item(), found.log_prob[3].item()) == (1.0, math.inf)
    finite = sampled(torch.zeros(2, 2), torch.ones(2, 1), 0.0)
    assert finite.gradient(torch.tensor([[nan], [0.0]]), torch.ones(2))[0].isnan().all()
    assert found.gradient(torch.zeros(4, 1), torch.ones(4))[:3, 0].isnan().all()


def test_a_policy_samples_with_the_learners_noise() -> None:
    """On the CPU by the compiled loop where the numbers are float32, else by the formula."""
    policy, outputs = SquashedGaussian(0.3), numbers(5, 4, seed=0).float()
    noise = RecordedNoise(3)
    found = policy.sample(outputs, noise)
    (drawn,) = noise.drawn
    assert drawn.shape == (5, 2)
    expected = policy.traced(outputs.double(), drawn.double())
    torch.testing.assert_close(found.unit.double(), expected.unit, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(found.log_prob.double(), expected.log_prob, rtol=1e-6, atol=1e-5)
    again = policy.sample_with(outputs, drawn)
    assert torch.equal(found.unit, again.unit)
    exact = policy.sample_with(outputs.double(), drawn.double())
    torch.testing.assert_close(exact.log_prob, expected.log_prob, **ROUNDING)


def test_the_deterministic_action_is_the_median() -> None:
    policy, mean = SquashedGaussian(0.0), torch.tensor([[0.3, -2.0]])
    outputs = torch.cat([mean, torch.zeros(1, 2)], 1)
    torch.testing.assert_close(policy.mode(outputs), policy.sample_with(outputs, torch.zeros(1, 2)).unit)
    assert policy.mode(outputs).tolist() == torch.tanh(mean).tolist()
    assert (policy.outputs(2), Deterministic().outputs(2)) == (4, 2)


@pytest.mark.parametrize("shape", [(6, 3), (1, 1)])
def test_the_deterministic_policy(shape: tuple[int, int]) -> None:
    """tanh of the outputs, no density, no noise, and tanh's own slope."""
    outputs = numbers(*shape, seed=0).requires_grad_()
    noise, policy = RecordedNoise(), Deterministic()
    found: Any = policy.sample(outputs.detach(), noise)
    assert noise.drawn == []
    expected = torch.tanh(outputs)
    torch.testing.assert_close(found.unit, expected.detach(), **ROUNDING)
    torch.testing.assert_close(policy.mode(outputs.detach()), expected.detach(), **ROUNDING)
    assert found.log_prob.tolist() == [0.0] * shape[0]
    of_unit = numbers(*shape, seed=1)
    (wanted,) = torch.autograd.grad((expected * of_unit).sum(), outputs)
    for of_log in (None, numbers(shape[0], seed=2)):
        torch.testing.assert_close(found.gradient(of_unit, of_log), wanted, **ROUNDING)
    torch.testing.assert_close(found.first(1).gradient(of_unit[:1], None), wanted[:1], **ROUNDING)
