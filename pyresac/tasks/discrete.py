"""Gymnasium environments with Discrete observations and actions: made, checked, and played greedily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from pyresac.errors import InputError
from pyresac.options import Checked, Count
from pyresac.tasks.environments import keywords_in, make_environment
from pyresac.tasks.restorable import require_restorable

DiscreteEnv = gym.Env[Any, Any]


@dataclass(frozen=True)
class EnvOptions(Checked):
    """The problem."""

    env: str = "FrozenLake-v1"
    """Gymnasium id of an environment with Discrete observations and actions."""
    env_options: str = "{}"
    """JSON object of keyword arguments for it, such as {"is_slippery": false}."""
    eval_step_limit: Count = 500
    """Steps after which an evaluation episode is cut; an earlier time limit of the environment holds."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        self.keywords()

    def keywords(self) -> dict[str, Any]:
        """`env_options` as a dictionary."""
        return keywords_in(self.env_options)


def make_discrete(options: EnvOptions) -> DiscreteEnv:
    """Make the environment. Raises InputError for an unknown id, bad options or spaces that are not Discrete from 0."""
    env = make_environment(options.env, options.keywords())
    for role, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, gym.spaces.Discrete) or space.start != 0:
            raise InputError(
                f"environment {options.env!r} has the {role} space {space}; the tabular agent needs Discrete(n) from 0"
            )
    return env


def make_resumable(options: EnvOptions) -> DiscreteEnv:
    """Make the environment and check that its state can be saved and restored. Raises InputError if it cannot."""
    env = make_discrete(options)
    require_restorable(env, make_discrete(options), f"environment {options.env!r}")
    return env


@dataclass(frozen=True)
class PlayedEpisodes:
    """Returns of evaluation episodes, and how they ended."""

    returns: NDArray[np.float64]
    """(n,) undiscounted sums of rewards."""
    discounted: NDArray[np.float64]
    """(n,) discounted sums."""
    lengths: NDArray[np.float64]
    """(n,) steps."""
    cut: int
    """How many ended by a time limit."""


def play(
    env: DiscreteEnv, policy: NDArray[np.int64], episodes: int, seed: int, discount: float, step_limit: int
) -> PlayedEpisodes:
    """Play a deterministic policy (S,) from fresh starts; equal seeds give equal episodes."""
    returns, discounted, lengths = np.zeros(episodes), np.zeros(episodes), np.zeros(episodes)
    cut = 0
    actions = policy.tolist()
    for i in range(episodes):
        state, _ = env.reset(seed=seed if i == 0 else None)
        weight, steps, terminated, truncated = 1.0, 0, False, False
        while not (terminated or truncated or steps == step_limit):
            state, reward, terminated, truncated, _ = env.step(actions[state])
            returns[i] += float(reward)
            discounted[i] += weight * float(reward)
            weight *= discount
            steps += 1
        lengths[i] = steps
        cut += not terminated
    return PlayedEpisodes(returns, discounted, lengths, cut)
