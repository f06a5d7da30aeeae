"""Compiled passes of networks with batch renormalisation before each linear layer, by the statistics of the batch.

Arguments are those of `pass_kernels`, over whole batches of B rows, and: mean, variance (K, S), the running statistics
of all S normalised numbers, layer after layer; correct, whether they correct the batch's; hidden (K, B·ΣH_l)
activations; normed (K, B·H_0) x̂ of the first layer's inputs; statistics (K, 5, S), whose rows are named below.

No x̂ of a hidden layer is ever written: it is linear in the activations h, x̂ = gain·(h − μ_B) + d, so a pass uses the
weights W′ = scale·gain·W and the biases b′ = b + (shift + scale·(d − gain·μ_B))·W. Back, G = x̂ᵀ·slope comes from
hᵀ·slope in the same way. It gives the gradients of weights, scale·G + shift·Σslope, and of scales, Σ_j W·G, and with
them both sums over the batch that the slope in h needs. Rounding is |μ_B|/σ_B times that of x̂ written out, which is
harmless for activations; inputs, which may lie far from 0, are written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.deep.networks.network_layout import Integers
from pyresac.deep.networks.row_sums import row_dot
from pyresac.deep.networks.running_statistics import BATCH_EPSILON, LARGEST_RATIO, LARGEST_SHIFT
from pyresac.jit import compiled

Numbers = NDArray[Any]

MEAN, VARIANCE, GAIN, RATIO, SHIFT = range(5)
"""Rows of `statistics`: μ_B, σ²_B (over B − 1), r/σ_B, r and d."""


@compiled
def fold(
    row: Numbers, layer: int, sizes: Integers, weights: Integers, biases: Integers, factor: Numbers, offset: Numbers,
    scaled: Numbers, constant: Numbers,
) -> None:  # fmt: skip
    """Fold factor·x + offset, both (n,), into a layer: scaled (n, m) = factor·W and constant (m,) = b + offset·W."""
    n, m = sizes[layer], sizes[layer + 1]
    weight = row[weights[layer] : weights[layer] + n * m].reshape(n, m)
    constant[:] = row[biases[layer] : biases[layer] + m]
    for i in range(n):
        for j in range(m):
            scaled[i, j] = factor[i] * weight[i, j]
            constant[j] += offset[i] * weight[i, j]


@compiled
def fold_running(
    matrix: Numbers, sizes: Integers, weights: Integers, biases: Integers, tables: Integers, scales: Integers,
    shifts: Integers, mean: Numbers, variance: Numbers, result: Numbers,
) -> None:  # fmt: skip
    """`batch_passes.folded` into `result` (K, P′), the parameters by running statistics mean, variance (K, S)."""
    epsilon, layers = matrix.dtype.type(BATCH_EPSILON), len(sizes) - 1
    for k in range(len(matrix)):
        row, unit = matrix[k], 0
        for layer in range(layers):
            n, m = sizes[layer], sizes[layer + 1]
            factor, offset = np.empty(n, matrix.dtype), np.empty(n, matrix.dtype)
            for i in range(n):
                factor[i] = row[scales[layer] + i] / np.sqrt(variance[k, unit + i] + epsilon)
                offset[i] = row[shifts[layer] + i] - mean[k, unit + i] * factor[i]
            scaled = result[k, weights[layer] : weights[layer] + n * m].reshape(n, m)
            constant = result[k, biases[layer] : biases[layer] + m]
            fold(row, layer, sizes, weights, biases, factor, offset, scaled, constant)
            unit += n
        end = biases[layers - 1] + sizes[layers]
        result[k, end:] = row[end : result.shape[1]]


@compiled
def forward(
    matrix: Numbers, first: int, last: int, tanh: bool, sizes: Integers, weights: Integers, biases: Integers,
    tables: Integers, widths: Integers, starts: Integers, scales: Integers, shifts: Integers, dense: Numbers,
    codes: Integers, mean: Numbers, variance: Numbers, correct: bool, hidden: Numbers, normed: Numbers,
    statistics: Numbers, output: Numbers, chunk: int,
) -> None:  # fmt: skip
    """Fill `output` (K, B, H_L), `hidden`, `normed` and `statistics`."""
    size, inputs = dense.shape
    layers, zero, largest, widest = len(sizes) - 1, matrix.dtype.type(0), 0, 0
    for layer in range(layers):
        largest = max(largest, sizes[layer] * sizes[layer + 1])
        widest = max(widest, sizes[layer])
    for k in range(first, last):
        row = matrix[k]
        product = np.empty(largest, matrix.dtype)
        factor, offset = np.empty(widest, matrix.dtype), np.empty(widest, matrix.dtype)
        sums, squares = np.zeros(widest, matrix.dtype), np.zeros(widest, matrix.dtype)
        value = normed[k].reshape(size, sizes[0])
        for i in range(size):
            value[i, :inputs] = dense[i]
            at = inputs
            for f in range(len(tables)):
                begin = tables[f] + (codes[i, f] - starts[f]) * widths[f]
                value[i, at : at + widths[f]] = row[begin : begin + widths[f]]
                at += widths[f]
            _add(value[i], value[0], sums, squares)
        unit, place = 0, 0
        for layer in range(layers):
            n, m = sizes[layer], sizes[layer + 1]
            own = statistics[k, :, unit : unit + n]
            usual_mean, usual_variance = mean[k, unit : unit + n], variance[k, unit : unit + n]
            _measure(value[0], sums, squares, size, usual_mean, usual_variance, correct, own)
            for i in range(n):
                scale, shift = row[scales[layer] + i], row[shifts[layer] + i]
                factor[i], offset[i] = scale, shift
                if layer > 0:
                    factor[i] *= own[GAIN, i]
                    offset[i] += scale * (own[SHIFT, i] - own[GAIN, i] * own[MEAN, i])
            if layer == 0:
                for i in range(size):
                    for j in range(n):
                        value[i, j] = own[GAIN, j] * (value[i, j] - own[MEAN, j]) + own[SHIFT, j]
            constant, scaled = np.empty(m, matrix.dtype), product[: n * m].reshape(n, m)
            fold(row, layer, sizes, weights, biases, factor, offset, scaled, constant)
            if layer == layers - 1:
                into = output[k]
            else:
                into = hidden[k, place : place + size * m].reshape(size, m)
                place += size * m
            sums[:], squares[:] = zero, zero
            for begin in range(0, size, chunk):
                taken = min(chunk, size - begin)
                part = into[begin : begin + taken]
                np.dot(value[begin : begin + taken], scaled, part)
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
                    _add(part[i], into[0], sums, squares)
            value = into
            unit += n


@compiled
def _add(value: Numbers, base: Numbers, sums: Numbers, squares: Numbers) -> None:
    """Add a row's distances from `base`, and their squares. Seen from a row of the batch no digits drown in a mean."""
    for j in range(len(value)):
        away = value[j] - base[j]
        sums[j] += away
        squares[j] += away * away


@compiled
def _measure(
    base: Numbers, sums: Numbers, squares: Numbers, size: int, mean: Numbers, variance: Numbers, correct: bool,
    own: Numbers,
) -> None:  # fmt: skip
    """Fill `own` (5, n) from sums of `_add` over the batch."""
    kind = base.dtype.type
    one, zero, epsilon = kind(1), kind(0), kind(BATCH_EPSILON)
    for j in range(len(base)):
        away = sums[j] / kind(size)
        centre = base[j] + away
        spread = max(zero, squares[j] - sums[j] * away) / kind(size - 1)
        deviation = np.sqrt(spread + epsilon)
        ratio, shift = one, zero
        if correct:
            usual = np.sqrt(variance[j] + epsilon)
            ratio = min(max(deviation / usual, kind(1.0 / LARGEST_RATIO)), kind(LARGEST_RATIO))
            shift = min(max((centre - mean[j]) / usual, kind(-LARGEST_SHIFT)), kind(LARGEST_SHIFT))
        own[MEAN, j], own[VARIANCE, j], own[GAIN, j] = centre, spread, ratio / deviation
        own[RATIO, j], own[SHIFT, j] = ratio, shift


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
            own = statistics[k, :, unit : unit + n]
            place = size * (unit - sizes[0])
            kept = hidden[k, place : place + size * n] if layer > 0 else normed[k]
            value = kept.reshape(size, n)
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
            np.dot(value.T, slope, along)
            scaled = scaled_weights[: n * m].reshape(n, m)
            for i in range(n):
                gain, constant = kind(1), kind(0)
                if layer > 0:
                    gain, constant = own[GAIN, i], own[SHIFT, i] - own[GAIN, i] * own[MEAN, i]
                for j in range(m):
                    along[i, j] = gain * along[i, j] + constant * of_bias[j]
                    of_weight[i, j] = scale[i] * along[i, j] + shift[i] * of_bias[j]
                    scaled[i, j] = scale[i] * weight[i, j]
                of_scale[i] = row_dot(weight[i], along[i])
                of_shift[i] = row_dot(weight[i], of_bias)
            if layer == 0 and embedded == 0 and columns == 0:
                continue
            through = below[: size * n].reshape(size, n)
            _to_standardised(slope, scaled, through)
            _to_sum(through, value, scale, of_scale, of_shift, own, layer > 0, tanh)
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
def _to_sum(
    through: Numbers, value: Numbers, scale: Numbers, of_scale: Numbers, of_shift: Numbers, own: Numbers, hidden: bool,
    tanh: bool,
) -> None:  # fmt: skip
    """The slope g in x̂ becomes that in what was normalised, and, of a hidden layer, in its sums before the activation.

    It is (r/σ_B)·(g − mean g − x̂_B·Σ(g·x̂_B)/(B − 1)), x̂_B = (x̂ − d)/r. The sums over the batch are known: Σg =
    scale·(slope in the shift), Σ(g·x̂) = scale·(slope in the scale). value (B, n): h of a hidden layer, x̂ of inputs.
    """
    size, n = through.shape
    kind = through.dtype.type
    zero, one = kind(0), kind(1)
    gains, constants, factors = np.empty(n, through.dtype), np.empty(n, through.dtype), np.empty(n, through.dtype)
    for j in range(n):
        total, along = scale[j] * of_shift[j], scale[j] * of_scale[j]
        gain, ratio, shift = own[GAIN, j], own[RATIO, j], own[SHIFT, j]
        share = (along - shift * total) / (ratio * ratio * kind(size - 1))
        gains[j], factors[j], constants[j] = gain, -gain * share, gain * (shift * share - total / kind(size))
        if hidden:
            constants[j] += factors[j] * (shift - gain * own[MEAN, j])
            factors[j] *= gain
    for i in range(size):
        for j in range(n):
            through[i, j] = gains[j] * through[i, j] + (factors[j] * value[i, j] + constants[j])
        if hidden and tanh:
            for j in range(n):
                through[i, j] *= one - value[i, j] * value[i, j]
        elif hidden:
            for j in range(n):
                through[i, j] = zero if value[i, j] <= zero else through[i, j]
