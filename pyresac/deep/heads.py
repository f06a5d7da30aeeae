"""Formulas that several algorithms share, over the heads of an ensemble: heads along the first axis, the batch along
the second, quantiles (where there are some) along the third."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def squared_error(heads: Tensor, target: Tensor) -> Tensor:
    """Σ_k E[(Q_k − y_k)²] of heads (K, B) and targets (K, B), or (B,) where all heads share one."""
    import torch

    squared = torch.nn.functional.mse_loss(heads, target.expand_as(heads), reduction="sum")
    return squared.div(heads.shape[1])


def ensemble_variance(heads: Tensor) -> Tensor:
    """Γ_epi (B,), Eq. gamma_epi of RE-SAC: the unbiased variance over K ≥ 2 heads (K, B)."""
    return heads.var(0, correction=1)


def ensemble_deviation(heads: Tensor) -> Tensor:
    """σ_ens (B,): the root of Γ_epi, with gradient 0 where all heads agree (the derivative has no limit there)."""
    from pyresac.deep.derivatives import Deviation

    result: Tensor = Deviation.apply(heads)  # type: ignore[no-untyped-call]
    return result
