"""Formulas that several algorithms share, over the heads of an ensemble: heads along the first axis, the batch along
the second, quantiles (where there are some) along the third."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import mse_loss


def squared_error(heads: Tensor, target: Tensor) -> Tensor:
    """Σ_k E[(Q_k − y_k)²] of heads (K, B) and targets (K, B), or (B,) where all heads share one."""
    squared: Tensor = mse_loss(heads, target.expand_as(heads), reduction="sum")
    return squared.div(heads.shape[1])


def ensemble_variance(heads: Tensor) -> Tensor:
    """Γ_epi (B,), Eq. gamma_epi of RE-SAC: the unbiased variance over K ≥ 2 heads (K, B)."""
    return heads.var(0, correction=1)


def ensemble_deviation(heads: Tensor) -> Tensor:
    """σ_ens (B,): the root of Γ_epi, with gradient 0 where all heads agree (the derivative has no limit there)."""
    result: Tensor = _Deviation.apply(heads)  # type: ignore[no-untyped-call]
    return result


class _Deviation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, heads: Tensor) -> Tensor:
        # Seen from the first head: heads that nearly agree keep their digits, and those that agree are exactly 0 apart,
        # which the rounding of their mean would spoil.
        apart = heads - heads[0]
        centred = apart.sub_(apart.mean(0))
        deviation: Tensor = centred.norm(dim=0).mul_((len(heads) - 1) ** -0.5)
        ctx.save_for_backward(centred, deviation)
        return deviation

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """∂σ/∂Q_k = (Q_k − Q̄)/((K − 1)·σ)."""
        centred, deviation = ctx.saved_tensors
        scale = gradients[0] / ((len(centred) - 1) * deviation)
        scale.masked_fill_(deviation < torch.finfo(deviation.dtype).tiny, 0.0)
        result: Tensor = centred * scale
        return result
