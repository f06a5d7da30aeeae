"""Approximate iteration: bounded errors, projections, drifting penalties, greedy loss (C17, C18). All exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, combine, constant, geometric, shift, subtract, sup
from property_tests.search import find_instance
from property_tests.strategies import discounts, mdps, operators, positive, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev

HALF = Fraction(1, 2)
SMALL = mdps(max_states=3, max_actions=2)
TO_SECOND = ExactMDP(transition=(((0, 1),), ((0, 1),)), reward=((1,), (0,)), discount=HALF)
"""s₁ → s₂, s₂ absorbing, R = (1, 0): Q* = (1, 0)."""


def unit_tables(mdp: ExactMDP) -> st.SearchStrategy[Q]:
    """Errors of sup-norm at most 1."""
    cell = st.fractions(-1, 1, max_denominator=4)
    row = st.lists(cell, min_size=mdp.n_actions, max_size=mdp.n_actions).map(tuple)
    return st.lists(row, min_size=mdp.n_states, max_size=mdp.n_states).map(tuple)


@claim("C17", lean=("RESAC.approx_iterates", "RESAC.approx_iterates_attained"))
@given(st.data(), operators(SMALL), positive(4), st.integers(0, 4))
def test_c17_bounded_errors_in_every_backup(data: st.DataObject, operator: ExactRev, eps: Fraction, n: int) -> None:
    """e_n ≤ γⁿ·e₀ + ε(1−γⁿ)/(1−γ), attained by a constant error from above Q* (Lean: RESAC.approx_iterates)."""
    gamma, optimum = operator.mdp.discount, operator.fixed_point()
    q = start = data.draw(tables_like(operator.mdp))
    worst = shift(optimum, 1)
    for _ in range(n):
        error = data.draw(unit_tables(operator.mdp))
        q = combine(lambda x, e: x + eps * e, operator(q), error)
        worst = shift(operator(worst), eps)
    assert sup(subtract(q, optimum)) <= gamma**n * sup(subtract(start, optimum)) + eps * geometric(gamma, n)
    assert sup(subtract(worst, optimum)) == gamma**n + eps * geometric(gamma, n)


@claim("C17", lean="RESAC.noisy_backups")
@given(st.data(), operators(SMALL), positive(4))
def test_c17_mini_batch_noise_is_a_case(data: st.DataObject, operator: ExactRev, eps: Fraction) -> None:
    """The mean of m noisy targets, each within ε, has error at most ε (Lean: RESAC.noisy_backups)."""
    q, m = data.draw(tables_like(operator.mdp)), data.draw(st.integers(1, 3))
    exact = operator(q)
    targets = [combine(lambda x, e: x + eps * e, exact, data.draw(unit_tables(operator.mdp))) for _ in range(m)]
    mean = combine(lambda *xs: sum(xs, Fraction(0)) / m, *targets)
    assert sup(subtract(mean, exact)) <= eps


@st.composite
def aggregations(draw: st.DrawFn, mdp: ExactMDP) -> list[int]:
    """A representative for each state: Πf(s) = f(rep(s)), idempotent and non-expansive."""
    representatives = draw(st.lists(st.integers(0, mdp.n_states - 1), min_size=1, unique=True))
    pick = st.sampled_from(representatives)
    return [s if s in representatives else draw(pick) for s in range(mdp.n_states)]


def projected_fixed_point(operator: ExactRev, representative: list[int]) -> Q:
    """The fixed point of ΠT, through the MDP whose rows and rewards are those of the representatives."""
    mdp = operator.mdp
    merged = replace(
        mdp,
        transition=tuple(mdp.transition[r] for r in representative),
        reward=tuple(mdp.reward[r] for r in representative),
    )
    return replace(
        operator,
        mdp=merged,
        epistemic=tuple(operator.epistemic[r] for r in representative),
        kernels=None if operator.kernels is None else [[k[r] for r in representative] for k in operator.kernels],
        value="max",
    ).fixed_point()


@claim("C17", lean=("RESAC.projected_error", "RESAC.projected_error_best"))
@given(st.data(), operators(SMALL, at="pair"))
def test_c17_projection_by_aggregation(data: st.DataObject, operator: ExactRev) -> None:
    """‖Q̂ − Q*‖ ≤ ‖ΠQ* − Q*‖/(1−γ) ≤ 2·min‖Q_φ − Q*‖/(1−γ) (Lean: RESAC.projected_error_best).

    The minimum over functions constant on each block is half the widest range of Q* over a block.
    """
    operator = replace(operator, value="max")
    representative = data.draw(aggregations(operator.mdp))
    gamma, optimum = operator.mdp.discount, operator.fixed_point()
    found = projected_fixed_point(operator, representative)

    def project(q: Q) -> Q:
        return tuple(q[r] for r in representative)

    assert project(operator(found)) == found
    error, residual = sup(subtract(found, optimum)), sup(subtract(project(optimum), optimum))
    blocks = [
        [optimum[s][a] for s, r in enumerate(representative) if r == block]
        for block in set(representative)
        for a in range(operator.mdp.n_actions)
    ]
    closest = max((max(b) - min(b)) / 2 for b in blocks)
    assert error <= residual / (1 - gamma) <= 2 * closest / (1 - gamma)


@claim("C17", lean="RESAC.paper_constant_refuted")
def test_c17_the_papers_constant_fails_smallest() -> None:
    """s₁ → s₂ absorbing, R = (1, 0), γ = ½, Πf = f(s₁): Q* = (1, 0), Q̂ = (2, 2); the error 2 is above 1.

    The closest constant, ½, is ½ away, so the paper allows ½/(1−γ) = 1 (Lean: RESAC.paper_constant_refuted).
    """
    operator = ExactRev(TO_SECOND, epistemic=((0,), (0,)))
    optimum, found = operator.fixed_point(), projected_fixed_point(operator, [0, 0])
    assert optimum == ((1,), (0,))
    assert found == ((2,), (2,))
    assert sup(subtract(found, optimum)) > HALF / (1 - HALF)


@claim("C17", lean="RESAC.paper_constant_refuted")
def test_c17_hypothesis_refutes_the_papers_constant() -> None:
    """Found, not given: two states and a projection with error above min/(1−γ) (C17)."""
    instances = mdps(min_states=2, max_states=2, max_actions=1, scaled=False)

    def beyond(mdp: ExactMDP) -> bool:
        operator = ExactRev(mdp, epistemic=mdp.constant(0))
        optimum, found = operator.fixed_point(), projected_fixed_point(operator, [0, 0])
        closest = abs(optimum[0][0] - optimum[1][0]) / 2
        return sup(subtract(found, optimum)) * (1 - mdp.discount) > closest

    assert beyond(find_instance(instances, beyond))


@claim("C17", lean=("RESAC.leastSquares_jump", "RESAC.leastSquares_fixed", "RESAC.leastSquares_diverges"))
@given(discounts(), positive())
def test_c17_least_squares_can_diverge(gamma: Fraction, weight: Fraction) -> None:
    """R = 0, both states lead to s₂, least squares onto span(1, 2): a backup multiplies by 6γ/5 (C17).

    At γ = 5/6 every point of the span is fixed, above it the iteration diverges: without non-expansiveness
    no bound holds (Lean: RESAC.leastSquares_jump).
    """
    mdp = ExactMDP(transition=(((0, 1),), ((0, 1),)), reward=((0,), (0,)), discount=gamma)
    image = ExactRev(mdp)(((weight,), (2 * weight,)))
    fitted = (image[0][0] + 2 * image[1][0]) / 5
    assert fitted == 6 * gamma / 5 * weight
    assert (fitted >= weight) == (gamma >= Fraction(5, 6))


@claim("C17", lean="RESAC.residual_minimiser")
@given(st.data(), operators())
def test_c17_the_minimiser_of_the_residual(data: st.DataObject, operator: ExactRev) -> None:
    """Of a finite class the table of least residual errs by at most (1 + γ)/(1 − γ) times the best error."""
    members = data.draw(st.lists(tables_like(operator.mdp), min_size=1, max_size=4))
    best, gamma = operator.fixed_point(), operator.mdp.discount
    members = [keep_available(operator.mdp, q) for q in members]
    chosen = min(members, key=lambda q: sup(subtract(q, operator(q))))
    least = min(sup(subtract(q, best)) for q in members)
    assert sup(subtract(chosen, best)) <= (1 + gamma) / (1 - gamma) * least


@claim("C17", lean="RESAC.residual_constant_refuted")
def test_c17_the_papers_constant_fails_for_the_residual_as_well() -> None:
    """s₁ ↔ s₂, R = 0, γ = ½: of (1, −1) and (2.9, 2.9) the second has the smaller residual, and errs by 2.9."""
    swap = ExactRev(ExactMDP(transition=(((0, 1),), ((1, 0),)), reward=((0,), (0,)), discount=Fraction(1, 2)))
    small, large = ((Fraction(1),), (Fraction(-1),)), ((Fraction(29, 10),), (Fraction(29, 10),))
    assert sup(subtract(large, swap(large))) == Fraction(29, 20) < sup(subtract(small, swap(small))) == Fraction(3, 2)
    assert sup(large) == Fraction(29, 10) > 1 / (1 - Fraction(1, 2)) * sup(small)


def keep_available(mdp: ExactMDP, q: Q) -> Q:
    """0 at unavailable pairs, as the operator returns."""
    return tuple(tuple(x if a in mdp.actions(s) else Fraction(0) for a, x in enumerate(row)) for s, row in enumerate(q))


@claim("C18", lean="RESAC.tracking")
@given(st.data(), SMALL, positive(2), st.integers(0, 4))
def test_c18_tracking_a_drifting_penalty(data: st.DataObject, mdp: ExactMDP, eta: Fraction, n: int) -> None:
    """Penalties that move by at most η a step: e_n ≤ γⁿ·e₀ + γη(1−γⁿ)/(1−γ)² (Lean: RESAC.tracking)."""
    gamma, q = mdp.discount, data.draw(tables_like(mdp))
    operator = ExactRev(mdp, epistemic=data.draw(tables_like(mdp)), lambda_epi=1)
    first = sup(subtract(q, operator.fixed_point()))
    for _ in range(n):
        q = operator(q)
        drift = combine(lambda g, e: g + eta * e, operator.epistemic, data.draw(unit_tables(mdp)))
        operator = replace(operator, epistemic=drift)
    bound = gamma**n * first + gamma * eta * geometric(gamma, n) / (1 - gamma)
    assert sup(subtract(q, operator.fixed_point())) <= bound


@claim("C18", lean="RESAC.tracking_attained")
@given(SMALL, positive(2), st.integers(0, 6))
def test_c18_tracking_bound_is_attained(mdp: ExactMDP, eta: Fraction, n: int) -> None:
    """pen_t = ηt from e₀ = 0 attains γη(1−γⁿ)/(1−γ)² (Lean: RESAC.tracking_attained)."""
    gamma = mdp.discount
    q = ExactRev(mdp).fixed_point()
    for t in range(n):
        q = ExactRev(mdp, kappa=eta * t)(q)
    current = ExactRev(mdp, kappa=eta * n).fixed_point()
    assert sup(subtract(q, current)) == gamma * eta * geometric(gamma, n) / (1 - gamma)


def greedy_policy(mdp: ExactMDP, q: Q) -> Q:
    """The deterministic greedy policy, ties to the lowest action."""
    best = [row.index(max(row)) for row in q]
    return tuple(tuple(Fraction(int(a == b)) for a in range(mdp.n_actions)) for b in best)


@claim("C17", lean=("RESAC.greedy_loss_max", "RESAC.greedy_loss"))
@given(st.data(), mdps(max_states=3, max_actions=3), positive(4))
def test_c17_greedy_loss(data: st.DataObject, mdp: ExactMDP, eps: Fraction) -> None:
    """‖Q − Q*‖ ≤ ε gives V* − V^π ≤ 2ε/(1−γ) and Q* − Q^π ≤ 2γε/(1−γ) for the greedy π.

    Lean: RESAC.greedy_loss_max.
    """
    gamma, optimum = mdp.discount, ExactRev(mdp).fixed_point()
    q = combine(lambda x, e: x + eps * e, optimum, data.draw(unit_tables(mdp)))
    policy = greedy_policy(mdp, q)
    evaluated = ExactRev(mdp, value=policy)
    achieved = evaluated.fixed_point()
    for best, row in zip(optimum, evaluated.value_of(achieved), strict=True):
        assert 0 <= max(best) - row <= 2 * eps / (1 - gamma)
    for best, row in zip(optimum, achieved, strict=True):
        assert all(0 <= x - y <= 2 * gamma * eps / (1 - gamma) for x, y in zip(best, row, strict=True))


@claim("C17", lean="RESAC.greedy_loss_attained")
def test_c17_greedy_loss_is_tight() -> None:
    """One state, γ = ½, R = (1, 0), Q = (3/2 − t, 3/2 + t): ε = 1/2 + t, losses 2 and 1 against 2 + 4t and 1 + 2t.

    So no smaller constant will do, and at t = 0 both bounds are met by the greedy action that the tie allows
    (Lean: RESAC.greedy_loss_attained).
    """
    mdp = ExactMDP(transition=(((1,), (1,)),), reward=((1, 0),), discount=HALF)
    optimum, second = ExactRev(mdp).fixed_point(), ((Fraction(0), Fraction(1)),)
    for t in (Fraction(0), Fraction(1, 10**6), Fraction(1, 10)):
        q: Q = ((Fraction(3, 2) - t, Fraction(3, 2) + t),)
        assert max(q[0]) == q[0][1], "the second action is greedy"
        evaluated = ExactRev(mdp, value=second)
        achieved, eps = evaluated.fixed_point(), sup(subtract(q, optimum))
        assert max(optimum[0]) - evaluated.value_of(achieved)[0] == 2
        assert 2 * eps / (1 - HALF) == 2 + 4 * t
        assert sup(subtract(optimum, achieved)) == 1
        assert 2 * HALF * eps / (1 - HALF) == 1 + 2 * t


@claim("C17", lean="RESAC.approx_iterates")
@given(operators(SMALL), positive(4))
def test_c17_constant_error_shifts_the_fixed_point(operator: ExactRev, eps: Fraction) -> None:
    """An error of exactly ε in every backup moves the fixed point by ε/(1−γ), the limit of the bound (C17)."""
    moved = replace(operator, mdp=replace(operator.mdp, reward=shift(operator.mdp.reward, eps)))
    change = subtract(moved.fixed_point(), operator.fixed_point())
    assert change == constant(change, eps / (1 - operator.mdp.discount))
