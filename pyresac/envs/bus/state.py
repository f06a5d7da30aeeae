"""The state of N days as plain arrays: all that is needed to go on, so that saving a day is saving these arrays.

Axes: N days, T trips, S stops of the longer direction, B buses, P passengers, E speed intervals.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.compiled import compiled
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.day import (
    BESIDE,
    CREATED,
    HEAD,
    START,
    TAIL,
    draw_passengers,
    draw_speeds,
    epochs,
    expected_passengers,
)
from pyresac.envs.bus.layout import Layout
from pyresac.envs.bus.line import Chances, Integers
from pyresac.errors import InputError
from pyresac.jit import inlined

# columns of State.cursor; from NEXT on, a column a gate: the next trip to launch, −1 for none, −2 before the day's
# first launch
FLEET, FINISHED, PENDING, LOGGED, DECISIONS, SEED, NEXT = range(7)
# columns of State.clock: time now, end of the last trip; so far, in s: waiting of those who boarded, riding of all on
# board, driving and standing of all trips; and passengers that found a bus full
# from LEAVES on, a column a gate: when the next trip may leave, inf while it has no bus
NOW, END, WAITED_SO_FAR, RODE_SO_FAR, DROVE_SO_FAR, DENIED_SO_FAR, LEAVES = range(7)
# columns of State.buses; TRIP is −1 while idle, TERMINAL the gate at which an idle bus stands
TRIP, PLACE, MOVING, LOAD, TERMINAL, BUS_COLUMNS = range(6)
# columns of State.times: next event (inf while idle); departure, or end of the last trip while idle
EVENT, SINCE = range(2)
# columns of State.trips: bus (−1 before launch), place last come to, place of the last decision (−1 before the first)
BUS, CAME, DECIDED, TRIP_COLUMNS = range(4)
# columns of State.visits, one row a (trip, place), NaN before the bus comes
(
    ARRIVED,  # time of arrival, s (of launch at the first stop)
    DWELL,  # s
    ACTION,  # holding asked for, s; negative: the next stop is to be passed
    HELD,  # holding done, s (the published clock rounds up)
    FORWARD,  # forward headway hf, s
    BACKWARD,  # backward headway hb, s
    SPACING,  # arrival minus the leader's arrival, s
    REWARD,  # reward of these headways; NaN where neither leader nor follower exists
    ONBOARD,  # passengers after the exchange
    BOARDED,
    ALIGHTED,
    LEFT,  # passengers that found the bus full
    NEXT_SPEED,  # speed of the next link at the end of dwell, m/s
    NEXT_WAITING,  # passengers waiting at the next stop at the end of dwell
    NEIGHBOURS,  # 1 leader + 2 follower
    PRIOR,  # place of the trip's previous decision, −1 for none
    LATENESS,  # arrival minus the schedule, s
    LEADER_LATENESS,  # the leader's at this stop, 0 without a leader, s
    PRESSURE,  # β at this stop and hour
    LATE,  # end of dwell minus the scheduled departure, s
    FOLLOWER_LATENESS,  # the follower's at the stop that it came to last, 0 before its first, s
    LINK_DELAY,  # running time of the next link at its speed now, minus the scheduled one, s
    WAITED,  # waiting of those who board here, summed, s
    RODE,  # riding since the arrival at the stop before, summed over those on board, s
    CAME_LATE,  # time from the bus's arrival to their boarding of those who came while it stood, summed, s
    EVENS,  # holding that evens out the predicted headways of this trip and the next ones, s (see `predictions`)
    BEHIND,  # predicted end of the follower's dwell here minus the own one, the scheduled headway without one, s
    SKIPPED,  # 1 where the stop is passed: nobody boards; set when the bus leaves the stop before
    VISIT_COLUMNS,
) = range(29)


class State(NamedTuple):
    """N days (leading axis), or one day without it inside the compiled functions."""

    cursor: Integers  # (N, NEXT + G)
    clock: Array  # (N, LEAVES + G)
    buses: Integers  # (N, B, BUS_COLUMNS)
    times: Array  # (N, B, 2)
    riders: Integers  # (N, B, S) first passenger bound for each place, −1 for none
    trips: Integers  # (N, T, TRIP_COLUMNS)
    visits: Array  # (N, T, S, VISIT_COLUMNS)
    log: Integers  # (N, T·S) decisions and trip ends in order, trip · S + place
    speeds: Array  # (N, E, 2, L)
    passengers: Array  # (N, P, 3), see `day`
    bound: NDArray[np.int32]  # (N, P, 2)
    queues: Integers  # (N, 2·S + 1, 3)
    order: Integers  # (N, T, S, 2) see `order`


def largest_crowd(layout: Layout) -> int:
    """Passengers of a day, and ten standard deviations more."""
    expected = expected_passengers(layout.chances)
    return int(expected + 10.0 * np.sqrt(expected)) + 16


def check_memory(day: int, days: int) -> None:
    """InputError where so many days, of `day` bytes each, need more than the machine's memory."""
    if hasattr(os, "sysconf") and day * days > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // day
        raise InputError(
            f"{days:,} days side by side need {day * days / 1e9:,.0f} GB, more than this machine's memory; "
            f"at most {most:,} days of this corridor fit"
        )


def allocate(layout: Layout, days: int) -> State:
    """Room for `days` days. InputError where the machine has too little memory for them."""
    check_memory(sum(array.nbytes for array in _room(layout, 1)), days)
    return _room(layout, days)


def _room(layout: Layout, days: int) -> State:
    trips, stops = layout.line.schedule.shape
    buses, passengers, gates = layout.fleet_limit, largest_crowd(layout), layout.gates
    return State(
        cursor=np.zeros((days, NEXT + gates), dtype=np.int64),
        clock=np.zeros((days, LEAVES + gates)),
        buses=np.zeros((days, buses, BUS_COLUMNS), dtype=np.int64),
        times=np.zeros((days, buses, 2)),
        riders=np.zeros((days, buses, stops), dtype=np.int64),
        trips=np.zeros((days, trips, TRIP_COLUMNS), dtype=np.int64),
        visits=np.zeros((days, trips, stops, VISIT_COLUMNS)),
        log=np.zeros((days, trips * stops), dtype=np.int64),
        speeds=np.zeros((days, epochs(layout.chances), 2, stops - 1)),
        passengers=np.zeros((days, passengers, 3)),
        bound=np.zeros((days, passengers, 2), dtype=np.int32),
        queues=np.zeros((days, 2 * stops + 1, 3), dtype=np.int64),
        order=np.zeros((days, trips, stops, 2), dtype=np.int64),
    )


@inlined
def day_of(state: State, index: int) -> State:
    """Views of one day."""
    return State(
        state.cursor[index],
        state.clock[index],
        state.buses[index],
        state.times[index],
        state.riders[index],
        state.trips[index],
        state.visits[index],
        state.log[index],
        state.speeds[index],
        state.passengers[index],
        state.bound[index],
        state.queues[index],
        state.order[index],
    )


@compiled
def _clear(chances: Chances, order: Integers, day: State, seed: int) -> bool:
    """Start one day of this seed; False if its passengers need more room than there is."""
    day.passengers[:] = np.nan
    day.bound[:] = -1
    draw_speeds(chances, seed, day.speeds)
    if not draw_passengers(chances, seed, day.passengers, day.bound, day.queues):
        return False
    _rewind(order, day, seed)
    return True


@compiled
def _rewind(order: Integers, day: State, seed: int) -> None:
    """To the morning of a day whose speeds and passengers have been drawn."""
    day.cursor[:] = 0
    day.cursor[PENDING] = -1
    day.cursor[NEXT:] = -2
    day.cursor[SEED] = seed
    day.clock[:] = 0.0
    day.buses[:] = 0
    day.times[:] = np.inf
    day.riders[:] = -1
    day.trips[:] = -1
    day.visits[:] = np.nan
    day.log[:] = -1
    day.passengers[:, CREATED + 1 :] = np.nan
    day.bound[:, BESIDE] = -1
    day.queues[:, HEAD] = day.queues[:, START]
    day.queues[:, TAIL] = day.queues[:, START]
    day.order[:] = order


@compiled
def rewind_days(order: Integers, state: State, rows: Integers) -> None:
    """Back to the mornings of the days of `rows`, which keep their speeds and passengers."""
    for index in range(rows.size):
        day = day_of(state, rows[index])
        _rewind(order, day, day.cursor[SEED])


@compiled
def _clear_days(chances: Chances, order: Integers, state: State, rows: Integers, seeds: Integers) -> int:
    """Start the days of `rows`; the number of days done before one that needs more room, len(rows) if none does."""
    for index in range(rows.size):
        if not _clear(chances, order, day_of(state, rows[index]), seeds[index]):
            return index
    return int(rows.size)


def start_days(chances: Chances, order: Integers, state: State, rows: Integers, seeds: Integers) -> State:
    """Start new days in `rows`, with the timetable's `order` of trips; the state returned is `state`, or a
    roomier copy where a day has uncommonly many passengers."""
    done = _clear_days(chances, order, state, rows, seeds)
    while done < rows.size:
        state = _roomier(state)
        done += _clear_days(chances, order, state, rows[done:], seeds[done:])
    return state


def _roomier(state: State) -> State:
    days, size = state.passengers.shape[:2]
    more = size // 4 + 16
    passengers = np.concatenate([state.passengers, np.full((days, more, 3), np.nan)], axis=1)
    bound = np.concatenate([state.bound, np.full((days, more, 2), -1, dtype=np.int32)], axis=1)
    return state._replace(passengers=passengers, bound=bound)
