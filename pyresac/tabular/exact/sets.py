"""The worst row of an uncertainty set over ℚ, for the sets whose inner problem is rational.

Each takes the nominal row p and the values v (both over the states) and returns a row of the set at which Σ q·v is
least, a vertex of the set: one of finitely many, whatever v is. For the best case, give −v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias

from pyresac.errors import InputError
from pyresac.tabular.exact.mdp import Number, rational, table, vector

Row: TypeAlias = Sequence[Fraction]
WorstRow: TypeAlias = Callable[[Row, Row], list[Fraction]]
"""(p, v) ↦ the worst row: what `ExactRev` takes as its `inner` problem."""
Support: TypeAlias = Literal["all", "nominal"]


def filled(low: Row, high: Row, v: Row) -> list[Fraction]:
    """min over low ≤ q ≤ high, Σ q = 1: from the lowest value up. Raises InputError where the set is empty."""
    v = vector("v", v)
    low, high = vector("low", low, len(v)), vector("high", high, len(v))
    row = list(low)
    left = 1 - sum(low, Fraction(0))
    empty = left < 0 or any(x > y for x, y in zip(low, high, strict=True))
    for i in sorted(range(len(v)), key=lambda i: v[i]):
        step = min(left, high[i] - low[i])
        row[i] += step
        left -= step
    if empty or left != 0:
        raise InputError("the interval set is empty: it must satisfy lower ≤ upper and Σ lower ≤ 1 ≤ Σ upper")
    return row


def l1(radius: Number, support: Support = "all") -> WorstRow:
    """‖q − p‖₁ ≤ radius, radius in [0, 2]."""
    size = _between("radius", radius, 0, 2)
    _check_support(support)

    def worst(p: Row, v: Row) -> list[Fraction]:
        row, left = list(p), size / 2
        sink = _lowest(p, v, support)
        for i in sorted(range(len(v)), key=lambda i: -v[i]):
            if v[i] > v[sink]:
                step = min(left, row[i])
                row[i] -= step
                row[sink] += step
                left -= step
        return row

    return _checked(worst)


def total_variation(radius: Number, support: Support = "all") -> WorstRow:
    """½·‖q − p‖₁ ≤ radius, radius in [0, 1]."""
    return l1(2 * _between("radius", radius, 0, 1), support)


def contamination(share: Number, support: Support = "all") -> WorstRow:
    """(1 − share)·p + share·(any row), share in [0, 1]."""
    size = _between("share", share, 0, 1)
    _check_support(support)

    def worst(p: Row, v: Row) -> list[Fraction]:
        row = [(1 - size) * x for x in p]
        row[_lowest(p, v, support)] += size
        return row

    return _checked(worst)


def cvar(alpha: Number) -> WorstRow:
    """q ≤ p/alpha, alpha in (0, 1]: the mean over the worst share alpha."""
    share = _between("alpha", alpha, 0, 1)
    if share == 0:
        raise InputError("alpha is 0; it must lie in (0, 1]")
    return _checked(lambda p, v: filled([Fraction(0)] * len(p), [min(x / share, Fraction(1)) for x in p], v))


def l_infinity(radius: Number) -> WorstRow:
    """|q − p| ≤ radius on the support of p, radius in [0, 1]."""
    size = _between("radius", radius, 0, 1)

    def worst(p: Row, v: Row) -> list[Fraction]:
        low = [max(x - size, Fraction(0)) for x in p]
        return filled(low, [min(x + size, Fraction(1)) if x > 0 else Fraction(0) for x in p], v)

    return _checked(worst)


def transport(cost: Sequence[Sequence[Number]], radius: Number) -> WorstRow:
    """Wasserstein-1: rows q that p can be moved to at a cost Σ plan(x, y)·cost[x][y] of at most radius ≥ 0.

    Mass at x goes along the lower convex hull of the points (cost[x][y], v(y)), which starts at x itself; of all the
    hulls' segments those that gain most for their cost come first: a fractional knapsack.
    """
    costs = table(cost)
    n = len(costs)
    if n == 0 or any(len(row) != n for row in costs):
        raise InputError(f"cost has {n} rows of lengths {sorted({len(row) for row in costs})}; expected (S, S)")
    for x in range(n):
        for y in range(n):
            if costs[x][y] < 0 or (x == y and costs[x][y] != 0):
                raise InputError(
                    f"cost is {costs[x][y]} from s={x} to s={y}; costs are at least 0, and 0 from a state to itself"
                )
    size = rational(radius)
    if size < 0:
        raise InputError(f"radius is {size}; it must be at least 0")

    def worst(p: Row, v: Row) -> list[Fraction]:
        if len(p) != n:
            raise InputError(f"p has {len(p)} entries; the cost is of {n} states")
        row, left = [Fraction(0)] * n, size
        segments = []
        for x in (x for x in range(len(p)) if p[x] > 0):
            path = _hull(costs[x], v)
            row[path[0]] += p[x]
            segments += [
                ((v[i] - v[j]) / (costs[x][j] - costs[x][i]), p[x], i, j, costs[x][j] - costs[x][i])
                for i, j in pairwise(path)
            ]
        for _, mass, i, j, price in sorted(segments, key=lambda segment: -segment[0]):
            step = min(mass, left / price)
            row[i] -= step
            row[j] += step
            left -= step * price
        return row

    return _checked(worst)


def _hull(cost: Row, v: Row) -> list[int]:
    """The states of the lower convex hull of (cost, v), from the cheapest to the lowest."""
    path: list[int] = []
    for y in sorted(range(len(v)), key=lambda y: (cost[y], v[y])):
        if path and v[y] >= v[path[-1]]:
            continue
        while len(path) > 1 and (v[path[-1]] - v[y]) * (cost[path[-1]] - cost[path[-2]]) >= (
            v[path[-2]] - v[path[-1]]
        ) * (cost[y] - cost[path[-1]]):
            path.pop()
        path.append(y)
    return path


def _lowest(p: Row, v: Row, support: Support) -> int:
    return min((i for i in range(len(v)) if support == "all" or p[i] > 0), key=lambda i: v[i])


def _check_support(support: Support) -> None:
    if support not in ("all", "nominal"):
        raise InputError(f"support is {support!r}; it must be 'all' or 'nominal'")


def _checked(worst: WorstRow) -> WorstRow:
    """`worst`, which sees nothing but rationals, as many in v as in p. Raises InputError for anything else."""

    def seen(p: Row, v: Row) -> list[Fraction]:
        row = vector("p", p)
        if not row or min(row) < 0 or sum(row) != 1:
            raise InputError(f"p is {[str(x) for x in row]}; it must be a probability vector")
        return worst(row, vector("v", v, len(row)))

    return seen


def _between(name: str, value: Number, low: int, high: int) -> Fraction:
    number = rational(value)
    if not low <= number <= high:
        raise InputError(f"{name} is {number}; it must lie in [{low}, {high}]")
    return number
