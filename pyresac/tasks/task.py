"""What the deep agent needs of a problem: several copies of it in lockstep, in features and units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyresac.tasks.action_box import ActionBox
from pyresac.tasks.experience import Experience, Numbers

Codes: TypeAlias = NDArray[np.int64]
PolicyFunction: TypeAlias = Callable[[Numbers, Codes], Numbers]
"""Units (n, A) of n states: continuous features (n, C), codes (n, F) with their offsets."""


def code_offsets(categories: tuple[int, ...]) -> Codes:
    """(F,) what is added to each feature's codes, so that no two features share one (`NetworkLayout.code_offsets`)."""
    return np.cumsum((0, *categories), dtype=np.int64)[:-1]


@dataclass(frozen=True)
class Played:
    """Evaluation episodes."""

    metrics: Mapping[str, NDArray[np.float64]]
    """Metrics by name, each (episodes,); "return" among them."""
    dense: Numbers
    """(m, C) states of the decisions whose discounted return is known."""
    codes: Codes
    action: Numbers
    """(m, A) what was done there, in units."""
    discounted: NDArray[np.float64]
    """(m,) Σ γ^i r from there on, in the environment's rewards."""

    @property
    def returns(self) -> NDArray[np.float64]:
        """(episodes,) undiscounted returns."""
        return self.metrics["return"]

    def without_decisions(self) -> Played:
        """The metrics alone."""
        none = (np.empty_like(self.dense[:0]), np.empty_like(self.codes[:0]), np.empty_like(self.action[:0]))
        return Played(self.metrics, *none, np.empty(0))


KEPT_DECISIONS = 2**18
"""Once so many decisions of evaluation episodes are kept, those of further blocks are not."""


def play_in_blocks(play: Callable[[int, int], Played], episodes: int, block: int) -> Played:
    """`play(first, count)` for `block` episodes at a time, so that memory does not grow with their number.

    Metrics are those of all episodes; decisions those of the first blocks, until there are `KEPT_DECISIONS`.
    """
    parts: list[Played] = []
    for first in range(0, episodes, block):
        part = play(first, min(block, episodes - first))
        parts.append(part if sum(len(one.discounted) for one in parts) < KEPT_DECISIONS else part.without_decisions())
    return Played(
        metrics={name: np.concatenate([part.metrics[name] for part in parts]) for name in parts[0].metrics},
        dense=np.concatenate([part.dense for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
        action=np.concatenate([part.action for part in parts]),
        discounted=np.concatenate([part.discounted for part in parts]),
    )


class Task(Protocol):
    """`copies` environments side by side. Training and evaluation share no generator."""

    copies: int
    title: str
    box: ActionBox
    dense: int
    """Continuous features C."""
    categories: tuple[int, ...]
    """Categories of each of the F categorical features."""
    reported: tuple[str, ...]
    """Metrics that evaluations report beside the return."""

    def observe(self) -> tuple[Numbers, Codes]:
        """Present states of all copies."""

    def step(self, unit: Numbers) -> Experience:
        """Act (copies, A), and reset each copy whose episode has ended. Returns the completed transitions."""

    def finished(self) -> list[float]:
        """Returns of the training episodes that have ended since the last call."""

    def play(self, policy: PolicyFunction, episodes: int, seed: int, discount: float) -> Played:
        """Episodes of a deterministic policy, always the same ones for a seed."""

    def state(self) -> dict[str, Any]:
        """What `load` needs, as JSON."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that `load` needs."""

    def load(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on exactly from a saved state. Raises CheckpointError if it does not fit."""

    def load_for_play(self, state: Mapping[str, Any]) -> None:
        """Take of a saved state what `play` depends on. Raises CheckpointError if it does not fit."""
