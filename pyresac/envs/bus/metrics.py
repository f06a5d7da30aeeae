"""What a day was like for passengers and operator.

Waiting and travelling are means over the passengers who reached their stop; `weighted_journey` and `wait_95` are over
the same passengers whatever the controller.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus import state as at
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.day import ALIGHTED, BOARDED, CREATED
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST, Integers
from pyresac.envs.bus.objectives import WAIT_WEIGHT, trip_seconds, vehicle_hours, weighted_time
from pyresac.envs.bus.record import Record

FIRST_COUNTED = 1800.0
"""s: passengers who appear earlier find a line without buses."""


@dataclass(frozen=True)
class Metrics:
    """One day in numbers. A decision is the end of dwell of a bus with a leader or a follower; τ the scheduled
    headway."""

    reward: float
    """Sum of the rewards of all decisions but each trip's first: the paper's."""
    reward_full: float
    """Sum of the rewards of all decisions."""
    wait: float
    """Mean minutes from appearance to boarding."""
    travel: float
    """Mean minutes from boarding to alighting."""
    journey: float
    """wait + travel."""
    imbalance: float
    """Mean |hf − hb| over decisions, s."""
    bunching: float
    """Share of decisions with min(hf, hb) < τ/2."""
    headway_variation: float
    """Coefficient of variation of hf over decisions of buses with a leader."""
    excess_wait: float
    """Minutes that a passenger who comes at random waits for a bus beyond τ/2: (Σ h²/Σ h − τ)/2 over the same
    headways."""
    holding: float
    """Mean seconds of holding a decision."""
    load: float
    """Mean passengers on board on leaving a stop, the first and last stop not counted."""
    largest_load: float
    left_behind: float
    """Passengers that found a bus full, or were passed by one, counted each time."""
    skipped: float
    """Stops passed without boarding."""
    unserved: float
    """Passengers that had appeared but not arrived when the last bus came in."""
    passengers: float
    """Passengers that appeared."""
    fleet: float
    """Buses used."""
    decisions: float
    trip: float
    """Mean minutes of a trip, from launch to the end of dwell at the last stop."""
    vehicle_hours: float
    """Hours of all trips."""
    late_dispatches: float
    """Trips that leave their first stop a minute late or more: for want of a bus, or by `Operations.late_share`."""
    weighted_journey: float
    """Mean minutes of 2·wait + ride over the same passengers whatever the controller: those who appear between the
    first half hour and the last launch. Who is not served is charged until the last bus comes in."""
    wait_95: float
    """95th percentile of the minutes of waiting, of the same passengers."""
    crowding: float
    """Passengers on board that a passenger meets: mean load over all minutes that passengers ride."""
    weighted_time: float
    """Minutes of 2·wait + ride of all passengers, summed: with `vehicle_hours` and `left_behind`, what
    `objectives.PassengerTime` is made of."""
    end: float
    """Hours after the start of service at which the last trip ended."""


METRICS = tuple(field.name for field in fields(Metrics))


def day_metrics(record: Record) -> Metrics:
    """The metrics of a finished day."""
    visits, line = record.visits, record.layout.line
    decided, came = np.isfinite(visits[..., at.ACTION]), np.isfinite(visits[..., at.ARRIVED])
    rows = visits[decided]
    forward, backward = rows[:, at.FORWARD], rows[:, at.BACKWARD]
    led = forward[(rows[:, at.NEIGHBOURS].astype(np.int64) & 1) == 1]
    appeared = record.passengers[record.passengers[:, CREATED] <= record.end]
    served = appeared[np.isfinite(appeared[:, ALIGHTED])]
    wait = _mean(served[:, BOARDED] - served[:, CREATED]) / 60.0
    travel = _mean(served[:, ALIGHTED] - served[:, BOARDED]) / 60.0
    trips, first, last = np.arange(len(line.plan)), line.plan[:, FIRST], line.plan[:, LAST]
    begun, place = visits[trips, first, at.ARRIVED], np.arange(visits.shape[1])
    inner = visits[(place > first[:, None]) & (place < last[:, None]), at.ONBOARD]
    core_wait, core_ride = _core(record)
    return Metrics(
        reward=float(rows[rows[:, at.PRIOR] >= 0, at.REWARD].sum()),
        reward_full=float(rows[:, at.REWARD].sum()),
        wait=wait,
        travel=travel,
        journey=wait + travel,
        imbalance=_mean(np.abs(forward - backward)),
        bunching=_mean(np.minimum(forward, backward) < 0.5 * line.headway),
        headway_variation=variation(led),
        excess_wait=excess_wait(led, line.headway),
        holding=_mean(rows[:, at.HELD]),
        load=_mean(inner[np.isfinite(inner)]),
        largest_load=float(np.nanmax(visits[..., at.ONBOARD])),
        left_behind=float(np.nansum(visits[..., at.LEFT])),
        skipped=float((visits[came, at.SKIPPED] == 1.0).sum()),
        unserved=float(len(appeared) - len(served)),
        passengers=float(len(appeared)),
        fleet=float(record.fleet),
        decisions=float(decided.sum()),
        trip=_mean(trip_seconds(record)) / 60.0,
        vehicle_hours=vehicle_hours(record),
        late_dispatches=float((begun - line.schedule[trips, first] >= 60.0).sum()),
        weighted_journey=_mean(WAIT_WEIGHT * core_wait + core_ride) / 60.0,
        wait_95=float(np.quantile(core_wait, 0.95)) / 60.0 if core_wait.size else float("nan"),
        crowding=_crowding(visits),
        weighted_time=weighted_time(record),
        end=record.end / 3600.0,
    )


def _core(record: Record) -> tuple[Array, Array]:
    """(wait, ride) in s of the passengers who appear between FIRST_COUNTED and the last launch that both directions
    have, of trips along the whole line where there are any."""
    ways = record.layout.corridor.directions
    last = min(float(way.launches[way.whole if way.whole.any() else slice(None)].max()) for way in ways)
    created = record.passengers[:, CREATED]
    first = FIRST_COUNTED if last > 2.0 * FIRST_COUNTED else 0.0
    mine = record.passengers[(created >= first) & (created <= last)]
    boarded = np.where(np.isnan(mine[:, BOARDED]), record.end, mine[:, BOARDED])
    alighted = np.where(np.isnan(mine[:, ALIGHTED]), record.end, mine[:, ALIGHTED])
    return boarded - mine[:, CREATED], alighted - boarded


def _crowding(visits: Array) -> float:
    """Σ load²·time over Σ load·time, from arrival to arrival."""
    load, time = visits[:, :-1, at.ONBOARD], np.diff(visits[..., at.ARRIVED], axis=1)
    rode = np.nansum(load * time)
    return float(np.nansum(load * load * time) / rode) if rode > 0.0 else float("nan")


def metrics_table(records: list[Record]) -> dict[str, Array]:
    """Metrics of several days by name, each (days,)."""
    days = [day_metrics(record) for record in records]
    return {name: np.array([getattr(day, name) for day in days]) for name in METRICS}


def variation(headways: Array) -> float:
    """Standard deviation over mean; NaN for none."""
    return float(headways.std() / headways.mean()) if headways.size else float("nan")


def excess_wait(headways: Array, scheduled: float) -> float:
    """(Σ h²/Σ h − scheduled)/2 in minutes, overtaken buses (h < 0) left out; NaN for none."""
    ahead = headways[headways > 0.0]
    return float((np.square(ahead).sum() / ahead.sum() - scheduled) / 120.0) if ahead.size else float("nan")


GROUPED = (
    "decisions",
    "headway_variation",
    "bunching",
    "excess_wait",
    "holding",
    "load",
    "boarded",
    "left_behind",
    "wait",
)


def by_stop(record: Record) -> dict[str, Array]:
    """GROUPED metrics of each stop, (2, S) by direction and place; NaN where there is nothing to count."""
    count = record.layout.places
    place = np.broadcast_to(np.arange(count), record.visits.shape[:2])
    group = record.layout.line.plan[:, DIRECTION][:, None] * count + place
    return {name: values.reshape(2, count) for name, values in _grouped(record, group, record.queue, 2 * count).items()}


def by_hour(record: Record) -> dict[str, Array]:
    """GROUPED metrics of each hour, (H,): of the bus's arrival, for `wait` of the passenger's appearance."""
    hours = record.layout.corridor.hours
    arrived = np.nan_to_num(record.visits[..., at.ARRIVED], nan=0.0)
    group = np.minimum((arrived / 3600.0).astype(np.int64), hours - 1)
    appeared = np.minimum((record.passengers[:, CREATED] / 3600.0).astype(np.int64), hours - 1)
    return _grouped(record, group, appeared, hours)


def _grouped(record: Record, group: Integers, passenger_group: Integers, groups: int) -> dict[str, Array]:
    result = {name: np.full(groups, np.nan) for name in GROUPED}
    came = np.isfinite(record.visits[..., at.ARRIVED])
    wait = record.passengers[:, BOARDED] - record.passengers[:, CREATED]
    half = 0.5 * record.layout.line.headway
    for index in range(groups):
        rows = record.visits[came & (group == index)]
        decided = rows[np.isfinite(rows[:, at.ACTION])]
        forward = decided[:, at.FORWARD]
        waits = wait[(passenger_group == index) & np.isfinite(wait)]
        values = {
            "decisions": float(len(decided)),
            "headway_variation": variation(forward),
            "bunching": _mean(np.minimum(forward, decided[:, at.BACKWARD]) < half),
            "excess_wait": excess_wait(forward, record.layout.line.headway),
            "holding": _mean(decided[:, at.HELD]),
            "load": _mean(rows[:, at.ONBOARD]),
            "boarded": float(rows[:, at.BOARDED].sum()),
            "left_behind": float(rows[:, at.LEFT].sum()),
            "wait": _mean(waits) / 60.0,
        }
        for name, value in values.items():
            result[name][index] = value
    return result


def _mean(values: Array | NDArray[np.bool_]) -> float:
    return float(np.mean(values)) if values.size else float("nan")
