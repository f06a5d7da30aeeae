"""The squashed Gaussian on a box, with its log-probability in the box's own units.

a = centre + half·tanh(u), u ~ N(μ, s²), so log π(a) = Σ_i [log N(u_i; μ_i, s_i²) − log(1 − tanh² u_i) − log half_i].
The second term is 2·(log 2 − log(e^u + e^−u)), which neither overflows nor loses digits where tanh saturates
(Haarnoja et al. 2018, appendix C; Stable-Baselines3 adds 1e-6 inside the logarithm instead).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import hardtanh

from pyresac.deep.networks import pointwise_kernels
from pyresac.deep.policies.policy import SampledAction, TracedAction
from pyresac.deep.random_source import Noise

LOG_STD_RANGE = (-20.0, 2.0)
"""Bounds of log s; beyond them the gradient is 0."""


class SquashedGaussian:
    """π(·|s) = tanh of a Gaussian; the network gives μ and log s, (B, 2A)."""

    def __init__(self, log_volume: float) -> None:
        """log_volume: Σ log half_i, by which log π in units of [−1, 1] exceeds log π in the box's own units."""
        self.log_volume = log_volume

    def outputs(self, actions: int) -> int:
        """See `Policy`."""
        return 2 * actions

    def sample(self, outputs: Tensor, noise: Noise) -> SampledAction:
        """See `Policy`. On the CPU one compiled loop, elsewhere `traced`; tests hold the one to the other."""
        return self.sample_with(outputs, noise.normal(len(outputs), outputs.shape[1] // 2))

    def sample_with(self, outputs: Tensor, noise: Tensor) -> SampledAction:
        """`sample` with standard normal noise (B, A)."""
        if outputs.device.type == "cpu" and outputs.dtype == torch.float32:
            return compiled_sample(outputs, noise, self.log_volume)
        return self.traced(outputs, noise)

    def mode(self, outputs: Tensor) -> Tensor:
        """tanh μ."""
        return torch.tanh(outputs.chunk(2, 1)[0])

    def traced(self, outputs: Tensor, noise: Tensor) -> TracedAction:
        """`sample_with` by the formula, for autograd."""
        with torch.enable_grad():
            leaf = outputs.detach().requires_grad_()
            mean, log_std = leaf.chunk(2, 1)
            return TracedAction(leaf, *squashed(mean, hardtanh(log_std, *LOG_STD_RANGE), noise, self.log_volume))


def squashed(mean: Tensor, log_std: Tensor, noise: Tensor, log_volume: float) -> tuple[Tensor, Tensor]:
    """tanh(μ + s·noise) (B, A) and its log π (B,)."""
    before = mean + log_std.exp() * noise
    log_prob = 2.0 * torch.logaddexp(before, -before) - log_std - 0.5 * noise.square()
    return torch.tanh(before), log_prob.sum(1) - _constant(mean.shape[1], log_volume)


def _constant(actions: int, log_volume: float) -> float:
    """The part of −log π that depends neither on the policy nor on the noise."""
    return actions * (0.5 * math.log(2.0 * math.pi) + 2.0 * math.log(2.0)) + log_volume


class CompiledAction(NamedTuple):
    """A `SampledAction` of compiled loops. Holds no autograd graph."""

    outputs: Tensor
    """(B, 2A) μ and log s, the latter as the network gave it."""
    spread: Tensor
    """(B, A) s·noise."""
    unit: Tensor
    """(B, A) v = tanh(μ + s·noise)."""
    log_prob: Tensor
    """(B,) log π in the box's units."""

    def first(self, rows: int) -> CompiledAction:
        """See `SampledAction`."""
        return CompiledAction(*(part[:rows] for part in self))

    def gradient(self, of_unit: Tensor, of_log_prob: Tensor | None) -> Tensor:
        """See `SampledAction`.

        ∂v/∂u = 1 − v², ∂log π/∂u = 2v, ∂u/∂μ = 1, ∂u/∂log s = s·noise, and ∂log π/∂log s has −1 besides.
        """
        result = torch.empty_like(self.outputs)
        of_log = self.log_prob.new_zeros(len(self.unit)) if of_log_prob is None else of_log_prob
        outputs, spread, unit, _ = (part.numpy() for part in self)
        slopes = of_unit.contiguous().numpy(), of_log.contiguous().numpy()
        pointwise_kernels.draw_gradient(outputs, spread, unit, *LOG_STD_RANGE, *slopes, result.numpy())
        return result


def compiled_sample(outputs: Tensor, noise: Tensor, log_volume: float) -> CompiledAction:
    """`SquashedGaussian.sample_with` on the CPU."""
    spread, unit, log_prob = torch.empty_like(noise), torch.empty_like(noise), noise.new_empty(len(noise))
    results, constant = (spread.numpy(), unit.numpy(), log_prob.numpy()), _constant(noise.shape[1], log_volume)
    pointwise_kernels.draw(outputs.detach().numpy(), noise.numpy(), *LOG_STD_RANGE, constant, *results)
    return CompiledAction(outputs.detach(), spread, unit, log_prob)
