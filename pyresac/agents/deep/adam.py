"""Adam on one tensor, without the bookkeeping of an optimiser over many."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim.adam import adam


class Adam:
    """PyTorch's fused Adam with its usual constants, for a single parameter tensor."""

    def __init__(self, parameter: Tensor, rate: float) -> None:
        self._parameter, self._rate = parameter.detach(), rate
        # state from the start, so that a checkpoint has the same arrays before and after the first step
        self.moments = {
            "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
            "exp_avg": torch.zeros_like(self._parameter),
            "exp_avg_sq": torch.zeros_like(self._parameter),
        }
        """Steps taken, mean gradient and mean square, changed in place."""

    @torch.no_grad()
    def step(self, gradient: Tensor) -> None:
        """Move the parameter against `gradient`."""
        adam(
            [self._parameter],
            [gradient],
            [self.moments["exp_avg"]],
            [self.moments["exp_avg_sq"]],
            [],
            [self.moments["step"]],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self._rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )
