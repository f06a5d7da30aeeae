"""The headways of a visit and the reward that they earn, compiled."""

from __future__ import annotations

import math

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import borrowing
from pyresac.envs.bus.line import AFTER, BEFORE, DIRECTION, FIRST, Line
from pyresac.envs.bus.predictions import headway_behind
from pyresac.envs.bus.state import State

PENALTY = 20.0
"""Taken from the reward where a headway deviates by more than half the schedule's."""


@borrowing
def set_headways(line: Line, day: State, trip: int, place: int) -> None:
    """Forward: ends of dwell at this stop, this trip's less the leader's; backward: the follower's latest forward one,
    the predicted one where that was to another bus (short turns)."""
    visit, leader, follower = day.visits[trip, place], day.order[trip, place, BEFORE], day.order[trip, place, AFTER]
    forward, spacing, lateness, neighbours = line.headway, line.headway, 0.0, 0
    if leader >= 0:
        neighbours += 1
        ahead = day.visits[leader, place]
        if ahead[at.ARRIVED] <= visit[at.ARRIVED]:
            spacing = visit[at.ARRIVED] - ahead[at.ARRIVED]
            forward = spacing + visit[at.DWELL] - ahead[at.DWELL]
            lateness = ahead[at.ARRIVED] - line.schedule[leader, place]
        else:
            forward = _gap(line, day, trip, place, leader)
            spacing = forward
            lateness = visit[at.ARRIVED] - line.schedule[leader, place]
    backward, behind = line.headway, 0.0
    if follower >= 0 and day.trips[follower, at.BUS] >= 0:
        neighbours += 2
        came = day.trips[follower, at.CAME]
        if came > line.plan[follower, FIRST]:
            backward = day.visits[follower, came, at.FORWARD]
            behind = day.visits[follower, came, at.LATENESS]
        if day.order[follower, came, BEFORE] != trip and line.short:
            # there it follows another bus, which does not come from or to here
            backward = headway_behind(line, day, trip, place, visit[at.ARRIVED] + visit[at.DWELL])
    visit[at.FORWARD], visit[at.BACKWARD], visit[at.SPACING] = forward, backward, spacing
    visit[at.LEADER_LATENESS] = lateness
    visit[at.FOLLOWER_LATENESS] = behind
    visit[at.NEIGHBOURS] = neighbours
    visit[at.REWARD] = ridge_reward(forward, backward, neighbours, line.headway)


@borrowing
def _gap(line: Line, day: State, trip: int, place: int, leader: int) -> float:
    """Headway behind a leader that has been overtaken: metres between the two over the own mean speed (negative)."""
    direction, time = line.plan[trip, DIRECTION], day.clock[at.NOW]
    bus = day.trips[leader, at.BUS]
    if day.buses[bus, at.TRIP] != leader:
        # its trip has ended here since
        return 0.0
    behind = day.buses[bus, at.PLACE]
    metres = 0.0
    for link in range(behind, place):
        metres += line.length[direction, link]
    if day.buses[bus, at.MOVING] == 1 and time > day.times[bus, at.SINCE]:
        done = (time - day.times[bus, at.SINCE]) / (day.times[bus, at.EVENT] - day.times[bus, at.SINCE])
        metres -= line.length[direction, behind] * done
    first = line.plan[trip, FIRST]
    covered = line.length[direction, first:place].sum()
    return float(-metres * (time - line.schedule[trip, first]) / covered)


@borrowing
def ridge_reward(forward: float, backward: float, neighbours: int, headway: float) -> float:
    """The published reward of a pair of headways; NaN without neighbours.

    With f = |hf − τ|, b = |hb − τ| and w = f/(f + b + 1e−6): −(w·f + (1 − w)·b) − ½·|hf − hb| with both neighbours,
    −f or −b with one; less PENALTY where f or b exceeds τ/2.
    """
    f, b = abs(forward - headway), abs(backward - headway)
    if neighbours == 0:
        return math.nan
    if neighbours == 3:
        weight = f / (f + b + 1e-6)
        reward = -(weight * f + (1.0 - weight) * b) - 0.5 * abs(forward - backward)
    else:
        reward = -f if neighbours == 1 else -b
    return reward - PENALTY if max(f, b) > 0.5 * headway else reward
