"""Which bus serves a trip and when it leaves, compiled: launches, idle buses, empty drives between terminals."""

from __future__ import annotations

import math

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import DISPATCH, borrowing, uniform
from pyresac.envs.bus.line import DIRECTION, FIRST, GATE, LAST, LEADER, TO_FIRST, Line
from pyresac.envs.bus.operations import LONGEST_LATE
from pyresac.envs.bus.state import State


@borrowing
def first_launches(line: Line, day: State) -> None:
    for gate in range(day.cursor.size - at.NEXT):
        day.cursor[at.NEXT + gate] = -1
        day.clock[at.LEAVES + gate] = np.inf
    for trip in range(line.plan.shape[0]):
        if line.plan[trip, LEADER] < 0:
            next_launch(line, day, line.plan[trip, GATE], trip, 0.0)


@borrowing
def next_launch(line: Line, day: State, gate: int, trip: int, earliest: float) -> None:
    """Note the next trip of a gate, −1 for none, and when it means to leave: by the timetable, or late."""
    day.cursor[at.NEXT + gate] = trip
    day.clock[at.LEAVES + gate] = np.inf
    if trip >= 0:
        launch = line.schedule[trip, line.plan[trip, FIRST]]
        day.clock[at.LEAVES + gate] = max(launch + _dispatch_lateness(line, day, trip), earliest)


@borrowing
def _dispatch_lateness(line: Line, day: State, trip: int) -> float:
    """Exponential with mean late_mean for a share of the trips, else 0."""
    if line.late_share == 0.0 or uniform(day.cursor[at.SEED], DISPATCH, trip, 0) >= line.late_share:
        return 0.0
    late = -line.late_mean * math.log(uniform(day.cursor[at.SEED], DISPATCH, trip, 1))
    return float(min(late, LONGEST_LATE * line.late_mean))


@borrowing
def bus_for(line: Line, day: State, trip: int) -> int:
    """The bus that has been idle longest at the trip's gate, else one that has had the time to come from the
    direction's first stop, else a new one; −1 without any, and then the trip waits for a bus."""
    direction, gate, time = line.plan[trip, DIRECTION], line.plan[trip, GATE], day.clock[at.NOW]
    bus = _longest_idle(day, gate)
    ready = day.times[bus, at.SINCE] + line.layover if bus >= 0 else np.inf
    if gate >= 2 and ready > time:
        other = _longest_idle(day, direction)
        comes = day.times[other, at.SINCE] + line.layover + line.plan[trip, TO_FIRST] if other >= 0 else np.inf
        if comes < ready:
            bus, ready = other, comes
    if ready > time and line.buses > 0 and day.cursor[at.FLEET] >= line.buses:
        day.clock[at.LEAVES + gate] = ready
        return -1
    if ready > time:
        bus = day.cursor[at.FLEET]
        day.cursor[at.FLEET] = bus + 1
    return int(bus)


@borrowing
def _longest_idle(day: State, gate: int) -> int:
    """The bus that has been idle longest at a gate, −1 for none."""
    bus = -1
    for candidate in range(day.cursor[at.FLEET]):
        idle = day.buses[candidate, at.TRIP] < 0 and day.buses[candidate, at.TERMINAL] == gate
        if idle and (bus < 0 or day.times[candidate, at.SINCE] < day.times[bus, at.SINCE]):
            bus = candidate
    return bus


@borrowing
def call(line: Line, day: State, bus: int) -> None:
    """Let the trips that wait for an idle bus know when this one can be there."""
    terminal, rested = day.buses[bus, at.TERMINAL], day.times[bus, at.SINCE] + line.layover
    for gate in range(day.cursor.size - at.NEXT):
        trip = day.cursor[at.NEXT + gate]
        if trip < 0 or day.clock[at.LEAVES + gate] < np.inf:
            continue
        if gate == terminal:
            day.clock[at.LEAVES + gate] = rested
        elif gate >= 2 and line.plan[trip, DIRECTION] == terminal:
            day.clock[at.LEAVES + gate] = rested + line.plan[trip, TO_FIRST]


@borrowing
def deadhead(line: Line, day: State) -> None:
    """All buses are idle, and a trip waits at a gate where none is: the bus that has been idle longest drives there
    empty, in the trip's scheduled time."""
    bus, trip = -1, line.plan.shape[0]
    for gate in range(day.cursor.size - at.NEXT):
        if day.cursor[at.NEXT + gate] >= 0:
            trip = min(trip, day.cursor[at.NEXT + gate])
    for candidate in range(day.cursor[at.FLEET]):
        if bus < 0 or day.times[candidate, at.SINCE] < day.times[bus, at.SINCE]:
            bus = candidate
    gate, first, last = line.plan[trip, GATE], line.plan[trip, FIRST], line.plan[trip, LAST]
    driving = line.schedule[trip, last] - line.schedule[trip, first]
    day.buses[bus, at.TERMINAL] = gate
    day.times[bus, at.SINCE] = max(day.clock[at.NOW], day.times[bus, at.SINCE] + line.layover) + driving
    day.clock[at.LEAVES + gate] = day.times[bus, at.SINCE] + line.layover
