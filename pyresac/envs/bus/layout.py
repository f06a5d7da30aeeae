"""Lays a corridor out as arrays: demand by direction, neighbours of each trip, bounds, expected times of arrival."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pyresac.envs.bus.corridor import Array, Corridor
from pyresac.envs.bus.day import expected_passengers
from pyresac.envs.bus.line import GATE, Chances, Integers, Line
from pyresac.envs.bus.motion import add_running_times, fill_schedule
from pyresac.envs.bus.timetable import drive_empty, hourly_headways, order_of_trips, planned
from pyresac.errors import InputError

QUANTILES, FACTORS = 32, 12
"""Slices of a link's own speed, and of the traffic's factor, over which running times are averaged."""
QUEUEING = 3600.0
"""s by which buses that keep their order may be later at the end of the day than any alone."""
LARGEST_TIMETABLE, MOST_DRAWS, MOST_PASSENGERS = 5_000_000, 100_000_000, 20_000_000
"""Stops of all trips; speeds and draws of arrivals of a day; passengers of a day."""


@dataclass(frozen=True)
class Layout:
    """A corridor ready to be simulated; `published` selects the published program's accidents (see `simulator`)."""

    corridor: Corridor
    published: bool
    line: Line
    chances: Chances
    route: Integers
    """(2, S) number of the stop at each place of a direction, −1 past its end."""
    order: Integers
    """(T, S, 2) the timetable's order of trips at each stop: the one before, the one after, −1 for none."""
    fleet_limit: int
    """An upper bound on the buses that a day can use: the number of categories of a bus."""

    @property
    def least(self) -> float:
        """The least seconds that may be asked of a bus: −H_max where a negative number passes the next stop, else 0."""
        return -self.line.holding_limit if self.line.skipping else 0.0

    @property
    def gates(self) -> int:
        """G, the first stops of trips, see `timetable`: two, and those midway."""
        return max(2, int(self.line.plan[:, GATE].max()) + 1)

    @property
    def places(self) -> int:
        """S, stops of the longer direction."""
        return int(self.route.shape[1])


def lay_out(corridor: Corridor, published: bool = False) -> Layout:
    """The corridor as arrays."""
    size, hours, vehicle = max(len(way.stops) for way in corridor.directions), corridor.hours, corridor.vehicle
    if corridor.trips * size > LARGEST_TIMETABLE:
        raise InputError(
            f"corridor {corridor.name!r} has {corridor.trips:,} trips of {size:,} stops; a day may have "
            f"{LARGEST_TIMETABLE:,} stops in all"
        )
    route = np.full((2, size), -1, dtype=np.int64)
    length, mean_speed = np.ones((2, size - 1)), np.ones((2, size - 1, hours))
    deviation = np.full((2, size - 1, hours), float(corridor.speed_deviation))
    for index, way in enumerate(corridor.directions):
        count = len(way.stops)
        route[index, :count] = [corridor.stops.index(stop) for stop in way.stops]
        length[index, : count - 1], mean_speed[index, : count - 1] = way.length, way.speed
        if way.deviation is not None:
            deviation[index, : count - 1] = way.deviation
    rate, split = _demand(corridor, route)
    launch, plan = planned(corridor)
    longest = _longest_trip(corridor, published)
    line = Line(
        published=published,
        stops=np.array([len(way.stops) for way in corridor.directions], dtype=np.int64),
        length=length,
        plan=plan,
        short=corridor.short_turns > 0,
        schedule=np.repeat(launch[:, None], size, axis=1),
        departures=np.repeat(launch[:, None], size, axis=1),
        pressure=rate * vehicle.boarding_time,
        speed_interval=float(corridor.speed_interval),
        capacity=int(vehicle.capacity),
        acceleration=float(vehicle.acceleration),
        deceleration=float(vehicle.deceleration),
        boarding_time=float(vehicle.boarding_time),
        alighting_time=float(vehicle.alighting_time),
        clearance_time=float(vehicle.clearance_time),
        headway=float(corridor.headway),
        holding_limit=float(corridor.holding_limit),
        buses=int(corridor.operations.buses),
        layover=float(corridor.operations.layover),
        late_share=float(corridor.operations.late_share),
        late_mean=float(corridor.operations.late_mean),
        open_doors=corridor.operations.open_doors,
        closed_holds=corridor.operations.closed_holds,
        seats=int(corridor.operations.seats),
        crowding=float(corridor.operations.crowding),
        control=_control(corridor, route),
        ordered=corridor.operations.ordered,
        berths=int(corridor.operations.berths),
        patience=float(corridor.operations.patience),
        advice=corridor.operations.advice,
        skipping=corridor.operations.skipping,
    )
    chances = Chances(
        published=published,
        mean_speed=mean_speed,
        speed_deviation=deviation,
        speed_floor=float(corridor.speed_floor),
        speed_ceiling=float(corridor.speed_ceiling),
        speed_interval=float(corridor.speed_interval),
        day_spread=float(corridor.traffic.day),
        local_spread=float(corridor.traffic.local),
        along=float(corridor.traffic.along),
        persistence=float(corridor.traffic.persistence),
        rate=rate,
        split=split,
        demand_interval=float(corridor.demand_interval),
        horizon=float(launch[-1] + longest + corridor.operations.latest + QUEUEING * corridor.operations.ordered),
    )
    running = running_times(line, chances)
    dwell = dwell_times(line, chances, headways(corridor) if line.short else None)
    schedule, departures = _schedule(line, running, dwell)
    drive_empty(plan, line.stops, running, launch)
    line = line._replace(schedule=schedule, departures=departures)
    _check_size(corridor, chances)
    order = order_of_trips(plan, departures)
    return Layout(corridor, published, line, chances, route, order, _fleet_limit(corridor, longest))


def _check_size(corridor: Corridor, chances: Chances) -> None:
    """Refuse a day that no machine has room for, and say which numbers make it so."""
    hours = chances.horizon / 3600.0
    why = f"every trip has surely ended after {hours:,.0f} h, as launches, lengths, dwell and holding_limit allow"
    links = chances.mean_speed.shape[1]
    speeds = 2 * links * chances.horizon / chances.speed_interval
    draws = 2 * (links + 1) * chances.horizon / chances.demand_interval
    passengers = expected_passengers(chances)
    for what, number, most in (
        ("speeds, one a link and speed_interval", speeds, MOST_DRAWS),
        ("draws of passengers, one a stop and demand_interval", draws, MOST_DRAWS),
        ("passengers", passengers, MOST_PASSENGERS),
    ):
        if not number <= most:
            raise InputError(
                f"a day of corridor {corridor.name!r} has {number:,.0f} {what}; at most {most:,} are allowed; {why}"
            )


def _demand(corridor: Corridor, route: Integers) -> tuple[Array, Array]:
    """(rate, split): who boards where, and where to; a pair that both directions visit in order rides up."""
    size, hours = route.shape[1], corridor.hours
    table = np.zeros((hours, 2, size, size))
    taken = np.zeros((len(corridor.stops), len(corridor.stops)), dtype=bool)
    for index, way in enumerate(corridor.directions):
        stops = route[index, : len(way.stops)]
        later = np.triu(np.ones((len(stops), len(stops)), dtype=bool), k=1)
        mine = later & ~taken[np.ix_(stops, stops)]
        taken[np.ix_(stops, stops)] |= later
        table[:, index, : len(stops), : len(stops)] = corridor.demand[:, stops[:, None], stops[None, :]] * mine
    split = np.cumsum(table, axis=3)
    total = split[..., -1].copy()
    np.divide(split, total[..., None], out=split, where=total[..., None] > 0.0)
    return np.ascontiguousarray(total.transpose(1, 2, 0)) / 3600.0, split


def _control(corridor: Corridor, route: Integers) -> Integers:
    """(2, S) 1 at the stops where a bus may be held."""
    points = corridor.operations.control_stops
    if not points:
        return np.ones_like(route)
    chosen = np.array([stop in points for stop in corridor.stops])
    return np.where(route >= 0, chosen[route], 0).astype(np.int64)


def _longest_trip(corridor: Corridor, published: bool) -> float:
    """Bound: each link at the slowest speed, started from a stand, each stop with a full exchange and a full hold."""
    vehicle = corridor.vehicle
    slowest = float(math.floor(corridor.speed_floor)) if published else corridor.speed_floor
    change = slowest / vehicle.acceleration + slowest / vehicle.deceleration + 4.0
    exchange = vehicle.clearance_time + vehicle.capacity * max(vehicle.boarding_time, vehicle.alighting_time)
    per_stop = exchange + math.ceil(corridor.holding_limit)
    return float(
        max(
            way.length.sum() / slowest + len(way.length) * change + len(way.stops) * per_stop
            for way in corridor.directions
        )
    )


def _fleet_limit(corridor: Corridor, longest_trip: float) -> int:
    """Bound: at each terminal, launches there less the opposite trips that have surely arrived, at the worst moment."""
    operations, limit = corridor.operations, 0
    if operations.ordered or corridor.short_turns:
        # a trip may take as long as those before it keep it waiting; a bus may be free where no trip begins
        return min(corridor.trips, operations.buses) if operations.buses else corridor.trips
    longest_trip += operations.latest + operations.layover
    for here, there in (corridor.directions, corridor.directions[::-1]):
        started = np.arange(1, len(here.launches) + 1)
        arrived = np.searchsorted(there.launches, here.launches - longest_trip, side="right")
        limit += max(int((started - arrived).max()), 0)
    return min(limit, operations.buses) if operations.buses else limit


def headways(corridor: Corridor) -> Array:
    """(2, S, H) the timetable's mean headway at each stop, see `hourly_headways`; the scheduled one past the end."""
    size = max(len(way.stops) for way in corridor.directions)
    found = np.full((2, size, corridor.hours), float(corridor.headway))
    for index, way in enumerate(corridor.directions):
        found[index, : len(way.stops)] = hourly_headways(way, corridor)
    return found


def _schedule(line: Line, running: Array, dwell: Array) -> tuple[Array, Array]:
    """(arrivals, departures), each (T, S): launch, then the mean running time of each link and a mean dwell at each
    stop, in the hour they fall in."""
    schedule, departures = line.schedule.copy(), line.schedule.copy()
    fill_schedule(line, running, dwell, schedule, departures)
    return schedule, departures


def running_times(line: Line, chances: Chances) -> Array:
    """(2, L, H): mean over the speed's distribution, by midpoints of equally likely slices."""
    running = np.zeros_like(chances.mean_speed)
    factors = traffic_factors(chances)
    for normal in slices(QUANTILES):
        drawn = chances.mean_speed + chances.speed_deviation * normal
        for factor in factors:
            speed = (drawn / factor).clip(chances.speed_floor, chances.speed_ceiling)
            speed = np.floor(speed) if line.published else speed
            add_running_times(line, speed, 1.0 / (QUANTILES * len(factors)), running)
    return running


def slices(count: int) -> list[float]:
    """The midpoints of equally likely slices of a standard normal number."""
    return [NormalDist().inv_cdf((index + 0.5) / count) for index in range(count)]


def traffic_factors(chances: Chances) -> list[float]:
    """Equally likely values of the factor F of `Traffic`, of mean 1; only 1 where there is no traffic."""
    spread = math.hypot(chances.day_spread, chances.local_spread)
    if spread == 0.0:
        return [1.0]
    values = np.exp(spread * np.array(slices(FACTORS)))
    return [float(value) for value in values / values.mean()]


def dwell_times(line: Line, chances: Chances, headway: Array | None = None) -> Array:
    """(2, S, H): dwell of a bus that meets one headway of passengers: the scheduled one, or `headway` (2, S, H)."""
    shares = np.diff(chances.split, axis=3, prepend=0.0)
    alighting = np.einsum("dsh,hdsj->djh", chances.rate, shares)
    exchange = np.maximum(line.boarding_time * chances.rate, line.alighting_time * alighting)
    return np.asarray(line.clearance_time + exchange * (line.headway if headway is None else headway))
