"""The fixed point over ℚ: existence, uniqueness, error bounds, and how it moves with reward and penalty (C11, C18)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, below, combine, shift, subtract, sup
from property_tests.strategies import mdps, numbers, operators, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev

SMALL = mdps(max_states=3, max_actions=2)


@claim("C11", lean="RESAC.rev_unique_fixedPoint")
@given(operators(mdps(masked=True)))
def test_c11_fixed_point_exists_over_the_rationals(operator: ExactRev) -> None:
    """T Q* = Q* exactly, without completeness (Lean: RESAC.rev_unique_fixedPoint)."""
    q = operator.fixed_point()
    assert operator(q) == q


@claim("C11", lean=("RESAC.apriori_bound", "RESAC.fixedPoint_unique_fin"))
@given(st.data(), operators(SMALL), st.integers(0, 4))
def test_c11_a_priori_bound(data: st.DataObject, operator: ExactRev, n: int) -> None:
    """‖Tⁿ Q − Q*‖ ≤ γⁿ‖Q − Q*‖ and ≤ γⁿ/(1−γ)·‖T Q − Q‖, so no other point is fixed (Lean: RESAC.apriori_bound)."""
    gamma, optimum = operator.mdp.discount, operator.fixed_point()
    q = data.draw(tables_like(operator.mdp))
    distance, residual = sup(subtract(q, optimum)), sup(subtract(operator(q), q))
    for _ in range(n):
        q = operator(q)
    assert sup(subtract(q, optimum)) <= gamma**n * min(distance, residual / (1 - gamma))


@claim("C11", lean=("RESAC.aposteriori_bound_self", "RESAC.aposteriori_bound"))
@given(st.data(), operators(SMALL))
def test_c11_a_posteriori_bounds(data: st.DataObject, operator: ExactRev) -> None:
    """‖Q − Q*‖ ≤ ‖T Q − Q‖/(1−γ) and ‖T Q − Q*‖ ≤ γ/(1−γ)·‖T Q − Q‖ (Lean: RESAC.aposteriori_bound)."""
    gamma, optimum = operator.mdp.discount, operator.fixed_point()
    q = data.draw(tables_like(operator.mdp))
    image = operator(q)
    residual = sup(subtract(image, q))
    assert sup(subtract(q, optimum)) <= residual / (1 - gamma)
    assert sup(subtract(image, optimum)) <= gamma * residual / (1 - gamma)


@claim("C11", lean="RESAC.aposteriori_bound")
@given(operators(SMALL), numbers())
def test_c11_a_posteriori_bounds_are_attained(operator: ExactRev, c: Fraction) -> None:
    """Q = Q* + c attains both bounds: neither factor can be lowered (Lean: RESAC.aposteriori_bound)."""
    gamma, optimum = operator.mdp.discount, operator.fixed_point()
    q = shift(optimum, c)
    residual = sup(subtract(operator(q), q))
    assert sup(subtract(q, optimum)) == residual / (1 - gamma)
    assert sup(subtract(operator(q), optimum)) == gamma * residual / (1 - gamma)


@claim("C11", lean="RESAC.rev_fixedPoint_mono_fin")
@given(st.data(), operators(SMALL))
def test_c11_fixed_point_grows_with_the_reward(data: st.DataObject, operator: ExactRev) -> None:
    """R₁ ≤ R₂ gives Q*₁ ≤ Q*₂ (Lean: RESAC.rev_fixedPoint_mono_fin)."""
    mdp = operator.mdp
    reward = combine(lambda r, x: r + abs(x), mdp.reward, data.draw(tables_like(mdp)))
    richer = replace(operator, mdp=replace(mdp, reward=reward))
    assert below(operator.fixed_point(), richer.fixed_point())


@claim("C11", lean="RESAC.rev_fixedPoint_mono_fin")
@given(st.data(), operators(SMALL))
def test_c11_fixed_point_falls_with_the_penalty(data: st.DataObject, operator: ExactRev) -> None:
    """A larger Γ or κ lowers Q*, in both forms (λ_epi ≥ 0; Lean: RESAC.rev_fixedPoint_mono_fin)."""
    step, more = data.draw(tables_like(operator.mdp)), abs(data.draw(numbers()))
    heavier = replace(
        operator, epistemic=combine(lambda g, x: g + abs(x), operator.epistemic, step), kappa=operator.kappa + more
    )
    assert below(heavier.fixed_point(), operator.fixed_point())


@claim("C18", lean=("RESAC.rev_fixed_point_near", "RESAC.fixed_point_penalty_exactModulus"))
@given(st.data(), operators(SMALL))
def test_c18_fixed_point_is_lipschitz_in_the_penalty(data: st.DataObject, operator: ExactRev) -> None:
    """‖Q*₁ − Q*₂‖ ≤ γ/(1−γ)·‖pen₁ − pen₂‖, attained by constant changes (Lean: RESAC.rev_fixed_point_near).

    In the next-pair form the change of λ_epi·Γ is inside the expectation, and the same factor holds.
    """
    gamma, first = operator.mdp.discount, operator.fixed_point()
    other = data.draw(tables_like(operator.mdp, size=4))
    second = replace(operator, epistemic=other).fixed_point()
    change = operator.lambda_epi * sup(subtract(operator.epistemic, other))
    assert sup(subtract(first, second)) <= gamma / (1 - gamma) * change
    raised = replace(operator, kappa=operator.kappa + 1).fixed_point()
    assert subtract(first, raised) == shift(combine(lambda _: Fraction(0), first), gamma / (1 - gamma))


def geometric_series_mdp(rewards: Q) -> ExactMDP:
    """One state that every action keeps, γ = 1/2."""
    return ExactMDP(transition=((tuple((1,) for _ in rewards[0])),), reward=rewards, discount=Fraction(1, 2))


@claim("C11", lean="RESAC.rev_unique_fixedPoint")
def test_c11_fixed_point_by_hand() -> None:
    """One state, R = (1, 0), γ = 1/2: V* = 2 and Q* = (2, 1)."""
    assert ExactRev(geometric_series_mdp(((1, 0),))).fixed_point() == ((2, 1),)
    assert ExactRev(geometric_series_mdp(((1, 0),)), value="min").fixed_point() == ((1, 0),)
