"""Uncertainty sets and their penalties (C03, C38–C43): intersections, sums, credible sets, shifts, exact duality."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import assume, given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Vector, dot
from property_tests.strategies import distributions, full_distributions, numbers, positive

HALF = Fraction(1, 2)
TRIPLES = st.sampled_from([(3, 4, 5), (5, 12, 13), (8, 15, 17), (0, 1, 1), (20, 21, 29)])
"""Vectors of two natural numbers and their Euclidean norm."""


def functions(n: int) -> st.SearchStrategy[Vector]:
    """Value functions on n states."""
    return st.lists(numbers(), min_size=n, max_size=n).map(tuple)


def vertices(low: Vector, high: Vector) -> list[Vector]:
    """The vertices of {p : low ≤ p ≤ high, Σp = 1}, as in Lean: all coordinates but one at a bound."""
    found = []
    for bounds in product(*zip(low, high, strict=True)):
        for j in range(len(low)):
            p = list(bounds)
            p[j] += 1 - sum(bounds)
            if low[j] <= p[j] <= high[j]:
                found.append(tuple(p))
    return found


@claim("C03", lean="RESAC.intervals_finitelyGenerated")
@given(st.data(), st.integers(2, 4))
def test_c03_vertices_hold_a_worst_case_of_an_interval_set(data: st.DataObject, n: int) -> None:
    """For every member and every f a vertex has no larger mean (Lean: RESAC.intervals_finitelyGenerated)."""
    p, f = data.draw(full_distributions(n)), data.draw(functions(n))
    slack = data.draw(st.lists(st.tuples(positive(3), positive(3)), min_size=n, max_size=n))
    low = tuple(max(x - a / 8, Fraction(0)) for x, (a, _) in zip(p, slack, strict=True))
    high = tuple(x + b / 8 for x, (_, b) in zip(p, slack, strict=True))
    assert min(dot(v, f) for v in vertices(low, high)) <= dot(p, f)


@claim("C03", lean="RESAC.l1Ball_finitelyGenerated")
@given(st.data(), st.integers(2, 4), positive(8))
def test_c03_one_state_gains_all_the_mass_in_an_l1_ball(data: st.DataObject, n: int, radius: Fraction) -> None:
    """For every member of an l1 ball and every f, some member in which one state alone gains mass does no better."""
    p, q, f = (data.draw(distributions(n)), data.draw(distributions(n)), data.draw(functions(n)))
    distance = sum(abs(x - y) for x, y in zip(p, q, strict=True))
    assume(distance <= radius)
    best = []
    for j in range(n):
        low = tuple(p[j] if i == j else Fraction(0) for i in range(n))
        high = tuple(p[j] + radius / 2 if i == j else p[i] for i in range(n))
        best += [dot(v, f) for v in vertices(low, high)]
    assert min(best) <= dot(q, f)


@claim("C38", lean=("RESAC.worstCase_inter", "RESAC.worstCase_sum"))
@given(st.data(), st.integers(2, 4))
def test_c38_penalties_of_intersections_and_sums(data: st.DataObject, n: int) -> None:
    """The intersection's penalty is at most each; over sums of perturbations penalties add."""
    pool = data.draw(st.lists(distributions(n), min_size=2, max_size=5, unique=True))
    p, f = pool[0], data.draw(functions(n))
    first = [p, *data.draw(st.lists(st.sampled_from(pool), max_size=4))]
    second = [p, *data.draw(st.lists(st.sampled_from(pool), max_size=4))]

    def penalty(members: list[Vector]) -> Fraction:
        return dot(p, f) - min(dot(q, f) for q in members)

    both = [q for q in first if q in second]
    assert penalty(both) <= min(penalty(first), penalty(second))
    sums = [
        tuple(x + (a - x) + (b - x) for x, a, b in zip(p, one, two, strict=True)) for one in first for two in second
    ]
    assert penalty(sums) == penalty(first) + penalty(second)


@claim("C38", lean="RESAC.intersection_refuted")
def test_c38_the_smallest_counterexample() -> None:
    """Both sets {δ₀, δ₁}, nominal δ₁, f = (0, 1): each penalty is 1, the intersection's 1 and not 2."""
    members = [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
    f = (Fraction(0), Fraction(1))
    penalty = dot(members[1], f) - min(dot(q, f) for q in members)
    assert penalty == 1 != penalty + penalty


@claim("C39", lean="RESAC.robust_squared_loss_l2")
@given(TRIPLES, positive(), numbers(), positive(), TRIPLES, st.fractions(0, 1, max_denominator=8))
def test_c39_robust_squared_loss_in_the_euclidean_norm(
    w: tuple[int, int, int],
    scale: Fraction,
    residual: Fraction,
    eps: Fraction,
    way: tuple[int, int, int],
    share: Fraction,
) -> None:
    """max over Σδ² ≤ ε² of (r − w·δ)² is (|r| + ε‖w‖₂)², attained (Lean: RESAC.robust_squared_loss_l2)."""
    weights, norm = [scale * x for x in w[:2]], scale * w[2]
    largest = (abs(residual) + eps * norm) ** 2
    delta = [share * eps * Fraction(x, way[2]) for x in way[:2]]
    assert sum(d * d for d in delta) <= eps**2
    assert (residual - dot(weights, delta)) ** 2 <= largest
    sign = 1 if residual >= 0 else -1
    worst = [-eps * sign * x / norm for x in weights]
    assert sum(d * d for d in worst) == eps**2
    assert (residual - dot(weights, worst)) ** 2 == largest


@claim("C40", lean="RESAC.bayes_lower_bound")
@given(st.data(), st.integers(2, 4), st.integers(1, 3))
def test_c40_bayesian_value_against_a_credible_set(data: st.DataObject, models: int, policies: int) -> None:
    """V_Bayes ≥ (1 − α)·max-min over the credible set + α·the least value (Lean: RESAC.bayes_lower_bound)."""
    w = data.draw(distributions(models))
    v = [data.draw(functions(models)) for _ in range(policies)]
    credible = data.draw(st.sets(st.integers(0, models - 1), min_size=1))
    alpha = 1 - sum((w[i] for i in credible), Fraction(0))
    best = max(v, key=lambda values: min(values[i] for i in credible))
    maxmin = min(best[i] for i in credible)
    assert max(dot(w, values) for values in v) >= (1 - alpha) * maxmin + alpha * min(best)


@claim("C40", lean="RESAC.credible_bound_refuted")
@given(st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_c40_the_paper_s_bound_fails(alpha: Fraction) -> None:
    """Two models of mass 1 − α and α, one policy earning 1 and 0: 1 over the credible set, 1 − α in the mean."""
    w, v = (1 - alpha, alpha), (Fraction(1), Fraction(0))
    assert dot(w, v) == 1 - alpha < v[0]


@claim("C41", lean="RESAC.worst_shift")
@given(st.data(), st.integers(2, 4), positive())
def test_c41_the_worst_shift_is_attained_by_moving_mass(data: st.DataObject, n: int, eps: Fraction) -> None:
    """On points of a line: no move of cost ε shifts E[V] by more than ε·Lip, and one shifts it by that."""
    places = data.draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n, unique=True))
    v = data.draw(functions(n))
    pairs = [(x, y) for x in range(n) for y in range(n) if x != y]

    def shift(x: int, y: int) -> Fraction:
        return eps * (v[x] - v[y]) / abs(places[x] - places[y])

    lipschitz = max(abs(v[x] - v[y]) / Fraction(abs(places[x] - places[y])) for x, y in pairs)
    assert max(shift(x, y) for x, y in pairs) == eps * lipschitz


@claim("C42", lean=("RESAC.feature_duality_le", "RESAC.feature_duality_strict"))
@given(st.data(), st.integers(2, 4), st.integers(1, 2))
def test_c42_exact_duality_is_one_inequality(data: st.DataObject, n: int, k: int) -> None:
    """E_q[w·φ] ≥ E_p[w·φ] − δ‖w‖₁ on the feature ball, and on two states strictly (C42)."""
    p, q = data.draw(distributions(n)), data.draw(distributions(n))
    features = [data.draw(functions(n)) for _ in range(k)]
    weights = data.draw(st.lists(numbers(), min_size=k, max_size=k))
    delta = max(abs(dot(p, phi) - dot(q, phi)) for phi in features)
    value = tuple(sum(w * phi[i] for w, phi in zip(weights, features, strict=True)) for i in range(n))
    assert dot(q, value) >= dot(p, value) - delta * sum(abs(w) for w in weights)
    grid = [Fraction(i, 20) for i in range(11)]  # q(s₁) ≤ 1/2 around δ₀
    assert min(grid) == 0 > -HALF


@claim("C43", lean="RESAC.variance_exceeds_kappa")
@given(positive(40))
def test_c43_ensemble_variance_exceeds_kappa(lam: Fraction) -> None:
    """Heads ±t with t = λ + 1: variance 2t², κ = λt (Lean: RESAC.variance_exceeds_kappa)."""
    t = lam + 1
    variance = (t - 0) ** 2 + (-t - 0) ** 2
    assert variance == 2 * t**2 > lam * t
