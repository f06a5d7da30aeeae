"""Small learners, batches of random numbers, and a corridor and options for short runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pyresac.deep.algorithms.resac_options import AlgorithmOptions
from pyresac.deep.deep_learner import Learner
from pyresac.deep.networks.modules import Features, state_pass
from torch import Tensor

from pyresac.deep.replay import Batch
from pyresac.envs.bus import Corridor, Direction, Vehicle
from pyresac.envs.bus.files import save_corridor

ACTIONS, DENSE, CATEGORIES, SIZE = 2, 3, (4, 6), 16
SMALL: Mapping[str, Any] = {"ensemble_size": 3, "hidden": (8, 6), "actor_hidden": (7,), "batch_size": SIZE}

REGULARISED: Mapping[str, Any] = {
    "lambda_epi": 0.5,
    "lambda_ale": 0.1,
    "beta_ood": 0.5,
    "beta_lcb": -1.0,
    "anchor_weight": 0.1,
    "independence": 0.5,
    "actor_every": 1,
}
"""Every term of the losses is there."""


ROUNDING: dict[str, float] = {"rtol": 1e-12, "atol": 1e-12}
"""Well above the rounding of a few dozen float64 operations on numbers of size 1, well below any wrong term."""


def numbers(*shape: int, seed: int) -> Tensor:
    """Standard normal, float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def small_learner(seed: int = 0, **options: Any) -> Learner:
    """Networks of a few units."""
    return Learner(
        AlgorithmOptions(**{**SMALL, **options}),
        actions=ACTIONS,
        dense=DENSE,
        categories=CATEGORIES,
        log_volume=0.3,
        seed=seed,
        device=torch.device("cpu"),
    )


def random_batch(seed: int = 0, size: int = SIZE) -> Batch:
    """Every fourth transition ends in a terminal state."""
    source = torch.Generator().manual_seed(seed)

    def features() -> Features:
        codes = torch.stack(
            [torch.randint(4, (size,), generator=source), 4 + torch.randint(6, (size,), generator=source)]
        )
        return Features(torch.randn(size, DENSE, generator=source), codes.t().contiguous())

    return Batch(
        action=2.0 * torch.rand(size, ACTIONS, generator=source) - 1.0,
        state=features(),
        reward=torch.randn(size, generator=source),
        terminal=(torch.arange(size) % 4 == 0).float(),
        next_state=features(),
    )


def bootstrap_target(learner: Learner, batch: Batch, alpha: float) -> tuple[Tensor, Tensor]:
    """y (K, B) and log π(a′|s′) (B,) at actions that are drawn now, as an update has them."""
    drawn = learner._draw(state_pass(learner.actor.matrix, learner.actor.layout, batch.next_state).output[0])
    return learner._target(batch, batch.reward, drawn.unit, drawn.log_prob, alpha), drawn.log_prob


def save_tiny_corridor(path: Path) -> None:
    """Four stops and four trips a direction: a day of a few dozen decisions."""
    stops = ("a", "b", "c", "d")
    ways = [
        Direction(names, np.full(3, 400.0), np.full((3, 1), 8.0), 200.0 * np.arange(1, 5))
        for names in (stops, stops[::-1])
    ]
    demand = 40.0 * (1.0 - np.eye(4))[None]
    vehicle = Vehicle(capacity=10)
    save_corridor(
        Corridor("tiny", stops, *ways, demand, headway=200.0, holding_limit=60.0, vehicle=vehicle, speed_deviation=1.5),
        path,
    )


TINY = [
    *("--hidden", "8", "--actor-hidden", "8", "--batch-size", "16", "--buffer-size", "300", "--num-envs", "2"),
    *("--learning-starts", "40", "--update-every", "2", "--eval-episodes", "2", "--final-episodes", "2"),
    *("--eval-every", "100", "--checkpoint-every", "100"),
]
"""Options of a run of little work."""
