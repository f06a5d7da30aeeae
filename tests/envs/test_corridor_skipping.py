"""Stops that a bus passes: who boards, who alights, what it costs, and who may pass them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    NoHolding,
    Record,
    SkippingRule,
    controller_named,
    day_metrics,
    default_corridor,
    simulate,
    simulate_days,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.day import ALIGHTED, BOARDED
from pyresac.envs.bus.environment import BusCorridor
from pyresac.envs.bus.line import DIRECTION, LEADER
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.vector import VectorBusCorridor
from pyresac.errors import InputError
from pyresac.tasks.corridor_days import CorridorDays


def skipping(corridor: Corridor, **options: Any) -> Corridor:
    return replace(corridor, operations=replace(corridor.operations, skipping=True, **options))


def sometimes(observation: Any) -> float:
    """Pass the next stop at every third decision of a trip, else hold a little."""
    return -1.0 if (observation.trip + observation.place) % 3 == 0 else 5.0


def passed(record: Record) -> NDArray[np.bool_]:
    """(T, S)"""
    return np.asarray(record.visits[..., at.SKIPPED] == 1.0)


@pytest.fixture(scope="module")
def day() -> Record:
    return simulate(skipping(default_corridor()), sometimes, 5)


def test_nobody_boards_where_a_bus_passes(day: Record) -> None:
    """By the passengers: none of a passed stop boards within the visit; who waits there is left behind."""
    rows = day.visits[passed(day)]
    assert len(rows) > 500
    assert (rows[:, at.BOARDED] == 0.0).all()
    assert (rows[:, at.WAITED] == 0.0).all()
    assert rows[:, at.LEFT].sum() > 500
    direction, places = day.layout.line.plan[:, DIRECTION], day.layout.places
    for trip, place in list(zip(*np.nonzero(passed(day)), strict=True))[::40]:
        queue = direction[trip] * places + place
        assert not (day.passengers[day.queue == queue, BOARDED] == day.visits[trip, place, at.ARRIVED]).any()


def test_nobody_is_carried_on(day: Record) -> None:
    """All who board alight, each at their own stop: alighted is who boarded for it, at passed stops too."""
    boarded = np.isfinite(day.passengers[:, BOARDED])
    assert np.isfinite(day.passengers[boarded, ALIGHTED]).all()
    rows = day.visits[passed(day)]
    assert rows[:, at.ALIGHTED].sum() > 500
    loads = day.visits[..., at.ONBOARD]
    change = day.visits[:, 1:, at.BOARDED] - day.visits[:, 1:, at.ALIGHTED]
    np.testing.assert_array_equal(np.diff(loads, axis=1), change)
    assert (loads[:, -1] == 0.0).all()


def test_a_bus_stands_only_to_let_off(day: Record) -> None:
    line, rows = day.layout.line, day.visits[passed(day)]
    empty = rows[:, at.ALIGHTED] == 0.0
    assert empty.any()
    assert (rows[empty, at.DWELL] == 0.0).all()
    expected = line.clearance_time + line.alighting_time * rows[~empty, at.ALIGHTED]
    np.testing.assert_allclose(rows[~empty, at.DWELL], expected)


def test_a_bus_decides_nothing_where_it_passes(day: Record) -> None:
    rows = day.visits[passed(day)]
    assert np.isnan(rows[:, at.ACTION]).all()
    assert (rows[:, at.HELD] == 0.0).all()


def test_a_stop_is_not_passed_twice_in_a_row_nor_the_last_one() -> None:
    """Where all buses ask to pass all stops: every second stop of a trip, and none that the leader passed."""
    always = lambda observation: -60.0  # noqa: E731
    record = simulate(skipping(default_corridor()), always, 5)
    mine, plan = passed(record), record.layout.line.plan
    assert mine.sum() > 0.2 * mine.size
    assert not mine[:, [0, -1]].any()
    assert not (mine[:, 1:] & mine[:, :-1]).any()
    led = plan[:, LEADER] >= 0
    assert not (mine[led] & mine[plan[led, LEADER]]).any()
    asked = record.visits[..., at.ACTION] == -60.0
    refused = asked[:, :-1] & ~mine[:, 1:]
    last = np.zeros_like(refused)
    last[:, -1] = True
    leaders = np.zeros_like(refused)
    leaders[led] = mine[plan[led, LEADER]][:, 1:]
    assert (refused <= (last | leaders)).all()


def test_without_the_option_a_day_is_what_it_was() -> None:
    """The rule is then `headway`, and a negative number is refused."""
    corridor = default_corridor()
    first, second = simulate(corridor, SkippingRule(), 3), simulate(corridor, HeadwayEqualising(), 3)
    assert np.array_equal(first.visits, second.visits, equal_nan=True)
    with pytest.raises(InputError, match=r"holding\[0\] is -1.0 s; it must be in \[0, 60\]"):
        simulate(corridor, sometimes, 3)


def test_the_option_alone_changes_no_day() -> None:
    for rule in (NoHolding(), HeadwayEqualising()):
        with_it, without = (simulate(line, rule, 3) for line in (skipping(default_corridor()), default_corridor()))
        assert np.array_equal(with_it.visits, without.visits, equal_nan=True)


def test_open_doors_stay_shut_where_a_bus_passes() -> None:
    record = simulate(skipping(default_corridor(), open_doors=True), sometimes, 5)
    rows = record.visits[passed(record)]
    assert rows[:, at.ALIGHTED].sum() > 500
    assert (rows[:, at.BOARDED] == 0.0).all()


def test_the_published_clock_passes_stops_too() -> None:
    record = simulate(skipping(default_corridor()), sometimes, 5, published=True)
    assert passed(record).sum() > 500
    assert (record.visits[passed(record), at.BOARDED] == 0.0).all()


def test_the_rule_by_hand(small: Corridor) -> None:
    """Compiled, called, and by its formula."""
    corridor, rule = skipping(small), SkippingRule(gain=0.8, threshold=10.0)
    seen: list[tuple[float, float, float]] = []

    def watched(observation: Any) -> Any:
        seconds = rule(observation)
        seen.append((float(observation.forward_headway), float(observation.backward_headway), seconds))
        return seconds

    called, compiled = simulate(corridor, watched, 2), simulate(corridor, rule, 2)
    assert np.array_equal(called.visits, compiled.visits, equal_nan=True)
    for forward, backward, seconds in seen:
        wish = 0.8 * (backward - forward) / 2.0
        assert seconds == (-60.0 if wish < -10.0 else pytest.approx(min(max(wish, 0.0), 60.0)))
    assert 0 < sum(seconds < 0.0 for *_, seconds in seen) < len(seen) / 2


def test_skipping_counts_in_metrics_and_tables(day: Record) -> None:
    metrics = day_metrics(day)
    assert metrics.skipped == passed(day).sum()
    assert metrics.left_behind == np.nansum(day.visits[..., at.LEFT])
    assert sum(day.to_pandas()["skipped"]) == metrics.skipped


def test_environments_take_negative_seconds(small: Corridor) -> None:
    """The box reaches down to −H_max; in units −1 is to pass."""
    corridor = skipping(small)
    env, unit = BusCorridor(corridor), BusCorridor(corridor, unit_actions=True)
    assert (env.action_space.low[0], env.action_space.high[0]) == (-60.0, 60.0)  # type: ignore[attr-defined]
    env.reset(seed=1)
    unit.reset(seed=1)
    ended = False
    while not ended:
        _, _, ended, _, info = env.step([-80.0])
        assert unit.step([-1.0])[2] == ended
    states = [one.episodes.simulator.state.visits for one in (env, unit)]
    assert np.array_equal(*states, equal_nan=True)
    assert info["metrics"]["skipped"] > 0
    assert (states[0][..., at.ACTION][np.isfinite(states[0][..., at.ACTION])] == -60.0).all()
    vector = VectorBusCorridor(2, corridor)
    assert vector.single_action_space.low[0] == -60.0  # type: ignore[attr-defined]
    assert BusCorridor(small).action_space.low[0] == 0.0  # type: ignore[attr-defined]


def test_a_correction_of_a_rule_can_pass_stops(small: Corridor) -> None:
    """A unit action on top of a rule reaches down to −H_max, and comes back as it was done."""
    days = CorridorDays(skipping(small), 1, False, "full", controller_named("none"), "reward")
    days.reset(1)
    found = days.step(np.array([[-0.5]], dtype=np.float32))[3]["transitions"]
    while not len(found.action):
        found = days.step(np.array([[-0.5]], dtype=np.float32))[3]["transitions"]
    np.testing.assert_allclose(found.action, -30.0)
    np.testing.assert_allclose(days.units(found), -0.5)


def test_many_days_at_once_are_single_days(small: Corridor) -> None:
    corridor, rule = skipping(small), SkippingRule(threshold=20.0)
    for seed, many in zip((1, 2), simulate_days(corridor, rule, [1, 2]), strict=True):
        one = simulate(corridor, rule, seed)
        assert np.array_equal(one.visits, many.visits, equal_nan=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Operations(skipping=1), "operations.skipping is 1; it must be true or false"),  # type: ignore[arg-type]
        (lambda: SkippingRule(gain=3.0), r"gain is 3.0; it must be finite and in \[0, 2\]"),
        (lambda: SkippingRule(threshold=-1.0), "threshold is -1.0"),
        (lambda: controller_named("skip:late=3"), r"controller skip has no parameters \['late'\]"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("seconds", [-60.1, 60.1, np.nan])
def test_seconds_outside_are_refused(small: Corridor, seconds: float) -> None:
    with pytest.raises(InputError, match=r"must be in \[-60, 60\]"):
        simulate(skipping(small), lambda observation: seconds, 1)
