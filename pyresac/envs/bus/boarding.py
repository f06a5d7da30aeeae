"""Passengers at a stop, compiled: who alights, who boards, who is left behind, who has given up."""

from __future__ import annotations

import math

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import PATIENCE, borrowing, uniform
from pyresac.envs.bus.day import ALIGHTED, BESIDE, BOARDED, CREATED, DESTINED, HEAD, START, TAIL
from pyresac.envs.bus.line import DIRECTION, LAST, Line
from pyresac.envs.bus.state import State


@borrowing
def alight(day: State, bus: int, place: int, time: float) -> int:
    passenger, count = day.riders[bus, place], 0
    while passenger >= 0:
        day.passengers[passenger, ALIGHTED] = time
        passenger = day.bound[passenger, BESIDE]
        count += 1
    day.riders[bus, place] = -1
    day.buses[bus, at.LOAD] -= count
    return count


@borrowing
def waits_for(line: Line, day: State, passenger: int, last: int, time: float) -> bool:
    """Whether a passenger of a queue is still there at `time` and boards a bus whose trip ends at the place `last`.

    Who is bound beyond waits for a bus that goes there, as in models of short turns since P. G. Furth, Short turning on
    transit routes, Transportation Research Record 1108 (1987) 42–52; A. Tirachini, C. E. Cortés and S. R. Jara-Díaz,
    Optimal design and benefits of a short turning strategy for a bus corridor, Transportation 38 (2011) 169–189.
    """
    if day.bound[passenger, DESTINED] > last or not math.isnan(day.passengers[passenger, BOARDED]):
        return False
    return not gave_up(line, day, passenger, time)


@borrowing
def next_in(line: Line, day: State, queue: int, last: int, time: float) -> int:
    """The first of a queue who boards a bus to the place `last`, and leaves the queue; who has given up leaves it too.
    Someone must be waiting for it."""
    passenger = day.queues[queue, HEAD]
    while not waits_for(line, day, passenger, last, time):
        passenger += 1
    head, end = day.queues[queue, HEAD], line.schedule.shape[1]
    while head < day.queues[queue, TAIL] and (head == passenger or not waits_for(line, day, head, end, time)):
        head += 1
    day.queues[queue, HEAD] = head
    return int(passenger)


@borrowing
def take(day: State, bus: int, passenger: int, time: float) -> None:
    """On board, among those bound for the same place."""
    destination = day.bound[passenger, DESTINED]
    day.bound[passenger, BESIDE] = day.riders[bus, destination]
    day.riders[bus, destination] = passenger
    day.passengers[passenger, BOARDED] = time


@borrowing
def board(line: Line, day: State, bus: int, direction: int, place: int, time: float, passes: bool) -> int:
    """First come, first served, up to capacity, or nobody where the bus passes; notes load, boarded and left behind in
    the visit."""
    queue, count = direction * line.schedule.shape[1] + place, 0
    last = line.plan[day.buses[bus, at.TRIP], LAST]
    waiting = waiting_at(line, day, queue, last, time)
    room, waited = 0 if passes else line.capacity - day.buses[bus, at.LOAD], 0.0
    while count < waiting and count < room:
        passenger = next_in(line, day, queue, last, time)
        take(day, bus, passenger, time)
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


@borrowing
def board_more(line: Line, day: State, bus: int, until: float, holding: bool) -> bool:
    """Board those who have come to a standing bus by `until`; True where they lengthen its dwell.

    While it is held they board as they come; otherwise at `until`, the end of its dwell.
    """
    trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
    queue, count = line.plan[trip, DIRECTION] * line.schedule.shape[1] + place, 0
    last = line.plan[trip, LAST]
    visit, waiting = day.visits[trip, place], waiting_at(line, day, queue, last, until)
    room = line.capacity - day.buses[bus, at.LOAD]
    while count < waiting and count < room:
        passenger = next_in(line, day, queue, last, until)
        created = day.passengers[passenger, CREATED]
        time = max(created, visit[at.ARRIVED] + visit[at.DWELL]) if holding else until
        take(day, bus, passenger, time)
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


@borrowing
def waiting_at(line: Line, day: State, queue: int, last: int, time: float) -> int:
    """Passengers at the stop at `time` who board a bus to the place `last`; moves the queue's tail to the first who has
    not come by then, back where a bus that stands there has been looked at until later."""
    tail = day.queues[queue, TAIL]
    while tail > day.queues[queue, HEAD] and day.passengers[tail - 1, CREATED] > time:
        tail -= 1
    while tail < day.queues[queue + 1, START] and day.passengers[tail, CREATED] <= time:
        tail += 1
    day.queues[queue, TAIL] = tail
    if line.patience == 0.0 and not line.short:
        return int(tail - day.queues[queue, HEAD])
    waiting = 0
    for passenger in range(day.queues[queue, HEAD], tail):
        waiting += waits_for(line, day, passenger, last, time)
    return waiting


@borrowing
def gave_up(line: Line, day: State, passenger: int, time: float) -> bool:
    """Whether a passenger who has not boarded has left the stop by `time`."""
    if line.patience == 0.0:
        return False
    level = uniform(day.cursor[at.SEED], PATIENCE, passenger, 0)
    return bool(time - day.passengers[passenger, CREATED] > -line.patience * math.log(level))
