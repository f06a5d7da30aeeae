"""What a transition is charged with beside its own trip: the reward of its neighbours, the time of those behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pyresac.envs.bus import Corridor, Record, default_corridor, simulate_days
from pyresac.envs.bus import state as at
from pyresac.envs.bus.default import disturbed_corridor
from pyresac.envs.bus.environment import BusCorridor
from pyresac.envs.bus.episodes import Transitions
from pyresac.envs.bus.line import DIRECTION, FOLLOWER, LEADER
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.objectives import objective_named
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.vector import VectorBusCorridor
from pyresac.errors import InputError

PLAIN = "passengers:vehicle_hour=480,denied=5"
SHARED = PLAIN + ",followers=1"


@pytest.fixture
def close(small: Corridor) -> Corridor:
    """Buses two minutes apart, so that a trip is under way while its leader is."""
    launches = 120.0 * np.arange(8)
    up, down = (replace(way, launches=launches + 60.0 * index) for index, way in enumerate(small.directions))
    return replace(small, up=up, down=down, headway=120.0)


def played(corridor: Corridor, objective: str, hold: float = 0.0) -> tuple[float, Transitions, Record]:
    """A day of random holding, or with `hold` of that holding at every stop."""
    env, random = BusCorridor(corridor, objective=objective), np.random.default_rng(4)
    _, info = env.reset(seed=3)
    total, parts, ended = 0.0, [info["transitions"]], False
    while not ended:
        _, reward, ended, _, info = env.step([hold or random.uniform(0.0, 60.0)])
        total += reward
        parts.append(info["transitions"])
    whole = Transitions(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    return total, in_order(whole), env.episodes.simulator.record()


def in_order(found: Transitions) -> Transitions:
    """By trip and place: a trip's last transition may come later than those of other trips."""
    order = np.lexsort((found.place, found.trip))
    return Transitions(*(field[order] for field in found))


def ends(record: Record) -> NDArray[np.float64]:
    """(T, S) ends of dwell."""
    return np.asarray(record.visits[..., at.ARRIVED] + record.visits[..., at.DWELL])


def until(record: Record, trip: int, place: int) -> float:
    """The end of dwell at the next stop; of a trip's last transition, the end of its follower's trip."""
    plan, ready = record.layout.line.plan, ends(record)
    last, follower = record.layout.line.stops[plan[trip, DIRECTION]] - 1, plan[trip, FOLLOWER]
    return float(ready[follower, last] if place + 1 == last and follower >= 0 else ready[trip, place + 1])


@pytest.mark.parametrize("doors", [False, True])
def test_a_transition_is_charged_with_what_the_trips_behind_it_pay(close: Corridor, doors: bool) -> None:
    """Every stop that the follower gets ready to leave between two decisions, and no other, by the day's record."""
    corridor = replace(close, operations=Operations(open_doors=doors))
    _, own, record = played(corridor, PLAIN)
    total, shared, again = played(corridor, SHARED)
    assert np.array_equal(record.visits, again.visits, equal_nan=True)
    ready, charged = ends(record), 0
    for row, (trip, place) in enumerate(zip(own.trip, own.place, strict=True)):
        cost, behind = 0.0, trip
        for _ in range(3):
            behind = record.layout.line.plan[behind, FOLLOWER]
            if behind < 0:
                break
            among = (ready[behind] > ready[trip, place]) & (ready[behind] <= until(record, trip, place))
            rows = record.visits[behind, among]
            cost += (2.0 * rows[:, at.WAITED] + rows[:, at.RODE]).sum() / 60.0
            charged += int(among.sum())
        assert own.reward[row] - shared.reward[row] == pytest.approx(cost, rel=1e-3, abs=1e-3)
    assert charged > 20
    assert total == pytest.approx(objective_named(PLAIN)(record), rel=1e-9, abs=0)


def test_a_transition_is_given_the_reward_of_its_neighbours(close: Corridor) -> None:
    """Every decision of leader and follower between two of the trip's own, by the day's record; ends of trips too, and
    not a trip's first decision."""
    _, own, record = played(close, "reward")
    total, shared, _ = played(close, "reward:neighbours=1")
    line, visits, ready, counted = record.layout.line, record.visits, ends(record), [0, 0]
    earns = np.isfinite(visits[..., at.ACTION]) & (visits[..., at.PRIOR] >= 0)
    earns[np.arange(len(line.plan)), line.stops[line.plan[:, DIRECTION]] - 1] = True
    for row, (trip, place) in enumerate(zip(own.trip, own.place, strict=True)):
        given = 0.0
        for side, neighbour in enumerate(line.plan[trip, [LEADER, FOLLOWER]]):
            if neighbour >= 0:
                end = until(record, trip, place) if side else ready[trip, place + 1]
                among = (ready[neighbour] > ready[trip, place]) & (ready[neighbour] <= end)
                given += visits[neighbour, among & earns[neighbour], at.REWARD].sum()
                counted[side] += int((among & earns[neighbour]).sum())
        assert shared.reward[row] - own.reward[row] == pytest.approx(given, rel=1e-4, abs=1e-3)
    assert min(counted) > 10
    assert total == pytest.approx(objective_named("reward")(record), rel=1e-9, abs=0)


def moved(corridor: Corridor, rule: Any, change: Any, worth: Any, days: int) -> NDArray[np.float64]:
    """(6,) mean change of what a trip, its leader, three followers, and all trips around earn when `change` is added to
    the rule's holding on that trip alone: every twelfth trip, so that none is near another."""
    records = simulate_days(corridor, rule, range(days))
    plan = records[0].layout.line.plan
    ways = [np.flatnonzero(plan[:, DIRECTION] == way) for way in (0, 1)]
    chosen = np.concatenate([way[10:-10:12] for way in ways])

    def changed(observation: Any) -> Any:
        held = rule(observation) + change(observation) * np.isin(observation.trip, chosen)
        return np.clip(held, 0.0, observation.holding_limit)

    changed.batched = True  # type: ignore[attr-defined]
    found = []
    for before, after in zip(records, simulate_days(corridor, changed, range(days)), strict=True):
        gain = worth(after.visits) - worth(before.visits)
        for way in ways:
            mine = gain[way]
            found += [
                [mine[own], mine[own - 1], *mine[own + 1 : own + 4], mine[own - 6 : own + 6].sum()]
                for own in range(10, len(way) - 10, 12)
            ]
    return np.asarray(np.mean(found, axis=0))


def headway_reward(visits: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T,) of each trip."""
    return np.asarray(np.where(visits[..., at.PRIOR] >= 0, visits[..., at.REWARD], 0.0).sum(axis=1))


def passengers_time(visits: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T,) −(2·wait + ride) of those who board each trip, in minutes."""
    return -(2.0 * np.nansum(visits[..., at.WAITED], axis=1) + np.nansum(visits[..., at.RODE], axis=1)) / 60.0


def test_own_and_neighbours_reward_is_what_a_hold_does_to_the_line() -> None:
    """Of the whole effect of stronger control on one trip, the trip itself sees a part: with both neighbours, all."""
    rule = controller_named("linear")
    change = lambda seen: 3.0 * (seen.forward_headway - seen.headway) / 60.0  # noqa: E731
    own, leader, follower, *_, around = moved(default_corridor(), rule, change, headway_reward, 16)
    assert around < 0.0
    assert own / around < 0.75
    assert own + leader + follower == pytest.approx(around, rel=0.1, abs=0)


def test_own_and_followers_time_is_what_a_hold_does_to_the_line() -> None:
    """A longer hold costs a trip's own passengers some four times what it costs the line: those of the next three trips
    gain the rest, the nearest one's most, and the leader's nothing."""
    rule = controller_named("target:slack=1.9,gain=0.145")
    own, leader, *followers, around = moved(disturbed_corridor(), rule, lambda seen: 3.0, passengers_time, 16)
    assert around < 0.0
    assert own / around > 2.5
    assert sum(followers) > 0.5 * abs(own)
    assert followers[0] > followers[1] > followers[2]
    assert own + sum(followers) == pytest.approx(around, rel=0.25, abs=0)
    assert abs(leader) < 0.1 * abs(own)


def test_a_share_of_it_is_charged_in_proportion(close: Corridor) -> None:
    (_, own, _), (_, half, _), (_, whole, _) = (played(close, PLAIN + f",followers={share}") for share in (0, 0.5, 1))
    np.testing.assert_allclose(own.reward - half.reward, half.reward - whole.reward, rtol=1e-3, atol=1e-3)
    assert (own.reward > whole.reward).any()


def test_a_day_s_value_and_its_steps_do_not_change(close: Corridor) -> None:
    assert played(close, PLAIN)[0] == played(close, SHARED)[0]


def test_many_days_are_charged_as_one_is(close: Corridor) -> None:
    """Whatever else a step completes, and whenever transitions are collected."""
    _, one, _ = played(close, SHARED, hold=10.0)
    vector = VectorBusCorridor(3, close, objective=SHARED)
    vector.reset(seed=[1, 3, 2])
    parts: list[Transitions] = []
    while vector.episodes.episode[1] == 0:
        found = vector.step(np.full((3, 1), 10.0))[4]["transitions"]
        mine = (found.day == 1) & (vector.episodes.episode[1] == 0)
        parts.append(Transitions(*(field[mine] for field in found)))
    many = in_order(Transitions(*(np.concatenate(fields) for fields in zip(*parts, strict=True))))
    for name in ("reward", "place", "trip", "terminal", "continuous", "next_continuous"):
        assert np.array_equal(getattr(many, name), getattr(one, name)), name


@pytest.mark.parametrize("objective", [SHARED, "reward:neighbours=1"])
def test_every_decision_gives_one_transition_by_the_end_of_the_day(close: Corridor, objective: str) -> None:
    """The last one of a trip waits for the follower's end; the same transitions as without, but for their rewards."""
    _, plain, record = played(close, objective.partition(":")[0])
    _, shared, _ = played(close, objective)
    for name in ("trip", "place", "terminal", "action", "continuous", "next_continuous", "categorical"):
        assert np.array_equal(getattr(plain, name), getattr(shared, name)), name
    assert len(plain.reward) == np.isfinite(record.visits[..., at.ACTION]).sum()
    env = BusCorridor(close, objective=objective)
    _, info = env.reset(seed=3)
    ended, waited = False, 0
    while not ended:
        _, _, ended, _, info = env.step([20.0])
        visits, line = env.episodes.simulator.state.visits[0], env.episodes.layout.line
        for trip in info["transitions"].trip[info["transitions"].terminal]:
            follower, last = line.plan[trip, FOLLOWER], line.stops[line.plan[trip, DIRECTION]] - 1
            assert follower < 0 or np.isfinite(visits[follower, last, at.ARRIVED])
            waited += int(follower >= 0)
    assert waited >= 10


@pytest.mark.parametrize("given", ["-1", "nan", "inf", "much"])
def test_bad_shares(given: str) -> None:
    with pytest.raises(InputError, match="followers"):
        objective_named(f"passengers:followers={given}")
    with pytest.raises(InputError, match="neighbours"):
        objective_named(f"reward:neighbours={given}")
