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
from pyresac.envs.bus.compiled import DISPATCH, compiled, uniform
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.headways import set_headways
from pyresac.envs.bus.line import DIRECTION, FOLLOWER, LEADER, Integers, Line
from pyresac.envs.bus.motion import arrival, limit_at, running_time
from pyresac.envs.bus.operations import LONGEST_LATE
from pyresac.envs.bus.predictions import evening_hold, headway_behind
from pyresac.envs.bus.state import State, day_of


@compiled
def advance(line: Line, day: State) -> bool:
    """Run until a bus must decide (True; its number is cursor[PENDING]) or the last trip has ended (False)."""
    trips = line.plan.shape[0]
    if day.cursor[at.NEXT_UP] == -2:
        _first_launches(line, day)
    while day.cursor[at.FINISHED] < trips:
        bus, time = -1, np.inf
        for candidate in range(day.cursor[at.FLEET]):
            if day.times[candidate, at.EVENT] < time:
                bus, time = candidate, day.times[candidate, at.EVENT]
        up, down = day.cursor[at.NEXT_UP], day.cursor[at.NEXT_DOWN]
        up_at, down_at = day.clock[at.UP_AT], day.clock[at.DOWN_AT]
        leaves = min(up_at, down_at)
        if bus < 0 and leaves == np.inf:
            _deadhead(line, day, 0 if up >= 0 else 1)
            continue
        if leaves <= time and leaves < np.inf:
            day.clock[at.NOW] = leaves
            _launch(line, day, up if up_at < down_at or (up_at == down_at and up < down) else down)
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


@compiled
def _deadhead(line: Line, day: State, way: int) -> None:
    """All buses are idle, and a trip waits at the terminal where none is: the bus that has been idle longest drives
    there empty, in the trip's scheduled time."""
    bus = -1
    for candidate in range(day.cursor[at.FLEET]):
        if bus < 0 or day.times[candidate, at.SINCE] < day.times[bus, at.SINCE]:
            bus = candidate
    trip = day.cursor[at.NEXT_UP + way]
    driving = line.schedule[trip, line.stops[way] - 1] - line.schedule[trip, 0]
    day.buses[bus, at.TERMINAL] = way
    day.times[bus, at.SINCE] = max(day.clock[at.NOW], day.times[bus, at.SINCE] + line.layover) + driving
    day.clock[at.UP_AT + way] = day.times[bus, at.SINCE] + line.layover


@compiled
def _first_launches(line: Line, day: State) -> None:
    for way in range(2):
        day.cursor[at.NEXT_UP + way] = -1
        day.clock[at.UP_AT + way] = np.inf
    for trip in range(line.plan.shape[0]):
        if line.plan[trip, LEADER] < 0:
            _next_launch(line, day, line.plan[trip, DIRECTION], trip, 0.0)


@compiled
def _next_launch(line: Line, day: State, way: int, trip: int, earliest: float) -> None:
    """Note the next trip of a direction, −1 for none, and when it means to leave: by the timetable, or late."""
    day.cursor[at.NEXT_UP + way] = trip
    day.clock[at.UP_AT + way] = np.inf
    if trip >= 0:
        day.clock[at.UP_AT + way] = max(line.schedule[trip, 0] + _dispatch_lateness(line, day, trip), earliest)


@compiled
def _dispatch_lateness(line: Line, day: State, trip: int) -> float:
    """Exponential with mean late_mean for a share of the trips, else 0."""
    if line.late_share == 0.0 or uniform(day.cursor[at.SEED], DISPATCH, trip, 0) >= line.late_share:
        return 0.0
    late = -line.late_mean * math.log(uniform(day.cursor[at.SEED], DISPATCH, trip, 1))
    return float(min(late, LONGEST_LATE * line.late_mean))


@compiled
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


@compiled
def _pass_next(line: Line, day: State, bus: int) -> None:
    """Mark the next stop as passed, unless the trip ends there or its leader passed it."""
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE] + 1
    leader = line.plan[trip, LEADER]
    passed = leader >= 0 and day.visits[leader, place, at.SKIPPED] == 1.0
    if place < line.stops[line.plan[trip, DIRECTION]] - 1 and not passed:
        day.visits[trip, place, at.SKIPPED] = 1.0


@compiled
def advance_days(line: Line, state: State, rows: Integers, holding: Array, pending: Integers) -> None:
    """Lockstep: in each day of `rows` hold the pending bus, if any, and run on; pending[i] is 1 where a bus must
    decide."""
    for index in range(rows.size):
        day = day_of(state, rows[index])
        if day.cursor[at.PENDING] >= 0:
            act(line, day, holding[index])
        pending[index] = 1 if advance(line, day) else 0


@compiled
def _launch(line: Line, day: State, trip: int) -> None:
    """Give the trip the bus that has been idle longest at its terminal, else a new one, and let it go; without either,
    let the trip wait for a bus."""
    direction, bus, time = line.plan[trip, DIRECTION], -1, day.clock[at.NOW]
    for candidate in range(day.cursor[at.FLEET]):
        idle = day.buses[candidate, at.TRIP] < 0 and day.buses[candidate, at.TERMINAL] == direction
        if idle and (bus < 0 or day.times[candidate, at.SINCE] < day.times[bus, at.SINCE]):
            bus = candidate
    rested = bus >= 0 and day.times[bus, at.SINCE] + line.layover <= time
    if not rested and line.buses > 0 and day.cursor[at.FLEET] >= line.buses:
        day.clock[at.UP_AT + direction] = day.times[bus, at.SINCE] + line.layover if bus >= 0 else np.inf
        return
    if not rested:
        bus = day.cursor[at.FLEET]
        day.cursor[at.FLEET] = bus + 1
    _next_launch(line, day, direction, line.plan[trip, FOLLOWER], time)
    day.buses[bus, at.TRIP] = trip
    day.buses[bus, at.PLACE] = 0
    day.trips[trip, at.BUS] = bus
    day.trips[trip, at.CAME] = 0
    boarding = board(line, day, bus, direction, 0, time, False)
    visit = day.visits[trip, 0]
    visit[at.ARRIVED] = time
    visit[at.DWELL] = line.boarding_time * boarding
    visit[at.CAME_LATE] = 0.0
    visit[at.ALIGHTED] = 0.0
    visit[at.SKIPPED] = 0.0
    while line.open_doors and board_more(line, day, bus, visit[at.ARRIVED] + visit[at.DWELL], False):
        pass
    visit[at.RODE] = 0.0
    _depart(line, day, bus, 0.0)


@compiled
def _depart(line: Line, day: State, bus: int, held: float) -> None:
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
    visit = day.visits[trip, place]
    slower = held if line.advice else 0.0
    held -= slower
    visit[at.HELD] = held
    leave = visit[at.ARRIVED] + visit[at.DWELL] + held
    if line.open_doors and visit[at.SKIPPED] != 1.0:
        board_more(line, day, bus, leave, True)
    day.buses[bus, at.MOVING] = 1
    day.times[bus, at.SINCE] = leave
    day.times[bus, at.EVENT] = arrival(line, day.speeds, line.plan[trip, DIRECTION], place, leave) + slower


@compiled
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
    set_headways(line, day, trip, place)
    day.trips[trip, at.CAME] = place
    day.times[bus, at.EVENT] = time + visit[at.DWELL]


@compiled
def _end_of_dwell(line: Line, day: State, bus: int, time: float) -> bool:
    """End the trip at its last stop; otherwise True where the bus must decide, and let it go where it need not."""
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
    direction = line.plan[trip, DIRECTION]
    if place == line.stops[direction] - 1:
        day.buses[bus, at.TRIP] = -1
        day.buses[bus, at.TERMINAL] = 1 - direction
        day.times[bus, at.EVENT] = np.inf
        day.times[bus, at.SINCE] = time
        if day.cursor[at.NEXT_UP + 1 - direction] >= 0 and day.clock[at.UP_AT + 1 - direction] == np.inf:
            day.clock[at.UP_AT + 1 - direction] = time + line.layover
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
    visit[at.NEXT_WAITING] = waiting_at(line, day, direction * line.schedule.shape[1] + place + 1, time)
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


@compiled
def _note(line: Line, day: State, trip: int, place: int) -> None:
    day.log[day.cursor[at.LOGGED]] = trip * line.schedule.shape[1] + place
    day.cursor[at.LOGGED] += 1
