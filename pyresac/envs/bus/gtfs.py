"""A corridor from a GTFS feed (partridge reads it, extra `gtfs`): a route's two directions on one date.

Of each direction the commonest sequence of stops is taken; trips of other sequences are left out, with a warning that
counts them. Launches are the departures from its first stop, `frequencies.txt` expanded. Running times come from the
timetable: a link's hourly mean speed is such that its mean running time and the mean dwell at its end, as the simulator
has them, make the mean time from departure to departure of the trips that leave in that hour (`timing`): a dwell is
counted once, whether the feed separates it or not. Times that are missing, or equal to the stop before (feeds round to
minutes), are interpolated by distance; hours without a trip take the nearest hour's time. Lengths are along the shape,
or great circles where the feed has no shapes. Stops of both directions that share a parent station or a name are one.
"""

from __future__ import annotations

import datetime
import math
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.envs.bus.corridor import Array, Corridor, Direction, Vehicle
from pyresac.envs.bus.demand import csv_demand, default_demand
from pyresac.envs.bus.geometry import along_shape, great_circles
from pyresac.envs.bus.gtfs_feed import check_sequences, checked_degrees, coordinates, read_feed
from pyresac.envs.bus.timing import timed
from pyresac.errors import InputError

FASTEST_TIMETABLE = 50.0
"""m/s, 180 km/h: faster than any bus."""
SLOWEST = 1.0
"""m/s; slower links of the timetable are taken as this fast."""


@dataclass(frozen=True)
class Pattern:
    """One direction as the feed has it: n stops, m trips."""

    stop_ids: tuple[str, ...]
    length: Array
    """(n − 1,) m"""
    arrive: Array
    """(m, n) s after midnight"""
    depart: Array
    """(m, n) s after midnight"""


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
    patterns = [_pattern(feed, tables, way) for way in directions]
    names = _names(feed, tables, patterns)
    stops = tuple(dict.fromkeys(names[stop] for pattern in patterns for stop in pattern.stop_ids))
    start = 3600.0 * math.floor(min(pattern.depart[:, 0].min() for pattern in patterns) / 3600.0)
    hours = math.ceil((max(pattern.arrive[:, -1].max() for pattern in patterns) - start) / 3600.0)
    up, down = (_direction(pattern, names, start, hours) for pattern in patterns)
    gaps = np.concatenate([np.diff(way.launches) for way in (up, down)])
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


def _pattern(feed: Path, tables: Any, way: int) -> Pattern:
    """The commonest stop sequence of a direction, with all its trips of the day."""
    directions = tables.trips["direction_id"].astype(float)
    if directions.isna().any():
        warnings.warn(f"{feed}: {int(directions.isna().sum())} trips without a direction_id are left out", stacklevel=3)
    trips = tables.trips[directions == float(way)]
    if trips.empty:
        counts = tables.trips["direction_id"].value_counts().sort_index()
        present = ", ".join(f"{count} with {float(value):g}" for value, count in counts.items())
        raise InputError(
            f"{feed}, table trips.txt: no trip with direction_id {way} on that date; the route has {present} then"
        )
    times = tables.stop_times[tables.stop_times["trip_id"].isin(trips["trip_id"])]
    check_sequences(feed, times)
    times = times.sort_values(["trip_id", "stop_sequence"])
    sequences: dict[tuple[str, ...], list[Any]] = {}
    for _, rows in times.groupby("trip_id", sort=True):
        sequences.setdefault(tuple(rows["stop_id"]), []).append(rows)
    if not sequences:
        raise InputError(f"{feed}, table stop_times.txt: no stop times for the trips of direction_id {way}")
    stop_ids, chosen = max(sequences.items(), key=lambda item: (len(item[1]), len(item[0])))
    left_out = sum(len(group) for sequence, group in sequences.items() if sequence != stop_ids)
    if left_out:
        warnings.warn(
            f"{feed}: {left_out} trips of direction {way} with other stop sequences are left out", stacklevel=3
        )
    if len(stop_ids) < 3 or len(set(stop_ids)) < len(stop_ids):
        raise InputError(
            f"{feed}, table stop_times.txt: direction {way} visits {list(stop_ids)}; expected 3 stops, each once"
        )
    length = _lengths(feed, tables, stop_ids, str(chosen[0]["trip_id"].iloc[0]))
    arrive, depart, names = [], [], []
    for rows in chosen:
        times_of = _interpolated(feed, rows, length)
        for shift in _departures(feed, tables, str(rows["trip_id"].iloc[0]), times_of[1][0]):
            arrive.append(times_of[0] + shift)
            depart.append(times_of[1] + shift)
            names.append(str(rows["trip_id"].iloc[0]))
    _check_speeds(feed, stop_ids, length, np.array(arrive)[:, 1:] - np.array(depart)[:, :-1], names)
    order = np.argsort([times[0] for times in depart], kind="stable")
    first = np.array(depart)[order]
    distinct = np.concatenate([[True], np.diff(first[:, 0]) > 0.0])
    if not distinct.all():
        count = int((~distinct).sum())
        warnings.warn(
            f"{feed}: {count} trips of direction {way} leave together with another and are left out", stacklevel=3
        )
    return Pattern(stop_ids, length, np.array(arrive)[order][distinct], first[distinct])


def _check_speeds(feed: Path, stops: tuple[str, ...], length: Array, running: Array, trips: list[str]) -> None:
    """InputError where a trip is faster than any bus: a stop lies elsewhere, or a time is wrong."""
    with np.errstate(divide="ignore"):
        speed = length / running
    wrong = np.argwhere(~(speed <= FASTEST_TIMETABLE))
    if wrong.size:
        trip, link = wrong[0]
        raise InputError(
            f"{feed}, trip {trips[trip]!r}: {length[link]:,.0f} m from stop {stops[link]!r} to {stops[link + 1]!r} in "
            f"{running[trip, link]:.0f} s, {speed[trip, link]:,.0f} m/s; expected at most {FASTEST_TIMETABLE:g} m/s: "
            f"see stop_lat and stop_lon of both in stops.txt"
        )


def _departures(feed: Path, tables: Any, trip: str, departure: float) -> list[float]:
    """Shifts of a trip's times: 0, or one for each departure that frequencies.txt gives it."""
    frequencies = tables.frequencies
    rows = frequencies[frequencies["trip_id"] == trip] if not frequencies.empty else frequencies
    if rows.empty:
        return [0.0]
    shifts: list[float] = []
    for start, end, gap in zip(rows["start_time"], rows["end_time"], rows["headway_secs"], strict=True):
        if not (start < end and gap > 0.0):
            given = f"start_time {start:g} s, end_time {end:g} s, headway_secs {gap:g}"
            raise InputError(
                f"{feed}, table frequencies.txt, trip {trip!r}: {given}; the end must follow the start, "
                f"and headway_secs be above 0"
            )
        shifts.extend(float(time) - departure for time in np.arange(float(start), float(end), float(gap)))
    return shifts


def _interpolated(feed: Path, rows: Any, length: Array) -> tuple[Array, Array]:
    """(arrive, depart) of a trip, each (n,); missing or repeated times by distance between those known."""
    trip = rows["trip_id"].iloc[0]
    arrive, depart = rows["arrival_time"].to_numpy(dtype=float), rows["departure_time"].to_numpy(dtype=float)
    arrive, depart = np.where(np.isnan(arrive), depart, arrive), np.where(np.isnan(depart), arrive, depart)
    where = f"{feed}, table stop_times.txt, trip {trip!r}"
    if np.isnan(arrive[[0, -1]]).any():
        raise InputError(f"{where}: the first and the last stop need times")
    known = np.flatnonzero(~np.isnan(arrive))
    back = depart[known] < arrive[known]
    back[1:] |= arrive[known[1:]] < depart[known[:-1]]
    if back.any():
        stop = rows["stop_id"].iloc[int(known[back][0])]
        raise InputError(f"{where}: times go backwards at stop {stop!r}; they must not decrease along a trip")
    fresh = np.array([i for i in known if i == 0 or arrive[i] > depart[known[known < i]][-1]])
    if fresh[-1] != len(arrive) - 1:
        # a last stop at the minute of the one before it: keep the last stop's time, let go of the others'
        fresh = np.append(fresh[:-1] if len(fresh) > 1 else fresh, len(arrive) - 1)
    if not arrive[-1] > depart[fresh[-2]]:
        raise InputError(f"{where}: the whole trip takes no time")
    position = np.concatenate([[0.0], np.cumsum(length)])
    spread, left = arrive.copy(), depart.copy()
    for before, after in pairwise(fresh):
        # the bus drives from its departure to its next arrival
        between = slice(before + 1, after)
        ends, times = position[[before, after]], [depart[before], arrive[after]]
        spread[between] = left[between] = np.interp(position[between], ends, times)
    return spread, left


def _lengths(feed: Path, tables: Any, stop_ids: tuple[str, ...], trip: str) -> Array:
    """(n − 1,) m between consecutive stops, along the trip's shape if the feed has it."""
    points = coordinates(feed, tables.stops, list(stop_ids), trip)
    length = great_circles(points)
    shapes, trips = tables.shapes, tables.trips
    if not shapes.empty and "shape_id" in trips.columns:
        shape = trips.set_index("trip_id").loc[trip, "shape_id"]
        rows = shapes[shapes["shape_id"] == shape].sort_values("shape_pt_sequence")
        if len(rows) > 1:
            columns = ("shape_pt_lat", "shape_pt_lon")
            where, names = f"{feed}, table shapes.txt", [f"shape {shape!r}, point {n}" for n in rows.shape_pt_sequence]
            line = checked_degrees(where, rows[list(columns)].to_numpy(dtype=float), names, columns)
            length = along_shape(points, line)
    short = np.flatnonzero(~(length > 0.0))
    if short.size:
        pair = f"{stop_ids[short[0]]!r} and {stop_ids[short[0] + 1]!r}"
        raise InputError(f"{feed}, table stops.txt: stops {pair} lie 0 m apart; a link must be longer than 0 m")
    return length


def _names(feed: Path, tables: Any, patterns: list[Pattern]) -> dict[str, str]:
    """A name for each stop_id: the parent station's or its own; with the stop_id where a direction would have it
    twice."""
    table = tables.stops.set_index("stop_id")
    names: dict[str, str] = {}
    for pattern in patterns:
        plain = [_plain_name(table, stop) for stop in pattern.stop_ids]
        for stop, name in zip(pattern.stop_ids, plain, strict=True):
            names[stop] = name if plain.count(name) == 1 else f"{name} ({stop})"
    return names


def _plain_name(table: Any, stop: str) -> str:
    row = table.loc[stop]
    parent = row.get("parent_station")
    if isinstance(parent, str) and parent and parent in table.index:
        row = table.loc[parent]
    name = row.get("stop_name")
    return name if isinstance(name, str) and name else stop


def _link_times(pattern: Pattern, start: float, hours: int) -> Array:
    """(n − 1, hours) mean s from departure to departure, on the last link to the arrival; hours without a trip take
    the nearest hour's."""
    until = np.concatenate([pattern.depart[:, 1:-1], pattern.arrive[:, -1:]], axis=1)
    taken = until - pattern.depart[:, :-1]
    left = ((pattern.depart[:, :-1] - start) / 3600.0).astype(int).clip(0, hours - 1)
    times = np.full((taken.shape[1], hours), np.nan)
    for link in range(taken.shape[1]):
        for hour in range(hours):
            mine = taken[left[:, link] == hour, link]
            if mine.size:
                times[link, hour] = mine.mean()
        known = np.flatnonzero(np.isfinite(times[link]))
        nearest = known[np.abs(np.arange(hours)[:, None] - known[None, :]).argmin(axis=1)]
        times[link] = times[link, nearest]
    return times


def _direction(pattern: Pattern, names: dict[str, str], start: float, hours: int) -> Direction:
    speed = np.maximum(pattern.length[:, None] / _link_times(pattern, start, hours), SLOWEST)
    stops = tuple(names[stop] for stop in pattern.stop_ids)
    return Direction(stops, pattern.length, speed, pattern.depart[:, 0] - start)
