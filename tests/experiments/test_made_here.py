"""What an analysis computes or keeps itself: costs, critics of a known function, files of results, and their words."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from pyresac.deep.algorithms.resac import RESACOptions
from pyresac.deep.learner import Learner
from pyresac.experiments import corridor_rareness, cost, uncertainty
from pyresac.experiments.critic_error import aligned
from pyresac.experiments.experiment import Run, as_text
from pyresac.experiments.results_file import redraw, write_results
from pyresac.training.command_line import planned

COMMON = {"env": "Pendulum-v1", "learning_starts": 100, "update_every": 4, "updates": 2, "num_envs": 2}


def test_a_kind_of_run_is_timed_once_and_every_run_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates begin after the first steps, so many every so many; a run that ends before them has none."""
    rates = {"sac": (2.0, 3.0), "td3": (5.0, 7.0)}
    timed: list[str] = []

    def rates_of(config: Any) -> tuple[float, float]:
        timed.append(config.algorithm)
        return rates[config.algorithm]

    monkeypatch.setattr(cost, "_rates", rates_of)
    monkeypatch.setattr(cost, "_checkpoint_bytes", lambda config: config.run.steps)
    runs = [
        Run("one", {**COMMON, "algorithm": "sac", "seed": 0, "steps": 1_000}),
        Run("two", {**COMMON, "algorithm": "sac", "seed": 1, "steps": 60}),
        Run("three", {**COMMON, "algorithm": "td3", "seed": 0, "steps": 1_000}),
    ]
    assert planned(runs[0].flags)[1].options.update_every == 4
    found = cost.cost_of(runs)
    assert timed == ["sac", "td3"]
    updates = 900 / 4 * 2
    seconds = (1_000 * 2.0 + updates * 3.0) + 60 * 2.0 + (1_000 * 5.0 + updates * 7.0)
    assert found.core_hours == pytest.approx(seconds / 3600.0)
    assert found.disk_bytes == 2_060


def test_rates_are_of_the_steps_after_the_first_ones_and_of_each_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    worked: list[int] = []
    monkeypatch.setattr(time, "process_time", lambda: 6.0 * len(worked) + 100.0)
    assert cost._seconds(lambda: worked.append(1)) == 6.0
    assert len(worked) == 15 + 60
    monkeypatch.setattr(cost, "_seconds", lambda work: 8.0)
    config: Any = SimpleNamespace()
    trainee: Any = SimpleNamespace(task=SimpleNamespace(copies=4))
    assert cost._timed(trainee, config) == (2.0, 8.0)


@pytest.mark.parametrize(("buffer", "steps", "rows"), [(50, 70, 50), (70, 50, 50)])
def test_checkpoints_hold_a_buffer_of_what_was_met(
    buffer: int, steps: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainee = SimpleNamespace(buffer=SimpleNamespace(widths=SimpleNamespace(row=11)))
    monkeypatch.setattr(cost, "build", lambda config: trainee)
    config: Any = SimpleNamespace(
        options=SimpleNamespace(buffer_size=buffer), run=SimpleNamespace(steps=steps, keep_checkpoints=3)
    )
    assert cost._checkpoint_bytes(config) == 3 * rows * 11 * 4


# --- errors and rareness


def test_heads_whose_mean_is_constant_are_shifted_alone() -> None:
    found = aligned(np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([0.0, 10.0]))
    assert found.tolist() == [[4.0, 5.0], [6.0, 5.0]]


def test_two_states_are_enough_for_a_group_and_one_is_not() -> None:
    states, groups = np.array([[0.0, 0.0], [5.0, 1.0]]), np.array([[1, 0], [2, 0]])
    reference, of = np.array([[0.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), np.array([[1, 0], [1, 0], [2, 0]])
    found = corridor_rareness.grouped_rareness(states, groups, reference, of)
    assert np.isfinite(found).tolist() == [True, False]


# --- uncertainty


def test_critics_of_a_known_function_have_these_networks_and_this_data(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    given: list[Any] = []
    begin = Learner.__init__

    def noted(self: Learner, algorithm: Any, **rest: Any) -> None:
        made.append((self, algorithm.options, rest))
        begin(self, algorithm, **rest)

    plain = uncertainty._values
    monkeypatch.setattr(Learner, "__init__", noted)
    monkeypatch.setattr(uncertainty, "_values", lambda *both: given.append(both[1]) or plain(*both))
    found = uncertainty.measured(64, 0.5, 0, 3)
    ((learner, options, rest),) = made
    expected = RESACOptions(
        ensemble_size=10, hidden=(64, 64), actor_hidden=(8,), critic_lr=1e-3, beta_ood=0.0, batch_size=128
    )
    assert options == expected
    assert {name: rest[name] for name in ("actions", "dense", "categories", "log_volume", "seed")} == {
        "actions": 1,
        "dense": 2,
        "categories": (),
        "log_volume": 0.0,
        "seed": 3,
    }
    generator = np.random.default_rng([3, 64, 500])
    assert np.array_equal(given[0], generator.uniform(-1.0, 1.0, (64, 3)))
    # the data's noise comes in between
    generator.standard_normal(64)
    assert np.array_equal(given[1], generator.uniform(-1.0, 1.0, (2_000, 3)))
    norms = [float(norm) for norm in learner.target.weight_norms()]
    assert found["κ"] == pytest.approx(sum(norms) / len(norms), rel=1e-6, abs=0)
    inputs = np.array([[0.5, 0.25, -0.5], [-0.25, 1.0, 0.75]])
    assert uncertainty.truth(inputs).tolist() == pytest.approx([math.sin(1.5) - 0.125, math.sin(-0.75) + 0.75])


def test_an_interval_of_a_correlation_is_of_500_resamples() -> None:
    x, y = np.random.default_rng(7).normal(size=(2, 25))
    generator = np.random.default_rng(0)
    draws = [generator.integers(25, size=25) for _ in range(500)]
    ordered = sorted(float(spearmanr(x[rows], y[rows]).statistic) for rows in draws)
    r, low, high = uncertainty.correlation(x, y)
    assert r == pytest.approx(float(spearmanr(x, y).statistic))
    # of 499 steps between 500 values, 12.475 from either end
    assert low == pytest.approx(0.525 * ordered[12] + 0.475 * ordered[13])
    assert high == pytest.approx(0.525 * ordered[487] + 0.475 * ordered[486])


def disentangled() -> dict[str, Any]:
    """As the paper says: Γ_epi goes with data alone and κ with noise alone; the error with all."""
    return {
        uncertainty.name_of(samples, noise, seed): {
            "Γ_epi at data": 0.25 + seed,
            "Γ_epi away": 1.0 / samples,
            "κ": 10.0 * noise,
            "error": samples + 100.0 * noise + seed,
        }
        for samples, noise, seed in uncertainty.grid_of("smoke")
    }


def test_tables_of_uncertainty_have_each_measure_by_data_and_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its file goes on from the file alone, although there is no plan of runs."""
    outcome = write_results(tmp_path, "uncertainty", "smoke", disentangled())
    first, *means = outcome.tables
    rows = {label: list(cells) for label, cells in first.rows}
    assert list(rows) == ["Γ_epi at data", "Γ_epi away", "κ", "error"]
    assert rows["Γ_epi away"][0] == "-1.00 [-1.00, -1.00]"
    assert rows["Γ_epi away"][1].startswith("+0.00 [-0.")
    assert rows["κ"][0].startswith("+0.00 [-0.")
    assert rows["κ"][1] == "+1.00 [+1.00, +1.00]"
    assert first.note == "rank correlation over 32 trainings [95 %, bootstrap]"
    assert [one.verdict for one in outcome.findings] == ["reproduces", "undecided", "reproduces"]
    assert "Γ_epi away from data with log n: -1.00 [-1.00, -1.00]" in outcome.findings[0].found
    assert [table.title for table in means] == [f"{name}, mean over seeds" for name in rows]
    assert list(means[3].columns) == ["σ = 0", "σ = 0.5", "σ = 1", "σ = 2"]
    assert [(label, list(cells)) for label, cells in means[3].rows] == [
        (f"n = {n}", [f"{n + 100.0 * noise + 0.5:.4g}" for noise in (0.0, 0.5, 1.0, 2.0)])
        for n in (64, 256, 1024, 4096)
    ]
    assert {cell for _, cells in means[0].rows for cell in cells} == {"0.75"}
    path = tmp_path / "uncertainty" / "smoke.json"
    before = path.read_bytes()
    assert "planned" not in json.loads(before)
    monkeypatch.setattr(uncertainty, "conclude", lambda *_: outcome)
    assert redraw(tmp_path) == ([path], [])
    assert path.read_bytes() == before


def test_a_file_of_results_is_text_for_people_and_is_let_go(tmp_path: Path) -> None:
    assert as_text({"λ": {"x": [1.0, 2.0]}}) == '{\n "λ": {\n  "x": [1.0, 2.0]\n }\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_text({"x": math.nan})
    if Path("/proc/self/fd").is_dir():
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(2):
            write_results(tmp_path, "noise", "smoke", {})
        assert len(os.listdir("/proc/self/fd")) == before


def test_trainings_of_uncertainty_are_every_cell_with_every_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uncertainty, "measured", lambda *given: {"given": list(given)})
    found = uncertainty.measures(tmp_path, "smoke", [])
    assert list(found) == list(disentangled())
    assert found["n256 sigma0.5 seed1"] == {"given": [256, 0.5, 50, 1]}
