"""Finite metric spaces and the worst expectation in a transport ball, exactly."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from property_tests.rational import Vector, dot

Metric = tuple[tuple[int, ...], ...]


@st.composite
def metrics(draw: st.DrawFn, n: int) -> Metric:
    """Integer metrics on n points: shortest paths over random positive edge lengths."""
    d = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            d[i][j] = d[j][i] = draw(st.integers(1, 6))
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return tuple(tuple(row) for row in d)


def lipschitz(v: list[Fraction], d: Metric) -> Fraction:
    """The least L with |v(x) − v(y)| ≤ L·d(x, y)."""
    n = len(v)
    return max((abs(v[i] - v[j]) / d[i][j] for i in range(n) for j in range(i)), default=Fraction(0))


def penalised_minimum(p: Vector, v: list[Fraction], d: Metric, price: Fraction) -> Fraction:
    """Σ_x p(x)·min_y (v(y) + price·d(x, y)): the Lagrangian of the transport ball."""
    n = len(p)
    return dot(p, [min(v[y] + price * d[x][y] for y in range(n)) for x in range(n)])


def worst_in_transport_ball(p: Vector, v: list[Fraction], d: Metric, radius: Fraction) -> Fraction:
    """min E_q v over W₁(q, p) ≤ radius, exactly, by its one-dimensional dual.

    The dual is concave and piecewise linear in the price, with breaks where two targets of one source tie.
    """
    n = len(p)
    breaks = {
        (v[z] - v[y]) / (d[x][y] - d[x][z]) for x in range(n) for y in range(n) for z in range(n) if d[x][y] != d[x][z]
    }
    prices = [Fraction(0), *(b for b in breaks if b > 0)]
    return max(penalised_minimum(p, v, d, price) - price * radius for price in prices)
