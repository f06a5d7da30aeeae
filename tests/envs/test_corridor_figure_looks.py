"""How the corridor's pictures look: sizes, widths, colours, shared axes, fonts; and days that are not yet over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import short_turns
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from pyresac.envs.bus import Corridor, HeadwayEqualising, NoHolding, Record, Simulator, metrics_table, simulate_days
from pyresac.envs.bus import state as at
from pyresac.envs.bus.figures import headways_by_stop, pareto, time_space, time_space_so_far, wait_against_travel
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST
from pyresac.errors import InputError

Records = dict[str, list[Record]]


@pytest.fixture(scope="module")
def records(small: Corridor) -> Records:
    return {name: simulate_days(small, rule, [0, 1]) for name, rule in (("a", NoHolding()), ("b", HeadwayEqualising()))}


def split(figure: Figure) -> tuple[list[Axes], list[Any]]:
    """(panels, colour bars)."""
    bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    return [axes for axes in figure.axes if axes not in bars], bars


def trajectories(axes: Axes) -> LineCollection:
    (found,) = (one for one in axes.collections if isinstance(one, LineCollection))
    return found


def layout_is_constrained(figure: Figure) -> bool:
    return type(figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"


@pytest.mark.parametrize("so_far", [False, True])
def test_trajectories_are_thin_lines_of_their_load_above_a_thin_grid(records: Records, so_far: bool) -> None:
    record = records["b"][0]
    figure = time_space_so_far(record, 1.0) if so_far else time_space({"one": record, "other": record}, 1, (0.5, 1.0))
    panels, bars = split(figure)
    assert len(panels) == len(bars) == 2
    assert layout_is_constrained(figure)
    assert figure.get_size_inches().tolist() == pytest.approx([9.0, 6.0] if so_far else [11.0, 7.8])
    assert panels[0].get_shared_x_axes().joined(panels[0], panels[1])
    assert [bar.get_ylabel() for bar in bars] == (["on board"] if so_far else ["passengers on board"]) * 2
    assert [bar._colorbar_info["pad"] for bar in bars] == [0.01, 0.01]
    for axes in panels:
        lines = trajectories(axes)
        assert lines.get_linewidths() == [1.3]
        assert lines.get_cmap().name == "viridis_r"
        assert {line.get_linewidth() for line in axes.get_ygridlines()} == {0.3}
    if so_far:
        for axes in panels:
            (now,) = axes.get_lines()
            assert (now.get_color(), now.get_linewidth()) == ("tab:red", 0.8)
        assert panels[1].get_title(loc="left") == ""


@pytest.mark.parametrize("line", ["small", "short turns"])
def test_a_day_under_way_is_drawn_as_far_as_it_has_come(small: Corridor, line: str) -> None:
    """Each trip from its first stop on: standing, then driving to where it has come; loads beside."""
    days = Simulator(small if line == "small" else short_turns.corridor())
    days.start([3])
    for _ in range(25):
        days.step(30.0)
    record = days.record()
    plan = record.layout.line.plan
    assert np.isnan(record.visits[..., at.ARRIVED]).all(axis=1).any(), "some trips have not begun"
    for direction, axes in enumerate(split(time_space_so_far(record, 2.0))[0]):
        way = record.layout.corridor.directions[direction]
        lies = np.concatenate([[0.0], np.cumsum(way.length)]) / 1000.0
        wanted, loads = [], []
        for trip in np.flatnonzero(plan[:, DIRECTION] == direction):
            for place in range(plan[trip, FIRST], plan[trip, LAST]):
                here, there = record.visits[trip, place], record.visits[trip, place + 1]
                if np.isnan(here[at.ARRIVED]):
                    break
                leaves = here[at.ARRIVED] + here[at.DWELL] + here[at.HELD]
                wanted.append(
                    [[here[at.ARRIVED], lies[place]], [leaves, lies[place]], [there[at.ARRIVED], lies[place + 1]]]
                )
                loads.append(here[at.ONBOARD])
        lines = trajectories(axes)
        found = [np.asarray(one) for one in lines.get_segments()]
        # matplotlib leaves out points without a time
        known = [np.array(one)[np.isfinite(one).all(axis=1)] for one in wanted]
        assert len(found) == len(known) > 5
        for mine, other in zip(found, known, strict=True):
            shown = mine[np.isfinite(mine).all(axis=1)]
            np.testing.assert_allclose(shown, other)
        assert np.asarray(lines.get_array()).tolist() == loads


def test_hours_must_be_of_the_day(records: Records) -> None:
    """From midnight's zero on, before the end, one before the other."""
    day = {"a": replace(records["a"][0], end=7200.0)}
    assert time_space(day, 0, (0.0, 2.5)).axes[0].get_xlim() == (0.0, 7200.0)
    assert time_space(day, hours=(1.5, 1.75)).axes[0].get_xlim() == (5400.0, 6300.0)
    for hours, message in (
        ((2.0, 3.0), r"hours are 2 to 3; the last trip ends after 2\.00 hours"),
        ((1.0, 1.0), "hours are 1 to 1 for 1 records; expected"),
        ((-0.5, 1.0), r"hours are -0\.5 to 1 for 1 records; expected"),
    ):
        with pytest.raises(InputError, match=message):
            time_space(day, 0, hours)


def test_the_day_that_ends_last_ends_the_picture(records: Records) -> None:
    days = {"a": replace(records["a"][0], end=5000.0), "b": replace(records["a"][0], end=6000.0)}
    for axes in split(time_space(days, hours=(0.0, 9.0)))[0]:
        assert axes.get_xlim() == (0.0, 6000.0)


def test_bands_of_headways(records: Records) -> None:
    figure = headways_by_stop(records)
    assert layout_is_constrained(figure)
    first, second = figure.axes
    assert first.get_shared_y_axes().joined(first, second)
    for axes in figure.axes:
        assert axes.get_ylim()[0] == 0.0
        looks = {
            str(line.get_label()): (line.get_color(), line.get_linestyle(), line.get_linewidth())
            for line in axes.get_lines()
        }
        assert looks["scheduled"] == ("black", "--", 0.8)
        assert looks["bunched below"] == ("tab:red", ":", 1.0)
        assert looks["median"][0] == "tab:blue"
        for band in axes.collections:
            assert to_hex(np.asarray(band.get_facecolor())[0]) == to_hex("tab:blue")
            assert np.asarray(band.get_linewidth()).tolist() == [0]
        for tick in axes.get_xticklabels():
            assert (tick.get_rotation(), tick.get_horizontalalignment()) == (60.0, "right")
    assert first.get_legend() is None
    legend: Any = second.get_legend()
    assert {text.get_fontsize() for text in legend.get_texts()} == {8.0}
    assert legend._loc == 2
    assert second.get_ylabel() == ""
    assert first.get_ylabel() == "forward headway, s, direction up"
    assert len(headways_by_stop({"a": records["a"]}).axes) == 1


def test_points_of_waits_and_travels(records: Records) -> None:
    figure = wait_against_travel({name: metrics_table(days) for name, days in records.items()})
    (axes,) = figure.axes
    assert layout_is_constrained(figure)
    assert figure.get_size_inches().tolist() == pytest.approx([7.5, 5.2])
    assert axes.margins() == (0.15, 0.15)
    for bar in axes.containers:
        assert isinstance(bar, ErrorbarContainer)
        point, caps, ends = bar.lines
        assert point is not None
        assert (point.get_marker(), point.get_linestyle()) == ("o", "None")
        assert [cap.get_markersize() for cap in caps] == [4.0] * 4, "two days have a deviation"
        assert len(ends) == 2
    legend: Any = axes.get_legend()
    assert {text.get_fontsize() for text in legend.get_texts()} == {8.0}
    title: Any = axes._right_title  # type: ignore[attr-defined]
    assert title.get_fontsize() == 9.0


def test_the_pareto_chart(records: Records) -> None:
    figure = pareto({name: metrics_table(days) for name, days in records.items()})
    axes, _ = figure.axes
    assert layout_is_constrained(figure)
    assert figure.get_size_inches().tolist() == pytest.approx([8.2, 5.4])
    assert axes.margins() == (0.22, 0.15)
    (bar,) = axes.containers
    for lines in bar.lines[2]:  # type: ignore[attr-defined]
        assert to_hex(lines.get_color()[0]) == to_hex("grey")
        assert lines.get_linewidth().tolist() == [0.8]
    dots, rings = (one for one in axes.collections if isinstance(one, PathCollection))
    assert (dots.get_sizes().tolist(), dots.get_zorder(), dots.get_cmap().name) == ([70.0], 3, "viridis_r")
    assert (rings.get_sizes().tolist(), rings.get_zorder()) == ([190.0], 2)
    assert len(np.asarray(rings.get_facecolor())) == 0
    assert to_hex(np.asarray(rings.get_edgecolor())[0]) == to_hex("black")
    offsets = np.asarray(dots.get_offsets()).tolist()
    for text, point in zip(axes.texts, offsets, strict=True):
        note: Any = text
        assert list(note.xy) == point
        assert (note.xyann, note.anncoords, note.get_fontsize()) == ((9, 5), "offset points", 8.0)
    title: Any = axes._right_title  # type: ignore[attr-defined]
    assert (title.get_text(), title.get_fontsize()) == (
        "ringed: beaten by none in all three; bars: 95 % intervals",
        9.0,
    )


def test_a_controller_that_is_as_good_as_another_has_its_ring_too() -> None:
    """Beaten is who is nowhere better and somewhere worse."""

    def days(*means: float) -> dict[str, Any]:
        keys = ("vehicle_hours", "weighted_journey", "headway_variation")
        return {key: np.array([mean, mean]) for key, mean in zip(keys, means, strict=True)}

    twins = {"one": days(1, 2, 3), "other": days(1, 2, 3), "worse": days(1, 2, 4), "cheap": days(0.5, 9, 9)}
    rings = pareto(twins).axes[0].collections[-1]
    assert np.asarray(rings.get_offsets()).tolist() == [[1.0, 2.0], [1.0, 2.0], [0.5, 9.0]]
