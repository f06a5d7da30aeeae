"""When frozen penalties cancel in T Q₁ − T Q₂ (claim C08): always for Γ(s, a) and κ, not for Γ(s', a') under a max."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, combine, constant, subtract, sup
from property_tests.search import find_instance
from property_tests.strategies import mdps, operators, penalties, policies, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev


def without_penalty(operator: ExactRev) -> ExactRev:
    """The same backup with Γ = 0 and κ = 0."""
    return ExactRev(operator.mdp, value=operator.value, kernels=operator.kernels)


def difference(operator: ExactRev, q1: Q, q2: Q) -> Q:
    """T Q₁ − T Q₂."""
    return subtract(operator(q1), operator(q2))


@claim("C08", lean="RESAC.rev_cancel")
@given(st.data(), operators(at="pair"))
def test_c08_pair_penalties_cancel(data: st.DataObject, operator: ExactRev) -> None:
    """T Q₁ − T Q₂ is the same with and without Γ(s, a) and κ, exactly (Lean: RESAC.rev_cancel)."""
    q1, q2 = data.draw(tables_like(operator.mdp)), data.draw(tables_like(operator.mdp))
    assert difference(operator, q1, q2) == difference(without_penalty(operator), q1, q2)


@claim("C08", lean="RESAC.rev_eq_shifted_reward")
@given(st.data(), operators(at="pair"))
def test_c08_pair_penalty_is_a_shift_of_the_reward(data: st.DataObject, operator: ExactRev) -> None:
    """T Q = (T without penalty) Q − γ(λ_epi·Γ + κ), entry by entry (the paper's shifted reward)."""
    q = data.draw(tables_like(operator.mdp))
    gamma = operator.mdp.discount
    cost = combine(lambda g: gamma * (operator.lambda_epi * g + operator.kappa), operator.epistemic)
    assert operator(q) == subtract(without_penalty(operator)(q), cost)


@claim("C08", lean="RESAC.revNext_cancel_of_linear")
@given(st.data(), mdps())
def test_c08_next_penalties_cancel_for_a_linear_value(data: st.DataObject, mdp: ExactMDP) -> None:
    """Γ(s', a') cancels where V is linear, that is for a fixed policy (Lean: RESAC.revNext_cancel_of_linear)."""
    frozen = data.draw(penalties(mdp, at="next"))
    operator = ExactRev(mdp, value=data.draw(policies(mdp)), **frozen.options())
    q1, q2 = data.draw(tables_like(mdp)), data.draw(tables_like(mdp))
    assert difference(operator, q1, q2) == difference(without_penalty(operator), q1, q2)


@claim("C08", lean="RESAC.revNext_not_cancel")
def test_c08_next_penalty_does_not_cancel_under_max_smallest() -> None:
    """One state, Q₁ = Γ = (1, 0), Q₂ = 0: the penalised difference is 0, the unpenalised one γ·1.

    Lean: RESAC.revNext_not_cancel.
    """
    gamma = Fraction(1, 2)
    mdp = ExactMDP(transition=(((1,), (1,)),), reward=((0, 0),), discount=gamma)
    q1: Q = ((Fraction(1), Fraction(0)),)
    operator = ExactRev(mdp, epistemic=q1, lambda_epi=1, penalty_at="next")
    zero = constant(q1, 0)
    assert difference(operator, q1, zero) == ((0, 0),)
    assert difference(without_penalty(operator), q1, zero) == ((gamma, gamma),)


@claim("C08", lean="RESAC.revNext_not_cancel")
def test_c08_next_penalty_does_not_cancel_under_max_found() -> None:
    """Hypothesis finds an instance by itself, within one state (Lean: RESAC.revNext_not_cancel)."""
    instances = mdps(max_states=1, max_actions=2).flatmap(
        lambda mdp: st.tuples(
            penalties(mdp, at="next").map(lambda p: ExactRev(mdp, **p.options())), tables_like(mdp), tables_like(mdp)
        )
    )
    operator, q1, q2 = find_instance(
        instances, lambda x: difference(*x) != difference(without_penalty(x[0]), x[1], x[2])
    )
    assert operator.mdp.n_actions == 2, "with one action the maximum is linear and the penalty cancels"
    assert sup(difference(operator, q1, q2)) <= operator.mdp.discount * sup(subtract(q1, q2))
