"""Train Stable-Baselines3's SAC or TD3 on a MuJoCo task for the results page: the peers of results/*-100k.

    pip install -e '.[bench]'
    python benchmarks/peers_learn.py --env Hopper-v5 --seed 0 --out results/hopper-100k/sb3-sac-seed0/metrics.csv

Its defaults, but for the steps before the first update, which ours has too; deterministic policy, evaluated every 5,000
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
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback

EVERY, EPISODES = 5000, 5
PEERS = {"sac": SAC, "td3": TD3}


class Evaluation(BaseCallback):
    """Writes step and mean return."""

    def __init__(self, env: str, out: TextIO) -> None:
        super().__init__()
        self._env = gym.make(env)
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
    parser.add_argument("--algorithm", choices=PEERS, default="sac")
    parser.add_argument("--env", default="Hopper-v5")
    parser.add_argument("--learning-starts", type=int, default=10_000, help="steps before the first update")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--out", type=Path, required=True, help="where the evaluations go (CSV)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", newline="", encoding="utf-8") as out:
        model = PEERS[options.algorithm](
            "MlpPolicy", gym.make(options.env), seed=options.seed, learning_starts=options.learning_starts
        )
        model.learn(options.steps, callback=Evaluation(options.env, out))


if __name__ == "__main__":
    main()
