"""Measures and tables of the experiments that train, from numbers by hand: which number stands where, and of what."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from pyresac.experiments import corridor, corridor_rareness, deep_runs, nonstationary, oracle, rareness, returns
from pyresac.experiments.critic_error import errors
from pyresac.experiments.experiment import Run
from pyresac.experiments.statistics import improvement_interval, interval
from pyresac.tasks.task import Played
from pyresac.tasks.variation import Variation

RUN = Run("one", {})

# four decisions and two heads; the mean head has mean 1 and deviation 1, the returns 20 and 10: aligned, v is 10 + 10·v
HEADS = np.array([[1.0, 2.5, 2.0, 5.0], [-1.0, 1.5, -2.0, -1.0]])
EARNED = np.array([10.0, 30.0, 30.0, 10.0])
ALIGNED_ERROR = [10.0, 5.0, 0.0, 10.0]
"""Of the nearest head; the mean head's is 0, 0, 20, 20."""
RAW_ERROR = [9.0, 27.5, 28.0, 5.0]
"""Of the nearest head; the mean head's is 10, 28, 30, 8."""


def finished(
    monkeypatch: pytest.MonkeyPatch, dense: Any, codes: Any = None, heads: Any = HEADS
) -> tuple[Any, list[Any]]:
    """Let every run be this one, finished, with these decisions in its evaluation; what it is told to play is noted."""
    asked: list[Any] = []
    codes = np.empty((len(dense), 0), np.int64) if codes is None else codes
    played = Played({"return": np.zeros(1)}, dense, codes, np.empty((len(dense), 1)), np.resize(EARNED, len(dense)))
    run = SimpleNamespace(play=lambda *given: asked.append(given) or played)
    monkeypatch.setattr(deep_runs, "restored", lambda folder, one: run)
    for module in (oracle, rareness, corridor_rareness):
        monkeypatch.setattr(module, "values_of", lambda run, played: heads)
    return run, asked


def trained_on(monkeypatch: pytest.MonkeyPatch, module: Any, dense: Any, codes: Any = None) -> None:
    """Let the replay buffer of every run hold these states."""
    states = SimpleNamespace(dense=torch.tensor(dense), codes=None if codes is None else torch.tensor(codes))
    monkeypatch.setattr(module, "trained_on", lambda run: states)


def played_by(play: Any) -> Any:
    """A run whose episodes, on a task made for them, are what `play` says."""
    problem = SimpleNamespace(env="Some-v0", keywords=dict, variation=Variation(gravity="2"))
    return SimpleNamespace(
        trainee=SimpleNamespace(play=play), config=SimpleNamespace(problem=problem), actor="the actor"
    )


@pytest.mark.parametrize(
    ("scale", "seeds", "steps", "tasks"),
    [("smoke", {8}, 12_000, 1), ("cpu", {8, 16, 24}, 200_000, 2), ("paper", {8, 16, 24}, 8_000_000, 4)],
)
def test_every_algorithm_is_run_with_the_seeds_and_steps_of_the_scale(
    scale: Any, seeds: set[int], steps: int, tasks: int
) -> None:
    labels = {"SAC", "TD3", "DSAC", "BAC", "REDQ", "SAC-N", "RE-SAC v1", "RE-SAC B0"}
    labels |= {"TQC"} if scale == "paper" else {"TQC, fixed fractions"}
    cells = deep_runs.stationary_cells(scale)
    assert len({one.run.name for one in cells}) == len(cells) == len(labels) * len(seeds) * tasks
    assert {one.label for one in cells} == labels
    for one in [*cells, *nonstationary.cells(scale)]:
        assert one.run.options["steps"] == steps
        assert one.run.options["seed"] == one.seed
        assert one.run.options["env"] == one.task
    assert {one.seed for one in cells} == {one.seed for one in nonstationary.cells(scale)} == seeds


def test_only_a_finished_run_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unfinished one could be read as well: it has a checkpoint."""
    monkeypatch.setattr(deep_runs, "restore_run", lambda path: path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "config.json").write_text("{}")
    assert deep_runs.restored(tmp_path, RUN) is None
    (tmp_path / "one" / "result.json").write_text("{}")
    assert deep_runs.restored(tmp_path, RUN) == tmp_path / "one"
    monkeypatch.undo()
    assert deep_runs.restored(tmp_path, RUN) is None, "its config.json cannot be read"


def test_the_bound_is_two_deviations_below_the_mean() -> None:
    """Of heads 0 and 2 it is 1 − 2·1 = −1, six from a return of 5."""
    assert errors(np.array([[0.0], [2.0]]), np.array([5.0])).lcb == 6.0


def test_intervals_are_of_95_per_cent() -> None:
    """The mean of 1,600 draws, half of them 1, has the deviation 1/80, so 95 % of them are within 1.96/80 of a half."""
    sample = np.repeat([0.0, 1.0], 800)[:, None]
    mean = interval(sample, np.random.default_rng(0), lambda scores: np.asarray(scores.mean(-1)))
    odds = improvement_interval(sample, np.array([[0.5]]), np.random.default_rng(0))
    for found in (mean, odds):
        assert found.point == 0.5
        # of 94 % it would be 3.76 and of 96 % 4.11; the ends of 2,000 draws have an error of 0.06 each
        assert 80.0 * (found.high - found.low) == pytest.approx(2 * 1.96, abs=0.1)
        assert 80.0 * (0.5 - found.low) == pytest.approx(1.96, abs=0.15)


def test_a_decision_has_the_aligned_error_of_its_nearest_head_and_either_rareness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, asked = finished(monkeypatch, np.array([[0.0], [1.0], [2.0], [5.0]], np.float32))
    trained_on(monkeypatch, rareness, [[10.0], [14.0]])
    found = rareness.decisions(run, 7)
    assert asked == [(7, 5_000)]
    assert found["error"].tolist() == pytest.approx(ALIGNED_ERROR)
    # along a line it is the distance in deviations: from 2 in √(14/3), from 12 in √8
    away = {"evaluation": (2.0, 14.0 / 3.0), "training": (12.0, 8.0)}
    for reference, (mean, variance) in away.items():
        expected = [abs(state - mean) / variance**0.5 for state in (0.0, 1.0, 2.0, 5.0)]
        assert found[reference].tolist() == pytest.approx(expected, rel=1e-5, abs=1e-12)


def test_the_correlation_is_above_0_where_errors_grow_with_rareness() -> None:
    rising = np.array([0.1, 0.2, 0.3])
    found = rareness.summary({"error": 10.0 * rising, "evaluation": rising, "training": 1.0 - rising})
    assert found["evaluation"]["correlation"] == pytest.approx(1.0)
    assert found["training"]["correlation"] == pytest.approx(-1.0)
    assert found["evaluation"]["cells"]["cell"] == [6, 12, 18], "sixty in a unit of rareness"
    assert found["training"]["cells"]["cell"] == [42, 48, 54]


def by_rareness(evaluation: Any, training: Any) -> dict[str, Any]:
    """Measures of a run: by reference, the count and the error of decisions by their cell."""

    def cells(given: dict[int, tuple[int, float]]) -> dict[str, Any]:
        count, error = zip(*given.values(), strict=True)
        return {"correlation": 0.5, "cells": {"cell": list(given), "count": list(count), "error": list(error)}}

    return {"evaluation": cells(evaluation), "training": cells(training)}


def test_each_bin_has_its_own_place_in_table_and_figure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of sixty cells in a unit: by the evaluation the rarest decision is in the cell before 3, by training before 6."""
    drawn: list[Any] = []
    plain = rareness.new_figure
    monkeypatch.setattr(rareness, "new_figure", lambda *given: drawn.append(plain(*given)) or drawn[-1])
    measures = {
        "sac-Hopper-v5-seed8": by_rareness(
            {0: (1, 10.0), 29: (3, 2.0), 100: (2, 5.0), 179: (4, 7.0)}, {59: (1, 1.0), 60: (1, 2.0), 359: (1, 3.0)}
        ),
        "sac-Hopper-v5-seed16": by_rareness({3: (2, 6.0), 100: (8, 1.0)}, {60: (9, 4.0)}),
        "re-sac-b0-Hopper-v5-seed8": by_rareness({45: (1, 8.0)}, {200: (1, 9.0)}),
    }
    outcome = rareness.conclude(measures, "cpu", tmp_path)
    evaluation, training = outcome.tables
    assert "evaluation" in evaluation.title
    assert "training" in training.title
    assert evaluation.columns == ("0.0–0.5", "0.5–1.0", "1.0–1.5", "1.5–2.0", "2.0–2.5", "2.5–3.0")
    assert training.columns == ("0.0–1.0", "1.0–2.0", "2.0–3.0", "3.0–4.0", "4.0–5.0", "5.0–6.0")
    # a seed's mean in a bin is over decisions, (1·10 + 3·2)/4 = 4; two seeds have an equal part in the table
    assert dict(evaluation.rows) == {
        "SAC": ("5.0 [4.0, 6.0]", "", "", "3.0 [1.0, 5.0]", "", "7.0"),
        "RE-SAC B0": ("", "8.0", "", "", "", ""),
    }
    assert dict(training.rows) == {
        "SAC": ("1.0", "3.0 [2.0, 4.0]", "", "", "", "3.0"),
        "RE-SAC B0": ("", "", "", "9.0", "", ""),
    }
    # thirty bins, of 6 and of 12 cells; here the decisions of both seeds are taken together
    sac = [axes.lines[0] for axes in drawn[0].axes]
    assert [line.get_label() for line in sac] == ["SAC", "SAC"]
    assert 60.0 * sac[0].get_xdata() == pytest.approx([3.0, 27.0, 99.0, 177.0])
    assert sac[0].get_ydata().tolist() == pytest.approx([(10.0 + 2 * 6.0) / 3.0, 2.0, (2 * 5.0 + 8 * 1.0) / 10.0, 7.0])
    assert 60.0 * sac[1].get_xdata() == pytest.approx([54.0, 66.0, 354.0])
    assert sac[1].get_ydata().tolist() == pytest.approx([1.0, (2.0 + 9 * 4.0) / 10.0, 3.0])


def test_raw_errors_are_of_the_values_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    _, asked = finished(monkeypatch, np.zeros((4, 1)))
    found = oracle.measures(Path(), "cpu", [RUN])["one"]
    assert asked == [(50, 5_000)]
    assert found["raw"]["oracle"] == pytest.approx(sum(RAW_ERROR) / 4.0)
    assert found["raw"]["bias"] == pytest.approx(1.0 - 20.0)
    assert found["aligned"]["oracle"] == pytest.approx(sum(ALIGNED_ERROR) / 4.0)
    assert found["aligned"]["bias"] == pytest.approx(0.0, abs=1e-12)


def test_the_papers_errors_stand_beside_the_nearest_head_of_aligned_values(tmp_path: Path) -> None:
    columns = ("oracle", "mean", "lcb", "minimum", "bias", "within", "between")
    measures = {
        "sac-Hopper-v5-seed8": {
            "raw": {column: 10.0 + place for place, column in enumerate(columns)},
            "aligned": {column: 1.0 + place for place, column in enumerate(columns)},
        }
    }
    under_map, raw = oracle.conclude(measures, "smoke", tmp_path).tables
    assert under_map.title.endswith("under the published affine map")
    assert raw.title.endswith("as they are")
    assert tuple(under_map.columns) == columns[:4], "the map leaves no bias"
    assert tuple(raw.columns) == columns
    assert dict(under_map.rows) == {"SAC": ("1.0", "2.0", "3.0", "4.0")}
    assert dict(raw.rows) == {"SAC": ("10.0", "11.0", "12.0", "13.0", "14.0", "15.0", "16.0")}
    assert under_map.paper["SAC"] == ("15.5",), "under the first column"
    assert not raw.paper


@pytest.mark.parametrize(("scale", "episodes"), [("smoke", 8), ("cpu", 80)])
def test_both_kinds_of_tasks_are_played_as_published(
    scale: Any, episodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its evaluation begins with the seed 5,000."""
    monkeypatch.setattr(nonstationary, "BoxTask", lambda env, keywords, copies, seed, variation: variation.test_tasks)
    asked: list[Any] = []

    def play(count: int, seed: int, actor: str, where: str) -> Any:
        asked.append((count, seed, actor, where))
        return SimpleNamespace(returns=np.array([4.0, 8.0]) if where == "training" else np.array([1.0, 2.0]))

    monkeypatch.setattr(deep_runs, "restored", lambda folder, one: played_by(play))
    found = nonstationary.measures(Path(), scale, [RUN])["one"]
    assert found == {"training": (6.0, 4.0), "held-out": (1.5, 1.0)}
    assert sorted(asked) == [(episodes, 5_000, "the actor", "held-out"), (episodes, 5_000, "the actor", "training")]


def under_gravity(folder: Path, task: str, **of: tuple[float, float, float, float]) -> Any:
    """The outcome for three runs of each algorithm with numbers in the order of the table."""
    measures = {
        f"{name.replace('_', '-')}-{task}-seed{seed}": {"held-out": row[2:], "training": row[:2]}
        for name, row in of.items()
        for seed in (8, 16, 24)
    }
    return nonstationary.conclude(measures, "paper", folder)


def test_the_worst_quartile_on_held_out_tasks_decides(tmp_path: Path) -> None:
    """All other numbers say the contrary."""
    low, high = (10.0, 5.0, 20.0, 9.0), (300.0, 100.0, 200.0, 8.0)
    outcome = under_gravity(tmp_path, "Ant-v5", re_sac_b0=low, sac=high)
    assert outcome.findings[0].verdict == "reproduces"
    assert under_gravity(tmp_path, "Ant-v5", re_sac_b0=high, sac=low).findings[0].verdict == "does not reproduce"
    (table,) = outcome.tables
    assert table.columns == ("training tasks, mean", "worst quartile", "held-out tasks, mean", "worst quartile")
    assert dict(table.rows)["SAC"] == ("300 [300, 300]", "100 [100, 100]", "200 [200, 200]", "8 [8, 8]")
    assert table.paper["SAC"] == ("3762 ± 455", "1736"), "on training tasks, as published"


@pytest.mark.parametrize(("tqc", "verdict"), [(19.0, "reproduces"), (21.0, "does not reproduce")])
def test_a_tenth_of_sac_on_training_tasks_is_a_collapse(tqc: float, verdict: str, tmp_path: Path) -> None:
    """All other numbers say the contrary."""
    other = 400.0 if verdict == "reproduces" else 1.0
    outcome = under_gravity(tmp_path, "Hopper-v5", tqc=(tqc, other, other, other), sac=(200.0, 100.0, 100.0, 100.0))
    assert outcome.findings[1].verdict == verdict


def test_the_long_return_is_the_mean_of_five_episodes_of_5000_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(returns, "BoxTask", lambda *given: made.append(given) or "the task")

    def play(*given: Any) -> Any:
        made.append(given)
        return SimpleNamespace(returns=np.array([1.0, 2.0, 3.0, 4.0, 40.0]))

    assert returns.long_return(played_by(play)) == 10.0
    assert made == [("Some-v0", {"max_episode_steps": 5_000}, 1, 0), (5, 0, "the actor", "the task")]


def test_a_figure_of_returns_has_the_curves_of_its_task_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(returns, "draw_curves", lambda path, _, __, groups, *___: drawn.update({path.name: groups}))
    finals = {"sac-Hopper-v5-seed8": 1.0, "sac-Hopper-v5-seed16": 2.0, "sac-HalfCheetah-v5-seed8": 3.0}
    finals["td3-HalfCheetah-v5-seed8"] = 4.0
    measures = {
        name: {"curve": {"step": [0.0, 1.0, 2.0, 3.0], "eval_return": [9.0, 9.0, 9.0, final]}, "long": 70.0 + final}
        for name, final in finals.items()
    }
    outcome = returns.conclude(measures, "cpu", tmp_path)
    assert tuple(outcome.figures) == tuple(drawn) == ("returns-Hopper-v5.png", "returns-HalfCheetah-v5.png")
    found = [
        {label: [run.columns["eval_return"][-1] for run in group.runs] for label, group in groups.items()}
        for groups in drawn.values()
    ]
    assert found == [{"SAC": [1.0, 2.0]}, {"SAC": [3.0], "TD3": [4.0]}]
    assert [table.title for table in outcome.tables] == ["Hopper-v5", "HalfCheetah-v5"]
    assert dict(outcome.tables[1].rows) == {"SAC": ("3 [3, 3]", "73"), "TD3": ("4 [4, 4]", "74")}


def test_decisions_on_the_corridor_are_of_groups_known_by_both_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three at stop 1, one way; two at stop 2, where one was trained on; one at stop 1, the other way."""
    headways = [[100.0, 300.0], [200.0, 250.0], [450.0, 100.0], [90.0, 90.0], [70.0, 70.0], [400.0, 400.0]]
    speeds = [[5.0], [9.0], [6.0], [6.0], [5.0], [1.0]]
    places = ([1, 0], [1, 0], [1, 0], [2, 0], [2, 0], [1, 1])
    codes = np.array([[bus, *place, 3] for bus, place in enumerate(places)])
    run, asked = finished(monkeypatch, np.hstack([headways, speeds]), codes, np.hstack([HEADS, HEADS[:, :2]]))
    seen = np.array([[0.0, 0.0], [300.0, 100.0], [100.0, 500.0], [20.0, 10.0], [1.0, 2.0], [3.0, 1.0]])
    seen_codes = [[0, *place, 0] for place in ([1, 0], [1, 0], [1, 0], [2, 0], [1, 1], [1, 1])]
    trained_on(monkeypatch, corridor_rareness, np.hstack([seen, np.arange(6.0)[:, None]]), seen_codes)
    found = corridor_rareness.decisions(run, 7)
    assert asked == [(7, 5_000)]
    assert found["error"].tolist() == RAW_ERROR[:3], "as they are, without the map"
    for name, reference in (("evaluation", np.array(headways[:3])), ("training", seen[:3])):
        inverse = np.linalg.inv(np.cov(reference.T) + 1e-6 * np.eye(2))
        away = [np.array(state) - reference.mean(0) for state in headways[:3]]
        assert found[name].tolist() == pytest.approx([float(np.sqrt(one @ inverse @ one)) for one in away])
    own = corridor_rareness.measures(Path(), "cpu", [RUN])["one"]
    assert asked[1:] == [(10, 5_000)]
    assert own["error"] == pytest.approx(sum(RAW_ERROR[:3]) / 3.0)


@pytest.mark.parametrize(
    ("ours", "sac", "verdict", "words"),
    [
        ((10.0, 20.0, 30.0), (40.0, 120.0), "reproduces", "20 (10 to 30) for K = 10, 80 (40 to 120) for SAC, 75 %"),
        ((90.0, 150.0, 120.0), (40.0, 80.0), "does not reproduce", "60 (40 to 80) for SAC, -100 %"),
        ((10.0, 20.0, 60.0), (60.0, 60.0), "undecided", "30 (10 to 60) for K = 10, 60 (60 to 60) for SAC, 50 %"),
    ],
)
def test_resac_is_nearer_than_sac_on_the_corridor_only_where_all_seeds_say_so(
    ours: Any, sac: Any, verdict: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(corridor_rareness, "draw", lambda *given: None)
    measures = {
        f"{name}-corridor-seed{seed}": {**by_rareness({0: (1, 1.0)}, {0: (1, 2.0)}), "error": error}
        for name, given in (("re-sac-k=10", ours), ("sac", sac))
        for seed, error in zip((8, 16, 24), given, strict=False)
    }
    measures["re-sac-k=2-corridor-seed8"] = {**by_rareness({0: (1, 1.0)}, {0: (1, 2.0)}), "error": 1.0}
    outcome = corridor_rareness.conclude(measures, "cpu", tmp_path)
    assert outcome.findings[1].verdict == verdict
    assert f"{words} less, 3 and 2 seeds" in outcome.findings[1].found
    assert [dict(table.rows)["RE-SAC K=2"][0] for table in outcome.tables] == ["1.0", "2.0"]


def test_rules_on_the_corridor_stand_once_below_what_was_learned(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From the files of three runs: learned days are a run's own, a rule's are the same in each."""
    levels: list[Any] = []
    monkeypatch.setattr(corridor, "draw_curves", lambda *given: levels.append(given[-1]))
    banded: list[list[str]] = []

    def bands(groups: Any, *_: Any) -> Any:
        banded.append([group.name for group in groups])
        return deep_runs.new_figure("empty", 1.0, 1.0)

    monkeypatch.setattr(corridor, "value_bands", bands)

    def days(reward: float, wait: float, travel: float) -> dict[str, list[float]]:
        """Two, whose means these are."""
        means = {"reward": reward, "wait": wait, "travel": travel}
        return {measure: [0.5 * mean, 1.5 * mean] for measure, mean in means.items()}

    learned = {"re-sac-k=2-corridor-seed8": -123_456.0, "sac-corridor-seed8": -4e5, "sac-corridor-seed16": -2e5}
    for name, reward in learned.items():
        folder = tmp_path / name
        folder.mkdir()
        rules = {"none": days(-831_991.0, 3.5, 10.25), "zeal": days(-5e5, 1234.5, 12.0)}
        own = days(reward, 4.0 - reward / 1e6, 15.0)
        values = {"q": reward / 1e3, "sigma": 40.0, "earned": None if name == "sac-corridor-seed16" else 7.0}
        content = {"controllers": {"none": rules["none"], "learned": own, "zeal": rules["zeal"]}, "values": values}
        (folder / "result.json").write_text(json.dumps(content))
        (folder / "metrics.csv").write_text("step,eval_return,q_eval,sigma_eval,earned_eval\n4000,1,2,3,4\n")
    runs = [one for one in corridor.runs("cpu") if one.name in learned]
    measures = corridor.measures(tmp_path, "cpu", runs[::-1])
    assert len(measures) == 3
    found, values_table = corridor.conclude(measures, "cpu", tmp_path).tables
    assert list(found.rows) == [
        ("RE-SAC K=2", ("-0.1235", "4.12", "15.00")),
        ("SAC", ("-0.3000 [-0.4000, -0.2000]", "4.30 [4.20, 4.40]", "15.00 [15.00, 15.00]")),
        ("none", ("-0.8320", "3.50", "10.25")),
        ("zeal", ("-0.5000", "1,234.50", "12.00")),
    ]
    assert levels == [{"none": -831_991.0}], "of the rules whose level is shown"
    assert banded == [["SAC"]], "the algorithms of the figure that were run"
    alone = {name: own for name, own in measures.items() if name == "re-sac-k=2-corridor-seed8"}
    assert corridor.conclude(alone, "cpu", tmp_path).figures
    assert banded[1:] == [["RE-SAC K=2"]], "where none of them was, all that were"
    # only of runs where it is known what was earned
    assert list(values_table.rows) == [("RE-SAC K=2", ("-123", "40", "7")), ("SAC", ("-400", "40", "7"))]
