"""Small learners, and batches of random numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple
from unittest import mock

import pytest
import torch
from torch import Tensor

from pyresac.deep.adam import Adam
from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.deep.algorithms.algorithm import Algorithm, TargetInputs
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.random_source import Noise
from pyresac.deep.replay import Batch

ACTIONS, DENSE, CATEGORIES, SIZE = 2, 3, (4, 6), 16
CPU = torch.device("cpu")
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
"""Every term of RE-SAC's losses is there."""

PLAIN: Mapping[str, Any] = {
    "lambda_epi": 0.0,
    "lambda_ale": 0.0,
    "beta_ood": 0.0,
    "beta_lcb": 0.0,
    "anchor_weight": 0.0,
    "independence": 1.0,
    "actor_every": 1,
}
"""No term of RE-SAC but the squared errors and the entropy."""

ROUNDING: dict[str, float] = {"rtol": 1e-12, "atol": 1e-12}
"""Well above the rounding of a few dozen float64 operations on numbers of size 1, well below any wrong term."""

FLOAT32 = 400 * 2.0**-24
"""Of gradients of size 1 through four layers of at most 8 units, 16 transitions and three heads: fewer roundings."""

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
"""A test of each algorithm of the registry, whatever they are."""


def numbers(*shape: int, seed: int) -> Tensor:
    """Standard normal, float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def small_algorithm(name: str = "resac", **options: Any) -> Algorithm[Any]:
    """Networks of a few units."""
    found = algorithm_type(name)
    return found(found.options_type(**{**SMALL, **options}))


def readable(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `options` that the algorithm reads."""
    known = {field.name for field in fields(algorithm_type(name).options_type)}
    return {key: value for key, value in options.items() if key in known}


def small_learner(
    algorithm: str = "resac",
    seed: int = 0,
    *,
    actions: int = ACTIONS,
    dense: int = DENSE,
    categories: tuple[int, ...] = CATEGORIES,
    **options: Any,
) -> Learner:
    """A learner of a few units."""
    return Learner(
        small_algorithm(algorithm, **options),
        actions=actions,
        dense=dense,
        categories=categories,
        log_volume=0.3,
        seed=seed,
        device=CPU,
    )


def random_batch(
    seed: int = 0,
    size: int = SIZE,
    *,
    actions: int = ACTIONS,
    dense: int = DENSE,
    categories: tuple[int, ...] = CATEGORIES,
) -> Batch:
    """Every fourth transition ends in a terminal state."""
    source = torch.Generator().manual_seed(seed)

    def features() -> Inputs:
        codes, first = [], 0
        for count in categories:
            codes.append(first + torch.randint(count, (size,), generator=source))
            first += count
        return Inputs(torch.randn(size, dense, generator=source), torch.stack(codes, 1) if codes else None)

    return Batch(
        action=2.0 * torch.rand(size, actions, generator=source) - 1.0,
        state=features(),
        reward=torch.randn(size, generator=source),
        terminal=(torch.arange(size) % 4 == 0).float(),
        next_state=features(),
    )


def stirred(learner: Learner) -> Learner:
    """The learner with every slow or frozen network away from the one that it follows, so that a mix-up shows."""
    source = torch.Generator().manual_seed(99)
    for name in ("target", "averaged", "best", "target_actor"):
        network = getattr(learner, name)
        if network is not None:
            network.matrix += 0.2 * torch.randn(network.matrix.shape, generator=source)
    return learner


def snapshot(learner: Learner) -> dict[str, Tensor]:
    """Copies of all that learns, follows or is frozen."""
    return {name: tensor.detach().clone() for name, tensor in learner.networks().items()}


class RecordedNoise(Noise):
    """What a learner draws, and a record of it in the order of the draws."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed, CPU)
        self.drawn: list[Tensor] = []

    def normal(self, *shape: int) -> Tensor:
        """See `Noise`."""
        return self._kept(super().normal(*shape))

    def uniform(self, *shape: int) -> Tensor:
        """See `Noise`."""
        return self._kept(super().uniform(*shape))

    def subset(self, size: int, of: int) -> Tensor:
        """See `Noise`."""
        return self._kept(super().subset(size, of))

    def _kept(self, tensor: Tensor) -> Tensor:
        self.drawn.append(tensor)
        return tensor


class Seen(NamedTuple):
    """What happened inside an update."""

    gradients: dict[str, Tensor]
    """Given to each optimiser, by its name, after clipping; in the order of the steps."""
    inputs: TargetInputs
    target: Tensor
    noise: list[Tensor]
    """What was drawn, in order."""


def watched_update(learner: Learner, batch: Batch, *, move: bool = False, noise: Noise | None = None) -> Seen:
    """One update, and what it did. Unless `move`, no network moves, so that every gradient is one before the update."""
    recorded = RecordedNoise(7) if noise is None else noise
    found: dict[str, Tensor] = {}
    targets: list[tuple[TargetInputs, Tensor]] = []
    names = {id(optimiser): name for name, optimiser in learner._optimisers.items()}
    step, target = Adam.step, learner.algorithm.target

    def watched_step(own: Adam, gradient: Tensor, follow: bool = True) -> None:
        found[names.get(id(own), "temperature")] = gradient.clone()
        if move:
            step(own, gradient, follow)
        elif id(own) not in names and learner.temperature is not None:
            # α moves, so that a use of it after its step shows
            learner.temperature.log_alpha += 0.5

    def watched_target(after: TargetInputs) -> Tensor:
        result = target(after)
        targets.append((after, result))
        return result

    with (
        mock.patch.object(Adam, "step", watched_step),
        mock.patch.object(learner.algorithm, "target", watched_target),
        mock.patch.object(learner, "noise", recorded),
    ):
        learner.update(batch)
    (after, y), drawn = targets[-1], recorded.drawn if isinstance(recorded, RecordedNoise) else []
    return Seen(found, after, y, drawn)


def learner_target(learner: Learner, batch: Batch, seed: int = 7) -> Tensor:
    """The target that an update would have; nothing moves."""
    before, updates = snapshot(learner), learner.updates
    seen = watched_update(learner, batch, noise=RecordedNoise(seed))
    for name, tensor in learner.networks().items():
        tensor.copy_(before[name])
    learner.updates = updates
    return seen.target


def plain_outputs(matrix: Tensor, layout: NetworkLayout, dense: Tensor, codes: Tensor | None) -> Tensor:
    """(K, B, outputs) of K networks, one head and one layer after the other, for autograd."""
    weights, biases, tables = layout.split(matrix)
    outputs = []
    for head in range(matrix.shape[0]):
        value = dense
        for feature, table in enumerate(tables):
            assert codes is not None
            value = torch.cat([value, table[head][codes[:, feature] - layout.code_offsets[feature]]], 1)
        for layer in range(layout.layers):
            value = value @ weights[layer][head] + biases[layer][head]
            if layer < layout.layers - 1:
                value = torch.tanh(value) if layout.activation == "tanh" else value.clamp(min=0.0)
        outputs.append(value)
    return torch.stack(outputs)
