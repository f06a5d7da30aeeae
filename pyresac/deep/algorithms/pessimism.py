"""The schedule of β_lcb, with its reset when performance falls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HELD = 0.2
"""Share of the schedule in which β_lcb stays at its start."""
COMPARED = 3
"""Evaluations whose mean is compared with that of as many before them."""
TOLERANCE = 0.1
"""Fall, as a share of the earlier mean's size, that moves β_lcb back."""


class PessimismSchedule:
    """β_lcb at the present step: its start for a fifth of the schedule's steps, then linear to its end."""

    def __init__(self, start: float, end: float | None, steps: int) -> None:
        """end: None keeps the start."""
        self._start, self._end, self._total = start, end, steps
        self._progress = 0.0
        self._step = 0
        self._returns: list[float] = []

    @property
    def beta(self) -> float:
        """β_lcb now."""
        return self._start if self._end is None else self._start + (self._end - self._start) * self._progress

    def moved(self, step: int) -> None:
        """The run is at this environment step now."""
        begun = max(self._step, HELD * self._total)
        self._progress = min(1.0, self._progress + max(0.0, step - begun) / ((1.0 - HELD) * self._total))
        self._step = step

    def evaluated(self, value: float, step: int) -> None:
        """Note an evaluation; move half-way back if the last three are a tenth worse than the three before."""
        self.moved(step)
        self._returns = [*self._returns, value][-2 * COMPARED :]
        if len(self._returns) == 2 * COMPARED:
            before = sum(self._returns[:COMPARED]) / COMPARED
            last = sum(self._returns[COMPARED:]) / COMPARED
            # for positive returns this is "below 0.9 times"; it says the same of negative ones
            if last < before - TOLERANCE * abs(before):
                self._progress /= 2.0
                self._returns = self._returns[COMPARED:]

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"progress": self._progress, "step": self._step, "returns": list(self._returns)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take on a saved state."""
        self._progress, self._step = state["progress"], state["step"]
        self._returns = list(state["returns"])
