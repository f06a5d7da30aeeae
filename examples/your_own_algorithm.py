"""An algorithm of your own is its formulas: python examples/your_own_algorithm.py

SAC with a target between the minimum and the mean of the two heads. Networks, replay, temperature, target networks and
evaluation are shared; to have it on the command line, put the class into a file of `pyresac/deep/algorithms/` and one
line into `ALGORITHMS` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pyresac.deep.algorithms.algorithm import TargetInputs
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.algorithms.sac import SAC, SACOptions
from pyresac.options import Fraction
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.training.deep_trainee import DeepTrainee
from pyresac.training.run_options import RunOptions


@dataclass(frozen=True)
class BetweenOptions(SACOptions):
    """SAC's options and one more."""

    optimism: Fraction = 0.25
    """0 is the minimum of the heads, 1 their mean."""


class Between(SAC):
    """SAC whose target is (1 − o)·min_k Q̂_k + o·mean_k Q̂_k."""

    title: ClassVar[str] = "Between"
    options_type: ClassVar[type[DeepOptions]] = BetweenOptions

    def target(self, after: TargetInputs) -> Tensor:
        """r + γ(1 − d)((1 − o)·min_k Q̂_k + o·Q̄ − α·log π)."""
        value = torch.lerp(after.heads.amin(0), after.heads.mean(0), self.options.optimism)  # type: ignore[attr-defined]
        return after.backup(value - after.alpha * after.log_prob)


if __name__ == "__main__":
    options = BetweenOptions(
        hidden=(32, 32), actor_hidden=(32, 32), random_steps=500, learning_starts=500, buffer_size=10_000
    )
    task = BoxTask("Pendulum-v1", {}, copies=1, seed=0)
    trainee = DeepTrainee(task, Between(options), RunOptions(eval_episodes=3), torch.device("cpu"))
    for _ in range(3):
        trainee.advance(500)
        print(f"step {trainee.step:5}: return {trainee.measure()['eval_return']:,.0f}")
