"""What a controller sees when a bus must decide, and the two forms in which an agent sees it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import borrowing, compiled
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.full_observation import COUNT, FEATURES, fill_features
from pyresac.envs.bus.layout import Layout
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST, Integers, Line
from pyresac.envs.bus.motion import epoch_at
from pyresac.envs.bus.state import State, largest_crowd

Numbers = NDArray[np.float32]

CONTINUOUS = ("forward_headway", "backward_headway", "link_speed")
"""The continuous part of the paper's state, in s, s and m/s."""
CATEGORICAL = ("bus", "stop", "direction", "period")
"""The categorical part of the paper's state."""


class Observation(NamedTuple):
    """The end of dwell of a bus. Every field is a scalar, or an array (n,) when n days decide at once."""

    time: Array
    """s after the start of service."""
    bus: Integers
    trip: Integers
    """Number of the trip in order of launch."""
    stop: Integers
    """Number of the stop in `Corridor.stops`."""
    place: Integers
    """Place of the stop along the direction: 0 at the first of the whole line."""
    stops_behind: Integers
    """Stops behind on this trip: `place` less that of its first stop."""
    direction: Integers
    """0 up, 1 down."""
    period: Integers
    """Hour of the tables."""
    forward_headway: Array
    """hf, s: at this stop, the leader's and the own end of dwell, without holding; negative after overtaking."""
    backward_headway: Array
    """hb, s: the follower's latest hf; the scheduled headway where it has none."""
    link_speed: Array
    """Speed of the next link now, m/s."""
    load: Array
    """Passengers on board."""
    left_behind: Array
    """Passengers that found the bus full."""
    waiting_next: Array
    """Passengers waiting at the next stop now, those bound beyond the trip's last stop not counted."""
    lateness: Array
    """End of dwell minus the scheduled departure, s; the schedule has mean running and dwell times, and no holding."""
    leader_lateness: Array
    """The leader's arrival at this stop minus its schedule, s; 0 without a leader."""
    follower_lateness: Array
    """The follower's latest arrival minus its schedule, s; 0 before its first."""
    link_delay: Array
    """Time on the next link at its speed now, minus the scheduled one, s."""
    has_leader: NDArray[np.bool_]
    has_follower: NDArray[np.bool_]
    visit: Array
    """All that the simulator noted, (VISIT_COLUMNS,) or (n, VISIT_COLUMNS), see `state`."""
    seed: Integers
    """The day's seed."""
    headway: float
    """Scheduled headway, s."""
    holding_limit: float
    """H_max, s."""
    skipping: bool
    """Whether a negative number of seconds passes the next stop."""


def observe(layout: Layout, state: State, days: Integers, trip: Integers, place: Integers) -> Observation:
    """The observation of visits (trip, place) of `days`, arrays (n,)."""
    visit = state.visits[days, trip, place]
    direction = layout.line.plan[trip, DIRECTION]
    time = visit[:, at.ARRIVED] + visit[:, at.DWELL]
    hours = layout.line.pressure.shape[2]
    neighbours = visit[:, at.NEIGHBOURS].astype(np.int64)
    return Observation(
        time=time,
        bus=state.trips[days, trip, at.BUS],
        trip=trip,
        stop=layout.route[direction, place],
        place=place,
        stops_behind=place - layout.line.plan[trip, FIRST],
        direction=direction,
        period=np.minimum((time / 3600.0).astype(np.int64), hours - 1),
        forward_headway=visit[:, at.FORWARD],
        backward_headway=visit[:, at.BACKWARD],
        link_speed=visit[:, at.NEXT_SPEED],
        load=visit[:, at.ONBOARD],
        left_behind=visit[:, at.LEFT],
        waiting_next=visit[:, at.NEXT_WAITING],
        lateness=visit[:, at.LATE],
        leader_lateness=visit[:, at.LEADER_LATENESS],
        follower_lateness=visit[:, at.FOLLOWER_LATENESS],
        link_delay=visit[:, at.LINK_DELAY],
        has_leader=(neighbours & 1) == 1,
        has_follower=(neighbours & 2) == 2,
        visit=visit,
        seed=state.cursor[days, at.SEED],
        headway=layout.line.headway,
        holding_limit=layout.line.holding_limit,
        skipping=layout.line.skipping,
    )


def pending(layout: Layout, state: State, days: Integers) -> Observation:
    """The observation of the buses that must decide in `days`, each of which must have one."""
    bus = state.cursor[days, at.PENDING]
    columns = state.buses[days, bus]
    return observe(layout, state, days, columns[:, at.TRIP], columns[:, at.PLACE])


def single(observation: Observation) -> Observation:
    """The first of n observations, with scalar fields."""
    return Observation._make(field[0] if isinstance(field, np.ndarray) else field for field in observation)


def cardinalities(layout: Layout) -> NDArray[np.int64]:
    """(4,) numbers of categories of CATEGORICAL: buses, stops, directions, periods."""
    return np.array([layout.fleet_limit, len(layout.corridor.stops), 2, layout.corridor.hours], dtype=np.int64)


def paper_bounds(layout: Layout) -> tuple[Numbers, Numbers]:
    """(low, high), each (3,), of CONTINUOUS: no headway can be larger than the time until the horizon."""
    most = layout.chances.horizon
    low = np.array([-most, -most, 0.0], dtype=np.float32)
    return low, np.array([most, most, layout.chances.speed_ceiling], dtype=np.float32)


def full_bounds(layout: Layout) -> tuple[Numbers, Numbers]:
    """(low, high), each (COUNT,), of the full observation's continuous part."""
    most = layout.chances.horizon
    crowd = float(largest_crowd(layout))
    high = {
        "link_speed": layout.chances.speed_ceiling,
        "load": layout.line.capacity,
        "waiting_next": crowd,
        "stops_behind": layout.places - 1,
    }
    top = np.array([high.get(feature.name, most) for feature in FEATURES], dtype=np.float32)
    low = [0.0 if feature.name in high else -most for feature in FEATURES]
    return np.array(low, dtype=np.float32), top


def scaling(layout: Layout, form: str) -> tuple[Numbers, Numbers]:
    """(centre, scale) that bring the continuous part to about [−1, 1]: times by the scheduled headway.

    Of the paper's and the full observation; the published one's numbers are left as they are.
    """
    headway, ceiling = layout.line.headway, layout.chances.speed_ceiling
    if form == "published":
        count = 7 + layout.line.length.shape[1]
        return np.zeros(count, dtype=np.float32), np.ones(count, dtype=np.float32)
    sizes = {
        "link_speed": ceiling,
        "load": layout.line.capacity,
        "waiting_next": layout.line.capacity,
        "stops_behind": layout.places - 1,
    }
    names = CONTINUOUS if form == "paper" else [feature.name for feature in FEATURES]
    centre = [headway if name in ("forward_headway", "backward_headway") else 0.0 for name in names]
    return np.array(centre, dtype=np.float32), np.array([sizes.get(name, headway) for name in names], dtype=np.float32)


def published_bounds(layout: Layout) -> tuple[Numbers, Numbers]:
    """(low, high), each (7 + L,), of the published program's numbers."""
    most, links = layout.chances.horizon, layout.line.length.shape[1]
    top = [*(cardinalities(layout)[[0, 1, 3, 2]] - 1), most, most, most, *[layout.chances.speed_ceiling] * links]
    bottom = [0.0] * 4 + [-most, -most, 0.0] + [0.0] * links
    return np.array(bottom, dtype=np.float32), np.array(top, dtype=np.float32)


@borrowing
def fill_paper(
    visits: Array,
    trips: Integers,
    line: Line,
    route: Integers,
    at_visit: Integers,
    numbers: Numbers,
    categories: Integers,
) -> None:
    """CONTINUOUS and CATEGORICAL of the visits at_visit (n, 3): day, trip, place. At a trip's end the next link's
    speed is 0."""
    hours = line.pressure.shape[2]
    for i in range(at_visit.shape[0]):
        day, trip, place = at_visit[i]
        visit, direction = visits[day, trip, place], line.plan[trip, DIRECTION]
        time = visit[at.ARRIVED] + visit[at.DWELL]
        ends = place == line.plan[trip, LAST]
        numbers[i, 0] = visit[at.FORWARD]
        numbers[i, 1] = visit[at.BACKWARD]
        numbers[i, 2] = 0.0 if ends else visit[at.NEXT_SPEED]
        categories[i, 0] = trips[day, trip, at.BUS]
        categories[i, 1] = route[direction, place]
        categories[i, 2] = direction
        categories[i, 3] = min(int(time / 3600.0), hours - 1)


@compiled
def fill_full(
    visits: Array,
    trips: Integers,
    line: Line,
    route: Integers,
    at_visit: Integers,
    numbers: Numbers,
    categories: Integers,
) -> None:
    """The full observation of the visits at_visit (n, 3): FEATURES, and CATEGORICAL as `fill_paper` has them."""
    fill_paper(visits, trips, line, route, at_visit, numbers, categories)
    values = np.empty(COUNT)
    for i in range(at_visit.shape[0]):
        day, trip, place = at_visit[i]
        ends = place == line.plan[trip, LAST]
        fill_features(visits[day, trip, place], place - line.plan[trip, FIRST], ends, values)
        for k in range(COUNT):
            numbers[i, k] = values[k]


@borrowing
def fill_published(
    visits: Array, trips: Integers, line: Line, route: Integers, at_visit: Integers, speeds: Array, numbers: Numbers
) -> None:
    """The published program's numbers, (n, 7 + L), L the links of the longer direction (21 there, 28 in all).

    Bus, stop, hour, direction (1 up, 0 down); hf, hb; an estimate of the time to the next stop, 1.5 s × waiting there +
    distance over speed (0 at a trip's end); the speeds of the direction's links, 0 past its end.
    """
    hours = line.pressure.shape[2]
    for i in range(at_visit.shape[0]):
        day, trip, place = at_visit[i]
        visit, direction = visits[day, trip, place], line.plan[trip, DIRECTION]
        time = visit[at.ARRIVED] + visit[at.DWELL]
        links = line.stops[direction] - 1
        numbers[i, 0] = trips[day, trip, at.BUS]
        numbers[i, 1] = route[direction, place]
        numbers[i, 2] = min(int(time / 3600.0), hours - 1)
        numbers[i, 3] = 1 - direction
        numbers[i, 4] = visit[at.FORWARD]
        numbers[i, 5] = visit[at.BACKWARD]
        numbers[i, 6] = 0.0
        if place < line.plan[trip, LAST]:
            numbers[i, 6] = 1.5 * visit[at.NEXT_WAITING] + line.length[direction, place] / visit[at.NEXT_SPEED]
        epoch = epoch_at(line, speeds[day], time)
        for link in range(line.length.shape[1]):
            numbers[i, 7 + link] = speeds[day, epoch, direction, link] if link < links else 0.0
