"""One state, one action, one successor, one head, one stage, one kernel: every operator, set and solver where a number
that it counts is 1.

With one state every monetary value functional has V* = V(r − penalty)/(1 − γ), whatever the set around the kernel is:
there is one row of probabilities.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from functionals import every_set, every_value
from scipy import sparse

from pyresac.tabular import (
    EnsembleDeviation,
    EnsembleVariance,
    FiniteMDP,
    IntervalSet,
    LiveOperator,
    RevOperator,
    RobustMDP,
    WorstOfKernels,
    families,
    solve,
    solve_horizon,
    solve_s_rectangular,
)
from pyresac.tabular.exact import ExactMDP, ExactRev, sets
from pyresac.tabular.solvers import METHODS

DISCOUNT = 0.75
CYCLE = np.roll(np.eye(4), 1, axis=1)[:, None, :]
"""Four states, one action, one successor each."""
ROUND = np.array([[1.0], [-2.0], [0.5], [4.0]])


def of_form(mdp: FiniteMDP, form: str) -> FiniteMDP:
    if form == "dense":
        return mdp
    rows = sparse.csr_array(mdp.dense().reshape(-1, mdp.n_states))
    return FiniteMDP.from_arrays(rows, mdp.reward, mdp.discount, available=mdp.available)


def single(actions: int) -> FiniteMDP:
    """One state."""
    return FiniteMDP.from_arrays(np.ones((1, actions, 1)), [[1.5, -0.5, 3.0][:actions]], DISCOUNT)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("actions", [1, 3])
@pytest.mark.parametrize("name", [*every_set(1), "kernel", "intervals"])
def test_one_state(name: str, actions: int, form: str) -> None:
    mdp = of_form(single(actions), form)
    kernel = np.ones((1, actions, 1))
    expectation = {"kernel": WorstOfKernels([kernel]), "intervals": IntervalSet(0.5 * kernel, kernel)}.get(
        name
    ) or every_set(1)[name]
    epistemic = np.arange(actions, dtype=float)[None, :]
    for kind, value in every_value(1, actions).items():
        for place in ("pair", "next"):
            operator = RevOperator(
                mdp, epistemic=epistemic, lambda_epi=0.5, kappa=0.25, value=value, expectation=expectation,
                penalty_at=place,  # type: ignore[arg-type]
            )  # fmt: skip
            paid = 0.5 * epistemic * (DISCOUNT if place == "pair" else 1.0) + 0.25 * DISCOUNT
            best = float(value(mdp.reward - paid, mdp.available)[0]) / (1.0 - DISCOUNT)
            wanted = mdp.reward + DISCOUNT * (best - 0.25 - (0.5 * epistemic if place == "pair" else 0.0))
            for method in ["auto", *METHODS]:
                if method == "gauss_seidel" and not (kind in ("max", "min") and name == "nominal"):
                    continue
                found = solve(operator, tolerance=1e-9, method=method)
                assert found.converged, found.message
                # the closed form itself has a few roundings of numbers below 20
                assert np.abs(found.q - wanted).max() <= found.error_bound + 1e-13, (kind, place, method)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("name", every_set(4))
def test_one_action_and_one_successor(name: str, form: str) -> None:
    """A set around a row of one successor is that row, unless it may move mass to other states."""
    mdp = of_form(FiniteMDP.from_arrays(CYCLE, ROUND, DISCOUNT), form)
    expectation = every_set(4)[name]
    inner = {
        "l1": sets.l1(Fraction(1, 2)),
        "total variation": sets.total_variation(Fraction(1, 4)),
        "contamination": sets.contamination(Fraction(1, 4)),
        "wasserstein": sets.transport([[int(i != j) for j in range(4)] for i in range(4)], Fraction(1, 2)),
    }.get(name)
    if name == "likelihood":
        pytest.skip("its row is no rational one; property_tests/test_sets.py has it")
    wanted = ExactRev(mdp.to_exact(), inner=inner).fixed_point()
    for method in ["auto", *METHODS]:
        if method == "gauss_seidel" and name != "nominal":
            continue
        found = solve(RevOperator(mdp, expectation=expectation), tolerance=1e-9, method=method)
        for s in range(4):
            assert abs(Fraction(float(found.q[s, 0])) - wanted[s][0]) <= Fraction(found.error_bound), method
        assert found.policy.tolist() == [0] * 4


@pytest.mark.parametrize("states", [1, 3])
@pytest.mark.parametrize("actions", [1, 2])
def test_one_stage(states: int, actions: int) -> None:
    """A horizon of 1 is one backup of the terminal values."""
    mdp = families.random_dense(states, actions, DISCOUNT, seed=0)
    terminal = np.arange(states, dtype=float)
    found = solve_horizon(RevOperator(mdp), 1, terminal=terminal)
    assert found.q.shape == (1, states, actions)
    wanted = mdp.reward + DISCOUNT * mdp.dense() @ terminal
    assert np.abs(found.q[0] - wanted).max() <= found.error_bound[0] + 1e-15
    assert found.policy[0].tolist() == wanted.argmax(axis=1).tolist()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (4, 1)])
def test_randomised_policies_against_nature(shape: tuple[int, int]) -> None:
    """One state: nature has one row. One action: the policy is it, and s-rectangular is (s, a)-rectangular."""
    mdp = single(shape[1]) if shape[0] == 1 else FiniteMDP.from_arrays(CYCLE, ROUND, DISCOUNT)
    found = solve_s_rectangular(mdp, 0.5, tolerance=1e-9)
    inner = sets.l1(Fraction(1, 2))
    wanted = ExactRev(mdp.to_exact(), inner=inner).fixed_point()
    for s, row in enumerate(wanted):
        assert abs(Fraction(float(found.v[s])) - max(row)) <= Fraction(found.error_bound)
    assert found.policy.sum(axis=1) == pytest.approx(np.ones(shape[0]), abs=1e-9)


@pytest.mark.parametrize("kind", ["l1", "kl", "bayes", "bernstein"])
@pytest.mark.parametrize("actions", [1, 2])
def test_one_state_from_counts(kind: Any, actions: int) -> None:
    """Whatever was seen, and also where nothing was: the only state follows."""
    counts = np.array([[[0.0], [7.0]]])[:, :actions]
    reward = np.array([[1.0, 2.0]])[:, :actions]
    solution, lower = RobustMDP.from_counts(counts, reward, DISCOUNT, set=kind).solve(tolerance=1e-9)
    best = reward.max() / (1.0 - DISCOUNT)
    assert abs(solution.v[0] - best) <= solution.error_bound
    assert best - 1e-6 <= lower[0] <= best


def test_one_observation() -> None:
    """Of a single transition the set holds nearly every row, and the bound stays below the truth's worst."""
    counts = np.zeros((2, 1, 2))
    counts[0, 0, 1] = 1.0
    robust = RobustMDP.from_counts(counts, [[1.0], [0.0]], DISCOUNT)
    solution, lower = robust.solve(tolerance=1e-9)
    # the worst row stays in the poorer state for ever
    assert solution.v[1] == pytest.approx(0.0, abs=1e-8)
    assert (lower <= solution.v).all()


@pytest.mark.parametrize("penalty", [EnsembleVariance(0.5, 2), EnsembleDeviation(0.5, 2)])
def test_live_penalties_of_one_pair(penalty: Any) -> None:
    """Two heads on one state and one action: a number each."""
    heads = np.array([[[1.0]], [[3.0]]])
    spread = 2.0 if isinstance(penalty, EnsembleVariance) else np.sqrt(2.0)
    found = LiveOperator(single(1), penalty)(heads)
    assert found.ravel() == pytest.approx(1.5 + DISCOUNT * (np.array([1.0, 3.0]) - 0.5 * spread), abs=1e-15)


@pytest.mark.parametrize(
    ("mdp", "shape"),
    [
        (families.random_dense(1, 1, 0.5, seed=0), (1, 1)),
        (families.random_sparse(1, 1, 1, 0.5, seed=0), (1, 1)),
        (families.random_sparse(1, 2, 3, 0.5, seed=0), (1, 2)),
        (families.grid(1, 0.5), (1, 4)),
        (families.queue(1, 0.5), (2, 2)),
        (families.chain(1, 0.5), None),
    ],
    ids=["dense", "sparse", "sparse, one state", "grid", "queue", "chain"],
)
def test_the_smallest_of_each_family(mdp: FiniteMDP, shape: tuple[int, int] | None) -> None:
    """Rows are distributions, and a solve has the exact fixed point."""
    assert shape is None or mdp.reward.shape == shape
    assert mdp.dense().sum(axis=2) == pytest.approx(np.ones(mdp.reward.shape), abs=1e-15)
    wanted = ExactRev(mdp.to_exact()).fixed_point()
    found = solve(RevOperator(mdp), tolerance=1e-9)
    for s in range(mdp.n_states):
        for a in range(mdp.n_actions):
            assert abs(Fraction(float(found.q[s, a])) - wanted[s][a]) <= Fraction(found.error_bound)


def test_the_twin_with_one_pair() -> None:
    """V* = (r − γκ)/(1 − γ), exactly."""
    one = ExactMDP((((1,),),), ((3,),), Fraction(3, 4))  # type: ignore[arg-type]
    assert ExactRev(one, kappa=1).fixed_point() == ((Fraction(9),),)
    assert ExactRev(one, kernels=[one.transition], value="min").fixed_point() == ((Fraction(12),),)
