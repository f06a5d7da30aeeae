"""The equations of section 4, each under its own name. Heads run along the first axis, the batch along the second.

Nothing here decides what is frozen: `resac_target` is called without gradients, on target parameters.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import mse_loss


def ensemble_variance(heads: Tensor) -> Tensor:
    """Γ_epi (B,), Eq. gamma_epi: the unbiased variance over K ≥ 2 heads (K, B)."""
    return heads.var(0, correction=1)


def ensemble_deviation(heads: Tensor) -> Tensor:
    """σ_ens (B,): the root of Γ_epi, with gradient 0 where all heads agree (the derivative has no limit there)."""
    result: Tensor = _Deviation.apply(heads)  # type: ignore[no-untyped-call]
    return result


class _Deviation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, heads: Tensor) -> Tensor:
        deviation, mean = torch.std_mean(heads, 0, correction=1)
        ctx.save_for_backward(heads, mean, deviation)
        return deviation

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """∂σ/∂Q_k = (Q_k − Q̄)/((K − 1)·σ)."""
        heads, mean, deviation = ctx.saved_tensors
        scale = (gradients[0] / ((len(heads) - 1) * deviation)).masked_fill_(
            deviation < torch.finfo(deviation.dtype).tiny, 0.0
        )
        result: Tensor = (heads - mean) * scale
        return result


def blended_values(heads: Tensor, independence: float) -> Tensor:
    """(K, B): ρ·Q̂_k + (1 − ρ)·min_j Q̂_j, ρ = α_ind; ρ = 1 is Eq. target_y, ρ = 0 the shared minimum."""
    if independence == 1.0:
        return heads
    least = heads.amin(0).expand_as(heads)
    return least if independence == 0.0 else torch.lerp(least, heads, independence)


def resac_target(
    reward: Tensor,
    terminal: Tensor,
    heads: Tensor,
    log_prob: Tensor,
    kappa: Tensor,
    *,
    discount: float,
    lambda_epi: float,
    lambda_ale: float,
    alpha: float,
    independence: float = 1.0,
) -> Tensor:
    """Eq. target_y, y (K, B), the deep form of `RevOperator` (its fixed-penalty contraction is claim C11).

    reward, log_prob: (B,); terminal: (B,) 1 where the episode ended in a terminal state (never for a time limit), else
    0; heads: Q̂_k(s′, a′) (K, B) of the frozen target critics; kappa: κ_k (K,) of the same. The penalties stand under
    the discount and vanish with the bootstrap. lambda_ale < 0 adds κ, as the published program does.
    """
    value = blended_values(heads, independence)
    if lambda_epi != 0.0:
        value = value - lambda_epi * ensemble_variance(heads)
    if lambda_ale != 0.0:
        value = value - lambda_ale * kappa[:, None]
    value = torch.sub(value, log_prob, alpha=alpha)
    # reward + discount·(1 − terminal)·value
    return torch.addcmul(reward, 1.0 - terminal, value, value=discount)


def critic_loss(heads: Tensor, target: Tensor, beta_ood: float) -> tuple[Tensor, Tensor]:
    """Σ_k E[(Q_k − y_k)²] + β_ood·E[σ_ens], and E[σ_ens] without gradient.

    Its gradient in head k is that of L_Q(φ_k), whose disagreement term the heads share.
    """
    squared = mse_loss(heads, target, reduction="sum") / heads.shape[1]
    if heads.shape[0] == 1:
        return squared, squared.new_zeros(())
    if beta_ood == 0.0:
        with torch.no_grad():
            return squared, ensemble_deviation(heads).mean()
    deviation = ensemble_deviation(heads).mean()
    return squared + beta_ood * deviation, deviation.detach()


def lower_confidence_bound(heads: Tensor, beta_lcb: float) -> Tensor:
    """Q̄ + β_lcb·σ_ens (B,), β_lcb ≤ 0: what the actor maximises."""
    mean = heads.mean(0)
    return mean if beta_lcb == 0.0 else mean + beta_lcb * ensemble_deviation(heads)


def actor_loss(log_prob: Tensor, heads: Tensor, alpha: float, beta_lcb: float) -> Tensor:
    """Eq. actor_loss: E[α·log π − (Q̄ + β_lcb·σ_ens)]."""
    return (alpha * log_prob - lower_confidence_bound(heads, beta_lcb)).mean()


def anchor_penalty(parameters: Tensor, anchor: Tensor, weight: float) -> Tensor:
    """λ_anc·‖θ − θ_anchor‖²/n."""
    return weight * (parameters - anchor).square().mean()


def temperature_loss(log_alpha: Tensor, log_prob: Tensor, target_entropy: float) -> Tensor:
    """−log α·E[log π + H_target]: α grows while the policy's entropy is below its target."""
    return -log_alpha * (log_prob.detach() + target_entropy).mean()
