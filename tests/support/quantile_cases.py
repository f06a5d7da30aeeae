"""Learners with critics of quantiles, and batches for them."""

from __future__ import annotations

from typing import Any

import torch
from registry import algorithm_of
from torch import Tensor

from pyresac.deep.algorithms.algorithm import TargetInputs
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.quantiles import Fractions
from pyresac.deep.random_source import Noise
from pyresac.deep.replay import Batch

STATE, ACTIONS = 3, 2
CPU = torch.device("cpu")
UNIT32 = 2.0**-24


def learner_of(options: DeepOptions, categories: tuple[int, ...] = (), seed: int = 0) -> Learner:
    """A learner of three numbers a state and two an action, whose targets are not its networks."""
    learner = Learner(
        algorithm_of(options),
        actions=ACTIONS,
        dense=STATE,
        categories=categories,
        log_volume=0.0,
        seed=seed,
        device=CPU,
    )
    source = torch.Generator().manual_seed(seed + 1)
    for network in (learner.target, learner.target_actor):
        if network is not None:
            network.matrix += 0.05 * torch.randn(network.matrix.shape, generator=source)
    return learner


def random_batch(size: int, seed: int = 2, categories: tuple[int, ...] = ()) -> Batch:
    """Transitions of which every fifth is terminal."""
    source = torch.Generator().manual_seed(seed)

    def state() -> Inputs:
        dense, codes, first = torch.randn(size, STATE, generator=source), [], 0
        for count in categories:
            codes.append(first + torch.randint(count, (size,), generator=source))
            first += count
        return Inputs(dense, torch.stack(codes, 1) if codes else None)

    action = 2.0 * torch.rand(size, ACTIONS, generator=source) - 1.0
    reward, terminal = torch.randn(size, generator=source), (torch.arange(size) % 5 == 0).float()
    return Batch(action, state(), reward, terminal, state())


def target_inputs(heads: Tensor, log_prob: Tensor, fractions: Fractions, **other: Any) -> TargetInputs:
    """What a target of quantiles (K, B, M) is made of; reward 0, nothing terminal, γ = 1 and α = 0 unless given."""
    size = heads.shape[1]
    given: dict[str, Any] = {
        "reward": heads.new_zeros(size),
        "going": heads.new_ones(size),
        "discount": 1.0,
        "next_action": heads.new_zeros(size, 1),
        "alpha": 0.0,
        "critic": None,
        "heads_at": lambda unit: heads,
        "noise": Noise(0, CPU),
        **other,
    }
    return TargetInputs(heads=heads, log_prob=log_prob, fractions=fractions, **given)
