"""Room for a day: bounds on its buses, its hours, its draws and its memory, each counted by hand; limits just met."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, NoHolding, Operations, Simulator, layout
from pyresac.envs.bus import state as at
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.simulator import LARGEST_SEED, checked_holding, checked_seed
from pyresac.envs.bus.state import check_memory, largest_crowd
from pyresac.errors import InputError


def longest_trip(line: Corridor, published: bool) -> float:
    """The slowest speed on every link, started from a stand and ended so, with four seconds of whole ones; a full
    exchange and a full hold at every stop."""
    slow, bus, found = line.speed_floor, line.vehicle, []
    if published:
        slow = float(int(slow))
    for way in line.directions:
        total = sum(length / slow + slow / bus.acceleration + slow / bus.deceleration + 4.0 for length in way.length)
        exchange = bus.capacity * max(bus.boarding_time, bus.alighting_time)
        found.append(total + len(way.stops) * (bus.clearance_time + exchange + math.ceil(line.holding_limit)))
    return max(found)


def uneven(small: Corridor, **changes: Any) -> Corridor:
    """Down has a stop less; a fast line, so that buses come back in time."""
    down = replace(
        small.down, stops=("E", "C", "B", "A"), length=[850.0, 300.0, 400.0], speed=np.full((3, 2), 30.0),
        launches=[50.0, 260.0, 400.0, 1500.0, 1550.0, 3000.0],
    )  # fmt: skip
    up = replace(small.up, speed=np.full((4, 2), 30.0))
    demand = np.triu(small.demand)
    changes = {"speed_floor": 25.5, "speed_ceiling": 35.0, "holding_limit": 10.5} | changes
    return replace(small, up=up, down=down, demand=demand, vehicle=replace(small.vehicle, capacity=5), **changes)


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("slow", ["boarding_time", "alighting_time"])
def test_a_day_ends_before_its_horizon(small: Corridor, published: bool, slow: str) -> None:
    line = uneven(small)
    line = replace(line, vehicle=replace(line.vehicle, **{slow: 6.0}))
    late = Operations(late_share=0.5, late_mean=7.0)
    for run, more in ((Operations(), 0.0), (late, 70.0), (replace(late, in_order=True), 3670.0)):
        horizon = lay_out(replace(line, operations=run), published).chances.horizon
        assert horizon == pytest.approx(4200.0 + longest_trip(line, published) + more, rel=1e-12, abs=0)


def buses_out(line: Corridor, longest: float) -> int:
    """At each launch, of those so far at its terminal less those that came back to it in time, the most."""
    found = 0
    for here, there in (line.directions, line.directions[::-1]):
        out = [
            sum(other <= launch for other in here.launches) - sum(other + longest <= launch for other in there.launches)
            for launch in here.launches
        ]
        found += max(0, *out)
    return found


def test_room_for_the_buses_that_may_be_out(small: Corridor) -> None:
    line, seen = uneven(small), set()
    for layover in (0.0, 100.0, 700.0, 3000.0):
        for late in (0.0, 40.0):
            run = Operations(layover=layover, late_share=1.0 if late else 0.0, late_mean=late)
            longest = longest_trip(line, False) + layover + 10.0 * late
            found = lay_out(replace(line, operations=run)).fleet_limit
            assert found == buses_out(line, longest)
            seen.add(found)
            for buses in (1, found, found + 1):
                assert lay_out(replace(line, operations=replace(run, buses=buses))).fleet_limit == min(buses, found)
    assert len(seen) > 2
    # to the second: a bus that comes back as the next one leaves is free
    longest = longest_trip(line, False)
    exact = replace(line, up=replace(line.up, launches=[0.0, 50.0 + longest]), down=replace(line.down, launches=[50.0]))
    assert buses_out(exact, longest) == lay_out(exact).fleet_limit


@pytest.mark.parametrize(
    ("number", "limit", "said"),
    [
        (lambda line, hours: 2 * 4 * hours * 3600.0 / 120.0, "MOST_DRAWS", "speeds, one a link and speed_interval"),
        (
            lambda line, hours: 2 * 5 * hours * 3600.0 / 50.0,
            "MOST_DRAWS",
            "draws of passengers, one a stop and demand_in",
        ),
        (
            lambda line, hours: line.demand[1].sum() * (hours - 1.0) + line.demand[0].sum(),
            "MOST_PASSENGERS",
            "passengers",
        ),
    ],
)
def test_a_day_that_no_machine_has_room_for(
    small: Corridor, number: Any, limit: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = uneven(small, speed_interval=120.0, demand_interval=50.0)
    if said.startswith("speeds"):
        line = replace(line, demand_interval=3600.0)
    hours = (4200.0 + longest_trip(line, False)) / 3600.0
    most = number(line, hours)
    monkeypatch.setattr(layout, limit, most * (1.0 + 1e-9))
    lay_out(line)
    monkeypatch.setattr(layout, limit, most * (1.0 - 1e-9))
    ends = f"every trip has surely ended after {hours:,.0f} h,"
    message = rf"a day of corridor 'small' has {most:,.0f} {said}.*; at most .* {ends}"
    with pytest.raises(InputError, match=message):
        lay_out(line)


def test_memory_is_asked_for_to_the_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"SC_PAGE_SIZE": 4_000_000, "SC_PHYS_PAGES": 1000}
    monkeypatch.setattr(at.os, "sysconf", sizes.__getitem__)
    check_memory(1_000_000, 4000)
    with pytest.raises(
        InputError, match=r"^4,001 days side by side need 4 GB, .*; at most 4,000 days of this corridor fit$"
    ):
        check_memory(1_000_000, 4001)
    with pytest.raises(InputError, match=r"^7 days side by side need 18 GB, .*; at most 1 days of this corridor fit$"):
        check_memory(2_500_000_000, 7)
    monkeypatch.delattr(at.os, "sysconf")
    check_memory(2**62, 2)


def test_a_crowd_is_ten_deviations_above_the_mean(small: Corridor) -> None:
    for factor in (0.0, 1.0, 50.0):
        line = lay_out(replace(small, demand=factor * small.demand))
        people = factor * small.demand[0].sum() * line.chances.horizon / 3600.0
        assert largest_crowd(line) == int(people + 10.0 * math.sqrt(people)) + 16


def test_a_day_that_needs_more_room_gets_a_quarter_more_each_time(small: Corridor) -> None:
    """And sixteen; every day of the batch, in its own row, is what it would be alone."""
    tight = Simulator(small, days=3)
    tight.state = tight.state._replace(passengers=tight.state.passengers[:, :40], bound=tight.state.bound[:, :40])
    tight.start([5, 1, 9])
    most = max(int(tight.state.queues[row, -1, 0]) for row in range(3))
    room = 40
    while room < most:
        room += room // 4 + 16
    assert tight.state.passengers.shape == (3, room, 3)
    assert tight.state.bound.shape == (3, room, 2)
    assert tight.state.bound.dtype == np.int32
    tight.run(NoHolding())
    for row, seed in enumerate((5, 1, 9)):
        alone = Simulator(small)
        alone.start([seed])
        alone.run(NoHolding())
        np.testing.assert_array_equal(tight.record(row).visits, alone.record().visits)
        np.testing.assert_array_equal(tight.record(row).passengers, alone.record().passengers)


def test_a_direction_s_own_deviation_takes_the_line_s_place(small: Corridor) -> None:
    table = np.arange(6.0).reshape(3, 2)
    line = uneven(small)
    found = lay_out(replace(line, down=replace(line.down, deviation=table))).chances.speed_deviation
    np.testing.assert_array_equal(found[0], np.full((4, 2), 1.5))
    np.testing.assert_array_equal(found[1], [*table.tolist(), [1.5, 1.5]])


@pytest.mark.parametrize("days", [True, 1.0, 0, -1, "1", None])
def test_days_are_counted(small: Corridor, days: Any) -> None:
    with pytest.raises(InputError, match=r"^days is .*; it must be an integer of at least 1$"):
        Simulator(small, days)


def test_the_limits_of_seeds_rows_and_holds(small: Corridor) -> None:
    assert [checked_seed(seed) for seed in (0, LARGEST_SEED, np.int64(3), np.uint8(4))] == [0, LARGEST_SEED, 3, 4]
    assert type(checked_seed(np.int64(3))) is int
    for seed in (-1, LARGEST_SEED + 1, 1.0, np.float64(1.0), True, np.bool_(True), "1", None):
        with pytest.raises(InputError, match=r"seed is .* it must be an integer in"):
            checked_seed(seed)
    assert checked_holding([-60.0, 0, 60.0], 3, -60.0, 60.0).tolist() == [-60.0, 0.0, 60.0]
    assert checked_holding(np.array([[1.0], [2.0]]), 2, 0.0, 60.0).tolist() == [1.0, 2.0]
    for place, wrong in ((1, math.nextafter(-60.0, -math.inf)), (2, math.nextafter(60.0, math.inf)), (0, math.nan)):
        seconds = [0.0, 0.0, 0.0]
        seconds[place] = wrong
        with pytest.raises(InputError, match=rf"^holding\[{place}\] is .* s; it must be in \[-60, 60\]$"):
            checked_holding(seconds, 3, -60.0, 60.0)
    days = Simulator(small, 3)
    days.start([4, 2], rows=[2, 0])
    assert days.pending.tolist() == [1, 0, 1]
    assert days.state.cursor[[0, 2], at.SEED].tolist() == [2, 4]
    assert days.observe().seed.tolist() == [2, 4]
    for rows in ([0, 3], [-1, 0], [True, False], [0.0, 1.0]):
        with pytest.raises(InputError, match=r"rows are .*; they must be integers in \[0, 2\]"):
            days.start([1, 2], rows=rows)


@pytest.mark.parametrize("count", [16, 17, 33])
def test_more_days_than_run_in_one_call(small: Corridor, count: int) -> None:
    days = Simulator(small, count)
    days.start(range(count))
    days.run(NoHolding())
    assert not days.pending.any()
    assert (days.state.cursor[:, at.FINISHED] == small.trips).all()
