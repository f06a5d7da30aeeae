"""Which figures an evaluation draws, of which runs, and which hours of which day."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_training_figures import curves

from pyresac.envs.bus.controllers import NoHolding
from pyresac.figures import evaluation, training
from pyresac.figures.curves import Curves, Group
from pyresac.tasks.corridor_task import EVALUATION_DAYS


def cut_short(rows: int) -> Curves:
    """A run of which the first `rows` evaluations know no return to its end."""
    known = curves().columns
    earned = known["earned_eval"].copy()
    earned[:rows] = np.nan
    return Curves(known | {"earned_eval": earned})


def test_values_are_drawn_of_the_runs_whose_returns_are_known_somewhere() -> None:
    groups = [Group("a", [curves()]), Group("b", [cut_short(5)]), Group("c", [cut_short(4)])]
    figures = evaluation.curve_figures(groups, training.RETURN, "Hopper", {"none": 300.0})
    assert list(figures) == ["learning-curve", "uncertainty", "values"]
    panels = [axes for axes in figures["values"].axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in panels] == ["a", "c"]
    assert [line.get_label() for line in figures["learning-curve"].axes[0].get_lines()] == [
        *("a", "b", "c"),
        "no holding: 300.000",
    ]
    assert figures["learning-curve"].get_suptitle() == "Hopper: evaluation during training"
    assert figures["uncertainty"].get_suptitle().startswith("Hopper: disagreement of the critics on replayed batches")
    assert figures["values"].get_suptitle() == "Hopper: do the critics foresee what is earned?"
    assert list(evaluation.curve_figures(groups[1:2], training.RETURN, "Hopper", {})) == [
        "learning-curve",
        "uncertainty",
    ]


@pytest.mark.parametrize(("seeds", "told"), [([1, 1], False), ([1, 2], True), ([2], True)])
def test_means_are_told_of_where_there_are_several_seeds(seeds: list[int], told: bool) -> None:
    groups = [Group(str(i), [curves(float(k)) for k in range(count)]) for i, count in enumerate(seeds)]
    title = evaluation.curve_figures(groups, training.RETURN, "Hopper", {})["learning-curve"].get_suptitle()
    assert title == "Hopper: evaluation during training" + (", mean and range over seeds" if told else "")


DAY = SimpleNamespace(reward=-123_456_789_012.0, bunching=0.0625, wait=7.26, travel=15.04)
HOUR = 3600.0


@pytest.mark.parametrize(
    ("ends", "hours"),
    [
        # the whole day of the longer record, unless both last beyond five hours
        ((5.5 * HOUR, 6.0 * HOUR), (2.0, 5.0)),
        ((6.0 * HOUR, 5.0 * HOUR + 1.0), (2.0, 5.0)),
        ((6.0 * HOUR, 5.0 * HOUR), (0.0, 6.0)),
        ((5.0 * HOUR, 6.0 * HOUR), (0.0, 6.0)),
        ((3.0 * HOUR, 4.0 * HOUR), (0.0, 4.0)),
        ((4.0 * HOUR, 3.0 * HOUR), (0.0, 4.0)),
    ],
)
def test_a_day_is_shown_beside_one_without_holding(
    ends: tuple[float, float], hours: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated: list[tuple[Any, ...]] = []
    drawn: list[tuple[Any, ...]] = []

    def simulate(*given: Any) -> Any:
        simulated.append(given)
        return SimpleNamespace(end=ends[len(simulated) - 1])

    def time_space(*given: Any) -> Figure:
        drawn.append(given)
        return Figure()

    monkeypatch.setattr(evaluation, "simulate", simulate)
    monkeypatch.setattr(evaluation, "time_space", time_space)
    monkeypatch.setattr(evaluation, "day_metrics", lambda _: DAY)
    task: Any = SimpleNamespace(corridor=SimpleNamespace(name="small"), published="whether it is")
    controller: Any = object()
    figure = evaluation.day_figure(task, "mine", controller, 7)
    (first, second) = simulated
    assert first == (task.corridor, controller, EVALUATION_DAYS + 7, "whether it is")
    assert isinstance(second[1], NoHolding)
    assert (second[0], *second[2:]) == (task.corridor, EVALUATION_DAYS + 7, "whether it is")
    ((named, direction, shown),) = drawn
    told = "reward −123456.789·10⁶, wait 7.3 min, travel 15.0 min, 6.2 % bunched"
    assert list(named) == [f"learned (mine): {told}", f"no holding: {told}"]
    assert [record.end for record in named.values()] == list(ends)
    assert (direction, shown) == (0, hours)
    title = figure._suptitle  # type: ignore[attr-defined]
    assert title.get_text() == f"Corridor small, day {EVALUATION_DAYS + 7}: the buses of one direction"
    assert (title.get_fontsize(), title.get_position()[0], title.get_ha()) == (11, 0.02, "left")
