"""What a day brings, whatever the controller does: link speeds and passengers, a function of (corridor, seed) alone.

Passengers are stored in queues, one for each (direction, stop): queue q = direction · S + place holds the passengers
queues[q, START] … queues[q + 1, START] − 1 in order of appearance, which is the order of boarding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.compiled import DESTINATION, compiled, normal, poisson, uniform
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.line import Chances, Integers

# columns of passengers (P, 3), in s, NaN before it happens; of bound (P, 2): place of destination, next passenger of
# the same bus and destination (−1 for none); of queues (2·S + 1, 3): first passenger, first still waiting, first not
# yet there
CREATED, BOARDED, ALIGHTED = range(3)
DESTINED, BESIDE = range(2)
START, HEAD, TAIL = range(3)


def epochs(chances: Chances) -> int:
    """Speed intervals until the horizon."""
    return math.ceil(chances.horizon / chances.speed_interval) + 1


def expected_passengers(chances: Chances) -> float:
    """Mean number of passengers that appear until the horizon."""
    hours = chances.rate.shape[2]
    until = np.minimum(np.arange(1, hours + 1) * 3600.0, chances.horizon)
    until[-1] = chances.horizon
    return float((chances.rate.sum(axis=(0, 1)) * np.diff(until, prepend=0.0).clip(min=0.0)).sum())


@compiled
def draw_speeds(chances: Chances, seed: int, speeds: Array) -> None:
    """Fill speeds (E, 2, L): N(mean of the hour, deviation) clipped to [floor, ceiling]; published: cut to an
    integer."""
    links, hours = chances.mean_speed.shape[1], chances.mean_speed.shape[2]
    for epoch in range(speeds.shape[0]):
        hour = min(int(epoch * chances.speed_interval / 3600.0), hours - 1)
        for direction in range(2):
            for link in range(links):
                noise = normal(seed, epoch, direction * links + link)
                speed = chances.mean_speed[direction, link, hour] + chances.speed_deviation * noise
                speed = min(max(speed, chances.speed_floor), chances.speed_ceiling)
                speeds[epoch, direction, link] = math.floor(speed) if chances.published else speed


@compiled
def draw_passengers(chances: Chances, seed: int, passengers: Array, bound: NDArray[np.int32], queues: Integers) -> bool:
    """Fill the queues with Poisson arrivals up to the horizon; False if they need more room than the arrays have."""
    stops, hours = chances.rate.shape[1], chances.rate.shape[2]
    draws = math.ceil(chances.horizon / chances.demand_interval)
    count = 0
    for queue in range(2 * stops):
        direction, place = queue // stops, queue % stops
        queues[queue, START] = count
        for draw in range(draws):
            time = draw * chances.demand_interval
            hour = min(int(time / 3600.0), hours - 1)
            mean = chances.rate[direction, place, hour] * chances.demand_interval
            if mean == 0.0:
                continue
            arriving = poisson(mean, seed, draw, queue)
            if count + arriving > passengers.shape[0]:
                return False
            for passenger in range(arriving):
                level = uniform(seed, DESTINATION + passenger, draw, queue)
                place_to = place + 1
                while chances.split[hour, direction, place, place_to] <= level:
                    place_to += 1
                passengers[count, CREATED] = time
                bound[count, DESTINED] = place_to
                count += 1
    queues[2 * stops, START] = count
    return True
