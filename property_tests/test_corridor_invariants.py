"""What holds on every corridor, under every controller, on every day."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from property_tests.corridors import controllers, corridors, operations, seeds
from pyresac.envs.bus import Corridor, NoHolding, Observation, Operations, Record, Simulator, simulate, simulate_days
from pyresac.envs.bus import state as at
from pyresac.envs.bus.controllers import Rule
from pyresac.envs.bus.day import ALIGHTED, BOARDED, CREATED, HEAD, START
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST


class Plain:
    """A rule as a plug-in that the simulator cannot run compiled."""

    def __init__(self, rule: Rule, batched: bool) -> None:
        self.rule, self.batched = rule, batched

    def __call__(self, observation: Observation) -> Any:
        return self.rule(observation)


def same(first: Record, second: Record) -> bool:
    arrays = ("visits", "buses", "passengers", "destination", "queue")
    equal = [np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True) for name in arrays]
    return all(equal) and (first.end, first.fleet, first.seed) == (second.end, second.fleet, second.seed)


@given(corridors(), controllers, seeds, st.booleans())
def test_every_passenger_waits_rides_or_has_arrived(corridor: Corridor, rule: Rule, seed: int, published: bool) -> None:
    simulator = Simulator(corridor, published=published)
    simulator.start([seed])
    while simulator.pending[0]:
        state = simulator.state
        waiting = riding = 0
        passengers, queues = state.passengers[0], state.queues[0]
        for queue in range(len(queues) - 1):
            mine = slice(queues[queue, START], queues[queue + 1, START])
            boarded = np.isfinite(passengers[mine, BOARDED])
            waiting += int((~boarded).sum())
            assert boarded.sum() == queues[queue, HEAD] - queues[queue, START]
            riding += int((boarded & ~np.isfinite(passengers[mine, ALIGHTED])).sum())
        assert waiting + riding + np.isfinite(passengers[:, ALIGHTED]).sum() == queues[-1, START]
        assert riding == state.buses[0, :, at.LOAD].sum()
        simulator.step(Plain(rule, True)(simulator.observe()))
    record = simulator.record()
    aboard = np.isfinite(record.passengers[:, BOARDED]) & ~np.isfinite(record.passengers[:, ALIGHTED])
    assert not aboard.any()


@given(corridors(), controllers, seeds, st.booleans())
def test_passengers_are_served_in_order_and_in_time(corridor: Corridor, rule: Rule, seed: int, published: bool) -> None:
    record = simulate(corridor, rule, seed, published)
    created, boarded, alighted = record.passengers.T
    rode = np.isfinite(boarded)
    assert (boarded[rode] >= created[rode]).all()
    assert (alighted[rode] > boarded[rode]).all()
    for queue in np.unique(record.queue):
        times = boarded[(record.queue == queue) & rode]
        assert (np.diff(times) >= 0.0).all()
        assert not rode[record.queue == queue][len(times) :].any()


@given(corridors(), controllers, seeds, st.booleans())
def test_buses_keep_to_capacity_timetable_and_one_place(
    corridor: Corridor, rule: Rule, seed: int, published: bool
) -> None:
    record = simulate(corridor, rule, seed, published)
    line, visits = record.layout.line, record.visits
    direction = line.plan[:, DIRECTION]
    for trip, rows in enumerate(visits):
        used = rows[: line.stops[direction[trip]]]
        assert used[0, at.ARRIVED] == line.schedule[trip, 0]
        assert (np.diff(used[:, at.ARRIVED]) > 0.0).all()
        assert (used[:, at.ONBOARD] == np.cumsum(used[:, at.BOARDED] - used[:, at.ALIGHTED])).all()
        assert used[:, at.ONBOARD].max() <= line.capacity
        assert used[-1, at.ONBOARD] == 0
        full = used[used[:, at.LEFT] > 0]
        assert (full[:, at.ONBOARD] == line.capacity).all()
    assert record.fleet <= record.layout.fleet_limit
    for bus in range(record.fleet):
        trips = np.flatnonzero(record.buses == bus)
        ends = [visits[trip, line.stops[direction[trip]] - 1, [at.ARRIVED, at.DWELL]].sum() for trip in trips]
        assert (visits[trips[1:], 0, at.ARRIVED] >= np.array(ends[:-1])).all()
        assert (direction[trips[1:]] != direction[trips[:-1]]).all()


@given(corridors(), controllers, seeds, st.booleans())
def test_holding_dwell_and_reward(corridor: Corridor, rule: Rule, seed: int, published: bool) -> None:
    record = simulate(corridor, rule, seed, published)
    vehicle, rows = corridor.vehicle, record.visits
    inner = rows[:, 1:][np.isfinite(rows[:, 1:, at.ARRIVED])]
    decided = inner[np.isfinite(inner[:, at.ACTION])]
    assert (
        (decided[:, [at.ACTION, at.HELD]] >= 0.0) & (decided[:, [at.ACTION, at.HELD]] <= corridor.holding_limit)
    ).all()
    # dwell is the exchange alone, whatever was held before, and holding nothing adds nothing to it
    exchange = np.maximum(vehicle.alighting_time * inner[:, at.ALIGHTED], vehicle.boarding_time * inner[:, at.BOARDED])
    assert (inner[:, at.DWELL] == vehicle.clearance_time + exchange).all()
    assert (decided[decided[:, at.ACTION] == 0.0, at.HELD] == 0.0).all()
    assert not (inner[:, at.REWARD] > 0.0).any()
    assert np.isfinite(decided[:, at.REWARD]).all()


@given(corridors(), controllers, seeds)
def test_no_holding_leaves_no_later(corridor: Corridor, rule: Rule, seed: int) -> None:
    """From the same moment of the same day, holding nothing lets the bus go no later than any rule does."""
    kept, free = Simulator(corridor), Simulator(corridor)
    for simulator in (kept, free):
        simulator.start([seed])
    if not kept.pending[0]:
        return
    bus = kept.state.cursor[0, at.PENDING]
    trip, place = kept.state.buses[0, bus, [at.TRIP, at.PLACE]]
    kept.step(Plain(rule, True)(kept.observe()))
    free.step(0.0)
    time = [at.ARRIVED, at.DWELL, at.HELD]
    assert free.state.visits[0, trip, place, time].sum() <= kept.state.visits[0, trip, place, time].sum()


@given(corridors(), controllers, st.lists(seeds, min_size=1, max_size=3), st.booleans())
def test_a_day_is_the_same_alone_in_a_batch_and_in_lockstep(
    corridor: Corridor, rule: Rule, days: list[int], published: bool
) -> None:
    batch = simulate_days(corridor, rule, days, published)
    lockstep = simulate_days(corridor, Plain(rule, batched=True), days, published)
    for seed, record, other in zip(days, batch, lockstep, strict=True):
        assert same(record, simulate(corridor, rule, seed, published))
        assert same(record, other)
    assert same(batch[0], simulate(corridor, Plain(rule, batched=False), days[0], published))


@given(st.booleans().flatmap(lambda short: corridors(short_turns=short)), operations, controllers, seeds)
def test_however_a_line_is_run(corridor: Corridor, run: Operations, rule: Rule, seed: int) -> None:
    """Passengers are conserved, served in order and in time; buses keep to capacity, to their number and to one place,
    and rest; visits account for all waiting and riding; a day is the same compiled and in lockstep."""
    line = replace(corridor, operations=run)
    record = simulate(line, rule, seed)
    assert same(record, simulate_days(line, Plain(rule, batched=True), [seed])[0])
    visits, plan, short = record.visits, record.layout.line.plan, record.layout.line.short
    trips, first, last = np.arange(len(plan)), plan[:, FIRST], plan[:, LAST]
    created, boarded, alighted = record.passengers.T
    rode = np.isfinite(boarded)
    assert np.array_equal(rode, np.isfinite(alighted))
    assert (boarded[rode] >= created[rode]).all()
    assert (alighted[rode] > boarded[rode]).all()
    for queue in np.unique(record.queue):
        for bound in np.unique(record.destination) if short else [None]:
            mine = (record.queue == queue) & ((record.destination == bound) | (bound is None))
            assert (np.diff(boarded[mine & rode]) >= 0.0).all()
            # first come, first served, but for those who gave up
            assert run.patience > 0.0 or not rode[mine][rode[mine].sum() :].any()
    free = visits[trips, last, at.ARRIVED] + visits[trips, last, at.DWELL]
    launched = visits[trips, first, at.ARRIVED]
    assert np.isfinite(free).all()
    assert (launched >= record.layout.line.schedule[trips, first]).all()
    assert record.fleet <= record.layout.fleet_limit
    for bus in range(record.fleet):
        own = np.flatnonzero(record.buses == bus)
        own = own[np.argsort(launched[own], kind="stable")]
        assert (launched[own[1:]] >= free[own[:-1]] + run.layover).all()
    for trip, rows in enumerate(visits):
        used = rows[first[trip] : last[trip] + 1]
        assert (np.diff(used[:, at.ARRIVED]) > 0.0).all()
        assert np.isnan(np.delete(rows[:, at.ARRIVED], np.arange(first[trip], last[trip] + 1))).all()
        assert (used[:, at.ONBOARD] == np.cumsum(used[:, at.BOARDED] - used[:, at.ALIGHTED])).all()
        assert used[:, at.ONBOARD].max() <= corridor.vehicle.capacity
    if run.ordered and not short:
        for way in (0, 1):
            rows = visits[plan[:, DIRECTION] == way, : record.layout.line.stops[way]]
            leave = rows[..., at.ARRIVED] + rows[..., at.DWELL] + np.nan_to_num(rows[..., at.HELD])
            assert (np.diff(rows[:, 1:, at.ARRIVED], axis=0) > 0.0).all()
            assert (np.diff(leave[:, 1:-1], axis=0) > 0.0).all()
            if run.berths:
                # the bus that finds the last berth free comes after all but berths − 1 of those before it have left
                assert (rows[run.berths :, 1:, at.ARRIVED] >= leave[: -run.berths, 1:]).all()
    # sums of at most a few hundred terms, each below a day: rounding stays far below a millisecond
    assert abs(np.nansum(visits[..., at.WAITED]) - (boarded - created)[rode].sum()) < 1e-3
    assert abs(np.nansum(visits[..., at.RODE]) - (alighted - boarded)[rode].sum()) < 1e-3


@given(corridors(), controllers, seeds)
def test_controllers_face_the_same_day(corridor: Corridor, rule: Rule, seed: int) -> None:
    simulators = [Simulator(corridor), Simulator(corridor)]
    for simulator, controller in zip(simulators, (rule, NoHolding()), strict=True):
        simulator.start([seed])
        simulator.run(controller)
    first, second = (simulator.state for simulator in simulators)
    assert np.array_equal(first.speeds, second.speeds)
    assert np.array_equal(first.passengers[0, :, CREATED], second.passengers[0, :, CREATED], equal_nan=True)
    assert np.array_equal(first.bound[0, :, 0], second.bound[0, :, 0])
