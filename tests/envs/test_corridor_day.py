"""The pieces of a day by hand: random numbers, motion, rewards, rules, metrics, the published switch."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pyresac.envs.bus import (
    Corridor,
    ForwardHeadway,
    HeadwayEqualising,
    NoHolding,
    Observation,
    RandomHolding,
    SimpleRobust,
    Simulator,
    TargetHeadway,
    by_hour,
    by_stop,
    day_metrics,
    default_corridor,
    simulate,
    simulate_days,
)
from pyresac.envs.bus import compiled as compiled_module
from pyresac.envs.bus import state as at
from pyresac.envs.bus.comparison import paired_difference, summarise
from pyresac.envs.bus.compiled import normal, poisson, sources_digest, uniform
from pyresac.envs.bus.headways import ridge_reward
from pyresac.envs.bus.kernel import advance
from pyresac.envs.bus.layout import Layout, lay_out
from pyresac.envs.bus.line import DIRECTION, FOLLOWER, LEADER
from pyresac.envs.bus.metrics import excess_wait
from pyresac.envs.bus.motion import arrival
from pyresac.envs.bus.rules import run_days
from pyresac.errors import InputError


def steady(layout: Layout, *speeds: float) -> np.ndarray:
    """Speeds (E, 2, L), the same on every link."""
    return np.array(speeds)[:, None, None] * np.ones((len(speeds), *layout.line.length.shape))


def test_compiled_code_is_kept_for_these_very_sources(tmp_path: Path) -> None:
    """The rule runner calls the kernel out of another file: a change there must not leave it as it was."""
    first, second, third = (tmp_path / f"{name}.py" for name in ("one", "two", "three"))
    first.write_text("from package.two import b\n\n@compiled\ndef f(): return b\n")
    second.write_text("b = 1\n")
    third.write_text("c = 1\n")
    before = sources_digest(tmp_path)
    assert sources_digest(tmp_path) == before
    third.write_text("c = 2\n")
    assert sources_digest(tmp_path) == before
    second.write_text("b = 2\n")
    changed = sources_digest(tmp_path)
    assert changed != before
    first.write_text(first.read_text() + "# more\n")
    assert sources_digest(tmp_path) != changed
    for function in (run_days, advance):
        assert sources_digest(Path(compiled_module.__file__).parent) in function.stats.cache_path


def test_uniform_normal_and_poisson_numbers() -> None:
    keys = range(20_000)
    level = np.array([uniform(7, 1, key, 3) for key in keys])
    assert stats.kstest(level, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(level[:-1], level[1:])[0, 1]) < 4 / math.sqrt(len(level))
    assert stats.kstest([normal(7, key, 3) for key in keys], "norm").pvalue > 1e-3
    for mean in (0.2, 16.0, 40.0):
        counts = np.array([poisson(mean, 7, key, 3) for key in keys])
        # five standard errors of the mean and, with kurtosis 1/mean, of the variance
        assert abs(counts.mean() - mean) < 5 * math.sqrt(mean / len(counts))
        assert abs(counts.var() - mean) < 5 * math.sqrt((2 * mean**2 + mean) / len(counts))


def test_a_bus_accelerates_cruises_and_brakes(small: Corridor) -> None:
    layout = lay_out(small)
    # at 9 m/s: 3 s to speed over 13.5 m, 1.8 s and 8.1 m to stand, the rest at 9 m/s
    expected = 3.0 + (400.0 - 13.5 - 8.1) / 9.0 + 1.8
    assert arrival(layout.line, steady(layout, 9.0), 0, 0, 50.0) - 50.0 == pytest.approx(expected)
    # 9 m/s for the first 300 s, then 4.5 m/s: of 400 m, 9 m/s from 270 s on covers 13.5 + 27·9 = 256.5 m by 300 s;
    # slowing takes a second to the limit (the deceleration reaches further) and 6.75 m
    slowed = 30.0 + 1.0 + (400.0 - 256.5 - 6.75 - 4.5**2 / 10) / 4.5 + 4.5 / 5
    assert arrival(layout.line, steady(layout, 9.0, 4.5), 0, 0, 270.0) - 270.0 == pytest.approx(slowed)


def test_a_link_too_short_to_reach_the_limit(small: Corridor) -> None:
    layout = lay_out(replace(small, up=replace(small.up, length=[1.2, 300.0, 500.0, 350.0])))
    peak = math.sqrt(2 * 1.2 / (1 / 3 + 1 / 5))
    assert arrival(layout.line, steady(layout, 9.0), 0, 0, 0.0) == pytest.approx(peak / 3 + peak / 5)


def test_the_published_clock(small: Corridor) -> None:
    layout = lay_out(small, published=True)
    # metres after each whole second: 0, 3, 9, 18, then 9 m/s: 400 m are passed at 3 + ⌈391/9⌉ s, seen a second later
    assert arrival(layout.line, steady(layout, 9.0), 0, 0, 0.0) == 3 + math.ceil((400.0 - 9.0) / 9.0) + 1


def test_published_speeds_and_holds_are_whole(small: Corridor) -> None:
    exact, whole = (Simulator(small, published=published) for published in (False, True))
    for simulator in (exact, whole):
        simulator.start([3])
        simulator.run(HeadwayEqualising())
    assert np.array_equal(np.floor(exact.state.speeds), whole.state.speeds)
    assert not np.array_equal(exact.state.speeds, whole.state.speeds)
    held, asked = whole.state.visits[..., at.HELD], whole.state.visits[..., at.ACTION]
    decided = np.isfinite(asked)
    assert np.array_equal(held[decided], np.ceil(asked[decided]))
    visits = exact.state.visits
    decided = np.isfinite(visits[..., at.ACTION])
    assert np.array_equal(visits[decided, at.HELD], visits[decided, at.ACTION])


@pytest.mark.parametrize(
    ("forward", "backward", "neighbours", "expected"),
    [
        (360.0, 360.0, 3, 0.0),
        (300.0, 420.0, 3, -60.0 - 60.0),
        (260.0, 400.0, 3, -(100 * 100 + 40 * 40) / 140 - 70.0),
        (160.0, 360.0, 3, -200.0 - 100.0 - 20.0),
        (180.0, 360.0, 1, -180.0),
        (179.0, 360.0, 1, -181.0 - 20.0),
        (360.0, 350.0, 2, -10.0),
        (360.0, 600.0, 2, -240.0 - 20.0),
    ],
)
def test_the_ridge_reward(forward: float, backward: float, neighbours: int, expected: float) -> None:
    # the weight's 1e−6 s moves no reward by more than 1e−6 · max(f, b)/(f + b) ≤ 1e−6
    assert ridge_reward(forward, backward, neighbours, 360.0) == pytest.approx(expected, abs=2e-6)


def test_no_reward_without_neighbours() -> None:
    assert math.isnan(ridge_reward(360.0, 360.0, 0, 360.0))


def test_headways_follow_the_visits(small: Corridor) -> None:
    record = simulate(small, NoHolding(), 2)
    visits, plan = record.visits, record.layout.line.plan
    for trip in np.flatnonzero(plan[:, LEADER] >= 0):
        leader = plan[trip, LEADER]
        for place in range(1, 5):
            mine, ahead = visits[trip, place], visits[leader, place]
            if ahead[at.ARRIVED] > mine[at.ARRIVED]:
                assert mine[at.FORWARD] < 0.0
                continue
            gap = mine[[at.ARRIVED, at.DWELL]].sum() - ahead[[at.ARRIVED, at.DWELL]].sum()
            assert mine[at.FORWARD] == pytest.approx(gap)


def test_the_backward_headway_is_the_follower_s_latest_forward_one() -> None:
    record = simulate(default_corridor(), NoHolding(), 2)
    visits, plan = record.visits, record.layout.line.plan
    seen = 0
    for trip in np.flatnonzero(plan[:, FOLLOWER] >= 0):
        behind = visits[plan[trip, FOLLOWER]]
        for place in range(1, 22):
            mine = visits[trip, place]
            came = np.flatnonzero(behind[1:, at.ARRIVED] < mine[at.ARRIVED]) + 1
            assert mine[at.BACKWARD] == (behind[came[-1], at.FORWARD] if came.size else 360.0)
            launched = behind[0, at.ARRIVED] <= mine[at.ARRIVED]
            assert (int(mine[at.NEIGHBOURS]) & 2 == 2) == launched
            seen += came.size > 0
    assert seen > 3000


def observation(**fields: float) -> Observation:
    """An observation of one bus at its third stop, from a real one, with these columns of the visit."""
    simulator = Simulator(default_corridor())
    simulator.start([0])
    real = simulator.observe()
    visit = np.zeros(at.VISIT_COLUMNS)
    for name, value in fields.items():
        visit[getattr(at, name)] = value
    scalars = {name: field[0] for name, field in real._asdict().items() if isinstance(field, np.ndarray)}
    return real._replace(**scalars | {"visit": visit, "place": np.int64(3), "stops_behind": np.int64(3)})


def test_rules_by_hand() -> None:
    assert NoHolding()(observation(FORWARD=100.0, BACKWARD=500.0)) == 0.0
    assert HeadwayEqualising()(observation(FORWARD=300.0, BACKWARD=380.0)) == 40.0
    assert HeadwayEqualising()(observation(FORWARD=100.0, BACKWARD=380.0)) == 60.0
    assert HeadwayEqualising()(observation(FORWARD=400.0, BACKWARD=380.0)) == 0.0
    assert TargetHeadway(slack=20.0, gain=0.5)(observation(FORWARD=340.0)) == 30.0
    assert ForwardHeadway(slack=10.0, gain=0.4)(observation(SPACING=340.0, PRESSURE=0.1)) == pytest.approx(
        10 + 0.5 * 20
    )
    # schedule with slack 20 a stop: at the third stop (place 3) both are measured against 2 · 20 s
    rule = SimpleRobust(slack=20.0, memory=0.5)
    expected = 20.0 - (1 + 0.1 - 0.5) * (30.0 - 40.0) + 0.1 * (50.0 - 40.0)
    assert rule(observation(LATENESS=30.0, LEADER_LATENESS=50.0, PRESSURE=0.1)) == pytest.approx(expected)


def test_random_holding_is_uniform_and_repeatable() -> None:
    first, second = (simulate(default_corridor(), RandomHolding(), 4) for _ in range(2))
    held = first.visits[np.isfinite(first.visits[..., at.ACTION]), at.ACTION]
    assert np.array_equal(first.visits, second.visits, equal_nan=True)
    assert stats.kstest(held / 60.0, "uniform").pvalue > 1e-3


def test_forward_headway_control_mixes_headways_as_its_law_says(small: Corridor) -> None:
    """Daganzo's dynamics without noise or passengers: h_{n,s+1} = (1 − α)·h_{n,s} + α·h_{n−1,s}, from a late start."""
    quiet = replace(small, speed_deviation=0.0, demand=0.0 * small.demand, holding_limit=600.0)
    late = small.up.launches + np.array([0.0, 0.0, 0.0, 100.0, 100.0, 0.0, 0.0, 0.0])
    record = simulate(replace(quiet, up=replace(quiet.up, launches=late)), ForwardHeadway(slack=300.0, gain=0.4), 0)
    visits = record.visits[record.layout.line.plan[:, DIRECTION] == 0]
    spacing, held = visits[:, 1:5, at.SPACING], visits[2:, 1:4, at.HELD]
    assert ((held > 0.0) & (held < 600.0)).all()
    assert np.ptp(spacing[2:, 0]) == pytest.approx(200.0)
    # the first trip has no leader, so the law binds trips whose leader obeys it
    assert spacing[2:, 1:] == pytest.approx(0.6 * spacing[2:, :-1] + 0.4 * spacing[1:-1, :-1], abs=1e-6)


def test_metrics_by_hand(small: Corridor) -> None:
    record = simulate(small, TargetHeadway(slack=30.0), 8)
    found = day_metrics(record)
    waits, rides = [], []
    for created, boarded, alighted in record.passengers:
        if created <= record.end and not math.isnan(alighted):
            waits.append(boarded - created)
            rides.append(alighted - boarded)
    assert found.wait == pytest.approx(np.mean(waits) / 60)
    assert found.travel == pytest.approx(np.mean(rides) / 60)
    assert found.journey == pytest.approx(found.wait + found.travel)
    rows = record.visits[np.isfinite(record.visits[..., at.ACTION])]
    assert found.decisions == len(rows)
    assert found.reward_full == pytest.approx(rows[:, at.REWARD].sum())
    firsts = rows[rows[:, at.PRIOR] < 0]
    assert found.reward == pytest.approx(found.reward_full - firsts[:, at.REWARD].sum())
    assert found.bunching == np.mean([min(row[at.FORWARD], row[at.BACKWARD]) < 300.0 for row in rows])
    assert found.holding == pytest.approx(rows[:, at.ACTION].mean())
    assert found.unserved + len(waits) == found.passengers


def test_excess_wait() -> None:
    assert excess_wait(np.full(5, 360.0), 360.0) == 0.0
    # headways 0⁺ and 720: a passenger always comes in the long gap and waits 360 s, 180 s more than scheduled
    assert excess_wait(np.array([1e-9, 720.0]), 360.0) == pytest.approx(3.0)
    assert math.isnan(excess_wait(np.array([]), 360.0))
    # a headway below a second is one, too; a bus that came with another, or before it, is left out
    assert excess_wait(np.array([0.5, 1.0, 0.0, -3.0]), 0.5) == pytest.approx((1.25 / 1.5 - 0.5) / 120.0)


def test_breakdowns_add_up() -> None:
    record = simulate(default_corridor(), HeadwayEqualising(), 1)
    found, stops, hours = day_metrics(record), by_stop(record), by_hour(record)
    for table in (stops, hours):
        assert np.nansum(table["decisions"]) == found.decisions
        assert np.nansum(table["left_behind"]) == found.left_behind
        assert np.nansum(table["boarded"]) == np.isfinite(record.passengers[:, 1]).sum()
        weights = np.nan_to_num(table["decisions"])
        assert np.nansum(table["holding"] * weights) / weights.sum() == pytest.approx(found.holding)
    assert stops["wait"].shape == (2, 22)
    assert hours["wait"].shape == (14,)


def test_paired_differences_are_students() -> None:
    rules = (NoHolding(), HeadwayEqualising())
    first, second = (
        np.array([day_metrics(record).wait for record in simulate_days(default_corridor(), rule, range(6))])
        for rule in rules
    )
    gap = paired_difference(second, first)
    expected = stats.ttest_rel(second, first).confidence_interval(0.95)
    assert (gap.mean - gap.half_width, gap.mean + gap.half_width) == pytest.approx((expected.low, expected.high))
    assert gap.sure
    assert summarise(first).deviation == pytest.approx(first.std(ddof=1))


def test_paired_differences_need_days() -> None:
    with pytest.raises(InputError, match="at least 2; got 1 and 1"):
        paired_difference(np.array([1.0]), np.array([2.0]))
    with pytest.raises(InputError, match="confidence level is 95"):
        paired_difference(np.array([1.0, 2.0]), np.array([2.0, 4.0]), 95)


def test_uncommonly_many_passengers_get_room(small: Corridor) -> None:
    """Arrays that are too small grow, and the day stays the same."""
    plenty, tight = Simulator(small, days=2), Simulator(small, days=2)
    tight.state = tight.state._replace(passengers=tight.state.passengers[:, :5], bound=tight.state.bound[:, :5])
    for simulator in (plenty, tight):
        simulator.start([1, 2])
        simulator.run(NoHolding())
    assert tight.state.passengers.shape[1] > 5
    for row in (0, 1):
        first, second = plenty.record(row), tight.record(row)
        assert np.array_equal(first.passengers, second.passengers, equal_nan=True)
        assert np.array_equal(first.visits, second.visits, equal_nan=True)
