"""What must simply work: γ = 0, zero reward, one state, one action, dense against CSR, ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from property_tests.claims import claim
from property_tests.floating import array, float_copy, float_options, sparse_copy
from property_tests.strategies import mdps, operators, penalties, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import METHODS, solve

ALL_METHODS = st.sampled_from([*sorted(METHODS), "auto"])
ZERO = st.just(Fraction(0))
MODERATE = st.sampled_from([Fraction(1, 2), Fraction(0), Fraction(3, 4), Fraction(7, 8)])
"""Discounts at which each method needs some hundred iterations at most."""


@claim("C11", lean="RESAC.rev_unique_fixedPoint")
@given(st.data(), mdps(dyadic=True, discount=ZERO, masked=True), ALL_METHODS)
def test_discount_zero_gives_the_reward(data: st.DataObject, source: ExactMDP, method: str) -> None:
    """γ = 0: Q* = R, whatever the penalties, exactly."""
    options = float_options(data.draw(penalties(source, dyadic=True)))
    operator = RevOperator(FiniteMDP.from_exact(source), **options)
    solution = solve(operator, tolerance=1e-6, method=method)
    here = np.ones(solution.q.shape, dtype=bool) if operator.mdp.available is None else operator.mdp.available
    assert (solution.q[here] == operator.mdp.reward[here]).all()
    assert solution.converged


@claim("C11", lean="RESAC.rev_unique_fixedPoint")
@given(mdps(dyadic=True, scaled=False), ALL_METHODS)
def test_zero_reward_gives_zero(source: ExactMDP, method: str) -> None:
    """R = 0 and no penalty: Q* = 0 exactly, and every action is greedy, so the first is returned."""
    mdp = FiniteMDP.from_exact(source)
    solution = solve(RevOperator(mdp.replace(reward=np.zeros_like(mdp.reward))), method=method)
    assert not solution.q.any()
    assert solution.converged
    assert (solution.policy == 0).all()


@claim("C11", lean="RESAC.rev_unique_fixedPoint")
@given(operators(mdps(max_states=1, max_actions=1, discount=MODERATE), robust=False), ALL_METHODS)
def test_one_state_one_action_is_a_geometric_series(operator: ExactRev, method: str) -> None:
    """Q* = (R − γ·pen)/(1 − γ) in closed form, for both penalty forms and any functional."""
    gamma, pen = operator.mdp.discount, operator.lambda_epi * operator.epistemic[0][0] + operator.kappa
    closed = (operator.mdp.reward[0][0] - gamma * pen) / (1 - gamma)
    assert operator.fixed_point() == ((closed,),)
    plain = ExactRev(operator.mdp, epistemic=operator.epistemic, lambda_epi=operator.lambda_epi, kappa=operator.kappa)
    solution = solve(float_copy(plain, FiniteMDP.from_exact(operator.mdp)), tolerance=1e-4, method=method)
    assert solution.q.shape == (1, 1)
    assert solution.policy.tolist() == [0]


@claim("C11")
@settings(max_examples=40)
@given(st.data(), operators(mdps(masked=True, discount=MODERATE), robust=False), ALL_METHODS)
def test_dense_and_csr_agree_within_their_bounds(data: st.DataObject, operator: ExactRev, method: str) -> None:
    """One backup differs by at most two rounding bounds, two solutions by at most the sum of their error bounds."""
    operator = ExactRev(operator.mdp, epistemic=operator.epistemic, lambda_epi=operator.lambda_epi)
    dense = FiniteMDP.from_exact(operator.mdp)
    first, second = float_copy(operator, dense), float_copy(operator, sparse_copy(dense))
    q = array(data.draw(tables_like(operator.mdp)))
    bound = first.rounding(float(np.abs(q).max())) + second.rounding(float(np.abs(q).max()))
    assert first.distance(first(q), second(q)) <= bound
    answers = [solve(t, tolerance=1e-6, method=method) for t in (first, second)]
    apart = first.distance(answers[0].q, answers[1].q)
    assert apart <= sum(answer.error_bound for answer in answers) * (1 + 2**-50)


@claim("C11", lean="RESAC.fixedPoint_unique_fin")
@settings(max_examples=30)
@given(mdps(dyadic=True, scaled=False, max_actions=2, discount=MODERATE), st.integers(2, 3), st.booleans())
def test_ties_go_to_the_lowest_action_in_every_solver(source: ExactMDP, copies: int, as_csr: bool) -> None:
    """Each action repeated: all solvers return the first copy, and the same policy wherever Q* has a clear gap."""
    repeated = ExactMDP(
        transition=tuple(tuple(row for row in state for _ in range(copies)) for state in source.transition),
        reward=tuple(tuple(r for r in state for _ in range(copies)) for state in source.reward),
        discount=source.discount,
    )
    mdp = sparse_copy(FiniteMDP.from_exact(repeated)) if as_csr else FiniteMDP.from_exact(repeated)
    optimum = ExactRev(repeated).fixed_point()
    lowest = [row.index(max(row)) for row in optimum]
    clear = [all(x == max(row) or max(row) - x > Fraction(1, 1000) for x in row) for row in optimum]
    for method in sorted(METHODS):
        solution = solve(RevOperator(mdp), tolerance=1e-6, method=method)
        assert all(int(a) % copies == 0 for a in solution.policy)
        for s, wanted in enumerate(lowest):
            if clear[s] and solution.error_bound <= 1e-6:
                assert int(solution.policy[s]) == wanted


@claim("C10", lean="RESAC.rev_discount")
@pytest.mark.parametrize("scale", [2.0**400, 2.0**-400])
@settings(max_examples=30)
@given(source=mdps(dyadic=True, scaled=False, discount=MODERATE), method=ALL_METHODS)
def test_scale_of_the_reward_does_not_matter(scale: float, source: ExactMDP, method: str) -> None:
    """A power of two in front of R passes through to Q*, to the bounds of the two solutions (T is homogeneous)."""
    mdp = FiniteMDP.from_exact(source)
    plain = solve(RevOperator(mdp), tolerance=1e-6, method=method)
    scaled = solve(RevOperator(mdp.replace(reward=scale * mdp.reward)), tolerance=scale * 1e-6, method=method)
    apart = float(np.abs(scaled.q / scale - plain.q).max())
    assert apart <= (plain.error_bound + scaled.error_bound / scale) * (1 + 2**-50)


@claim("C11")
@given(mdps(masked=True))
def test_exact_and_float_round_trip(source: ExactMDP) -> None:
    """`FiniteMDP.from_exact(m).to_exact()` is the stored MDP: rewards as stored, rows of sum 1, the same mask."""
    mdp: FiniteMDP = FiniteMDP.from_exact(source)
    back = mdp.to_exact()
    for s in range(source.n_states):
        assert back.actions(s) == source.actions(s)
        for a in source.actions(s):
            assert sum(back.transition[s][a]) == 1
            assert back.reward[s][a] == Fraction(float(source.reward[s][a]))
            stored = [Fraction(float(x)) for x in source.transition[s][a]]
            assert abs(sum(stored) - 1) <= Fraction(mdp.row_error)
            assert back.transition[s][a] == tuple(x / sum(stored) for x in stored)


@claim("C11")
@given(st.data(), st.integers(1, 3), st.integers(1, 2), st.booleans())
def test_counts_give_the_empirical_model(data: st.DataObject, n: int, actions: int, as_csr: bool) -> None:
    """p° = n(s,a,s')/n(s,a) and the mean reward; unseen pairs unavailable, states never left absorbing."""
    cells = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    counts = np.array(data.draw(st.lists(cells, min_size=n * actions, max_size=n * actions)), dtype=float)
    seen = counts.sum(axis=1).reshape(n, actions)
    sums = np.where(seen > 0, data.draw(st.integers(-9, 9)), 0.0)
    given_counts = sparse.csr_array(counts) if as_csr else counts.reshape(n, actions, n)
    mdp = FiniteMDP.from_counts(given_counts, sums, 0.5)
    kernel = mdp.dense()
    for s in range(n):
        for a in range(actions):
            known = mdp.available is None or mdp.available[s, a]
            assert known == (seen[s, a] > 0 or not seen[s].any())
            if seen[s, a] > 0:
                frequencies = counts[s * actions + a] / seen[s, a]
                # Each quotient rounds once, and the row is divided by its sum, which is 1 to n + 1 roundings.
                assert (np.abs(kernel[s, a] - frequencies) <= (n + 4) * 2.0**-53).all()
                assert mdp.reward[s, a] == sums[s, a] / seen[s, a]
            elif known:
                assert kernel[s, a].tolist() == np.eye(n)[s].tolist()
                assert mdp.reward[s, a] == 0
