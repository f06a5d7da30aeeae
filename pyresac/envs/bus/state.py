"""The state of N days as plain arrays: all that is needed to go on, so that saving a day is saving these arrays.

Axes: N days, T trips, S stops of the longer direction, B buses, P passengers, E speed intervals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.compiled import compiled
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.day import HEAD, START, TAIL, draw_passengers, draw_speeds, epochs, expected_passengers
from pyresac.envs.bus.layout import Layout
from pyresac.envs.bus.line import Chances, Integers

# columns of State.cursor
NEXT_TRIP, FLEET, FINISHED, PENDING, LOGGED, DECISIONS, SEED, CURSORS = range(8)
# columns of State.clock
NOW, END = range(2)
# columns of State.buses; TRIP is −1 while idle, TERMINAL the direction that an idle bus can serve next
TRIP, PLACE, MOVING, LOAD, TERMINAL, BUS_COLUMNS = range(6)
# columns of State.times: next event (inf while idle); departure, or end of the last trip while idle
EVENT, SINCE = range(2)
# columns of State.trips: bus (−1 before launch), place last come to, place of the last decision (−1 before the first)
BUS, CAME, DECIDED, TRIP_COLUMNS = range(4)
# columns of State.visits, one row a (trip, place), NaN before the bus comes
(
    ARRIVED,  # time of arrival, s (of launch at the first stop)
    DWELL,  # s
    ACTION,  # holding asked for, s
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
    VISIT_COLUMNS,
) = range(20)


class State(NamedTuple):
    """N days (leading axis), or one day without it inside the compiled functions."""

    cursor: Integers  # (N, CURSORS)
    clock: Array  # (N, 2)
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


def allocate(layout: Layout, days: int) -> State:
    """Room for `days` days; ten standard deviations above the expected number of passengers."""
    trips, stops = layout.line.schedule.shape
    buses, expected = layout.fleet_limit, expected_passengers(layout.chances)
    passengers = int(expected + 10.0 * np.sqrt(expected)) + 16
    return State(
        cursor=np.zeros((days, CURSORS), dtype=np.int64),
        clock=np.zeros((days, 2)),
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
    )


@compiled
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
    )


@compiled
def _clear(chances: Chances, day: State, seed: int) -> bool:
    """Start one day of this seed; False if its passengers need more room than there is."""
    day.cursor[:] = 0
    day.cursor[PENDING] = -1
    day.cursor[SEED] = seed
    day.clock[:] = 0.0
    day.buses[:] = 0
    day.times[:] = np.inf
    day.riders[:] = -1
    day.trips[:] = -1
    day.visits[:] = np.nan
    day.log[:] = -1
    day.passengers[:] = np.nan
    day.bound[:] = -1
    draw_speeds(chances, seed, day.speeds)
    if not draw_passengers(chances, seed, day.passengers, day.bound, day.queues):
        return False
    day.queues[:, HEAD] = day.queues[:, START]
    day.queues[:, TAIL] = day.queues[:, START]
    return True


@compiled
def _clear_days(chances: Chances, state: State, rows: Integers, seeds: Integers) -> int:
    """Start the days of `rows`; the number of days done before one that needs more room, len(rows) if none does."""
    for index in range(rows.size):
        if not _clear(chances, day_of(state, rows[index]), seeds[index]):
            return index
    return int(rows.size)


def start_days(chances: Chances, state: State, rows: Integers, seeds: Integers) -> State:
    """Start new days in `rows`; the state returned is `state`, or a roomier copy where a day has uncommonly many
    passengers."""
    done = _clear_days(chances, state, rows, seeds)
    while done < rows.size:
        state = _roomier(state)
        done += _clear_days(chances, state, rows[done:], seeds[done:])
    return state


def _roomier(state: State) -> State:
    days, size = state.passengers.shape[:2]
    more = size // 4 + 16
    passengers = np.concatenate([state.passengers, np.full((days, more, 3), np.nan)], axis=1)
    bound = np.concatenate([state.bound, np.full((days, more, 2), -1, dtype=np.int32)], axis=1)
    return state._replace(passengers=passengers, bound=bound)
