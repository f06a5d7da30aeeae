"""The figures have one look, which style.py promises: open axes, frameless legends, curves of one width, few ticks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from test_training_figures import curves, write_run

from pyresac.figures import convergence, results, sets, style, training
from pyresac.figures.curves import Group

RULES = {"none": -990_000.0, "target:slack=50": -410_000.0}
TITLE = "What is shown"


def groups(count: int = 2) -> list[Group]:
    return [Group(name, [curves(), curves(9.0)]) for name in "abcdefghi"[:count]]


def pairs(count: int = 1) -> dict[str, training.Predictions]:
    value = np.arange(5.0)
    return {name: training.Predictions(value, 10.0 - 2.0 * value) for name in "abcdefghi"[:count]}


def ablations(folder: Path) -> Figure:
    for seed in (0, 1):
        write_run(folder, "resac", seed, -4e5)
        write_run(folder, "k5", seed, -4e5)
    experiment = results.load(folder)
    assert experiment is not None
    return results.ablations_figure(experiment)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    """Every figure of pyresac.figures, the theory's with few points."""
    with pytest.MonkeyPatch.context() as few:
        few.setattr(convergence, "BACKUPS", 2)
        few.setattr(sets, "DIRECTIONS", 6)
        return {
            "learning curve": training.learning_curve(groups(), training.CORRIDOR, TITLE, RULES),
            "value bands": training.value_bands(groups(), training.CORRIDOR, TITLE),
            "uncertainty": training.uncertainty(groups(), training.CORRIDOR, TITLE),
            "predictions": training.predictions(pairs(2), training.CORRIDOR, TITLE),
            "ablations": ablations(tmp_path_factory.mktemp("ablations")),
            "convergence": convergence.drawn(),
            "sets": sets.figure(),
        }


OF_CURVES = ("learning curve", "value bands", "uncertainty", "ablations", "convergence")


def legends(figure: Figure) -> Iterator[Legend]:
    for part in (figure, *figure.subfigs):
        yield from part.legends
    for axes in figure.axes:
        if (legend := axes.get_legend()) is not None:
            yield legend


def shown(figure: Figure) -> list[Axes]:
    """The panels, without those that are left empty and the bars of colours."""
    return [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != "<colorbar>"]


def test_axes_are_open_and_have_a_faint_grid(drawn: dict[str, Figure]) -> None:
    for name in (*OF_CURVES, "predictions"):
        for axes in shown(drawn[name]):
            assert {side: spine.get_visible() for side, spine in axes.spines.items()} == {
                "left": True,
                "bottom": True,
                "top": False,
                "right": False,
            }, name
            lines = axes.get_xgridlines() + axes.get_ygridlines()
            assert {(line.get_visible(), line.get_alpha(), line.get_linewidth()) for line in lines} == {
                (True, 0.25, 0.5)
            }, name


def test_legends_have_no_frame_and_small_letters(drawn: dict[str, Figure]) -> None:
    for name, count in (
        *((name, 1) for name in OF_CURVES if name != "ablations"),
        ("predictions", 2),
        ("ablations", 2),
    ):
        found = list(legends(drawn[name]))
        assert len(found) == count, name
        for legend in found:
            assert not legend.get_frame_on(), name
            assert {text.get_fontsize() for text in legend.get_texts()} == {8.5}, name


def test_every_curve_has_one_width_and_what_it_is_held_against_a_thinner_one(drawn: dict[str, Figure]) -> None:
    for name in (*OF_CURVES, "sets", "predictions"):
        for axes in shown(drawn[name]):
            for line in axes.get_lines():
                label = str(line.get_label())
                if line.get_marker() == "o" and line.get_linestyle() == "None":
                    assert line.get_markersize() == 4.0
                elif line.get_color() == style.GREY:
                    assert (line.get_linewidth(), line.get_zorder()) == (1.3, 1), "a rule's level lies below the curves"
                elif label == "equal":
                    assert line.get_linewidth() == 1.4
                elif label.startswith("γⁿ"):
                    assert line.get_linewidth() == 1.0
                else:
                    assert line.get_linewidth() == 1.8, (name, label)


def test_areas_have_no_border_and_let_see_through(drawn: dict[str, Figure]) -> None:
    for name in OF_CURVES:
        for axes in shown(drawn[name]):
            areas = [area for area in axes.collections if isinstance(area, PolyCollection)]
            assert areas, name
            for area in areas:
                assert np.all(area.get_linewidth() == np.zeros(1)), name
                assert area.get_alpha() == (0.07 if name == "convergence" else 0.2), name


def test_few_points_are_marked_and_many_are_not() -> None:
    for rows, marker in ((30, "o"), (31, "None")):
        figure = training.learning_curve([Group("a", [curves(rows=rows)])], training.RETURN, TITLE, {})
        (line,) = figure.axes[0].get_lines()
        assert (line.get_marker(), line.get_markersize()) == (marker, 3.0)


def test_steps_have_at_most_six_intervals_and_short_names(drawn: dict[str, Figure]) -> None:
    for name in OF_CURVES[:-1]:
        for axes in [axes for axes in shown(drawn[name]) if axes.get_xlabel()]:
            assert axes.get_xlabel() == "environment steps"
            assert [axes.xaxis.get_major_formatter()(steps) for steps in (0.0, 500.0, 20e3, 3e6)] == [
                "0",
                "500",
                "20k",
                "3M",
            ]
    axes = drawn["learning curve"].axes[0]
    ticks = {most: len(axes.xaxis.get_major_locator().tick_values(0.0, most)) - 1 for most in (5e3, 6e3, 7e3, 1e6)}
    assert ticks[6e3] == 6, "six where they are round"
    assert max(ticks.values()) == 6
    below = drawn["ablations"].subfigs[1].axes
    for panel in below:
        narrow = [len(panel.xaxis.get_major_locator().tick_values(0.0, most)) - 1 for most in (3e3, 4e3, 7e3)]
        assert narrow[0] == max(narrow) == 3


@pytest.mark.parametrize("count", range(1, 8))
def test_panels_stand_three_in_a_row_and_a_further_one_is_as_large(count: int) -> None:
    across, down = min(count, 3), (count + 2) // 3
    bands = training.value_bands(groups(count), training.RETURN, TITLE)
    points = training.predictions(pairs(count), training.RETURN, TITLE)
    # a row more is a panel's height more; bands need room for their legend, however few they are
    assert bands.get_size_inches().tolist() == pytest.approx([max(7.0, 1.0 + 3.4 * across), 0.9 + 3.3 * down])
    assert points.get_size_inches().tolist() == pytest.approx([0.9 + 4.6 * across, 0.7 + 4.2 * down])
    for figure in (bands, points):
        panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        grid = panels[0].get_subplotspec()
        assert grid is not None
        assert grid.get_geometry()[:2] == (down, across)
        assert [axes.get_visible() for axes in panels] == [True] * count + [False] * (across * down - count)


def test_titles_and_axes_say_what_is_shown(drawn: dict[str, Figure]) -> None:
    for name in ("learning curve", "value bands", "uncertainty", "predictions"):
        assert drawn[name].get_suptitle() == TITLE
    assert drawn["learning curve"].axes[0].get_ylabel() == "reward of a day, 10⁶"
    assert drawn["value bands"].get_supylabel() == "discounted reward of a trip, 10³"
    first, second = shown(drawn["predictions"])
    assert first.get_ylabel() == "foreseen: Q̄, 10³"
    assert second.get_ylabel() == ""
    assert {axes.get_xlabel() for axes in (first, second)} == {"earned: discounted reward of a trip, 10³"}
    above, below = drawn["ablations"].subfigs
    assert above.axes[0].get_ylabel() == "reward of a day, 10⁶"
    assert below.get_supylabel() == "discounted reward\nof a trip, 10³"
    assert [axes.get_title(loc="left") for axes in below.axes] == ["RE-SAC", "RE-SAC, K = 5"]
    assert drawn["convergence"].axes[0].get_xlabel() == "backups n"
    assert drawn["convergence"].axes[0].get_ylabel() == "‖TⁿQ − TⁿQ′‖∞ / ‖Q − Q′‖∞"


def test_predictions_are_counted_beside_the_line_of_equality() -> None:
    """Both axes have the same ends, four hundredths beyond the numbers; one decision is the least that has a colour."""
    figure = training.predictions(pairs(), training.RETURN, TITLE)
    (axes,) = shown(figure)
    (equal,) = axes.get_lines()
    low, high = 0.0 - 0.4, 10.0 + 0.4
    np.testing.assert_allclose(np.asarray(equal.get_xydata()), np.array([[low, low], [high, high]]))
    assert [*axes.get_xlim(), *axes.get_ylim()] == pytest.approx([low, high, low, high])
    assert axes.get_aspect() == 1.0
    (cells,) = axes.collections
    assert list(np.asarray(cells.get_array())) == [1.0] * 5
    assert isinstance(cells.norm, matplotlib.colors.LogNorm)
    assert [bar.get_ylabel() for bar in figure.axes if bar.get_label() == "<colorbar>"] == ["decisions in a cell"]
    flat = training.predictions({"a": training.Predictions(np.ones(3), np.ones(3))}, training.RETURN, TITLE)
    assert flat.axes[0].get_xlim() == pytest.approx((0.96, 1.04)), "where nothing varies"


def test_sets_fill_a_simplex_that_is_not_distorted(drawn: dict[str, Figure]) -> None:
    """The set around either row, in the colour of its border."""
    for axes in drawn["sets"].axes:
        assert axes.get_aspect() == 1.0
        assert not axes.axison
        patches: list[Any] = list(axes.patches)
        simplex, *areas = patches
        assert matplotlib.colors.to_hex(simplex.get_edgecolor()) == style.GREY
        assert not simplex.get_facecolor()[3], "itself it is empty"
        borders = [line for line in axes.get_lines() if line.get_marker() != "o"]
        assert [line.get_color() for line in borders] == [style.BLUE, style.RED][: len(borders)]
        for area, border in zip(areas, borders, strict=True):
            assert area.get_facecolor() == matplotlib.colors.to_rgba(str(border.get_color()), 0.25)
            assert area.get_linewidth() == 0.0
            corners, around = (np.unique(np.asarray(points), axis=0) for points in (area.get_xy(), border.get_xydata()))
            np.testing.assert_array_equal(corners, around)
