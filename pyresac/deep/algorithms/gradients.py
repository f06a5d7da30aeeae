"""The losses of `objectives` with their slopes, written out.

Every function gives the loss and what the chain rule begins with. tests/agents/test_gradients.py holds both against
`objectives` and autograd. No slope has a term for what is frozen: targets, target weights and, in the actor's step, the
critics' parameters are numbers here.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import mse_loss


class Spread(NamedTuple):
    """How far the heads (K, B) lie apart."""

    mean: Tensor
    """Q̄ (B,)"""
    deviation: Tensor
    """σ_ens (B,)"""
    centred: Tensor
    """Q_k − Q̄ (K, B)"""

    @classmethod
    def of(cls, heads: Tensor) -> Spread:
        """Of K ≥ 2 heads, from the first one on: heads that nearly agree keep their digits, and those that agree are 0
        apart, which rounding of their mean would spoil."""
        apart = heads - heads[0]
        beyond = apart.mean(0)
        centred = apart.sub_(beyond)
        return cls(heads[0] + beyond, centred.norm(dim=0).mul_((len(heads) - 1) ** -0.5), centred)

    def slope(self, weight: float) -> Tensor:
        """weight·∂σ_ens/∂Q_k = weight·(Q_k − Q̄)/((K − 1)·σ_ens) (K, B); 0 where all heads agree."""
        scale = (weight / (len(self.centred) - 1)) / self.deviation
        scale.masked_fill_(self.deviation < torch.finfo(scale.dtype).tiny, 0.0)
        return self.centred * scale


def critic_loss(heads: Tensor, target: Tensor, beta_ood: float) -> tuple[Tensor, Tensor]:
    """`objectives.critic_loss` and ∂/∂Q_k of it (K, B): (2·(Q_k − y_k) + β_ood·∂σ_ens/∂Q_k)/B."""
    size = heads.shape[1]
    loss = mse_loss(heads, target, reduction="sum").div_(size)
    slope = torch.sub(heads, target).mul_(2.0 / size)
    if beta_ood != 0.0:
        spread = Spread.of(heads)
        loss += beta_ood * spread.deviation.mean()
        slope += spread.slope(beta_ood / size)
    return loss, slope


def actor_loss(log_prob: Tensor, heads: Tensor, alpha: float, beta_lcb: float) -> tuple[Tensor, float, Tensor]:
    """`objectives.actor_loss`, ∂/∂log π of it, and ∂/∂Q_k (K, B): −(1/K + β_lcb·∂σ_ens/∂Q_k)/B."""
    count, size = heads.shape
    if beta_lcb == 0.0:
        bound, slope = heads.mean(0), torch.full_like(heads, -1.0 / (count * size))
    else:
        spread = Spread.of(heads)
        bound = torch.add(spread.mean, spread.deviation, alpha=beta_lcb)
        slope = spread.slope(-beta_lcb / size).sub_(1.0 / (count * size))
    return bound.neg_().add_(log_prob, alpha=alpha).mean(), alpha / size, slope


def square_penalty(here: Tensor, there: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    """weight·E[(here − there)²], an `objectives.anchor_penalty`, and ∂/∂here of it: 2·weight·(here − there)/n."""
    away = here - there
    return weight * away.square().mean(), away.mul_(2.0 * weight / away.numel())


def temperature_slope(log_prob: Tensor, going: Tensor, target_entropy: float) -> Tensor:
    """∂/∂log α of `objectives.temperature_loss`, −(E[log π] + H_target), over the states in which an action is taken.

    log_prob: (B,). going: (B,) 0 for a terminal state, else 1. 0 where all states are terminal.
    """
    return torch.dot(log_prob + target_entropy, going).neg_().div_(going.sum().clamp_(min=1.0))
