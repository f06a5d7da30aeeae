"""Demand for corridors that come without any: from a CSV file, or from a stated default model.

The CSV is in long form, header `from,to,start,end,rate`: rate passengers per hour ride from one stop to another
between the clock times start and end (HH:MM or HH:MM:SS, hours past 24 allowed). Rows of a pair may overlap: their
rates add. The default model: every pair of stops i before j of a direction has the same rate at all hours, in
proportion to exp(−|links between − 4|/4), and all pairs together make PER_TRIP passengers a scheduled trip, or as many
as fill a bus to FILL of its places on the busiest link. A short turn brings those of the pairs that it serves.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from pyresac.envs.bus.corridor import Array, Direction
from pyresac.envs.bus.told_caller import warn_caller
from pyresac.errors import InputError
from pyresac.reading import read_rows

PER_TRIP = 80.0
"""Passengers of a scheduled trip of the default model."""
FILL = 0.6
"""Share of a bus's places that the default model fills on the busiest link: uneven headways need the rest."""
COLUMNS = ["from", "to", "start", "end", "rate"]


def clock_seconds(where: str, text: str) -> float:
    """Seconds after midnight of HH:MM or HH:MM:SS; hours past 24 are the next day's."""
    match = re.fullmatch(r"\s*(\d{1,2}):([0-5]\d)(?::([0-5]\d))?\s*", text)
    if match is None:
        raise InputError(f"{where} is {text!r}; expected a clock time such as 06:30 or 25:10:00")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(3600 * hours + 60 * minutes + seconds)


def csv_demand(path: str | Path, stops: tuple[str, ...], hours: int, service_start: float) -> Array:
    """(hours, N, N) passengers per hour; a row counts in an hour by the share of the hour that it covers.

    InputError naming file, row and what was expected. Time outside the corridor's hours is an error, not ignored.
    """
    path = Path(path)
    rows = read_rows(path)
    if not rows or [cell.strip() for cell in rows[0][1]] != COLUMNS:
        raise InputError(f"{path}, row 1: found {rows[0][1] if rows else 'nothing'}; expected the columns {COLUMNS}")
    demand = np.zeros((hours, len(stops), len(stops)))
    edges = service_start + 3600.0 * np.arange(hours + 1)
    for number, row in rows[1:]:
        where = f"{path}, row {number}"
        if len(row) != len(COLUMNS):
            raise InputError(f"{where}: {len(row)} cells; expected {len(COLUMNS)}")
        origin, destination, start, end, rate = (cell.strip() for cell in row)
        for column, stop in (("from", origin), ("to", destination)):
            if stop not in stops:
                raise InputError(f"{where}: {column} is {stop!r}, which is not a stop of the corridor")
        first, last = clock_seconds(f"{where}: start", start), clock_seconds(f"{where}: end", end)
        if not edges[0] <= first < last <= edges[-1]:
            span = f"{edges[0] / 3600:g} h to {edges[-1] / 3600:g} h"
            raise InputError(f"{where}: from {start} to {end}; start must be before end, both within {span}")
        share = np.clip(np.minimum(edges[1:], last) - np.maximum(edges[:-1], first), 0.0, None) / 3600.0
        demand[:, stops.index(origin), stops.index(destination)] += share * _rate(where, rate)
    return demand


def _rate(where: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not (rate >= 0.0 and math.isfinite(rate)):
        raise InputError(f"{where}: rate is {text!r}; expected a finite number of passengers per hour, not negative")
    return rate


def default_demand(
    stops: tuple[str, ...],
    ways: tuple[Direction, Direction],
    hours: int,
    per_trip: float | None = None,
    capacity: int = 50,
) -> Array:
    """(hours, N, N) passengers per hour of the default model, on the busiest pattern that the timetable supports.

    per_trip: passengers of a scheduled trip; without it PER_TRIP, less where a direction's buses would be too full. A
    given number is kept, with a warning where it fills a bus beyond its places.
    """
    demand = np.zeros((hours, len(stops), len(stops)))
    for way in ways:
        order = [stops.index(stop) for stop in way.stops]
        apart = np.arange(len(order))[None, :] - np.arange(len(order))[:, None]
        weight = np.where(apart > 0, np.exp(-np.abs(apart - 4.0) / 4.0), 0.0)
        share = weight / weight.sum()
        busiest = _largest_load(share)
        passengers = min(PER_TRIP, FILL * capacity / busiest) if per_trip is None else per_trip
        if passengers * busiest > capacity:
            warn_caller(
                f"{passengers:g} passengers a trip put {passengers * busiest:.0f} on the busiest link from "
                f"{way.stops[0]!r} to {way.stops[-1]!r}, more than a bus's {capacity} places"
            )
        table = np.zeros((hours, *share.shape))
        for first, last in sorted(set(zip(*way.ends, strict=True))):
            mine = (way.ends[0] == first) & (way.ends[1] == last)
            launches = np.histogram(way.launches[mine], bins=3600.0 * np.arange(hours + 1))[0]
            part = slice(first, last + 1)
            table[:, part, part] += (passengers * launches)[:, None, None] * share[part, part]
        free = demand[:, np.array(order)[:, None], np.array(order)[None, :]] == 0.0
        demand[:, np.array(order)[:, None], np.array(order)[None, :]] += table * free
    return demand


def _largest_load(share: Array) -> float:
    """Mean load on the busiest link by one passenger, given shares (S, S) of origin and destination."""
    return float(max(share[: link + 1, link + 1 :].sum() for link in range(len(share) - 1)))
