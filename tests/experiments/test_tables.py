"""Every experiment that trains: its analysis of finished runs, and verdicts that go both ways."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.experiments import (
    corridor,
    corridor_rareness,
    deep_runs,
    noise,
    nonstationary,
    parts,
    rareness,
    returns,
    sensitivity,
)
from pyresac.experiments.deep_runs import Cell, cell
from pyresac.experiments.experiment import Experiment, experiment
from pyresac.experiments.results_file import redraw, write_results
from pyresac.train import main

CORRIDOR = ("corridor", "corridor-rareness")
SHORT = {
    "eval_episodes": 1,
    "final_episodes": 2,
    "eval_every": 80,
    "checkpoint_every": 80,
    "buffer_size": 400,
    "learning_starts": 80,
    "batch_size": 16,
}


def short_cell(label: str, settings: dict[str, Any], task: str, seed: int, steps: int, every: int) -> Cell:
    """A run of 160 steps, with a few updates, in the place of one of thousands."""
    whole = cell(label, settings, task, seed, 160, 80)
    return replace(whole, run=replace(whole.run, options={**whole.run.options, **SHORT}))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (deep_runs, sensitivity, nonstationary, noise, parts, corridor):
        monkeypatch.setattr(module, "cell", short_cell)
    monkeypatch.setitem(nonstationary.EPISODES, "smoke", 4)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "name", ["returns", "oracle", "rareness", "sensitivity", "parts", "nonstationary", "noise", *CORRIDOR]
)
def test_finished_runs_become_tables_and_a_missing_one_is_left_out(name: str, tmp_path: Path) -> None:
    if name not in ("sensitivity", *CORRIDOR):
        pytest.importorskip("mujoco", reason="the tasks are MuJoCo's: pip install 'pyresac[mujoco]'")
    chosen: Experiment = experiment(name)
    if name in ("returns", "oracle", "rareness"):
        runs = [one.run for one in deep_runs.stationary_cells("smoke", ("SAC", "RE-SAC B0"))]
    else:
        runs = chosen.runs("smoke")
    assert len(runs) >= 2
    assert chosen.measures(tmp_path, "smoke", runs) == {}
    empty = chosen.conclude({}, "smoke", tmp_path)
    assert {finding.verdict for finding in empty.findings} == {"not tried at this scale"}
    for run in runs[:2]:
        assert main([*run.flags, "--run-dir", str(tmp_path / run.name)]) == 0
    assert set(chosen.measures(tmp_path, "smoke", runs[1:])) == {runs[1].name}
    measures = chosen.measures(tmp_path, "smoke", runs)
    assert set(measures) == {run.name for run in runs[:2]}
    outcome = write_results(tmp_path / "results", name, "smoke", measures)
    assert outcome.findings
    assert outcome.tables
    json.dumps(outcome.plain(), allow_nan=False)
    for table in outcome.tables:
        assert table.rows
        assert all(len(cells) == len(table.columns) for _, cells in table.rows)
    folder = tmp_path / "results" / name
    assert all((folder / "figures" / figure).stat().st_size > 10_000 for figure in outcome.figures)
    # without the runs, the file alone gives the same again
    first = (folder / "smoke.json").read_bytes()
    shutil.rmtree(folder / "figures")
    assert redraw(tmp_path / "results") == ([folder / "smoke.json"], [])
    assert (folder / "smoke.json").read_bytes() == first
    assert all((folder / "figures" / figure).stat().st_size > 10_000 for figure in outcome.figures)


def test_rareness_by_training_is_by_the_buffer_of_the_run(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="the tasks are MuJoCo's: pip install 'pyresac[mujoco]'")
    one = short_cell("SAC", {"algorithm": "sac"}, "Hopper-v5", 0, 0, 0)
    assert main([*one.run.flags, "--run-dir", str(tmp_path / one.run.name)]) == 0
    run = deep_runs.restored(tmp_path, one.run)
    assert run is not None
    states = rareness.trained_on(run).dense.double().numpy()
    assert states.shape == (160, 11)
    # the first state is one that the task begins with: height 1.25, nearly at rest
    assert abs(states[0, 0] - 1.25) < 0.01
    assert np.abs(states[0, 1:]).max() < 0.01
    found = rareness.decisions(run, 2)
    assert not np.array_equal(found["training"], found["evaluation"])
    assert found["training"].shape == found["error"].shape


def gravity_numbers(ours: float, sac: float, tqc: float) -> dict[str, Any]:
    def both(mean: float) -> dict[str, list[tuple[float, float]]]:
        pairs = [(mean + seed, mean / 2 + seed) for seed in range(3)]
        return {"held-out": pairs, "training": pairs}

    return {"Hopper-v5": {"RE-SAC B0": both(ours), "SAC": both(sac), "TQC": both(tqc)}}


@pytest.mark.parametrize(
    ("ours", "sac", "tqc", "best", "collapse"),
    [
        (900.0, 100.0, 2.0, "reproduces", "reproduces"),
        (900.0, 100.0, 2000.0, "does not reproduce", "does not reproduce"),
        (100.0, 900.0, 800.0, "does not reproduce", "does not reproduce"),
        (100.0, 100.0, 80.0, "undecided", "does not reproduce"),
    ],
)
def test_verdicts_on_changing_gravity(ours: float, sac: float, tqc: float, best: str, collapse: str) -> None:
    numbers = gravity_numbers(ours, sac, tqc)
    assert nonstationary._ours_against_all(numbers).verdict == best
    assert nonstationary._collapses(numbers).verdict == collapse


def test_a_collapse_is_decided_on_hopper_and_needs_a_sac_that_earns() -> None:
    """The paper's own table has no collapse on Walker2d, 62 against 353."""
    hopper, walker = gravity_numbers(0.0, 1843.0, 19.0), gravity_numbers(0.0, 353.0, 62.0)
    found = {**hopper, "Walker2d-v5": walker["Hopper-v5"]}
    assert nonstationary._collapses(found).verdict == "reproduces"
    assert "Walker2d-v5: TQC 63, SAC 354" in nonstationary._collapses(found).found
    assert nonstationary._collapses(gravity_numbers(0.0, -1000.0, -500.0)).verdict == "undecided"


def test_another_tqc_does_not_stand_for_the_published_one() -> None:
    """Where it is asked at fixed fractions it has a row of its own, and no verdict on the paper's."""
    assert set(deep_runs.ALGORITHMS) - set(deep_runs.labels_at("paper")) == {"TQC, fixed fractions"}
    for scale in ("smoke", "cpu"):
        assert set(deep_runs.ALGORITHMS) - set(deep_runs.labels_at(scale)) == {"TQC"}
    for scale, labels in nonstationary.LABELS.items():
        assert set(labels) <= set(deep_runs.labels_at(scale))
    assert not {"TQC, fixed fractions"} & {*nonstationary.PAPER["Hopper-v5"], *returns.TABLE_1}
    numbers = gravity_numbers(1.0, 900.0, 800.0)
    numbers["Hopper-v5"]["TQC, fixed fractions"] = numbers["Hopper-v5"].pop("TQC")
    assert nonstationary._collapses(numbers).verdict == "not tried at this scale"


@pytest.mark.parametrize(
    ("gain", "harms", "helps"),
    [(-50.0, "reproduces", "does not reproduce"), (50.0, "does not reproduce", "reproduces")],
)
def test_verdicts_on_noise_are_paired_by_seed(gain: float, harms: str, helps: str) -> None:
    """The seeds differ by far more than λ_ale does, so only the pairs tell."""
    without = {8: 100.0, 16: 5000.0, 24: -3000.0}
    with_kappa = {seed: value + gain for seed, value in without.items()}
    found = {(1e-3, place): with_kappa for place in (0.0, 1.0)} | {(0.0, place): without for place in (0.0, 1.0)}
    assert noise._effect(found, 1.0, "harms", -1).verdict == harms
    assert noise._effect(found, 0.0, "helps", 1).verdict == helps
    mixed = {**found, (1e-3, 1.0): {8: 200.0, 16: 4900.0, 24: -2995.0}}
    assert noise._effect(mixed, 1.0, "harms", -1).verdict == "undecided"


def sweep_of(sweep: str, first: float, rest: float, last: float) -> dict[str, list[float]]:
    """A return for every value of a sweep: `first`, then `rest`, then `last`."""
    values = list(sensitivity.SWEEPS[sweep])
    return {values[0]: [first], **{value: [rest] for value in values[1:-1]}, values[-1]: [last]}


@pytest.mark.parametrize(
    ("two", "others", "verdict"),
    [
        (5.9, 12.0, "reproduces"),
        (6.1, 12.0, "does not reproduce"),
        (-18.1, -12.0, "reproduces"),  # where all rewards are costs, half as much again
        (-17.9, -12.0, "does not reproduce"),
    ],
)
def test_a_value_collapses_only_where_half_is_lost(two: float, others: float, verdict: str) -> None:
    """Of the mean of the others; how near to each other those are does not matter."""
    found = {"corridor": {"K": sweep_of("K", two, others + 0.1, others - 0.2)}}
    assert sensitivity._findings(found, {})[0].verdict == verdict
    del found["corridor"]["K"]["10"]
    assert sensitivity._findings(found, {})[0].verdict == "not tried at this scale", "the range needs all"


@pytest.mark.parametrize(
    ("missing", "verdict"), [(["2", "2", "2"], "reproduces"), (["2", "20"], "not tried at this scale")]
)
def test_a_value_without_a_run_collapses_only_where_every_other_has_its_runs(missing: list[str], verdict: str) -> None:
    found = {"corridor": {"K": {"5": [10.0]}}}
    assert sensitivity._findings(found, {"corridor": {"K": missing}})[0].verdict == verdict


def test_a_claim_about_a_task_is_decided_there() -> None:
    """Finding ii is of HalfCheetah alone: what Ant shows is told beside it and decides nothing."""
    collapsed, level = sweep_of("τ_ema", -90.0, 13.0, 10.0), sweep_of("τ_ema", 11.0, 13.0, 10.0)
    found = {"Ant-v5": {"τ_ema": level}, "HalfCheetah-v5": {"τ_ema": collapsed}}
    told = sensitivity._findings(found, {})[1]
    assert told.verdict == "reproduces"
    assert "Ant-v5: 11; " in told.found
    swapped = {"Ant-v5": {"τ_ema": collapsed}, "HalfCheetah-v5": {"τ_ema": level}}
    assert sensitivity._findings(swapped, {})[1].verdict == "does not reproduce"
    both = {task: {"K": sweep_of("K", -90.0, 13.0, 10.0)} for task in found}
    assert sensitivity._findings(both, {})[0].verdict == "reproduces"
    both["Ant-v5"]["K"]["2"] = [10.0]
    assert sensitivity._findings(both, {})[0].verdict == "undecided"


def around(mean: float, deviation: float) -> list[float]:
    """Three seeds with this mean and deviation."""
    return [mean - deviation * 1.5**0.5, mean, mean + deviation * 1.5**0.5]


@pytest.mark.parametrize(
    ("own", "verdict"), [(0.9, "reproduces"), (1.1, "undecided"), (3.9, "undecided"), (4.1, "does not reproduce")]
)
def test_a_value_is_the_steadiest_only_by_a_factor_of_two(own: float, verdict: str) -> None:
    sweep = {value: around(100.0, 2.0 if value == "0.1" else 5.0) for value in sensitivity.SWEEPS["λ_anc"]}
    sweep["1"] = around(70.0, own)
    found = sensitivity._findings({"Ant-v5": {"λ_anc": sweep}}, {})[3]
    assert found.verdict == verdict
    assert f"deviation {own:,.0f}; the others 2 to 5" in found.found
    del sweep["0.5"]
    assert sensitivity._findings({"Ant-v5": {"λ_anc": sweep}}, {})[3].verdict == "not tried at this scale"


@pytest.mark.parametrize(
    ("apart", "verdict"),
    [(9.9, "reproduces"), (10.1, "undecided"), (29.4, "undecided"), (29.6, "does not reproduce")],
)
def test_means_are_alike_within_one_deviation_and_not_where_chance_cannot_part_them(apart: float, verdict: str) -> None:
    """Variances 4, 100, 196, 100, 100: their mean is 10².

    With one mean a apart, F = (3·0.8·a²/4) / (3·100·5/10) = 0.004·a²; its limit, 3.478 for 4 and 10, is at a = 29.49.
    """
    deviations = (2.0, 10.0, 14.0, 10.0, 10.0)
    sweep = {
        value: around(apart * (value == "-1"), deviation)
        for value, deviation in zip(sensitivity.SWEEPS["β_end"], deviations, strict=True)
    }
    found = {"Ant-v5": {"β_end": sweep}}
    assert sensitivity._findings(found, {})[4].verdict == verdict
    sweep["-1"] = [1.0]
    assert sensitivity._findings(found, {})[4].verdict == "not tried at this scale", "one seed has no deviation"


def test_the_papers_own_sweeps_bear_out_all_findings_but_the_second() -> None:
    """Table 3 has 8,279 for τ_ema = 0 on HalfCheetah, and 8,369 ± 1,749 for 0.001: no collapse of 0 alone."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    missing: dict[str, dict[str, list[str]]] = {}
    for task, sweeps in sensitivity.PAPER.items():
        for sweep, cells in sweeps.items():
            for value, words in zip(sensitivity.SWEEPS[sweep], cells, strict=True):
                if words == "diverged":
                    missing.setdefault(task, {}).setdefault(sweep, []).append(value)
                else:
                    mean, deviation = map(float, words.split(" ± "))
                    found.setdefault(task, {}).setdefault(sweep, {})[value] = around(mean, deviation)
    verdicts = [one.verdict for one in sensitivity._findings(found, missing)]
    assert verdicts == ["reproduces", "does not reproduce", "reproduces", "reproduces", "reproduces"]


def test_sensitivitys_tables_stand_beside_the_papers(tmp_path: Path) -> None:
    """Every value's own runs, all its seeds, and the paper's cell of that task and value."""
    cells = sensitivity.cells("paper")
    place = {value: 100.0 * n for n, value in enumerate(sensitivity.SWEEPS["K"])}
    measures = {
        one.run.name: place[value] + one.seed + (5000.0 if one.task == "Ant-v5" else 0.0)
        for sweep, value, one in cells
        if sweep == "K" and not (value == "20" and one.seed == 24)
    }
    tables = {table.title: table for table in sensitivity.conclude(measures, "paper", tmp_path).tables}
    assert set(tables) == {"Ant-v5: K", "HalfCheetah-v5: K"}
    for task, offset in (("Ant-v5", 5000.0), ("HalfCheetah-v5", 0.0)):
        mean = {value: 100.0 * n + 16.0 + offset for n, value in enumerate(("2", "5", "10", "20"))}
        mean["20"] -= 4.0  # of seeds 8 and 16
        shown = {value: cell[0].split(" [")[0] for value, cell in tables[f"{task}: K"].rows}
        assert shown == {value: f"{number:,.0f}" for value, number in mean.items()}
        expected = zip(place, sensitivity.PAPER[task]["K"], strict=True)
        assert tables[f"{task}: K"].paper == {value: (cell,) for value, cell in expected}


def test_the_sweeps_set_what_they_name() -> None:
    options = {one.label: dict(one.run.options) for _, _, one in sensitivity.cells("cpu") if one.seed == 8}
    assert options["K=20"]["ensemble_size"] == 20
    assert options["anchor=0.5"]["anchor_weight"] == 0.5
    assert (options["beta=-1.5"]["beta_lcb_end"], options["beta=-1.5"]["beta_steps"]) == (-1.5, 40_000)
    assert options["independence=1"]["independence"] == 1.0
    assert options["ema=0"]["ema_rate"] == 1.0, "the policy itself"
    assert options["ema=0.001"]["ema_rate"] == 0.001
    assert (options["lambdas=0.1, 0.001"]["lambda_epi"], options["lambdas=0.1, 0.001"]["lambda_ale"]) == (0.1, 1e-3)
    swept = {"ensemble_size", "anchor_weight", "beta_lcb_end", "beta_steps", "independence", "ema_rate"}
    swept |= {"lambda_epi", "lambda_ale"}
    common = {tuple((k, str(v)) for k, v in one.items() if k not in swept) for one in options.values()}
    assert len(common) == 1, "besides what it sweeps, a run has the options of all"
    assert len(sensitivity.cells("cpu")) == 102
    assert {one.seed for _, _, one in sensitivity.cells("smoke")} == {8}


@pytest.mark.parametrize(("alone", "rule", "collapse", "best"), [(-1.2e6, -5e5, 1, 1), (-4.1e5, -2e5, 0, 0)])
def test_verdicts_on_the_corridor(alone: float, rule: float, collapse: int, best: int) -> None:
    days = {
        "RE-SAC K=10": [{"reward": -4e5, "wait": 4.0, "travel": 15.0}],
        "epistemic only": [{"reward": alone, "wait": 4.0, "travel": 15.0}],
        "linear": [{"reward": rule, "wait": 4.0, "travel": 15.0}],
    }
    values = {"epistemic only": [{"q": -3000.0}]}
    words = {1: "reproduces", 0: "does not reproduce"}
    assert corridor._collapse(values, days).verdict == words[collapse]
    assert corridor._against_rules(days).verdict == words[best]


def test_gravity_is_the_published_draw() -> None:
    """Factors exp(U(−3, 3)) of 40 tasks, each for 20,000 steps at the paper's scale."""
    words = nonstationary.gravity("paper").split()
    assert words[0] == "log-uniform"
    assert [round(float(np.log(float(word))), 2) for word in words[1:3]] == [-3.0, 3.0]
    assert words[3:] == ["every", "20000", "tasks", "40"]


def test_rareness_on_the_corridor_is_within_stop_and_direction() -> None:
    generator = np.random.default_rng(0)
    groups = generator.integers(0, 2, (60, 2))
    # each group has a mean and a spread of its own
    states = generator.standard_normal((60, 2)) * (1.0 + groups[:, :1]) + 10.0 * groups
    found = corridor_rareness.grouped_rareness(states[:9], groups[:9], states, groups)
    for row in range(9):
        own = np.array([state for state, group in zip(states, groups, strict=True) if (group == groups[row]).all()])
        away = states[row] - own.mean(0)
        expected = np.sqrt(away @ np.linalg.inv(np.cov(own.T) + 1e-6 * np.eye(2)) @ away)
        assert found[row] == pytest.approx(expected, rel=1e-9, abs=0)
    lonely = corridor_rareness.grouped_rareness(states[:1], np.array([[7, 7]]), states, groups)
    assert np.isnan(lonely).all()
    assert corridor_rareness.HEADWAYS == [0, 1]
    assert corridor_rareness.GROUP == [1, 2]


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ((0.0, 0.1), (0.2, 0.3), "reproduces"),
        ((0.2, 0.3), (0.0, 0.1), "does not reproduce"),
        ((0.0, 0.25), (0.2, 0.3), "undecided"),
        ((0.2, 0.3), (0.0, 0.25), "undecided"),
    ],
)
def test_a_form_of_resac_grows_least_only_where_all_seeds_say_so(
    ours: tuple[float, ...], theirs: tuple[float, ...], verdict: str
) -> None:
    found = {"RE-SAC B0": {"training": list(ours)}, "SAC": {"training": list(theirs)}}
    assert rareness.finding("claim", {"task": found}).verdict == verdict
