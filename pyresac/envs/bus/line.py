"""A corridor laid out as arrays for the compiled simulator, with all that follows from it alone.

Axes: 2 directions, S stops of the longer direction, L = S − 1 links, H hours, T trips in order of launch (both
directions). Few and wide arrays on purpose: every array handed to a compiled function costs reference counting on
each call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.corridor import Array

Integers = NDArray[np.int64]

# columns of Line.plan: direction; previous and next trip of the same gate (see `timetable`), −1 for none; places of its
# first and last stop; its gate, and the one where its bus is free afterwards; s of driving empty from the direction's
# first stop to its own, and from its last one to where its bus is free
DIRECTION, LEADER, FOLLOWER, FIRST, LAST, GATE, FREE, TO_FIRST, FROM_LAST, COLUMNS = range(10)
# last axis of Layout.order and State.order: the trip before and the one after at a stop, −1 for none
BEFORE, AFTER = range(2)


class Chances(NamedTuple):
    """What the draws of a day need. Times in s, speeds in m/s, rates in passengers/s."""

    published: bool
    mean_speed: Array  # (2, L, H)
    speed_deviation: Array  # (2, L, H) of each link's own draws
    speed_floor: float
    speed_ceiling: float
    speed_interval: float
    day_spread: float  # σ_D of `Traffic`
    local_spread: float  # σ_T
    along: float  # ρ
    persistence: float  # π
    rate: Array  # (2, S, H) passengers/s that appear at a stop
    split: Array  # (H, 2, S, S) cumulative shares of their destinations, by place along the direction
    demand_interval: float
    horizon: float  # a time by which every trip has surely ended


class Line(NamedTuple):
    """What the events of a day need. Times in s, lengths in m, speeds in m/s."""

    published: bool
    stops: Integers  # (2,) stops of each direction
    length: Array  # (2, L)
    plan: Integers  # (T, COLUMNS)
    short: bool  # whether any trip serves a part of the line only
    schedule: Array  # (T, S) launch, then the expected times of arrival without holding, NaN where it does not stop
    departures: Array  # (T, S) the expected times of departure without holding: schedule and a mean dwell
    pressure: Array  # (2, S, H) Daganzo's β: seconds of boarding per second of headway
    speed_interval: float
    capacity: int
    acceleration: float
    deceleration: float
    boarding_time: float
    alighting_time: float
    clearance_time: float
    headway: float
    holding_limit: float
    buses: int  # of the line; 0 for as many as are needed
    layover: float
    late_share: float
    late_mean: float
    open_doors: bool
    closed_holds: bool
    seats: int
    crowding: float
    control: Integers  # (2, S) 1 where a bus may be held
    ordered: bool
    berths: int
    patience: float
    advice: bool
    skipping: bool
