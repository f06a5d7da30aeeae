"""What a state of an environment holds, and which part of it an evaluation begins with."""

from __future__ import annotations

import json
import random
import sys
from enum import Enum
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import wrapped_tasks

from pyresac.errors import CheckpointError
from pyresac.tasks import mujoco_state
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.tasks.snapshots import environment_state, prepare_player, restore_environment


class Colour(Enum):
    RED = 1


class Statistic:
    """A number and a generator, as an object keeps them."""

    def __init__(self) -> None:
        self.mean, self.source = 0.5, np.random.default_rng(1)


class Keeping(gym.Env[Any, Any]):
    """One attribute of every kind."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(2)
        self.number, self.names = 0.5, ["a", ("b", 2)]
        self.statistic, self.empty = Statistic(), SimpleNamespace()
        self.sources = {"wind": random.Random(0), "none": None}
        self.pair: Any = (np.random.RandomState(0), "a")
        self.table, self.objects = {1: 2}, [Statistic()]
        # of these nothing is part of a state
        self.colour, self.kind, self.module, self.function, self.method = Colour.RED, Colour, sys, len, self.close
        self.local, self.other, self.spec_ = (lambda: 0), gym.make("Pendulum-v1"), gym.spec("Pendulum-v1")
        self.itself = self


def test_a_state_holds_values_generators_and_objects_and_nothing_else() -> None:
    env = Keeping()
    state = environment_state(env)
    ((name, attributes),) = ((layer["name"], layer["attributes"]) for layer in state["layers"])
    assert (name, set(attributes)) == ("Keeping", {"number", "names", "statistic", "sources", "pair"})
    assert attributes["number"] == 0.5
    assert attributes["statistic"]["object"].keys() == {"mean", "source"}
    assert attributes["sources"]["generators"].keys() == {"wind"}
    assert attributes["pair"]["generators"].keys() == {"0"}
    saved = json.loads(json.dumps(state))
    draws = [env.statistic.source.random(), env.sources["wind"].random(), env.pair[0].random()]  # type: ignore[union-attr]
    env.number, env.names, env.statistic.mean = 2.0, [], 7.0
    objects = (env.statistic, env.sources["wind"], env.pair[0])
    restore_environment(env, saved)
    assert (env.number, env.names, env.statistic.mean) == (0.5, ["a", ("b", 2)], 0.5)
    again = [env.statistic.source.random(), env.sources["wind"].random(), env.pair[0].random()]  # type: ignore[union-attr]
    assert again == draws
    assert objects == (env.statistic, env.sources["wind"], env.pair[0])


def idle(dense: Any, codes: Any) -> Any:
    return np.zeros((len(dense), 1), dtype=np.float32)


@pytest.mark.parametrize("name", ["Noisy", "Sticky", "Speaking", "Stacked"])
def test_what_a_wrapper_kept_in_training_is_not_in_an_evaluation(name: str) -> None:
    """Generators, sums and last actions are those that it was made with: only running statistics are training's."""
    task = BoxTask(f"wrapped_tasks/{name}-v0", {}, 1, 0)
    before = task.play(idle, 2, 0, 0.5)
    for _ in range(20):
        task.step(np.full((1, 1), 0.7, dtype=np.float32))
    after = task.play(idle, 2, 0, 0.5)
    assert (after.dense.tobytes(), after.returns.tobytes()) == (before.dense.tobytes(), before.returns.tobytes())


def test_statistics_of_training_are_a_players_and_stand_still() -> None:
    trained, player = (wrapped_tasks.WRAPPERS["NormalReward"](gym.make("Pendulum-v1")) for _ in range(2))
    for env in (trained, player):
        env.reset(seed=0)
    made = environment_state(player)
    for env in (trained, *[player] * 3):
        env.step(np.array([0.5], dtype=np.float32))
    trained_state = environment_state(trained)["layers"][0]
    prepare_player(player, made, trained)
    mine, *others = environment_state(player)["layers"]
    assert others == made["layers"][1:]
    assert mine["attributes"].pop("_update_running_mean") is False
    assert trained_state["attributes"].pop("_update_running_mean") is True
    assert mine == trained_state


def test_physics_are_there_with_both_model_and_data_of_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    class Data:
        """Stands for MuJoCo's."""

    monkeypatch.setitem(sys.modules, "mujoco", SimpleNamespace(MjData=Data))
    assert mujoco_state.present(SimpleNamespace(model=1, data=Data()))
    for lacking in ({"model": 1}, {"data": Data()}, {"model": 1, "data": 2}, {}):
        assert not mujoco_state.present(SimpleNamespace(**lacking))
    monkeypatch.delitem(sys.modules, "mujoco")
    assert not mujoco_state.present(SimpleNamespace(model=1, data=Data()))


def test_the_counters_of_a_physics_state_are_of_what_is_awake() -> None:
    pytest.importorskip("mujoco")
    hopper = BoxTask("Hopper-v5", {}, 1, 0)
    inner: Any = hopper._envs[0].unwrapped
    state = mujoco_state.save(inner)
    assert all(name.startswith("n") and name.endswith("_awake") for name in state["counters"])
    assert {"qpos", "qvel", "xpos", "cfrc_ext"} < set(state["arrays"])
    spoilt = json.loads(json.dumps(state))
    spoilt["integration"]["array"]["shape"] = [1, *spoilt["integration"]["array"]["shape"]]
    with pytest.raises(CheckpointError, match="the saved MuJoCo state has"):
        mujoco_state.restore(inner, spoilt)
