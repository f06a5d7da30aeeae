"""A corridor from a GTFS feed (partridge reads it, extra `gtfs`): a route's two directions on one date.

Of each direction the sequence of stops is taken that the most trips serve, whole or in part (`gtfs_patterns`); those of
a part are short turns, which start and end where the feed has them, and other trips are left out, with a warning that
counts them. Launches are the departures from the first stops, `frequencies.txt` expanded. Running times come from the
timetable: a link's hourly mean speed is such that its mean running time and the mean dwell at its end, as the simulator
has them, make the mean time from departure to departure of the trips that leave in that hour (`timing`): a dwell is
counted once, whether the feed separates it or not. Times that are missing, or equal to the stop before (feeds round to
minutes), are interpolated by distance; hours without a trip take the nearest hour's time. Lengths are along the shape,
or great circles where the feed has no shapes. Stops of both directions that share a parent station or a name are one.
"""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.envs.bus.corridor import Array, Corridor, Direction
from pyresac.envs.bus.demand import csv_demand, default_demand
from pyresac.envs.bus.gtfs_feed import read_feed
from pyresac.envs.bus.gtfs_patterns import Pattern, pattern_of, plain_name
from pyresac.envs.bus.timetable import scheduled_gaps
from pyresac.envs.bus.timing import timed
from pyresac.envs.bus.vehicle import Vehicle
from pyresac.errors import InputError

SLOWEST = 1.0
"""m/s; slower links of the timetable are taken as this fast."""


def gtfs_corridor(
    feed: str | Path,
    route: str,
    date: str | datetime.date,
    *,
    directions: tuple[int, int] = (0, 1),
    demand: str | Path | None = None,
    per_trip: float | None = None,
    headway: float | None = None,
    holding_limit: float = 60.0,
    speed_deviation: float = 1.5,
    vehicle: Vehicle | None = None,
) -> Corridor:
    """The corridor of `route` (route_id or route_short_name) on `date`; `directions` are the direction_ids of up and
    down.

    demand: a CSV file (`demand.csv_demand`), or the default model with `per_trip` passengers a trip (without it as many
    as fit, see `demand.default_demand`). headway: the
    scheduled one, by default the median of the timetable's. Raises InputError naming file, table and what was expected.
    """
    feed = Path(feed)
    day = _date(date)
    if len(set(directions)) != 2:
        raise InputError(f"directions are {directions}; expected two different direction_ids, of up and of down")
    if demand is not None and per_trip is not None:
        raise InputError(f"demand is {demand} and per_trip is {per_trip:g}, which is of the default model; give one")
    tables = read_feed(feed, route, day)
    patterns = [pattern_of(feed, tables, way) for way in directions]
    names = _names(feed, tables, patterns)
    stops = tuple(dict.fromkeys(names[stop] for pattern in patterns for stop in pattern.stop_ids))
    start = 3600.0 * math.floor(min(pattern.launches.min() for pattern in patterns) / 3600.0)
    hours = math.ceil((max(np.nanmax(pattern.arrive) for pattern in patterns) - start) / 3600.0)
    up, down = (_direction(pattern, names, start, hours) for pattern in patterns)
    gaps = np.concatenate([scheduled_gaps(way, hours) for way in (up, down)])
    if headway is None and gaps.size == 0:
        raise InputError(f"{feed}: route {route!r} has one trip a direction on {day}; state the headway")
    table = (
        default_demand(stops, (up, down), hours, per_trip, (vehicle or Vehicle()).capacity)
        if demand is None
        else csv_demand(demand, stops, hours, start)
    )
    speeds = np.concatenate([up.speed, down.speed])
    corridor = Corridor(
        name=f"GTFS route {route} on {day}",
        stops=stops,
        up=up,
        down=down,
        demand=table,
        headway=float(np.median(gaps)) if headway is None else headway,
        holding_limit=holding_limit,
        vehicle=Vehicle() if vehicle is None else vehicle,
        speed_deviation=speed_deviation,
        speed_floor=max(SLOWEST, min(2.0, 0.5 * float(speeds.min()))),
        speed_ceiling=max(15.0, 2.0 * float(speeds.max())),
        service_start=start,
    )
    return timed(corridor, (_link_times(patterns[0], start, hours), _link_times(patterns[1], start, hours)))


def _date(date: str | datetime.date) -> datetime.date:
    if isinstance(date, datetime.date):
        return date
    try:
        return datetime.date.fromisoformat(date)
    except ValueError as error:
        raise InputError(f"date is {date!r}; expected YYYY-MM-DD") from error


def _names(feed: Path, tables: Any, patterns: list[Pattern]) -> dict[str, str]:
    """A name for each stop_id: the parent station's or its own; with the stop_id where a direction would have it
    twice."""
    table = tables.stops.set_index("stop_id")
    names: dict[str, str] = {}
    for pattern in patterns:
        plain = [plain_name(table, stop) for stop in pattern.stop_ids]
        for stop, name in zip(pattern.stop_ids, plain, strict=True):
            names[stop] = name if plain.count(name) == 1 else f"{name} ({stop})"
    return names


def _link_times(pattern: Pattern, start: float, hours: int) -> Array:
    """(n − 1, hours) mean s from departure to departure, on the last link to the arrival; hours without a trip take
    the nearest hour's."""
    until = np.concatenate([pattern.depart[:, 1:-1], pattern.arrive[:, -1:]], axis=1)
    taken = until - pattern.depart[:, :-1]
    short = np.flatnonzero(pattern.last < len(pattern.stop_ids) - 1)
    # a stand at the end of a short turn is none of those who go on
    taken[short, pattern.last[short] - 1] = np.nan
    left = (np.nan_to_num(pattern.depart[:, :-1] - start) / 3600.0).astype(int).clip(0, hours - 1)
    times = np.full((taken.shape[1], hours), np.nan)
    for link in range(taken.shape[1]):
        for hour in range(hours):
            mine = taken[(left[:, link] == hour) & np.isfinite(taken[:, link]), link]
            if mine.size:
                times[link, hour] = mine.mean()
        known = np.flatnonzero(np.isfinite(times[link]))
        nearest = known[np.abs(np.arange(hours)[:, None] - known[None, :]).argmin(axis=1)]
        times[link] = times[link, nearest]
    return times


def _direction(pattern: Pattern, names: dict[str, str], start: float, hours: int) -> Direction:
    speed = np.maximum(pattern.length[:, None] / _link_times(pattern, start, hours), SLOWEST)
    stops = tuple(names[stop] for stop in pattern.stop_ids)
    launches = pattern.launches - start
    return Direction(stops, pattern.length, speed, launches, None, pattern.first, pattern.last)
