"""s-rectangular sets: a state against its linear program and its exact twin; relations to (s, a)-rectangular balls."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from property_tests.claims import claim
from property_tests.strategies import mdps
from property_tests.test_inner_problems import floats, state_values
from pyresac.tabular.exact import ExactMDP
from pyresac.tabular.exact.s_rectangular import Curve, _level, _needed
from pyresac.tabular.exact.s_rectangular import backup as exact_backup
from pyresac.tabular.expectations import L1Ball, LInfinityBall
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.s_rectangular import level_rounding, levels, solve_s_rectangular
from pyresac.tabular.solvers import solve

RADII = st.sampled_from([0.5, 0.0, 0.1, 1.0, 3.0, 10.0])
MODERATE = st.sampled_from([Fraction(1, 2), Fraction(7, 8)])


def backup(mdp: FiniteMDP, radius: float, v: np.ndarray, norm: str = "l1") -> tuple[np.ndarray, np.ndarray]:
    """(W v, the policy) by the kernel."""
    image, policy = np.empty(mdp.n_states), np.empty(mdp.reward.shape)
    allowed = np.empty((0, 0), dtype=bool) if mdp.available is None else mdp.available
    budgets = np.full(mdp.n_states, radius)
    levels(*mdp.csr(), mdp.reward, allowed, budgets, mdp.discount, v, float(v.min()), norm == "linf", image, policy)
    return image, policy


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """A robust value as a function of its budget: it falls by less and less, and then stays."""
    steps = st.integers(1, 6).map(lambda n: Fraction(n, 4))
    slopes = sorted(draw(st.sets(steps, min_size=0, max_size=4)), reverse=True)
    curve = [(Fraction(0), Fraction(draw(st.integers(-4, 4))))]
    for slope in slopes:
        length = draw(steps)
        curve.append((curve[-1][0] + length, curve[-1][1] - slope * length))
    return curve


def height(curve: Curve, budget: Fraction) -> Fraction:
    """A convex function is the highest of its chords' lines, and of its last value."""
    found = [curve[-1][1]]
    for (before, high), (after, low) in pairwise(curve):
        found.append(high + (low - high) * (budget - before) / (after - before))
    return max(found)


@given(curves(), st.fractions(0, 1, max_denominator=16))
def test_the_budget_of_a_level_is_the_least_that_reaches_it(curve: Curve, share: Fraction) -> None:
    """Exactly, for levels in every segment."""
    level = curve[-1][1] + share * (curve[0][1] - curve[-1][1])
    assert height(curve, _needed(curve, level)) == level
    assert _needed(curve, curve[0][1] + 1) == 0


@given(st.lists(curves(), min_size=1, max_size=3), st.fractions(0, 8, max_denominator=8))
def test_at_the_level_of_a_state_the_budget_is_used_up(actions: list[Curve], radius: Fraction) -> None:
    """Or every action that counts is at its end; exactly."""
    level = _level(actions, radius)
    needed = sum((_needed(curve, level) for curve in actions), Fraction(0))
    floor, top = (max(curve[end][1] for curve in actions) for end in (-1, 0))
    assert floor <= level <= top
    assert needed == radius or (needed < radius and level == floor)


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=40)
@given(
    st.data(),
    mdps(dyadic=True, max_states=4, max_actions=3, masked=True, discount=MODERATE, scaled=False),
    st.sampled_from([Fraction(1, 2), Fraction(0), Fraction(1, 16), Fraction(1, 8), Fraction(1, 3), Fraction(3)]),
    st.sampled_from(["l1", "linf"]),
)
def test_c03_level_is_the_exact_one(data: st.DataObject, source: ExactMDP, radius: Fraction, norm: str) -> None:
    """The float level within its rounding bound of the rational one (Lean: RESAC.IsInfimum.monetary)."""
    mdp, v = FiniteMDP.from_exact(source), data.draw(state_values(source))
    image, policy = backup(mdp, float(radius), floats(v), norm)
    exact = exact_backup(source, v, Fraction(float(radius)), norm)  # type: ignore[arg-type]
    size = float(np.abs(floats(v)).max() + np.abs(image).max() + mdp.reward_size)
    slack = Fraction(level_rounding(mdp, size))
    assert all(abs(Fraction(float(u)) - level) <= slack for u, level in zip(image, exact, strict=True))
    assert policy.min() >= 0
    assert np.abs(policy.sum(axis=1) - 1).max() <= 1e-12


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=20)
@given(st.data(), mdps(dyadic=True, max_states=4, max_actions=2, discount=MODERATE, scaled=False), RADII)
def test_c03_one_budget_in_the_l_infinity_norm(data: st.DataObject, source: ExactMDP, radius: float) -> None:
    """With one action it is the ball, over ℚ too; with more, between one budget a pair and none.

    The policy returned earns the level: against every way to share the budget among its actions, on a grid that the
    balls' own inner problems answer (Lean: RESAC.IsInfimum.monetary).
    """
    mdp, v = FiniteMDP.from_exact(source), data.draw(state_values(source))
    size = float(np.abs(floats(v)).max() + mdp.reward_size)
    image, policy = backup(mdp, radius, floats(v), "linf")
    slack = level_rounding(mdp, 3 * size + 1e-300) + 1e-12 * size

    def robust(budget: float) -> np.ndarray:
        return RevOperator(mdp, expectation=LInfinityBall(min(budget, 1.0))).backup(floats(v))

    if mdp.n_actions == 1:
        assert np.abs(image - robust(radius)[:, 0]).max() <= slack
        return
    assert (robust(radius).max(axis=1) <= image + slack).all()
    assert (image <= RevOperator(mdp).backup(floats(v)).max(axis=1) + slack).all()
    for part in np.linspace(0.0, 1.0, 9):
        split = np.stack([robust(part * radius)[:, 0], robust((1 - part) * radius)[:, 1]], axis=1)
        assert (image <= split.max(axis=1) + slack).all(), "the adversary may share it so"
        assert ((policy * split).sum(axis=1) >= image - slack).all(), "and the policy still earns its level"


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=10)
@given(
    mdps(dyadic=True, max_states=4, max_actions=3, masked=True, discount=MODERATE, scaled=False),
    RADII,
    st.sampled_from(["l1", "linf"]),
)
def test_c03_best_and_worst_of_one_budget(source: ExactMDP, radius: float, norm: str) -> None:
    """Solves in both norms: worst ≤ nominal ≤ best, and all coincide at radius 0."""
    mdp = FiniteMDP.from_exact(source)
    worst, best = (
        solve_s_rectangular(mdp, radius, norm=norm, optimistic=o, tolerance=1e-9)
        for o in (False, True)  # type: ignore[arg-type]
    )
    nominal = solve(RevOperator(mdp), tolerance=1e-9)
    slack = nominal.error_bound + max(worst.error_bound, best.error_bound)
    assert (worst.v <= nominal.v + slack).all()
    assert (nominal.v <= best.v + slack).all()
    assert best.policy.sum(axis=1).tolist() == [1.0] * mdp.n_states
    if radius == 0.0:
        assert (best.v <= worst.v + 2 * slack).all()
    if mdp.n_actions == 1 and radius == 10.0 and norm == "l1":
        reached = solve(RevOperator(mdp, expectation=L1Ball(2.0, optimistic=True)), tolerance=1e-9)
        assert np.abs(best.v - reached.v).max() <= slack + reached.error_bound


def test_a_solve_stops_where_its_tolerance_is_met() -> None:
    """Two states, γ = 1/2: each sweep halves what is left, and nothing is gained after 2⁻⁵³."""
    mdp = FiniteMDP.from_arrays([[[0.5, 0.5]], [[0.25, 0.75]]], [[1.0], [0.0]], 0.5)
    few, all_there_is = (solve_s_rectangular(mdp, 0.1, tolerance=goal) for goal in (1e-4, 0.0))
    assert few.converged
    assert few.iterations <= 16
    assert not all_there_is.converged
    assert few.iterations < all_there_is.iterations <= 100


@claim("C03", lean="RESAC.IsInfimum.monetary")
@settings(max_examples=15)
@given(st.data(), mdps(dyadic=True, max_states=3, max_actions=3, masked=True, discount=MODERATE, scaled=False), RADII)
def test_c03_level_is_the_adversarys_linear_program(data: st.DataObject, source: ExactMDP, radius: float) -> None:
    """min u over q ≥ 0, Σq_a = 1, |q_a − p_a| ≤ t_a, Σt ≤ radius, r_a + γ·q_a·v ≤ u (Lean: RESAC.IsInfimum.monetary).

    HiGHS works to 1e-7; prices of its constraints are at most the range of v and r here. And the policy returned is
    worth as much against every answer: its own minimum, a linear program, too, is the level.
    """
    mdp, v = FiniteMDP.from_exact(source), floats(data.draw(state_values(source)))
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
def test_c03_one_action_is_the_l1_ball(data: st.DataObject, source: ExactMDP, radius: float) -> None:
    """With one action the state's budget is the pair's (Lean: RESAC.IsInfimum.monetary)."""
    mdp, v = FiniteMDP.from_exact(source), floats(data.draw(state_values(source)))
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
def test_c03_between_one_budget_a_pair_and_the_nominal_value(source: ExactMDP, radius: float) -> None:
    """A budget a pair is worse for us than the same budget for the whole state; none is better than both."""
    mdp = FiniteMDP.from_exact(source)
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


def test_a_pivot_that_gives_its_all_hands_over_in_the_l_infinity_norm() -> None:
    """p = (.1, .1, .1, .7), v = (0, 1, 2, 3), by hand: at .1 the last two states give .1 each, which the first two
    take; at .2 they give .3, of which the first takes .2 and the second .1."""
    rows = np.zeros((4, 1, 4))
    rows[:, 0] = [0.1, 0.1, 0.1, 0.7]
    mdp = FiniteMDP.from_arrays(rows, np.zeros((4, 1)), 0.5)
    v = np.arange(4.0)
    for radius, value in ((0.0, 2.4), (0.1, 2.0), (0.2, 1.7), (0.7, 0.2), (0.9, 0.0)):
        image, _ = backup(mdp, radius, v, "linf")
        assert image[0] == pytest.approx(0.5 * value, abs=1e-12)
        assert image[0] == pytest.approx(RevOperator(mdp, expectation=LInfinityBall(radius)).backup(v)[0, 0], abs=1e-12)


@pytest.mark.parametrize("states", [5, 6, 9])
def test_one_action_is_the_l_infinity_ball_on_longer_rows(states: int) -> None:
    """Several successors take at once, pivots hand over before and after they have given their all."""
    rng = np.random.default_rng(states)
    kernel = rng.dirichlet(np.full(states, 0.4), size=(states, 1))
    mdp = FiniteMDP.from_arrays(kernel, rng.normal(size=(states, 1)), 0.5, renormalise=True)
    for _ in range(40):
        v, radius = rng.normal(size=states).round(1), float(rng.uniform() ** 2)
        image, _ = backup(mdp, radius, v, "linf")
        operator = RevOperator(mdp, expectation=LInfinityBall(radius))
        assert np.abs(image - operator.backup(v)[:, 0]).max() <= level_rounding(mdp, 10.0) + operator.rounding(10.0)
