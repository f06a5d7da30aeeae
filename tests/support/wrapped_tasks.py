"""Pendulum in wrappers that keep a state, each registered as wrapped_tasks/<name>-v0: `--env wrapped_tasks:<id>`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import wrappers

Env = gym.Env[Any, Any]


class Speaking(gym.Wrapper[Any, Any, Any, Any]):
    """Adds the mean of the last rewards, which are kept where no snapshot looks; it speaks for itself."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.kept = {0: deque([0.0], 3)}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.kept[0].append(float(reward))
        return observation, float(reward) + sum(self.kept[0]) / 3.0, terminated, truncated, info

    def state_dict(self) -> dict[str, Any]:
        return {"kept": list(self.kept[0])}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.kept[0] = deque(state["kept"], 3)


class Silent(Speaking):
    """The same without a word."""

    state_dict = None  # type: ignore[assignment]
    load_state_dict = None  # type: ignore[assignment]


class Mumbling(Speaking):
    """Its state is nothing that can be saved."""

    def state_dict(self) -> dict[str, Any]:
        return {"kept": {1: 2}}


class Noisy(gym.ObservationWrapper[Any, Any, Any]):
    """Noise from generators of its own, of every kind, and a statistic that an object keeps."""

    class Statistic:
        def __init__(self) -> None:
            self.total, self.history = np.zeros(3), deque(maxlen=4)

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        kinds = (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64)
        self.first, self.second, self.third, self.fourth = (np.random.Generator(kind(5)) for kind in kinds)
        self.old = np.random.RandomState(7)
        self.statistic = self.Statistic()

    def observation(self, observation: Any) -> Any:
        self.statistic.total = self.statistic.total + observation
        self.statistic.history.append(observation)
        sources = (self.first, self.second, self.third, self.fourth)
        noise = sum(0.01 * source.normal() for source in sources) + 0.01 * self.old.normal()
        return (observation + noise + 1e-3 * self.statistic.total + np.mean(self.statistic.history)).astype(np.float32)


def everything(env: Env) -> Env:
    for wrap in WRAPPERS.values():
        env = wrap(env)
    return env


WRAPPERS: dict[str, Callable[[Env], Env]] = {
    "Sticky": lambda env: wrappers.StickyAction(env, 0.5, (1, 4)),
    "Rescaled": lambda env: wrappers.RescaleAction(env, np.float32(-0.5), np.float32(0.5)),
    "Speaking": Speaking,
    "NormalReward": wrappers.NormalizeReward,
    "NormalObservation": wrappers.NormalizeObservation,
    "Noisy": Noisy,
    "Recorded": wrappers.RecordEpisodeStatistics,
    "Delayed": lambda env: wrappers.DelayObservation(env, 3),
    "Timed": wrappers.TimeAwareObservation,
    "Stacked": lambda env: wrappers.FrameStackObservation(env, 3),
}
"""All of them can be saved; the order is one in which all fit together."""
REFUSED = {"Silent": Silent, "Mumbling": Mumbling}


def register() -> None:
    """Make the ids known."""
    kinds = {**WRAPPERS, "Everything": everything, **REFUSED}
    for name, wrap in kinds.items():
        gym.register(f"wrapped_tasks/{name}-v0", entry_point=lambda wrap=wrap: wrap(gym.make("Pendulum-v1")))
    gym.register(
        "wrapped_tasks/Lake-v0",
        entry_point=lambda: wrappers.NormalizeReward(wrappers.StickyAction(gym.make("FrozenLake-v1"), 0.3)),
    )


register()
