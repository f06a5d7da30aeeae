"""The schedule of β_lcb, with its reset when performance falls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyresac.deep.algorithms.resac_options import AlgorithmOptions

HELD = 0.2
"""Share of the schedule in which β_lcb stays at its start."""
WINDOW = 3
"""Evaluations on each side of the comparison."""
TOLERANCE = 0.1
"""Fall, as a share of the earlier mean's size, that moves β_lcb back."""


class PessimismSchedule:
    """β_lcb at the present step: its start for a fifth of beta_steps, then linear to its end."""

    def __init__(self, options: AlgorithmOptions) -> None:
        self._options = options
        self._progress = 0.0
        self._step = 0
        self._returns: list[float] = []
        self.best = float("-inf")
        """Best evaluation so far."""

    @property
    def beta(self) -> float:
        """β_lcb now."""
        start, end = self._options.beta_lcb, self._options.beta_lcb_end
        return start if end is None else start + (end - start) * self._progress

    def moved(self, step: int) -> None:
        """The run is at this environment step now."""
        total = self._options.beta_steps
        begun = max(self._step, HELD * total)
        self._progress = min(1.0, self._progress + max(0.0, step - begun) / ((1.0 - HELD) * total))
        self._step = step

    def evaluated(self, value: float, step: int) -> bool:
        """Note an evaluation; move half-way back if the last three are a tenth worse than the three before.

        Returns whether it is the best so far.
        """
        self.moved(step)
        self._returns = [*self._returns, value][-2 * WINDOW :]
        if len(self._returns) == 2 * WINDOW:
            before = sum(self._returns[:WINDOW]) / WINDOW
            last = sum(self._returns[WINDOW:]) / WINDOW
            # for positive returns this is "below 0.9 times"; it says the same of negative ones
            if last < before - TOLERANCE * abs(before):
                self._progress /= 2.0
                self._returns = self._returns[WINDOW:]
        better = value > self.best
        self.best = max(self.best, value)
        return better

    def state(self) -> dict[str, Any]:
        """As JSON; −∞ as None."""
        best = None if self.best == float("-inf") else self.best
        return {"progress": self._progress, "step": self._step, "returns": list(self._returns), "best": best}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take on a saved state."""
        self._progress, self._step = state["progress"], state["step"]
        self._returns = list(state["returns"])
        self.best = float("-inf") if state["best"] is None else state["best"]
