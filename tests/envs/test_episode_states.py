"""Episodes as arrays: what a saved state must have, what it shares with nobody, and what a new day begins with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor
from pyresac.envs.bus import episodes as episodes_module
from pyresac.envs.bus import state as at
from pyresac.envs.bus.day import START
from pyresac.envs.bus.environment import BusCorridor, to_seconds
from pyresac.envs.bus.episodes import Episodes, completed
from pyresac.envs.bus.full_observation import COUNT, FEATURES, NAMES, SCALES, fill_features
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.line import DIRECTION, FOLLOWER, LEADER
from pyresac.errors import InputError

ROWS = np.arange(3)
OWN = {"pending", "base", "episode", "collected", "charged", "due"}


def begun(corridor: Corridor, objective: str = "passengers", days: int = 3) -> Episodes:
    """Different days, some steps from their beginnings, one of which has begun anew."""
    found = Episodes(corridor, days, "paper", False, objective)
    found.begin(np.arange(days), list(range(5, 5 + days)))
    for _ in range(4):
        found.act(np.full(days, 20.0), np.arange(days))
    found.collect()
    found.begin(np.array([1]), None)
    found.act(np.full(days, 10.0), np.arange(days))
    return found


@pytest.fixture(scope="module")
def episodes(small: Corridor) -> Episodes:
    return begun(small)


def test_a_state_has_every_array_of_the_days_and_their_own(episodes: Episodes) -> None:
    state = episodes.get_state()
    assert set(state) == {f"day.{name}" for name in at.State._fields} | OWN
    assert state["base"].tolist() == [5, 6, 7]
    assert state["episode"].tolist() == [0, 1, 0]
    assert (state["due"] > state["charged"]).all()
    for array in state.values():
        array[...] = 0
    assert episodes.base.tolist() == [5, 6, 7], "copies"
    assert episodes.simulator.pending.all()
    assert (episodes.get_state()["due"] > 0.0).all()
    assert np.isfinite(episodes.simulator.state.visits[:, 0, 0, 0]).all()


def test_a_state_that_is_set_is_nobody_else_s(small: Corridor, episodes: Episodes) -> None:
    """What it goes on with is all that the other has; both go on alone."""
    state = episodes.get_state()
    other = Episodes(small, 3, "paper", False, "passengers")
    other.set_state(state)
    expected = episodes.get_state()
    for name, array in other.get_state().items():
        assert np.array_equal(array, expected[name], equal_nan=True), name
    for array in state.values():
        array[...] = 0
    for name, array in other.get_state().items():
        assert np.array_equal(array, expected[name], equal_nan=True), name
    assert np.array_equal(other.rewards(), episodes.rewards())
    other.act(np.full(3, 30.0), ROWS)
    assert len(other.collect().reward) >= 0
    for name, array in episodes.get_state().items():
        assert np.array_equal(array, expected[name], equal_nan=True), name


def test_every_array_of_a_state_must_have_its_shape_and_kind(small: Corridor, episodes: Episodes) -> None:
    """Along every axis; but any number of passengers, up to whom the queues point."""
    good = episodes.get_state()
    for name, array in good.items():
        with pytest.raises(InputError, match=rf"state array {name} is a list; expected a NumPy array"):
            episodes.set_state({**good, name: array.tolist()})
        other = np.float32 if array.dtype.kind == "f" else np.int8
        wrong = [array.astype(other), array[..., None]]
        for axis in range(array.ndim):
            grown = np.concatenate([array, array.take([0], axis)], axis)
            if axis == 1 and name in ("day.passengers", "day.bound"):
                episodes.set_state({**good, name: grown})
            else:
                wrong.append(grown)
        for one in wrong:
            text = f"state array {name} is {one.dtype}{one.shape}; expected {array.dtype}"
            with pytest.raises(InputError) as caught:
                episodes.set_state({**good, name: one})
            assert str(caught.value).startswith(text)
    for changed in ({name: good[name] for name in good if name != "due"}, {**good, "more": good["due"]}):
        with pytest.raises(InputError, match=r"the state has arrays \[.*\]; expected \['base', 'charged', "):
            episodes.set_state(changed)
    last = int(good["day.queues"][..., START].max())
    episodes.set_state({**good, "day.passengers": good["day.passengers"][:, :last]})
    with pytest.raises(InputError, match=r"day\.queues points past the end of day\.passengers"):
        episodes.set_state({**good, "day.passengers": good["day.passengers"][:, : last - 1]})
    episodes.set_state(good)


def test_a_new_day_begins_with_nothing_charged_or_collected(small: Corridor) -> None:
    """In the rows that begin anew, and in no other; as a fresh one does."""
    used, fresh = begun(small), Episodes(small, 3, "paper", False, "passengers")
    before = used.get_state()
    used.begin(np.array([0, 2]), [11, 12])
    fresh.begin(ROWS, [11, 1, 12])
    after, wanted = used.get_state(), fresh.get_state()
    for name in OWN:
        assert after[name][[0, 2]].tolist() == wanted[name][[0, 2]].tolist(), name
        assert after[name][1] == before[name][1], name
    assert after["base"].tolist() == [11, 6, 12]
    assert after["episode"].tolist() == [0, 1, 0]
    assert (used.rewards()[[0, 2]] == 0.0).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_an_action_that_is_no_number_names_its_day(small: Corridor, wrong: float) -> None:
    episodes = begun(small)
    before = episodes.get_state()
    with pytest.raises(InputError, match=rf"action 1 is {wrong}; it must be a finite number of seconds"):
        episodes.act(np.array([1.0, wrong, wrong]), ROWS)
    assert np.array_equal(episodes.get_state()["day.cursor"], before["day.cursor"])


def test_some_days_go_on_and_the_others_wait(small: Corridor) -> None:
    """What is charged stays where no step was made."""
    episodes = begun(small)
    before = episodes.get_state()
    episodes.act(np.array([10.0]), np.array([2]))
    after = episodes.get_state()
    for name in ("charged", "due", "pending"):
        assert after[name][:2].tolist() == before[name][:2].tolist()
    assert after["charged"][2] == before["due"][2] < after["due"][2]
    assert episodes.rewards()[2] == before["due"][2] - after["due"][2]


def test_a_day_that_nobody_decides_is_refused(small: Corridor) -> None:
    """One bus a direction has no neighbour."""
    alone = replace(small, up=replace(small.up, launches=[0.0]), down=replace(small.down, launches=[0.0]))
    with pytest.raises(
        InputError, match="corridor 'small' has a day without a decision: no bus has a leader or a follower"
    ):
        Episodes(alone, 2, "paper", False).begin(np.arange(2), [1, 2])


def test_actions_of_a_box_as_seconds(small: Corridor) -> None:
    episodes = Episodes(small, 2, "paper", False)
    assert (episodes.least, episodes.limit, episodes.coded) == (0.0, 60.0, True)
    assert not Episodes(small, 1, "published", False).coded
    assert to_seconds([[-1.0], [0.5]], 2, episodes, True).tolist() == [0.0, 45.0]
    assert to_seconds([[-1.0], [80.0]], 2, episodes, False).tolist() == [-1.0, 80.0]
    with pytest.raises(InputError, match="action has 3 entries; expected 2"):
        to_seconds([1.0, 2.0, 3.0], 2, episodes, False)
    with pytest.raises(InputError, match=r"action is \[1\.0, 'x'\]; it must be 2 numbers"):
        to_seconds([1.0, "x"], 2, episodes, True)


def test_the_single_view_says_a_step_s_transitions_and_the_day_s_metrics_at_its_end(small: Corridor) -> None:
    env = BusCorridor(small)
    _, info = env.reset(seed=1)
    assert list(info) == ["transitions"]
    assert len(info["transitions"].reward) == 0
    ended, count = False, 0
    while not ended:
        assert list(info) == ["transitions"]
        _, reward, ended, cut, info = env.step(np.array([5.0]))
        assert isinstance(reward, float)
        assert cut is False
        count += len(info["transitions"].reward)
    assert list(info) == ["transitions", "metrics"]
    assert info["metrics"]["decisions"] == count
    with pytest.raises(InputError, match="step called before reset or after the end of a day; call reset"):
        env.step(np.array([5.0]))
    with pytest.raises(InputError, match="render called before reset"):
        BusCorridor(small, render_mode="rgb_array").render()


def test_a_first_day_without_a_seed_is_drawn_by_the_generator_that_was_seeded(small: Corridor) -> None:
    """Gymnasium's own; a seed that is given is the day's, whatever that generator says."""
    days = []
    for _ in range(2):
        env = BusCorridor(small)
        env.np_random = np.random.default_rng(3)
        env.reset()
        days.append(int(env.episodes.base[0]))
    assert days[0] == days[1] == np.random.default_rng(3).integers(2**63 - 1)
    seeded = BusCorridor(small)
    seeded.reset(seed=8)
    assert seeded.episodes.base.tolist() == [8]
    assert seeded.np_random.integers(10**9) == np.random.Generator(np.random.PCG64(np.random.SeedSequence(8))).integers(
        10**9
    )


def test_features_are_the_columns_of_a_visit() -> None:
    """At a trip's end there is no next link."""
    visit = 100.0 + np.arange(float(at.VISIT_COLUMNS))
    columns: list[Any] = [at.FORWARD, at.BACKWARD, at.NEXT_SPEED, at.LATE, at.LEADER_LATENESS, at.FOLLOWER_LATENESS]
    columns += [at.LINK_DELAY, at.ONBOARD, at.NEXT_WAITING]
    wanted = [100.0 + column for column in columns]
    assert len(NAMES) == len(SCALES) == len(FEATURES) == COUNT == 10
    for ends in (False, True):
        values = np.full(COUNT, np.nan)
        fill_features(visit, 4, ends, values)
        beyond = {"link_speed", "link_delay", "waiting_next"} if ends else set()
        assert values.tolist() == [
            0.0 if name in beyond else number for name, number in zip(NAMES, [*wanted, 4.0], strict=True)
        ]
    assert SCALES.tolist() == [feature.scale for feature in FEATURES]


def test_every_entry_of_a_log_has_room_for_two_transitions(small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code checks no index: a day that was never collected until its end."""
    days = Episodes(small, 2, "paper", False, "reward:neighbours=1")
    days.begin(np.arange(2), [1, 2])
    while days.simulator.pending.all():
        days.act(np.full(2, 10.0), np.arange(2))
    entries, rooms = int(days.simulator.state.cursor[:, at.LOGGED].sum()), list[Any]()
    monkeypatch.setattr(
        episodes_module, "completed", lambda *given: rooms.extend([given[-2].shape, given[-1].shape]) or 0
    )
    assert len(days.collect().reward) == 0
    assert entries > 40
    assert rooms == [(2 * entries, 3)] * 2


LEADS, FOLLOWS = 0, 1


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("order", [(LEADS, FOLLOWS), (FOLLOWS, LEADS)])
@pytest.mark.parametrize("ends", [(50.0, 70.0), (60.0, 60.0), (70.0, 50.0)])
def test_the_end_of_a_trip_completes_its_own_and_the_leader_s_last_transition_once(
    small: Corridor, waits: bool, order: tuple[int, int], ends: tuple[float, float]
) -> None:
    """By whichever of the two ends last, by the follower where both end at once; without sharing each by itself. A
    trip's first decision completes nothing."""
    line = lay_out(small).line
    leader = int(np.flatnonzero((line.plan[:, DIRECTION] == 0) & (line.plan[:, LEADER] < 0))[0])
    follower = int(line.plan[leader, FOLLOWER])
    trips, places, last = len(line.plan), line.schedule.shape[1], 4
    visits = np.full((2, trips, places, at.VISIT_COLUMNS), np.nan)
    for trip, end in ((leader, ends[0]), (follower, ends[1])):
        visits[1, trip, last, [at.ARRIVED, at.DWELL]] = end - 4.0, 4.0
        visits[1, trip, last, at.PRIOR], visits[1, trip, 2, at.PRIOR], visits[1, trip, 1, at.PRIOR] = 2.0, 1.0, -1.0
    # the follower's own follower has ended long ago, so that nothing waits for it
    beyond = int(line.plan[follower, FOLLOWER])
    visits[1, beyond, last, [at.ARRIVED, at.DWELL]] = 1.0, 1.0
    pair = (leader, follower)
    entries = [leader * places + 1, leader * places + 2, *(pair[one] * places + last for one in order)]
    cursor, log = np.zeros((2, at.NEXT + 2), dtype=np.int64), np.full((2, trips * places), -1)
    cursor[1, at.LOGGED], log[1, : len(entries)] = len(entries), entries
    collected = np.zeros(2, dtype=np.int64)
    before, after = np.zeros((9, 3), dtype=np.int64), np.zeros((9, 3), dtype=np.int64)
    count = completed(line, cursor, log, visits, collected, waits, before, after)
    assert collected.tolist() == [0, 4]
    found = [(*one, *other) for one, other in zip(before[:count].tolist(), after[:count].tolist(), strict=True)]
    on_the_way = (1, leader, 1, 1, leader, 2)
    own = {trip: (1, trip, 2, 1, trip, last) for trip in pair}
    if not waits:
        assert found == [on_the_way, *(own[pair[one]] for one in order)]
    elif ends[1] >= ends[0]:
        # the follower's end, whichever entry comes first
        assert found == [on_the_way, own[leader], own[follower]]
    else:
        # the leader's end completes its own, the follower's end the follower's
        assert found == [on_the_way, *(own[pair[one]] for one in order)]
    assert completed(line, cursor, log, visits, collected, waits, before, after) == 0
