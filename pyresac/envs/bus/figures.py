"""Pictures of days: trajectories, headways along the line, waiting against travelling. Each function returns a
Figure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MultipleLocator

from pyresac.envs.bus import state as at
from pyresac.envs.bus.comparison import half_interval
from pyresac.envs.bus.corridor import DIRECTIONS, Array
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST
from pyresac.envs.bus.record import Record
from pyresac.errors import InputError


def time_space(records: Mapping[str, Record], direction: int = 0, hours: tuple[float, float] = (2.0, 5.0)) -> Figure:
    """Where every bus of one direction is, one panel a record, coloured by load; `hours` after the start of
    service, cut at the end of the last trip."""
    first, last = hours
    if not records or not 0.0 <= first < last:
        raise InputError(
            f"hours are {first:g} to {last:g} for {len(records)} records; expected 0 ≤ first < last and a record"
        )
    end = max(record.end for record in records.values()) / 3600.0
    if first >= end:
        raise InputError(f"hours are {first:g} to {last:g}; the last trip ends after {end:.2f} hours")
    last = min(last, end)
    figure = Figure(figsize=(11.0, 3.6 * len(records) + 0.6), layout="constrained")
    panels = figure.subplots(len(records), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, record) in zip(panels, records.items(), strict=True):
        lines = _trajectories(record, direction)
        capacity = record.layout.line.capacity
        lines.set_clim(0, capacity)
        axes.add_collection(lines)
        _line_axis(axes, record, direction)
        start = record.layout.corridor.service_start
        axes.set_xlim(3600.0 * first, 3600.0 * last)
        axes.xaxis.set_major_locator(MultipleLocator(1800.0))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda time, _, start=start: _clock(start + time)))
        axes.set_title(name, loc="left")
        figure.colorbar(lines, ax=axes, label="passengers on board", pad=0.01)
    panels[-1].set_xlabel("time of day")
    return figure


def time_space_so_far(record: Record, hours: float) -> Figure:
    """The last `hours` of a day that is under way, a panel a direction, with a line at the time now."""
    now = max(record.end, 60.0)
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    start = record.layout.corridor.service_start
    for direction, axes in enumerate(panels):
        lines = _trajectories(record, direction)
        lines.set_clim(0, record.layout.line.capacity)
        axes.add_collection(lines)
        _line_axis(axes, record, direction)
        axes.set_xlim(max(now - 3600.0 * hours, 0.0), max(now, 3600.0 * hours))
        axes.axvline(now, color="tab:red", linewidth=0.8)
        axes.xaxis.set_major_locator(MultipleLocator(1800.0))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda time, _: _clock(start + time)))
        figure.colorbar(lines, ax=axes, label="on board", pad=0.01)
    panels[0].set_title(f"{record.layout.corridor.name}, {_clock(start + now)}", loc="left")
    return figure


def _trajectories(record: Record, direction: int) -> LineCollection:
    """Segments of (arrival, departure) at each stop and of the way to the next, with the load on it."""
    line = record.layout.line
    position = np.concatenate([[0.0], np.cumsum(line.length[direction])]) / 1000.0
    segments, loads = [], []
    mine = line.plan[:, DIRECTION] == direction
    for visits, (first, last) in zip(record.visits[mine], line.plan[mine][:, [FIRST, LAST]], strict=True):
        for place in range(first, last):
            if np.isnan(visits[place, at.ARRIVED]):
                break
            arrive, leave = visits[place, at.ARRIVED], visits[place, [at.ARRIVED, at.DWELL, at.HELD]].sum()
            here, there = position[place], position[place + 1]
            segments.append([(arrive, here), (leave, here), (visits[place + 1, at.ARRIVED], there)])
            loads.append(visits[place, at.ONBOARD])
    return LineCollection(segments, array=np.array(loads), cmap="viridis_r", linewidths=1.3)


def _line_axis(axes: Axes, record: Record, direction: int) -> None:
    """Distance along the direction, every third stop named."""
    way = record.layout.corridor.directions[direction]
    position = np.concatenate([[0.0], np.cumsum(way.length)]) / 1000.0
    axes.set_ylim(0.0, position[-1])
    axes.set_yticks(position[::3], [way.stops[index] for index in range(0, len(way.stops), 3)])
    axes.grid(axis="y", linewidth=0.3)
    axes.set_ylabel(f"direction {DIRECTIONS[direction]}")


def headways_by_stop(records: Mapping[str, list[Record]], direction: int = 0) -> Figure:
    """Spread of the forward headway along one direction: median, middle half and middle nine tenths, one panel a
    controller."""
    if not records or not all(records.values()):
        raise InputError("no records to draw")
    figure = Figure(figsize=(4.2 * len(records), 4.2), layout="constrained")
    panels = figure.subplots(1, len(records), sharey=True, squeeze=False)[0]
    for axes, (name, days) in zip(panels, records.items(), strict=True):
        line, way = days[0].layout.line, days[0].layout.corridor.directions[direction]
        places = np.arange(1, line.stops[direction] - 1)
        visits = np.concatenate([day.visits[line.plan[:, DIRECTION] == direction] for day in days])
        decided = np.isfinite(visits[:, places, at.ACTION])
        forward = np.where(decided, visits[:, places, at.FORWARD], np.nan)
        low, lower, median, upper, high = np.nanpercentile(forward, [5, 25, 50, 75, 95], axis=0)
        axes.fill_between(places, low, high, color="tab:blue", alpha=0.2, linewidth=0, label="middle 90 %")
        axes.fill_between(places, lower, upper, color="tab:blue", alpha=0.45, linewidth=0, label="middle 50 %")
        axes.plot(places, median, color="tab:blue", label="median")
        axes.axhline(line.headway, color="black", linestyle="--", linewidth=0.8, label="scheduled")
        axes.axhline(line.headway / 2, color="tab:red", linestyle=":", linewidth=1.0, label="bunched below")
        axes.set_xticks(places[::3], [way.stops[place] for place in places[::3]], rotation=60, ha="right")
        axes.set_title(name, loc="left")
    panels[0].set_ylabel(f"forward headway, s, direction {DIRECTIONS[direction]}")
    panels[0].set_ylim(bottom=0.0)
    panels[-1].legend(fontsize=8, loc="upper left")
    return figure


def wait_against_travel(tables: Mapping[str, Mapping[str, Array]]) -> Figure:
    """Mean wait against mean travel, a point and ± one standard deviation over days a controller; lines of equal
    journey."""
    if not tables:
        raise InputError("no controllers to draw")
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    axes = figure.subplots()
    for name, table in tables.items():
        travel, wait = table["travel"], table["wait"]
        deviation = {"xerr": travel.std(), "yerr": wait.std()} if len(wait) > 1 else {}
        axes.errorbar(travel.mean(), wait.mean(), **deviation, fmt="o", capsize=2, label=name)
    axes.margins(0.15)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for journey in np.arange(np.floor(left + bottom), np.ceil(right + top) + 1.0):
        axes.plot([left, right], [journey - left, journey - right], color="grey", linewidth=0.5, zorder=0)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_xlabel("travel in the vehicle, min")
    axes.set_ylabel("wait, min")
    axes.set_title("grey: equal journey time, a minute apart", fontsize=9, loc="right")
    axes.legend(fontsize=8)
    return figure


def pareto(tables: Mapping[str, Mapping[str, Array]]) -> Figure:
    """What control costs and brings: passengers' time against vehicle-hours, coloured by regularity; a ring around the
    controllers that none beats in all three."""
    if not tables:
        raise InputError("no controllers to draw")
    keys = ("vehicle_hours", "weighted_journey", "headway_variation")
    means = {name: np.array([table[key].mean() for key in keys]) for name, table in tables.items()}
    points = np.array(list(means.values()))
    figure = Figure(figsize=(8.2, 5.4), layout="constrained")
    axes = figure.subplots()
    best = np.array([not ((points <= point).all(axis=1) & (points < point).any(axis=1)).any() for point in points])
    errors = [[half_interval(table[key]) for table in tables.values()] for key in keys[:2]]
    axes.errorbar(points[:, 0], points[:, 1], xerr=errors[0], yerr=errors[1], fmt="none", ecolor="grey", linewidth=0.8)
    dots = axes.scatter(points[:, 0], points[:, 1], c=points[:, 2], cmap="viridis_r", s=70, zorder=3)
    axes.scatter(points[best, 0], points[best, 1], s=190, facecolors="none", edgecolors="black", zorder=2)
    for name, point in means.items():
        axes.annotate(name, (point[0], point[1]), xytext=(9, 5), textcoords="offset points", fontsize=8)
    axes.margins(0.22, 0.15)
    axes.set_xlabel("vehicle-hours a day")
    axes.set_ylabel("2·wait + ride, min a passenger")
    axes.set_title("ringed: beaten by none in all three; bars: 95 % intervals", fontsize=9, loc="right")
    figure.colorbar(dots, ax=axes, label="variation of the headway")
    return figure


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60.0)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
