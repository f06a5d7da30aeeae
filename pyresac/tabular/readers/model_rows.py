"""Transitions one by one, and lines of text with their place: what the readers of other formats share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse

from pyresac.errors import InputError
from pyresac.reading import read_text
from pyresac.tabular.readers.arrays import Arrays

MOST_STATES = 2**31
"""States of a model, which SciPy's rows can number."""


@dataclass
class Rows:
    """A model in the order of its file: probabilities of transitions, rewards of pairs, of states."""

    where: str
    """The file, for messages."""
    source: list[int] = field(default_factory=list)
    action: list[int] = field(default_factory=list)
    successor: list[int] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    pair_reward: dict[tuple[int, int], float] = field(default_factory=dict)
    state_reward: dict[int, float] = field(default_factory=dict)
    first: list[int] = field(default_factory=list)
    """States that a run may begin in, alike likely; none for an unknown start."""

    def add(self, state: int, action: int, successor: int, probability: float) -> None:
        """A transition."""
        self.source.append(state)
        self.action.append(action)
        self.successor.append(successor)
        self.probability.append(probability)

    def arrays(self, discount: float, states: int = 0) -> Arrays:
        """The model: at least `states` states; pairs without a transition are unavailable, and a state without any is
        absorbing with its own reward. Raises InputError for a model without transitions, or a start outside it."""
        if not self.source:
            raise InputError(f"{self.where} has no transitions")
        s, a, t = (np.array(ids) for ids in (self.source, self.action, self.successor))
        n_states = max(states, int(max(s.max(), t.max())) + 1, *(state + 1 for state in self.state_reward), 1)
        n_actions = int(a.max()) + 1
        available = np.zeros((n_states, n_actions), dtype=bool)
        available[s, a] = True
        deadlocks = np.flatnonzero(~available.any(1))
        available[deadlocks, 0] = True
        rows = np.concatenate([s * n_actions + a, deadlocks * n_actions])
        columns = np.concatenate([t, deadlocks])
        data = np.concatenate([np.array(self.probability), np.ones(len(deadlocks))])
        kernel = sparse.csr_array((data, (rows, columns)), shape=(n_states * n_actions, n_states))
        reward = np.zeros((n_states, n_actions))
        for state, value in self.state_reward.items():
            reward[state] += value
        for (state, action), value in self.pair_reward.items():
            reward[state, action] += value
        initial = None
        if self.first:
            if max(self.first) >= n_states:
                raise InputError(
                    f"{self.where}: a run begins in state {max(self.first)}; the model has {n_states} states"
                )
            initial = np.zeros(n_states)
            initial[self.first] = 1.0 / len(self.first)
        return Arrays(kernel, np.where(available, reward, 0.0), discount, available=available, initial=initial)


def require_count(path: Path, what: str, said: int, found: int) -> None:
    """Raise InputError for a file that has other counts than its header says: a part of a file is no model."""
    if said != found:
        short = "; is it cut short?" if found < said else ""
        raise InputError(f"{path}: the header says {said} {what}, and the file has {found}{short}")


def rewards_named(known: Collection[str], name: str | None, where: str) -> str | None:
    """The reward structure `name`; without a name the only one, None where there is none.

    Raises InputError for a name that is not among those known, and where several are and none is named.
    """
    if name is not None and name not in known:
        raise InputError(f"{where} has no rewards {name!r}; it has {', '.join(map(repr, known)) or 'none'}")
    if name is None and len(known) > 1:
        raise InputError(f"{where} has several rewards; name one of {', '.join(map(repr, known))}")
    return next(iter(known), None) if name is None else name


@dataclass(frozen=True)
class TextLine:
    """A line of a text file that says something."""

    path: Path
    number: int
    text: str

    def refused(self, why: str) -> InputError:
        """An error that names the place."""
        return InputError(f"{self.path}, line {self.number}: {why}: {self.text.strip()!r}")

    def numbers(self, words: list[str], ids: int) -> tuple[list[int], list[float]]:
        """The first `ids` words as whole numbers from 0 on, the rest as numbers. Raises InputError."""
        try:
            found = [int(word) for word in words[:ids]], [float(word) for word in words[ids:]]
        except ValueError:
            raise self.refused("expected numbers") from None
        if min(found[0], default=0) < 0 or not np.isfinite(found[1]).all():
            raise self.refused("numbers must be finite, and those of states and actions at least 0")
        return found


def lines_of(path: Path, comment: str) -> Iterator[TextLine]:
    """Lines without what follows `comment`, and without empty ones. Raises InputError for what is no text."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        said = line.split(comment, 1)[0] if comment else line
        if said.strip():
            yield TextLine(path, number, said)
