"""The quantile Huber loss with its slope, compiled: O((M + N)·log N) an entry in place of M·N pairs.

Targets are sorted once. A quantile θ then cuts them into four runs: further below than 1, below, above, further above.
In each run the loss is a polynomial in θ whose coefficients are sums of w, w·y and w·y² over the run, differences of
two prefix sums.

Prefix sums are float64, of targets seen from their median, so what cancels in a difference is the spread of the targets
and not their size. With spread V and 2⁻⁵³ = u the slope is within about 2·N·u·V of the exact one, the loss within
N·u·V². `tests/deep/test_quantile_loss.py` holds the kernel to that, and to the double sum exactly, on rationals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.jit import compiled

Numbers = NDArray[Any]


@compiled
def losses_and_slopes(
    heads: Numbers, target: Numbers, fractions: Numbers, weights: Numbers, values: Numbers, sums: Numbers,
    losses: Numbers, slopes: Numbers,
) -> None:  # fmt: skip
    """Add Σ_b Σ_j Σ_i w_bi·ρ_τbj(y_bi − θ_kbj) to losses (K,), and write its derivatives into slopes (K, B, M).

    heads: θ (K, B, M). target: y (B, N). fractions: τ (B, M). weights: w (B, N). Room to work in, float64: values
    (2ⁿ − 1,) for N of n binary digits, and sums (3, N + 1), whose first column is 0. Nothing is of a fixed type but
    whole numbers, so that the same lines run on rationals. A θ or y that is NaN makes the loss NaN.
    """
    count = target.shape[1]
    order = np.arange(count)
    largest = (len(values) + 1) // 2
    for b in range(len(target)):
        ascending = True
        for i in range(1, count):
            if not target[b, i - 1] <= target[b, i]:
                ascending = False
        if ascending:
            for i in range(count):
                order[i] = i
        else:
            order[:] = np.argsort(target[b])
        for i in range(count):
            values[i] = target[b, order[i]]
        for i in range(count, len(values)):
            values[i] = np.inf
        centre = values[count // 2]
        for i in range(count):
            values[i] -= centre
            weight, value = weights[b, order[i]], values[i]
            sums[0, i + 1] = sums[0, i] + weight
            sums[1, i + 1] = sums[1, i] + weight * value
            sums[2, i + 1] = sums[2, i] + weight * value * value
        for k in range(len(heads)):
            for j in range(heads.shape[2]):
                theta, tau = heads[k, b, j] - centre, fractions[b, j]
                # how many targets are below θ − 1, θ and θ + 1
                below, here, above = theta - 1, theta, theta + 1
                first, second, third, step = 0, 0, 0, largest
                while step > 0:
                    first += step * (values[first + step - 1] < below)
                    second += step * (values[second + step - 1] < here)
                    third += step * (values[third + step - 1] < above)
                    step //= 2
                far_w, far_y = sums[0, first], sums[1, first]
                near_w, near_y = sums[0, second] - far_w, sums[1, second] - far_y
                near_yy = sums[2, second] - sums[2, first]
                loss = far_w * theta - far_y - far_w / 2 + (near_yy - 2 * theta * near_y + theta * theta * near_w) / 2
                slope = far_w + theta * near_w - near_y
                below_loss, below_slope = (1 - tau) * loss, (1 - tau) * slope
                far_w, far_y = sums[0, count] - sums[0, third], sums[1, count] - sums[1, third]
                near_w, near_y = sums[0, third] - sums[0, second], sums[1, third] - sums[1, second]
                near_yy = sums[2, third] - sums[2, second]
                loss = far_y - far_w * theta - far_w / 2 + (near_yy - 2 * theta * near_y + theta * theta * near_w) / 2
                slope = theta * near_w - near_y - far_w
                losses[k] += below_loss + tau * loss
                slopes[k, b, j] = below_slope + tau * slope
