"""The uncertainty sets: exact rows against an independent solution, float rows against the exact ones, whole solves.

The twin's rows are greedy; here they meet enumerated vertices and the dual of a transport problem. χ² has a root in it
and is held against 50 digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.floating import SETS, expectation_functionals, sparse_copy
from property_tests.rational import Vector, dot
from property_tests.strategies import discounts, distributions, mdps, numbers
from property_tests.test_inner_problems import (
    SMALL,
    floats,
    interval_vertices,
    largest,
    mean,
    rows,
    state_values,
    to_mpf,
)
from property_tests.transport import metrics, worst_in_transport_ball
from pyresac.errors import InputError
from pyresac.tabular.exact import ExactMDP, ExactRev, sets
from pyresac.tabular.exact.polytopes import vertices
from pyresac.tabular.expectations import (
    Chi2Ball,
    CressieReadBall,
    KLBall,
    LikelihoodBall,
    RenyiBall,
    RowSet,
    WassersteinBall,
    WorstOfKernels,
)
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import solve
from pyresac.tabular.values import Max, Min

RATIONAL: dict[str, Callable[[Any], sets.WorstRow]] = {
    "l1": sets.l1,
    "l1 on the successors": lambda radius: sets.l1(radius, "nominal"),
    "total variation": sets.total_variation,
    "contamination": sets.contamination,
    "contamination of the successors": lambda share: sets.contamination(share, "nominal"),
    "l infinity": sets.l_infinity,
    "cvar": sets.cvar,
}
"""The exact twins of the sets of these names."""
EIGHTHS = st.integers(1, 8).map(lambda k: Fraction(k, 8))
every_rational_set = pytest.mark.parametrize("name", RATIONAL)


def reference(name: str, p: Vector, v: Vector, size: Fraction) -> Fraction:
    """min Σ q·v over the set of this name, by other means than filling up."""
    n = len(p)
    zero, one = Fraction(0), Fraction(1)
    if name in ("l1", "l1 on the successors", "total variation"):
        on = [i for i in range(n) if name != "l1 on the successors" or p[i] > 0]
        discrete = tuple(tuple(int(i != j) for j in on) for i in on)
        radius = size if name == "total variation" else size / 2
        return worst_in_transport_ball(tuple(p[i] for i in on), [v[i] for i in on], discrete, radius)
    if name.startswith("contamination"):
        return min((1 - size) * dot(p, v) + size * v[i] for i in range(n) if name == "contamination" or p[i] > 0)
    if name == "cvar":
        # Rockafellar and Uryasev: the greatest of t − E(t − v)₊/alpha is at one of the values.
        return max(t - dot(p, [max(t - x, zero) for x in v]) / size for t in v)
    low = tuple(max(x - size, zero) for x in p)
    high = tuple(min(x + size, one) if x > 0 else zero for x in p)
    return min(dot(q, v) for q in interval_vertices(low, high))


@claim("C03", lean="RESAC.IsInfimum.monetary")
@every_rational_set
@given(data=st.data(), size=EIGHTHS)
def test_c03_exact_worst_rows_are_worst(name: str, data: st.DataObject, size: Fraction) -> None:
    """The twin's row is a probability vector that attains the minimum over the set (Lean: RESAC.IsInfimum.monetary)."""
    n = data.draw(st.integers(1, 4))
    p, v = data.draw(distributions(n)), tuple(data.draw(numbers()) for _ in range(n))
    q = RATIONAL[name](size)(p, v)
    assert min(q) >= 0
    assert sum(q) == 1
    assert dot(q, v) == reference(name, p, v, size)


@claim("C03", lean="RESAC.IsInfimum.monetary")
@every_rational_set
@given(data=st.data(), mdp=SMALL, size=EIGHTHS, optimistic=st.booleans())
def test_c03_float_sets_within_their_rounding_bound(
    name: str, data: st.DataObject, mdp: ExactMDP, size: Fraction, optimistic: bool
) -> None:
    """|fl(E v) − E v| ≤ rounding(‖v‖∞), worst case and best case, against the twin (Lean: RESAC.IsInfimum.monetary)."""
    v, copy = data.draw(state_values(mdp)), FiniteMDP.from_exact(mdp)
    functional = replace(SETS[name](float(size)), optimistic=optimistic)  # type: ignore[type-var]
    computed, sign = functional(copy, floats(v)), -1 if optimistic else 1
    bound = Fraction(functional.rounding(copy, largest(v)))
    for s, a, row in rows(mdp):
        signed = [sign * x for x in v]
        exact = sign * dot(RATIONAL[name](size)(row, signed), signed)
        assert abs(Fraction(float(computed[s, a])) - exact) <= bound


@claim("C03", lean="RESAC.IsInfimum.monetary")
@given(data=st.data(), radius=st.integers(0, 12).map(lambda k: Fraction(k, 4)), optimistic=st.booleans())
def test_c03_wasserstein_ball_is_the_exact_minimum(data: st.DataObject, radius: Fraction, optimistic: bool) -> None:
    """Twin and float set against the dual of the transport problem (Lean: RESAC.IsInfimum.monetary)."""
    mdp = data.draw(SMALL)
    v, copy, metric = data.draw(state_values(mdp)), FiniteMDP.from_exact(mdp), data.draw(metrics(mdp.n_states))
    ball = WassersteinBall(float(radius), np.array(metric, dtype=float), optimistic=optimistic)
    computed, worst = ball(copy, floats(v)), ball.worst_kernel(copy, floats(v))
    bound, sign = Fraction(ball.rounding(copy, largest(v))), -1 if optimistic else 1
    signed = [sign * x for x in v]
    for s, a, row in rows(mdp):
        best = worst_in_transport_ball(row, signed, metric, radius)
        q = sets.transport(metric, radius)(row, signed)
        assert min(q) >= 0
        assert sum(q) == 1
        assert dot(q, signed) == best
        assert abs(Fraction(float(computed[s, a])) - sign * best) <= bound
        assert abs(worst[s, a] @ floats(v) - computed[s, a]) <= 2 * bound
        assert worst[s, a].min() >= 0


def summit(concave: Callable[[mpmath.mpf], mpmath.mpf], low: mpmath.mpf, high: mpmath.mpf, steps: int) -> mpmath.mpf:
    """The maximum of a concave function between two numbers, by trisection."""
    for _ in range(steps):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if concave(left) < concave(right) else (low, right)
    return concave(low)


def chi2_reference(p: list[mpmath.mpf], x: list[mpmath.mpf], radius: mpmath.mpf) -> mpmath.mpf:
    """max over t of t − √(1 + radius)·√E(t − x)₊², a concave function, by trisection: its dual (Duchi and Namkoong)."""
    lowest, highest = min(x), max(x)
    at_lowest = mpmath.fsum(w for w, y in zip(p, x, strict=True) if y == lowest)
    if highest == lowest or at_lowest * (1 + radius) >= 1:
        return lowest
    if radius == 0:
        return mean(p, x)

    def dual(t: mpmath.mpf) -> mpmath.mpf:
        square = mpmath.fsum(w * max(t - y, 0) ** 2 for w, y in zip(p, x, strict=True))
        return t - mpmath.sqrt(1 + radius) * mpmath.sqrt(square)

    low, high = lowest, highest + (highest - lowest) / min(radius, mpmath.mpf(1))
    return summit(dual, low, high, 400)


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=30)
@given(st.data(), mdps(dyadic=True, max_states=4, max_actions=1), st.sampled_from([0.1, 1e-6, 0.5, 2.0, 30.0, 0.0]))
def test_c03_chi2_ball_against_high_precision(data: st.DataObject, mdp: ExactMDP, radius: float) -> None:
    """The χ² ball's minimum within its rounding bound of its dual in 60 digits (Lean: RESAC.IsInfimum.monetary)."""
    v, copy = data.draw(state_values(mdp)), FiniteMDP.from_exact(mdp)
    ball = Chi2Ball(radius)
    computed = ball(copy, floats(v))
    with mpmath.workdps(60):
        for s, a, row in rows(mdp):
            pairs = [(to_mpf(w), to_mpf(y)) for w, y in zip(row, v, strict=True) if w]
            best = chi2_reference([w for w, _ in pairs], [y for _, y in pairs], mpmath.mpf(radius))
            assert abs(mpmath.mpf(float(computed[s, a])) - best) <= ball.rounding(copy, largest(v)) + 1e-25


def power_reference(p: list[mpmath.mpf], x: list[mpmath.mpf], c: mpmath.mpf, s: mpmath.mpf) -> mpmath.mpf:
    """max over η of η − c·(E (η − x)₊^s)^(1/s), a concave function, by trisection: the dual."""
    spread = max(x) - min(x)
    if spread == 0 or c == 1:
        return mean(p, x)

    def dual(eta: mpmath.mpf) -> mpmath.mpf:
        return eta - c * mpmath.fsum(w * max(eta - y, 0) ** s for w, y in zip(p, x, strict=True)) ** (1 / s)

    low, high = min(x), min(x) + spread * (2 + mpmath.sqrt((s - 1) / mpmath.log(c)))
    return summit(dual, low, high, 170)


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=25)
@given(
    st.data(),
    mdps(dyadic=True, max_states=4, max_actions=1),
    st.sampled_from([0.1, 1e-6, 0.5, 2.0, 30.0, 0.0]),
    st.sampled_from([2.0, 1.5, 3.0, 1.05, 20.0]),
    st.sampled_from([CressieReadBall, RenyiBall]),
)
def test_c03_power_divergences_against_high_precision(
    data: st.DataObject, mdp: ExactMDP, radius: float, order: float, kind: type[CressieReadBall] | type[RenyiBall]
) -> None:
    """The minimum within its rounding bound of its dual in 50 digits, and a row of the set that attains it
    (Lean: RESAC.IsInfimum.monetary)."""
    v, copy = data.draw(state_values(mdp)), FiniteMDP.from_exact(mdp)
    ball = kind(radius, order)
    computed, worst = ball(copy, floats(v)), ball.worst_kernel(copy, floats(v))
    with mpmath.workdps(50):
        k, r = mpmath.mpf(order), mpmath.mpf(radius)
        size = 1 + k * (k - 1) * r if kind is CressieReadBall else mpmath.exp((k - 1) * r)  # E (q/p)^k is at most this
        for s, a, row in rows(mdp):
            pairs = [(to_mpf(w), to_mpf(y)) for w, y in zip(row, v, strict=True) if w]
            best = power_reference([w for w, _ in pairs], [y for _, y in pairs], size ** (1 / k), k / (k - 1))
            assert abs(mpmath.mpf(float(computed[s, a])) - best) <= ball.rounding(copy, largest(v)) + 1e-25
            ratios = [(to_mpf(w), mpmath.mpf(float(q)) / to_mpf(w)) for w, q in zip(row, worst[s, a], strict=True) if w]
            assert mpmath.fsum(w * t**k for w, t in ratios) <= size * (1 + k * 1e-11)
            assert abs(worst[s, a] @ floats(v) - computed[s, a]) <= 2 * ball.rounding(copy, largest(v))


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=30)
@given(st.data(), mdps(dyadic=True, max_states=4, max_actions=2), st.sampled_from([0.1, 1e-6, 0.5, 2.0]))
def test_c03_power_divergences_beside_their_relatives(data: st.DataObject, mdp: ExactMDP, radius: float) -> None:
    """Order 2 is χ²: Cressie and Read's of half its radius, Rényi's at log(1 + radius). Rényi's ball grows as its order
    falls, and is inside the KL ball (Lean: RESAC.IsInfimum.monetary)."""
    v, copy = floats(data.draw(state_values(mdp))), FiniteMDP.from_exact(mdp)
    size = float(np.abs(v).max())

    def both(first: RowSet, second: RowSet) -> tuple[np.ndarray, float]:
        slack = first.rounding(copy, size) + second.rounding(copy, size)
        return first(copy, v) - second(copy, v), slack + 1e-14 * size

    for ball in (CressieReadBall(radius / 2), RenyiBall(float(np.log1p(radius)))):
        gap, slack = both(ball, Chi2Ball(radius))
        assert np.abs(gap).max() <= slack
    for smaller, larger in ((RenyiBall(radius, 3.0), RenyiBall(radius, 1.5)), (RenyiBall(radius, 1.5), KLBall(radius))):
        gap, slack = both(smaller, larger)
        assert gap.min() >= -slack


def likelihood_reference(p: list[mpmath.mpf], x: list[mpmath.mpf], floor: mpmath.mpf, radius: mpmath.mpf) -> mpmath.mpf:
    """max over ν ≤ floor of ν + e^−radius·exp(E log(x − ν)), a concave function, by trisection: its dual."""
    spread = max(x) - floor
    if spread == 0:
        return floor
    if radius == 0:
        return mean(p, x)

    def dual(below: mpmath.mpf) -> mpmath.mpf:
        if below == 0 and min(x) == floor:
            return floor
        logs = mpmath.fsum(w * mpmath.log(y - floor + below) for w, y in zip(p, x, strict=True))
        return floor - below + mpmath.exp(logs - radius)

    low, high = mpmath.mpf(0), spread * max(2, 2 / mpmath.sqrt(2 * radius))
    for _ in range(300):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if dual(left) < dual(right) else (low, right)
    return max(dual(low), dual(mpmath.mpf(0)))


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=30)
@given(
    st.data(),
    mdps(dyadic=True, max_states=4, max_actions=1),
    st.sampled_from([0.1, 1e-6, 0.5, 2.0, 30.0, 0.0]),
    st.sampled_from(["all", "nominal"]),
)
def test_c03_likelihood_ball_against_high_precision(
    data: st.DataObject, mdp: ExactMDP, radius: float, support: str
) -> None:
    """The minimum within its rounding bound of its dual in 80 digits, and a row of the set that attains it
    (Lean: RESAC.IsInfimum.monetary)."""
    v, copy = data.draw(state_values(mdp)), FiniteMDP.from_exact(mdp)
    ball = LikelihoodBall(radius, support)
    computed, worst, bound = ball(copy, floats(v)), ball.worst_kernel(copy, floats(v)), ball.rounding(copy, largest(v))
    with mpmath.workdps(80):
        for s, a, row in rows(mdp):
            pairs = [(to_mpf(w), to_mpf(y)) for w, y in zip(row, v, strict=True) if w]
            floor = to_mpf(min(v)) if support == "all" else min(y for _, y in pairs)
            best = likelihood_reference([w for w, _ in pairs], [y for _, y in pairs], floor, mpmath.mpf(radius))
            assert abs(mpmath.mpf(float(computed[s, a])) - best) <= bound + 1e-25
            assert abs(worst[s, a] @ floats(v) - computed[s, a]) <= 2 * bound
            spent = sum(
                float(w) * np.log(float(w) / q) for w, q in zip(row, worst[s, a], strict=True) if w and radius < 20
            )
            assert spent <= radius + 1e-9


@claim("C03", lean="RESAC.IsInfimum.monetary")
@pytest.mark.parametrize("name", [*SETS, "interval"])
@given(data=st.data())
def test_c03_best_case_mirrors_the_worst(name: str, data: st.DataObject) -> None:
    """`optimistic` is −E(−v), bit for bit, and no less than the worst case (Lean: RESAC.IsSupremum.monetary)."""
    mdp = data.draw(mdps(dyadic=True, max_states=4, max_actions=2))
    best = data.draw(expectation_functionals(mdp, name, optimistic=True))
    worst = replace(best, optimistic=False)  # type: ignore[type-var]
    copy, v = FiniteMDP.from_exact(mdp), floats(data.draw(state_values(mdp)))
    np.testing.assert_array_equal(best(copy, v), -worst(copy, -v))
    slack = 2 * best.rounding(copy, float(np.abs(v).max()))
    assert (worst(copy, v) <= best(copy, v) + slack).all()
    if name != "entropic":  # whose rows attain the minimum of a penalised mean
        attained = (best.worst_rows(copy, v) @ v).reshape(copy.reward.shape)
        assert (np.abs(attained - best(copy, v)) <= slack).all()


@claim("C11", lean="RESAC.aposteriori_bound")
@pytest.mark.parametrize("method", ["modified_policy_iteration", "policy_iteration", "anderson"])
@every_rational_set
@settings(max_examples=8)
@given(data=st.data(), size=EIGHTHS, as_csr=st.booleans(), maximum=st.booleans())
def test_c11_error_bound_holds_for_robust_solves(
    name: str, method: str, data: st.DataObject, size: Fraction, as_csr: bool, maximum: bool
) -> None:
    """‖q − Q*‖∞ ≤ error_bound against the exact robust fixed point, near γ = 1 too (Lean: RESAC.aposteriori_bound).

    For the methods that freeze policy and kernel between full backups, as for the others.
    """
    near_one = method != "anderson"
    discount = discounts(dyadic=True) if near_one else st.sampled_from([Fraction(1, 2), Fraction(7, 8)])
    mdp = data.draw(mdps(dyadic=True, max_states=4, max_actions=3, masked=True, discount=discount))
    optimum = ExactRev(mdp, value="max" if maximum else "min", inner=RATIONAL[name](size)).fixed_point()
    copy = FiniteMDP.from_exact(mdp)
    operator = RevOperator(
        sparse_copy(copy) if as_csr else copy, value=Max() if maximum else Min(), expectation=SETS[name](float(size))
    )
    solution = solve(operator, tolerance=data.draw(st.sampled_from([1e-9, 0.0, 1e-3])), method=method)
    apart = max(
        abs(Fraction(float(solution.q[s, a])) - optimum[s][a]) for s in range(mdp.n_states) for a in mdp.actions(s)
    )
    assert apart <= Fraction(solution.error_bound)


@claim("C03", lean="RESAC.IsInfimum.monetary")
@given(data=st.data(), mdp=SMALL)
def test_c03_interval_rows_fill_exactly(data: st.DataObject, mdp: ExactMDP) -> None:
    """`sets.filled` attains the least value over the vertices (Lean: RESAC.IsInfimum.monetary)."""
    v, width = data.draw(state_values(mdp)), data.draw(EIGHTHS)
    for _, _, p in rows(mdp):
        low = tuple(max(x - width, Fraction(0)) for x in p)
        high = tuple(min(x + width, Fraction(1)) for x in p)
        assert dot(sets.filled(low, high, v), v) == min(dot(q, v) for q in interval_vertices(low, high))


@pytest.mark.parametrize(("low", "high"), [((0, 0), (2, 4)), ((4, 6), (8, 8)), ((4, 0), (2, 8))])
def test_an_interval_set_without_a_row_is_refused(low: tuple[int, int], high: tuple[int, int]) -> None:
    """Upper ends that sum to less than 1, lower ones that sum to more, a lower end above its upper one; in eighths."""
    for v in ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))):
        with pytest.raises(InputError, match="the interval set is empty"):
            sets.filled([Fraction(x, 8) for x in low], [Fraction(x, 8) for x in high], v)


@claim("C03", lean="RESAC.Monetary.pointwise_min")
@settings(max_examples=25)
@given(data=st.data(), mdp=mdps(dyadic=True, max_states=3, max_actions=2))
def test_c03_polytopes_are_minimised_at_their_vertices(data: st.DataObject, mdp: ExactMDP) -> None:
    """Boxes and half-spaces as A p ≤ b: each vertex obeys all of it, the least of them is the box's fill, exactly, and
    the float set is within its bound (Lean: RESAC.Monetary.pointwise_min)."""
    v, width, n = data.draw(state_values(mdp)), data.draw(EIGHTHS), mdp.n_states
    eye = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    matrix = [*eye, *([-x for x in row] for row in eye)]
    limits = {}
    for s, a, p in rows(mdp):
        low = tuple(max(x - width, Fraction(0)) for x in p)
        high = tuple(min(x + width, Fraction(1)) for x in p)
        limits[s, a] = [*high, *(-x for x in low)]
        corners = vertices(matrix, limits[s, a], n)
        assert len(set(corners)) == len(corners)
        for q in corners:
            assert sum(q) == 1
            assert all(x <= y <= z for x, y, z in zip(low, q, high, strict=True))
        assert min(dot(q, v) for q in corners) == dot(sets.filled(low, high, v), v)
    copy = FiniteMDP.from_exact(mdp)
    bounds = np.array([[[float(x) for x in limits[s, a]] for a in range(mdp.n_actions)] for s in range(n)])
    polytope = WorstOfKernels.of_polytope(copy, np.array(matrix, dtype=float), bounds)
    slack = Fraction(polytope.rounding(copy, largest(v))) + 2 * n * Fraction(1, 2**53) * Fraction(largest(v))
    for (s, a), limit in limits.items():
        low, high = [-x for x in limit[n:]], limit[:n]
        exact = dot(sets.filled(low, high, v), v)
        assert abs(Fraction(float(polytope(copy, floats(v))[s, a])) - exact) <= slack
