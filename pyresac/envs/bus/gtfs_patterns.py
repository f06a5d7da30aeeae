"""A direction of a GTFS feed on one date: its stops, and the times of its trips, short turns among them.

Of all sequences of stops the one is the line's whose own trips, together with those that serve a part of it without a
gap, are the most: trips of a part are *short turns*, and every other trip is left out, with a warning that counts them.
Stops are compared by the name of the parent station, or their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.envs.bus.corridor import Array, Places
from pyresac.envs.bus.geometry import along_shape, great_circles
from pyresac.envs.bus.gtfs_feed import check_sequences, checked_degrees, coordinates
from pyresac.envs.bus.told_caller import warn_caller
from pyresac.errors import InputError

FASTEST_TIMETABLE = 50.0
"""m/s, 180 km/h: faster than any bus."""


@dataclass(frozen=True)
class Pattern:
    """One direction as the feed has it: n stops, m trips."""

    stop_ids: tuple[str, ...]
    length: Array
    """(n − 1,) m"""
    arrive: Array
    """(m, n) s after midnight, NaN where the trip does not stop"""
    depart: Array
    """(m, n) s after midnight"""
    first: Places
    """(m,) place of each trip's first stop"""
    last: Places
    """(m,) place of its last one"""

    @property
    def launches(self) -> Array:
        """(m,) departures from the trips' first stops, in order."""
        return np.asarray(self.depart[np.arange(len(self.first)), self.first])


def pattern_of(feed: Path, tables: Any, way: int) -> Pattern:
    """The stops of a direction, and all trips of the day that serve them or a part of them. Raises InputError."""
    directions = tables.trips["direction_id"].astype(float)
    if directions.isna().any():
        warn_caller(f"{feed}: {int(directions.isna().sum())} trips without a direction_id are left out")
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
    stop_ids, begins = _widest(tables, {sequence: len(group) for sequence, group in sequences.items()})
    left_out = sum(len(group) for sequence, group in sequences.items() if sequence not in begins)
    if left_out:
        warn_caller(f"{feed}: {left_out} trips of direction {way} with other stop sequences are left out")
    if len(stop_ids) < 3 or len(set(stop_ids)) < len(stop_ids):
        raise InputError(
            f"{feed}, table stop_times.txt: direction {way} visits {list(stop_ids)}; expected 3 stops, each once"
        )
    length = _lengths(feed, tables, stop_ids, str(sequences[stop_ids][0]["trip_id"].iloc[0]))
    times_of, ends, names = [], [], []
    for sequence, begin in begins.items():
        part = slice(begin, begin + len(sequence))
        for rows in sequences[sequence]:
            trip, own = str(rows["trip_id"].iloc[0]), np.full((2, len(stop_ids)), np.nan)
            own[:, part] = _interpolated(feed, rows, length[begin : part.stop - 1])
            for shift in _departures(feed, tables, trip, float(own[1, begin])):
                times_of.append(own + shift)
                ends.append((begin, part.stop - 1))
                names.append(trip)
    (arrive, depart), (first, last) = np.array(times_of).transpose(1, 0, 2), np.array(ends).T
    _check_speeds(feed, stop_ids, length, arrive[:, 1:] - depart[:, :-1], names)
    launch = depart[np.arange(len(first)), first]
    # of trips that leave together the longest stays
    order = np.lexsort((-last, first, launch))
    again = np.concatenate([[False], (np.diff(launch[order]) == 0.0) & (np.diff(first[order]) == 0)])
    if again.any():
        count = int(again.sum())
        warn_caller(f"{feed}: {count} trips of direction {way} leave together with another and are left out")
    kept = order[~again]
    return Pattern(stop_ids, length, arrive[kept], depart[kept], first[kept], last[kept])


def _widest(tables: Any, counts: dict[tuple[str, ...], int]) -> tuple[tuple[str, ...], dict[tuple[str, ...], int]]:
    """The sequence of stops that the most trips serve, whole or in part, then the commonest, then the longest; and of
    it and each of its parts the place where it begins."""
    table = tables.stops.set_index("stop_id")
    used = {stop for sequence in counts for stop in sequence}
    names = {stop: plain_name(table, stop) if stop in table.index else stop for stop in used}
    found = {}
    for whole in counts:
        alike = len({names[stop] for stop in whole}) == len(whole)
        keys = {part: tuple(names[stop] if alike else stop for stop in part) for part in counts}
        begins = {part: _begin(keys[part], keys[whole]) for part in counts}
        found[whole] = {part: begin for part, begin in begins.items() if begin is not None}
    best = max(counts, key=lambda whole: (sum(counts[part] for part in found[whole]), counts[whole], len(whole)))
    return best, found[best]


def _begin(part: tuple[str, ...], whole: tuple[str, ...]) -> int | None:
    """Where a part of two stops or more begins in the whole; None where it is no part."""
    if len(part) < 2 or part[0] not in whole:
        return None
    begin = whole.index(part[0])
    return begin if whole[begin : begin + len(part)] == part else None


def _check_speeds(feed: Path, stops: tuple[str, ...], length: Array, running: Array, trips: list[str]) -> None:
    """InputError where a trip is faster than any bus: a stop lies elsewhere, or a time is wrong."""
    with np.errstate(divide="ignore"):
        speed = length / running
    wrong = np.argwhere(~(speed <= FASTEST_TIMETABLE) & np.isfinite(running))
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


def plain_name(table: Any, stop: str) -> str:
    """The name of the parent station, else the stop's own, else its stop_id."""
    row = table.loc[stop]
    parent = row.get("parent_station")
    if isinstance(parent, str) and parent and parent in table.index:
        row = table.loc[parent]
    name = row.get("stop_name")
    return name if isinstance(name, str) and name else stop
