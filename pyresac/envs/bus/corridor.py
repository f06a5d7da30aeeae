"""The corridor as a value: stops, links, speeds, timetable, demand, vehicle. Validated when made; never changed after.

Two directions, 0 ("up") and 1 ("down"), each a sequence of stops out of one list; both usually visit the same stops
in opposite order. Times are seconds after the start of service; hour h of a table covers 3600·h … 3600·(h+1), the
last one lasts to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyresac.envs.bus.number_checks import is_number, is_whole
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.traffic import Traffic
from pyresac.errors import InputError

Array = NDArray[np.float64]
DIRECTIONS = ("up", "down")
LARGEST_BUS = 10_000
"""Passengers; the longest possible dwell, and with it the longest possible day, follow from the capacity."""
FASTEST = 100.0
"""m/s: faster than any bus or train in a town."""
LONGEST_LINK = 200_000.0
"""m"""
SHORTEST_LINK = 0.01
"""m"""
LATEST = 7 * 24 * 3600.0
"""s: a week."""
BUSIEST = 1_000_000.0
"""Passengers per hour from one stop to another."""
HOUR = 3600.0
BOUNDS = {
    "headway": (1.0, 24 * HOUR, "a day"),
    "holding_limit": (0.0, HOUR, "an hour"),
    "speed_deviation": (0.0, FASTEST, "no bus is so fast"),
    "speed_floor": (1.0, FASTEST, "no bus is so fast"),
    "speed_ceiling": (1.0, FASTEST, "no bus is so fast"),
    "speed_interval": (1.0, HOUR, "a draw lies in one hour of the tables"),
    "demand_interval": (1.0, HOUR, "a draw lies in one hour of the tables"),
    "service_start": (0.0, LATEST, "a week"),
    "vehicle.acceleration": (0.01, 100.0, "ten times gravity"),
    "vehicle.deceleration": (0.01, 100.0, "ten times gravity"),
    "vehicle.boarding_time": (0.0, 600.0, "ten minutes a passenger"),
    "vehicle.alighting_time": (0.0, 600.0, "ten minutes a passenger"),
    "vehicle.clearance_time": (0.0, HOUR, "an hour"),
}
"""(least, most, what the most stands for) of every single number of a corridor."""


@dataclass(frozen=True)
class Vehicle:
    """A bus. Dwell = max(alighting_time · alighting, boarding_time · boarding) + clearance_time."""

    capacity: int = 50
    """Passengers, 1 to LARGEST_BUS."""
    acceleration: float = 3.0
    """m/s², above 0."""
    deceleration: float = 5.0
    """m/s², above 0."""
    boarding_time: float = 2.0
    """Seconds a boarding passenger."""
    alighting_time: float = 1.0
    """Seconds an alighting passenger."""
    clearance_time: float = 4.0
    """Seconds of every stop, passengers or not: doors, pulling in and out."""

    def __post_init__(self) -> None:
        if not is_whole(self.capacity) or not 1 <= self.capacity <= LARGEST_BUS:
            raise InputError(
                f"vehicle.capacity is {self.capacity!r}; it must be an integer of at least 1, at most {LARGEST_BUS}"
            )
        for name in ("acceleration", "deceleration", "boarding_time", "alighting_time", "clearance_time"):
            check_number(f"vehicle.{name}", getattr(self, name))


@dataclass(frozen=True)
class Direction:
    """One way along the corridor: S stops, S − 1 links.

    `stops` are names out of `Corridor.stops`; `length` (S − 1,) in metres; `speed` (S − 1, H) hourly mean speeds in
    m/s; `launches` (T,) departure times from the first stop, strictly increasing, in seconds after the start of
    service; `deviation` (S − 1, H) standard deviations of the links' speeds in m/s, the corridor's `speed_deviation`
    everywhere without it.
    """

    stops: tuple[str, ...]
    length: Array
    speed: Array
    launches: Array
    deviation: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stops", _listed(self.stops))
        for name in ("length", "speed", "launches"):
            object.__setattr__(self, name, _frozen(name, getattr(self, name)))
        if self.deviation is not None:
            object.__setattr__(self, "deviation", _frozen("deviation", self.deviation))


@dataclass(frozen=True)
class Corridor:
    """A bidirectional bus line and its day. Raises InputError naming the field, the entry and what is allowed."""

    name: str
    stops: tuple[str, ...]
    """All stops, each once; a stop's number is its place here."""
    up: Direction
    down: Direction
    demand: Array
    """(H, N, N): passengers per hour from stop i to stop j, N = len(stops). A pair rides in the direction that visits
    i before j; where both do, up."""
    headway: float = 360.0
    """Scheduled headway τ in seconds: the target of the reward."""
    holding_limit: float = 60.0
    """H_max in seconds; 0 forbids holding."""
    vehicle: Vehicle = field(default_factory=Vehicle)
    speed_deviation: float = 1.5
    """Standard deviation of a link's speed about its hourly mean, m/s."""
    speed_floor: float = 2.0
    """Lowest speed drawn, m/s, at least 1."""
    speed_ceiling: float = 15.0
    """Highest speed drawn, m/s."""
    speed_interval: float = 300.0
    """Seconds between two draws of a link's speed."""
    demand_interval: float = 20.0
    """Seconds between two draws of arriving passengers."""
    service_start: float = 6 * 3600.0
    """Seconds after midnight at which time 0 lies."""
    operations: Operations = field(default_factory=Operations)
    """Buses, terminals, doors and control points."""
    traffic: Traffic = field(default_factory=Traffic)
    """What makes running times vary together."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stops", _listed(self.stops))
        object.__setattr__(self, "demand", _frozen("demand", self.demand))
        self._check_scalars()
        self._check_stops()
        for way, direction in zip(DIRECTIONS, (self.up, self.down), strict=True):
            _check_direction(way, direction, self.stops, self.hours)
        self._check_demand()
        if not isinstance(self.operations, Operations):
            raise InputError(f"operations is {self.operations!r}; it must be an Operations")
        if not isinstance(self.traffic, Traffic):
            raise InputError(f"traffic is {self.traffic!r}; it must be a Traffic")
        unknown = [stop for stop in self.operations.control_stops if stop not in self.stops]
        if unknown:
            raise InputError(f"operations.control_stops names {unknown}, which are not among the corridor's stops")

    @property
    def hours(self) -> int:
        """H, the number of hours of the demand and speed tables."""
        return int(self.demand.shape[0]) if self.demand.ndim == 3 else 0

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """(up, down)."""
        return self.up, self.down

    @property
    def trips(self) -> int:
        """Trips of a day, both directions."""
        return len(self.up.launches) + len(self.down.launches)

    def _check_scalars(self) -> None:
        for name in BOUNDS:
            if "." not in name:
                check_number(name, getattr(self, name))
        if self.speed_ceiling < self.speed_floor:
            given = f"speed_ceiling is {self.speed_ceiling:g} m/s"
            raise InputError(f"{given}; it must be at least {self.speed_floor:g}, the speed_floor")
        if 3600.0 % self.speed_interval or 3600.0 % self.demand_interval:
            given = f"speed_interval {self.speed_interval:g} and demand_interval {self.demand_interval:g}"
            raise InputError(
                f"{given} s: each must divide an hour (3600 s), so that a draw lies in one hour of the tables"
            )

    def _check_stops(self) -> None:
        if (
            not isinstance(self.name, str)
            or not self.name
            or not all(isinstance(stop, str) and stop for stop in self.stops)
        ):
            raise InputError("a corridor and each of its stops need a name that is a non-empty string")
        repeated = sorted({stop for stop in self.stops if self.stops.count(stop) > 1})
        if repeated:
            raise InputError(f"stops {repeated} occur more than once; every stop needs a name of its own")

    def _check_demand(self) -> None:
        count = len(self.stops)
        if self.demand.ndim != 3 or self.demand.shape[1:] != (count, count) or self.demand.shape[0] < 1:
            raise InputError(
                f"demand has shape {self.demand.shape}; it must be (hours, {count}, {count}) for {count} stops"
            )
        reachable = np.zeros((count, count), dtype=bool)
        for direction in self.directions:
            order = [self.stops.index(stop) for stop in direction.stops]
            for place, origin in enumerate(order):
                reachable[origin, order[place + 1 :]] = True
        for hour, origin, destination in np.argwhere(self.demand != 0.0):
            rate = self.demand[hour, origin, destination]
            where = f"demand[hour {hour}, {self.stops[origin]!r} → {self.stops[destination]!r}] is {rate}"
            if not 0.0 <= rate <= BUSIEST:
                raise InputError(f"{where}; rates must be finite and not negative, at most {BUSIEST:,.0f} an hour")
            if not reachable[origin, destination]:
                raise InputError(
                    f"{where}; no direction visits {self.stops[origin]!r} before {self.stops[destination]!r}"
                )


def _check_direction(way: str, direction: Direction, stops: Sequence[str], hours: int) -> None:
    count = len(direction.stops)
    unknown = [stop for stop in direction.stops if stop not in stops]
    if unknown:
        raise InputError(f"{way}.stops names {unknown}, which are not among the corridor's stops")
    if count < 3 or len(set(direction.stops)) != count:
        raise InputError(f"{way}.stops has {count} entries {list(direction.stops)}; at least 3 are needed, each once")
    if direction.length.shape != (count - 1,):
        raise InputError(f"{way}.length has shape {direction.length.shape}; {count} stops need ({count - 1},)")
    if direction.speed.shape != (count - 1, hours):
        raise InputError(
            f"{way}.speed has shape {direction.speed.shape}; it must be (links, hours) = ({count - 1}, {hours})"
        )
    for link, length in enumerate(direction.length):
        if not SHORTEST_LINK <= length <= LONGEST_LINK:
            ends = f"{direction.stops[link]!r} → {direction.stops[link + 1]!r}"
            raise InputError(
                f"{way}.length[{link}] ({ends}) is {length} m; a link must be longer than 0 m: at least "
                f"{SHORTEST_LINK:g}, at most {LONGEST_LINK:g}"
            )
    for link, hour in np.argwhere(~((direction.speed > 0.0) & (direction.speed <= FASTEST))):
        raise InputError(
            f"{way}.speed[link {link}, hour {hour}] is {direction.speed[link, hour]} m/s; it must be above 0, "
            f"at most {FASTEST:g}"
        )
    if direction.deviation is not None:
        _check_deviation(way, direction.deviation, direction.speed.shape)
    launches = direction.launches
    if launches.ndim != 1 or launches.size == 0:
        raise InputError(f"the timetable of direction {way} is empty; it needs at least one trip")
    if not np.isfinite(launches).all() or launches[0] < 0.0:
        raise InputError(
            f"{way}.launches must be finite and not negative, got {launches[~np.isfinite(launches)]} and {launches[0]}"
        )
    if launches.max() > LATEST:
        raise InputError(f"{way}.launches has {launches.max():g} s; a launch must be in the first week, {LATEST:g} s")
    late = np.flatnonzero(np.diff(launches) <= 0.0)
    if late.size:
        trip = int(late[0])
        pair = f"{launches[trip]:g} s then {launches[trip + 1]:g} s"
        raise InputError(
            f"{way}.launches[{trip}] and [{trip + 1}] are {pair}; a direction's launches must increase strictly"
        )


def _check_deviation(way: str, deviation: Array, shape: tuple[int, ...]) -> None:
    if deviation.shape != shape:
        raise InputError(f"{way}.deviation has shape {deviation.shape}; it must be (links, hours) = {shape}")
    for link, hour in np.argwhere(~((deviation >= 0.0) & (deviation <= FASTEST))):
        raise InputError(
            f"{way}.deviation[link {link}, hour {hour}] is {deviation[link, hour]} m/s; it must be in [0, {FASTEST:g}]"
        )


def check_number(name: str, value: Any) -> None:
    """InputError unless the value is a number inside the BOUNDS of `name`."""
    least, most, reason = BOUNDS[name]
    if not is_number(value) or not least <= value <= most:
        raise InputError(
            f"{name} is {value!r}; it must be a finite number of at least {least:g}, at most {most:g} ({reason})"
        )


def _listed(stops: Any) -> tuple[Any, ...]:
    if not isinstance(stops, Sequence | np.ndarray) or isinstance(stops, str):
        raise InputError(f"stops is {stops!r}; it must be a list of names")
    return tuple(stops)


def _frozen(name: str, values: ArrayLike) -> Array:
    try:
        given = np.array(values)
    except ValueError as error:
        raise InputError(f"{name} must be an array of numbers: {error}") from error
    if given.dtype.kind not in "iuf":
        raise InputError(f"{name} must be an array of numbers, got {given.dtype} {str(values)[:80]}")
    array = given.astype(np.float64)
    array.flags.writeable = False
    return array
