"""The PettingZoo view, field by field: what each bus sees and earns, when, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, HeadwayEqualising, aec
from pyresac.envs.bus.aec import BusCorridorAEC
from pyresac.envs.bus.environment import BusCorridor
from pyresac.errors import InputError


def nothing_seen(env: BusCorridorAEC, agent: str) -> bool:
    """Whether a bus has seen the lowest values of its space and no category."""
    seen, space = env.observe(agent), env.observation_space(agent)
    if isinstance(seen, dict):
        lowest: Any = space["continuous"].low  # type: ignore[index]
        return bool((seen["continuous"] == lowest).all() and seen["categorical"].tolist() == [0, 0, 0, 0])
    return bool((seen == space.low).all())  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", ["paper", "published"])
def test_a_day_of_agents_is_the_day_of_the_single_view(small: Corridor, form: Any) -> None:
    """The selected bus has its own observation and what its decision completes; the others have what they had."""
    env, single = BusCorridorAEC(small, form), BusCorridor(small, form)
    assert len(env.possible_agents) == env.episodes.layout.fleet_limit > 2
    assert env.possible_agents[:2] == ["bus_0", "bus_1"]
    assert env.metadata["name"] == "pyresac_bus_corridor_v0"
    env.reset(seed=4)
    expected, _ = single.reset(seed=4)
    reward, ended, acted = 0.0, False, set[str]()
    earned: dict[str, float] = dict.fromkeys(env.possible_agents, 0.0)
    while not ended:
        agent = env.agent_selection
        assert env.agents == env.possible_agents
        seen = env.observe(agent)
        acted.add(agent)
        if form == "paper":
            assert all(np.array_equal(seen[key], expected[key]) for key in ("continuous", "categorical"))
            assert agent == f"bus_{seen['categorical'][0]}"
        else:
            assert np.array_equal(seen, expected)
        for other in env.possible_agents:
            assert other in acted or nothing_seen(env, other)
            assert env.rewards[other] == (reward if other == agent else 0.0)
        earned[agent] += reward
        assert env.last()[1] == pytest.approx(earned[agent])
        assert env.last()[2:] == (False, False, {})
        # an agent's sum begins anew with its own step
        earned[agent] = 0.0
        action = np.array([15.0], dtype=np.float32)
        expected, reward, ended, _, _ = single.step(action)
        env.step(action)
        reward = float(reward)
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert set(env.rewards.values()) == {0.0}
    assert 1 < len(acted) <= len(env.possible_agents)
    assert single.episodes.simulator.record().end == env.episodes.simulator.record().end
    count, selected = len(env.agents), env.agent_selection
    with pytest.raises(ValueError, match="agent is dead"):
        env.step(np.array([0.0], dtype=np.float32))
    env.step(None)
    assert len(env.agents) == count - 1
    assert selected not in env.agents
    env.reset()
    assert env.agents == env.possible_agents
    assert set(env.terminations.values()) == {False}


def test_what_was_seen_stays_what_it_was(small: Corridor) -> None:
    """A space's lowest values are not handed out to be changed."""
    env = BusCorridorAEC(small)
    env.reset(seed=0)
    other = next(agent for agent in env.possible_agents if agent != env.agent_selection)
    env.observe(other)["continuous"][:] = 7.0
    assert nothing_seen(env, env.possible_agents[-1])
    assert env.observation_space(other) == env.observation_space(env.agent_selection)
    assert (env.action_space(other).low, env.action_space(other).high) == (0.0, 60.0)


def test_units_stand_for_seconds_and_rewards_for_the_objective(small: Corridor) -> None:
    env = BusCorridorAEC(small, unit_actions=True, objective="passengers")
    single = BusCorridor(small, unit_actions=True, objective="passengers")
    assert (env.action_space("bus_0").low, env.action_space("bus_0").high) == (-1.0, 1.0)
    env.reset(seed=2)
    single.reset(seed=2)
    for unit in (0.5, -1.0, 1.0, 0.25):
        action = np.array([unit], dtype=np.float32)
        env.step(action)
        assert env.rewards[env.agent_selection] == single.step(action)[1] < 0.0


def test_calls_before_a_reset_and_pictures(small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aec, "time_space_pixels", lambda record: ("a picture of", record.seed, record.end))
    action = np.array([0.0], dtype=np.float32)
    env = BusCorridorAEC(small, render_mode="rgb_array")
    for call, name in ((env.render, "render"), (lambda: env.step(action), "step")):
        with pytest.raises(InputError, match=f"{name} called before reset; call reset"):
            call()
    env.reset(seed=1)
    assert env.render() == ("a picture of", 1, env.episodes.simulator.record().end)
    blind = BusCorridorAEC(small)
    assert blind.render() is None
    blind.close()


def test_a_given_seed_is_the_day_s_and_no_seed_is_some_day(small: Corridor) -> None:
    """Also after a day of a seed: then it is the next of that seed's."""
    env, other = BusCorridorAEC(small), BusCorridorAEC(small)
    for one in (env, other):
        one.reset(seed=9)
    assert env.episodes.base.tolist() == [9]
    for one in (env, other):
        one.reset()
    assert env.episodes.base.tolist() == [9]
    assert env.episodes.episode.tolist() == [1]
    rule = HeadwayEqualising()
    assert rule(env.episodes.simulator.observe()) == rule(other.episodes.simulator.observe())
