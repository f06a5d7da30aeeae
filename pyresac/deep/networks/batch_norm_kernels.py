"""Compiled passes of networks with batch renormalisation before each linear layer, by the statistics of the batch.

Arguments are those of `pass_kernels`, over whole batches of B rows, and: mean, variance (K, S), the running statistics
of all S normalised numbers, layer after layer; correct, whether they correct the batch's; hidden (K, B·ΣH_l)
activations; normed (K, B·S) x̂ of each layer's inputs; statistics (K, 5, S), whose rows are named below.

Scale and shift are folded into the weights, W′ = scale·W and b′ = b + shift·W, so x̂ is all that a layer writes. Back,
G = x̂ᵀ·slope gives the gradients of weights, scale·G + shift·Σslope, and of scales, Σ_j W·G, and with them both sums
over the batch that the slope in x needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.deep.networks.layout import Integers
from pyresac.deep.networks.row_sums import row_dot
from pyresac.deep.networks.running_statistics import BATCH_EPSILON, LARGEST_RATIO, LARGEST_SHIFT
from pyresac.jit import compiled

Numbers = NDArray[Any]

MEAN, VARIANCE, GAIN, RATIO, SHIFT = range(5)
"""Rows of `statistics`: μ_B, σ²_B (over B − 1), r/σ_B, r and d."""


@compiled
def forward(
    matrix: Numbers, first: int, last: int, tanh: bool, sizes: Integers, weights: Integers, biases: Integers,
    tables: Integers, widths: Integers, starts: Integers, scales: Integers, shifts: Integers, dense: Numbers,
    codes: Integers, mean: Numbers, variance: Numbers, correct: bool, hidden: Numbers, normed: Numbers,
    statistics: Numbers, output: Numbers, chunk: int,
) -> None:  # fmt: skip
    """Fill `output` (K, B, H_L), `hidden`, `normed` and `statistics`."""
    size, inputs = dense.shape
    layers, zero, largest = len(sizes) - 1, matrix.dtype.type(0), 0
    for layer in range(layers):
        largest = max(largest, sizes[layer] * sizes[layer + 1])
    for k in range(first, last):
        row = matrix[k]
        product = np.empty(largest, matrix.dtype)
        value = normed[k, : size * sizes[0]].reshape(size, sizes[0])
        for i in range(size):
            value[i, :inputs] = dense[i]
            at = inputs
            for f in range(len(tables)):
                begin = tables[f] + (codes[i, f] - starts[f]) * widths[f]
                value[i, at : at + widths[f]] = row[begin : begin + widths[f]]
                at += widths[f]
        unit, place = 0, 0
        for layer in range(layers):
            n, m = sizes[layer], sizes[layer + 1]
            into = normed[k, unit * size : (unit + n) * size].reshape(size, n)
            own = statistics[k, :, unit : unit + n]
            _standardise(value, into, own, mean[k, unit : unit + n], variance[k, unit : unit + n], correct)
            weight = row[weights[layer] : weights[layer] + n * m].reshape(n, m)
            scale, shift = row[scales[layer] : scales[layer] + n], row[shifts[layer] : shifts[layer] + n]
            constant = row[biases[layer] : biases[layer] + m].copy()
            scaled = product[: n * m].reshape(n, m)
            for i in range(n):
                for j in range(m):
                    scaled[i, j] = scale[i] * weight[i, j]
                    constant[j] += shift[i] * weight[i, j]
            if layer == layers - 1:
                value = output[k]
            else:
                value = hidden[k, place : place + size * m].reshape(size, m)
                place += size * m
            for begin in range(0, size, chunk):
                taken = min(chunk, size - begin)
                part = value[begin : begin + taken]
                np.dot(into[begin : begin + taken], scaled, part)
                for i in range(taken):
                    for j in range(m):
                        part[i, j] += constant[j]
                    if layer == layers - 1:
                        continue
                    if tanh:
                        for j in range(m):
                            part[i, j] = np.tanh(part[i, j])
                    else:
                        for j in range(m):
                            # NaN stays NaN
                            part[i, j] = zero if part[i, j] < zero else part[i, j]
            unit += n


@compiled
def _standardise(value: Numbers, into: Numbers, own: Numbers, mean: Numbers, variance: Numbers, correct: bool) -> None:
    """`into` = r·(value − μ_B)/σ_B + d, both (B, n), which may be one array; fills `own` (5, n)."""
    size, n = value.shape
    kind = value.dtype.type
    zero, one, epsilon = kind(0), kind(1), kind(BATCH_EPSILON)
    centre, spread = np.zeros(n, value.dtype), np.zeros(n, value.dtype)
    for i in range(size):
        for j in range(n):
            centre[j] += value[i, j]
    for j in range(n):
        centre[j] /= kind(size)
    for i in range(size):
        for j in range(n):
            away = value[i, j] - centre[j]
            spread[j] += away * away
    for j in range(n):
        spread[j] /= kind(size - 1)
        deviation = np.sqrt(spread[j] + epsilon)
        ratio, shift = one, zero
        if correct:
            usual = np.sqrt(variance[j] + epsilon)
            ratio = min(max(deviation / usual, kind(1.0 / LARGEST_RATIO)), kind(LARGEST_RATIO))
            shift = min(max((centre[j] - mean[j]) / usual, kind(-LARGEST_SHIFT)), kind(LARGEST_SHIFT))
        own[MEAN, j], own[VARIANCE, j], own[GAIN, j] = centre[j], spread[j], ratio / deviation
        own[RATIO, j], own[SHIFT, j] = ratio, shift
    gain, after = own[GAIN].copy(), own[SHIFT].copy()
    for i in range(size):
        for j in range(n):
            into[i, j] = gain[j] * (value[i, j] - centre[j]) + after[j]


@compiled
def backward(
    matrix: Numbers, first: int, last: int, tanh: bool, sizes: Integers, weights: Integers, biases: Integers,
    tables: Integers, widths: Integers, starts: Integers, scales: Integers, shifts: Integers, codes: Integers,
    hidden: Numbers, normed: Numbers, statistics: Numbers, of_output: Numbers, gradient: Numbers, of_inputs: Numbers,
) -> None:  # fmt: skip
    """From of_output (K, B, H_L) to `gradient` (K, P), and to of_inputs (K, B, C), of the first C continuous inputs."""
    size, columns = of_inputs.shape[1], of_inputs.shape[2]
    layers, kind, largest, widest, total = len(sizes) - 1, matrix.dtype.type, 0, 0, 0
    for layer in range(layers):
        widest, largest = max(widest, sizes[layer]), max(largest, sizes[layer] * sizes[layer + 1])
        total += sizes[layer]
    embedded = 0
    for f in range(len(tables)):
        embedded += widths[f]
    for k in range(first, last):
        row = matrix[k]
        above, below = np.empty(size * widest, matrix.dtype), np.empty(size * widest, matrix.dtype)
        product, scaled_weights = np.empty(largest, matrix.dtype), np.empty(largest, matrix.dtype)
        slope, unit = of_output[k], total
        for f in range(len(tables)):
            gradient[k, tables[f] : tables[f] + (starts[f + 1] - starts[f]) * widths[f]] = kind(0)
        for layer in range(layers - 1, -1, -1):
            n, m = sizes[layer], sizes[layer + 1]
            unit -= n
            into = normed[k, unit * size : (unit + n) * size].reshape(size, n)
            weight = row[weights[layer] : weights[layer] + n * m].reshape(n, m)
            scale, shift = row[scales[layer] : scales[layer] + n], row[shifts[layer] : shifts[layer] + n]
            of_weight = gradient[k, weights[layer] : weights[layer] + n * m].reshape(n, m)
            of_bias = gradient[k, biases[layer] : biases[layer] + m]
            of_scale = gradient[k, scales[layer] : scales[layer] + n]
            of_shift = gradient[k, shifts[layer] : shifts[layer] + n]
            of_bias[:] = kind(0)
            for i in range(size):
                for j in range(m):
                    of_bias[j] += slope[i, j]
            along = product[: n * m].reshape(n, m)
            np.dot(into.T, slope, along)
            scaled = scaled_weights[: n * m].reshape(n, m)
            for i in range(n):
                of_scale[i] = row_dot(weight[i], along[i])
                of_shift[i] = row_dot(weight[i], of_bias)
                for j in range(m):
                    of_weight[i, j] = scale[i] * along[i, j] + shift[i] * of_bias[j]
                    scaled[i, j] = scale[i] * weight[i, j]
            if layer == 0 and embedded == 0 and columns == 0:
                continue
            through = below[: size * n].reshape(size, n)
            _to_standardised(slope, scaled, through)
            _to_value(through, into, scale, of_scale, of_shift, statistics[k, :, unit : unit + n])
            if layer > 0:
                place = size * (unit - sizes[0])
                _to_sum(through, hidden[k, place : place + size * n].reshape(size, n), tanh)
            above, below = below, above
            slope = through
        if embedded == 0 and columns == 0:
            continue
        inputs = sizes[0] - embedded
        for i in range(size):
            of_inputs[k, i] = slope[i, :columns]
            at = inputs
            for f in range(len(tables)):
                begin = tables[f] + (codes[i, f] - starts[f]) * widths[f]
                for j in range(widths[f]):
                    gradient[k, begin + j] += slope[i, at + j]
                at += widths[f]


@compiled
def _to_standardised(slope: Numbers, scaled: Numbers, through: Numbers) -> None:
    """through (B, n) = slope (B, m) · scaledᵀ."""
    if slope.shape[1] == 1:
        for i in range(through.shape[0]):
            for j in range(through.shape[1]):
                through[i, j] = slope[i, 0] * scaled[j, 0]
    else:
        np.dot(slope, scaled.T, through)


@compiled
def _to_value(
    through: Numbers, into: Numbers, scale: Numbers, of_scale: Numbers, of_shift: Numbers, own: Numbers
) -> None:
    """The slope g in x̂ becomes that in x: (r/σ_B)·(g − mean g − x̂_B·Σ(g·x̂_B)/(B − 1)), x̂_B = (x̂ − d)/r.

    The sums over the batch are known: Σg = scale·(slope in the shift), Σ(g·x̂) = scale·(slope in the scale).
    """
    size, n = through.shape
    kind = through.dtype.type
    gain, constant, factor = np.empty(n, through.dtype), np.empty(n, through.dtype), np.empty(n, through.dtype)
    for j in range(n):
        total, along = scale[j] * of_shift[j], scale[j] * of_scale[j]
        ratio, shift = own[RATIO, j], own[SHIFT, j]
        share = (along - shift * total) / (ratio * ratio * kind(size - 1))
        gain[j], factor[j] = own[GAIN, j], -own[GAIN, j] * share
        constant[j] = own[GAIN, j] * (shift * share - total / kind(size))
    for i in range(size):
        for j in range(n):
            through[i, j] = gain[j] * through[i, j] + (factor[j] * into[i, j] + constant[j])


@compiled
def _to_sum(through: Numbers, value: Numbers, tanh: bool) -> None:
    """Times the activation's derivative at `value`, its own output."""
    size, n = through.shape
    zero, one = through.dtype.type(0), through.dtype.type(1)
    if tanh:
        for i in range(size):
            for j in range(n):
                through[i, j] *= one - value[i, j] * value[i, j]
    else:
        for i in range(size):
            for j in range(n):
                through[i, j] = zero if value[i, j] <= zero else through[i, j]
