"""The Gymnasium, vector and PettingZoo views: checkers, transitions, equality with the simulator, saving and going
on."""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from pettingzoo.test import api_test
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.env_util import make_vec_env

from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    TargetHeadway,
    day_metrics,
    metrics_table,
    simulate,
    simulate_days,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.aec import BusCorridorAEC
from pyresac.envs.bus.environment import BusCorridor
from pyresac.envs.bus.episodes import Transitions
from pyresac.envs.bus.vector import VectorBusCorridor
from pyresac.errors import InputError

FORMS = ["paper", "published"]
ID = "pyresac.envs:pyresac/BusCorridor-v0"
"""Imports the package, which registers the environment."""


def hold(seconds: float) -> np.ndarray[Any, Any]:
    return np.array([seconds], dtype=np.float32)


def run_day(
    env: BusCorridor, seed: int, actions: np.random.Generator
) -> tuple[float, list[Transitions], dict[str, Any]]:
    _, info = env.reset(seed=seed)
    total, found, ended = 0.0, [info["transitions"]], False
    while not ended:
        _, reward, ended, truncated, info = env.step(hold(actions.uniform(0.0, 60.0)))
        assert not truncated
        total += reward
        found.append(info["transitions"])
    return total, found, info


@pytest.mark.parametrize("form", FORMS)
def test_checkers_are_silent(form: str) -> None:
    """With actions in [−1, 1], which both checkers recommend."""
    env = gymnasium.make(ID, observation=form, unit_actions=True).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)
        sb3_check_env(env)


def test_checkers_only_recommend_a_unit_box_for_seconds() -> None:
    env = gymnasium.make(ID).unwrapped
    assert env.action_space == gymnasium.spaces.Box(0.0, 60.0, (1,), dtype=np.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env)
        sb3_check_env(env)
    assert [str(warning.message) for warning in caught if "recommend" not in str(warning.message)] == []
    assert len(caught) == 2


def test_published_observation_has_28_numbers() -> None:
    env = BusCorridor(observation="published")
    assert env.observation_space.shape == (28,)
    first, _ = env.reset(seed=0)
    state = env.episodes.simulator.state
    bus = state.cursor[0, at.PENDING]
    trip, place = state.buses[0, bus, [at.TRIP, at.PLACE]]
    visit = state.visits[0, trip, place]
    assert list(first[:4]) == [bus, place, 0, 1]
    assert first[4:6] == pytest.approx(visit[[at.FORWARD, at.BACKWARD]])
    length = env.episodes.layout.line.length[0, place]
    assert first[6] == pytest.approx(1.5 * visit[at.NEXT_WAITING] + length / visit[at.NEXT_SPEED])
    epoch = int((visit[at.ARRIVED] + visit[at.DWELL]) // 300)
    assert first[7:] == pytest.approx(state.speeds[0, epoch, 0])


def test_an_episode_is_the_simulated_day(small: Corridor) -> None:
    env = BusCorridor(small)
    rule = TargetHeadway(slack=10.0)
    env.reset(seed=5)
    ended, total = False, 0.0
    while not ended:
        seconds = rule(env.episodes.simulator.observe())
        _, reward, ended, _, info = env.step(seconds)
        total += reward
    expected = day_metrics(simulate(small, rule, 5))
    assert info["metrics"]["reward"] == expected.reward
    assert total == pytest.approx(expected.reward, rel=1e-12, abs=0)


@pytest.mark.parametrize("form", FORMS)
def test_every_decision_gives_one_transition_of_its_own_bus(small: Corridor, form: Any) -> None:
    env = BusCorridor(small, observation=form)
    total, parts, info = run_day(env, 1, np.random.default_rng(0))
    found = Transitions(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    visits, plan = env.episodes.simulator.state.visits[0], env.episodes.layout.line.plan
    decisions = np.argwhere(np.isfinite(visits[:, :, at.ACTION]))
    assert len(found.reward) == len(decisions) == info["metrics"]["decisions"]
    assert sorted(zip(found.trip, found.place, strict=True)) == sorted(map(tuple, decisions))
    assert found.continuous.dtype == found.reward.dtype == np.float32
    assert found.categorical.dtype == np.int64
    for index, (trip, place) in enumerate(zip(found.trip, found.place, strict=True)):
        after = place + 1
        while np.isnan(visits[trip, after, at.REWARD]):
            after += 1
        assert found.action[index, 0] == np.float32(visits[trip, place, at.ACTION])
        assert found.reward[index] == np.float32(visits[trip, after, at.REWARD])
        assert found.terminal[index] == (after == env.episodes.layout.line.stops[plan[trip, 0]] - 1)
    assert found.terminal.sum() == len(np.unique(found.trip))
    # what is not terminal is the paper's sum, decision by decision
    assert found.reward[~found.terminal].sum() == pytest.approx(total, rel=1e-5, abs=0)
    if form == "paper":
        same_bus = found.categorical[:, 0] == found.next_categorical[:, 0]
        assert same_bus.all()
        assert (found.next_continuous[found.terminal, 2] == 0.0).all()
        assert (found.categorical < env.cardinalities).all()


def test_transitions_chain_along_a_trip(small: Corridor) -> None:
    _, parts, _ = run_day(BusCorridor(small), 2, np.random.default_rng(1))
    found = Transitions(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    for trip in np.unique(found.trip):
        mine = np.flatnonzero(found.trip == trip)
        assert (np.diff(found.place[mine]) > 0).all()
        assert np.array_equal(found.next_continuous[mine[:-1]], found.continuous[mine[1:]])
        assert np.array_equal(found.next_categorical[mine[:-1]], found.categorical[mine[1:]])


@pytest.mark.parametrize("form", FORMS)
def test_vector_equals_single_days_and_resets_itself(small: Corridor, form: Any) -> None:
    vector, singles = (
        VectorBusCorridor(3, small, observation=form),
        [BusCorridor(small, observation=form) for _ in range(3)],
    )
    together, _ = vector.reset(seed=7)
    apart = [env.reset(seed=7 + index)[0] for index, env in enumerate(singles)]
    rng, ended, ends = np.random.default_rng(2), np.zeros(3, dtype=bool), 0
    for _ in range(200):
        assert vector.observation_space.contains(together)
        for index, one in enumerate(apart):
            if form == "paper":
                assert all(np.array_equal(together[key][index], one[key]) for key in one)
            else:
                assert np.array_equal(together[index], one)
        actions = rng.uniform(0.0, 60.0, (3, 1)).astype(np.float32)
        together, rewards, terminated, truncated, infos = vector.step(actions)
        assert not truncated.any()
        assert ("metrics" in infos) == terminated.any()
        for index, env in enumerate(singles):
            if ended[index]:
                apart[index], expected, done = env.reset()[0], 0.0, False
            else:
                apart[index], expected, done, _, info = env.step(actions[index])
                mine = infos["transitions"].day == index
                assert np.array_equal(infos["transitions"].reward[mine], info["transitions"].reward)
            assert rewards[index] == expected
            assert terminated[index] == done
            if done:
                assert infos["metrics"]["reward"][index] == info["metrics"]["reward"]
        ended = terminated
        ends += int(terminated.sum())
    assert ends >= 3


def test_make_vec_makes_the_vector_environment() -> None:
    env = gymnasium.make_vec(ID, num_envs=2)
    assert isinstance(env.unwrapped, VectorBusCorridor)
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("count", [1, 3])
def test_going_on_from_a_saved_state(small: Corridor, count: int) -> None:
    rng = np.random.default_rng(3)
    actions = rng.uniform(0.0, 60.0, (150, count, 1)).astype(np.float32)

    def play(env: VectorBusCorridor, part: Any) -> list[Any]:
        steps = [env.step(action) for action in part]
        return [(step[0]["continuous"], step[1], step[2], *step[4]["transitions"]) for step in steps]

    first, second = VectorBusCorridor(count, small), VectorBusCorridor(count, small)
    first.reset(seed=11)
    play(first, actions[:70])
    saved = first.get_state()
    assert all(isinstance(array, np.ndarray) and array.dtype != object for array in saved.values())
    expected = play(first, actions[70:])
    second.set_state(saved)
    for one, other in zip(expected, play(second, actions[70:]), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_foreign_state_is_refused(small: Corridor) -> None:
    env, other = BusCorridor(small), BusCorridor()
    env.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(InputError, match=r"state array day\.\w+ is .* expected"):
        env.set_state(other.get_state())
    saved = env.get_state()
    del saved["pending"]
    with pytest.raises(InputError, match=r"expected .*pending"):
        env.set_state(saved)


def test_actions_outside_the_box_are_clipped(small: Corridor) -> None:
    env = BusCorridor(small)
    env.reset(seed=0)
    env.step(hold(1000.0))
    env.step(hold(-5.0))
    actions = env.episodes.simulator.state.visits[0, :, :, at.ACTION]
    assert sorted(actions[np.isfinite(actions)]) == [0.0, 60.0]


def test_unit_actions_stand_for_seconds(small: Corridor) -> None:
    env = BusCorridor(small, unit_actions=True)
    env.reset(seed=0)
    for action in (-1.0, 0.0, 1.0):
        env.step(hold(action))
    actions = env.episodes.simulator.state.visits[0, :, :, at.ACTION]
    assert sorted(actions[np.isfinite(actions)]) == [0.0, 30.0, 60.0]


@pytest.mark.parametrize("action", [np.nan, np.inf, "long", [1.0, 2.0], None])
def test_bad_actions_are_refused(small: Corridor, action: Any) -> None:
    env = BusCorridor(small)
    env.reset(seed=0)
    with pytest.raises(InputError, match="action"):
        env.step(action)


@pytest.mark.parametrize("seed", [1.5, "0", -1, True, 2**63])
def test_wrong_seeds_are_refused(small: Corridor, seed: Any) -> None:
    with pytest.raises((InputError, gymnasium.error.Error)):
        BusCorridor(small).reset(seed=seed)
    with pytest.raises(InputError, match="seed is"):
        VectorBusCorridor(1, small).reset(seed=[seed])
    with pytest.raises(InputError, match="seed is"):
        simulate(small, HeadwayEqualising(), seed)


def test_misuse_is_refused(small: Corridor) -> None:
    with pytest.raises(InputError, match="before reset"):
        BusCorridor(small).step(hold(0.0))
    with pytest.raises(InputError, match="before reset"):
        VectorBusCorridor(2, small).step(np.zeros((2, 1)))
    with pytest.raises(InputError, match="observation is 'raw'"):
        BusCorridor(small, observation="raw")
    with pytest.raises(InputError, match="days is 0"):
        VectorBusCorridor(0, small)


def test_stable_baselines_takes_the_name() -> None:
    """Its helper asks for render_mode="rgb_array"."""
    vector = make_vec_env(ID, n_envs=2)
    assert vector.reset()["continuous"].shape == (2, 3)
    model = PPO("MultiInputPolicy", ID, n_steps=8, batch_size=4, n_epochs=1, device="cpu")
    model.learn(8)


def test_rendering_is_the_day_so_far(small: Corridor) -> None:
    env = BusCorridor(small, render_mode="rgb_array")
    with pytest.raises(InputError, match="render called before reset"):
        env.render()
    env.reset(seed=1)
    first = env.render()
    assert first.shape == (432, 648, 3)
    assert first.dtype == np.uint8
    for _ in range(30):
        env.step(hold(0.0))
    later = env.render()
    assert later.shape == first.shape
    assert (later != first).mean() > 0.005
    assert (later != 255).mean() > 0.01
    vector = VectorBusCorridor(2, small, render_mode="rgb_array")
    vector.reset(seed=[1, 1])
    frames = vector.render()
    assert len(frames) == 2
    assert np.array_equal(frames[0], first)
    assert BusCorridor(small).render() is None
    for make in (BusCorridor, BusCorridorAEC):
        with pytest.raises(InputError, match="render_mode is 'human'; expected None or 'rgb_array'"):
            make(small, render_mode="human")


def test_seeds_for_some_days_only(small: Corridor) -> None:
    """None goes on with the day's own seeds; a list of None at the start draws some."""
    vector, other = VectorBusCorridor(3, small), VectorBusCorridor(3, small)
    for env in (vector, other):
        env.reset(seed=[3, 4, 5])
    first = vector.reset(seed=[3, None, 7])[0]["continuous"]
    plain = other.reset()[0]["continuous"]
    assert np.array_equal(first[1], plain[1])
    assert np.array_equal(first[0], BusCorridor(small).reset(seed=3)[0]["continuous"])
    assert np.array_equal(first[2], BusCorridor(small).reset(seed=7)[0]["continuous"])
    fresh = VectorBusCorridor(2, small)
    fresh.reset(seed=[3, None])
    assert fresh.episodes.base[0] == 3


@pytest.mark.parametrize("make", [BusCorridor, VectorBusCorridor, BusCorridorAEC])
def test_without_a_seed_a_reset_goes_on_to_the_next_day(small: Corridor, make: Any) -> None:
    """Which one it is depends on the seed that was given alone; where none ever was, the first day is any."""

    def days(env: Any, first: int | None) -> list[int]:
        found = []
        for seed in (first, None, None):
            env.reset(seed=seed)
            found.append(int(env.episodes.simulator.state.cursor[0, at.SEED]))
        return found

    found = days(make(corridor=small), 5)
    assert found[0] == 5
    assert len(set(found)) == 3
    assert days(make(corridor=small), 5) == days(BusCorridor(small), 5) == found
    assert days(make(corridor=small), 6) != found
    assert len({*days(make(corridor=small), None), *days(make(corridor=small), None)}) == 6


def test_a_reset_mask_leaves_the_others_alone(small: Corridor) -> None:
    env = VectorBusCorridor(2, small)
    env.reset(seed=1)
    for _ in range(5):
        before = env.step(np.zeros((2, 1)))[0]["continuous"]
    after = env.reset(seed=9, options={"reset_mask": np.array([False, True])})[0]["continuous"]
    assert np.array_equal(after[0], before[0])
    assert np.array_equal(after[1], BusCorridor(small).reset(seed=10)[0]["continuous"])
    for mask in ([True], np.array([False, False]), np.array([1, 0])):
        with pytest.raises(InputError, match="reset_mask is"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(InputError, match="days that have never begun"):
        VectorBusCorridor(2, small).reset(options={"reset_mask": np.array([True, False])})


def test_a_limit_of_steps_truncates(small: Corridor) -> None:
    env = gymnasium.make_vec(ID, num_envs=2, corridor=small, max_episode_steps=4)
    env.reset(seed=5)
    saved, played = None, []
    for step in range(11):
        if step == 6:
            saved = env.unwrapped.get_state()
        *_, terminated, truncated, _ = env.step(np.zeros((2, 1), dtype=np.float32))
        assert not terminated.any()
        played.append(bool(truncated[0]))
        assert truncated[0] == truncated[1]
    # the step after a truncation begins a day, and counts for none
    assert [step for step, cut in enumerate(played) if cut] == [3, 8]
    assert (env.unwrapped.episodes.episode == 2).all()
    again = VectorBusCorridor(2, small, max_episode_steps=4)
    assert saved is not None
    names = list(saved)
    again.set_state(saved)
    assert list(saved) == names, "what is given stays as it is"
    assert [bool(again.step(np.zeros((2, 1)))[3][0]) for _ in range(5)] == played[6:]
    with pytest.raises(InputError, match="the state has no array steps"):
        again.set_state(VectorBusCorridor(2, small).get_state())
    with pytest.raises(InputError, match="max_episode_steps is 0"):
        VectorBusCorridor(2, small, max_episode_steps=0)


def test_infos_are_what_gymnasium_s_wrappers_expect(small: Corridor) -> None:
    env = DictInfoToList(RecordEpisodeStatistics(gymnasium.make_vec(ID, num_envs=2, corridor=small)))
    _, infos = env.reset(seed=1)
    assert infos == [{}, {}]
    ended = False
    while not ended:
        *_, terminated, _, infos = env.step(np.zeros((2, 1), dtype=np.float32))
        ended = bool(terminated[0])
    assert infos[0]["metrics"]["decisions"] == infos[0]["episode"]["l"]
    plain = VectorBusCorridor(2, small)
    infos = plain.reset(seed=1)[1]
    assert isinstance(infos["transitions"], Transitions)
    with pytest.raises(KeyError):
        infos["nothing"]


def test_without_pettingzoo_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "pyresac.envs.bus.aec")
    with pytest.raises(ImportError, match=r"pip install 'pyresac\[multi\]'"):
        importlib.import_module("pyresac.envs.bus.aec")


def test_no_holding_allowed_is_the_uncontrolled_day(small: Corridor) -> None:
    env = BusCorridor(replace(small, holding_limit=0.0))
    _, _, info = run_day(env, 4, np.random.default_rng(0))
    assert info["metrics"]["holding"] == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_pettingzoo_api(small: Corridor, form: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for plain arrays and a render method, one warning an agent and step
        api_test(BusCorridorAEC(small, observation=form), num_cycles=20)


def test_pettingzoo_buses_earn_the_paper_s_reward(small: Corridor) -> None:
    env = BusCorridorAEC(small)
    env.reset(seed=6)
    rule, total = HeadwayEqualising(), 0.0
    for agent in env.agent_iter():
        _, reward, terminated, _, _ = env.last()
        total += reward
        env.step(None if terminated else hold(float(rule(env.episodes.simulator.observe())[0])))
        assert agent in env.possible_agents
    assert total == pytest.approx(metrics_table(simulate_days(small, rule, [6]))["reward"][0], rel=1e-6, abs=0)
