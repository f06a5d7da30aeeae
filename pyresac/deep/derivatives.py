"""Formulas whose derivatives are written by hand, as autograd takes them; `heads` and `quantiles` have the formulas."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pyresac.deep import quantile_kernel


class Deviation(torch.autograd.Function):
    """`heads.ensemble_deviation`."""

    @staticmethod
    def forward(ctx: Any, heads: Tensor) -> Tensor:
        # Differences to the first head: where heads nearly agree no digits are lost, and equal heads differ by exactly
        # 0. Their rounded mean could differ from all of them.
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


class QuantileHuber(torch.autograd.Function):
    """`quantiles.quantile_huber`, loss and slope by one call of the compiled kernel."""

    @staticmethod
    def forward(ctx: Any, heads: Tensor, target: Tensor, fractions: Tensor, weights: Tensor) -> Tensor:
        size, count = target.shape
        each = heads.shape[1] * heads.shape[2]
        given = (
            heads.contiguous(),
            target.contiguous(),
            fractions.expand(size, -1).contiguous(),
            weights.expand(size, -1).contiguous(),
        )
        slopes = torch.empty_like(given[0])
        room = (
            torch.empty(2 ** count.bit_length() - 1, dtype=torch.double),
            torch.zeros(3, count + 1, dtype=torch.double),
        )
        losses = torch.zeros(len(heads), dtype=torch.double)
        arrays = (part.detach().numpy() for part in (*given, *room, losses, slopes))
        quantile_kernel.losses_and_slopes(*arrays)
        ctx.save_for_backward(slopes.mul_(1.0 / each))
        return losses.sum().div_(each).to(heads.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (slopes,) = ctx.saved_tensors
        return slopes * gradients[0], None, None, None
