"""How running times vary: by link and hour, within a day, along the line and between trips; how headways vary.

A running time is taken relative to the mean of its link and hour: x = r/mean − 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyresac.envs.bus.avl.observed import Observed, ObservedWay
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.line import Integers

LINKS_APART, TRIPS_APART = 8, 8
"""Distances over which covariances are taken."""


@dataclass(frozen=True)
class Agreement:
    """What `avl` promises to reproduce. Each is a number, or an array a stop."""

    trip_variation: tuple[float, float]
    """Up and down: standard deviation of trip times, each over the mean of its launch's hour."""
    adjacent_correlation: tuple[float, float]
    """Up and down: of x between a link and the next, on one trip."""
    headway_variation: tuple[Array, Array]
    """Up and down, (S − 1,): standard deviation over mean of the headways of arrivals at each stop but the first."""


def agreement(observed: Observed, hours: int) -> Agreement:
    """The statistics of some days, observed or simulated."""
    up, down = observed
    return Agreement(
        (trip_variation(up, hours), trip_variation(down, hours)),
        (adjacent_correlation(up, hours), adjacent_correlation(down, hours)),
        (headway_variation(up), headway_variation(down)),
    )


def hour_of(time: Array, hours: int) -> Integers:
    """The hour of the tables that each time lies in; 0 where it is NaN."""
    return np.clip(np.nan_to_num(time) // 3600.0, 0, hours - 1).astype(np.int64)


def hourly_means(way: ObservedWay, hours: int) -> Array:
    """(S − 1, H) mean running time of each link and hour of departure, s; NaN where nothing was observed."""
    running, hour = way.running, hour_of(way.depart[:, :, :-1], hours)
    means = np.full((running.shape[2], hours), np.nan)
    for link in range(running.shape[2]):
        for index in range(hours):
            mine = running[:, :, link][(hour[:, :, link] == index) & np.isfinite(running[:, :, link])]
            if mine.size:
                means[link, index] = mine.mean()
    return means


def relative(way: ObservedWay, hours: int) -> Array:
    """(D, N, S − 1) x of each running time."""
    hour, links = hour_of(way.depart[:, :, :-1], hours), np.arange(way.arrive.shape[2] - 1)
    return np.asarray(way.running / hourly_means(way, hours)[links, hour] - 1.0)


def trip_variation(way: ObservedWay, hours: int) -> float:
    """Standard deviation of the trips' times, first departure to last arrival, over their launch hours' means."""
    taken = way.arrive[:, :, -1] - way.depart[:, :, 0]
    hour = np.broadcast_to(hour_of(way.launch, hours), taken.shape)
    ratios = []
    for index in range(hours):
        mine = taken[(hour == index) & np.isfinite(taken)]
        if mine.size > 1:
            ratios.append(mine / mine.mean())
    return float(np.concatenate(ratios).std()) if ratios else float("nan")


def adjacent_correlation(way: ObservedWay, hours: int) -> float:
    """Σ x_l·x_{l+1} over √(Σ x_l²·Σ x_{l+1}²), all trips and pairs of links together."""
    x = relative(way, hours)
    first, second = x[:, :, :-1], x[:, :, 1:]
    both = np.isfinite(first) & np.isfinite(second)
    first, second = first[both], second[both]
    return float((first * second).sum() / np.sqrt((first**2).sum() * (second**2).sum())) if first.size else float("nan")


def headway_variation(way: ObservedWay) -> Array:
    """(S − 1,) standard deviation over mean of the time from each trip's arrival to the next one's, stop by stop."""
    gaps = np.diff(way.arrive[:, :, 1:], axis=1)
    return np.array([_variation(gaps[:, :, place]) for place in range(gaps.shape[2])])


def _variation(gaps: Array) -> float:
    known = gaps[np.isfinite(gaps)]
    return float(known.std() / known.mean()) if known.size else float("nan")


@dataclass(frozen=True)
class Covariances:
    """Means of x·x′ over pairs of running times, with how far apart they lie."""

    value: Array
    """(n,) mean of x·x′"""
    links: Array
    """(n,) links apart; −1 for pairs of the two directions, which share the day alone."""
    seconds: Array
    """(n,) mean seconds between the departures."""
    weight: Array
    """(n,) pairs."""


def covariances(observed: Observed, hours: int, interval: float) -> Covariances:
    """Covariances of links up to LINKS_APART and trips up to TRIPS_APART apart. No pair shares a link's own draw: two
    trips over one link lie at least a speed interval apart."""
    rows: list[tuple[float, float, float, float]] = []
    for way in observed:
        x, time = relative(way, hours), way.depart[:, :, :-1]
        links, trips = x.shape[2], x.shape[1]
        for apart in range(min(LINKS_APART, links - 1) + 1):
            for later in range(-min(TRIPS_APART, trips - 1), min(TRIPS_APART, trips - 1) + 1):
                if apart == 0 and later <= 0:
                    continue
                here = (slice(None), slice(max(-later, 0), trips - max(later, 0)), slice(0, links - apart))
                there = (slice(None), slice(max(later, 0), trips - max(-later, 0)), slice(apart, links))
                product, gap = x[here] * x[there], np.abs(time[there] - time[here])
                known = np.isfinite(product)
                if apart == 0:
                    known &= gap >= interval
                if known.any():
                    count = float(known.sum())
                    rows.append((float(product[known].mean()), float(apart), float(gap[known].mean()), count))
    sums, counts = [], []
    for way in observed:
        x = relative(way, hours)
        sums.append(np.nansum(x, axis=(1, 2)))
        counts.append(np.isfinite(x).sum(axis=(1, 2)))
    both = (counts[0] > 0) & (counts[1] > 0)
    if both.any():
        days = (sums[0][both] / counts[0][both]) * (sums[1][both] / counts[1][both])
        rows.append((float(days.mean()), -1.0, 0.0, float(min(count.sum() for count in counts))))
    value, apart_, seconds, weight = np.array(rows).T
    return Covariances(value, apart_, seconds, weight)
