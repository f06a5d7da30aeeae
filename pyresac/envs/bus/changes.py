"""The same line otherwise: another headway, more or fewer passengers; and what looks wrong about a line."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pyresac.envs.bus.bounds import check_number
from pyresac.envs.bus.corridor import DIRECTIONS, Array, Corridor, Direction
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.timetable import hourly_headways, scheduled_gaps
from pyresac.errors import InputError

MISFIT = 1.25
"""Launches and headway are said to contradict each other beyond this ratio."""


def with_headway(corridor: Corridor, headway: float) -> Corridor:
    """Launches made anew: every `headway` s from each direction's first launch to its last. Raises InputError."""
    check_number("headway", headway)
    if corridor.short_turns:
        raise InputError(
            f"headway is {headway:g}: launches made anew serve the whole line, and {corridor.short_turns} of "
            f"{corridor.trips} trips of {corridor.name!r} do not"
        )
    ways = [replace(way, launches=_launches(way, headway)) for way in corridor.directions]
    return replace(corridor, up=ways[0], down=ways[1], headway=headway)


def with_demand(corridor: Corridor, factor: float) -> Corridor:
    """All rates times `factor`. Raises InputError."""
    if not (math.isfinite(factor) and factor >= 0.0):
        raise InputError(f"demand is {factor}; the factor must be finite and not negative")
    return replace(corridor, demand=corridor.demand * factor)


def doubts(corridor: Corridor) -> list[str]:
    """Sentences on launches that contradict the scheduled headway, and on demand beyond the buses' places."""
    found = []
    for name, way in zip(DIRECTIONS, corridor.directions, strict=True):
        gaps = scheduled_gaps(way, corridor.hours)
        if not gaps.size:
            continue
        typical = float(np.median(gaps))
        if max(typical / corridor.headway, corridor.headway / typical) > MISFIT:
            found.append(
                f"{corridor.name}: the scheduled headway is {corridor.headway:g} s, but direction {name} launches "
                f"every {typical:g} s"
            )
    found += _crowds(corridor)
    return found


def _crowds(corridor: Corridor) -> list[str]:
    """A sentence for each direction whose busiest link and hour have more passengers than places."""
    chances, found = lay_out(corridor).chances, []
    shares = np.diff(chances.split, axis=3, prepend=0.0)
    for index, (name, way) in enumerate(zip(DIRECTIONS, corridor.directions, strict=True)):
        table = 3600.0 * chances.rate[index].T[:, :, None] * shares[:, index]
        launched = np.histogram(way.launches, bins=3600.0 * np.arange(corridor.hours + 1))[0]
        headway = hourly_headways(way, corridor)
        for hour in np.flatnonzero(launched):
            count = len(way.stops)
            loads = [float(table[hour, : link + 1, link + 1 :].sum()) for link in range(count - 1)]
            room = 3600.0 / headway[: count - 1, hour] * corridor.vehicle.capacity
            link = int(np.argmax(np.array(loads) / room))
            places = float(room[link])
            if loads[link] > places:
                found.append(
                    f"{corridor.name}: {loads[link]:,.0f} passengers an hour want to ride from {way.stops[link]!r} to "
                    f"{way.stops[link + 1]!r}, direction {name}, hour {hour + 1}, and buses have {places:,.0f} places"
                )
                break
    return found


def _launches(way: Direction, headway: float) -> Array:
    first, last = float(way.launches[0]), float(way.launches[-1])
    return np.asarray(first + headway * np.arange(math.floor((last - first) / headway + 1e-9) + 1))
