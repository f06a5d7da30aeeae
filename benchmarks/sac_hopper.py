"""Train Stable-Baselines3's SAC on Hopper-v5 for the results page: the peer of results/hopper.

    pip install -e '.[bench]' && python benchmarks/sac_hopper.py --seed 0 --out results/hopper/sb3-sac-seed0/metrics.csv

Its defaults, but for the first update after 1,000 steps, as ours has it; deterministic policy, evaluated every 5,000
steps on five episodes that begin where those of `python -m pyresac.train` do.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TextIO

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback

ENVIRONMENT, EVERY, EPISODES = "Hopper-v5", 5000, 5


class Evaluation(BaseCallback):
    """Writes step and mean return."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._env = gym.make(ENVIRONMENT)
        # the first words of the streams that `pyresac.tasks.gymnasium_task` seeds its evaluation episodes with
        self._seeds = [int(np.random.SeedSequence([0, 1, i]).generate_state(1)[0]) for i in range(EPISODES)]
        self._out, self._writer = out, csv.writer(out)
        self._writer.writerow(["step", "eval_return"])

    def _on_step(self) -> bool:
        if self.num_timesteps % EVERY == 0:
            self._writer.writerow([self.num_timesteps, float(np.mean([self._episode(seed) for seed in self._seeds]))])
            self._out.flush()
        return True

    def _episode(self, seed: int) -> float:
        observation, _ = self._env.reset(seed=seed)
        earned, over = 0.0, False
        while not over:
            action, _ = self.model.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = self._env.step(action)
            earned, over = earned + float(reward), terminated or truncated
        return earned


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--out", type=Path, required=True, help="where the evaluations go (CSV)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", newline="", encoding="utf-8") as out:
        model = SAC("MlpPolicy", gym.make(ENVIRONMENT), seed=options.seed, learning_starts=1000)
        model.learn(options.steps, callback=Evaluation(out))


if __name__ == "__main__":
    main()
