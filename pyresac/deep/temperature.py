"""The temperature α of maximum entropy, and how it follows the policy's entropy."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from pyresac.deep.adam import Adam
from pyresac.deep.algorithms.deep_options import EntropyOptions

LARGEST_EXPONENT = 88.0
"""exp of it is still finite in float32."""


class Temperature:
    """log α, changed in place by Adam on J(α) = −log α·(E[log π] + H_target).

    Its slope in log α is −(E[log π] + H_target), so α grows while the policy's entropy −E[log π] is below H_target.
    Haarnoja et al. 2018, section 6, have α for log α as the factor; Stable-Baselines3 has log α, as here.
    """

    def __init__(self, options: EntropyOptions, target_entropy: float, device: torch.device) -> None:
        """target_entropy: of log π in the action's own units."""
        self.target_entropy = target_entropy
        self.on_next = options.temperature_on == "next"
        """Whether it is adjusted at the next states that are not terminal; else at the states of the batch."""
        self.log_alpha = torch.tensor(math.log(options.alpha_init), device=device)
        self.optimiser = Adam(self.log_alpha, options.temperature_lr) if options.temperature_lr > 0.0 else None
        self._most = math.inf if options.alpha_max is None else math.log(options.alpha_max)

    @property
    def alpha(self) -> float:
        """α."""
        exponent = self.log_alpha.item()
        return math.exp(exponent) if exponent <= LARGEST_EXPONENT else math.inf

    def adjust(self, log_prob: Tensor, counts: Tensor | None = None) -> None:
        """One step on log π (B,) of the states whose `counts` (B,) is 1, as it is where an action was taken."""
        if self.optimiser is None:
            return
        self.optimiser.step(-entropy_gap(log_prob, self.target_entropy, counts))
        self.log_alpha.clamp_(max=self._most)


def entropy_gap(log_prob: Tensor, target_entropy: float, counts: Tensor | None = None) -> Tensor:
    """E[log π] + H_target over the states that count; 0 where none does."""
    excess = log_prob + target_entropy
    if counts is None:
        return excess.mean()
    return torch.dot(excess, counts) / counts.sum().clamp(min=1.0)
