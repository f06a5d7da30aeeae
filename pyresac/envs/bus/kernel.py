"""The events of a day, compiled: launches, arrivals, ends of dwell. One call runs to the next decision.

Between two decisions nothing depends on a controller, so `advance` and `act` are all that a policy, compiled or not,
needs.
"""

from __future__ import annotations

import math

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.blocking import enters_at, leaves_after
from pyresac.envs.bus.compiled import DISPATCH, PATIENCE, compiled, uniform
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.day import ALIGHTED, BESIDE, BOARDED, CREATED, DESTINED, HEAD, START, TAIL
from pyresac.envs.bus.line import DIRECTION, FOLLOWER, LEADER, Integers, Line
from pyresac.envs.bus.motion import arrival, limit_at, running_time
from pyresac.envs.bus.operations import LONGEST_LATE
from pyresac.envs.bus.predictions import evening_hold, headway_behind
from pyresac.envs.bus.state import State, day_of

PENALTY = 20.0
"""Taken from the reward where a headway deviates by more than half the schedule's."""


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
    """Hold the pending bus for `holding` seconds in [0, holding_limit], then let it go."""
    bus = day.cursor[at.PENDING]
    day.cursor[at.PENDING] = -1
    visit = day.visits[day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]]
    visit[at.ACTION] = holding
    _depart(line, day, bus, min(math.ceil(holding), math.floor(line.holding_limit)) if line.published else holding)


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
    boarding = _board(line, day, bus, direction, 0, time)
    visit = day.visits[trip, 0]
    visit[at.ARRIVED] = time
    visit[at.DWELL] = line.boarding_time * boarding
    visit[at.CAME_LATE] = 0.0
    visit[at.ALIGHTED] = 0.0
    while line.open_doors and _board_more(line, day, bus, visit[at.ARRIVED] + visit[at.DWELL], False):
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
    if line.open_doors:
        _board_more(line, day, bus, leave, True)
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
    alighting = _alight(day, bus, place, time)
    boarding = _board(line, day, bus, direction, place, time)
    visit = day.visits[trip, place]
    visit[at.ARRIVED] = time
    visit[at.ALIGHTED] = alighting
    boarding_time = line.boarding_time
    if line.crowding > 0.0 and visit[at.ONBOARD] > line.seats:
        boarding_time *= 1.0 + line.crowding
    exchange = max(line.alighting_time * alighting, boarding_time * boarding)
    visit[at.DWELL] = line.clearance_time + exchange
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
    _set_headways(line, day, trip, place)
    day.trips[trip, at.CAME] = place
    day.times[bus, at.EVENT] = time + visit[at.DWELL]


@compiled
def _alight(day: State, bus: int, place: int, time: float) -> int:
    passenger, count = day.riders[bus, place], 0
    while passenger >= 0:
        day.passengers[passenger, ALIGHTED] = time
        passenger = day.bound[passenger, BESIDE]
        count += 1
    day.riders[bus, place] = -1
    day.buses[bus, at.LOAD] -= count
    return count


@compiled
def _board(line: Line, day: State, bus: int, direction: int, place: int, time: float) -> int:
    """First come, first served, up to capacity; notes load, boarded and left behind in the visit."""
    queue, count = direction * line.schedule.shape[1] + place, 0
    waiting = _waiting(line, day, queue, time)
    room, waited = line.capacity - day.buses[bus, at.LOAD], 0.0
    while count < waiting and count < room:
        passenger = day.queues[queue, HEAD]
        day.queues[queue, HEAD] += 1
        if _gave_up(line, day, passenger, time):
            continue
        destination = day.bound[passenger, DESTINED]
        day.bound[passenger, BESIDE] = day.riders[bus, destination]
        day.riders[bus, destination] = passenger
        day.passengers[passenger, BOARDED] = time
        waited += time - day.passengers[passenger, CREATED]
        count += 1
    day.buses[bus, at.LOAD] += count
    visit = day.visits[day.buses[bus, at.TRIP], place]
    visit[at.ONBOARD] = day.buses[bus, at.LOAD]
    visit[at.BOARDED] = count
    visit[at.LEFT] = waiting - count
    visit[at.WAITED] = waited
    day.clock[at.WAITED_SO_FAR] += waited
    day.clock[at.DENIED_SO_FAR] += waiting - count
    return count


@compiled
def _board_more(line: Line, day: State, bus: int, until: float, holding: bool) -> bool:
    """Board those who have come to a standing bus by `until`; True where they lengthen its dwell.

    While it is held they board as they come; otherwise at `until`, the end of its dwell.
    """
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
    queue, count = line.plan[trip, DIRECTION] * line.schedule.shape[1] + place, 0
    visit, waiting = day.visits[trip, place], _waiting(line, day, queue, until)
    room = line.capacity - day.buses[bus, at.LOAD]
    while count < waiting and count < room:
        passenger = day.queues[queue, HEAD]
        day.queues[queue, HEAD] += 1
        if _gave_up(line, day, passenger, until):
            continue
        destination = day.bound[passenger, DESTINED]
        day.bound[passenger, BESIDE] = day.riders[bus, destination]
        day.riders[bus, destination] = passenger
        created = day.passengers[passenger, CREATED]
        time = max(created, visit[at.ARRIVED] + visit[at.DWELL]) if holding else until
        day.passengers[passenger, BOARDED] = time
        visit[at.WAITED] += time - created
        visit[at.CAME_LATE] += time - visit[at.ARRIVED]
        day.clock[at.WAITED_SO_FAR] += time - created
        count += 1
    day.buses[bus, at.LOAD] += count
    visit[at.ONBOARD] = day.buses[bus, at.LOAD]
    visit[at.BOARDED] += count
    day.clock[at.DENIED_SO_FAR] += waiting - count - visit[at.LEFT]
    visit[at.LEFT] = waiting - count
    if holding or count == 0:
        return False
    visit[at.DWELL] += line.boarding_time * count
    return True


@compiled
def _waiting(line: Line, day: State, queue: int, time: float) -> int:
    """Passengers at the stop now; moves the queue's tail on to the first who has not come yet."""
    tail = day.queues[queue, TAIL]
    while tail < day.queues[queue + 1, START] and day.passengers[tail, CREATED] <= time:
        tail += 1
    day.queues[queue, TAIL] = tail
    gone = 0
    if line.patience > 0.0:
        for passenger in range(day.queues[queue, HEAD], tail):
            gone += _gave_up(line, day, passenger, time)
    return int(tail - day.queues[queue, HEAD] - gone)


@compiled
def _gave_up(line: Line, day: State, passenger: int, time: float) -> bool:
    """Whether a passenger who has not boarded has left the stop by `time`."""
    if line.patience == 0.0:
        return False
    level = uniform(day.cursor[at.SEED], PATIENCE, passenger, 0)
    return bool(time - day.passengers[passenger, CREATED] > -line.patience * math.log(level))


@compiled
def _set_headways(line: Line, day: State, trip: int, place: int) -> None:
    """Forward: ends of dwell at this stop, this trip's less the leader's; backward: the follower's latest forward
    one."""
    visit, leader, follower = day.visits[trip, place], line.plan[trip, LEADER], line.plan[trip, FOLLOWER]
    forward, spacing, lateness, neighbours = line.headway, line.headway, 0.0, 0
    if leader >= 0:
        neighbours += 1
        ahead = day.visits[leader, place]
        if ahead[at.ARRIVED] <= visit[at.ARRIVED]:
            spacing = visit[at.ARRIVED] - ahead[at.ARRIVED]
            forward = spacing + visit[at.DWELL] - ahead[at.DWELL]
            lateness = ahead[at.LATENESS]
        else:
            forward = _gap(line, day, trip, place, leader)
            spacing = forward
            lateness = visit[at.ARRIVED] - line.schedule[leader, place]
    backward, behind = line.headway, 0.0
    if follower >= 0 and day.trips[follower, at.BUS] >= 0:
        neighbours += 2
        came = day.trips[follower, at.CAME]
        if came > 0:
            backward = day.visits[follower, came, at.FORWARD]
            behind = day.visits[follower, came, at.LATENESS]
    visit[at.FORWARD], visit[at.BACKWARD], visit[at.SPACING] = forward, backward, spacing
    visit[at.LEADER_LATENESS] = lateness
    visit[at.FOLLOWER_LATENESS] = behind
    visit[at.NEIGHBOURS] = neighbours
    visit[at.REWARD] = ridge_reward(forward, backward, neighbours, line.headway)


@compiled
def _gap(line: Line, day: State, trip: int, place: int, leader: int) -> float:
    """Headway behind a leader that has been overtaken: metres between the two over the own mean speed (negative)."""
    direction, time = line.plan[trip, DIRECTION], day.clock[at.NOW]
    bus = day.trips[leader, at.BUS]
    behind = day.buses[bus, at.PLACE]
    metres = 0.0
    for link in range(behind, place):
        metres += line.length[direction, link]
    if day.buses[bus, at.MOVING] == 1 and time > day.times[bus, at.SINCE]:
        done = (time - day.times[bus, at.SINCE]) / (day.times[bus, at.EVENT] - day.times[bus, at.SINCE])
        metres -= line.length[direction, behind] * done
    covered = line.length[direction, :place].sum()
    return float(-metres * (time - line.schedule[trip, 0]) / covered)


@compiled
def ridge_reward(forward: float, backward: float, neighbours: int, headway: float) -> float:
    """The published reward of a pair of headways; NaN without neighbours.

    With f = |hf − τ|, b = |hb − τ| and w = f/(f + b + 1e−6): −(w·f + (1 − w)·b) − ½·|hf − hb| with both neighbours,
    −f or −b with one; less PENALTY where f or b exceeds τ/2.
    """
    f, b = abs(forward - headway), abs(backward - headway)
    if neighbours == 0:
        return math.nan
    if neighbours == 3:
        weight = f / (f + b + 1e-6)
        reward = -(weight * f + (1.0 - weight) * b) - 0.5 * abs(forward - backward)
    else:
        reward = -f if neighbours == 1 else -b
    return reward - PENALTY if max(f, b) > 0.5 * headway else reward


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
    if line.open_doors and _board_more(line, day, bus, time, False):
        day.times[bus, at.EVENT] = visit[at.ARRIVED] + visit[at.DWELL]
        visit[at.LATE] = day.times[bus, at.EVENT] - line.departures[trip, place]
        _set_headways(line, day, trip, place)
        return False
    after = leaves_after(line, day, trip, place, time) if line.ordered else time
    if after > time:
        visit[at.DWELL] = after - visit[at.ARRIVED]
        day.times[bus, at.EVENT] = max(after, visit[at.ARRIVED] + visit[at.DWELL])
        visit[at.LATE] = day.times[bus, at.EVENT] - line.departures[trip, place]
        _set_headways(line, day, trip, place)
        return False
    visit[at.NEXT_SPEED] = limit_at(line, day.speeds, direction, place, time)
    scheduled = line.schedule[trip, place + 1] - line.departures[trip, place]
    visit[at.LINK_DELAY] = running_time(line, direction, place, visit[at.NEXT_SPEED]) - scheduled
    visit[at.NEXT_WAITING] = _waiting(line, day, direction * line.schedule.shape[1] + place + 1, time)
    if visit[at.NEIGHBOURS] == 0.0 or line.control[direction, place] == 0:
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
