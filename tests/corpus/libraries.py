"""At the edge of other libraries: Gymnasium, Stable-Baselines3, PettingZoo, and environments of anybody."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import gymnasium as gym
import numpy as np
from gymnasium.wrappers.vector import DictInfoToList

from corpus.case import Case
from pyresac.errors import InputError

ID = "pyresac/BusCorridor-v0"
STEPS = "--steps 200 --num-envs 1 --eval-every 200 --eval-episodes 1 --final-episodes 2 --no-tensorboard"
SIZES = "--hidden 8 8 --actor-hidden 8 --batch-size 8 --buffer-size 100 --learning-starts 50"


def odd(name: str) -> str:
    """A short run on an odd environment."""
    return f"train --algorithm sac {STEPS} {SIZES} --run-dir run --env odd_tasks:odd_tasks/{name}-v0"


def days(count: int = 2, **options: Any) -> Any:
    """The corridor's vector environment."""
    importlib.import_module("pyresac.envs")
    return gym.make_vec(ID, num_envs=count, **options)


def ppo() -> object:
    """The three lines that a user of Stable-Baselines3 writes first."""
    from stable_baselines3 import PPO

    importlib.import_module("pyresac.envs")
    return PPO("MultiInputPolicy", ID, n_steps=8, batch_size=4, n_epochs=1).learn(8).num_timesteps


def side_by_side() -> object:
    """Its environments, and the picture of them."""
    from stable_baselines3.common.env_util import make_vec_env

    importlib.import_module("pyresac.envs")
    env = make_vec_env(ID, n_envs=2)
    env.reset()
    env.step(np.zeros((2, 1)))
    picture = env.render(mode="rgb_array")
    return "a picture" if picture is not None and picture.ndim == 3 else "nothing"


def seeds(seed: Any) -> Callable[[], object]:
    """A reset from seeds: it is said whether the first day is that of `seed = 3`."""

    def call() -> object:
        env, same = days(), days()
        env.reset(seed=seed)
        same.reset(seed=3)
        found = [one.episodes.get_state()["day.passengers"][0] for one in (env, same)]
        return "the day of 3" if np.array_equal(*found, equal_nan=True) else "another day"

    return call


def cut() -> object:
    """Which days a limit of three decisions has ended after each of four steps."""
    env = days(max_episode_steps=3)
    env.reset(seed=3)
    return [env.step(np.zeros((2, 1)))[3].tolist() for _ in range(4)]


def masked() -> object:
    """Steps that each day has made after a reset of the second one alone."""
    env = days()
    env.reset(seed=3)
    env.step(np.zeros((2, 1)))
    before = env.episodes.get_state()["day.clock"].copy()
    env.reset(seed=[None, 4], options={"reset_mask": np.array([False, True])})
    after = env.episodes.get_state()["day.clock"]
    return [bool(np.array_equal(*pair)) for pair in zip(before, after, strict=True)]


def listed() -> object:
    """Infos as a list, a dictionary a day."""
    env = DictInfoToList(days())
    env.reset(seed=3)
    return env.step(np.zeros((2, 1)))[-1]


def without_pettingzoo() -> object:
    """The import where the extra is absent."""
    with mock.patch.dict(sys.modules, {"pettingzoo": None}):
        sys.modules.pop("pyresac.envs.bus.aec", None)
        return importlib.import_module("pyresac.envs.bus.aec")


def aec(then: Callable[[Any], object]) -> Callable[[], object]:
    """A call of a PettingZoo environment that was not reset."""

    def call() -> object:
        from pyresac.envs.bus.aec import BusCorridorAEC

        return then(BusCorridorAEC(render_mode="rgb_array"))

    return call


PLAYED = [(name, "200 steps in") for name in ("Drawn", "Twister", "Old", "Several")]
REFUSED = [
    ("System", "odd_tasks/System-v0' cannot be saved and resumed"),
    ("Unmade", "odd_tasks/Unmade-v0': ZeroDivisionError: one by zero"),
    ("Unstarted", "odd_tasks/Unstarted-v0' cannot be played: RuntimeError: no road"),
    ("Unmoved", "odd_tasks/Unmoved-v0' cannot be played: RuntimeError: no fuel"),
    ("OldStep", "odd_tasks/OldStep-v0' cannot be played: ValueError: not enough values to unpack"),
    ("Wider", "observed 3 numbers where its space has 2"),
    ("Unpaid", "gave the reward None; it must be a number"),
]

CASES = [
    Case("PPO of Stable-Baselines3", ppo, "8", needs=("stable_baselines3",)),
    Case("make_vec_env and its picture", side_by_side, "a picture", needs=("stable_baselines3",)),
    Case("a render mode", lambda: gym.make(ID, render_mode="ansi"), "expected None or 'rgb_array'", raises=InputError),
    Case("seeds 3 and None", seeds([3, None]), "the day of 3"),
    Case("seeds in an array", seeds(np.array([3, 4])), "the day of 3"),
    Case("three seeds for two days", seeds([3, None, 4]), "or 2 integers or Nones", raises=InputError),
    Case("a negative seed", seeds([-3, 1]), "seed is -3 (int)", raises=InputError),
    Case("max_episode_steps", cut, "[[False, False], [False, False], [True, True], [False, False]]"),
    *(Case(f"max_episode_steps={limit!r}", lambda limit=limit: days(max_episode_steps=limit),
           f"max_episode_steps is {limit!r}; it must be an integer of at least 1", raises=InputError)
      for limit in (0, -5, "5", 2.5, True)),
    Case("10⁸ days", lambda: days(10**8), "more than this machine's memory", raises=InputError),
    Case("reset_mask", masked, "[True, False]"),
    Case("a reset_mask of numbers", lambda: days().reset(options={"reset_mask": [1, 0]}), "expected 2 booleans",
         raises=InputError),
    Case("DictInfoToList", listed, "[{}, {}]"),
    Case("no pettingzoo", without_pettingzoo, "pip install 'pyresac[multi]'", raises=ImportError),
    Case("a step before the reset", aec(lambda env: env.step(np.zeros(1))), "call reset", raises=InputError,
         needs=("pettingzoo",)),
    Case("a picture before the reset", aec(lambda env: env.render()), "call reset", raises=InputError,
         needs=("pettingzoo",)),
    *(Case(f"odd task {name}", odd(name), says, 0) for name, says in PLAYED),
    *(Case(f"odd task {name}", odd(name), says) for name, says in REFUSED),
]  # fmt: skip
