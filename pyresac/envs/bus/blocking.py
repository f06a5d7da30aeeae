"""Buses in each other's way: no overtaking, and berths with a queue before a stop.

Where buses keep their order, one comes to a stop, and leaves it, no sooner than an instant after its leader.
"""

from __future__ import annotations

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import borrowing
from pyresac.envs.bus.line import BEFORE, DIRECTION, Line
from pyresac.envs.bus.state import State

INSTANT = 1e-6
"""s between two buses that follow each other."""


@borrowing
def enters_at(line: Line, day: State, bus: int, time: float) -> float:
    """When a bus that reaches its next stop at `time` may be looked at again; `time` itself where nothing is in its
    way."""
    trip, place, later = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE] + 1, time
    direction, leader = line.plan[trip, DIRECTION], day.order[trip, place, BEFORE]
    if leader >= 0 and 0 <= day.trips[leader, at.CAME] < place:
        later = max(later, day.times[day.trips[leader, at.BUS], at.EVENT] + INSTANT)
    if leader >= 0 and day.trips[leader, at.CAME] >= place:
        # both have left their first stop at once
        later = max(later, day.visits[leader, place, at.ARRIVED] + INSTANT)
    if line.berths == 0:
        return later
    standing, free = 0, np.inf
    for other in range(day.cursor[at.FLEET]):
        there = day.buses[other, at.TRIP]
        if other == bus or there < 0 or day.buses[other, at.PLACE] != place or line.plan[there, DIRECTION] != direction:
            continue
        # a bus that is held has its next arrival as its event and leaves at SINCE
        leaves = day.times[other, at.SINCE] if day.buses[other, at.MOVING] == 1 else day.times[other, at.EVENT]
        if day.buses[other, at.MOVING] == 0 or leaves > time:
            standing += 1
            free = min(free, leaves)
    return max(later, free + INSTANT) if standing >= line.berths else later


@borrowing
def leaves_after(line: Line, day: State, trip: int, place: int, time: float) -> float:
    """When a bus whose dwell has ended may be looked at again; `time` itself unless its leader still stands before
    it."""
    leader = day.order[trip, place, BEFORE]
    if leader < 0 or day.trips[leader, at.CAME] != place:
        return time
    ahead = day.trips[leader, at.BUS]
    if day.buses[ahead, at.TRIP] != leader:
        return time
    leaves = day.times[ahead, at.SINCE] if day.buses[ahead, at.MOVING] == 1 else day.times[ahead, at.EVENT]
    return float(max(leaves + INSTANT, time))
