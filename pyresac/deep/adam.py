"""Adam on one tensor, which a slow average may follow, without the bookkeeping of an optimiser over many."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.adam import adam

from pyresac.deep.networks import pointwise_kernels as pointwise
from pyresac.deep.networks.pointwise_kernels import BETA1, BETA2, EPSILON


class Adam:
    """Adam with its usual β₂ and ε. On the CPU a step is one compiled loop, elsewhere PyTorch's fused one."""

    def __init__(
        self,
        parameter: Tensor,
        rate: float,
        average: Tensor | None = None,
        share: float = 0.0,
        beta1: float = BETA1,
    ) -> None:
        """beta1: β₁, the decay of the mean gradient.

        average: of the parameter's shape; after each step it goes `share` of the way to it. Changed in place, as the
        parameter is; both must keep their memory. Raises ValueError for another shape or type.
        """
        if average is not None:
            _require_like(average, parameter, "average")
        self._parameter, self._rate, self._beta1 = parameter.detach(), rate, beta1
        self._average, self._share = average, share
        # state from the start, so that a checkpoint has the same arrays before and after the first step
        self.moments = {
            "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
            "exp_avg": torch.zeros_like(self._parameter),
            "exp_avg_sq": torch.zeros_like(self._parameter),
        }
        """Steps taken, mean gradient and mean square, changed in place."""
        self._arrays = self._flat() if parameter.device.type == "cpu" else None

    def step(self, gradient: Tensor, follow: bool = True) -> None:
        """Move the parameter against `gradient`; follow: the average too.

        Raises ValueError unless the gradient has the parameter's shape and type.
        """
        _require_like(gradient, self._parameter, "gradient")
        if self._arrays is not None:
            steps = self.moments["step"].add_(1.0).item()
            rate, rescale = self._rate / (1.0 - self._beta1**steps), 1.0 / math.sqrt(1.0 - BETA2**steps)
            arrays = self._arrays if follow else (*self._arrays[:3], self._arrays[3][:0])
            pointwise.adam(gradient.view(-1).numpy(), *arrays, rate, rescale, self._share, self._beta1)
            return
        adam(
            [self._parameter],
            [gradient],
            [self.moments["exp_avg"]],
            [self.moments["exp_avg_sq"]],
            [],
            [self.moments["step"]],
            fused=True,
            amsgrad=False,
            beta1=self._beta1,
            beta2=BETA2,
            lr=self._rate,
            weight_decay=0.0,
            eps=EPSILON,
            maximize=False,
        )
        if self._average is not None and follow:
            self._average.lerp_(self._parameter, self._share)

    def _flat(self) -> tuple[NDArray[Any], ...]:
        """Parameter, moments and average as the compiled loop takes them, sharing their memory."""
        average = self._parameter.new_empty(0) if self._average is None else self._average
        tensors = (self._parameter, self.moments["exp_avg"], self.moments["exp_avg_sq"], average)
        return tuple(tensor.view(-1).numpy() for tensor in tensors)

    def __reduce__(self) -> NoReturn:
        # a copy would change memory that no network reads
        raise TypeError("Adam changes tensors that others own and cannot be copied; build another, load its moments")


def _require_like(tensor: Tensor, parameter: Tensor, name: str) -> None:
    """The compiled loop would read and write beyond its arrays."""
    if tensor.shape != parameter.shape or tensor.dtype != parameter.dtype:
        raise ValueError(
            f"the {name} is {tensor.dtype}{tuple(tensor.shape)}; "
            f"it must be {parameter.dtype}{tuple(parameter.shape)}, as the parameter is"
        )
