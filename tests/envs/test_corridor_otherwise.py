"""The same line otherwise, demand that it did not have, what looks wrong about it, and comparisons: exact numbers."""

from __future__ import annotations

import hashlib
import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pyresac.envs.bus import Corridor, Vehicle, default_corridor, disturbed_corridor
from pyresac.envs.bus.changes import MISFIT, doubts, with_demand, with_headway
from pyresac.envs.bus.comparison import half_interval, paired_difference, summarise
from pyresac.envs.bus.corridor import Direction
from pyresac.envs.bus.corridor_files import corridor_text
from pyresac.envs.bus.demand import FILL, PER_TRIP, clock_seconds, csv_demand, default_demand
from pyresac.errors import InputError


@pytest.mark.parametrize(
    ("make", "expected"),
    [(default_corridor, "1b8d60a590970d3f"), (disturbed_corridor, "e0fa90608f612640")],
)
def test_the_lines_that_come_with_the_package_stay_what_they_were(make: object, expected: str) -> None:
    """Every number of their files."""
    assert callable(make)
    assert hashlib.sha256(corridor_text(make()).encode()).hexdigest()[:16] == expected


def test_launches_made_anew_go_from_the_first_to_the_last(small: Corridor) -> None:
    """Up to the last one where the headway divides the time, whatever the division is rounded to."""
    ends = {600.0: 4500.0, 700.0: 4500.0, 4200.0: 4500.0, 4200.5: 300.0, 1.0: 4500.0}
    for headway, last in ends.items():
        found = with_headway(small, headway)
        count = int((last - 300.0) // headway) + 1
        for way, first in zip(found.directions, (0.0, 300.0), strict=True):
            assert way.launches.tolist() == [first + headway * index for index in range(count)]
    launches = np.array([0.0, 7 * 1.3])
    assert launches[1] / 1.3 < 7.0, "rounded down"
    assert len(with_headway(replace(small, up=replace(small.up, launches=launches)), 1.3).up.launches) == 8
    assert with_demand(small, 0.0).demand.sum() == 0.0
    assert (with_demand(small, 2.5).demand == 2.5 * small.demand).all()
    with pytest.raises(InputError, match="demand is inf; the factor must be finite and not negative"):
        with_demand(small, math.inf)


def test_a_headway_is_doubted_beyond_a_quarter_more_or_less(small: Corridor) -> None:
    """In each direction by itself; a direction of one launch has none."""
    assert MISFIT == 1.25
    quiet = replace(small, demand=np.zeros_like(small.demand))
    for headway, wrong in ((480.0, False), (479.9, True), (750.0, False), (750.1, True)):
        found = doubts(replace(quiet, headway=headway))
        said = f"small: the scheduled headway is {headway:g} s, but direction {{}} launches every 600 s"
        assert found == ([said.format("up"), said.format("down")] if wrong else [])
    alone = replace(quiet, up=replace(quiet.up, launches=[300.0]), headway=100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (said,) = doubts(alone)
    assert "direction down launches every 600 s" in said


@pytest.mark.parametrize("seed", range(4))
def test_a_crowd_is_told_of_the_first_hour_and_its_fullest_link(small: Corridor, seed: int) -> None:
    """By loops over pairs: passengers of an hour who ride over a link, against a bus's places times buses an hour."""
    noise = np.random.default_rng(seed)
    demand = 100.0 * noise.uniform(0.0, 40.0, (3, 5, 5)) * ~np.eye(5, dtype=bool)
    # crowded: the last hour; every hour; the first, in which alone buses run; the second, of a launch at its start
    demand *= np.array([[1.0, 1.0, 3.0], [3.0, 3.0, 3.0], [3.0, 9.0, 9.0], [0.1, 3.0, 9.0]])[seed][:, None, None]
    launches = 600.0 * np.arange([14, 20, 6, 7][seed])
    ways = [replace(way, speed=np.full((4, 3), 8.0), launches=launches) for way in small.directions]
    line = replace(small, up=ways[0], down=ways[1], demand=demand, vehicle=Vehicle(capacity=3500))
    wanted = []
    places = 3500.0 * 6.0
    for index, way in enumerate(line.directions):
        numbers = [line.stops.index(stop) for stop in way.stops]
        for hour in range(3):
            if not ((launches // 3600.0) == hour).any():
                continue
            loads = [
                sum(demand[hour, numbers[i], numbers[j]] for i in range(link + 1) for j in range(link + 1, 5))
                for link in range(4)
            ]
            link = int(np.argmax(loads))
            if loads[link] > places:
                wanted.append(
                    f"small: {loads[link]:,.0f} passengers an hour want to ride from '{way.stops[link]}' to "
                    f"'{way.stops[link + 1]}', direction {('up', 'down')[index]}, hour {hour + 1}, and buses have "
                    f"21,000 places"
                )
                break
    found = doubts(line)
    assert found == wanted
    assert wanted


def test_as_many_passengers_as_places_are_no_crowd(small: Corridor) -> None:
    """Nor is any of those who come after the last hour of the tables."""
    demand = np.zeros_like(small.demand)
    ways = [replace(way, launches=600.0 * np.arange(16)) for way in small.directions]
    line = replace(small, up=ways[0], down=ways[1], vehicle=Vehicle(capacity=35))
    for rate, crowded in ((210.0, False), (211.0, True)):
        demand[0, 0, 4] = rate
        assert bool(doubts(replace(line, demand=demand))) == crowded


def test_clock_times_in_seconds() -> None:
    wanted = {"06:30": 23_400.0, " 6:30:07 ": 23_407.0, "00:00": 0.0, "25:10:00": 90_600.0, "99:59:59": 359_999.0}
    assert {text: clock_seconds("x", text) for text in wanted} == wanted
    for wrong in ("6", "6:60", "06:30:60", "006:30", "-1:30", "06:3", "06:30:7", "06:30:00:00", ""):
        with pytest.raises(InputError, match=r"x is .*; expected a clock time such as 06:30 or 25:10:00"):
            clock_seconds("x", wrong)


def test_demand_of_a_file_counts_by_the_share_of_each_hour(tmp_path: Path) -> None:
    path = tmp_path / "demand.csv"
    path.write_text(
        " from,to , start,end,rate\n"
        "A, B ,06:30,09:30,10\n"
        "\n"
        "A,B,07:15,07:30, 8 \n"
        "B,A,06:30,06:45,0\n"
        "B,A,09:20:15,09:30,1.5\n"
    )
    found = csv_demand(str(path), ("A", "B", "C"), 3, 6.5 * 3600.0)
    assert found.shape == (3, 3, 3)
    assert found[:, 0, 1].tolist() == [12.0, 10.0, 10.0]
    assert found[:, 1, 0] == pytest.approx([0.0, 0.0, 1.5 * 585.0 / 3600.0])
    assert found.sum() == found[:, 0, 1].sum() + found[:, 1, 0].sum()
    for text, message in (
        ("", r"demand\.csv, row 1: found nothing; expected the columns"),
        ("from,to,start,end,rate\nD,A,06:30,07:00,1", "row 2: from is 'D', which is not a stop"),
        ("from,to,start,end,rate\nA,B,06:29:59,07:00,1", r"both within 6\.5 h to 9\.5 h"),
        ("from,to,start,end,rate\nA,B,09:00,09:30:01,1", r"row 2: from 09:00 to 09:30:01; start must be before end"),
        ("from,to,start,end,rate\nA,B,09:00,09:00,1", "start must be before end"),
        ("from,to,start,end,rate\n\nA,B,07:00,08:00,nan", "row 3: rate is 'nan'; expected a finite number"),
        ("from,to,start,end,rate\nA,B,07:00,08:00,1,", "row 2: 6 cells; expected 5"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            csv_demand(path, ("A", "B", "C"), 3, 6.5 * 3600.0)


def test_the_default_model_by_pairs() -> None:
    """exp(−|links between − 4|/4) of each pair, as many a trip as fill six tenths of the busiest link's places, at most
    80; a pair that both directions have in its order rides up."""
    stops = tuple("abcdefg")
    up = Direction(stops, np.full(6, 300.0), np.full((6, 2), 8.0), np.array([0.0, 100.0, 3600.0]))
    down = Direction(("g", "a", "b", "f"), np.full(3, 300.0), np.full((3, 2), 8.0), np.array([3599.0, 7199.0, 7300.0]))
    for given, capacity in ((None, 50), (None, 500), (7.0, 50)):
        found = default_demand(stops, (up, down), 2, given, capacity)
        wanted = np.zeros((2, 7, 7))
        for way, trips in ((up, (2, 1)), (down, (1, 1))):
            count = len(way.stops)
            weight = {(i, j): math.exp(-abs(j - i - 4) / 4.0) for i in range(count) for j in range(i + 1, count)}
            total = sum(weight.values())
            loads = [sum(w for (i, j), w in weight.items() if i <= link < j) / total for link in range(count - 1)]
            passengers = min(80.0, 0.6 * capacity / max(loads)) if given is None else given
            for (i, j), share in weight.items():
                origin, target = stops.index(way.stops[i]), stops.index(way.stops[j])
                for hour in (0, 1):
                    if way is up or wanted[hour, origin, target] == 0.0:
                        wanted[hour, origin, target] = passengers * trips[hour] * share / total
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert (PER_TRIP, FILL) == (80.0, 0.6)


def test_a_given_number_a_trip_is_warned_of_where_it_fills_a_bus_beyond_its_places() -> None:
    """Three stops: half of the passengers ride over both links, and each link has three quarters of them or so."""
    way = Direction(("a", "b", "c"), np.full(2, 300.0), np.full((2, 1), 8.0), np.array([0.0]))
    near, far = math.exp(-0.75), math.exp(-0.5)
    busiest = (near + far) / (2 * near + far)
    fits = math.floor(50.0 / busiest)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default_demand(("a", "b", "c"), (way, way), 1, float(fits))
    text = (
        rf"{fits + 1} passengers a trip put {(fits + 1) * busiest:.0f} on the busiest link from 'a' to 'c', more than"
    )

    def made() -> None:
        default_demand(("a", "b", "c"), (way, way), 1, fits + 1.0)

    with pytest.warns(UserWarning, match=text) as caught:
        made()
    assert {one.filename for one in caught} == {__file__}, "where the line is made, a call above"


def test_summaries_and_intervals_are_students() -> None:
    """Of two days as of many; of one there is no spread, and nobody is warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = summarise(np.array([3.0]))
        assert (alone.mean, math.isnan(alone.deviation)) == (3.0, True)
        assert math.isnan(half_interval(np.array([3.0])))
    pair, few = np.array([1.0, 4.0]), np.array([2.0, 3.0, 7.0])
    assert (summarise(pair).mean, summarise(pair).deviation) == (2.5, pytest.approx(1.5 * math.sqrt(2.0)))
    # quantiles of Student's distribution from a printed table
    assert half_interval(pair) == pytest.approx(12.706 * 1.5, rel=1e-4, abs=0)
    assert half_interval(few) == pytest.approx(4.303 * math.sqrt(7.0 / 3.0), rel=1e-3, abs=0)
    assert half_interval(few, 0.9) == pytest.approx(2.920 * math.sqrt(7.0 / 3.0), rel=1e-3, abs=0)
    gap = paired_difference(few, np.array([1.0, 3.0, 4.0]))
    assert gap.mean == pytest.approx(4.0 / 3.0)
    assert gap.half_width == pytest.approx(4.303 * math.sqrt(7.0 / 9.0), rel=1e-3, abs=0)
    assert gap.level == 0.95
    assert not gap.sure
    assert paired_difference(pair, np.zeros(2), 0.5).half_width == pytest.approx(1.5 * stats.t.ppf(0.75, 1))


def test_a_difference_is_sure_where_its_interval_leaves_out_zero() -> None:
    constant = paired_difference(np.array([2.0, 3.0, 9.0]), np.array([1.0, 2.0, 8.0]))
    assert (constant.mean, constant.half_width, constant.sure) == (1.0, 0.0, True)
    assert paired_difference(np.array([1.0, 2.0, 8.0]), np.array([2.0, 3.0, 9.0])).sure
    same = paired_difference(np.array([2.0, 3.0]), np.array([2.0, 3.0]))
    assert (same.mean, same.half_width, same.sure) == (0.0, 0.0, False)
    for level in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(InputError, match=r"the confidence level is .*; it must lie between 0 and 1"):
            paired_difference(np.array([1.0, 2.0]), np.array([2.0, 3.0]), level)
    with pytest.raises(InputError, match="at least 2; got 3 and 2"):
        paired_difference(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0]))
