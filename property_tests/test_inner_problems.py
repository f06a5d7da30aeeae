"""The inner problem of each uncertainty set against an independent solution of the same program (C03, C04, C26).

The l1 ball and the interval set are linear programs: held against exact rational solutions and against HiGHS.
The KL ball and the entropic risk are held against 50 digits of mpmath.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from property_tests.claims import claim
from property_tests.floating import EXPECTATIONS, Floats, expectation_functionals, float_tables, kernel_array
from property_tests.rational import Vector, dot
from property_tests.strategies import mdps, numbers
from property_tests.transport import worst_in_transport_ball
from pyresac.tabular.exact import ExactMDP
from pyresac.tabular.expectations import EntropicRisk, IntervalSet, KLBall, L1Ball, Nominal
from pyresac.tabular.mdp import FiniteMDP

SMALL = mdps(dyadic=True, max_states=4, max_actions=2)
HIGHS_TOLERANCE = 1e-7
"""Primal and dual feasibility that HiGHS asks for by default."""


def state_values(mdp: ExactMDP) -> st.SearchStrategy[Vector]:
    """Value functions v(s), dyadic."""
    return st.lists(numbers(dyadic=True), min_size=mdp.n_states, max_size=mdp.n_states).map(tuple)


def floats(v: Vector) -> Floats:
    """v as float64, exactly."""
    return np.array([float(x) for x in v])


def largest(v: Vector) -> float:
    """‖v‖∞."""
    return float(max(abs(x) for x in v))


def rows(mdp: ExactMDP) -> Iterator[tuple[int, int, Vector]]:
    """(s, a, P(·|s, a))."""
    for s, state in enumerate(mdp.transition):
        for a, row in enumerate(state):
            yield s, a, row


@claim("C03", lean="RESAC.IsInfimum.monetary")
@given(st.data(), SMALL, st.sampled_from([0, 1, 2, 3, 4, 8, 16]))
def test_c03_l1_ball_is_the_exact_minimum(data: st.DataObject, mdp: ExactMDP, eighths: int) -> None:
    """Half the l1 distance is the transport cost under the discrete metric, whose exact dual is the reference."""
    radius, v, n = Fraction(eighths, 8), data.draw(state_values(mdp)), mdp.n_states
    discrete = tuple(tuple(int(i != j) for j in range(n)) for i in range(n))
    ball, copy = L1Ball(float(radius)), FiniteMDP.from_exact(mdp)
    computed = ball(copy, floats(v))
    for s, a, row in rows(mdp):
        reference = worst_in_transport_ball(row, list(v), discrete, radius / 2)
        assert abs(Fraction(float(computed[s, a])) - reference) <= Fraction(ball.rounding(copy, largest(v)))


@claim("C03", lean="RESAC.IsInfimum.monetary")
@given(st.data(), SMALL, st.sampled_from([0.5, 0.1, 1.5]))
def test_c03_l1_ball_against_highs(data: st.DataObject, mdp: ExactMDP, radius: float) -> None:
    """min q·v over ‖q − p‖₁ ≤ radius with q = p + u − w as a linear program, solved by HiGHS.

    A row of violation 1e-7 shifts the value by at most its dual price, at most 2‖v‖ here; n + 2 rows.
    """
    v, n = data.draw(state_values(mdp)), mdp.n_states
    computed = L1Ball(radius)(FiniteMDP.from_exact(mdp), floats(v))
    for s, a, row in rows(mdp):
        p = floats(row)
        result = linprog(
            np.concatenate([floats(v), -floats(v)]),
            A_ub=np.vstack([np.ones((1, 2 * n)), np.hstack([-np.eye(n), np.eye(n)])]),
            b_ub=np.concatenate([[radius], p]),
            A_eq=np.concatenate([np.ones(n), -np.ones(n)]).reshape(1, -1),
            b_eq=[0.0],
            method="highs",
        )
        allowed = HIGHS_TOLERANCE * (n + 2) * 2 * (largest(v) + 1) * (2 * n + 1)
        assert abs(result.fun + p @ floats(v) - computed[s, a]) <= allowed


def interval_vertices(low: Vector, high: Vector) -> Iterator[Vector]:
    """Every vertex of {low ≤ q ≤ high, Σq = 1}: all entries but one at a bound."""
    n = len(low)
    for free in range(n):
        for corner in product(*(((low[i], high[i]) if i != free else (None,)) for i in range(n))):
            rest = 1 - sum((x for x in corner if x is not None), Fraction(0))
            if low[free] <= rest <= high[free]:
                yield tuple(rest if x is None else x for x in corner)


@claim("C03", lean="RESAC.IsInfimum.monetary")
@given(st.data(), SMALL)
def test_c03_interval_set_is_the_exact_minimum(data: st.DataObject, mdp: ExactMDP) -> None:
    """The least value over the vertices of the polytope, enumerated exactly; the minimiser is one of the set."""
    v = data.draw(state_values(mdp))
    widths = st.integers(0, 8).map(lambda k: Fraction(k, 8))

    def bound(kernel: tuple, sign: int) -> tuple:
        return tuple(
            tuple(tuple(min(max(x + sign * data.draw(widths), 0), 1) for x in row) for row in state) for state in kernel
        )

    low, high = bound(mdp.transition, -1), bound(mdp.transition, 1)
    functional, copy = IntervalSet(kernel_array(low), kernel_array(high)), FiniteMDP.from_exact(mdp)
    computed, worst = functional(copy, floats(v)), functional.worst_kernel(copy, floats(v))
    for s, a, _ in rows(mdp):
        reference = min(dot(q, v) for q in interval_vertices(low[s][a], high[s][a]))
        assert Fraction(float(computed[s, a])) == reference, "dyadic bounds: nothing rounds"
        row = tuple(Fraction(float(x)) for x in worst[s, a])
        assert sum(row) == 1
        assert all(x <= y <= z for x, y, z in zip(low[s][a], row, high[s][a], strict=True))


@claim("C03", lean="RESAC.IsInfimum.monetary")
@given(st.data(), SMALL)
def test_c03_interval_set_against_highs(data: st.DataObject, mdp: ExactMDP) -> None:
    """min q·v over lower ≤ q ≤ upper, Σq = 1, solved by HiGHS; violations of 1e-7 priced by ‖v‖ a bound."""
    v, n = data.draw(state_values(mdp)), mdp.n_states
    radius = data.draw(st.sampled_from([0.25, 0.1, 0.5]))
    nominal = kernel_array(mdp.transition)
    low, high = np.maximum(nominal - radius, 0.0), np.minimum(nominal + radius, 1.0)
    computed = IntervalSet(low, high)(FiniteMDP.from_exact(mdp), floats(v))
    for s, a, _ in rows(mdp):
        bounds = list(zip(low[s, a], high[s, a], strict=True))
        result = linprog(floats(v), A_eq=np.ones((1, n)), b_eq=[1.0], bounds=bounds, method="highs")
        allowed = HIGHS_TOLERANCE * (2 * n + 1) * 2 * (largest(v) + 1)
        assert abs(result.fun - computed[s, a]) <= allowed


def tilted_row(p: list[mpmath.mpf], x: list[mpmath.mpf], theta: mpmath.mpf) -> list[mpmath.mpf]:
    """The Gibbs weights p·exp(−θx), normalised."""
    weights = [w * mpmath.exp(-theta * y) for w, y in zip(p, x, strict=True)]
    total = mpmath.fsum(weights)
    return [w / total for w in weights]


def divergence(q: list[mpmath.mpf], p: list[mpmath.mpf]) -> mpmath.mpf:
    """KL(q‖p) with 0·log 0 = 0."""
    return mpmath.fsum(x * mpmath.log(x / y) for x, y in zip(q, p, strict=True) if x)


def mean(q: list[mpmath.mpf], x: list[mpmath.mpf]) -> mpmath.mpf:
    """E_q x."""
    return mpmath.fsum(a * b for a, b in zip(q, x, strict=True))


def kl_ball_reference(row: Vector, v: Vector, radius: float) -> mpmath.mpf:
    """The minimum of E_q v over KL(q‖p) ≤ radius: bisection on the tilt, in the working precision."""
    pairs = [(to_mpf(w), to_mpf(y)) for w, y in zip(row, v, strict=True) if w]
    p, x = [w for w, _ in pairs], [y for _, y in pairs]
    lowest = min(x)
    at_lowest = mpmath.fsum(w for w, y in pairs if y == lowest)
    if max(x) == lowest or radius == 0:
        return mean(p, x)
    if radius >= -mpmath.log(at_lowest):
        return lowest
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    while divergence(tilted_row(p, x, high), p) < radius:
        low, high = high, 2 * high
    for _ in range(170):
        middle = (low + high) / 2
        if divergence(tilted_row(p, x, middle), p) < radius:
            low = middle
        else:
            high = middle
    return mean(tilted_row(p, x, low), x)


def to_mpf(x: Fraction) -> mpmath.mpf:
    """A rational in the working precision."""
    return mpmath.mpf(x.numerator) / x.denominator


@claim("C03", lean="RESAC.IsInfimum.monetary")
@given(st.data(), mdps(dyadic=True, max_states=3, max_actions=1), st.sampled_from([0.1, 0.0, 1e-6, 0.7, 3.0]))
def test_c03_kl_ball_against_high_precision(data: st.DataObject, mdp: ExactMDP, radius: float) -> None:
    """The KL ball's minimum within its rounding bound of a 60-digit solution (Lean: RESAC.IsInfimum.monetary)."""
    v, copy = data.draw(state_values(mdp)), FiniteMDP.from_exact(mdp)
    ball = KLBall(radius)
    computed = ball(copy, floats(v))
    with mpmath.workdps(60):
        for s, a, row in rows(mdp):
            error = abs(mpmath.mpf(float(computed[s, a])) - kl_ball_reference(row, v, radius))
            assert error <= ball.rounding(copy, largest(v))


@claim("C26", lean="RESAC.entropicRisk_dual")
@given(st.data(), SMALL, st.sampled_from([1.0, 1e-6, 0.1, 30.0, 1e3]))
def test_c26_entropic_risk_against_high_precision(data: st.DataObject, mdp: ExactMDP, beta: float) -> None:
    """−(1/β)·log E exp(−βv) within its rounding bound of 60 digits, and equal to the dual at its minimiser.

    Lean: RESAC.entropicRisk_dual.
    """
    v, copy = data.draw(state_values(mdp)), FiniteMDP.from_exact(mdp)
    risk = EntropicRisk(beta)
    computed, worst = risk(copy, floats(v)), risk.worst_kernel(copy, floats(v))
    bound = risk.rounding(copy, largest(v))
    with mpmath.workdps(60):
        for s, a, row in rows(mdp):
            p, x = [to_mpf(w) for w in row], [to_mpf(y) for y in v]
            reference = -mpmath.log(mean(p, [mpmath.exp(-beta * y) for y in x])) / beta
            assert abs(mpmath.mpf(float(computed[s, a])) - reference) <= bound
            q = [mpmath.mpf(float(y)) for y in worst[s, a]]
            # q misses 1 by rounding; its dual value is flat at the minimiser but for that mass.
            total = mpmath.fsum(q)
            q = [y / total for y in q]
            assert reference <= mean(q, x) + divergence(q, p) / beta + mpmath.mpf(10) ** -50


@claim("C03", lean="RESAC.IsInfimum.monetary")
@pytest.mark.parametrize("name", EXPECTATIONS)
@given(data=st.data())
def test_c03_worst_kernel_attains_the_minimum(name: str, data: st.DataObject) -> None:
    """`worst_kernel` is a kernel whose expectation of v is E v, for every set; E v ≤ E_p v where p is in the set."""
    mdp = data.draw(mdps(dyadic=True, max_states=4, max_actions=2))
    functional, v = data.draw(expectation_functionals(mdp, name)), data.draw(state_values(mdp))
    copy = FiniteMDP.from_exact(mdp)
    computed, worst = functional(copy, floats(v)), functional.worst_kernel(copy, floats(v))
    slack = 2 * functional.rounding(copy, largest(v))
    # A row of n weights in [0, 1] sums to 1 within its n roundings, scaled as the functional's own bound is.
    assert (worst >= 0).all()
    assert (np.abs(worst.sum(axis=2) - 1) <= 2 * functional.rounding(copy, 1.0)).all()
    if name == "entropic":
        assert (worst @ floats(v) <= computed + slack).all(), "the rest of the dual is KL(q‖p)/β ≥ 0"
    else:
        assert (np.abs(worst @ floats(v) - computed) <= slack).all()
    assert (computed <= Nominal()(copy, floats(v)) + slack).all()


@claim("C03", lean="RESAC.IsInfimum.monetary")
@pytest.mark.parametrize("name", ["l1", "kl", "entropic", "interval"])
@given(data=st.data())
def test_c03_larger_sets_are_worse(name: str, data: st.DataObject) -> None:
    """A larger radius (or β) never raises E v; radius 0 is the nominal expectation (C03)."""
    mdp = data.draw(mdps(dyadic=True, max_states=4, max_actions=2))
    v, copy = data.draw(float_tables(mdp)).max(axis=1), FiniteMDP.from_exact(mdp)
    nominal = kernel_array(mdp.transition)
    families = {
        "l1": lambda r: L1Ball(2 * r),
        "kl": KLBall,
        "entropic": lambda r: EntropicRisk(r or 1e-12),
        "interval": lambda r: IntervalSet(np.maximum(nominal - r, 0.0), np.minimum(nominal + r, 1.0)),
    }
    small, large = families[name](0.25), families[name](0.75)
    bound = float(np.abs(v).max())
    slack = small.rounding(copy, bound) + large.rounding(copy, bound)
    assert (large(copy, v) <= small(copy, v) + slack).all()
    point = families[name](0.0)
    # ρ_β differs from the mean by at most β·spread²/8 (Hoeffding), far below the slack at β = 1e-12.
    hoeffding = 1e-12 * (2 * bound) ** 2 / 8
    gap = np.abs(point(copy, v) - Nominal()(copy, v))
    assert (gap <= slack + hoeffding).all()
