"""What poisoning asks of its kernels, and what it makes of the tables that they leave: no kernel runs here."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.experiments import poisoning
from pyresac.experiments import poisoning_kernels as kernels
from pyresac.experiments.poisoning import FORMS, POINTS, Form, Problem, curve, noisy_chain, sampled, shortfall, verdicts
from pyresac.tabular import FiniteMDP, RevOperator, solve

NAN = float("nan")


def chain(noise: float = 0.25) -> Problem:
    mdp = noisy_chain(3)
    return Problem(mdp, noise, solve(RevOperator(mdp), tolerance=1e-9).q)


def branching() -> FiniteMDP:
    """Five states: three, two and one successors; an end; a state that keeps to itself but pays; one that may leave."""
    P = np.zeros((5, 2, 5))
    P[0, 0, [0, 1, 2]], P[0, 1, 1] = (0.5, 0.25, 0.25), 1.0
    P[1, 0, [2, 4]], P[1, 1, 3] = (0.75, 0.25), 1.0
    P[2, :, 2] = P[3, :, 3] = P[4, 0, 4] = P[4, 1, 0] = 1.0
    R = np.zeros((5, 2))
    R[0], R[3, 1] = (1.0, 2.0), 3.0
    return FiniteMDP(P, R, 0.5)


def test_data_are_those_of_the_kernel_entry_by_entry() -> None:
    successors, chances, rewards, pairs = sampled(branching())
    assert successors.tolist() == [
        [[0, 1, -1], [1, -1, -1]],
        [[-1, 4, -1], [3, -1, -1]],
        [[-1, -1, -1], [-1, -1, -1]],
        [[3, -1, -1], [3, -1, -1]],
        [[4, -1, -1], [0, -1, -1]],
    ]
    assert chances[:2].tolist() == [[[0.5, 0.75, 1.0], [1.0] * 3], [[0.75, 1.0, 1.0], [1.0] * 3]]
    assert (chances[2:] == 1.0).all()
    assert chances.shape == rewards.shape == successors.shape
    assert rewards[0].tolist() == [[1.0] * 3, [2.0] * 3]
    assert rewards[3].tolist() == [[0.0] * 3, [3.0] * 3]
    assert not rewards[[1, 2, 4]].any()
    assert pairs.tolist() == [[s, a] for s in (0, 1, 3, 4) for a in (0, 1)]


def test_the_chain_leads_back_to_its_beginning_and_out_at_its_end() -> None:
    mdp = noisy_chain(3)
    assert mdp.discount == 0.95
    step = [[0, 1], [0, 2], [1, 3], [3, 3]]
    assert mdp.dense().argmax(2).tolist() == step
    assert mdp.dense().sum() == 8.0
    assert mdp.reward.tolist() == [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]


def test_the_three_problems_have_their_noise_and_their_exact_optimum() -> None:
    found = {name: make() for name, make in poisoning.problems().items() if name != "Taxi"}
    assert {name: (one.noise, one.mdp.discount) for name, one in found.items()} == {
        "FrozenLake": (0.0, 0.95),
        "noisy chain": (1.0, 0.95),
    }
    assert found["noisy chain"].optimum[:8, 1].tolist() == pytest.approx([0.95 ** (7 - s) for s in range(8)], abs=1e-9)
    lake, value = found["FrozenLake"], np.zeros(16)
    for _ in range(600):  # 0.95⁶⁰⁰ is 4e-14
        q = lake.mdp.reward + 0.95 * lake.mdp.dense() @ value
        value = q.max(1)
    assert np.abs(lake.optimum - q).max() < 2e-9
    poisoned = poisoning.problems().keys()
    assert list(poisoned) == ["FrozenLake", "Taxi", "noisy chain"]


def test_taxi_has_no_noise_and_the_discount_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(FiniteMDP, "from_gymnasium", lambda *given: made.append(given) or noisy_chain(2))
    found = poisoning.problems()["Taxi"]()
    assert made == [("Taxi-v4", 0.95)]
    assert found.noise == 0.0
    assert found.optimum.shape == (3, 2)


def marks_of(pairs: int, sweeps: int) -> list[int]:
    """Twelve, from one update a pair to all, by the same factor each; those that fall together once."""
    steps = [pairs * sweeps ** (place / 11.0) for place in range(12)]
    return sorted({int(step + 1e-9) for step in steps})


def told(monkeypatch: pytest.MonkeyPatch, name: str, left: list[Any]) -> list[Any]:
    """Let a kernel leave these tables, one call after the other; what it is given is noted, with copies of the first
    tables."""
    given: list[Any] = []

    def learn(tables: Any, target: Any, *rest: Any) -> None:
        given.append((tables.copy(), target.copy(), rest))
        assert tables is not target
        tables[...] = left[len(given) - 1]
        target[...] = -7.0

    monkeypatch.setattr(kernels, name, learn)
    monkeypatch.setattr(poisoning, "shortfall", lambda problem, values, form: float(values.shape[0]))
    return given


def same(found: Any, expected: Any) -> bool:
    return len(found) == len(expected) and all(
        np.array_equal(one, two) for one, two in zip(found, expected, strict=True)
    )


def test_a_curve_is_measured_at_its_marks_over_the_pairs_that_give_data(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, form = chain(), FORMS["RE-SAC"]
    marks = marks_of(6, 4)
    assert 6 < len(marks) < POINTS
    away = np.array([[0.5, -1.0], [2.0, 0.0], [-0.25, 0.25], [1e6, -1e7]])
    left = [problem.optimum + away * (n + 1) + np.arange(10.0)[:, None, None] for n in range(len(marks))]
    given = told(monkeypatch, "learn", left)
    found = curve(problem, form, 4, 3)
    assert found.shape == (POINTS, 3)
    first = 0.1 * np.random.default_rng([3, 1]).standard_normal((10, 4, 2))
    assert np.array_equal(given[0][0], first)
    assert np.array_equal(given[0][1], first)
    assert (given[1][1] == -7.0).all(), "the kernel's own targets go on"
    data = sampled(problem.mdp)
    steps = np.diff(marks, prepend=0).tolist()
    for n, (_, _, (expectile, *rest)) in enumerate(given):
        assert expectile.tolist() == [0.0] * 4
        assert same(rest[:4], data)
        assert rest[4:9] == [steps[n], 0.95, 0.1, 0.5, 0.25]
        assert rest[9:15] == [kernels.BOUND, -2.0, kernels.OWN, 0.01, 0.0001, 0.0]
        assert isinstance(rest[15], np.random.Generator)
        errors = [a * (n + 1) + 4.5 for a in (0.5, -1.0, 2.0, 0.0, -0.25, 0.25)]
        expected = [sum(errors) / 6.0, sum(map(abs, errors)) / 6.0, 10.0]
        assert found[n].tolist() == pytest.approx(expected)
    assert len(given) == len(marks)
    assert np.isnan(found[len(marks) :]).all()


@pytest.mark.parametrize("name", ["TQC", "DSAC"])
def test_tables_of_quantiles_are_measured_by_their_means_and_step_in_the_unit_of_the_values(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, form = chain(), FORMS[name]
    spread = np.arange(form.quantiles) - (form.quantiles - 1) / 2.0
    left = problem.optimum[None, :, :, None] + 2.0 + spread + np.zeros((form.heads, 1, 1, 1))
    given = told(monkeypatch, "learn_quantiles", [left] * POINTS)
    found = curve(problem, form, 1_000, 0)
    assert given[0][0].shape == (form.heads, 4, 2, form.quantiles)
    unit = sum(map(abs, problem.optimum.ravel().tolist())) / 8.0
    assert unit not in (0.0, 1.0)
    *data, steps, discount, rate, follow, noise, dropped, generator = given[0][2]
    assert same(data, sampled(problem.mdp))
    assert (steps, discount, follow, noise, dropped) == (6, 0.95, 0.5, 0.25, form.dropped)
    assert rate == pytest.approx(0.1 * unit)
    assert isinstance(generator, np.random.Generator)
    assert sum(call[2][4] for call in given) == 6_000
    assert found.tolist() == [pytest.approx([2.0, 2.0, form.heads])] * POINTS


def test_the_shortfall_is_of_the_policy_that_the_form_s_actor_takes() -> None:
    """Heads that disagree: the first goes left, the mean right, and the least left. TQC's actor ascends the mean."""
    problem = chain()
    lost = (0.95**2 + 0.95 + 1.0) / 4.0
    values = np.zeros((2, 4, 2))
    values[0, :, 0], values[1, :, 1] = 1.0, 3.0
    values[0, :, 1] = -0.5
    for form, expected in (
        (Form(2, kernels.FIRST), lost),
        (Form(2, kernels.LEAST), lost),
        (Form(2, kernels.MEAN), 0.0),
        (Form(2, kernels.BOUND, beta=-2.0), lost),
        (Form(2, kernels.LEAST, dropped=0), 0.0),
    ):
        assert shortfall(problem, values, form) == pytest.approx(expected, abs=2e-6), form
    values[:, 0] = 0.0, 1.0  # right, right, left: from the first two states it goes round for ever
    values[0, 1], values[1, 1] = 0.0, (0.0, 1.0)
    assert shortfall(problem, values, Form(2, kernels.FIRST)) == pytest.approx(lost, abs=2e-6)


def test_a_seed_that_diverges_has_no_numbers_from_there_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None in JSON, in the measures of every form of every problem."""
    asked: list[Any] = []

    def curve_of(problem: Problem, form: Form, sweeps: int, seed: int) -> Any:
        asked.append((form, sweeps, seed))
        return np.array([[1.0, np.inf, 2.0], [np.inf, 1.0, 2.0], [-np.inf, 1.0, 2.0], [NAN, 1.0, 2.0]])

    workers: list[int] = []

    def pool(count: int) -> ThreadPoolExecutor:
        workers.append(count)
        return ThreadPoolExecutor(1)

    monkeypatch.setattr(poisoning, "curve", curve_of)
    monkeypatch.setattr(poisoning, "ThreadPoolExecutor", pool)
    monkeypatch.setattr(poisoning, "problems", lambda: {"P": chain, "Q": chain})
    monkeypatch.setattr(poisoning, "FORMS", {"one": Form(1), "two": Form(2)})
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    found = poisoning.measures(tmp_path, "smoke", [])
    seed = [[1.0, None, 2.0], *[[None] * 3] * 3]
    size = sum(map(abs, chain().optimum.ravel().tolist())) / 8.0
    assert found == {
        name: {"size": pytest.approx(size), "curves": {"one": [seed] * 3, "two": [seed] * 3}} for name in ("P", "Q")
    }
    assert sorted(asked[:3], key=lambda one: int(one[2])) == [(Form(1), 50, seed) for seed in range(3)]
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    poisoning.curves_of(tmp_path, "P", chain(), "one", "smoke")
    assert workers == [1, 1, 1, 1, 7]


@pytest.mark.parametrize(
    ("penalised", "verdict"),
    [
        ((2.0, 2.0), "undecided"),  # no change at all: neither end of the interval is off 0
        ((1.5, 2.5), "undecided"),
        ((3.0, 3.0), "does not reproduce"),
        ((1.0, 1.0), "reproduces"),
        ((2.9, 3.1), "does not reproduce"),
        ((1.1, 0.9), "reproduces"),
    ],
)
def test_a_change_counts_from_the_end_of_its_interval_on(penalised: tuple[float, float], verdict: str) -> None:
    def ends(*errors: float) -> Any:
        return [[[9.0, 9.0, 9.0], [-error, error, 0.0]] for error in errors]

    (found,) = verdicts({"P": {"ensemble, no penalty": ends(2.0, 2.0), "RE-SAC": ends(*penalised)}})
    assert found.verdict == verdict
