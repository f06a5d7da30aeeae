"""Small exact tools that the property tests share: sup-norms, shifts, and signs of sums of logarithms.

A value function, Q-function or policy is a nested tuple of `Fraction`, as in `pyresac.tabular.exact`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

Q = tuple[tuple[Fraction, ...], ...]
"""A Q-function or penalty, indexed [state][action]."""

Vector = tuple[Fraction, ...]


def combine(f: Callable[..., Fraction], *tables: Q) -> Q:
    """Apply `f` entry by entry to tables of one shape."""
    return tuple(tuple(f(*entries) for entries in zip(*rows, strict=True)) for rows in zip(*tables, strict=True))


def shift(q: Q, c: Fraction | int) -> Q:
    """q + c in every entry."""
    return combine(lambda x: x + c, q)


def subtract(q1: Q, q2: Q) -> Q:
    """q1 − q2, entry by entry."""
    return combine(lambda x, y: x - y, q1, q2)


def entries(q: Q) -> list[Fraction]:
    """All entries of a table, row by row."""
    return [x for row in q for x in row]


def sup(q: Q) -> Fraction:
    """max |q(s, a)|."""
    return max(abs(x) for x in entries(q))


def below(q1: Q, q2: Q) -> bool:
    """Whether q1(s, a) ≤ q2(s, a) everywhere."""
    return all(x <= y for x, y in zip(entries(q1), entries(q2), strict=True))


def constant(like: Q, c: Fraction | int) -> Q:
    """The table of the shape of `like` with `c` in every entry."""
    return combine(lambda _: Fraction(c), like)


def dot(p: Sequence[Fraction], f: Sequence[Fraction]) -> Fraction:
    """Σ p_i f_i: the expectation of `f` under `p`."""
    return sum((x * y for x, y in zip(p, f, strict=True)), Fraction(0))


def geometric(gamma: Fraction, n: int) -> Fraction:
    """1 + γ + … + γ^{n−1}."""
    return sum((gamma**i for i in range(n)), Fraction(0))


def sign_of_log_sum(terms: Iterable[tuple[Fraction, Fraction]]) -> int:
    """The sign of Σ c_j·log(x_j) for rational c_j and rational x_j > 0, without evaluating a logarithm.

    With N a common denominator of the c_j it is the sign of Π x_j^(N·c_j) − 1. Terms with c_j = 0 are
    skipped, so that 0·log 0 counts as 0. Raises ValueError where a used x_j is not positive.
    """
    used = [(Fraction(c), Fraction(x)) for c, x in terms if c != 0]
    if any(x <= 0 for _, x in used):
        raise ValueError("the logarithm of a number that is not positive")
    scale = math.lcm(1, *(c.denominator for c, _ in used))
    above, under = 1, 1
    for c, x in used:
        power = int(c * scale)
        top, bottom = (x.numerator, x.denominator) if power > 0 else (x.denominator, x.numerator)
        above *= top ** abs(power)
        under *= bottom ** abs(power)
    return (above > under) - (above < under)
