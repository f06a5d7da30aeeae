"""Interval sets as Lean's checker takes them: the worst member of each, and the threshold that shows it.

Filled from the lowest value up, a row has its upper bounds below some value, the threshold, and its lower bounds
above it. No member of the set has a smaller mean (`RESAC.intervals_attained`). Ends whose float64 sums are 1 may miss
it in exact arithmetic, so that no row is left between them: they are divided by their exact sum, as the rows of a
kernel are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from pyresac.tabular import IntervalSet
from pyresac.tabular.exact.sets import filled
from pyresac.tabular.mdp import FiniteMDP

Row = tuple[tuple[int, int], ...]
"""(next state, weight), weights natural and not all 0."""


@dataclass(frozen=True)
class Box:
    """An interval set. pivot: the state whose value is the threshold. bounds: (lower, upper) for each weight of the
    worst member, over the sum of its weights."""

    pivot: int
    bounds: tuple[tuple[int, int], ...]


def worst_members(
    intervals: IntervalSet, mdp: FiniteMDP, pairs: Iterable[tuple[int, int]], v: list[Fraction]
) -> dict[tuple[int, int], tuple[Row, Box]]:
    """For each of `pairs` the row of its set at which Σ q·v is least, and the set; v the values of the states."""
    bound = intervals.of(mdp)
    found = {}
    for s, a in pairs:
        start, stop = bound.indptr[s * mdp.n_actions + a : s * mdp.n_actions + a + 2]
        low, high = ([Fraction(float(x)) for x in ends[start:stop]] for ends in (bound.first, bound.second))
        states = [int(i) for i in bound.indices[start:stop]]
        least, most = max(sum(low), Fraction(1)), min(sum(high), Fraction(1))
        low, high = [x / least for x in low], [x / most for x in high]
        found[s, a] = _member(states, low, high, [v[i] for i in states])
    return found


def _member(states: list[int], low: list[Fraction], high: list[Fraction], v: list[Fraction]) -> tuple[Row, Box]:
    """Natural weights over the common denominator of all bounds, which they sum to: a vertex has no other."""
    worst = filled(low, high, v)
    total = lcm(*(x.denominator for x in (*low, *high)))
    row = tuple((state, int(w * total)) for state, w in zip(states, worst, strict=True))
    above = [i for i, (w, least) in enumerate(zip(worst, low, strict=True)) if w > least]
    pivot = max(above, key=lambda i: v[i]) if above else min(range(len(v)), key=lambda i: v[i])
    bounds = tuple((int(x * total), int(y * total)) for x, y in zip(low, high, strict=True))
    return row, Box(states[pivot], bounds)
