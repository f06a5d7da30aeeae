"""Noise on observations, rewards and actions: a wrapper whose generator is saved with the environment.

In words, as on the command line: 'gaussian 0.1', 'uniform 0.2' (in ±0.2) or 'shift 0.5' (added each time).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import gymnasium as gym
import numpy as np

from pyresac.errors import InputError

Kind: TypeAlias = Literal["gaussian", "uniform", "shift"]
PLACES = ("observation", "reward", "action")
_NOISE = 2
"""Tells these streams from those of other users of a seed."""


@dataclass(frozen=True)
class NoiseOf:
    """A distribution of numbers that are added."""

    kind: Kind
    size: float
    """Standard deviation, half-width, or the shift itself."""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Numbers of this shape."""
        if self.kind == "gaussian":
            return self.size * generator.standard_normal(shape)
        return generator.uniform(-self.size, self.size, shape) if self.kind == "uniform" else np.full(shape, self.size)


def parse_noise(text: str, name: str) -> NoiseOf:
    """Noise from words. Raises InputError naming the option, what was given and what is allowed."""
    words = text.split()
    try:
        kind, size = words[0], float(words[1])
    except (IndexError, ValueError):
        kind, size = "", math.nan
    allowed = size > 0.0 if kind != "shift" else size != 0.0
    if len(words) != 2 or kind not in get_args(Kind) or not math.isfinite(size) or not allowed:
        raise InputError(f"{name} = {text!r}; it must be 'gaussian DEVIATION', 'uniform HALF_WIDTH' or 'shift NUMBER'")
    return NoiseOf(kind, size)  # type: ignore[arg-type]


class Noisy(gym.Wrapper[Any, Any, Any, Any]):
    """Adds noise to what an agent sees, earns and does. The environment itself stays as it is.

    Observations and actions are Boxes of floats; a noisy action is clipped to its box. `reset(seed=…)` begins the
    draws anew from that seed.
    """

    def __init__(self, env: gym.Env[Any, Any], noise: Mapping[str, NoiseOf], seed: int) -> None:
        """seed: of the draws until the first reset with a seed.

        Raises InputError for an unknown place, or a space that is no Box of floats.
        """
        super().__init__(env)
        for place in noise:
            if place not in PLACES:
                raise InputError(f"noise has no place {place!r}; it has {', '.join(PLACES)}")
            space = {"observation": env.observation_space, "action": env.action_space}.get(place)
            if space is not None and not (
                isinstance(space, gym.spaces.Box) and np.issubdtype(space.dtype, np.floating)
            ):
                raise InputError(f"noise on the {place} needs a Box of floats; the {place} space is {space}")
        self._noise = dict(noise)
        self._generator = _generator(seed)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        if seed is not None:
            self._generator = _generator(seed)
        observation, info = self.env.reset(seed=seed, options=options)
        return self._seen(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step."""
        if "action" in self._noise:
            space: Any = self.env.action_space
            noisy = action + self._noise["action"].draw(self._generator, space.shape)
            action = np.clip(noisy, space.low, space.high).astype(space.dtype)
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "reward" in self._noise:
            info = {**info, "clean_reward": float(reward)}
            reward = float(reward) + float(self._noise["reward"].draw(self._generator, ()))
        return self._seen(observation), reward, terminated, truncated, info

    def _seen(self, observation: Any) -> Any:
        if "observation" not in self._noise:
            return observation
        return (observation + self._noise["observation"].draw(self._generator, observation.shape)).astype(
            observation.dtype
        )

    def state_dict(self) -> dict[str, Any]:
        """The generator's state, as JSON."""
        return {"generator": dict(self._generator.bit_generator.state)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        self._generator.bit_generator.state = state["generator"]


def _generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([seed, _NOISE]))
