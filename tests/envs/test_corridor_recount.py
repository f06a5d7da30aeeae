"""A day counted again, slowly and from its definitions, out of nothing but the times in its record."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    NoHolding,
    RandomHolding,
    Record,
    Simulator,
    day_metrics,
    default_corridor,
    simulate,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.controllers import Rule
from pyresac.envs.bus.day import BOARDED, CREATED
from pyresac.envs.bus.episodes import Episodes
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.line import DIRECTION
from pyresac.envs.bus.motion import arrival

RULES = [HeadwayEqualising(), RandomHolding()]


@pytest.fixture(scope="module", params=RULES, ids=["headway", "random"])
def run(request: pytest.FixtureRequest) -> tuple[Simulator, Record, Rule]:
    """A day of the default corridor, with its speeds; random holding makes buses overtake."""
    rule: Rule = request.param
    simulator = Simulator(default_corridor())
    simulator.start([3])
    simulator.run(rule)
    return simulator, simulator.record(), rule


def leave(record: Record, trip: int, place: int) -> float:
    return float(record.visits[trip, place, [at.ARRIVED, at.DWELL, at.HELD]].sum())


def trips_of(record: Record, direction: int) -> list[int]:
    mine = np.flatnonzero(record.layout.line.plan[:, DIRECTION] == direction)
    return [int(trip) for trip in mine[np.argsort(record.visits[mine, 0, at.ARRIVED])]]


def metres(record: Record, trip: int, direction: int, time: float) -> float:
    """Where a bus under way is at `time`, at the link's mean speed."""
    arrived, length = record.visits[trip, :, at.ARRIVED], record.layout.line.length[direction]
    place = int(np.flatnonzero(arrived <= time)[-1])
    left = leave(record, trip, place)
    share = max(time - left, 0.0) / (arrived[place + 1] - left)
    return float(length[:place].sum() + length[place] * share)


def forward_headway(record: Record, trip: int, leader: int, direction: int, place: int) -> float:
    now = record.visits[trip, place, at.ARRIVED]
    if record.visits[leader, place, at.ARRIVED] <= now:
        ends = record.visits[[trip, leader], place][:, [at.ARRIVED, at.DWELL]].sum(axis=1)
        return float(ends[0] - ends[1])
    covered = record.layout.line.length[direction, :place].sum()
    mean_speed = covered / (now - record.visits[trip, 0, at.ARRIVED])
    return float((metres(record, leader, direction, now) - covered) / mean_speed)


def test_headways_and_rewards(run: tuple[Simulator, Record, Rule]) -> None:
    record, total, overtaken = run[1], 0.0, 0
    for direction in (0, 1):
        trips = trips_of(record, direction)
        for index, trip in enumerate(trips):
            rewards = []
            for place in range(1, 22):
                visit = record.visits[trip, place]
                forward = backward = 360.0
                if index > 0:
                    forward = forward_headway(record, trip, trips[index - 1], direction, place)
                    overtaken += forward < 0.0
                behind = record.visits[trips[index + 1]] if index + 1 < len(trips) else None
                launched = behind is not None and behind[0, at.ARRIVED] <= visit[at.ARRIVED]
                if behind is not None and launched:
                    came = np.flatnonzero(behind[1:, at.ARRIVED] < visit[at.ARRIVED])
                    if came.size:
                        backward = behind[came[-1] + 1, at.FORWARD]
                assert visit[[at.FORWARD, at.BACKWARD]] == pytest.approx([forward, backward], abs=1e-6)
                f, b = abs(forward - 360.0), abs(backward - 360.0)
                reward = -f if not launched else -b
                if index > 0 and launched:
                    weight = f / (f + b + 1e-6)
                    reward = -(weight * f + (1 - weight) * b) - 0.5 * abs(forward - backward)
                if index == 0 and not launched:
                    assert math.isnan(visit[at.REWARD])
                    continue
                reward -= 20.0 * (max(f, b) > 180.0)
                assert visit[at.REWARD] == pytest.approx(reward, abs=1e-5)
                if place < 21:
                    rewards.append(reward)
            total += sum(rewards[1:])
    assert total == pytest.approx(day_metrics(record).reward, rel=1e-9, abs=0)
    assert overtaken > 0 or isinstance(run[2], HeadwayEqualising)


def test_a_bus_leaves_after_dwell_and_hold_and_drives_at_the_drawn_speeds(run: tuple[Simulator, Record, Rule]) -> None:
    simulator, record, _ = run
    line, speeds = record.layout.line, simulator.state.speeds[0]
    for trip, visits in enumerate(record.visits):
        direction = int(line.plan[trip, DIRECTION])
        for place in range(21):
            left = visits[place, at.ARRIVED] + visits[place, at.DWELL] + visits[place, at.HELD]
            assert visits[place + 1, at.ARRIVED] == arrival(line, speeds, direction, place, left)
            if place > 0:
                ready = visits[place, at.ARRIVED] + visits[place, at.DWELL]
                assert visits[place, at.NEXT_SPEED] == speeds[int(ready // 300), direction, place]


def test_waiting_at_the_next_stop(run: tuple[Simulator, Record, Rule]) -> None:
    record = run[1]
    created, boarded = record.passengers[:, CREATED], record.passengers[:, BOARDED]
    for trip in (40, 101, 200, 261):
        direction = int(record.layout.line.plan[trip, DIRECTION])
        for place in range(1, 21):
            ready = record.visits[trip, place, [at.ARRIVED, at.DWELL]].sum()
            there = (record.queue == direction * 22 + place + 1) & (created <= ready) & ~(boarded <= ready)
            assert record.visits[trip, place, at.NEXT_WAITING] == there.sum()


def test_a_trip_takes_the_bus_that_has_waited_longest_at_its_terminal(run: tuple[Simulator, Record, Rule]) -> None:
    record = run[1]
    direction = record.layout.line.plan[:, DIRECTION]
    idle: list[dict[int, float]] = [{}, {}]
    for trip in np.argsort(record.visits[:, 0, at.ARRIVED], kind="stable"):
        launch, here = record.visits[trip, 0, at.ARRIVED], idle[direction[trip]]
        ready = {bus: since for bus, since in here.items() if since < launch}
        bus = int(record.buses[trip])
        if ready:
            assert bus == min(ready, key=lambda waiting: ready[waiting])
            del here[bus]
        else:
            assert not any(bus in terminal for terminal in idle)
        idle[1 - direction[trip]][bus] = float(record.visits[trip, 21, [at.ARRIVED, at.DWELL]].sum())
    assert max(len(here) for here in idle) > 2


def test_what_the_classical_rules_are_told(run: tuple[Simulator, Record, Rule]) -> None:
    """β is 2 s a boarding passenger times the passengers a second of stop, direction and hour; delays are against the
    schedule."""
    record, corridor = run[1], default_corridor()
    for trip in (3, 50, 120, 201):
        direction = int(record.layout.line.plan[trip, DIRECTION])
        for place in range(1, 21):
            visit = record.visits[trip, place]
            stop = place if direction == 0 else 21 - place
            hour = min(int(visit[at.ARRIVED] // 3600), corridor.hours - 1)
            served = slice(stop + 1, None) if direction == 0 else slice(0, stop)
            expected = 2.0 * corridor.demand[hour, stop, served].sum() / 3600.0
            assert visit[at.PRESSURE] == pytest.approx(expected)
            assert visit[at.LATENESS] == visit[at.ARRIVED] - record.layout.line.schedule[trip, place]


def test_the_schedule_is_running_and_dwell(small: Corridor) -> None:
    """Exact without noise and passengers; with passengers, a stop adds the exchange of one headway's."""
    quiet = replace(small, speed_deviation=0.0, demand=0.0 * small.demand)
    visits = simulate(quiet, NoHolding(), 0).visits
    assert visits[:, 1:, at.LATENESS] == pytest.approx(0.0, abs=1e-9)
    busy = replace(small, speed_deviation=0.0)
    gaps = [np.diff(lay_out(corridor).line.schedule, axis=1) for corridor in (busy, quiet)]
    # 600 s bring 2 passengers a pair: at the second stop 6 board, 2 alight; then 4 and 4; then 2 and 6
    assert gaps[0] - gaps[1] == pytest.approx(np.tile([0.0, 12.0, 8.0, 6.0], (16, 1)))


def test_the_day_that_is_drawn_follows_the_tables(small: Corridor) -> None:
    """Hour by hour, link by link and pair by pair, in five standard errors; draws of one place are independent."""
    speed = np.array([[6.0, 9.0]]) + 0.5 * np.arange(4)[:, None]
    demand = small.demand * np.array([1.0, 3.0])[:, None, None] * (1.0 + 0.2 * np.arange(5))
    up, down = (replace(way, speed=table) for way, table in zip(small.directions, (speed, speed + 0.7), strict=True))
    corridor, days = replace(small, up=up, down=down, demand=demand), 200
    simulator = Simulator(corridor, days=days)
    simulator.start(range(days))
    first = simulator.state.speeds[:, :12]
    later = simulator.state.speeds[:, 12:17]
    for index, way in enumerate(corridor.directions):
        for hour, part in enumerate((first, later)):
            error = 5.0 * 1.5 / math.sqrt(days * part.shape[1])
            assert part[:, :, index].mean(axis=(0, 1)) == pytest.approx(way.speed[:, hour], abs=error)
    noise = first[:, :, 0] - first[:, :, 0].mean(axis=(0, 1))
    for pair in ((noise[:, 1:], noise[:, :-1]), (noise[..., 1:], noise[..., :-1]), (noise[1:], noise[:-1])):
        assert abs(np.corrcoef(pair[0].ravel(), pair[1].ravel())[0, 1]) < 5.0 / math.sqrt(pair[0].size)
    counts, together, alike = np.zeros((2, 5, 5)), 0, 0.0
    expected_alike, variance = 0.0, 0.0
    totals = np.zeros((days, 180))
    for day in range(days):
        record = simulator.record(day)
        created, place = record.passengers[:, CREATED], record.queue % 5
        inside = created < 7200.0
        origin = np.where(record.queue < 5, place, 4 - place)
        target = np.where(record.queue < 5, record.destination, 4 - record.destination)
        hours = (created // 3600.0).astype(int)
        np.add.at(counts, (hours[inside], origin[inside], target[inside]), 1)
        np.add.at(totals[day], (created[hours == 0] // 20.0).astype(int), 1)
        pairs = np.flatnonzero((np.diff(record.queue) == 0) & (np.diff(created) == 0.0) & inside[1:])
        for passenger in pairs:
            way = slice(origin[passenger] + 1, None) if record.queue[passenger] < 5 else slice(0, origin[passenger])
            share = demand[0, origin[passenger], way] / demand[0, origin[passenger], way].sum()
            chance = np.square(share).sum()
            together, alike = together + 1, alike + (target[passenger] == target[passenger + 1])
            expected_alike, variance = expected_alike + chance, variance + chance * (1 - chance)
    chances = simulator.layout.chances
    last = math.ceil(chances.horizon / 20.0) * 20.0
    expected = days * demand * np.array([1.0, min(last / 3600.0, 2.0) - 1.0])[:, None, None]
    assert (abs(counts - expected) <= 5.0 * np.sqrt(expected)).all()
    assert together > 1000
    assert abs(alike - expected_alike) < 5.0 * math.sqrt(variance)
    # a Poisson day: the hour's total varies as its mean, so its twenty-second parts are independent
    hourly = totals.sum(axis=1)
    assert hourly.var(ddof=1) / hourly.mean() == pytest.approx(1.0, abs=5.0 * math.sqrt(2.0 / (days - 1)))


def test_the_period_is_the_hour_at_the_end_of_dwell() -> None:
    episodes = Episodes(None, 1, "paper", False)
    row, crossed = np.zeros(1, dtype=np.int64), 0
    episodes.begin(row, [0])
    while episodes.simulator.pending[0]:
        seen = episodes.simulator.observe()
        hour = min(int(seen.time[0] // 3600), 13)
        crossed += hour != min(int(seen.visit[0, at.ARRIVED] // 3600), 13)
        assert episodes.observe()[1][0, 3] == seen.period[0] == hour
        assert seen.time[0] == seen.visit[0, at.ARRIVED] + seen.visit[0, at.DWELL]
        episodes.act(np.zeros(1), row)
    assert crossed > 0
