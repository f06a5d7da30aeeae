"""Networks, learners and batches for tests of normalisation, in any number of dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.networks.running_statistics import RunningStatistics
from pyresac.deep.replay import Batch

SMALL: Mapping[str, Any] = {"ensemble_size": 3, "hidden": (8, 6), "actor_hidden": (7,), "batch_size": 16}


def network_of(
    layout: NetworkLayout,
    heads: int,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    warmup: int = 100,
    correct: bool = False,
) -> Network:
    """Of random parameters, scales and shifts among them, and random running statistics. correct: past the warm-up."""
    source = torch.Generator().manual_seed(seed)
    matrix = layout.initial(heads, source).to(dtype)
    for part in (*layout.affine(matrix)[0], *layout.affine(matrix)[1]):
        part += torch.randn(part.shape, generator=source, dtype=dtype)
    running = None
    if layout.normalisation == "batch":
        shape = (heads, sum(layout.normalised))
        mean = torch.randn(shape, generator=source, dtype=dtype)
        variance = torch.randn(shape, generator=source, dtype=dtype).square() + 0.1
        running = RunningStatistics(mean, variance, torch.tensor(warmup + 1 if correct else 0), warmup)
    return Network(layout, matrix, running=running)


def codes_of(categories: tuple[int, ...], size: int, source: torch.Generator) -> Tensor | None:
    """(size, F) random codes with their offsets."""
    if not categories:
        return None
    offsets = accumulate(categories, initial=0)
    columns = [o + torch.randint(n, (size,), generator=source) for o, n in zip(offsets, categories, strict=False)]
    return torch.stack(columns, 1)


def inputs_like(layout: NetworkLayout, size: int, seed: int = 0, dtype: torch.dtype = torch.double) -> Inputs:
    """Random inputs of a network."""
    source = torch.Generator().manual_seed(seed + 1)
    dense = torch.randn(size, layout.dense, generator=source, dtype=dtype)
    return Inputs(dense, codes_of(layout.categories, size, source))


def options_of(name: str, **given: Any) -> Any:
    """Small options of an algorithm; those that it does not read are left out."""
    kind = algorithm_type(name).options_type
    known = {field.name for field in fields(kind)}
    return kind(**{key: value for key, value in {**SMALL, **given}.items() if key in known})


def learner_of(
    name: str, actions: int = 2, dense: int = 3, categories: tuple[int, ...] = (4, 6), seed: int = 0, **given: Any
) -> Learner:
    """A small learner of an algorithm."""
    return Learner(
        algorithm_type(name)(options_of(name, **given)),
        actions=actions,
        dense=dense,
        categories=categories,
        log_volume=0.3,
        seed=seed,
        device=torch.device("cpu"),
    )


def random_batch(
    actions: int = 2, dense: int = 3, categories: tuple[int, ...] = (4, 6), size: int = 16, seed: int = 0
) -> Batch:
    """Every fourth transition ends in a terminal state."""
    source = torch.Generator().manual_seed(seed)

    def state() -> Inputs:
        return Inputs(torch.randn(size, dense, generator=source), codes_of(categories, size, source))

    return Batch(
        action=2.0 * torch.rand(size, actions, generator=source) - 1.0,
        state=state(),
        reward=torch.randn(size, generator=source),
        terminal=(torch.arange(size) % 4 == 3).float(),
        next_state=state(),
    )
