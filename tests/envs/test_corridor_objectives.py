"""The full observation, passengers' objective as a reward, metrics over the same passengers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    NoHolding,
    Simulator,
    TargetHeadway,
    day_metrics,
    default_corridor,
    simulate,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.environment import BusCorridor
from pyresac.envs.bus.episodes import Episodes, Transitions
from pyresac.envs.bus.full_observation import FEATURES, NAMES
from pyresac.envs.bus.line import DIRECTION, LEADER
from pyresac.envs.bus.motion import running_time
from pyresac.envs.bus.objectives import HeadwayReward, PassengerTime, objective_named
from pyresac.envs.bus.observation import scaling
from pyresac.envs.bus.vector import VectorBusCorridor
from pyresac.errors import InputError

PRICES = "passengers:vehicle_hour=480,denied=5"


def play(env: BusCorridor, seed: int) -> tuple[float, list[Transitions], dict[str, Any]]:
    actions = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    total, found, ended = 0.0, [info["transitions"]], False
    while not ended:
        _, reward, ended, _, info = env.step(actions.uniform(0.0, 60.0, 1))
        total += reward
        found.append(info["transitions"])
    return total, found, info


def test_the_full_observation_is_the_paper_s_and_seven_numbers_more(small: Corridor) -> None:
    paper, full = BusCorridor(small), BusCorridor(small, observation="full")
    check_env(BusCorridor(small, observation="full", unit_actions=True))
    first, second = paper.reset(seed=3)[0], full.reset(seed=3)[0]
    for _ in range(40):
        assert second["continuous"].shape == (len(FEATURES),)
        assert np.array_equal(first["continuous"], second["continuous"][:3])
        assert np.array_equal(first["categorical"], second["categorical"])
        assert full.observation_space.contains(second)
        first, second = paper.step([7.0])[0], full.step([7.0])[0]


def test_every_number_of_the_full_observation_by_hand() -> None:
    corridor = default_corridor()
    simulator = Simulator(corridor)
    simulator.start([4])
    simulator.run(TargetHeadway(slack=20.0))
    layout, visits = simulator.layout, simulator.state.visits[0]
    line, end = layout.line, visits.shape[1] - 1
    episodes = Episodes(corridor, 1, "full", False)
    episodes.simulator.state = simulator.state
    rng = np.random.default_rng(0)
    for trip in rng.integers(5, corridor.trips - 5, 20):
        for place in (1, 9, end):
            numbers, _ = episodes._parts(np.array([[0, trip, place]]))
            seen, mine = dict(zip(NAMES, numbers[0], strict=True)), visits[trip, place]
            ready, way = mine[at.ARRIVED] + mine[at.DWELL], line.plan[trip, DIRECTION]
            leader = visits[line.plan[trip, LEADER], place]
            if leader[at.ARRIVED] <= mine[at.ARRIVED]:
                expected = leader[at.ARRIVED] - line.schedule[line.plan[trip, LEADER], place]
                assert seen["leader_lateness"] == pytest.approx(expected, rel=1e-4, abs=0)
            assert seen["lateness"] == pytest.approx(ready - line.departures[trip, place], rel=1e-4, abs=1e-3)
            assert seen["load"] == mine[at.ONBOARD]
            assert seen["stops_behind"] == place
            if place == end:
                assert seen["link_speed"] == seen["link_delay"] == seen["waiting_next"] == 0.0
                continue
            waiting, speed = mine[at.NEXT_WAITING], mine[at.NEXT_SPEED]
            scheduled = line.schedule[trip, place + 1] - line.departures[trip, place]
            delay = running_time(line, way, place, speed) - scheduled
            assert seen["waiting_next"] == waiting
            assert seen["link_delay"] == pytest.approx(delay, rel=1e-4, abs=1e-3)


def test_lateness_is_about_nothing_on_an_even_day() -> None:
    """Without holding, lateness against a schedule of means has a mean of a few seconds, not of minutes."""
    visits = simulate(default_corridor(), NoHolding(), 1).visits
    late = visits[20:200, 1:6, at.LATE]
    assert abs(np.nanmean(late)) < 30.0


@pytest.mark.parametrize("form", ["paper", "full", "published"])
def test_scaling_brings_numbers_to_one(form: Any) -> None:
    env = VectorBusCorridor(2, observation=form)
    observation, _ = env.reset(seed=0)
    numbers = observation if form == "published" else observation["continuous"]
    centre, scale = scaling(env.episodes.layout, form)
    assert centre.shape == scale.shape == numbers.shape[1:]
    if form != "published":
        for _ in range(100):
            numbers = env.step(np.full((2, 1), 20.0))[0]["continuous"]
            assert np.abs((numbers - centre) / scale).max() < 8.0


@pytest.mark.parametrize("name", ["passengers", PRICES])
def test_an_episode_s_rewards_add_up_to_the_objective(small: Corridor, name: str) -> None:
    env = BusCorridor(small, objective=name)
    for seed in (1, 2):
        total, parts, info = play(env, seed)
        record = env.episodes.simulator.record()
        worth = objective_named(name)
        assert total == pytest.approx(worth(record), rel=1e-9, abs=0)
        metrics = info["metrics"]
        assert isinstance(worth, PassengerTime)
        price = worth.vehicle_hour * metrics["vehicle_hours"] + worth.denied * metrics["left_behind"]
        assert total == pytest.approx(-metrics["weighted_time"] - price, rel=1e-9, abs=0)
        # a trip's transitions hold what its passengers and bus paid from its first decision on
        found = Transitions(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
        visits = record.visits
        for trip in np.unique(found.trip):
            first = found.place[found.trip == trip].min()
            rows = visits[trip, first:5]
            cost = (2.0 * rows[1:, at.WAITED] + rows[1:, at.RODE]).sum() / 60.0 + worth.denied * rows[1:, at.LEFT].sum()
            cost += worth.vehicle_hour * (rows[-1, at.ARRIVED] - rows[0, at.ARRIVED]) / 3600.0
            assert found.reward[found.trip == trip].sum() == pytest.approx(-cost, rel=1e-4, abs=1e-4)


def test_unserved_passengers_are_charged_to_the_end(small: Corridor) -> None:
    """The day after its last bus: passengers still at stops are in the objective, and in the last step's reward."""
    env = BusCorridor(small, objective="passengers")
    env.reset(seed=1)
    ended = False
    while not ended:
        before = env.episodes._due[0]
        _, reward, ended, _, _ = env.step([0.0])
    record = env.episodes.simulator.record()
    created, boarded = record.passengers[:, 0], record.passengers[:, 1]
    waiting = np.isnan(boarded) & (created <= record.end)
    assert waiting.any()
    assert -reward + before == pytest.approx(env.episodes._due[0])
    assert -reward >= 2.0 * (record.end - created[waiting]).sum() / 60.0


def test_vector_days_earn_what_single_days_earn(small: Corridor) -> None:
    vector = VectorBusCorridor(2, small, objective=PRICES)
    vector.reset(seed=[5, 6])
    totals, ended = np.zeros(2), np.zeros(2, dtype=bool)
    while not ended.all():
        _, rewards, terminated, _, _ = vector.step(np.full((2, 1), 10.0))
        totals += np.where(ended, 0.0, rewards)
        ended |= terminated
    worth = objective_named(PRICES)
    rule = lambda observation: 10.0  # noqa: E731
    assert totals == pytest.approx([worth(simulate(small, rule, seed)) for seed in (5, 6)], rel=1e-9, abs=0)


def test_the_reward_objective_is_the_metric(small: Corridor) -> None:
    record = simulate(small, HeadwayEqualising(), 3)
    assert HeadwayReward()(record) == day_metrics(record).reward


def test_metrics_are_over_the_same_passengers(small: Corridor) -> None:
    """Whatever the controller: from the first half hour to the last launch that both directions have."""
    for rule in (NoHolding(), TargetHeadway(slack=60.0)):
        record = simulate(small, rule, 4)
        found = day_metrics(record)
        created, boarded, alighted = record.passengers.T
        mine = (created >= 1800.0) & (created <= 4200.0)
        assert mine.sum() > 20
        boarded = np.where(np.isnan(boarded), record.end, boarded)[mine]
        alighted = np.where(np.isnan(alighted), record.end, alighted)[mine]
        cost = 2.0 * (boarded - created[mine]) + alighted - boarded
        assert found.weighted_journey == pytest.approx(cost.mean() / 60.0)
        assert found.wait_95 == pytest.approx(np.quantile(boarded - created[mine], 0.95) / 60.0)
        visits = record.visits
        ends = visits[:, -1, at.ARRIVED] + visits[:, -1, at.DWELL] - visits[:, 0, at.ARRIVED]
        assert found.vehicle_hours == pytest.approx(ends.sum() / 3600.0)
        assert found.trip == pytest.approx(ends.mean() / 60.0)
        assert 0.0 < found.load <= found.crowding <= small.vehicle.capacity


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed", "objective 'speed' is unknown; expected one of"),
        ("reward:denied=1", "'denied' is unknown or given twice; it has"),
        ("passengers:denied=1,denied=2", "'denied' is unknown or given twice"),
        ("passengers:denied", "'denied' is not of the form price=number"),
        ("passengers:denied=-1", "denied is -1.0; a price must be finite and not negative"),
        ("passengers:vehicle_hour=nan", "vehicle_hour is nan"),
    ],
)
def test_bad_objectives(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        objective_named(text)
    assert not math.isnan(objective_named(PRICES).denied)
