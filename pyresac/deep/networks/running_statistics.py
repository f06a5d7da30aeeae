"""Running means and variances of what batch normalisation normalises, and how they correct a batch's own.

Ioffe 2017, "Batch Renormalization", arXiv:1702.03275, as CrossQ (Bhatt et al. 2024, arXiv:1902.05605) uses it: plain
batch normalisation for the first batches, then at once the clips below.

What others do differently after the warm-up: with s = √var, sb3-contrib and SBX compute
(x − μ_B + d·s/r)/√(s²/r² + ε). Where s² is far above ε that is Algorithm 1; a unit that hardly moves loses d, and
where s = 0 the gradient of sb3-contrib's is not a number. Here it is Algorithm 1. SBX takes variances over B, here
and in sb3-contrib they are over B − 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pyresac.deep.networks.network_layout import NetworkLayout

BATCH_EPSILON = 1e-3
"""Added to variances."""
MOMENTUM = 0.01
"""Share by which running statistics go to a batch's."""
LARGEST_RATIO = 3.0
"""r_max: r is clipped to [1/r_max, r_max]."""
LARGEST_SHIFT = 5.0
"""d_max: d is clipped to [−d_max, d_max]."""


@dataclass(frozen=True)
class RunningStatistics:
    """Means and variances of the S numbers that K networks normalise, layer after layer; changed in place."""

    mean: Tensor
    """(K, S)"""
    variance: Tensor
    """(K, S)"""
    batches: Tensor
    """() int64, batches so far."""
    warmup: int
    """Batches after which the running statistics correct a batch's own."""

    @classmethod
    def fresh(cls, layout: NetworkLayout, heads: int, warmup: int, device: torch.device) -> RunningStatistics:
        """Mean 0 and variance 1."""
        shape = (heads, sum(layout.normalised))
        count = torch.zeros((), dtype=torch.int64, device=device)
        return cls(torch.zeros(shape, device=device), torch.ones(shape, device=device), count, warmup)

    def by_layer(self, layout: NetworkLayout) -> list[tuple[Tensor, Tensor]]:
        """Mean and variance (K, n) of each linear layer's inputs."""
        widths = list(layout.normalised)
        return list(zip(torch.split(self.mean, widths, 1), torch.split(self.variance, widths, 1), strict=True))

    @property
    def correct(self) -> bool:
        """Whether the warm-up is over."""
        return int(self.batches) > self.warmup

    def add(self, mean: Tensor, variance: Tensor) -> None:
        """Follow a batch's statistics (K, S)."""
        self.mean.lerp_(mean, MOMENTUM)
        self.variance.lerp_(variance, MOMENTUM)
        self.batches.add_(1)

    def follow(self, other: RunningStatistics, share: float) -> None:
        """Go `share` of the way to others."""
        self.mean.lerp_(other.mean, share)
        self.variance.lerp_(other.variance, share)
        self.batches.copy_(other.batches)

    def clone(self) -> RunningStatistics:
        """A copy with memory of its own."""
        return RunningStatistics(self.mean.clone(), self.variance.clone(), self.batches.clone(), self.warmup)

    def head(self, index: int) -> RunningStatistics:
        """The statistics of one network, sharing memory."""
        row = slice(index, index + 1)
        return RunningStatistics(self.mean[row], self.variance[row], self.batches, self.warmup)

    def tensors(self, name: str) -> dict[str, Tensor]:
        """By name, as a checkpoint keeps them."""
        return {
            f"{name}_running_mean": self.mean,
            f"{name}_running_variance": self.variance,
            f"{name}_running_batches": self.batches,
        }


def renormalised(value: Tensor, mean: Tensor, variance: Tensor, running: tuple[Tensor, Tensor] | None) -> Tensor:
    """x̂ (K, B, n) of x: r·(x − μ_B)/σ_B + d, Algorithm 1, with σ = √(var + ε); r = 1 and d = 0 without `running`.

    mean, variance: μ_B and σ²_B (K, n) of the batch, through which the gradient goes. running: μ and σ² (K, n); then r
    = clip(σ_B/σ) and d = clip((μ_B − μ)/σ), constants of the gradient.
    """
    deviation = (variance + BATCH_EPSILON).sqrt()
    own = (value - mean[:, None]) / deviation[:, None]
    if running is None:
        return own
    ratio, shift = corrections(mean.detach(), deviation.detach(), *running)
    return ratio[:, None] * own + shift[:, None]


def corrections(mean: Tensor, deviation: Tensor, of_mean: Tensor, of_variance: Tensor) -> tuple[Tensor, Tensor]:
    """r and d (K, n)."""
    usual = (of_variance + BATCH_EPSILON).sqrt()
    ratio = (deviation / usual).clamp(1.0 / LARGEST_RATIO, LARGEST_RATIO)
    return ratio, ((mean - of_mean) / usual).clamp(-LARGEST_SHIFT, LARGEST_SHIFT)
