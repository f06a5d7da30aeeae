"""Environments that something is odd about, each registered as odd_tasks/<name>-v0: `--env odd_tasks:<id>`."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import numpy as np


class Drawn(gym.Env[Any, Any]):
    """Observations and rewards are drawn by a generator of its own."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self) -> None:
        self.source: Any = self.made()
        self.time = 0

    def made(self) -> Any:
        """The generator, or what holds it."""
        return np.random.Generator(np.random.PCG64(3))

    def drawn(self) -> float:
        """A number."""
        return float(self.source.normal())

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.time = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.time += 1
        observation = np.full(2, np.tanh(self.drawn()), np.float32)
        return observation, self.drawn(), False, self.time >= 20, {}


class Twister(Drawn):
    def made(self) -> Any:
        return np.random.Generator(np.random.MT19937(3))


class Old(Drawn):
    def made(self) -> Any:
        return np.random.RandomState(4)


class Several(Drawn):
    """Generators in a list and in a dictionary."""

    def made(self) -> Any:
        return [np.random.RandomState(4), {"other": random.Random(5)}, np.random.Generator(np.random.Philox(3))]

    def drawn(self) -> float:
        return float(self.source[0].normal() + self.source[2].normal())


class System(Drawn):
    """Random numbers of the system, which have no state."""

    def made(self) -> Any:
        return random.SystemRandom()

    def drawn(self) -> float:
        return self.source.random()


class Unmade(Drawn):
    """Its constructor raises."""

    def made(self) -> Any:
        raise ZeroDivisionError("one by zero")


class Unstarted(Drawn):
    """Its reset raises."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        raise RuntimeError("no road")


class Unmoved(Drawn):
    """Its step raises."""

    def step(self, action: Any) -> Any:
        raise RuntimeError("no fuel")


class OldStep(Drawn):
    """Steps of four parts, as before Gymnasium."""

    def step(self, action: Any) -> Any:
        return np.zeros(2, np.float32), 0.0, False, {}


class Wider(Drawn):
    """Observes more than its space has."""

    def step(self, action: Any) -> Any:
        return np.zeros(3, np.float32), 0.0, False, False, {}


class Unpaid(Drawn):
    """A reward that is no number."""

    def step(self, action: Any) -> Any:
        return np.zeros(2, np.float32), None, False, False, {}


for kind in (Drawn, Twister, Old, Several, System, Unmade, Unstarted, Unmoved, OldStep, Wider, Unpaid):
    gym.register(f"odd_tasks/{kind.__name__}-v0", entry_point=kind, disable_env_checker=True)
