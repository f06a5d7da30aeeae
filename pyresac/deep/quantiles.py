"""Critics of quantiles: the fractions that they are asked at, and the loss that fits them to targets.

A distributional critic gives Z_τ(s, a), the τ-quantile of the return, at M fractions τ. Its quantiles stand for the
return's distribution with weights, and its value is their weighted mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from pyresac.deep.random_source import Noise

LEAST_WIDTH = 0.1
"""Added to each uniform draw of `spaced_fractions` before they are normalised, so that no two fractions meet."""


class Fractions(NamedTuple):
    """Where quantiles are asked, and what each one weighs in the distribution. B rows, or one for all."""

    at: Tensor
    """(B, M) or (1, M): τ̂ in (0, 1)."""
    weights: Tensor
    """(B, M) or (1, M): sum to 1 in each row."""

    def mean(self, quantiles: Tensor) -> Tensor:
        """(…, B): the mean of the distribution with these quantiles (…, B, M)."""
        return (quantiles * self.weights).sum(-1)


def even_fractions(count: int, device: torch.device) -> Fractions:
    """τ_m = (2m − 1)/2M with weights 1/M, one row (Dabney et al. 2018, arXiv:1710.10044, Lemma 2)."""
    import torch

    at = (torch.arange(count, device=device) + 0.5) / count
    return Fractions(at[None], torch.full_like(at, 1.0 / count)[None])


def uniform_fractions(size: int, count: int, noise: Noise) -> Fractions:
    """τ ~ U(0, 1), each by itself, with weights 1/M (IQN, Dabney et al. 2018, arXiv:1806.06923)."""
    at = noise.uniform(size, count)
    return Fractions(at, at.new_full(at.shape, 1.0 / count))


def spaced_fractions(size: int, count: int, noise: Noise) -> Fractions:
    """Midpoints τ̂_i = (τ_i + τ_{i+1})/2 and weights τ_{i+1} − τ_i of random 0 = τ_0 < … < τ_M = 1 (DSAC).

    The widths are uniform draws plus 0.1, normalised.
    """
    drawn = noise.uniform(size, count) + LEAST_WIDTH
    widths = drawn / drawn.sum(1, keepdim=True)
    return Fractions(widths.cumsum(1) - 0.5 * widths, widths)


def ascending(atoms: Tensor) -> Tensor:
    """Each row in ascending order, along the last axis, of tensors without a graph; NaN comes last."""
    import torch

    if atoms.device.type != "cpu":
        return atoms.sort(-1).values
    return torch.from_numpy(np.sort(atoms.numpy(), axis=-1))  # a tenth of the time of PyTorch's


def quantile_huber(heads: Tensor, target: Tensor, fractions: Tensor, weights: Tensor) -> Tensor:
    """Σ_k E_b[(1/M)·Σ_j Σ_i w_i·ρ_τj(y_i − θ_kj)], with ρ_τ(u) = |τ − 1(u < 0)|·H(u) and Huber's H of threshold 1.

    heads: θ (K, B, M). target: y (B, N), without a gradient. fractions: τ (B, M) or (1, M). weights: w (B, N) or
    (1, N). On the CPU the compiled kernel, elsewhere `pairwise_quantile_huber`; tests hold the one to the other.
    """
    if heads.device.type != "cpu":
        return pairwise_quantile_huber(heads, target, fractions, weights)
    from pyresac.deep.derivatives import QuantileHuber

    result: Tensor = QuantileHuber.apply(heads, target, fractions, weights)  # type: ignore[no-untyped-call]
    return result


def pairwise_quantile_huber(heads: Tensor, target: Tensor, fractions: Tensor, weights: Tensor) -> Tensor:
    """`quantile_huber` by its double sum, as the papers write it: K·B·M·N numbers."""
    import torch

    error = target[:, None, :] - heads[..., None]
    huber = torch.nn.functional.huber_loss(error, torch.zeros_like(error), reduction="none")
    asymmetry = (fractions[..., None] - (error.detach() < 0.0).to(heads.dtype)).abs()
    return (asymmetry * huber * weights[:, None, :]).sum(3).mean((1, 2)).sum()
