"""What a day is worth: the objectives of policy search and of the environments' rewards.

`reward` is the paper's sum of headway rewards. `passengers` counts what passengers and the operator pay, in
passenger-minutes: −(Σ 2·wait + ride over all passengers, + price·vehicle-hours + price·denied boardings). Waiting
counts double, as in the values of time of M. Wardman, Public transport values of time, Transport Policy 11 (2004)
363–377. A passenger who is still waiting or riding when the last bus comes in is charged until then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import compiled
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.day import BOARDED, CREATED
from pyresac.envs.bus.line import FIRST, FOLLOWER, LAST, LEADER, Integers, Line
from pyresac.envs.bus.record import Record
from pyresac.errors import InputError

WAIT_WEIGHT = 2.0
"""A minute of waiting in minutes of riding."""
BEHIND = 3
"""Trips behind a bus whose passengers it spares by a hold; what it does to those further back is lost in rounding."""


class Objective(Protocol):
    """A value of a finished day; more is better."""

    def __call__(self, record: Record) -> float: ...


@dataclass(frozen=True)
class HeadwayReward:
    """The paper's reward of a day: over all decisions but each trip's first."""

    neighbours: float = 0.0
    """Share of the reward of the trip's leader and follower that a transition is given too; no day's value changes.

    Half of what a hold does to the reward of a day, it does to that of its two neighbours: a headway is a forward one
    of one bus and a backward one of another. A learner of the own reward alone holds too little for the line.
    """

    def __post_init__(self) -> None:
        _check_not_negative(self)

    @property
    def shares(self) -> bool:
        """Whether a transition is given a part of what its neighbours earn."""
        return self.neighbours > 0.0

    def __call__(self, record: Record) -> float:
        """Its sum."""
        rows = record.visits[np.isfinite(record.visits[..., at.ACTION])]
        return float(rows[rows[:, at.PRIOR] >= 0, at.REWARD].sum())


@dataclass(frozen=True)
class PassengerTime:
    """−(Σ 2·wait + ride + vehicle_hour·vehicle-hours + denied·denied boardings), in passenger-minutes."""

    vehicle_hour: float = 0.0
    """Price of an hour that a bus is on a trip, passenger-minutes."""
    denied: float = 0.0
    """Price of finding a bus full, passenger-minutes."""
    followers: float = 0.0
    """Share of what passengers of the next BEHIND trips pay that a transition is charged with too; no day's value
    changes.

    Holding a bus costs its own passengers and spares those of the trips behind it, who wait less, and ride less since
    they are fewer a bus. A learner that is charged with its own trip alone learns never to hold; with 1 it is charged
    with nearly all that a hold moves.
    """

    def __post_init__(self) -> None:
        _check_not_negative(self)

    @property
    def shares(self) -> bool:
        """Whether a transition is charged with a part of what the trips behind it pay."""
        return self.followers > 0.0

    def so_far(self, clock: Array) -> Array:
        """(n,) its cost up to now, of days with these clocks (n, CLOCKS), but for passengers who are still at stops."""
        minutes = (WAIT_WEIGHT * clock[:, at.WAITED_SO_FAR] + clock[:, at.RODE_SO_FAR]) / 60.0
        driven = self.vehicle_hour * clock[:, at.DROVE_SO_FAR] / 3600.0
        return np.asarray(minutes + driven + self.denied * clock[:, at.DENIED_SO_FAR])

    def __call__(self, record: Record) -> float:
        """Its value for a day."""
        return -(
            weighted_time(record) + self.vehicle_hour * vehicle_hours(record) + self.denied * denied_boardings(record)
        )


@compiled
def visit_costs(visits: Array, before: Integers, after: Integers, vehicle_hour: float, denied: float) -> Array:
    """(m,) what a trip's passengers and its bus pay between two of its visits (day, trip, place), passenger-minutes.

    Waiting of those who board after the first visit, up to and with the second; riding and driving between them.
    """
    costs = np.zeros(before.shape[0])
    for i in range(before.shape[0]):
        day, trip, first = before[i]
        for place in range(first + 1, after[i, 2] + 1):
            visit = visits[day, trip, place]
            driven = visit[at.ARRIVED] - visits[day, trip, place - 1, at.ARRIVED]
            costs[i] += (WAIT_WEIGHT * visit[at.WAITED] + visit[at.RODE]) / 60.0
            costs[i] += vehicle_hour * driven / 3600.0 + denied * visit[at.LEFT]
    return costs


@compiled
def ready(visits: Array, day: int, trip: int, place: int) -> float:
    """The end of dwell of a visit; NaN before the bus has come."""
    return float(visits[day, trip, place, at.ARRIVED] + visits[day, trip, place, at.DWELL])


@compiled
def in_the_meantime(line: Line, visits: Array, day: int, trip: int, first: int, last: int) -> tuple[float, float]:
    """From the end of dwell of a trip's visit to that of a later one; for the trip's end, to its follower's end."""
    follower, until = line.plan[trip, FOLLOWER], ready(visits, day, trip, last)
    if last == line.plan[trip, LAST] and follower >= 0:
        until = max(until, ready(visits, day, follower, last))
    return ready(visits, day, trip, first), until


@compiled
def paid_behind(line: Line, visits: Array, before: Integers, after: Integers) -> Array:
    """(m,) passenger-minutes, 2·wait + ride, of the passengers of the next BEHIND trips between two of a trip's visits
    (day, trip, place): at stops that those were ready to leave in the meantime."""
    costs = np.zeros(before.shape[0])
    for i in range(before.shape[0]):
        day, trip, place = before[i]
        begin, end = in_the_meantime(line, visits, day, trip, place, after[i, 2])
        follower = trip
        for _ in range(BEHIND):
            follower = line.plan[follower, FOLLOWER]
            if follower < 0:
                break
            for stop in range(visits.shape[2]):
                if begin < ready(visits, day, follower, stop) <= end:
                    visit = visits[day, follower, stop]
                    costs[i] += (WAIT_WEIGHT * visit[at.WAITED] + visit[at.RODE]) / 60.0
    return costs


@compiled
def earned_beside(line: Line, visits: Array, before: Integers, after: Integers) -> Array:
    """(m,) reward that the trip's leader and follower earned between two of its visits (day, trip, place): at their
    decisions, each trip's first left out, and at the last stop."""
    earned = np.zeros(before.shape[0])
    for i in range(before.shape[0]):
        day, trip, place = before[i]
        begin, end = in_the_meantime(line, visits, day, trip, place, after[i, 2])
        for side in (LEADER, FOLLOWER):
            neighbour = line.plan[trip, side]
            # a hold does nothing to a leader once the trip has ended
            until = end if side == FOLLOWER else ready(visits, day, trip, after[i, 2])
            for stop in range(visits.shape[2] if neighbour >= 0 else 0):
                visit = visits[day, neighbour, stop]
                counts = math.isfinite(visit[at.ACTION]) or stop == line.plan[neighbour, LAST]
                if counts and visit[at.PRIOR] >= 0.0 and begin < ready(visits, day, neighbour, stop) <= until:
                    earned[i] += visit[at.REWARD]
    return earned


def _check_not_negative(objective: HeadwayReward | PassengerTime) -> None:
    for field in fields(objective):
        price = getattr(objective, field.name)
        if not (math.isfinite(price) and price >= 0.0):
            raise InputError(f"{field.name} is {price}; a price must be finite and not negative")


OBJECTIVES: dict[str, type[HeadwayReward] | type[PassengerTime]] = {
    "reward": HeadwayReward,
    "passengers": PassengerTime,
}


def objective_named(text: str) -> HeadwayReward | PassengerTime:
    """reward, reward:neighbours=1, passengers, passengers:vehicle_hour=480,denied=5,followers=1, and so on.

    Raises InputError for anything else.
    """
    name, _, rest = text.partition(":")
    if name not in OBJECTIVES:
        raise InputError(f"objective {text!r} is unknown; expected one of {sorted(OBJECTIVES)}, see {__name__}")
    allowed = [field.name for field in fields(OBJECTIVES[name])]
    prices: dict[str, float] = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in allowed or key in prices:
            raise InputError(f"objective {name}: {key!r} is unknown or given twice; it has {allowed}")
        try:
            prices[key] = float(value)
        except ValueError as error:
            raise InputError(f"objective {name}: {part!r} is not of the form price=number") from error
    return OBJECTIVES[name](**prices)


def weighted_time(record: Record) -> float:
    """Σ 2·wait + ride, in minutes, of all passengers who appear before the last bus comes in."""
    created, boarded, alighted = record.passengers[record.passengers[:, CREATED] <= record.end].T
    boarded = np.where(np.isnan(boarded), record.end, boarded)
    alighted = np.where(np.isnan(alighted), record.end, alighted)
    return float((WAIT_WEIGHT * (boarded - created) + alighted - boarded).sum() / 60.0)


def owed(passengers: Array, end: float) -> float:
    """Σ 2·wait, in minutes, of passengers (P, 3) who appeared and are still at a stop when the last bus comes in."""
    left = passengers[np.isnan(passengers[:, BOARDED]) & (passengers[:, CREATED] <= end), CREATED]
    return float(WAIT_WEIGHT * (end - left).sum() / 60.0)


def trip_seconds(record: Record) -> Array:
    """(T,) from launch to the end of dwell at the last stop."""
    line = record.layout.line
    trips = np.arange(len(line.plan))
    begin, end = record.visits[trips, line.plan[:, FIRST]], record.visits[trips, line.plan[:, LAST]]
    return np.asarray(end[:, at.ARRIVED] + end[:, at.DWELL] - begin[:, at.ARRIVED])


def vehicle_hours(record: Record) -> float:
    """Hours of all trips."""
    return float(trip_seconds(record).sum() / 3600.0)


def denied_boardings(record: Record) -> float:
    """Passengers that found a bus full, counted each time."""
    return float(np.nansum(record.visits[..., at.LEFT]))
