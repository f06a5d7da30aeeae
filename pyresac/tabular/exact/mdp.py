"""A finite Markov decision process in exact rationals, and tables of rationals over its state-action pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from pyresac.errors import InputError

Number: TypeAlias = Fraction | int
Table: TypeAlias = tuple[tuple[Fraction, ...], ...]
"""A function of (s, a): `table[s][a]`."""
Kernel: TypeAlias = tuple[tuple[tuple[Fraction, ...], ...], ...]
"""A transition kernel: `kernel[s][a][s']`."""


def table(rows: Iterable[Iterable[Number]]) -> Table:
    """A table of `Fraction` from rows of rationals or integers (floats are refused: they would hide a rounding)."""
    try:
        return tuple(tuple(rational(x) for x in row) for row in rows)
    except TypeError as error:
        raise InputError(f"not a table [s][a] of rationals: {error}") from None


def rational(x: Number) -> Fraction:
    if isinstance(x, Fraction):
        return x
    if isinstance(x, bool) or not isinstance(x, int):
        raise InputError(f"{x!r} is a {type(x).__name__}; the exact twin takes fractions.Fraction or int")
    return Fraction(x)


def vector(name: str, entries: Iterable[Number], count: int | None = None) -> tuple[Fraction, ...]:
    """A tuple of `Fraction`, `count` of them, from rationals or integers; InputError otherwise."""
    try:
        found = tuple(rational(x) for x in entries)
    except TypeError:
        raise InputError(f"{name} is {entries!r}; it must be a sequence of rationals") from None
    if count is not None and len(found) != count:
        raise InputError(f"{name} has {len(found)} entries; expected {count}")
    return found


def kernel(rows: Iterable[Iterable[Iterable[Number]]]) -> Kernel:
    """A kernel of `Fraction` from nested rationals [s][a][s']."""
    try:
        return tuple(table(state) for state in rows)
    except TypeError as error:
        raise InputError(f"not a kernel [s][a][s'] of rationals: {error}") from None


def sup_distance(first: Sequence[Sequence[Fraction]], second: Sequence[Sequence[Fraction]]) -> Fraction:
    """‖first − second‖∞ over all pairs. Raises InputError for tables of different shapes, or floats in them."""
    one, other = table(first), table(second)
    if [len(row) for row in one] != [len(row) for row in other]:
        raise InputError(f"tables of {len(one)} and {len(other)} rows have no distance unless they have one shape")
    return max(
        (abs(x - y) for a, b in zip(one, other, strict=True) for x, y in zip(a, b, strict=True)), default=Fraction(0)
    )


def shift(q: Table, c: Number) -> Table:
    """Q + c, the constant added on every pair."""
    constant = rational(c)
    return tuple(tuple(x + constant for x in row) for row in table(q))


@dataclass(frozen=True)
class ExactMDP:
    """A finite MDP over ℚ.

    transition: [s][a][s'] rationals; the row of every available pair is a probability vector, exactly.
    reward: [s][a] rationals. discount: rational in [0, 1).
    available: [s][a] booleans, or None for "every action everywhere". Each state has an available action.

    Raises InputError naming the pair where this fails.
    """

    transition: Kernel
    reward: Table
    discount: Fraction
    available: tuple[tuple[bool, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "transition", kernel(self.transition))
        object.__setattr__(self, "reward", table(self.reward))
        object.__setattr__(self, "discount", rational(self.discount))
        if not 0 <= self.discount < 1:
            raise InputError(f"discount is {self.discount}; it must lie in [0, 1)")
        check_shape("reward", self.reward, self.n_states, self.n_actions)
        if self.available is not None:
            check_flags("available", self.available, self)
        for s in range(self.n_states):
            if not self.actions(s):
                raise InputError(f"state s={s} has no available action; each state needs at least one")
        check_kernel("transition", self.transition, self)

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.transition)

    @property
    def n_actions(self) -> int:
        """A."""
        return len(self.transition[0]) if self.transition else 0

    def actions(self, s: int) -> list[int]:
        """The available actions of state s, ascending."""
        if self.available is None:
            return list(range(self.n_actions))
        return [a for a in range(self.n_actions) if self.available[s][a]]

    def constant(self, c: Number) -> Table:
        """The table that is c on every pair."""
        return tuple((rational(c),) * self.n_actions for _ in range(self.n_states))


def check_shape(name: str, rows: Sequence[Sequence[object]], n_states: int, n_actions: int) -> None:
    """InputError unless `rows` is n_states × n_actions, both at least 1."""
    widths = sorted({len(row) for row in rows})
    if n_states < 1 or n_actions < 1 or len(rows) != n_states or widths != [n_actions]:
        raise InputError(
            f"{name} has {len(rows)} rows of lengths {widths}; expected {n_states} states × {n_actions} actions, "
            "each at least 1"
        )


def check_flags(name: str, rows: Sequence[Sequence[bool]], mdp: ExactMDP) -> None:
    """InputError unless `rows` holds a boolean (or 0 or 1) for each pair of `mdp`."""
    try:
        check_shape(name, rows, mdp.n_states, mdp.n_actions)
    except TypeError:
        raise InputError(f"{name} is {rows!r}; it must be a table [s][a] of booleans") from None
    odd = [x for row in rows for x in row if x not in (0, 1)]
    if odd:
        raise InputError(f"{name} holds {odd[0]!r}; it must hold booleans")


def check_kernel(name: str, rows: Kernel, mdp: ExactMDP) -> None:
    """InputError unless the row of each available pair of `rows` is a probability vector over the states of `mdp`."""
    check_shape(name, rows, mdp.n_states, mdp.n_actions)
    for s in range(mdp.n_states):
        for a in mdp.actions(s):
            row = rows[s][a]
            if len(row) != mdp.n_states:
                raise InputError(f"row (s={s}, a={a}) of {name} has {len(row)} entries; expected {mdp.n_states}")
            if min(row) < 0:
                raise InputError(f"row (s={s}, a={a}) of {name} has the entry {min(row)}; probabilities are at least 0")
            if sum(row) != 1:
                raise InputError(f"row (s={s}, a={a}) of {name} sums to {sum(row)}; rows must sum to 1")
