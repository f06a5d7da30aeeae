"""Noise on a task: each coordinate, place, step, episode and copy has its own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from independence import assert_apart_along_every_axis

from pyresac.tasks.noisy import PLACES, Noisy, parse_noise

STEPS, EPISODES = 3, 60


class Still(gym.Env[Any, Any]):
    """Sees zeros, earns 0, and keeps what was done."""

    observation_space = gym.spaces.Box(-100.0, 100.0, (3,), np.float64)
    action_space = gym.spaces.Box(-100.0, 100.0, (2,), np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(3), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(3), 0.0, False, False, {"done": action}


def played(env: Noisy, seed: int | None) -> np.ndarray:
    """(STEPS, 6) of an episode: observation, reward, action."""
    env.reset(seed=seed)
    rows = []
    for _ in range(STEPS):
        observation, reward, _, _, info = env.step(np.zeros(2))
        rows.append([*observation, reward, *info["done"]])
    return np.array(rows)


@pytest.mark.parametrize("kind", ["gaussian 1", "uniform 1"])
@pytest.mark.parametrize("seeded", [True, False])
def test_noise_is_apart_along_every_axis(kind: str, seeded: bool) -> None:
    """Episodes, each from a seed of its own or from the one before; steps; what is seen, earned and done."""
    env = Noisy(Still(), {place: parse_noise(kind, place) for place in PLACES}, 0)
    assert_apart_along_every_axis(np.array([played(env, seed if seeded else None) for seed in range(EPISODES)]))


def test_the_noise_of_a_seed_is_not_the_environments_own() -> None:
    env = Noisy(Still(), {"observation": parse_noise("gaussian 1", "observation")}, 0)
    found = []
    for seed in range(200):
        seen, _ = env.reset(seed=seed)
        found.append([*seen, *env.unwrapped.np_random.standard_normal(3)])
    assert_apart_along_every_axis(np.array(found))
