"""The float64 operator: equal to the exact one on dyadic instances, and within its own rounding bound elsewhere."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.floating import (
    CROSSED,
    VALUES,
    Floats,
    array,
    exact,
    expectation_functionals,
    float_copy,
    float_options,
    float_tables,
    magnitude,
    sparse_copy,
    stored_operator,
    value_functionals,
)
from property_tests.rational import entries, subtract, sup
from property_tests.strategies import mdps, operators, penalties, policies, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.values import Max, Mellowmax, Min, PolicyEntropy, PolicyMean, Soft, ValueFunctional


@claim("C11")
@given(st.data(), operators(mdps(dyadic=True, masked=True), dyadic=True), st.booleans())
def test_c11_float_operator_is_exact_on_dyadic_instances(data: st.DataObject, operator: ExactRev, as_csr: bool) -> None:
    """With few enough bits nothing rounds: the float T Q equals the exact one, dense or CSR."""
    mdp = FiniteMDP.from_exact(operator.mdp)
    copy = float_copy(operator, sparse_copy(mdp) if as_csr else mdp)
    q = data.draw(tables_like(operator.mdp, dyadic=True))
    image, computed = operator(q), copy(array(q))
    for s in range(mdp.n_states):
        for a in range(mdp.n_actions):
            if a in operator.mdp.actions(s):
                assert Fraction(float(computed[s, a])) == image[s][a]
            else:
                assert computed[s, a] == -np.inf


@claim("C11")
@given(st.data(), operators(), st.booleans())
def test_c11_float_operator_within_its_rounding_bound(data: st.DataObject, operator: ExactRev, as_csr: bool) -> None:
    """‖fl(T Q) − T Q‖∞ ≤ rounding(‖Q‖∞), T the exact operator of the stored numbers with rows divided by their sums."""
    mdp = FiniteMDP.from_exact(operator.mdp)
    copy = float_copy(operator, sparse_copy(mdp) if as_csr else mdp)
    stored = stored_operator(operator, mdp)
    q = array(data.draw(tables_like(operator.mdp)))
    error = sup(subtract(exact(copy(q)), stored(exact(q))))
    assert error <= Fraction(copy.rounding(magnitude(q)))


@claim("C11", lean="RESAC.rev_contraction")
@claim("C09", lean="RESAC.rev_mono")
@claim("C10", lean="RESAC.rev_discount")
@pytest.mark.parametrize("expectation", CROSSED)
@pytest.mark.parametrize("value", VALUES)
@settings(max_examples=12)
@given(st.data())
def test_c11_every_value_times_every_expectation(value: str, expectation: str, data: st.DataObject) -> None:
    """Contraction, monotonicity and discounting for each pair of functionals, within twice the rounding bound.

    Lean: RESAC.rev_contraction, RESAC.rev_mono, RESAC.rev_discount.
    """
    source = data.draw(mdps(dyadic=True, masked=True))
    operator = RevOperator(
        FiniteMDP.from_exact(source),
        value=data.draw(value_functionals(source, value)),
        expectation=data.draw(expectation_functionals(source, expectation)),
        **float_options(data.draw(penalties(source, dyadic=True))),
    )
    q1, step = data.draw(float_tables(source)), data.draw(float_tables(source))
    higher, c, gamma = q1 + np.abs(step), 2.5, source.discount
    here = operator.mdp.available if operator.mdp.available is not None else np.ones(q1.shape, dtype=bool)
    slack = Fraction(2 * operator.rounding(magnitude(q1, step, higher, q1 + c)))

    first, second = exact_entries(operator(q1)[here]), exact_entries(operator(step)[here])
    apart = Fraction(float(np.abs(q1 - step)[here].max()))
    assert max(abs(x - y) for x, y in zip(first, second, strict=True)) <= gamma * apart + slack

    raised = exact_entries(operator(higher)[here])
    assert all(x <= y + slack for x, y in zip(first, raised, strict=True))

    shifted = exact_entries(operator(q1 + c)[here])
    assert all(abs(y - x - gamma * Fraction(c)) <= slack for x, y in zip(first, shifted, strict=True))


def exact_entries(values: Floats) -> list[Fraction]:
    """Floats as rationals."""
    return [Fraction(float(x)) for x in values]


@claim("C08", lean="RESAC.rev_eq_shifted_reward")
@given(st.data(), mdps(dyadic=True))
def test_c08_shifted_reward(data: st.DataObject, source: ExactMDP) -> None:
    """T Q with frozen penalties is the plain backup of the reward `shifted_reward`, bit by bit."""
    frozen = data.draw(penalties(source, at="pair", dyadic=True))
    mdp = FiniteMDP.from_exact(source)
    operator = RevOperator(mdp, **float_options(frozen))
    plain = RevOperator(mdp.replace(reward=operator.shifted_reward))
    q = data.draw(float_tables(source))
    assert (operator(q) == plain(q)).all()


@claim("C08", lean="RESAC.revNext_cancel_of_linear")
@pytest.mark.parametrize("name", VALUES)
def test_c08_linear_says_whether_next_penalties_cancel(name: str) -> None:
    """`linear` is true of exactly the functionals with V(q₁ − g) − V(q₂ − g) = V(q₁) − V(q₂) for every g."""
    policy = np.array([[0.25, 0.75]])
    functional = {
        "max": Max(),
        "min": Min(),
        "soft": Soft(1.0),
        "mellowmax": Mellowmax(1.0),
        "policy": PolicyMean(policy),
        "entropy": PolicyEntropy(policy, 1.0),
    }[name]
    q1, q2, g = np.array([[4.0, 0.0]]), np.array([[0.0, 1.0]]), np.array([[3.0, -2.0]])
    with_penalty = functional(q1 - g) - functional(q2 - g)
    without = functional(q1) - functional(q2)
    slack = 4 * functional.rounding(8.0, 2)
    assert (abs(with_penalty - without)[0] <= slack) == functional.linear


@claim("C02", lean="RESAC.lse_monetary")
@pytest.mark.parametrize("name", ["soft", "mellowmax", "entropy", "policy"])
@given(data=st.data())
def test_c02_value_functionals_within_their_rounding_bound(name: str, data: st.DataObject) -> None:
    """Soft, mellowmax and policy values against 50 digits of mpmath, masks included (Lean: RESAC.lse_monetary)."""
    source = data.draw(mdps(dyadic=True, masked=True))
    functional = data.draw(value_functionals(source, name))
    scale = data.draw(st.sampled_from([1.0, 1e6, 1e-6]))
    q = scale * data.draw(float_tables(source))
    mask = None if source.available is None else np.array(source.available)
    computed = functional(q, mask)
    with mpmath.workdps(50):
        for s in range(source.n_states):
            reference = high_precision_value(functional, q[s], source.actions(s), s)
            error = abs(mpmath.mpf(float(computed[s])) - reference)
            assert error <= functional.rounding(magnitude(q), source.n_actions)


def high_precision_value(functional: ValueFunctional, row: Floats, actions: list[int], s: int) -> mpmath.mpf:
    """V at one state in the working precision of mpmath."""
    values = [mpmath.mpf(float(row[a])) for a in actions]
    if isinstance(functional, Soft):
        alpha = mpmath.mpf(functional.temperature)
        return alpha * mpmath.log(mpmath.fsum(mpmath.exp(x / alpha) for x in values))
    if isinstance(functional, Mellowmax):
        omega = mpmath.mpf(functional.omega)
        return mpmath.log(mpmath.fsum(mpmath.exp(omega * x) for x in values) / len(values)) / omega
    assert isinstance(functional, PolicyMean | PolicyEntropy)
    weights = [mpmath.mpf(float(functional.policy[s, a])) for a in actions]
    mean = mpmath.fsum(w * x for w, x in zip(weights, values, strict=True))
    if isinstance(functional, PolicyMean):
        return mean
    alpha = mpmath.mpf(functional.temperature)
    return mean - alpha * mpmath.fsum(w * mpmath.log(w) for w in weights if w)


@claim("C29", lean="RESAC.regularised_policy")
@given(st.data(), mdps(dyadic=True), st.sampled_from([1.0, 0.25, 16.0]))
def test_c29_soft_policy_attains_the_soft_value(data: st.DataObject, source: ExactMDP, alpha: float) -> None:
    """The mean with entropy under π ∝ exp(q/α) is the soft value, and no other policy's is above it (C29).

    The entropy-regularised mean is flat at its maximum, so the rounding of π itself enters to second order;
    four rounding bounds cover it and the two evaluations (Lean: RESAC.regularised_policy).
    """
    q = data.draw(float_tables(source))
    soft = Soft(alpha)
    best, other = PolicyEntropy(soft.policy(q), alpha), PolicyEntropy(array(data.draw(policies(source))), alpha)
    slack = 4 * (soft.rounding(magnitude(q), source.n_actions) + best.rounding(magnitude(q), source.n_actions))
    assert (np.abs(best(q) - soft(q)) <= slack).all()
    assert (other(q) <= soft(q) + slack).all()


@claim("C02", lean=("RESAC.fmax_le_lse", "RESAC.lse_le_fmax_add", "RESAC.mellowmax_bounds"))
@given(st.data(), mdps(dyadic=True), st.sampled_from([1.0, 0.25, 16.0]))
def test_c02_soft_value_lies_between_max_and_max_plus_log(data: st.DataObject, source: ExactMDP, alpha: float) -> None:
    """max ≤ soft ≤ max + α·log A, and mellowmax lies between the mean and the maximum (Lean: RESAC.lse_le_fmax_add)."""
    q = data.draw(float_tables(source))
    top, actions = Max()(q), source.n_actions
    slack = Soft(alpha).rounding(magnitude(q), actions)
    assert (Soft(alpha)(q) >= top - slack).all()
    assert (Soft(alpha)(q) <= top + alpha * np.log(actions) * (1 + 2**-52) + slack).all()
    mellow = Mellowmax(1 / alpha)
    slack = mellow.rounding(magnitude(q), actions) + 2**-50 * magnitude(q)
    assert (mellow(q) <= top + slack).all()
    assert (mellow(q) >= q.mean(axis=1) - slack).all()


@claim("C11", lean="RESAC.rev_contraction")
@given(operators(mdps(dyadic=True), dyadic=True, robust=False), st.data())
def test_c11_distance_skips_unavailable_pairs(operator: ExactRev, data: st.DataObject) -> None:
    """`distance` is the sup-norm, `modulus` the discount, and they fit together on the float operator."""
    mdp = FiniteMDP.from_exact(operator.mdp)
    copy = float_copy(operator, mdp)
    q1, q2 = data.draw(float_tables(operator.mdp)), data.draw(float_tables(operator.mdp))
    assert Fraction(copy.distance(q1, q2)) == max(abs(x) for x in entries(subtract(exact(q1), exact(q2))))
    assert Fraction(copy.modulus) == operator.mdp.discount
    slack = Fraction(2 * copy.rounding(magnitude(q1, q2)))
    assert Fraction(copy.distance(copy(q1), copy(q2))) <= Fraction(copy.modulus * copy.distance(q1, q2)) + slack
