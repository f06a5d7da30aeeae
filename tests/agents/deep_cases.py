"""Small learners and batches of random numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from pyresac.agents.deep.learner import Learner
from pyresac.agents.deep.networks import Features
from pyresac.agents.deep.options import AlgorithmOptions
from pyresac.agents.deep.replay import Batch

ACTIONS, DENSE, CATEGORIES, SIZE = 2, 3, (4, 6), 16
SMALL: Mapping[str, Any] = {"ensemble_size": 3, "hidden": (8, 6), "actor_hidden": (7,), "batch_size": SIZE}


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
