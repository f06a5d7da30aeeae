"""Which trip is before another at a stop, compiled.

The timetable's order stands until a trip that begins midway and a bus that comes by are not where it has them: whoever
is first at the stop where the two meet is the leader of the other from there on. Buses that have met keep their order,
overtaken or not.
"""

from __future__ import annotations

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import borrowing
from pyresac.envs.bus.line import AFTER, BEFORE, FIRST, LAST, Line
from pyresac.envs.bus.state import State


@borrowing
def settle(line: Line, day: State, trip: int, place: int) -> None:
    """Put a trip that has come to a place before all that have not come to where they meet it."""
    leader = day.order[trip, place, BEFORE]
    while leader >= 0 and day.trips[leader, at.CAME] < max(line.plan[leader, FIRST], line.plan[trip, FIRST]):
        _move_before(line, day, trip, leader, place)
        leader = day.order[trip, place, BEFORE]


@borrowing
def _move_before(line: Line, day: State, trip: int, other: int, place: int) -> None:
    """Put a trip right before another from a place on, as far as both go."""
    order = day.order
    for there in range(place, min(line.plan[trip, LAST], line.plan[other, LAST]) + 1):
        before, after = order[trip, there, BEFORE], order[trip, there, AFTER]
        if before >= 0:
            order[before, there, AFTER] = after
        if after >= 0:
            order[after, there, BEFORE] = before
        ahead = order[other, there, BEFORE]
        if ahead >= 0:
            order[ahead, there, AFTER] = trip
        order[trip, there, BEFORE], order[trip, there, AFTER] = ahead, other
        order[other, there, BEFORE] = trip
