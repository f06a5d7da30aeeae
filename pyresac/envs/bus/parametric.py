"""Rules with many numbers, for direct policy search: a linear rule of the full observation, and a small network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyresac.envs.bus import rules
from pyresac.envs.bus.controllers import Rule
from pyresac.envs.bus.full_observation import COUNT, NAMES
from pyresac.errors import InputError

UNIT = COUNT + 2
"""Numbers of a network's unit: its weight, its offset, one a feature."""


@dataclass(frozen=True)
class LinearRule(Rule):
    """clip(bias + Σ weight·feature, 0, H_max), of `full_observation.FEATURES`, the headways less the scheduled one."""

    bias: float = 0.0
    """s"""
    weights: tuple[float, ...] = (0.0,) * COUNT
    """s per unit of each feature, in the order of `full_observation.NAMES`."""

    number: ClassVar[int] = rules.LINEAR

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _numbers("weights", self.weights))
        if len(self.weights) != COUNT:
            raise InputError(f"weights are {len(self.weights)}; expected {COUNT}, one for each of {list(NAMES)}")
        _numbers("bias", (self.bias,))

    @property
    def parameters(self) -> tuple[float, ...]:
        """(bias, *weights)."""
        return self.bias, *self.weights


@dataclass(frozen=True)
class NetworkRule(Rule):
    """clip(b + Σ_j v_j·tanh(c_j + Σ_k w_jk·feature_k/scale_k), 0, H_max): one hidden layer over the scaled features."""

    numbers: tuple[float, ...] = (0.0,)
    """b, then v_j, c_j and w_j· of each unit j: 1 + units·UNIT."""

    number: ClassVar[int] = rules.NETWORK

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", _numbers("numbers", self.numbers))
        if len(self.numbers) % UNIT != 1:
            raise InputError(f"numbers are {len(self.numbers)}; expected 1 + {UNIT} for each unit")

    @property
    def units(self) -> int:
        """Hidden units."""
        return len(self.numbers) // UNIT

    @property
    def parameters(self) -> tuple[float, ...]:
        """`numbers`."""
        return self.numbers


def _numbers(name: str, values: object) -> tuple[float, ...]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} are {str(values)[:80]}; expected a list of numbers") from error
    if array.ndim != 1 or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise InputError(f"{name} are {str(values)[:80]}; expected finite numbers")
    return tuple(float(value) for value in array)
