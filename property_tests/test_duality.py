"""Dual forms: the IPM bound (C04), entropic risk (C26), Gibbs (C29), entropy decomposition (C30), transport (C31).

Logarithms of rationals are compared without evaluating them (`sign_of_log_sum`), optimal transport between
empirical distributions is an assignment problem over integers: all of this is exact but the one test that
holds the IPM bound against HiGHS.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from property_tests.claims import claim
from property_tests.rational import Vector, dot, sign_of_log_sum
from property_tests.search import find_instance
from property_tests.strategies import distributions, full_distributions, numbers, positive
from property_tests.transport import Metric, lipschitz, metrics, worst_in_transport_ball


@claim("C04", lean="RESAC.ipm_lower_bound")
@given(st.data(), st.integers(1, 4), positive())
def test_c04_ipm_lower_bound(data: st.DataObject, n: int, radius: Fraction) -> None:
    """inf over the IPM ball ≥ E_p V − δ·Lip(V), exactly, on finite metric spaces (Lean: RESAC.ipm_lower_bound)."""
    p, d = data.draw(distributions(n)), data.draw(metrics(n))
    v = data.draw(st.lists(numbers(), min_size=n, max_size=n))
    assert worst_in_transport_ball(p, v, d, radius) >= dot(p, v) - radius * lipschitz(v, d)


@claim("C04", lean="RESAC.ipm_lower_bound")
@given(st.data(), st.integers(2, 4), positive())
def test_c04_against_the_linear_program(data: st.DataObject, n: int, radius: Fraction) -> None:
    """HiGHS solves the primal over couplings; the exact dual agrees within the solver's tolerances (C04).

    HiGHS allows 1e-7 of infeasibility a constraint. Each of the n + 1 constraints shifts the optimum by at
    most its dual price: |v| ≤ 8 for the marginals, and at most the widest slope |v(x) − v(y)|/d ≤ 16 for
    the ball, each also after 1e-7·(n² reduced costs) of suboptimality.
    """
    p, d = data.draw(distributions(n)), data.draw(metrics(n))
    v = data.draw(st.lists(numbers(), min_size=n, max_size=n))
    cost = np.tile([float(x) for x in v], n)
    result = linprog(
        cost,
        A_ub=np.array(d, dtype=float).reshape(1, -1),
        b_ub=[float(radius)],
        A_eq=np.kron(np.eye(n), np.ones(n)),
        b_eq=[float(x) for x in p],
        method="highs",
    )
    allowed = 1e-7 * (n * 8 + n * 16 * 6 + 16 + n * n * 16)
    assert abs(result.fun - float(worst_in_transport_ball(p, v, d, radius))) <= allowed


@claim("C04", lean="RESAC.ipm_bound_strict")
def test_c04_strict_for_probabilities() -> None:
    """S = {0, 1}, V = (0, 1), p = δ₀, δ = ½: the infimum is 0, above −½ (Lean: RESAC.ipm_bound_strict)."""
    p, v, d = (Fraction(1), Fraction(0)), [Fraction(0), Fraction(1)], ((0, 1), (1, 0))
    radius = Fraction(1, 2)
    assert worst_in_transport_ball(p, v, d, radius) == 0
    assert dot(p, v) - radius * lipschitz(v, d) == -radius


def relative_entropy(p: Vector, q: Vector, weight: Fraction = Fraction(1)) -> list[tuple[Fraction, Fraction]]:
    """weight·KL(p‖q) as terms c·log x; p must be absolutely continuous with respect to q."""
    terms = [(weight * x, x / y if x else Fraction(1)) for x, y in zip(p, q, strict=True) if x or y]
    return [(c, x) for c, x in terms if c]


def tilted(p: Vector, x: list[Fraction]) -> Vector:
    """The probability vector proportional to p·x."""
    total = dot(p, x)
    return tuple(a * b / total for a, b in zip(p, x, strict=True))


@st.composite
def tilts(draw: st.DrawFn) -> tuple[Vector, Vector, list[Fraction]]:
    """A prior with positive entries, any p, and the positive numbers exp(±q/α)."""
    n = draw(st.integers(1, 4))
    return (
        draw(full_distributions(n)),
        draw(distributions(n)),
        draw(st.lists(positive(4), min_size=n, max_size=n)),
    )


@claim("C26", lean="RESAC.entropicRisk_dual")
@given(tilts())
def test_c26_entropic_risk_is_the_kl_penalised_minimum(instance: tuple[Vector, Vector, list[Fraction]]) -> None:
    """ρ = −(1/β)·log E exp(−βV) ≤ E_p V + KL(p‖p°)/β for every p; the Gibbs measure attains it (C26).

    Exact with x = exp(−βV) rational: β times the difference is Σ p·log(p/(p°x)) + log Σ p°x
    (Lean: RESAC.entropicRisk_dual).
    """
    nominal, p, x = instance
    for q, sign in ((p, (0, 1)), (tilted(nominal, x), (0,))):
        minus_value = [(-c, y) for c, y in zip(q, x, strict=True)]
        risk = [(Fraction(1), dot(nominal, x))]
        assert sign_of_log_sum([*minus_value, *relative_entropy(q, nominal), *risk]) in sign


@claim("C29", lean="RESAC.regularised_policy")
@given(tilts())
def test_c29_gibbs_policy_maximises(instance: tuple[Vector, Vector, list[Fraction]]) -> None:
    """⟨Q,π⟩ − α·KL(π‖π₀) ≤ α·log Σ π₀·exp(Q/α), attained by π ∝ π₀·exp(Q/α), and by no other π.

    Exact with y = exp(Q/α) rational, divided by α (Lean: RESAC.regularised_policy).
    """
    prior, p, y = instance
    best = tilted(prior, y)
    for policy in (p, best):
        reward = list(zip(policy, y, strict=True))
        cost = [(-c, x) for c, x in relative_entropy(policy, prior)]
        gap = sign_of_log_sum([*reward, *cost, (Fraction(-1), dot(prior, y))])
        assert gap == (0 if policy == best else -1)


@claim("C30", lean="RESAC.entropy_decomposition")
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_c30_total_uncertainty_decomposes(data: st.DataObject, models: int, outcomes: int) -> None:
    """H(p̄) = Σ q_w H(p_w) + I with I = Σ q_w KL(p_w‖p̄) ≥ 0, and I = 0 iff the used models agree (C30).

    Lean: RESAC.entropy_decomposition.
    """
    q = data.draw(distributions(models))
    family = [data.draw(distributions(outcomes)) for _ in range(models)]
    mean = tuple(dot(q, [p[i] for p in family]) for i in range(outcomes))
    total = [(-x, x) for x in mean if x]
    aleatoric = [(-w * x, x) for w, p in zip(q, family, strict=True) for x in p if x]
    information = [t for w, p in zip(q, family, strict=True) if w for t in relative_entropy(p, mean, w)]
    negative = [(-c, x) for c, x in [*aleatoric, *information]]
    assert sign_of_log_sum([*total, *negative]) == 0
    agree = all(p == mean for w, p in zip(q, family, strict=True) if w)
    assert sign_of_log_sum(information) == (0 if agree else 1)


@st.composite
def couplings(draw: st.DrawFn, n: int) -> list[list[Fraction]]:
    """A joint distribution on n × n points."""
    flat = draw(distributions(n * n))
    return [list(flat[i * n : (i + 1) * n]) for i in range(n)]


@claim("C31", lean="RESAC.transport_weak_duality")
@given(st.data(), st.integers(1, 4))
def test_c31_weak_duality_for_any_cost(data: st.DataObject, n: int) -> None:
    """E_p f − E_q f ≤ Σ π·d for any coupling π and f(x) − f(y) ≤ d(x, y), whatever d is.

    Lean: RESAC.transport_weak_duality.
    """
    joint = data.draw(couplings(n))
    f = data.draw(st.lists(numbers(), min_size=n, max_size=n))
    slack = data.draw(st.lists(numbers().map(abs), min_size=n * n, max_size=n * n))
    cost = [[f[x] - f[y] + slack[x * n + y] for y in range(n)] for x in range(n)]
    p = [sum(row, Fraction(0)) for row in joint]
    q = [sum((row[y] for row in joint), Fraction(0)) for y in range(n)]
    transported = sum(joint[x][y] * cost[x][y] for x in range(n) for y in range(n))
    assert dot(p, f) - dot(q, f) <= transported


def assignment(cost: Metric, sources: list[int], targets: list[int]) -> list[tuple[int, int]]:
    """The cheapest matching of equal masses: optimal transport between two empirical distributions."""
    rows, columns = linear_sum_assignment([[cost[x][y] for y in targets] for x in sources])
    return [(sources[i], targets[j]) for i, j in zip(rows, columns, strict=True)]


def potential(cost: Metric, matched: list[tuple[int, int]]) -> list[int] | None:
    """f with f(x) − f(y) ≤ cost(x, y) everywhere, and equal on matched pairs; None where there is none.

    The constraints are differences, so f is a vector of shortest-path distances (Bellman–Ford).
    """
    n = len(cost)
    edges = [(y, x, cost[x][y]) for x in range(n) for y in range(n)]
    edges += [(x, y, -cost[x][y]) for x, y in matched]
    f = [0] * n
    for _ in range(n + 1):
        for tail, head, length in edges:
            f[head] = min(f[head], f[tail] + length)
    solved = all(f[head] <= f[tail] + length for tail, head, length in edges)
    return f if solved else None


@claim("C31", lean="RESAC.transport_weak_duality")
@given(st.data(), st.integers(1, 5), st.integers(1, 6))
def test_c31_strong_duality_on_finite_metric_spaces(data: st.DataObject, n: int, masses: int) -> None:
    """The cheapest coupling costs exactly what a 1-Lipschitz function separates (Kantorovich–Rubinstein)."""
    d = data.draw(metrics(n))
    points = st.lists(st.integers(0, n - 1), min_size=masses, max_size=masses)
    sources, targets = data.draw(points), data.draw(points)
    matched = assignment(d, sources, targets)
    f = potential(d, matched)
    assert f is not None
    assert all(abs(f[x] - f[y]) <= d[x][y] for x in range(n) for y in range(n))
    assert sum(f[x] for x in sources) - sum(f[y] for y in targets) == sum(d[x][y] for x, y in matched)


BROKEN: Metric = ((0, 1, 10), (1, 0, 1), (10, 1, 0))


@claim("C31", lean="RESAC.duality_gap_without_triangle")
def test_c31_costs_without_the_triangle_inequality() -> None:
    """d(0,1) = d(1,2) = 1, d(0,2) = 10, δ₀ to δ₂: transport costs 10, functions separate by 2 only (C31)."""
    matched = assignment(BROKEN, [0], [2])
    assert sum(BROKEN[x][y] for x, y in matched) == 10
    assert potential(BROKEN, matched) is None
    separations = [f0 - f2 for f0 in range(-3, 4) for f2 in range(-3, 4) if abs(f0) <= 1 and abs(f2) <= 1]
    assert max(separations) == 2, "f(1) = 0 without loss of generality, so |f(0)| ≤ 1 and |f(2)| ≤ 1"


@claim("C31", lean="RESAC.duality_gap_without_triangle")
def test_c31_hypothesis_finds_a_duality_gap() -> None:
    """Found, not given: a symmetric cost on three points with a gap between transport and potentials (C31)."""
    edges = st.tuples(*[st.integers(1, 10)] * 3)
    costs = edges.map(lambda e: ((0, e[0], e[1]), (e[0], 0, e[2]), (e[1], e[2], 0)))
    cost = find_instance(costs, lambda d: potential(d, assignment(d, [0], [2])) is None)
    assert cost[0][2] > cost[0][1] + cost[1][2]
