"""A line some of whose trips serve a part of it, as a corridor and as a GTFS feed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from small_feed import clock, write

from pyresac.envs.bus import Corridor, Direction

STOPS = tuple(f"Stop {index}" for index in range(10))
START = 6 * 3600
LINK = 120
"""s of the timetable a link."""
PATTERNS = (0, 9), (2, 7), (0, 9), (0, 6), (4, 9)
"""Places of the first and the last stop of five trips in turn: a whole one, four short turns and another whole one."""
EVERY = 360
"""s between the trips of a direction at any stop, were all of them whole."""


def timetable(way: int, hours: float = 3.0) -> Iterator[tuple[int, int, int]]:
    """(launch, first, last) of each trip of a direction, s after midnight; a trip that begins midway leaves its first
    stop when a whole one would."""
    for number in range(int(hours * 3600) // EVERY):
        first, last = PATTERNS[(number + 2 * way) % len(PATTERNS)]
        yield START + EVERY * number + 200 * way + LINK * first, first, last


def feed_tables() -> dict[str, str]:
    """The feed: ten stops 0.006° of latitude apart, two minutes a link."""
    trips, times = (
        ["route_id,service_id,trip_id,direction_id"],
        ["trip_id,arrival_time,departure_time,stop_id,stop_sequence"],
    )
    for way, side in enumerate("ab"):
        order = range(len(STOPS)) if way == 0 else range(len(STOPS))[::-1]
        for number, (launch, first, last) in enumerate(timetable(way)):
            trip = f"T{way}{number}"
            trips.append(f"R1,D,{trip},{way}")
            for place in range(first, last + 1):
                time = clock(launch + LINK * (place - first))
                times.append(f"{trip},{time},{time},s{order[place]}{side},{place - first + 1}")
    stops = ["stop_id,stop_name,stop_lat,stop_lon,parent_station"]
    stops += [f"s{i}{side},{name},{50 + 0.006 * i:.3f},8.0," for side in "ab" for i, name in enumerate(STOPS)]
    return {name: "\n".join(rows) + "\n" for name, rows in (("trips", trips), ("stop_times", times), ("stops", stops))}


def write_feed(path: Path, **changes: str | None) -> Path:
    """The feed, zipped."""
    return write(path, **(dict[str, str | None](feed_tables()) | {"frequencies": None} | changes))


def corridor(**changes: object) -> Corridor:
    """The line without a feed: 650 m a link at 8 m/s, passengers between all pairs."""
    count, hours = len(STOPS), 4

    def way(index: int) -> Direction:
        launches, first, last = np.array([*timetable(index)]).T
        order = np.argsort(launches, kind="stable")
        return Direction(
            STOPS if index == 0 else STOPS[::-1],
            np.full(count - 1, 650.0),
            np.full((count - 1, hours), 8.0),
            (launches - START)[order],
            None,
            first[order],
            last[order],
        )

    options = {"headway": 360.0, "demand": 4.0 * np.ones((hours, count, count)) * ~np.eye(count, dtype=bool)}
    return Corridor("short turns", STOPS, way(0), way(1), **(options | changes))  # type: ignore[arg-type]
