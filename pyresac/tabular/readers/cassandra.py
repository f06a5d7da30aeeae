"""Cassandra's text form of MDPs (.mdp): https://www.pomdp.org/code/pomdp-file-spec.html

`discount`, `values` (reward or cost), `states`, `actions`, `start`, `T` and `R` in all their forms, with `*`, `uniform`
and `identity`. A file with observations is refused: it is a POMDP. Costs come as negative rewards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pyresac.errors import InputError
from pyresac.tabular.checks import check_room
from pyresac.tabular.readers.arrays import Arrays
from pyresac.tabular.readers.model_rows import lines_of

WORD = re.compile(r":|\*|[^\s:]+")
Token = tuple[str, int]
"""A word and the number of its line."""
KEYS = ("discount", "values", "states", "actions", "observations", "start", "T", "R", "O")
LARGEST_COUNT = 1_000_000
"""States or actions; their tables are dense, and of more no memory would hold one."""


@dataclass
class _Reader:
    path: Path
    words: list[Token]
    place: int = 0
    discount: float | None = None
    sign: float = 1.0
    names: dict[str, list[str]] = field(default_factory=dict)
    transition: NDArray[np.float64] | None = None
    reward: NDArray[np.float64] | None = None
    initial: NDArray[np.float64] | None = None

    def refused(self, why: str) -> InputError:
        """An error that names the word that comes next."""
        return self._refused(min(self.place, len(self.words) - 1), why)

    def last_refused(self, why: str) -> InputError:
        """An error that names the word that was read last."""
        return self._refused(self.place - 1, why)

    def _refused(self, place: int, why: str) -> InputError:
        word, line = self.words[place]
        return InputError(f"{self.path}, line {line}: {why}; found {word!r}")

    @property
    def ahead(self) -> str:
        """The word that comes next; nothing at the end."""
        return self.words[self.place][0] if self.place < len(self.words) else ""

    def next(self, expected: str) -> str:
        """The next word. Raises InputError at the end."""
        if self.place >= len(self.words):
            raise InputError(f"{self.path} ends where {expected} is expected")
        self.place += 1
        return self.words[self.place - 1][0]

    def colon(self) -> None:
        """Raise InputError unless a colon comes next."""
        if self.next("':'") != ":":
            raise self.last_refused("expected ':'")

    def at_key(self) -> bool:
        """Whether a new entry begins here, or the file has ended."""
        if self.place >= len(self.words):
            return True
        follows = self.words[self.place + 1][0] if self.place + 1 < len(self.words) else ""
        return self.words[self.place][0] in (*KEYS, "include", "exclude") and follows in (":", "include", "exclude")

    def numbers(self, count: int) -> NDArray[np.float64]:
        """So many numbers."""
        found = np.empty(count)
        for i in range(count):
            word = self.next("a number")
            try:
                found[i] = float(word)
            except ValueError:
                raise self.last_refused("expected a number") from None
        return found

    def chosen(self, what: str) -> list[int]:
        """Which states or actions a word means: a name, a number, or * for all."""
        word, names = self.next(f"one of the {what}"), self.names[what]
        if word == "*":
            return list(range(len(names)))
        if word in names:
            return [names.index(word)]
        if word.isdecimal() and int(word) < len(names):
            return [int(word)]
        raise self.last_refused(f"expected '*' or one of the {what} {names[0]} … {names[-1]}")

    def size(self, what: str) -> int:
        """How many states or actions there are. Raises InputError before they are declared."""
        if what not in self.names:
            raise self.refused(f"the {what} must be declared first")
        return len(self.names[what])


def load(path: Path, discount: float | None = None) -> Arrays:
    """The model of a file; `discount` replaces the file's. Raises InputError naming file and line."""
    words = [(word, line.number) for line in lines_of(path, "#") for word in WORD.findall(line.text)]
    if not words:
        raise InputError(f"{path} is empty")
    reader = _Reader(path, words)
    while reader.place < len(words):
        _entry(reader)
    gamma = reader.discount if discount is None else discount
    if gamma is None:
        raise InputError(f"{path} has no discount; give one in [0, 1)")
    if reader.transition is None:
        raise InputError(f"{path} has no transitions (T: …)")
    reward = np.zeros(reader.transition.shape) if reader.reward is None else reader.sign * reader.reward
    # (A, S, S') as in the file
    expected = (reader.transition * reward).sum(2).T
    return Arrays(reader.transition.transpose(1, 0, 2), expected, gamma, initial=reader.initial)


def _entry(reader: _Reader) -> None:
    key = reader.next("an entry")
    if key not in KEYS:
        raise reader.last_refused(f"expected one of {', '.join(KEYS)}")
    if key in ("observations", "O"):
        raise reader.last_refused("a model with observations is a POMDP, which this package does not solve")
    if key != "start" or reader.ahead == ":":
        reader.colon()
    if key == "discount":
        reader.discount = float(reader.numbers(1)[0])
    elif key == "values":
        reader.sign = {"reward": 1.0, "cost": -1.0}.get(reader.next("reward or cost"), 0.0)
        if reader.sign == 0.0:
            raise reader.last_refused("expected reward or cost")
    elif key in ("states", "actions"):
        names = []
        while not reader.at_key():
            names.append(reader.next("a name"))
        if len(names) == 1 and names[0].isdecimal():
            if int(names[0]) > LARGEST_COUNT:
                raise reader.last_refused(f"at most {LARGEST_COUNT:,} {key} are read")
            names = [str(i) for i in range(int(names[0]))]
        reader.names[key] = names
        if not reader.names[key]:
            raise reader.refused(f"expected the {key}")
    elif key == "start":
        _start(reader)
    else:
        _table(reader, key)


def _start(reader: _Reader) -> None:
    count = reader.size("states")
    reader.initial = np.zeros(count)
    if reader.ahead in ("include", "exclude"):
        mode = reader.next("include or exclude")
        reader.colon()
        named = [state for _ in iter(lambda: reader.at_key(), True) for state in reader.chosen("states")]
        chosen = named if mode == "include" else [state for state in range(count) if state not in named]
        if not chosen:
            raise reader.last_refused("no state is left to start in")
        reader.initial[chosen] = 1.0 / len(chosen)
        return
    word = reader.ahead
    if word == "uniform":
        reader.place += 1
        reader.initial[:] = 1.0 / count
    elif _one_state(reader, count):
        reader.initial[reader.chosen("states")] = 1.0
    else:
        reader.initial = reader.numbers(count)


def _one_state(reader: _Reader, count: int) -> bool:
    """Whether a state stands here, by name or number, and not a distribution, which may begin with 0 or 1 as well."""
    numbered = count > 1 and reader.ahead.isdecimal()
    words = [word for word, _ in reader.words[reader.place : reader.place + count]]
    if numbered and len(words) == count and not any(word in KEYS for word in words):
        return False
    return numbered or reader.ahead in reader.names["states"]


def _table(reader: _Reader, key: str) -> None:
    """T or R: of an action, a state and a successor, of a row, or of a whole matrix."""
    states, actions = reader.size("states"), reader.size("actions")
    name = "transition" if key == "T" else "reward"
    if getattr(reader, name) is None:
        check_room(
            8 * actions * states * states, f"{reader.path}: a table of {actions} × {states:,} × {states:,} numbers"
        )
        setattr(reader, name, np.zeros((actions, states, states)))
    table: NDArray[np.float64] = getattr(reader, name)
    index: list[list[int]] = [reader.chosen("actions")]
    while len(index) < 3 and reader.ahead == ":":
        reader.place += 1
        index.append(reader.chosen("states"))
    if key == "R" and reader.ahead == ":":
        reader.place += 1
        if reader.next("'*'") != "*":
            raise reader.last_refused("a reward by observation is of a POMDP; expected '*'")
    if len(index) == 3:
        table[np.ix_(*index)] = reader.numbers(1)[0]
        return
    word = reader.ahead
    if word in ("uniform", "identity"):
        if word == "identity" and len(index) == 2:
            raise reader.refused("identity is a whole matrix")
        reader.place += 1
        values = np.full((states, states), 1.0 / states) if word == "uniform" else np.eye(states)
        table[np.ix_(*index)] = values[0] if len(index) == 2 else values
    elif len(index) == 2:
        table[np.ix_(*index)] = reader.numbers(states)
    else:
        table[index[0]] = reader.numbers(states * states).reshape(states, states)
