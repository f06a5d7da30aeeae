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

from pyresac.envs.bus.bounds import BOUNDS, FASTEST, LATEST, check_number
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.traffic import Traffic
from pyresac.envs.bus.vehicle import Vehicle
from pyresac.errors import InputError

Array = NDArray[np.float64]
Places = NDArray[np.int64]
DIRECTIONS = ("up", "down")
LONGEST_LINK = 200_000.0
"""m"""
SHORTEST_LINK = 0.01
"""m"""
LARGEST_PLACE = 1_000_000
BUSIEST = 1_000_000.0
"""Passengers per hour from one stop to another."""


@dataclass(frozen=True)
class Direction:
    """One way along the corridor: S stops, S − 1 links.

    `stops` are names out of `Corridor.stops`; `length` (S − 1,) in metres; `speed` (S − 1, H) hourly mean speeds in
    m/s; `launches` (T,) departure times of the trips from their first stops, increasing, in seconds after the start of
    service; `deviation` (S − 1, H) standard deviations of the links' speeds in m/s, the corridor's `speed_deviation`
    everywhere without it; `first` and `last` (T,) places of each trip's first and last stop, 0 and S − 1 everywhere
    without them. A trip that does not serve the whole line is a *short turn*.
    """

    stops: tuple[str, ...]
    length: Array
    speed: Array
    launches: Array
    deviation: Array | None = None
    first: Places | None = None
    last: Places | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stops", _listed(self.stops))
        for name, whole in (("first", 0), ("last", len(self.stops) - 1)):
            if getattr(self, name) is not None:
                places = _places(name, getattr(self, name))
                everywhere = places.shape == np.shape(self.launches) and (places == whole).all()
                object.__setattr__(self, name, None if everywhere else places)
        for name in ("length", "speed", "launches"):
            object.__setattr__(self, name, _frozen(name, getattr(self, name)))
        if self.deviation is not None:
            object.__setattr__(self, "deviation", _frozen("deviation", self.deviation))

    @property
    def ends(self) -> tuple[Places, Places]:
        """(first, last), each (T,): the places between which each trip runs."""
        count = self.launches.size
        first = np.zeros(count, dtype=np.int64) if self.first is None else self.first
        last = np.full(count, len(self.stops) - 1, dtype=np.int64) if self.last is None else self.last
        return first, last

    @property
    def whole(self) -> NDArray[np.bool_]:
        """(T,) the trips that serve the whole line."""
        first, last = self.ends
        return np.asarray((first == 0) & (last == len(self.stops) - 1))


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
        for name, kind in PARTS.items():
            if not isinstance(getattr(self, name), kind):
                article = "an" if kind is Operations else "a"
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be {article} {kind.__name__}")
        self._check_scalars()
        self._check_stops()
        for way, direction in zip(DIRECTIONS, (self.up, self.down), strict=True):
            _check_direction(way, direction, self.stops, self.hours)
        self._check_demand()
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

    @property
    def short_turns(self) -> int:
        """Trips of a day that serve a part of the line only."""
        return sum(int((~way.whole).sum()) for way in self.directions)

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
        for name in (self.name, *self.stops):
            if any("\ud800" <= letter <= "\udfff" for letter in name):
                raise InputError(f"the name {name!r} of a corridor or a stop has half a character: no file holds it")
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


PARTS = {"up": Direction, "down": Direction, "vehicle": Vehicle, "operations": Operations, "traffic": Traffic}
"""Fields of a corridor that are objects, and of what class."""


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
    _check_ends(way, direction)
    first, apart = direction.ends[0], np.diff(launches)
    late = np.flatnonzero((apart < 0.0) | ((apart == 0.0) & (np.diff(first) == 0)))
    if late.size:
        trip = int(late[0])
        pair = f"{launches[trip]:g} s then {launches[trip + 1]:g} s"
        raise InputError(
            f"{way}.launches[{trip}] and [{trip + 1}] are {pair}; a direction's launches must increase strictly"
        )
    order = np.lexsort((launches, first))
    same = np.flatnonzero((np.diff(launches[order]) == 0.0) & (np.diff(first[order]) == 0))
    if same.size:
        trips = sorted(int(trip) for trip in order[same[0] : same[0] + 2])
        raise InputError(
            f"{way}.launches[{trips[0]}] and [{trips[1]}] are both {launches[trips[0]]:g} s from "
            f"{direction.stops[first[trips[0]]]!r}; trips that begin at one stop must leave it one after the other"
        )


def _check_ends(way: str, direction: Direction) -> None:
    count = len(direction.stops)
    for name in ("first", "last"):
        places = getattr(direction, name)
        if places is not None and places.shape != direction.launches.shape:
            raise InputError(
                f"{way}.{name} has shape {places.shape}; it must be {direction.launches.shape}, a place a launch"
            )
    first, last = direction.ends
    for trip in np.flatnonzero(~((first >= 0) & (first < last) & (last < count))):
        raise InputError(
            f"{way}: launch {trip} is from place {first[trip]} to place {last[trip]}; places are 0 to {count - 1}, and "
            f"the last must be beyond the first"
        )


def _check_deviation(way: str, deviation: Array, shape: tuple[int, ...]) -> None:
    if deviation.shape != shape:
        raise InputError(f"{way}.deviation has shape {deviation.shape}; it must be (links, hours) = {shape}")
    for link, hour in np.argwhere(~((deviation >= 0.0) & (deviation <= FASTEST))):
        raise InputError(
            f"{way}.deviation[link {link}, hour {hour}] is {deviation[link, hour]} m/s; it must be in [0, {FASTEST:g}]"
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


def _places(name: str, values: ArrayLike) -> Places:
    given = np.asarray(_frozen(name, values))
    if not (given == np.floor(given)).all() or (np.abs(given) > LARGEST_PLACE).any():
        raise InputError(f"{name} must be places along the direction, whole numbers, got {str(values)[:80]}")
    places = given.astype(np.int64)
    places.flags.writeable = False
    return places
