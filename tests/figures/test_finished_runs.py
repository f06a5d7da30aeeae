"""The results page from small files: what is taken of a run, in which order, and what figures and tables make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_training_figures import COLUMNS, curves, lines, write_run

from pyresac.errors import InputError
from pyresac.figures import results
from pyresac.figures.curves import Curves
from pyresac.figures.results import FinishedRun, RunGroup


def finished(name: str = "a", result: dict[str, Any] | None = None, shift: float = 0.0) -> FinishedRun:
    return FinishedRun(name, curves(shift), result)


def controllers(**named: dict[str, list[float]]) -> dict[str, Any]:
    return {"controllers": named}


LEARNED = {"reward": [1.0, 3.0], "alpha": [7.0]}


@pytest.mark.parametrize(
    ("result", "metric", "value"),
    [
        (None, "reward", 500.0),
        (None, "return", 500.0),
        (None, "alpha", 506.0),
        (None, "wait", None),
        ({"return": 5}, "reward", 5.0),
        ({"return": 5}, "return", 5.0),
        ({"return": 5}, "alpha", 506.0),
        ({"return": 5}, "wait", None),
        (controllers(none=LEARNED), "reward", 500.0),
        (controllers(learned=LEARNED), "reward", 2.0),
        (controllers(learned=LEARNED), "alpha", 7.0),
        (controllers(learned=LEARNED), "return", 500.0),
        (controllers(learned=LEARNED) | {"return": 5}, "reward", 2.0),
        (controllers(learned=LEARNED) | {"return": 5}, "return", 5.0),
    ],
)
def test_a_metric_is_that_of_the_final_episodes_or_of_the_last_evaluation(
    result: dict[str, Any] | None, metric: str, value: float | None
) -> None:
    assert finished(result=result).final(metric) == value


def test_rules_are_those_of_the_first_run_that_has_some() -> None:
    rule = {"reward": [-2.0, -4.0]}
    runs = [
        finished(),
        finished(result={"return": 1.0}),
        finished(result=controllers(learned=LEARNED, none=LEARNED, headway=rule)),
        finished(result=controllers(learned=LEARNED, other=rule)),
    ]
    assert RunGroup(runs).rules() == {"none": LEARNED, "headway": rule}
    assert RunGroup(runs).levels() == {"headway rule, final days": -3.0}
    assert RunGroup(runs[:2]).rules() == RunGroup(runs[:2]).levels() == {}


def test_runs_come_in_the_order_of_their_labels_and_others_last(tmp_path: Path) -> None:
    for label in ("other", "another", "sac", "k5", "resac"):
        write_run(tmp_path, label, 0, -1.0)
    write_run(tmp_path, "resac", 1, None)
    (tmp_path / "resac-seedless").mkdir()
    (tmp_path / "resac").mkdir()
    experiment = results.load(tmp_path)
    assert experiment is not None
    assert [run.name for run in experiment.runs] == ["RE-SAC", "RE-SAC", "RE-SAC, K = 5", "SAC", "another", "other"]
    assert [run.result is None for run in experiment.runs] == [False, True, False, False, False, False]
    assert [run.curves.columns["eval_return"][0] for run in experiment.runs] == [100.0, 101.0] + [100.0] * 4
    assert results.load(tmp_path / "none") is None


def test_a_result_may_lack_the_rules_and_the_return(tmp_path: Path) -> None:
    write_run(tmp_path, "a", 0, None)
    (tmp_path / "a-seed0" / "result.json").write_text('{"episodes": 3}')
    experiment = results.load(tmp_path)
    assert experiment is not None
    assert experiment.runs[0].result == {"episodes": 3}
    (tmp_path / "a-seed0" / "metrics.csv").write_text("step,eval_return\n")
    with pytest.raises(InputError, match=r"metrics\.csv has no evaluation; expected the columns step and eval_return"):
        results.load(tmp_path)


def bare(name: str) -> FinishedRun:
    """A run without the critics' values."""
    known = curves()
    return FinishedRun(name, Curves({column: known.columns[column] for column in ("step", "eval_return")}), None)


@pytest.mark.parametrize("several", [False, True])
def test_ablations_have_all_returns_above_and_below_a_panel_for_each_that_has_values(several: bool) -> None:
    rule = {"reward": [-4e5]}
    experiment = RunGroup(
        [finished("a", controllers(headway=rule)), bare("b"), *([finished("c", shift=9.0)] if several else [])]
    )
    figure = results.ablations_figure(experiment)
    assert figure.get_size_inches().tolist() == [11.0, 7.2]
    assert figure.get_suptitle() == "Published slow corridor, half the steps: what each penalty does"
    above, below = figure.subfigs
    assert above.bbox_relative.height / below.bbox_relative.height == pytest.approx(1.15)
    assert above.bbox_relative.width == below.bbox_relative.width == 1.0
    (axes,) = above.axes
    assert [line.get_label() for line in axes.get_lines()] == [
        *("a", "b"),
        *(["c"] if several else []),
        "headway rule, final days: −0.400",
    ]
    assert [text.get_text() for text in above.legends[0].get_texts()] == [
        str(line.get_label()) for line in axes.get_lines()
    ]
    assert [panel.get_title(loc="left") for panel in below.axes] == (["a", "c"] if several else ["a"])
    for panel, first in zip(below.axes, (101.0, 110.0), strict=False):
        assert panel.title.get_fontsize() != panel._left_title.get_fontsize() == 9.5  # type: ignore[attr-defined]
        assert np.asarray(panel.get_lines()[0].get_ydata())[0] == pytest.approx(first * 1e-3)
    label = below._supylabel  # type: ignore[attr-defined]
    assert (label.get_text(), label.get_fontsize()) == ("discounted reward\nof a trip, 10³", 9)
    (legend,) = below.legends
    assert legend._ncols == 3  # type: ignore[attr-defined]
    assert [text.get_text() for text in legend.get_texts()] == [
        "± 2 σ_ens",
        "Q̄, mean of the critics",
        "earned (Monte Carlo)",
    ]


ACTOR, AVERAGE = (results.LABELS[label] for label in results.OF_ONE_TRAINING)


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_an_actor_and_its_average_share_a_panel_a_seed(seeds: int) -> None:
    runs = [finished(results.LABELS["averaged-0.0003"], shift=-50.0)]
    runs += [finished(ACTOR, shift=10.0 * seed) for seed in range(seeds)]
    runs += [finished(AVERAGE, shift=10.0 * seed + 5.0) for seed in range(seeds)]
    figure = results.averages_figure(RunGroup(runs))
    assert figure.get_size_inches().tolist() == [11.0, 4.0]
    assert figure.get_suptitle().startswith("Hopper-v5, preset fast: the actor, and its average")
    assert len(figure.axes) == seeds
    for seed, axes in enumerate(figure.axes):
        assert axes.get_title(loc="left") == f"seed {seed}"
        assert axes._left_title.get_fontsize() == 9.5  # type: ignore[attr-defined]
        found = lines(figure, seed)
        assert list(found) == ["the actor", "its average"]
        assert found["the actor"][1][0] == 100.0 + 10.0 * seed
        assert found["its average"][1][0] == 105.0 + 10.0 * seed
        assert axes.get_ylim() == figure.axes[0].get_ylim()
        assert axes.get_ylabel() == ("return of an episode" if seed == 0 else "")
        intervals = [len(axes.xaxis.get_major_locator().tick_values(0.0, most)) - 1 for most in (4e3, 5e3, 7e3, 9e3)]
        assert intervals[0] == max(intervals) == 4
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["the actor", "its average"]
    assert not legend.get_frame_on()
    assert {text.get_fontsize() for text in legend.get_texts()} == {8.5}


@pytest.mark.parametrize("names", [[ACTOR], [AVERAGE], [], [ACTOR, ACTOR, AVERAGE], [ACTOR, AVERAGE, AVERAGE]])
def test_an_actor_without_its_average_is_refused(names: list[str]) -> None:
    with pytest.raises(InputError, match=r"the figure needs runs of actor and averaged-0\.001 with the same seeds"):
        results.averages_figure(RunGroup([finished(name) for name in names]))


def test_returns_and_rewards_have_their_own_scale_and_title() -> None:
    experiment = RunGroup([finished("a", controllers(none={"reward": [-9e5]}, headway={"reward": [-4e5, -6e5]}))])
    rewards, returns = results.reward_figure("of a line")(experiment), results.return_figure("Hopper-v5")(experiment)
    assert list(lines(rewards)) == ["a", "headway rule, final days: −0.500"]
    assert lines(rewards)["a"][1][0] == pytest.approx(100e-6)
    assert rewards.get_suptitle() == "of a line"
    assert list(lines(returns)) == ["a"]
    assert lines(returns)["a"][1][0] == 100.0
    assert returns.get_suptitle() == "Hopper-v5: evaluation return, mean and range where there are several seeds"


def test_a_table_has_a_line_a_policy_and_a_line_a_rule() -> None:
    learned = {"reward": [-4e5, -5e5], "wait": [3.0, 4.0], "travel": [15.25]}
    rule = {"reward": [-1234567.0], "wait": [1004.5], "travel": [0.125]}
    runs = [
        finished("b", controllers(learned=learned, none=rule, headway=rule)),
        finished("a"),
        finished("b", controllers(learned=learned | {"reward": [-3e5]})),
    ]
    assert results.markdown(RunGroup(runs)).splitlines() == [
        "| policy | seeds | reward, 10⁶ | wait, min | travel, min |",
        "|---|---|---|---|---|",
        "| b | 2 | −0.375 (−0.450 to −0.300) | 3.50 (3.50 to 3.50) | 15.25 (15.25 to 15.25) |",
        "| a (last evaluation) | 1 | 0.001 | – | – |",
        "| no holding | | −1.235 | 1,004.50 | 0.12 |",
        "| headway rule | | −1.235 | 1,004.50 | 0.12 |",
    ]
    returns = [finished("c", {"return": 1234.5}), finished("c", {"return": 1236.5}), finished("d", {"return": -2.5})]
    assert results.markdown(RunGroup(returns)).splitlines() == [
        "| policy | seeds | return |",
        "|---|---|---|",
        "| c | 2 | 1,236 (1,234 to 1,236) |",
        "| d | 1 | −2 |",
    ]


def test_what_is_drawn_and_what_is_skipped_is_said_apart_from_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, figures = tmp_path / "results", tmp_path / "figures"
    drawn = {name: (f"of-{name}", lambda _: Figure(figsize=(1.0, 1.0))) for name in ("one", "two", "three")}
    monkeypatch.setattr(results, "FIGURES", drawn)
    for name in ("one", "three"):
        write_run(root / name, "sac", 0, None, COLUMNS[:1])
    assert results.main([str(root), str(figures)]) == 0
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        f"wrote {figures / 'of-one.png'}",
        f"skipped two: no run in {root / 'two'}",
        f"wrote {figures / 'of-three.png'}",
    ]
    table = "| policy | seeds | return |\n|---|---|---|\n| SAC (last evaluation) | 1 | 500 |"
    assert shown.out == f"### one\n\n{table}\n\n### three\n\n{table}\n\n"
    assert sorted(path.name for path in figures.iterdir()) == ["of-one.png", "of-three.png"]
    nowhere = tmp_path / "none" / "figures"
    with pytest.raises(InputError, match=f"^figures = {nowhere}; there is no folder {nowhere.parent}$"):
        results.redraw(results.ResultsOptions(root, nowhere))
    (root / "one" / "sac-seed0" / "result.json").write_text(json.dumps(["no object"]))
    assert results.main([str(root), str(figures)]) == 2
