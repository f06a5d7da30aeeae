"""A corridor's timetable as arrays: each trip's stops, the order of trips at each stop, and where their buses are free.

A *gate* is a first stop: 0 is up's, 1 is down's, the others are those of trips that begin midway. A bus is free at the
gate where its trip ends: the other direction's first stop; after a trip that ends midway the gate of the other
direction at this stop, or, where no trip begins there, the other direction's first stop, to which it drives on empty.
"""

from __future__ import annotations

import numpy as np

from pyresac.envs.bus.compiled import compiled
from pyresac.envs.bus.corridor import Array, Corridor, Direction
from pyresac.envs.bus.line import (
    AFTER,
    BEFORE,
    DIRECTION,
    FIRST,
    FOLLOWER,
    FREE,
    FROM_LAST,
    GATE,
    LAST,
    LEADER,
    TO_FIRST,
    Integers,
)
from pyresac.envs.bus.line import COLUMNS as PLAN_COLUMNS


def planned(corridor: Corridor) -> tuple[Array, Integers]:
    """(launch (T,), plan (T, COLUMNS)) in order of launch, up before down at equal times; nothing is driven empty
    yet."""
    launch = np.concatenate([way.launches for way in corridor.directions])
    direction = np.repeat([0, 1], [len(way.launches) for way in corridor.directions])
    first, last = (np.concatenate(parts) for parts in zip(*(way.ends for way in corridor.directions), strict=True))
    order = np.lexsort((direction, launch))
    plan = np.full((launch.size, PLAN_COLUMNS), -1, dtype=np.int64)
    plan[:, DIRECTION], plan[:, FIRST], plan[:, LAST] = direction[order], first[order], last[order]
    midway = sorted({(int(way), int(place)) for way, place in plan[:, [DIRECTION, FIRST]] if place > 0})
    gates = [(0, 0), (1, 0), *midway]
    for gate, (way, place) in enumerate(gates):
        trips = np.flatnonzero((plan[:, DIRECTION] == way) & (plan[:, FIRST] == place))
        plan[trips, GATE] = gate
        plan[trips[1:], LEADER], plan[trips[:-1], FOLLOWER] = trips[:-1], trips[1:]
    stops = {(way, corridor.directions[way].stops[place]): gate for gate, (way, place) in enumerate(gates)}
    for trip, (way, end) in enumerate(plan[:, [DIRECTION, LAST]]):
        of = corridor.directions[way]
        whole = end == len(of.stops) - 1
        plan[trip, FREE] = 1 - way if whole else stops.get((1 - way, of.stops[end]), 1 - way)
    plan[:, [TO_FIRST, FROM_LAST]] = 0
    return launch[order], plan


@compiled
def order_of_trips(plan: Integers, departures: Array) -> Integers:
    """(T, S, 2) the trip before and the one after at each stop, −1 for none, as the timetable has them.

    Trips keep their order along the line; one that begins midway comes in after the last that is due to leave its first
    stop no later.
    """
    trips, places = departures.shape
    order, running = np.full((trips, places, 2), -1), np.empty(trips, dtype=np.int64)
    for way in range(2):
        count = 0
        for place in range(places):
            begun, count = count, 0
            for i in range(begun):
                running[count] = running[i]
                count += plan[running[i], LAST] >= place
            for trip in range(trips):
                if plan[trip, DIRECTION] != way or plan[trip, FIRST] != place:
                    continue
                behind, count = count, count + 1
                while behind > 0 and departures[running[behind - 1], place] > departures[trip, place]:
                    running[behind] = running[behind - 1]
                    behind -= 1
                running[behind] = trip
            for i in range(1, count):
                before, after = running[i - 1], running[i]
                order[before, place, AFTER], order[after, place, BEFORE] = after, before
    return order


def drive_empty(plan: Integers, stops: Integers, running: Array, launch: Array) -> None:
    """Set TO_FIRST and FROM_LAST: driving without stopping, by the mean running times (2, L, H) of the launch's hour,
    in whole seconds."""
    for trip, (way, first, last, free) in enumerate(plan[:, [DIRECTION, FIRST, LAST, FREE]].tolist()):
        if first == 0 and last == stops[way] - 1:
            continue
        hour = min(int(launch[trip] // 3600.0), running.shape[2] - 1)
        plan[trip, TO_FIRST] = round(float(running[way, :first, hour].sum()))
        if free < 2:
            plan[trip, FROM_LAST] = round(float(running[way, last : stops[way] - 1, hour].sum()))


def _serving(way: Direction, hours: int) -> list[Array]:
    """When the trips that serve a stop left the direction's first stop, or would have, for each stop in order. A trip
    serves a stop if it goes on from there, and the last stop if it ends there."""
    first, last = way.ends
    begun = way.launches.copy()
    if first.any():
        links = np.concatenate([np.zeros((1, hours)), np.cumsum(way.length[:, None] / way.speed, axis=0)])
        hour = (way.launches // 3600.0).astype(int).clip(max=hours - 1)
        begun = (begun - links[first, hour]).clip(min=0.0)
    end = len(way.stops) - 1
    return [np.sort(begun[(first <= place) & (last >= min(place + 1, end))]) for place in range(end + 1)]


def scheduled_gaps(way: Direction, hours: int) -> Array:
    """s between trips at all stops; at the first one where all trips serve the whole line, since they are the same."""
    serving = _serving(way, hours)
    return np.concatenate([np.diff(times) for times in (serving if not way.whole.all() else serving[:1])])


def hourly_headways(way: Direction, corridor: Corridor) -> Array:
    """(S, hours) mean s from a trip that goes on from a stop to the next one, in the hour in which it left the first
    stop, or would have; of the nearest hour that has any, else the scheduled one."""
    return np.stack([_hourly_gaps(times, corridor) for times in _serving(way, corridor.hours)])


def _hourly_gaps(times: Array, corridor: Corridor) -> Array:
    gaps, hour = np.diff(times), (times[:-1] // 3600.0).astype(int)
    means = np.array(
        [gaps[hour == index].mean() if (hour == index).any() else np.nan for index in range(corridor.hours)]
    )
    known = np.flatnonzero(np.isfinite(means))
    if not known.size:
        return np.full(corridor.hours, float(corridor.headway))
    return np.asarray(means[known[np.abs(np.arange(corridor.hours)[:, None] - known).argmin(axis=1)]])
