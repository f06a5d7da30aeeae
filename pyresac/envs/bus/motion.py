"""Buses on a link: how long one takes from stop to stop, given the speeds that the day has drawn."""

from __future__ import annotations

import math

import numpy as np

from pyresac.envs.bus.compiled import borrowing, compiled
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST, Line


@borrowing
def epoch_at(line: Line, speeds: Array, time: float) -> int:
    """The speed interval that `time` ≥ 0 lies in; the last one lasts."""
    return int(min(int(time / line.speed_interval), speeds.shape[0] - 1))


@borrowing
def limit_at(line: Line, speeds: Array, direction: int, link: int, time: float) -> float:
    """The link's speed in m/s at `time`; speeds (E, 2, L), one row an interval."""
    return float(speeds[epoch_at(line, speeds, time), direction, link])


@borrowing
def arrival(line: Line, speeds: Array, direction: int, link: int, depart: float) -> float:
    """Time of arrival at the end of a link of a bus that leaves its start, standing, at `depart`."""
    if line.published:
        return _arrival_by_ticks(line, speeds, direction, link, depart)
    return _arrival_braking(line, speeds, direction, link, depart)


@borrowing
def running_time(line: Line, direction: int, link: int, speed: float) -> float:
    """Seconds from stand to stand over a link whose speed stays `speed`: accelerate, cruise, brake."""
    length, change = line.length[direction, link], 1.0 / line.acceleration + 1.0 / line.deceleration
    if 0.5 * speed * speed * change > length:
        return math.sqrt(2.0 * length * change)
    return float(length / speed + 0.5 * speed * change)


@compiled
def add_running_times(line: Line, speed: Array, weight: float, running: Array) -> None:
    """Add to running (2, L, H) `weight` times the time that each link takes at the steady speeds (2, L, H)."""
    steady = np.empty((1, speed.shape[0], speed.shape[1]))
    for hour in range(speed.shape[2]):
        steady[0] = speed[:, :, hour]
        for direction in range(speed.shape[0]):
            for link in range(speed.shape[1]):
                running[direction, link, hour] += weight * arrival(line, steady, direction, link, 0.0)


@borrowing
def fill_schedule(line: Line, running: Array, dwell: Array, schedule: Array, departures: Array) -> None:
    """Arrivals and departures (T, S) of trips whose launch stands in the first column; with short turns, not a number
    at stops before their own first."""
    hours = running.shape[2]
    for trip in range(line.plan.shape[0]):
        direction, first, last = line.plan[trip, DIRECTION], line.plan[trip, FIRST], line.plan[trip, LAST]
        time = schedule[trip, 0]
        if line.short:
            for times in (schedule, departures):
                times[trip, :] = np.nan
                times[trip, first] = time
        for link in range(first, last):
            hour = min(int(time // 3600.0), hours - 1)
            time += running[direction, link, hour]
            schedule[trip, link + 1] = time
            time += dwell[direction, link + 1, hour]
            departures[trip, link + 1] = time


@borrowing
def _next_speed(line: Line, speed: float, limit: float) -> float:
    """Speed a second later: towards the limit at the vehicle's acceleration or deceleration."""
    if speed < limit:
        return min(speed + line.acceleration, limit)
    return max(speed - line.deceleration, limit)


@borrowing
def _steady_seconds(line: Line, epoch: int, time: float) -> float:
    """Whole seconds, at least one, that begin before the next draw of speeds."""
    return max(math.ceil((epoch + 1) * line.speed_interval - time), 1.0)


@borrowing
def _arrival_by_ticks(line: Line, speeds: Array, direction: int, link: int, depart: float) -> float:
    """The published clock: whole seconds, moved by the speed that the second began with, no braking, seen a second
    later."""
    time, speed, left = depart, 0.0, float(line.length[direction, link])
    while left > 0.0:
        epoch = epoch_at(line, speeds, time)
        limit = speeds[epoch, direction, link]
        seconds = 1.0
        if speed == limit:
            seconds = min(_steady_seconds(line, epoch, time), math.ceil(left / speed))
        left -= seconds * speed
        time += seconds
        speed = _next_speed(line, speed, limit)
    return time + 1.0


@borrowing
def _arrival_braking(line: Line, speeds: Array, direction: int, link: int, depart: float) -> float:
    """Speed changes linearly within a second; the bus brakes to a stand at the end, and the last part is exact."""
    time, speed, left = depart, 0.0, float(line.length[direction, link])
    while True:
        epoch = epoch_at(line, speeds, time)
        limit = speeds[epoch, direction, link]
        seconds, after = 1.0, _next_speed(line, speed, limit)
        braking = after * after / (2.0 * line.deceleration)
        if speed == limit:
            seconds = max(min(_steady_seconds(line, epoch, time), math.floor((left - braking) / speed)), 1.0)
        step = 0.5 * (speed + after) * seconds
        if left - step <= braking:
            break
        time, speed, left = time + seconds, after, left - step
    if speed == 0.0:
        # too short to reach the limit: accelerate to the peak from which braking just ends at the stop
        peak = math.sqrt(2.0 * left / (1.0 / line.acceleration + 1.0 / line.deceleration))
        return time + peak / line.acceleration + peak / line.deceleration
    # more is left than it takes to brake: the step before this one would have been the last
    braking = speed * speed / (2.0 * line.deceleration)
    return time + (left - braking) / speed + speed / line.deceleration
