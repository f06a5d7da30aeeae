"""What the experiments that train share: the options of a run, its curve, intervals over seeds, and their figures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from pyresac.experiments import corridor, deep_runs, noise, nonstationary, parts, rareness, sensitivity
from pyresac.experiments.deep_runs import best_of_all, cell, curve_of, mean_cell, odds, paired_by_seed
from pyresac.experiments.experiment import Run, decided, verdict_of
from pyresac.experiments.statistics import Interval, interquartile_mean, performance_profile, rank_correlation
from pyresac.figures.training import RETURN


@pytest.mark.parametrize(("steps", "buffer"), [(999_999, 999_999), (1_000_000, 1_000_000), (1_000_001, 1_000_000)])
def test_a_run_has_these_options_and_no_others(steps: int, buffer: int) -> None:
    one = cell("λ = 0.5, K=2 (new)", {"algorithm": "sac", "tau": 0.1}, "Hopper-v5", 16, steps, 70)
    assert (one.label, one.task, one.seed) == ("λ = 0.5, K=2 (new)", "Hopper-v5", 16)
    assert one.run.name == "=-0.5-k=2-new-Hopper-v5-seed16"
    expected = {
        "algorithm": "sac",
        "tau": 0.1,
        "env": "Hopper-v5",
        "seed": 16,
        "steps": steps,
        "eval_every": 70,
        "checkpoint_every": 70,
        "keep_checkpoints": 1,
        "buffer_size": buffer,
        "tensorboard": False,
    }
    assert one.run.options == expected
    assert "beta_steps" not in cell("x", {"preset": "published-sac"}, "T", 0, steps, 70).run.options
    assert cell("x", {"preset": "resac-b0"}, "T", 0, steps, 70).run.options["beta_steps"] == steps


@pytest.mark.parametrize(("scale", "every"), [("smoke", 4_000), ("cpu", 10_000), ("paper", 40_000)])
def test_every_experiment_evaluates_as_often_as_its_scale_says(scale: Any, every: int) -> None:
    for module in (deep_runs.stationary_cells(scale), nonstationary.cells(scale), [c for *_, c in noise.grid(scale)]):
        assert {one.run.options["eval_every"] for one in module} == {every}


def test_the_smallest_scale_has_few_rows_and_the_others_all() -> None:
    corridors = {scale: {one.label for one in corridor.cells(scale)} for scale in ("smoke", "cpu", "paper")}
    assert corridors == {"smoke": {"RE-SAC K=2", "SAC"}, "cpu": set(corridor.LABELS), "paper": set(corridor.LABELS)}
    swept = {scale: {(s, v) for s, v, _ in sensitivity.cells(scale)} for scale in ("smoke", "cpu", "paper")}
    everything = {(sweep, value) for sweep, values in sensitivity.SWEEPS.items() for value in values}
    assert swept == {"smoke": {("K", "2"), ("K", "5")}, "cpu": everything, "paper": everything}


def test_options_are_typed_as_the_command_takes_them() -> None:
    run = Run("one", {"a_b": True, "c": False, "d": (1, 2), "e": [3], "f": None, "g": 0.5})
    assert run.flags == ["--a-b", "--no-c", "--d", "1", "2", "--e", "3", "--f", "None", "--g", "0.5"]


@pytest.mark.parametrize(
    ("sides", "verdict"),
    [
        ([1, 1], "reproduces"),
        ([-1, -1], "does not reproduce"),
        ([0], "undecided"),
        ([1, 0], "undecided"),
        ([-1, 0], "undecided"),
        ([], "not tried at this scale"),
    ],
)
def test_a_case_for_neither_side_leaves_it_open(sides: list[int], verdict: str) -> None:
    assert verdict_of(sides) == verdict


def test_the_claim_s_own_tasks_decide_and_others_where_none_of_them_was_run() -> None:
    seen = {"A": (1, "well"), "B": (-1, "badly")}
    assert (decided("c", ("A",), seen).verdict, decided("c", ("A",), seen).found) == ("reproduces", "A: well; B: badly")
    assert decided("c", ("B",), seen).verdict == "does not reproduce"
    assert decided("c", ("C",), seen).verdict == "undecided"
    assert decided("c", ("A",), {}) == decided("c", (), {})
    assert decided("c", ("A",), {}).found == "no finished runs that tell"


# --- statistics


def test_a_mean_over_seeds_is_shown_with_its_interval() -> None:
    assert mean_cell([1234.56]) == "1,235"
    assert mean_cell([-1234.56], 1) == "-1,234.6"
    # of two seeds a quarter of the samples has the first alone
    assert mean_cell([1000.0, 3000.0]) == "2,000 [1,000, 3,000]"
    assert mean_cell(iter([1.0, 2.0, 6.0]), 2) == "3.00 [1.00, 6.00]"
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="a mean over seeds needs numbers, not"):
            mean_cell([1.0, bad])


def test_two_seeds_that_both_have_are_a_pair_with_an_interval() -> None:
    first, second = {8: 10.0, 16: 500.0, 24: 7.0}, {16: 490.0, 8: 4.0}
    assert paired_by_seed(first, second) == (2, Interval(8.0, 6.0, 10.0))
    assert paired_by_seed(first, {8: 4.0, 1: 2.0}) == (1, None)
    assert paired_by_seed(first, {}) == (0, None)


def test_an_interval_that_begins_or_ends_at_a_number_is_around_it() -> None:
    found = Interval(0.5, 0.25, 0.75)
    assert [found.side(of) for of in (0.2, 0.25, 0.5, 0.75, 0.8)] == [1, 0, 0, 0, -1]
    assert found.side() == 1
    assert Interval(0.0, -1.0, 0.0).side() == Interval(0.0, 0.0, 1.0).side() == 0
    assert Interval(-1.0, -2.0, -0.5).side() == -1
    assert Interval(1234.5, -2.0, 62.4).signed == "+1,234 [-2, +62]"


def test_the_middle_half_leaves_out_a_quarter_rounded_down_on_each_side() -> None:
    for count in range(1, 10):
        sample = np.array([2.0**place for place in range(count)])
        cut = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2][count]
        kept = [2.0**place for place in range(cut, count - cut)]
        assert float(interquartile_mean(sample[::-1])) == sum(kept) / len(kept)
        assert interquartile_mean(np.stack([sample, 3.0 * sample])).tolist() == pytest.approx(
            [sum(kept) / len(kept), 3.0 * sum(kept) / len(kept)]
        )


def test_ranks_of_two_pairs_and_of_what_does_not_vary() -> None:
    two, same = np.array([1.0, 2.0]), np.array([3.0, 3.0])
    assert rank_correlation(two, two) == pytest.approx(1.0)
    assert rank_correlation(two, -two) == pytest.approx(-1.0)
    assert rank_correlation(two, same) == rank_correlation(same, two) == rank_correlation(same, same) == 0.0


def test_a_score_at_a_threshold_is_not_above_it() -> None:
    scores = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert performance_profile(scores, np.array([0.5, 1.0, 2.5, 4.0])).tolist() == [1.0, 0.75, 0.5, 0.0]


def test_the_best_of_all_is_surely_above_every_rival() -> None:
    """Above one half of the time is not enough, and other forms of RE-SAC are no rivals."""
    scores = {"RE-SAC B0": [5.0, 6.0, 7.0], "RE-SAC v1": [9.0] * 3, "SAC": [1.0, 2.0, 3.0]}
    assert best_of_all(scores) == (1, "probability that a run of RE-SAC B0 beats one of SAC 1.00 [1.00, 1.00]")
    for rival, side in (([6.0] * 3, 0), ([8.0, 9.0, 10.0], -1), ([4.0, 4.0, 4.0], 1)):
        found = best_of_all({**scores, "TD3": rival})
        assert found is not None
        assert found[0] == side
    assert best_of_all({**scores, "TD3": [8.0] * 3}, "RE-SAC v1") is not None
    assert best_of_all({"SAC": [1.0]}) is None
    assert best_of_all({"RE-SAC B0": [1.0], "RE-SAC v1": [2.0]}) is None
    assert odds([1.0, 2.0], [2.0, 0.0]).point == (0.0 + 1.0 + 0.5 + 1.0) / 4.0


def test_a_curve_has_the_columns_that_are_asked_for_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "metrics.csv").write_text("step,q_eval,eval_return\n10,1.5,2.5\n20,3.5,4.5\n")
    assert curve_of(tmp_path, Run("one", {}), ("eval_return",)) == {"step": [10.0, 20.0], "eval_return": [2.5, 4.5]}
    assert list(curve_of(tmp_path, Run("one", {}), ("q_eval",))) == ["step", "q_eval"]


# --- figures


def written(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[tuple[Figure, Path, int]]:
    found: list[tuple[Figure, Path, int]] = []
    monkeypatch.setattr(module, "write", lambda figure, path, dpi: found.append((figure, path, dpi)))
    return found


RULE = "no holding: 5.000"


def curve(*returns: float) -> dict[str, list[float]]:
    return {"step": [100.0 * n for n in range(len(returns))], "eval_return": list(returns)}


def test_panels_of_curves_stand_side_by_side_on_one_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    found = written(monkeypatch, deep_runs)
    groups = deep_runs.curve_groups([("A", curve(1.0, 2.0)), ("B", curve(3.0, 9.0)), ("A", curve(2.0, 4.0))])
    assert [(name, len(group.runs)) for name, group in groups.items()] == [("A", 2), ("B", 1)]
    deep_runs.draw_curves(Path("a.png"), "a title", RETURN, groups, (["A"], ["C"], ["B", "A", "C"]), {"none": 5.0})
    ((figure, path, dpi),) = found
    assert (path, dpi, figure.get_size_inches().tolist()) == (Path("a.png"), 130, [13.0, 5.6])
    assert figure.get_suptitle() == "a title"
    left, right = figure.axes
    assert left.get_shared_y_axes().joined(left, right)
    for axes, labels in ((left, {"A, 2 seeds", RULE}), (right, {"B", "A, 2 seeds", RULE})):
        legend = axes.get_legend()
        assert legend is not None
        assert {text.get_text() for text in legend.get_texts()} == labels
        assert not legend.get_frame_on()
        assert {text.get_fontsize() for text in legend.get_texts()} == {8.5}
        assert getattr(legend, "_ncols") == 2  # noqa: B009 there is no other way to ask
        corner = axes.transAxes.inverted().transform(legend.get_bbox_to_anchor().p0)
        assert corner.tolist() == pytest.approx([0.5, -0.13])


def by_cells(*cells: float) -> Any:
    count = [1] * len(cells)
    table = {"cell": list(cells), "count": count, "error": [10.0 * n + 1.0 for n in range(len(cells))]}
    return {reference: {"correlation": 0.0, "cells": table} for reference in rareness.REFERENCES}


def test_the_figure_of_rareness_has_a_panel_a_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    found = written(monkeypatch, rareness)
    rareness.draw(Path("b.png"), "Hopper", {"SAC": [by_cells(0.0, 29.0)], "TD3": [by_cells(5.0)]})
    ((figure, path, dpi),) = found
    assert (path, dpi, figure.get_size_inches().tolist()) == (Path("b.png"), 130, [12.0, 4.6])
    assert figure.get_suptitle() == "Hopper: oracle error by rareness"
    left, right = figure.axes
    assert left.get_shared_y_axes().joined(left, right)
    assert [axes.get_title() for axes in figure.axes] == [
        "against the evaluation's states",
        "against the training's states",
    ]
    assert [axes.get_xlabel() for axes in figure.axes] == ["Mahalanobis rareness"] * 2
    assert [axes.get_ylabel() for axes in figure.axes] == ["oracle error", ""]
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines] == ["SAC", "TD3"]
        assert {line.get_linewidth() for line in axes.lines} == {1.0}
        assert not axes.spines["top"].get_visible()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["SAC", "TD3"]
    assert not legend.get_frame_on()
    assert {text.get_fontsize() for text in legend.get_texts()} == {8.5}


def corridor_measures(*names: str) -> dict[str, Any]:
    columns = {"step": [0.0, 1.0], **{name: [1.0, 2.0] for name in corridor.CURVE}}
    days = {"learned": {"reward": -4e5, "wait": 4.0, "travel": 15.0}}
    return {name: {"curve": columns, "days": days, "values": {"q": 1.0, "sigma": 2.0, "earned": 3.0}} for name in names}


def test_the_figures_of_the_corridor_have_their_titles_and_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    found = written(monkeypatch, corridor)
    monkeypatch.setattr(corridor, "draw_curves", lambda path, title, *_: drawn.append((path, title)))
    outcome = corridor.conclude(corridor_measures("sac-corridor-seed8"), "cpu", Path("figures"))
    assert tuple(outcome.figures) == ("corridor-reward.png", "corridor-values.png")
    assert drawn == [(Path("figures/corridor-reward.png"), "Reward during training")]
    ((bands, path, dpi),) = found
    assert (path, dpi) == (Path("figures/corridor-values.png"), 130)
    assert bands.get_suptitle() == "Values beside what is earned"
    assert {one.verdict for one in outcome.findings} == {"not tried at this scale"}, "nothing to compare with"


def test_figures_of_parts_stand_beside_their_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(parts, "draw_curves", lambda path, title, scale, groups, *_: drawn.append((path, list(groups))))
    names = {(one.label, one.seed): one.run.name for one in parts.cells("cpu")}
    measures = {names[label, 8]: curve(1.0, 2.0) for label in (parts.ALL, "κ", parts.NONE)}
    outcome = parts.conclude(json.loads(json.dumps(measures)), "cpu", Path("figures"))
    assert outcome.figures == ("parts-Hopper-v5.png",)
    assert drawn == [(Path("figures/parts-Hopper-v5.png"), [parts.NONE, "κ", parts.ALL])]
