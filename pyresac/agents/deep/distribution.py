"""The squashed Gaussian on a box, with its log-probability in the box's own units.

a = centre + half·tanh(u), u ~ N(μ, s²), so log π(a) = Σ_i [log N(u_i; μ_i, s_i²) − log(1 − tanh² u_i) − log half_i].
The second term is 2·(log 2 − u − softplus(−2u)), which neither overflows nor loses digits where tanh saturates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from pyresac.errors import InputError

LOG_STD_RANGE = (-20.0, 2.0)
"""Of log s; beyond it the gradient is 0."""


@dataclass(frozen=True)
class Box:
    """A bounded action space: a = centre + half·v with v in [−1, 1]."""

    centre: NDArray[np.float32]
    """(A,)"""
    half: NDArray[np.float32]
    """(A,) positive half-widths."""
    low: NDArray[np.float32]
    """(A,) least and greatest actions in float32 that the space contains."""
    high: NDArray[np.float32]

    @classmethod
    def of(cls, space: gym.Space[object], where: str) -> Box:
        """Of a Gymnasium space. Raises InputError unless it is a Box of numbers with low < high, finite in float32."""
        if not isinstance(space, gym.spaces.Box):
            raise InputError(f"{where} has the action space {space}; the deep agent needs a Box")
        low, high = space.low.reshape(-1).astype(np.float64), space.high.reshape(-1).astype(np.float64)
        wrong = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high) & (low < high)))
        if wrong.size:
            at = int(wrong[0])
            raise InputError(
                f"{where}: action coordinate {at} lies in [{low[at]}, {high[at]}]; it needs finite bounds, low < high"
            )
        if not low.size:
            raise InputError(f"{where} has the action space {space}, which holds no number")
        large = np.flatnonzero(np.maximum(np.abs(low), np.abs(high)) > np.finfo(np.float32).max)
        if large.size:
            at = int(large[0])
            raise InputError(
                f"{where}: action coordinate {at} lies in [{low[at]}, {high[at]}]; its bounds must be finite in float32"
            )
        centre, half = ((high + low) / 2.0).astype(np.float32), ((high - low) / 2.0).astype(np.float32)
        return cls(centre, half, -_rounded_down(-low), _rounded_down(high))

    @property
    def log_volume(self) -> float:
        """Σ log half_i: what log π in units of [−1, 1] exceeds log π in the box's units by."""
        return float(np.log(self.half.astype(np.float64)).sum())

    def to_action(self, unit: NDArray[np.float32]) -> NDArray[np.float32]:
        """Actions (…, A) from units (…, A); the clipping takes away what rounding puts outside the box."""
        return np.clip(self.centre + self.half * unit, self.low, self.high)

    def to_unit(self, action: NDArray[np.float32]) -> NDArray[np.float32]:
        """Units (…, A) of actions (…, A)."""
        return (action - self.centre) / self.half


def _rounded_down(bound: NDArray[np.float64]) -> NDArray[np.float32]:
    nearest = bound.astype(np.float32)
    return np.where(nearest > bound, np.nextafter(nearest, np.float32(-np.inf)), nearest)


class SquashedGaussian:
    """tanh of a Gaussian, for a batch: mean and log_std (B, A), before squashing."""

    def __init__(self, mean: Tensor, log_std: Tensor) -> None:
        self.mean = mean
        self.log_std = log_std.clamp(*LOG_STD_RANGE)

    def sample(self, noise: Tensor, log_volume: float) -> tuple[Tensor, Tensor]:
        """Units tanh(μ + s·noise) (B, A) and log π (B,) in a box's units, both with gradients to μ and log s."""
        unit, log_prob = _Sample.apply(self.mean, self.log_std, noise)  # type: ignore[no-untyped-call]
        return unit, log_prob - log_volume

    def mode(self) -> Tensor:
        """Units tanh(μ) (B, A): the deterministic policy."""
        return torch.tanh(self.mean)


class _Sample(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, mean: Tensor, log_std: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Units and log π in units."""
        spread = log_std.exp().mul_(noise)
        before = mean + spread
        unit = torch.tanh(before)
        gaussian = -0.5 * noise.square() - log_std - 0.5 * math.log(2.0 * math.pi)
        jacobian = 2.0 * (math.log(2.0) - before - softplus(-2.0 * before))
        ctx.save_for_backward(unit, spread)
        return unit, (gaussian - jacobian).sum(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """With v = tanh u: ∂v/∂u = 1 − v², ∂log π/∂u = 2v, ∂u/∂μ = 1, ∂u/∂log s = s·noise, and −1 from −log s."""
        unit, spread = ctx.saved_tensors
        of_unit, of_log_prob = gradients[0], gradients[1][:, None]
        of_mean = of_unit * (1.0 - unit.square()) + of_log_prob * (2.0 * unit)
        return of_mean, of_mean * spread - of_log_prob, None
