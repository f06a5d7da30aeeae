"""Means of a learner's statistics over the updates between two evaluations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from torch import Tensor

STATISTICS = (
    "critic_loss",
    "actor_loss",
    "q_mean",
    "target_mean",
    "sigma_mean",
    "log_prob",
    "critic_grad",
    "actor_grad",
)
"""Statistics of every learner."""
OF_STATE_VALUE = ("state_value_loss", "state_value_mean", "state_value_grad")
"""Further statistics of learners with a network V(s)."""
STATISTICS_EVERY = 8
"""Updates between two that are noted, because reading a number off a device waits for it."""


class UpdateStatistics:
    """Sums of what was noted since the last `begin`."""

    def __init__(self, names: tuple[str, ...] = STATISTICS) -> None:
        self.names = names
        """What is noted."""
        self.begin()

    def begin(self) -> None:
        """Forget the statistics so far."""
        self._sums = dict.fromkeys(self.names, 0.0)
        self._counts = dict.fromkeys(self.names, 0)

    def note(self, **values: Tensor) -> None:
        """Add one number to each statistic named."""
        for name, value in values.items():
            self._sums[name] += value.item()
            self._counts[name] += 1

    def means(self) -> dict[str, float]:
        """NaN where nothing was noted."""
        return {name: self._sums[name] / count if count else math.nan for name, count in self._counts.items()}

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"sums": dict(self._sums), "counts": dict(self._counts)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`."""
        self._sums, self._counts = dict(state["sums"]), dict(state["counts"])
