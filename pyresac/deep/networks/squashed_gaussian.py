"""The squashed Gaussian on a box, with its log-probability in the box's own units.

a = centre + half·tanh(u), u ~ N(μ, s²), so log π(a) = Σ_i [log N(u_i; μ_i, s_i²) − log(1 − tanh² u_i) − log half_i].
The second term is 2·(log 2 − log(e^u + e^−u)), which neither overflows nor loses digits where tanh saturates.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pyresac.deep.networks import pointwise_kernels as pointwise

LOG_STD_RANGE = (-20.0, 2.0)
"""Of log s; beyond it the gradient is 0."""


class SquashedGaussian:
    """tanh of a Gaussian, for a batch: mean and log_std (B, A), before squashing."""

    def __init__(self, mean: Tensor, log_std: Tensor) -> None:
        self.mean = mean
        self.log_std = log_std.clamp(*LOG_STD_RANGE)

    def sample(self, noise: Tensor, log_volume: float) -> tuple[Tensor, Tensor]:
        """Units tanh(μ + s·noise) (B, A) and log π (B,) in a box's units, for autograd."""
        unit, log_prob = _Sample.apply(self.mean, self.log_std, noise, log_volume)  # type: ignore[no-untyped-call]
        return unit, log_prob

    def mode(self) -> Tensor:
        """Units tanh(μ) (B, A): the deterministic policy."""
        return torch.tanh(self.mean)


class SampledAction(NamedTuple):
    """Actions drawn from a policy's outputs, with what their gradient needs. Holds no autograd graph."""

    outputs: Tensor
    """(B, 2A) μ and log s, the latter as the network gave it."""
    spread: Tensor
    """(B, A) s·noise."""
    unit: Tensor
    """(B, A) v = tanh(μ + s·noise)."""
    log_prob: Tensor
    """(B,) log π in the box's units."""

    def first(self, rows: int) -> SampledAction:
        """The first `rows` actions alone."""
        return SampledAction(*(part[:rows] for part in self))

    def gradient(self, of_unit: Tensor, of_log_prob: float) -> Tensor:
        """(B, 2A): of the policy's outputs, given those of the units (B, A) and of every log π.

        ∂v/∂u = 1 − v², ∂log π/∂u = 2v, ∂u/∂μ = 1, ∂u/∂log s = s·noise, and ∂log π/∂log s has −1 besides.
        """
        found = compiled_gradient if self.outputs.device.type == "cpu" else eager_gradient
        return found(self, of_unit, of_log_prob)


def draw(outputs: Tensor, noise: Tensor, log_volume: float) -> SampledAction:
    """`SquashedGaussian.sample` of a policy's outputs (B, 2A), which must not ask for a gradient."""
    return (compiled_draw if outputs.device.type == "cpu" else eager_draw)(outputs, noise, log_volume)


def compiled_draw(outputs: Tensor, noise: Tensor, log_volume: float) -> SampledAction:
    """`draw` on the CPU."""
    spread, unit, log_prob = torch.empty_like(noise), torch.empty_like(noise), noise.new_empty(len(noise))
    results, constant = (spread.numpy(), unit.numpy(), log_prob.numpy()), _constant(noise.shape[1], log_volume)
    pointwise.draw(outputs.numpy(), noise.numpy(), *LOG_STD_RANGE, constant, *results)
    return SampledAction(outputs, spread, unit, log_prob)


def compiled_gradient(drawn: SampledAction, of_unit: Tensor, of_log_prob: float) -> Tensor:
    """`SampledAction.gradient` on the CPU."""
    result = torch.empty_like(drawn.outputs)
    outputs, spread, unit, _ = (part.numpy() for part in drawn)
    pointwise.draw_gradient(outputs, spread, unit, *LOG_STD_RANGE, of_unit.numpy(), of_log_prob, result.numpy())
    return result


def eager_draw(outputs: Tensor, noise: Tensor, log_volume: float) -> SampledAction:
    """`draw` on other devices."""
    mean, raw = outputs.chunk(2, 1)
    return SampledAction(outputs, *_drawn(mean, raw.clamp(*LOG_STD_RANGE), noise, log_volume))


def eager_gradient(drawn: SampledAction, of_unit: Tensor, of_log_prob: float) -> Tensor:
    """`SampledAction.gradient` on other devices."""
    of_mean, of_log_std = _of_mean_and_spread(drawn.unit, drawn.spread, of_unit, of_log_prob)
    raw = drawn.outputs[:, drawn.unit.shape[1] :]
    return torch.cat([of_mean, torch.ops.aten.hardtanh_backward(of_log_std, raw, *LOG_STD_RANGE)], 1)


def _constant(actions: int, log_volume: float) -> float:
    """What log π is less by, whatever the draw."""
    return actions * (0.5 * math.log(2.0 * math.pi) + 2.0 * math.log(2.0)) + log_volume


def _drawn(mean: Tensor, log_std: Tensor, noise: Tensor, log_volume: float) -> tuple[Tensor, Tensor, Tensor]:
    """s·noise, units, log π."""
    spread = log_std.exp().mul_(noise)
    before = mean + spread
    # log(1 − tanh² u) = 2·log 2 − 2·log(e^u + e^−u)
    log_prob = torch.logaddexp(before, before.neg()).mul_(2.0).sub_(log_std).addcmul_(noise, noise, value=-0.5).sum(1)
    return spread, before.tanh_(), log_prob.sub_(_constant(mean.shape[1], log_volume))


def _of_mean_and_spread(
    unit: Tensor, spread: Tensor, of_unit: Tensor, of_log_prob: Tensor | float
) -> tuple[Tensor, Tensor]:
    of_mean = torch.ops.aten.tanh_backward(of_unit, unit) + unit * (2.0 * of_log_prob)
    return of_mean, of_mean * spread - of_log_prob


class _Sample(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, mean: Tensor, log_std: Tensor, noise: Tensor, log_volume: float) -> tuple[Tensor, Tensor]:
        spread, unit, log_prob = _drawn(mean, log_std, noise, log_volume)
        ctx.save_for_backward(unit, spread)
        return unit, log_prob

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        unit, spread = ctx.saved_tensors
        return *_of_mean_and_spread(unit, spread, gradients[0], gradients[1][:, None]), None, None
