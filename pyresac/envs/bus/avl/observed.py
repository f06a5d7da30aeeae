"""Observed arrivals and departures of many days, from a CSV file or from simulated days.

The file has a row a visit, header `day,direction,launch,stop,arrival,departure`: any label of the day; up or down; the
scheduled departure of the trip from its first stop, which with day and direction names the trip; the stop's name;
clock times HH:MM or HH:MM:SS, hours past 24 allowed. A visit that was not observed has no row. At a first stop an
arrival before the launch counts as the launch; at a last stop the departure may be empty.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.corridor import DIRECTIONS, Array, Corridor, Direction
from pyresac.envs.bus.demand import clock_seconds
from pyresac.envs.bus.line import DIRECTION
from pyresac.envs.bus.record import Record
from pyresac.errors import InputError
from pyresac.reading import read_rows

COLUMNS = ["day", "direction", "launch", "stop", "arrival", "departure"]
Trip = tuple[str, int, float]
Visit = tuple[float, float]


@dataclass(frozen=True)
class ObservedWay:
    """One direction: D days, N trips by launch, S stops; s after the start of service, NaN where not observed."""

    launch: Array
    """(N,) scheduled departures from the first stop, increasing."""
    arrive: Array
    """(D, N, S)"""
    depart: Array
    """(D, N, S), NaN at the last stop."""

    @property
    def running(self) -> Array:
        """(D, N, S − 1) from departure to arrival at the next stop."""
        return np.asarray(self.arrive[:, :, 1:] - self.depart[:, :, :-1])

    def days(self, chosen: slice) -> ObservedWay:
        """Some of the days."""
        return ObservedWay(self.launch, self.arrive[chosen], self.depart[chosen])


Observed = tuple[ObservedWay, ObservedWay]
"""Up and down, the same days."""


def days_of(records: list[Record]) -> Observed:
    """What an observer sees of simulated days of one corridor."""
    line, corridor = records[0].layout.line, records[0].layout.corridor
    visits = np.stack([record.visits for record in records])
    ways = []
    for index, way in enumerate(corridor.directions):
        rows = visits[:, line.plan[:, DIRECTION] == index, : len(way.stops)]
        arrive = rows[..., at.ARRIVED]
        depart = arrive + rows[..., at.DWELL] + rows[..., at.HELD]
        depart[..., -1] = np.nan
        ways.append(ObservedWay(way.launches.copy(), arrive.copy(), depart))
    return ways[0], ways[1]


def observed_text(observed: Observed, corridor: Corridor) -> str:
    """The CSV text of `read_observed`, times to the second."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    start = corridor.service_start
    for name, way, of in zip(DIRECTIONS, observed, corridor.directions, strict=True):
        for day, trip, place in np.argwhere(np.isfinite(way.arrive)):
            times = way.launch[trip], way.arrive[day, trip, place], way.depart[day, trip, place]
            launch, arrival, departure = (_clock(start + time) for time in times)
            writer.writerow([day, name, launch, of.stops[place], arrival, departure])
    return text.getvalue()


def read_observed(path: str | Path, corridor: Corridor) -> tuple[Observed, list[str]]:
    """The days of a file, and their labels in order of first appearance. Raises InputError naming file and row."""
    path = Path(path)
    if corridor.short_turns:
        raise InputError(
            f"corridor {corridor.name!r} has {corridor.short_turns} short turns; days of a line whose trips all serve "
            f"the whole of it can be read, no others"
        )
    rows = read_rows(path)
    if not rows or [cell.strip() for cell in rows[0][1]] != COLUMNS:
        raise InputError(f"{path}, row 1: found {rows[0][1] if rows else 'nothing'}; expected the columns {COLUMNS}")
    places = [{stop: place for place, stop in enumerate(way.stops)} for way in corridor.directions]
    found: dict[Trip, dict[int, Visit]] = {}
    for number, row in rows[1:]:
        trip, place, visit = _visit(f"{path}, row {number}", row, corridor, places)
        visits = found.setdefault(trip, {})
        if place in visits:
            raise InputError(f"{path}, row {number}: the trip has a row for stop {row[3].strip()!r} already")
        visits[place] = visit
    for trip, visits in found.items():
        _check_order(path, trip, visits, corridor)
    labels = list(dict.fromkeys(trip[0] for trip in found))
    ways = [_way(found, labels, index, way) for index, way in enumerate(corridor.directions)]
    for name, observed in zip(DIRECTIONS, ways, strict=True):
        if not observed.launch.size:
            raise InputError(f"{path}: no trip of direction {name}; a corridor needs both")
    return (ways[0], ways[1]), labels


def _visit(where: str, row: list[str], corridor: Corridor, places: list[dict[str, int]]) -> tuple[Trip, int, Visit]:
    if len(row) != len(COLUMNS):
        raise InputError(f"{where}: {len(row)} cells; expected {len(COLUMNS)}")
    day, direction, launch, stop, arrival, departure = (cell.strip() for cell in row)
    if direction not in DIRECTIONS:
        raise InputError(f"{where}: direction is {direction!r}; expected {' or '.join(DIRECTIONS)}")
    way = DIRECTIONS.index(direction)
    if stop not in places[way]:
        raise InputError(f"{where}: stop is {stop!r}, which direction {direction} of {corridor.name!r} does not visit")
    place, last = places[way][stop], len(places[way]) - 1
    start = corridor.service_start
    left = clock_seconds(f"{where}: launch", launch) - start
    if left < 0.0:
        raise InputError(f"{where}: launch is {launch}, before the corridor's service, which starts at {_clock(start)}")
    came = clock_seconds(f"{where}: arrival", arrival) - start
    gone = np.nan if place == last else clock_seconds(f"{where}: departure", departure) - start
    if place == 0:
        came = max(came, left)
    if gone < came:
        raise InputError(f"{where}: departure {departure} is before the arrival at {_clock(start + came)}")
    return (day, way, left), place, (came, gone)


def _check_order(path: Path, trip: Trip, visits: dict[int, Visit], corridor: Corridor) -> None:
    """InputError where a trip arrives before it has left the stop before."""
    order = sorted(visits)
    for before, after in pairwise(order):
        if not visits[after][0] > visits[before][1]:
            day, way, left = trip
            stops = corridor.directions[way].stops
            raise InputError(
                f"{path}: day {day!r}, direction {DIRECTIONS[way]}, launch {_clock(corridor.service_start + left)}: it "
                f"comes to {stops[after]!r} no later than it leaves {stops[before]!r}; times must increase along a trip"
            )


def _way(found: dict[Trip, dict[int, Visit]], labels: list[str], index: int, way: Direction) -> ObservedWay:
    launch = sorted({trip[2] for trip in found if trip[1] == index})
    days = {label: number for number, label in enumerate(labels)}
    trips = {left: number for number, left in enumerate(launch)}
    times = np.full((2, len(labels), len(launch), len(way.stops)), np.nan)
    for (day, direction, left), visits in found.items():
        if direction == index:
            for place, visit in visits.items():
                times[:, days[day], trips[left], place] = visit
    return ObservedWay(np.array(launch), times[0], times[1])


def _clock(seconds: float) -> str:
    if not np.isfinite(seconds):
        return ""
    whole = round(float(seconds))
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
