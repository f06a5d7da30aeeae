"""When the next buses will be ready to leave a stop, and the holding that evens their headways out.

A trip that has been launched is predicted from its last known departure (or end of dwell) and the schedule's time from
there; one that has not, by the timetable and no earlier than now.
"""

from __future__ import annotations

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import borrowing
from pyresac.envs.bus.line import AFTER, BEFORE, FIRST, Line
from pyresac.envs.bus.state import State

LOOK_AHEAD = 5
"""Following trips that are predicted."""


@borrowing
def ready_at(line: Line, day: State, trip: int, place: int, now: float) -> float:
    """Predicted end of the trip's dwell at a place that it has not come to, s."""
    came = day.trips[trip, at.CAME]
    if came < 0:
        late = max(now - line.schedule[trip, line.plan[trip, FIRST]], 0.0)
        return float(line.departures[trip, place] + late)
    bus = day.trips[trip, at.BUS]
    leaves = day.times[bus, at.SINCE] if day.buses[bus, at.MOVING] == 1 else day.times[bus, at.EVENT]
    return float(max(leaves + line.departures[trip, place] - line.departures[trip, came], now))


@borrowing
def headway_behind(line: Line, day: State, trip: int, place: int, now: float) -> float:
    """Predicted headway of the follower at this place; the scheduled one without a follower, 0 where it is ahead."""
    follower = day.order[trip, place, AFTER]
    if follower < 0:
        return float(line.headway)
    if day.trips[follower, at.CAME] >= place:
        return 0.0
    return float(ready_at(line, day, follower, place, now) - now)


@borrowing
def evening_hold(line: Line, day: State, trip: int, place: int, now: float) -> float:
    """Holding, from `now`, until d₀ + max_k (a_k − d₀)/k, k = 1 … 1 + LOOK_AHEAD; 0 without a leader's departure.

    d₀ is the leader's departure, a₁ = now, a_{k+1} the predicted end of dwell of the k-th follower. Of all departures
    d_k ≥ a_k these have the least Σ (d_k − d_{k−1})²: the least concave majorant of the points (k, a_k), whose first
    slope this is.
    """
    leader = day.order[trip, place, BEFORE]
    if leader < 0 or day.trips[leader, at.CAME] < place:
        return 0.0
    ahead = day.visits[leader, place]
    left = ahead[at.ARRIVED] + ahead[at.DWELL] + ahead[at.HELD]
    if np.isnan(left) or left > now:
        return 0.0
    largest, other = now - left, day.order[trip, place, AFTER]
    for k in range(2, 2 + LOOK_AHEAD):
        if other < 0:
            break
        if day.trips[other, at.CAME] < place:
            largest = max(largest, (ready_at(line, day, other, place, now) - left) / k)
        other = day.order[other, place, AFTER]
    return float(left + largest - now)
