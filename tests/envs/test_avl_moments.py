"""Moments of observed days, each against a loop over single running times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus.avl import moments
from pyresac.envs.bus.avl.moments import agreement, covariances, hour_of, hourly_means, relative, trip_variation
from pyresac.envs.bus.avl.observed import Observed, ObservedWay

HOURS = 2


def invented_way(seed: int, days: int, trips: int, stops: int, seen: float = 0.8) -> ObservedWay:
    """Launches 900 s apart from 0 s on, links of 60 to 140 s, dwells of 10 s; most visits are seen."""
    noise = np.random.default_rng(seed)
    launch = 900.0 * np.arange(trips)
    running = noise.uniform(60.0, 140.0, (days, trips, stops - 1))
    arrive = launch[None, :, None] + np.cumsum(np.pad(running + 10.0, ((0, 0), (0, 0), (1, 0))), axis=2)
    hidden = noise.random(arrive.shape) > seen
    arrive[hidden] = np.nan
    depart = arrive + 10.0
    depart[:, :, -1] = np.nan
    return ObservedWay(launch, arrive, depart)


def single(way: ObservedWay) -> Iterator[tuple[int, int, int, float, float, int]]:
    """(day, trip, link, departure, running time, hour of departure) of each that was seen."""
    for day, trip, link in np.ndindex(way.arrive[:, :, 1:].shape):
        left, time = way.depart[day, trip, link], way.arrive[day, trip, link + 1] - way.depart[day, trip, link]
        if not math.isnan(time):
            yield day, trip, link, left, time, 0 if left < 3600.0 else 1


def ratios(way: ObservedWay) -> dict[tuple[int, int, int], tuple[float, float]]:
    """(day, trip, link): (time over the mean of link and hour, less 1; departure)."""
    by: dict[tuple[int, int], list[float]] = {}
    for *_, link, _, time, hour in single(way):
        by.setdefault((link, hour), []).append(time)
    return {
        (day, trip, link): (time / (sum(by[link, hour]) / len(by[link, hour])) - 1.0, left)
        for day, trip, link, left, time, hour in single(way)
    }


@pytest.fixture(scope="module")
def pair() -> Observed:
    """More links and trips than distances are taken over, up; fewer of both, down; the same days."""
    return invented_way(1, 4, 11, 12), invented_way(2, 4, 5, 4)


def test_the_hour_of_a_time_is_one_of_the_table() -> None:
    times = np.array([-7000.0, -0.5, 0.0, 3599.9, 3600.0, 7199.9, 7200.0, 1e6, np.nan])
    assert hour_of(times, 3).tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 0]
    assert hour_of(times, 1).tolist() == [0] * 9


def test_means_and_ratios_are_those_of_link_and_hour(pair: Observed) -> None:
    for way in pair:
        means, x = hourly_means(way, HOURS), relative(way, HOURS)
        links = way.arrive.shape[2] - 1
        assert means.shape == (links, HOURS)
        for link, hour in product(range(links), range(HOURS)):
            mine = [time for *_, of, _, time, when in single(way) if (of, when) == (link, hour)]
            assert means[link, hour] == pytest.approx(np.mean(mine) if mine else math.nan, nan_ok=True)
        wanted = ratios(way)
        assert np.isfinite(x).sum() == len(wanted)
        for place, (value, _) in wanted.items():
            assert x[place] == pytest.approx(value)
    assert np.isnan(hourly_means(pair[0], 5)[:, 3:]).all(), "hours without a departure have no mean"


def test_agreement_is_of_trips_of_neighbouring_links_and_of_headways(pair: Observed) -> None:
    found = agreement(pair, HOURS)
    for index, way in enumerate(pair):
        taken: dict[int, list[float]] = {}
        for day, trip in np.ndindex(way.arrive.shape[:2]):
            time = way.arrive[day, trip, -1] - way.depart[day, trip, 0]
            if not math.isnan(time):
                taken.setdefault(0 if way.launch[trip] < 3600.0 else 1, []).append(time)
        assert sorted(map(len, taken.values()))[0] > 1
        shares = [time / np.mean(times) for times in taken.values() for time in times]
        assert found.trip_variation[index] == pytest.approx(np.std(shares))
        x = ratios(way)
        both = [
            (value, x[day, trip, link + 1][0])
            for (day, trip, link), (value, _) in x.items()
            if (day, trip, link + 1) in x
        ]
        wanted = sum(a * b for a, b in both) / math.sqrt(sum(a * a for a, _ in both) * sum(b * b for _, b in both))
        assert found.adjacent_correlation[index] == pytest.approx(wanted)
        stops = way.arrive.shape[2]
        assert found.headway_variation[index].shape == (stops - 1,)
        for stop in range(1, stops):
            gaps = [b - a for day in way.arrive for a, b in zip(day[:-1, stop], day[1:, stop], strict=True)]
            known = [gap for gap in gaps if not math.isnan(gap)]
            assert found.headway_variation[index][stop - 1] == pytest.approx(np.std(known) / np.mean(known))


def test_one_trip_of_an_hour_says_nothing_of_their_spread() -> None:
    """Two do; what was never seen has no number."""

    def spread(*times: float) -> float:
        arrive = np.array([[[0.0, 50.0, time]] for time in times])
        way = ObservedWay(np.zeros(1), arrive, arrive + 5.0)
        return trip_variation(way, 1)

    assert math.isnan(spread(105.0))
    assert spread(105.0, 205.0) == pytest.approx(0.5 * 100.0 / 150.0)
    nothing = ObservedWay(np.zeros(2), np.full((2, 2, 3), np.nan), np.full((2, 2, 3), np.nan))
    found = agreement((nothing, nothing), 1)
    assert math.isnan(found.trip_variation[1])
    assert math.isnan(found.adjacent_correlation[0])
    assert np.isnan(found.headway_variation[0]).all()


def cells(observed: Observed, interval: float) -> list[tuple[float, float, float, float]]:
    """(mean product, links apart, mean seconds, pairs) of each distance in links and trips, pair by pair."""
    found: dict[Any, list[tuple[float, float]]] = {}
    for index, way in enumerate(observed):
        x = ratios(way)
        for (day, trip, link), (value, left) in x.items():
            for (other_day, other, beyond), (also, later) in x.items():
                apart, trips = beyond - link, other - trip
                if day != other_day or not 0 <= apart <= 8 or abs(trips) > 8:
                    continue
                if apart == 0 and (trips <= 0 or later - left < interval):
                    continue
                found.setdefault((index, apart, trips), []).append((value * also, abs(later - left)))
    rows = [
        (np.mean([a for a, _ in pairs]), float(key[1]), np.mean([b for _, b in pairs]), float(len(pairs)))
        for key, pairs in found.items()
    ]
    days = []
    for day in range(len(observed[0].arrive)):
        sides = [[value for (of, *_), (value, _) in ratios(way).items() if of == day] for way in observed]
        if all(sides):
            days.append(np.mean(sides[0]) * np.mean(sides[1]))
    if days:
        rows.append((np.mean(days), -1.0, 0.0, float(min(len(ratios(way)) for way in observed))))
    return sorted(rows, key=lambda row: (row[1], row[2], row[3]))


@pytest.mark.parametrize("case", ["many", "a trip", "two links", "a day without one direction"])
def test_covariances_are_means_over_pairs(pair: Observed, case: str) -> None:
    """No farther than eight links and eight trips, each pair once, and none within a speed interval on one link."""
    observed = {
        "many": pair,
        "a trip": (invented_way(3, 6, 1, 5, 1.0), invented_way(4, 6, 1, 3, 1.0)),
        "two links": (invented_way(5, 3, 4, 3), invented_way(6, 3, 3, 3)),
        "a day without one direction": (invented_way(7, 3, 3, 4), invented_way(8, 3, 4, 4)),
    }[case]
    if case == "a day without one direction":
        observed[0].arrive[1], observed[1].depart[2] = np.nan, np.nan
    found = covariances(observed, HOURS, 900.0)
    mine = sorted(zip(found.value, found.links, found.seconds, found.weight, strict=True), key=lambda row: row[1:])
    wanted = cells(observed, 900.0)
    assert len(mine) == len(wanted)
    np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-12)
    assert case != "many" or {*found.links} == {-1.0, *map(float, range(moments.LINKS_APART + 1))}


def test_departures_an_interval_apart_are_a_pair_of_one_link() -> None:
    """And those a moment less are none; the two directions share the day where both were seen."""
    arrive = np.array([[[0.0, 100.0, 220.0], [300.0, 420.0, 500.0]], [[0.0, 90.0, 180.0], [300.0, 390.0, 520.0]]])
    way = ObservedWay(np.array([0.0, 300.0]), arrive, arrive.copy())
    blind = ObservedWay(way.launch, arrive * np.nan, arrive * np.nan)
    for interval, alone in ((300.0, True), (math.nextafter(300.0, math.inf), False)):
        found = covariances((way, blind), 1, interval)
        on_one = found.links == 0.0
        # of the first link both days' departures are 300 s apart, of the second one's 320 and 300 s
        assert found.weight[on_one].tolist() == ([4.0] if alone else [1.0])
        assert found.seconds[on_one].tolist() == ([305.0] if alone else [320.0])
        assert -1.0 not in found.links
    assert -1.0 in covariances((way, way), 1, 300.0).links
