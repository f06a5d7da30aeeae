"""Compiled loops without matrix products: Adam's step, and a policy's draw with its gradient, on the CPU.

Each is one pass over its numbers where PyTorch would take one an operation; at batches of some hundred transitions the
calls themselves are what costs. `adam` and `squashed_gaussian` say the same in PyTorch's operations, for other devices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.jit import compiled

Numbers = NDArray[Any]

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's usual β₁, and β₂, the decay of the moments, and ε."""
FAINT, NO_MEAN, NO_SQUARE = 1e-16, 1e-30, 1e-36
"""A gradient whose square, and moments that, count as 0: beside ε they change no step by more than a rounding of it, or
1e-22 rates. A unit that no longer fires would else keep a subnormal mean for ever, and a processor takes some hundred
times as long for such a number."""


@compiled
def adam(
    gradient: Numbers, parameter: Numbers, mean: Numbers, square: Numbers, average: Numbers, rate: float,
    rescale: float, share: float, beta1: float,
) -> None:  # fmt: skip
    """One step on (n,) numbers, moments included; then `average` goes `share` of its way to the parameter.

    rate: Adam's over 1 − β₁ᵗ. rescale: 1/√(1 − β₂ᵗ). An empty `average` is left out.
    """
    kind = parameter.dtype.type
    new, kept, squared = kind(1.0 - beta1), kind(BETA2), kind(1.0 - BETA2)
    step, scale, least, nothing = kind(rate), kind(rescale), kind(EPSILON), kind(0.0)
    for i in range(len(parameter)):
        slope = gradient[i]
        moment = mean[i] + new * (slope - mean[i])
        moment = nothing if abs(moment) < kind(NO_MEAN) else moment
        felt = nothing if abs(slope) < kind(FAINT) else slope
        second = kept * square[i] + squared * felt * felt
        second = nothing if second < kind(NO_SQUARE) else second
        mean[i], square[i] = moment, second
        # np.divide checks nothing, so that the loop is done in vectors
        value = parameter[i] - np.divide(step * moment, np.sqrt(second) * scale + least)
        parameter[i] = value
        if len(average) > 0:
            # from the nearer end, so that shares of 0 and 1 are exact
            away = value - average[i]
            near = kind(share) < kind(0.5)
            average[i] = average[i] + kind(share) * away if near else value - kind(1.0 - share) * away


@compiled
def draw(
    outputs: Numbers, noise: Numbers, low: float, high: float, constant: float, spread: Numbers, unit: Numbers,
    log_prob: Numbers,
) -> None:  # fmt: skip
    """`squashed_gaussian.squashed` of outputs (B, 2A) and noise (B, A) into spread, unit (B, A) and log_prob (B,).

    With x = e^(−2|u|) − 1 both tanh u = ±x/(2 + x) and log(e^u + e^−u) = |u| + log(2 + x) keep their digits.
    NaN stays NaN.
    """
    size, actions = noise.shape
    kind = unit.dtype.type
    two = kind(2.0)
    for i in range(size):
        total = -kind(constant)
        for j in range(actions):
            z, raw = noise[i, j], outputs[i, actions + j]
            log_std = kind(low) if raw < kind(low) else kind(high) if raw > kind(high) else raw
            along = np.exp(log_std) * z
            u = outputs[i, j] + along
            x = np.expm1(-two * abs(u))
            tanh = np.divide(x, two + x)
            spread[i, j] = along
            unit[i, j] = tanh if u < kind(0.0) else -tanh
            total += two * (abs(u) + np.log(two + x)) - log_std - kind(0.5) * z * z
        log_prob[i] = total


@compiled
def draw_gradient(
    outputs: Numbers, spread: Numbers, unit: Numbers, low: float, high: float, of_unit: Numbers, of_log_prob: Numbers,
    gradient: Numbers,
) -> None:  # fmt: skip
    """`CompiledAction.gradient` into `gradient` (B, 2A); of_log_prob: (B,)."""
    size, actions = unit.shape
    kind = unit.dtype.type
    one = kind(1.0)
    for i in range(size):
        weight = of_log_prob[i]
        for j in range(actions):
            tanh, raw = unit[i, j], outputs[i, actions + j]
            of_mean = of_unit[i, j] * (one - tanh * tanh) + kind(2.0) * tanh * weight
            gradient[i, j] = of_mean
            outside = raw <= kind(low) or raw >= kind(high)
            gradient[i, actions + j] = kind(0.0) if outside else of_mean * spread[i, j] - weight
