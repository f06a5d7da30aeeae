"""Pictures of days, each number of them from the records: axes, levels, bands, grey lines; the page; a learned day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.container import ErrorbarContainer

from pyresac.envs.bus import Corridor, HeadwayEqualising, NoHolding, Record, day_metrics, metrics_table, simulate_days
from pyresac.envs.bus import state as at
from pyresac.envs.bus.animation import OPENS, day_plain
from pyresac.envs.bus.figures import headways_by_stop, pareto, time_space, time_space_so_far, wait_against_travel
from pyresac.envs.bus.line import DIRECTION
from pyresac.errors import InputError
from pyresac.figures.evaluation import day_figure
from pyresac.tasks.corridor_task import EVALUATION_DAYS

Records = dict[str, list[Record]]


@pytest.fixture(scope="module")
def records(small: Corridor) -> Records:
    """Three days under two rules, of a line that begins at half past six."""
    line = replace(small, service_start=6.5 * 3600.0)
    return {
        name: simulate_days(line, rule, range(3))
        for name, rule in (("free", NoHolding()), ("held", HeadwayEqualising()))
    }


def tables(records: Records) -> dict[str, Any]:
    return {name: metrics_table(days) for name, days in records.items()}


def bars(axes: Axes) -> list[Any]:
    """The containers of error bars."""
    return [found for found in axes.containers if isinstance(found, ErrorbarContainer)]


def test_grey_lines_are_journeys_of_whole_minutes_all_over_the_picture(records: Records) -> None:
    axes = wait_against_travel(tables(records)).axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    grey = [line for line in axes.get_lines() if line.get_color() == "grey"]
    journeys = []
    for line in grey:
        ends = np.asarray(line.get_xydata())
        assert ends[:, 0].tolist() == [left, right]
        np.testing.assert_allclose(ends.sum(1), round(ends[0].sum()), atol=1e-9)
        journeys.append(round(ends[0].sum()))
        assert (line.get_linewidth(), line.get_zorder()) == (0.5, 0)
    assert journeys == list(range(int(np.floor(left + bottom)), int(np.ceil(right + top)) + 1))
    assert axes.get_title(loc="right") == "grey: equal journey time, a minute apart"


def test_a_controller_is_a_point_with_its_deviation_over_days(records: Records) -> None:
    found = tables(records)
    axes = wait_against_travel(found).axes[0]
    assert axes.get_xlabel() == "travel in the vehicle, min"
    assert axes.get_ylabel() == "wait, min"
    for bar, (name, table) in zip(bars(axes), found.items(), strict=True):
        assert bar.get_label() == name
        point, _, (across, up) = bar.lines
        assert point.get_xydata().tolist() == [[table["travel"].mean(), table["wait"].mean()]]
        for lines, column, values in ((across, 0, table["travel"]), (up, 1, table["wait"])):
            ends = lines.get_segments()[0][:, column]
            np.testing.assert_allclose(ends, values.mean() + values.std() * np.array([-1.0, 1.0]))
    one = wait_against_travel(tables({"free": records["free"][:1]})).axes[0]
    assert not bars(one)[0].lines[2], "a day alone has no deviation"


def test_bars_of_the_pareto_chart_are_intervals_of_the_mean(records: Records) -> None:
    """Of Student with two degrees of freedom: 4.3027 standard errors."""
    found = tables(records)
    figure = pareto(found)
    axes, colours = figure.axes
    (bar,) = bars(axes)
    for lines, column, key in zip(bar.lines[2], (0, 1), ("vehicle_hours", "weighted_journey"), strict=True):
        for segment, table in zip(lines.get_segments(), found.values(), strict=True):
            half = 4.302652729911275 * table[key].std(ddof=1) / np.sqrt(3.0)
            np.testing.assert_allclose(segment[:, column], table[key].mean() + half * np.array([-1.0, 1.0]))
    dots = axes.collections[-2]
    assert list(np.asarray(dots.get_array())) == [table["headway_variation"].mean() for table in found.values()]
    assert [text.get_text() for text in axes.texts] == list(found)
    assert axes.get_xlabel() == "vehicle-hours a day"
    assert axes.get_ylabel() == "2·wait + ride, min a passenger"
    assert colours.get_ylabel() == "variation of the headway"


def clock_of(axes: Axes) -> Callable[[float], str]:
    formatter: Any = axes.xaxis.get_major_formatter()
    return lambda seconds: str(formatter(seconds, 0))


@pytest.mark.parametrize("direction", [0, 1])
def test_trajectories_stand_on_the_line_and_the_clock(records: Records, direction: int) -> None:
    pair = {name: days[0] for name, days in records.items()}
    figure = time_space(pair, direction, (0.25, 1.0))
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert figure.get_size_inches().tolist() == pytest.approx([11.0, 3.6 * 2 + 0.6])
    assert [axes.get_title(loc="left") for axes in panels] == ["free", "held"]
    assert [axes.get_xlabel() for axes in panels] == ["", "time of day"]
    assert [bar.get_ylabel() for bar in figure.axes if bar.get_label() == "<colorbar>"] == ["passengers on board"] * 2
    for axes in panels:
        assert axes.get_xlim() == (900.0, 3600.0)
        (trips,) = axes.collections
        assert isinstance(trips, LineCollection)
        assert trips.get_clim() == (0, 50)
        check_line(axes, records["free"][0], direction)


def check_line(axes: Axes, record: Record, direction: int) -> None:
    """Stops where they lie, every third one named; half hours of the clock."""
    way = record.layout.corridor.directions[direction]
    lies = [0.0, *np.cumsum(way.length) / 1000.0]
    assert axes.get_ylim() == (0.0, lies[-1])
    assert axes.get_yticks().tolist() == [lies[0], lies[3]]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [way.stops[0], way.stops[3]]
    assert axes.get_ylabel() == f"direction {('up', 'down')[direction]}"
    assert [line.get_visible() for line in axes.get_ygridlines()] == [True] * 2
    assert {line.get_visible() for line in axes.get_xgridlines()} == {False}
    times: Any = axes.xaxis.get_major_locator()
    assert np.diff(times.tick_values(0.0, 7200.0)).tolist() == [1800.0] * (len(times.tick_values(0.0, 7200.0)) - 1)
    clock = clock_of(axes)
    assert [clock(seconds) for seconds in (0.0, 29.0, 31.0, 1800.0, 17.5 * 3600)] == [
        "06:30",
        "06:30",
        "06:31",
        "07:00",
        "24:00",
    ]


def test_a_day_under_way_ends_with_the_line_of_now(records: Records) -> None:
    record = records["held"][1]
    for end, hours, limits in ((record.end, 1.0, (record.end - 3600.0, record.end)), (600.0, 2.0, (0.0, 7200.0))):
        figure = time_space_so_far(replace(record, end=end), hours)
        panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        for direction, axes in enumerate(panels):
            (now,) = axes.get_lines()
            assert list(np.asarray(now.get_xdata())) == [end, end]
            assert axes.get_xlim() == pytest.approx(limits)
            (trips,) = axes.collections
            assert trips.get_clim() == (0, 50)
            check_line(axes, record, direction)
        assert panels[0].get_title(loc="left") == f"small, {clock_of(panels[0])(end)}"
    (now, _) = (axes.get_lines()[0] for axes in time_space_so_far(replace(record, end=0.0), 1.0).axes[:2])
    assert list(np.asarray(now.get_xdata())) == [60.0, 60.0], "a minute at least"


@pytest.mark.parametrize("direction", [0, 1])
def test_headways_by_stop_are_quantiles_of_all_days(records: Records, direction: int) -> None:
    figure = headways_by_stop(records, direction)
    assert figure.get_size_inches().tolist() == pytest.approx([4.2 * 2, 4.2])
    assert figure.axes[0].get_ylabel() == f"forward headway, s, direction {('up', 'down')[direction]}"
    assert figure.axes[0].get_ylim()[0] == 0.0
    for axes, (name, days) in zip(figure.axes, records.items(), strict=True):
        line = days[0].layout.line
        rows = np.concatenate([day.visits[line.plan[:, DIRECTION] == direction] for day in days])
        wanted = np.empty((5, 3))
        for place in (1, 2, 3):
            seen = [visit[at.FORWARD] for visit in rows[:, place] if np.isfinite(visit[at.ACTION])]
            wanted[:, place - 1] = np.percentile(seen, [5, 25, 50, 75, 95])
        assert axes.get_title(loc="left") == name
        levels = {str(one.get_label()): np.asarray(one.get_ydata()) for one in axes.get_lines()}
        np.testing.assert_allclose(levels["median"], wanted[2])
        assert set(levels["scheduled"].tolist()) == {600.0}
        assert set(levels["bunched below"].tolist()) == {300.0}
        areas = {str(one.get_label()): one for one in axes.collections if isinstance(one, PolyCollection)}
        for label, (low, high), alpha in (("middle 90 %", (0, 4), 0.2), ("middle 50 %", (1, 3), 0.45)):
            edge = np.asarray(areas[label].get_paths()[0].vertices)
            assert areas[label].get_alpha() == alpha
            for place in (1, 2, 3):
                around = edge[edge[:, 0] == place, 1]
                assert [around.min(), around.max()] == pytest.approx([wanted[low, place - 1], wanted[high, place - 1]])
        assert axes.get_xticks().tolist() == [1]
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["BD"[direction]]
    legend = figure.axes[-1].get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 5


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: time_space({}), r"hours are 2 to 5 for 0 records; expected 0 ≤ first < last and a record"),
        (lambda: headways_by_stop({}), "no records to draw"),
        (lambda: headways_by_stop({"a": []}), "no records to draw"),
        (lambda: wait_against_travel({}), "no controllers to draw"),
        (lambda: pareto({}), "no controllers to draw"),
    ],
)
def test_nothing_to_draw_is_said(draw: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw()


def test_the_page_has_tenths_of_seconds_and_shares_of_the_line(records: Records) -> None:
    record = records["held"][0]
    page = day_plain(record)
    line = record.layout.corridor
    assert (page["start"], page["first"], page["capacity"]) == (6.5 * 3600.0, 3600.0 * OPENS, 50)
    assert page["end"] - 1.0 < record.end <= page["end"]
    assert page["names"] == list(line.up.stops)
    for shares, way in zip(page["position"], line.directions, strict=True):
        assert shares == [round(float(way.length[:stop].sum() / way.length.sum()), 5) for stop in range(5)]
    for (_, _, stops), visits in zip(page["trips"], record.visits, strict=True):
        for (arrive, leave, hold, load), visit in zip(stops, visits, strict=True):
            ready = visit[at.ARRIVED] + visit[at.DWELL]
            held = 0.0 if np.isnan(visit[at.HELD]) else visit[at.HELD]
            times = [visit[at.ARRIVED], ready + held, ready]
            assert [arrive, leave, hold] == [float(np.round(time, 1)) for time in times]
            assert load == visit[at.ONBOARD]


@pytest.mark.parametrize("seed", [0, 3])
def test_a_learned_day_stands_above_the_same_day_without_holding(small: Corridor, seed: int) -> None:
    """A short day is shown whole, and each panel says what its policy earned there."""
    task: Any = SimpleNamespace(corridor=small, published=False)
    figure = day_figure(task, "mine", HeadwayEqualising(), seed)  # type: ignore[arg-type]
    day = EVALUATION_DAYS + seed
    assert figure.get_suptitle() == f"Corridor small, day {day}: the buses of one direction"
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    ends = []
    for axes, (name, rule) in zip(
        panels, (("learned (mine)", HeadwayEqualising()), ("no holding", NoHolding())), strict=True
    ):
        (record,) = simulate_days(small, rule, [day])
        found = day_metrics(record)
        words = (
            f"{name}: reward −{-found.reward / 1e6:.3f}·10⁶, wait {found.wait:.1f} min, travel {found.travel:.1f} min, "
            f"{100 * found.bunching:.1f} % bunched"
        )
        assert axes.get_title(loc="left") == words
        ends.append(record.end)
    assert {axes.get_xlim() for axes in panels} == {(0.0, max(ends))}
