"""Running mean and variance of observations, by which networks see them normalised; the replay buffer keeps them raw.

x̂ = clip((x − mean)/√(variance + ε), ±10) for each continuous feature, as Stable-Baselines3's `VecNormalize` has it. The
statistics are of every state that training acted in, merged block by block (Chan et al. 1979; Welford's for blocks of
one), in float64 on the CPU. Before the first state, observations are taken as they are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pyresac.deep.networks.inputs import Inputs
from pyresac.tasks.experience import Numbers

LARGEST = 10.0
"""Normalised features are clipped here, as in Stable-Baselines3."""
EPSILON = 1e-8
"""Added to the variance."""


class ObservationStatistics:
    """Count n, mean, and M₂ = Σ(x − mean)² of C features; changed in place."""

    def __init__(self, features: int) -> None:
        self.tensors = {
            "observation_count": torch.zeros((), dtype=torch.float64),
            "observation_mean": torch.zeros(features, dtype=torch.float64),
            "observation_squares": torch.zeros(features, dtype=torch.float64),
        }
        """As a checkpoint keeps them."""

    def add(self, dense: Numbers) -> None:
        """Count these states (m, C) in.

        With δ = mean of these − mean so far: mean += δ·m/(n + m), M₂ += Σ(x − their mean)² + δ²·n·m/(n + m).
        """
        if not len(dense):
            return
        count, mean, squares = self.tensors.values()
        block = torch.from_numpy(dense).double()
        added, own = len(block), block.mean(0)
        apart, total = own - mean, count + added
        squares += (block - own).square().sum(0) + apart.square() * (count * added / total)
        mean += apart * (added / total)
        count += added

    @property
    def mean(self) -> Tensor:
        """(C,) float64, 0 before the first state."""
        return self.tensors["observation_mean"]

    @property
    def variance(self) -> Tensor:
        """(C,) float64, of the population; 1 before the first state."""
        count, _, squares = self.tensors.values()
        return squares / count if count > 0 else torch.ones_like(squares)

    def normalised(self, state: Inputs) -> Inputs:
        """The state as networks see it."""
        shift, scale = (part.to(state.dense) for part in (self.mean, (self.variance + EPSILON).rsqrt()))
        return state._replace(dense=((state.dense - shift) * scale).clamp_(-LARGEST, LARGEST))
