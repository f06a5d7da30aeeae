"""The certified solvers: the bound of an answer holds against the exact rational fixed point (C11, C17)."""

from __future__ import annotations

from fractions import Fraction

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
    expectation_functionals,
    float_copy,
    float_options,
    sparse_copy,
    stored_operator,
    value_functionals,
)
from property_tests.rational import Q
from property_tests.strategies import mdps, operators, penalties, tables_like
from pyresac.errors import NotAContractionError
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.live import EnsembleDeviation, EnsembleVariance, LiveOperator, NormPenalty, ScaledPenalty
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import METHODS, solve

GENERAL = sorted(set(METHODS) - {"gauss_seidel"})
"""The methods that take every operator."""
FAST = ["auto", "policy_iteration"]
"""The methods whose number of iterations does not grow with 1/(1 − γ)."""
MODERATE = st.sampled_from(
    [Fraction(1, 2), Fraction(0), Fraction(3, 4), Fraction(7, 8), Fraction(1, 3), Fraction(9, 10)]
)
"""Discounts at which each method needs some hundred iterations for all the digits of float64."""
MODERATE_DYADIC = st.sampled_from([Fraction(1, 2), Fraction(0), Fraction(3, 4), Fraction(7, 8)])
TOLERANCES = st.sampled_from([1e-8, 1e-3, 1.0, 0.0, 1e-14, 1e3])


def error(q: Floats, optimum: Q, mdp: ExactMDP) -> Fraction:
    """‖q − Q*‖∞ over the available pairs, exactly."""
    return max(abs(Fraction(float(q[s, a])) - optimum[s][a]) for s in range(mdp.n_states) for a in mdp.actions(s))


@claim("C11", lean="RESAC.aposteriori_bound")
@pytest.mark.parametrize("method", [*GENERAL, "auto"])
@settings(max_examples=25)
@given(
    data=st.data(), operator=operators(mdps(masked=True, discount=MODERATE)), tolerance=TOLERANCES, as_csr=st.booleans()
)
def test_c11_error_bound_holds_against_the_exact_fixed_point(
    method: str, data: st.DataObject, operator: ExactRev, tolerance: float, as_csr: bool
) -> None:
    """‖q − Q*‖∞ ≤ error_bound for every method, value, finite robust set and penalty form, rounding counted.

    Lean: RESAC.aposteriori_bound. Q* is the exact fixed point of the stored numbers.
    """
    mdp = FiniteMDP.from_exact(operator.mdp)
    copy = float_copy(operator, sparse_copy(mdp) if as_csr else mdp)
    initial = data.draw(st.none() | tables_like(operator.mdp).map(array))
    solution = solve(copy, tolerance=tolerance, method=method, initial=initial)
    optimum = stored_operator(operator, mdp).fixed_point()
    assert error(solution.q, optimum, operator.mdp) <= Fraction(solution.error_bound)
    assert solution.converged == (solution.error_bound <= tolerance)
    assert (solution.v == copy.value_of(solution.q)).all()


@claim("C11", lean="RESAC.aposteriori_bound")
@pytest.mark.parametrize("method", FAST)
@given(operator=operators(mdps()), as_csr=st.booleans())
def test_c11_error_bound_holds_near_discount_one(method: str, operator: ExactRev, as_csr: bool) -> None:
    """The same up to γ = 1023/1024, with tolerance 0: rounding is all that is left (Lean: RESAC.aposteriori_bound)."""
    mdp = FiniteMDP.from_exact(operator.mdp)
    solution = solve(float_copy(operator, sparse_copy(mdp) if as_csr else mdp), tolerance=0.0, method=method)
    optimum = stored_operator(operator, mdp).fixed_point()
    assert error(solution.q, optimum, operator.mdp) <= Fraction(solution.error_bound)


@claim("C11", lean="RESAC.aposteriori_bound")
@settings(max_examples=25)
@given(
    data=st.data(),
    operator=operators(mdps(masked=True, discount=MODERATE), robust=False),
    tolerance=TOLERANCES,
    as_csr=st.booleans(),
)
def test_c11_gauss_seidel_error_bound(data: st.DataObject, operator: ExactRev, tolerance: float, as_csr: bool) -> None:
    """The same for Gauss–Seidel, which takes maxima and minima under the nominal kernel.

    Lean: RESAC.aposteriori_bound.
    """
    extreme = ExactRev(
        operator.mdp,
        epistemic=operator.epistemic,
        lambda_epi=operator.lambda_epi,
        kappa=operator.kappa,
        value=data.draw(st.sampled_from(["max", "min"])),
        penalty_at=operator.penalty_at,
    )
    mdp = FiniteMDP.from_exact(operator.mdp)
    copy = float_copy(extreme, sparse_copy(mdp) if as_csr else mdp)
    solution = solve(copy, tolerance=tolerance, method="gauss_seidel")
    optimum = stored_operator(extreme, mdp).fixed_point()
    assert error(solution.q, optimum, operator.mdp) <= Fraction(solution.error_bound)


@claim("C11", lean="RESAC.comparison")
@given(data=st.data(), operator=operators(mdps(dyadic=True), dyadic=True))
def test_c11_error_bound_is_the_span_bound(data: st.DataObject, operator: ExactRev) -> None:
    """After one backup of v the bound is γ/(1−γ) times half the span of W v − v (or its norm, if less) and rounding.

    So no factor is lost: with low ≤ W v − v ≤ high, γ·low/(1−γ) ≤ Q* − B v ≤ γ·high/(1−γ) (Lean: RESAC.comparison).
    """
    copy, gamma = float_copy(operator, FiniteMDP.from_exact(operator.mdp)), operator.mdp.discount
    q = data.draw(tables_like(operator.mdp, dyadic=True))
    v = operator.value_of(q)
    gaps = [x - y for x, y in zip(operator.value_of(operator.backup(v)), v, strict=True)]
    low, high = min(gaps), max(gaps)
    solution = solve(copy, tolerance=0.0, method="value_iteration", max_iterations=1, initial=array(q))
    claimed = gamma / (1 - gamma) * min((high - low) / 2, max(-low, high, Fraction(0)))
    size = float(max(abs(x) for x in v) + max(map(abs, gaps)))
    rounding = Fraction(copy.rounding(size)) + Fraction(2.0**-50 * size) + Fraction(2) ** -1040  # underflow
    assert solution.error_bound <= claimed + 4 * rounding / (1 - gamma)


@claim("C11", lean="RESAC.aposteriori_bound")
@pytest.mark.parametrize("method", GENERAL)
@settings(max_examples=20)
@given(operator=operators(mdps(dyadic=True), dyadic=True), iterations=st.integers(1, 3))
def test_c11_error_bound_holds_when_stopped_early(method: str, operator: ExactRev, iterations: int) -> None:
    """After one to three iterations the bound is wide, and still a bound; a stop before the tolerance is said."""
    copy = float_copy(operator, FiniteMDP.from_exact(operator.mdp))
    solution = solve(copy, tolerance=1e-9, method=method, max_iterations=iterations)
    assert error(solution.q, operator.fixed_point(), operator.mdp) <= Fraction(solution.error_bound)
    assert solution.converged or solution.message


@claim("C11", lean="RESAC.aposteriori_bound")
@pytest.mark.parametrize("method", GENERAL)
@settings(max_examples=20)
@given(operator=operators(mdps(dyadic=True, scaled=False, discount=MODERATE)))
def test_c11_tolerance_that_float64_can_certify_is_reached(method: str, operator: ExactRev) -> None:
    """Rewards up to 4, penalties up to 16, γ ≤ 9/10: |Q| ≤ 200, so 1e-9 is far above what rounding costs.

    One backup rounds by at most some 40 units of 2⁻⁵³·200, and 1/(1−γ) = 10 amplifies that to 1e-11.
    """
    solution = solve(float_copy(operator, FiniteMDP.from_exact(operator.mdp)), tolerance=1e-9, method=method)
    assert solution.converged
    assert solution.error_bound <= 1e-9


@claim("C11", lean="RESAC.aposteriori_bound")
@settings(max_examples=20)
@given(operators(mdps(discount=MODERATE), robust=False), st.sampled_from(GENERAL))
def test_c11_unreachable_tolerance_stops_and_says_so(operator: ExactRev, method: str) -> None:
    """Tolerance 0: the solver stops by itself, reports the bound reached, and claims no convergence it has not."""
    solution = solve(float_copy(operator, FiniteMDP.from_exact(operator.mdp)), tolerance=0.0, method=method)
    assert solution.converged == (solution.error_bound == 0.0)
    assert solution.converged or "float64" in solution.message or "rounding" in solution.message


@claim("C11", lean="RESAC.fixedPoint_unique_fin")
@pytest.mark.parametrize("expectation", CROSSED)
@pytest.mark.parametrize("value", VALUES)
@settings(max_examples=6)
@given(data=st.data())
def test_c11_methods_agree_within_their_bounds(value: str, expectation: str, data: st.DataObject) -> None:
    """One fixed point: any two methods, dense or CSR, differ by at most the sum of their bounds (C11).

    This reaches the functionals without a rational twin: soft, entropic, l1, interval and KL.
    """
    source = data.draw(mdps(dyadic=True, max_actions=2, scaled=False, discount=MODERATE_DYADIC))
    options = {
        "value": data.draw(value_functionals(source, value)),
        "expectation": data.draw(expectation_functionals(source, expectation)),
        **float_options(data.draw(penalties(source, dyadic=True))),
    }
    dense = FiniteMDP.from_exact(source)
    answers = [
        solve(RevOperator(mdp, **options), tolerance=1e-6, method=method)
        for mdp, method in ((dense, "value_iteration"), (sparse_copy(dense), "anderson"), (dense, "auto"))
    ]
    assert all(answer.converged for answer in answers)
    for first in answers:
        for second in answers:
            apart = float(np.abs(first.q - second.q).max())
            assert Fraction(apart) <= Fraction(first.error_bound) + Fraction(second.error_bound) + Fraction(
                2**-53 * apart
            )


@claim("C17", lean="RESAC.greedy_loss_max")
@settings(max_examples=40)
@given(
    operators(mdps(dyadic=True, masked=True, discount=MODERATE_DYADIC), dyadic=True),
    st.sampled_from([*GENERAL, "auto"]),
)
def test_c17_policy_of_a_solution_is_near_optimal(operator: ExactRev, method: str) -> None:
    """The action returned is within 4·error_bound of the best under Q*, in what V reads (Lean: RESAC.greedy_loss_max).

    The margin for ties is at most 2·error_bound of q, and each entry of q is off by error_bound at most.
    """
    if isinstance(operator.value, tuple):
        return
    solution = solve(float_copy(operator, FiniteMDP.from_exact(operator.mdp)), tolerance=1e-6, method=method)
    optimum = operator.fixed_point()
    best = operator.value_of(optimum)
    for s, action in enumerate(solution.policy):
        assert int(action) in operator.mdp.actions(s)
        reached = optimum[s][action]
        if operator.penalty_at == "next":
            reached -= operator.lambda_epi * operator.epistemic[s][action]
        assert abs(best[s] - reached) <= 4 * Fraction(solution.error_bound)


LIVE = [
    pytest.param(ScaledPenalty(0.1), "C13", marks=claim("C13", lean="RESAC.tBad_exactModulus")),
    pytest.param(NormPenalty(0.1), "C14", marks=claim("C14", lean="RESAC.revLive_norm_exactModulus")),
    pytest.param(EnsembleVariance(0.1), "C15", marks=claim("C15", lean="RESAC.variance_not_modulus")),
    pytest.param(EnsembleDeviation(0.1), "C16", marks=claim("C16", lean="RESAC.gap_headTarget_exactModulus")),
]


@pytest.mark.parametrize(("penalty", "claim_id"), LIVE)
@settings(max_examples=5)
@given(source=mdps(dyadic=True))
def test_live_penalties_are_refused(penalty: object, claim_id: str, source: ExactMDP) -> None:
    """No solver takes a live penalty, and the error names the claim."""
    with pytest.raises(NotAContractionError, match=claim_id):
        solve(LiveOperator(FiniteMDP.from_exact(source), penalty))
