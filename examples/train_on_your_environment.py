"""Train on a Gymnasium environment of your own: python examples/train_on_your_environment.py [--steps 20000]

Any environment with a Box action will do, once it has an id. Options are those of `python -m pyresac.train`; the run
folder can be resumed and evaluated like every other.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium as gym
import numpy as np

from pyresac.train import main


class Thermostat(gym.Env[Any, Any]):
    """Heat a room to 20 degrees while the wind changes; heating costs."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gym.spaces.Box(0.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A cold room."""
        super().reset(seed=seed)
        self.warmth, self.wind = float(self.np_random.uniform(5.0, 15.0)), 0.5
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Ten minutes."""
        self.wind = float(np.clip(self.wind + self.np_random.normal(0.0, 0.1), 0.0, 1.0))
        heat = float(action[0])
        self.warmth += 3.0 * heat - 0.1 * self.wind * self.warmth
        return self._seen(), -abs(self.warmth - 20.0) / 10.0 - 0.1 * heat, False, False, {}

    def _seen(self) -> Any:
        return np.array([self.warmth / 20.0, self.wind], dtype=np.float32)


gym.register("Thermostat-v0", entry_point=Thermostat, max_episode_steps=100)

SHORT = ["--steps", "3000", "--random-steps", "500", "--learning-starts", "500", "--eval-every", "1500"]
SMALL = ["--checkpoint-every", "1500", "--hidden", "32", "32", "--actor-hidden", "32", "32", "--final-episodes", "5"]

if __name__ == "__main__":
    sys.exit(main(["--env", "Thermostat-v0", "--algorithm", "sac", *SHORT, *SMALL, *sys.argv[1:]]))
