"""What a day brings, whatever the controller does: link speeds and passengers, a function of (corridor, seed) alone.

Passengers are stored in queues, one for each (direction, stop): queue q = direction · S + place holds the passengers
queues[q, START] … queues[q + 1, START] − 1 in order of appearance, which is the order of boarding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.compiled import DESTINATION, borrowing, compiled, normal, poisson, uniform
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
    """Fill speeds (E, 2, L): N(mean of the hour, deviation) over the traffic's factor (see `traffic`), clipped to
    [floor, ceiling]; published: cut to an integer."""
    links, hours = chances.mean_speed.shape[1], chances.mean_speed.shape[2]
    shared = chances.day_spread > 0.0 or chances.local_spread > 0.0
    field = np.zeros((2, links))
    shift = 0.5 * (chances.day_spread**2 + chances.local_spread**2)
    if shared:
        shift -= chances.day_spread * normal(seed, 0, 4 * links)
    for epoch in range(speeds.shape[0]):
        if shared:
            _next_traffic(chances, seed, epoch, field)
        hour = min(int(epoch * chances.speed_interval / 3600.0), hours - 1)
        for direction in range(2):
            for link in range(links):
                noise = normal(seed, epoch, direction * links + link)
                speed = (
                    chances.mean_speed[direction, link, hour] + chances.speed_deviation[direction, link, hour] * noise
                )
                if shared:
                    speed /= math.exp(chances.local_spread * field[direction, link] - shift)
                speed = min(max(speed, chances.speed_floor), chances.speed_ceiling)
                speeds[epoch, direction, link] = math.floor(speed) if chances.published else speed


@borrowing
def _next_traffic(chances: Chances, seed: int, epoch: int, field: Array) -> None:
    """Move field (2, L), standard normal and correlated along links, on to the next speed interval.

    Both steps are first-order autoregressions, so corr(field(e, l), field(e + m, l + k)) = π^|m|·ρ^|k| from the first
    interval on.
    """
    links = field.shape[1]
    fresh, old = math.sqrt(1.0 - chances.persistence**2), chances.persistence
    if epoch == 0:
        fresh, old = 1.0, 0.0
    for direction in range(2):
        row = 0.0
        for link in range(links):
            # streams of their own: the links' draws take numbers below 2·L, the day's factor number 4·L
            noise = normal(seed, epoch, (2 + direction) * links + link)
            row = noise if link == 0 else chances.along * row + math.sqrt(1.0 - chances.along**2) * noise
            field[direction, link] = old * field[direction, link] + fresh * row


@borrowing
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
            if mean == 0.0:  # nobody comes anyway; this saves the draw
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
