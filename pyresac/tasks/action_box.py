"""A bounded action space, and its map to units in [−1, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from pyresac.errors import InputError


@dataclass(frozen=True)
class ActionBox:
    """A bounded action space: a = centre + half·v with v in [−1, 1]."""

    centre: NDArray[np.float32]
    """(A,)"""
    half: NDArray[np.float32]
    """(A,) positive half-widths."""
    low: NDArray[np.float32]
    """(A,) least and greatest actions in float32 that the space contains."""
    high: NDArray[np.float32]

    @classmethod
    def of(cls, space: gym.Space[object], where: str) -> ActionBox:
        """The box of a Gymnasium space. Raises InputError unless it is a Box, low < high and both finite in float32."""
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
        narrow = np.flatnonzero(half == 0.0)
        if narrow.size:
            at = int(narrow[0])
            raise InputError(
                f"{where}: action coordinate {at} lies in [{low[at]}, {high[at]}]; half its width is 0 in float32"
            )
        return cls(centre, half, -_rounded_down(-low), _rounded_down(high))

    @property
    def log_volume(self) -> float:
        """Σ log half_i: log π in units of [−1, 1] less log π in the box's units."""
        return float(np.log(self.half.astype(np.float64)).sum())

    def to_action(self, unit: NDArray[np.float32]) -> NDArray[np.float32]:
        """Actions (…, A) from units (…, A), clipped because rounding may lead out of the box."""
        return np.clip(self.centre + self.half * unit, self.low, self.high)

    def to_unit(self, action: NDArray[np.float32]) -> NDArray[np.float32]:
        """Units (…, A) of actions (…, A)."""
        return (action - self.centre) / self.half


def _rounded_down(bound: NDArray[np.float64]) -> NDArray[np.float32]:
    nearest = bound.astype(np.float32)
    return np.where(nearest > bound, np.nextafter(nearest, np.float32(-np.inf)), nearest)
