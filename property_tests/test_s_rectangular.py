"""s-rectangular l1 sets: one state against its linear program, and relations to the (s, a)-rectangular ball."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from property_tests.claims import claim
from property_tests.strategies import mdps
from property_tests.test_inner_problems import floats, state_values
from pyresac.tabular.expectations import L1Ball
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.s_rectangular import level_rounding, levels, solve_s_rectangular
from pyresac.tabular.solvers import solve

RADII = st.sampled_from([0.5, 0.0, 0.1, 1.0, 3.0, 10.0])
MODERATE = st.sampled_from([Fraction(1, 2), Fraction(7, 8)])


def backup(mdp: FiniteMDP, radius: float, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(W v, the policy) by the kernel."""
    image, policy = np.empty(mdp.n_states), np.empty(mdp.reward.shape)
    allowed = np.empty((0, 0), dtype=bool) if mdp.available is None else mdp.available
    budgets = np.full(mdp.n_states, radius)
    levels(*mdp.csr(), mdp.reward, allowed, budgets, mdp.discount, v, float(v.min()), image, policy)
    return image, policy


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=15)
@given(st.data(), mdps(dyadic=True, max_states=3, max_actions=3, masked=True, discount=MODERATE, scaled=False), RADII)
def test_c03_level_is_the_adversarys_linear_program(data: st.DataObject, source: object, radius: float) -> None:
    """min u over q ≥ 0, Σq_a = 1, |q_a − p_a| ≤ t_a, Σt ≤ radius, r_a + γ·q_a·v ≤ u (Lean: RESAC.IsInfimum.monetary).

    HiGHS works to 1e-7; prices of its constraints are at most the range of v and r here. And the policy returned is
    worth as much against every answer: its own minimum, a linear program, too, is the level.
    """
    mdp, v = FiniteMDP.from_exact(source), floats(data.draw(state_values(source)))  # type: ignore[arg-type]
    image, policy = backup(mdp, radius, v)
    n, kernel = mdp.n_states, mdp.dense()
    slack = 1e-5 * (1 + np.abs(v).max() + np.abs(mdp.reward).max())
    for s in range(n):
        actions = [a for a in range(mdp.n_actions) if mdp.available is None or mdp.available[s, a]]
        m = len(actions)
        size = 2 * m * n + 1
        rows, limits, equal = [], [], np.zeros((m, size))
        total = np.zeros(size)
        for i, a in enumerate(actions):
            q, t = slice(2 * i * n, (2 * i + 1) * n), slice((2 * i + 1) * n, (2 * i + 2) * n)
            equal[i, q] = 1.0
            total[t] = 1.0
            for sign in (1.0, -1.0):
                block = np.zeros((n, size))
                block[:, q], block[:, t] = sign * np.eye(n), -np.eye(n)
                rows.append(block)
                limits.append(sign * kernel[s, a])
            level = np.zeros((1, size))
            level[0, q], level[0, -1] = mdp.discount * v, -1.0
            rows.append(level)
            limits.append(np.array([-mdp.reward[s, a]]))
        above, limit = np.vstack([*rows, total[None]]), np.concatenate([*limits, [radius]])
        bounds = [(0, None)] * (size - 1) + [(None, None)]
        cost = np.eye(size)[-1]
        best = linprog(cost, above, limit, equal, np.ones(m), bounds, method="highs").fun
        assert abs(best - image[s]) <= slack
        assert policy[s].min() >= 0
        assert abs(policy[s].sum() - 1) <= 1e-12
        weight = np.zeros(size)
        for i, a in enumerate(actions):
            weight[2 * i * n : (2 * i + 1) * n] = policy[s, a] * mdp.discount * v
        free = np.delete(above, [2 * n + i * (2 * n + 1) for i in range(m)], axis=0)
        room = np.delete(limit, [2 * n + i * (2 * n + 1) for i in range(m)])
        earned = linprog(weight, free, room, equal, np.ones(m), bounds, method="highs").fun + policy[s] @ mdp.reward[s]
        assert earned >= image[s] - slack


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=15)
@given(st.data(), mdps(dyadic=True, max_states=4, max_actions=1, discount=MODERATE, scaled=False), RADII)
def test_c03_one_action_is_the_l1_ball(data: st.DataObject, source: object, radius: float) -> None:
    """With one action the state's budget is the pair's (Lean: RESAC.IsInfimum.monetary)."""
    mdp, v = FiniteMDP.from_exact(source), floats(data.draw(state_values(source)))  # type: ignore[arg-type]
    operator = RevOperator(mdp, expectation=L1Ball(min(radius, 2.0)))
    image, _ = backup(mdp, radius, v)
    size = float(np.abs(v).max() + np.abs(mdp.reward).max())
    slack = operator.rounding(size) + level_rounding(mdp, 3 * size + 1e-300)
    assert np.abs(image - operator.backup(v)[:, 0]).max() <= slack
    ours, theirs = solve_s_rectangular(mdp, radius, tolerance=1e-9), solve(operator, tolerance=1e-9)
    assert ours.converged
    assert np.abs(ours.v - theirs.v).max() <= ours.error_bound + theirs.error_bound


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=15)
@given(mdps(dyadic=True, max_states=4, max_actions=3, masked=True, discount=MODERATE, scaled=False), RADII)
def test_c03_between_one_budget_a_pair_and_the_nominal_value(source: object, radius: float) -> None:
    """A budget a pair is worse for us than the same budget for the whole state; none is better than both."""
    mdp = FiniteMDP.from_exact(source)  # type: ignore[arg-type]
    state = solve_s_rectangular(mdp, radius, tolerance=1e-9)
    pair = solve(RevOperator(mdp, expectation=L1Ball(min(radius, 2.0))), tolerance=1e-9)
    nominal = solve(RevOperator(mdp), tolerance=1e-9)
    slack = state.error_bound + max(pair.error_bound, nominal.error_bound)
    assert (pair.v <= state.v + slack).all()
    assert (state.v <= nominal.v + slack).all()


def test_a_coin_is_better_than_either_action() -> None:
    """Two actions lead to two states of value 0 and fail into one of value −1: the adversary can only spoil one."""
    rows = np.zeros((3, 2, 3))
    rows[0, 0, 1], rows[0, 1, 2], rows[1:, :, 0] = 1.0, 1.0, 1.0
    image, policy = backup(FiniteMDP.from_arrays(rows, np.zeros((3, 2)), 0.5), 1.0, np.array([-1.0, 0.0, 0.0]))
    assert image[0] == -0.125, "a quarter of the mass at γ = 1/2 on each, where one action alone would lose a half"
    assert policy[0].tolist() == [0.5, 0.5]
