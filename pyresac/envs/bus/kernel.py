"""The events of a day, compiled: launches, arrivals, ends of dwell. One call runs to the next decision.

Between two decisions nothing depends on a controller, so `advance` and `act` are all that a policy, compiled or not,
needs.
"""

from __future__ import annotations

import math

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.blocking import enters_at, leaves_after
from pyresac.envs.bus.boarding import alight, board, board_more, waiting_at
from pyresac.envs.bus.compiled import borrowing
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.dispatch import bus_for, call, deadhead, first_launches, next_launch
from pyresac.envs.bus.headways import set_headways
from pyresac.envs.bus.line import BEFORE, DIRECTION, FIRST, FOLLOWER, FREE, FROM_LAST, GATE, LAST, Integers, Line
from pyresac.envs.bus.motion import arrival, limit_at, running_time
from pyresac.envs.bus.order import settle
from pyresac.envs.bus.predictions import evening_hold, headway_behind
from pyresac.envs.bus.state import State, day_of


@borrowing
def advance(line: Line, day: State) -> bool:
    """Run until a bus must decide (True; its number is cursor[PENDING]) or the last trip has ended (False)."""
    trips = line.plan.shape[0]
    if day.cursor[at.NEXT] == -2:
        first_launches(line, day)
    while day.cursor[at.FINISHED] < trips:
        bus, time = -1, np.inf
        for candidate in range(day.cursor[at.FLEET]):
            if day.times[candidate, at.EVENT] < time:
                bus, time = candidate, day.times[candidate, at.EVENT]
        trip, leaves = -1, np.inf
        for gate in range(day.cursor.size - at.NEXT):
            due, other = day.clock[at.LEAVES + gate], day.cursor[at.NEXT + gate]
            if due < leaves or (due == leaves and due < np.inf and other < trip):
                trip, leaves = other, due
        if bus < 0 and trip < 0:
            deadhead(line, day)
            continue
        if leaves <= time and trip >= 0:
            day.clock[at.NOW] = leaves
            _launch(line, day, trip)
            continue
        day.clock[at.NOW] = time
        if day.buses[bus, at.MOVING] == 1:
            enters = enters_at(line, day, bus, time) if line.ordered else time
            if enters > time:
                day.times[bus, at.EVENT] = enters
                continue
            _arrive(line, day, bus, time)
        elif _end_of_dwell(line, day, bus, time):
            return True
    return False


@borrowing
def act(line: Line, day: State, holding: float) -> None:
    """Hold the pending bus for `holding` seconds in [0, holding_limit], then let it go; where stops may be passed, for
    a negative number let it go at once and pass the next one."""
    bus = day.cursor[at.PENDING]
    day.cursor[at.PENDING] = -1
    visit = day.visits[day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]]
    visit[at.ACTION] = holding
    if holding < 0.0:
        _pass_next(line, day, bus)
        holding = 0.0
    _depart(line, day, bus, min(math.ceil(holding), math.floor(line.holding_limit)) if line.published else holding)


@borrowing
def _pass_next(line: Line, day: State, bus: int) -> None:
    """Mark the next stop as passed, unless the trip ends there or its leader passed it."""
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE] + 1
    leader = day.order[trip, place, BEFORE]
    passed = leader >= 0 and day.visits[leader, place, at.SKIPPED] == 1.0
    if place < line.plan[trip, LAST] and not passed:
        day.visits[trip, place, at.SKIPPED] = 1.0


@borrowing
def advance_days(line: Line, state: State, rows: Integers, holding: Array, pending: Integers) -> None:
    """Lockstep: in each day of `rows` hold the pending bus, if any, and run on; pending[i] is 1 where a bus must
    decide."""
    for index in range(rows.size):
        day = day_of(state, rows[index])
        if day.cursor[at.PENDING] >= 0:
            act(line, day, holding[index])
        pending[index] = 1 if advance(line, day) else 0


@borrowing
def _launch(line: Line, day: State, trip: int) -> None:
    """Give the trip a bus and let it go, if there is one."""
    direction, first, time = line.plan[trip, DIRECTION], line.plan[trip, FIRST], day.clock[at.NOW]
    bus = bus_for(line, day, trip)
    if bus < 0:
        return
    next_launch(line, day, line.plan[trip, GATE], line.plan[trip, FOLLOWER], time)
    day.buses[bus, at.TRIP] = trip
    day.buses[bus, at.PLACE] = first
    day.trips[trip, at.BUS] = bus
    day.trips[trip, at.CAME] = first
    settle(line, day, trip, first)
    boarding = board(line, day, bus, direction, first, time, False)
    visit = day.visits[trip, first]
    visit[at.ARRIVED] = time
    visit[at.DWELL] = line.boarding_time * boarding
    visit[at.CAME_LATE] = 0.0
    visit[at.ALIGHTED] = 0.0
    visit[at.SKIPPED] = 0.0
    while line.open_doors and board_more(line, day, bus, visit[at.ARRIVED] + visit[at.DWELL], False):
        pass
    visit[at.RODE] = 0.0
    _depart(line, day, bus, 0.0)


@borrowing
def _depart(line: Line, day: State, bus: int, held: float) -> None:
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
    visit = day.visits[trip, place]
    slower = held if line.advice else 0.0
    held -= slower
    visit[at.HELD] = held
    leave = visit[at.ARRIVED] + visit[at.DWELL] + held
    if line.open_doors and not line.closed_holds and visit[at.SKIPPED] != 1.0:
        board_more(line, day, bus, leave, True)
    day.buses[bus, at.MOVING] = 1
    day.times[bus, at.SINCE] = leave
    day.times[bus, at.EVENT] = arrival(line, day.speeds, line.plan[trip, DIRECTION], place, leave) + slower


@borrowing
def _arrive(line: Line, day: State, bus: int, time: float) -> None:
    """Exchange passengers, set the headways and, at the last stop, the reward of the trip's end."""
    day.buses[bus, at.MOVING] = 0
    day.buses[bus, at.PLACE] += 1
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
    direction = line.plan[trip, DIRECTION]
    visit = day.visits[trip, place]
    passes = visit[at.SKIPPED] == 1.0
    visit[at.SKIPPED] = 1.0 if passes else 0.0
    alighting = alight(day, bus, place, time)
    boarding = board(line, day, bus, direction, place, time, passes)
    visit[at.ARRIVED] = time
    visit[at.ALIGHTED] = alighting
    boarding_time = line.boarding_time
    if line.crowding > 0.0 and visit[at.ONBOARD] > line.seats:
        boarding_time *= 1.0 + line.crowding
    exchange = max(line.alighting_time * alighting, boarding_time * boarding)
    visit[at.DWELL] = 0.0 if passes and alighting == 0 else line.clearance_time + exchange
    visit[at.CAME_LATE] = 0.0
    hour = min(int(time / 3600.0), line.pressure.shape[2] - 1)
    visit[at.PRESSURE] = line.pressure[direction, place, hour]
    visit[at.LATENESS] = time - line.schedule[trip, place]
    visit[at.LATE] = time + visit[at.DWELL] - line.departures[trip, place]
    visit[at.PRIOR] = day.trips[trip, at.DECIDED]
    before = day.visits[trip, place - 1]
    visit[at.RODE] = before[at.ONBOARD] * (time - before[at.ARRIVED]) - before[at.CAME_LATE]
    day.clock[at.RODE_SO_FAR] += visit[at.RODE]
    day.clock[at.DROVE_SO_FAR] += time - before[at.ARRIVED]
    settle(line, day, trip, place)
    set_headways(line, day, trip, place)
    day.trips[trip, at.CAME] = place
    day.times[bus, at.EVENT] = time + visit[at.DWELL]


@borrowing
def _end_of_dwell(line: Line, day: State, bus: int, time: float) -> bool:
    """End the trip at its last stop; otherwise True where the bus must decide, and let it go where it need not."""
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
    direction = line.plan[trip, DIRECTION]
    if place == line.plan[trip, LAST]:
        day.buses[bus, at.TRIP] = -1
        day.buses[bus, at.TERMINAL] = line.plan[trip, FREE]
        day.times[bus, at.EVENT] = np.inf
        day.times[bus, at.SINCE] = time + line.plan[trip, FROM_LAST]
        call(line, day, bus)
        day.clock[at.DROVE_SO_FAR] += day.visits[trip, place, at.DWELL]
        day.cursor[at.FINISHED] += 1
        day.clock[at.END] = time
        _note(line, day, trip, place)
        return False
    visit = day.visits[trip, place]
    passes = visit[at.SKIPPED] == 1.0
    if line.open_doors and not passes and board_more(line, day, bus, time, False):
        day.times[bus, at.EVENT] = visit[at.ARRIVED] + visit[at.DWELL]
        visit[at.LATE] = day.times[bus, at.EVENT] - line.departures[trip, place]
        set_headways(line, day, trip, place)
        return False
    after = leaves_after(line, day, trip, place, time) if line.ordered else time
    if after > time:
        visit[at.DWELL] = after - visit[at.ARRIVED]
        day.times[bus, at.EVENT] = max(after, visit[at.ARRIVED] + visit[at.DWELL])
        visit[at.LATE] = day.times[bus, at.EVENT] - line.departures[trip, place]
        set_headways(line, day, trip, place)
        return False
    visit[at.NEXT_SPEED] = limit_at(line, day.speeds, direction, place, time)
    scheduled = line.schedule[trip, place + 1] - line.departures[trip, place]
    visit[at.LINK_DELAY] = running_time(line, direction, place, visit[at.NEXT_SPEED]) - scheduled
    queue, last = direction * line.schedule.shape[1] + place + 1, line.plan[trip, LAST]
    visit[at.NEXT_WAITING] = waiting_at(line, day, queue, last, time)
    if visit[at.NEIGHBOURS] == 0.0 or line.control[direction, place] == 0 or passes:
        _depart(line, day, bus, 0.0)
        return False
    visit[at.BEHIND] = headway_behind(line, day, trip, place, time)
    visit[at.EVENS] = evening_hold(line, day, trip, place, time)
    day.cursor[at.PENDING] = bus
    day.cursor[at.DECISIONS] += 1
    day.trips[trip, at.DECIDED] = place
    _note(line, day, trip, place)
    return True


@borrowing
def _note(line: Line, day: State, trip: int, place: int) -> None:
    day.log[day.cursor[at.LOGGED]] = trip * line.schedule.shape[1] + place
    day.cursor[at.LOGGED] += 1
