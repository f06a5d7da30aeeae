"""Compiled passes through heads of equal perceptrons: what a CPU spends its time in.

A batch is taken in chunks of rows whose activations stay in a core's cache from layer to layer, and all
but the products are loops over numbers that are there. The products are SciPy's BLAS. Kernels release the GIL and write
disjoint parts, so that ranges of heads can go to several threads; results do not depend on how they are shared out.

Shared arguments, for heads `first` to `last` of K networks of L layers, H_l units wide, H_0 inputs and H_L outputs:
matrix (K, P) parameters; tanh, the activation, else ReLU; sizes (L + 1,) H_0 … H_L; weights, biases (L,), where each
begins in a row; dense (B, D); codes (B, F), offset, F may be 0; tables (F,) where each table begins in a row; widths
(F,) of the embeddings; starts (F + 1,) the first of each feature's codes; scales, shifts (L − 1,), where those of each
hidden layer's normalisation begin, or (0,) without one; hidden (K, R·ΣH_l), of R rows, one layer after the other, l =
1 … L − 1, activations, or with normalisation x̂, from which they are made again; inverse (K, R·(L − 1)), 1/√(var + ε) of
normalisation, without columns if there is none; chunk, the number of rows taken at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.deep.networks.layer_norm_kernels import normalise, normalise_back, scale_and_shift
from pyresac.deep.networks.network_layout import Integers
from pyresac.jit import compiled

Numbers = NDArray[Any]


@compiled
def forward(
    matrix: Numbers, first: int, last: int, tanh: bool, sizes: Integers, weights: Integers, biases: Integers,
    tables: Integers, widths: Integers, starts: Integers, scales: Integers, shifts: Integers, dense: Numbers,
    codes: Integers, hidden: Numbers, inverse: Numbers, rows: int, output: Numbers, chunk: int,
) -> bool:  # fmt: skip
    """Fill `output` (K, B, H_L), `hidden` and `inverse`. If rows = B these two keep all rows, if rows = chunk the last
    chunk's.

    Returns False, and writes nothing, if a code is outside its range.
    """
    for i in range(codes.shape[0]):
        for f in range(codes.shape[1]):
            if not 0 <= codes[i, f] < starts[-1]:
                return False
    size, inputs = dense.shape
    layers, zero = len(sizes) - 1, matrix.dtype.type(0)
    active = np.empty(chunk * sizes[1:].max() if len(scales) > 0 else 0, matrix.dtype)
    for k in range(first, last):
        row = matrix[k]
        # what each code adds to the first layer: its embedding times its rows of the first weights
        of_code = np.empty((starts[-1], sizes[1]), matrix.dtype)
        at = weights[0] + inputs * sizes[1]
        for f in range(len(tables)):
            count, width = starts[f + 1] - starts[f], widths[f]
            table = row[tables[f] : tables[f] + count * width].reshape(count, width)
            part = row[at : at + width * sizes[1]].reshape(width, sizes[1])
            np.dot(table, part, of_code[starts[f] : starts[f + 1]])
            at += width * sizes[1]
        for begin in range(0, size, chunk):
            taken = min(chunk, size - begin)
            value, start = dense[begin : begin + taken], (begin if rows == size else 0)
            layer_begin = 0
            for layer in range(layers - 1):
                n, m = value.shape[1], sizes[layer + 1]
                place = layer_begin + start * m
                into = hidden[k, place : place + taken * m].reshape(taken, m)
                if n > 0:
                    np.dot(value, row[weights[layer] : weights[layer] + n * m].reshape(n, m), into)
                else:
                    into[:] = zero
                bias = row[biases[layer] : biases[layer] + m]
                after = active[: taken * m].reshape(taken, m) if len(scales) > 0 else into
                for i in range(taken):
                    if layer == 0:
                        for f in range(codes.shape[1]):
                            code = codes[begin + i, f]
                            for j in range(m):
                                into[i, j] += of_code[code, j]
                    if len(scales) > 0:
                        for j in range(m):
                            into[i, j] += bias[j]
                        scale = row[scales[layer] : scales[layer] + m]
                        shift = row[shifts[layer] : shifts[layer] + m]
                        inverse[k, layer * rows + start + i] = normalise(into[i])
                        scale_and_shift(into[i], scale, shift, after[i])
                        _activate(after[i], tanh)
                    elif tanh:
                        for j in range(m):
                            into[i, j] = np.tanh(into[i, j] + bias[j])
                    else:
                        for j in range(m):
                            x = into[i, j] + bias[j]
                            # NaN stays NaN
                            into[i, j] = zero if x < zero else x
                value = after
                layer_begin += rows * m
            n, m = value.shape[1], sizes[layers]
            last_weight = row[weights[layers - 1] : weights[layers - 1] + n * m].reshape(n, m)
            result = output[k, begin : begin + taken]
            np.dot(value, last_weight, result)
            for i in range(taken):
                for j in range(m):
                    result[i, j] += row[biases[layers - 1] + j]
    return True


@compiled
def backward(
    matrix: Numbers, first: int, last: int, tanh: bool, sizes: Integers, weights: Integers, biases: Integers,
    tables: Integers, widths: Integers, starts: Integers, scales: Integers, shifts: Integers, dense: Numbers,
    codes: Integers, hidden: Numbers, inverse: Numbers, rows: int, of_output: Numbers, gradient: Numbers,
    of_inputs: Numbers, chunk: int,
) -> None:  # fmt: skip
    """From of_output (K, B, H_L) to `gradient` (K, P), and to of_inputs (K, B, C), of the first C continuous inputs.

    B may be below the number of rows of `hidden`. An empty `gradient` is left out; with C = 0 that of the inputs is.
    """
    size, inputs = dense.shape
    layers, zero, wide = len(sizes) - 1, matrix.dtype.type(0), sizes[1]
    widest, largest, total = 0, inputs * wide, 0
    for layer in range(1, layers):
        widest, total = max(widest, sizes[layer]), total + sizes[layer]
        largest = max(largest, sizes[layer] * sizes[layer + 1])
    active = np.empty(chunk * widest if len(scales) > 0 else 0, matrix.dtype)
    for k in range(first, last):
        row = matrix[k]
        above, below_slope = np.empty(chunk * widest, matrix.dtype), np.empty(chunk * widest, matrix.dtype)
        product = np.empty(largest, matrix.dtype)
        of_code = np.zeros((starts[-1], wide), matrix.dtype)
        if len(gradient) > 0:
            gradient[k, biases[0] : biases[layers - 1] + sizes[layers]] = zero
            if len(scales) > 0:
                gradient[k, scales[0] :] = zero
        for begin in range(0, size, chunk):
            taken = min(chunk, size - begin)
            slope, layer_begin = of_output[k, begin : begin + taken], rows * total
            for layer in range(layers - 1, -1, -1):
                m = sizes[layer + 1]
                n = inputs if layer == 0 else sizes[layer]
                layer_begin -= rows * n
                if layer > 0:
                    place = layer_begin + begin * n
                    normed = hidden[k, place : place + taken * n].reshape(taken, n)
                    below = normed
                    if len(scales) > 0:
                        below = active[: taken * n].reshape(taken, n)
                        at = scales[layer - 1]
                        shift = row[shifts[layer - 1] : shifts[layer - 1] + n]
                        for i in range(taken):
                            scale_and_shift(normed[i], row[at : at + n], shift, below[i])
                            _activate(below[i], tanh)
                else:
                    below = dense[begin : begin + taken]
                if len(gradient) > 0:
                    of_weight = gradient[k, weights[layer] : weights[layer] + n * m].reshape(n, m)
                    if n > 0 and begin == 0:
                        np.dot(below.T, slope, of_weight)
                    elif n > 0:
                        added = product[: n * m].reshape(n, m)
                        np.dot(below.T, slope, added)
                        for i in range(n):
                            for j in range(m):
                                of_weight[i, j] += added[i, j]
                    of_bias = gradient[k, biases[layer] : biases[layer] + m]
                    for i in range(taken):
                        for j in range(m):
                            of_bias[j] += slope[i, j]
                if layer > 0:
                    weight = row[weights[layer] : weights[layer] + n * m].reshape(n, m)
                    through = below_slope[: taken * n].reshape(taken, n)
                    _through(slope, weight, below, through, tanh)
                    if len(scales) > 0:
                        at = scales[layer - 1]
                        scale = row[at : at + n]
                        for i in range(taken):
                            own = normed[i]
                            if len(gradient) > 0:
                                of_scale = gradient[k, at : at + n]
                                of_shift = gradient[k, shifts[layer - 1] : shifts[layer - 1] + n]
                                for j in range(n):
                                    of_scale[j] += through[i, j] * own[j]
                                    of_shift[j] += through[i, j]
                            normalise_back(through[i], scale, own, inverse[k, (layer - 1) * rows + begin + i])
                    above, below_slope = below_slope, above
                    slope = through
            if len(gradient) > 0:
                for i in range(taken):
                    for f in range(codes.shape[1]):
                        code = codes[begin + i, f]
                        for j in range(wide):
                            of_code[code, j] += slope[i, j]
            columns = of_inputs.shape[2]
            if columns > 0:
                weight = row[weights[0] : weights[0] + columns * wide].reshape(columns, wide)
                np.dot(slope, weight.T, of_inputs[k, begin : begin + taken])
        if len(gradient) > 0:
            at = weights[0] + inputs * wide
            for f in range(len(tables)):
                count, width = starts[f + 1] - starts[f], widths[f]
                table = slice(tables[f], tables[f] + count * width)
                part = slice(at, at + width * wide)
                slopes = of_code[starts[f] : starts[f + 1]]
                np.dot(row[table].reshape(count, width).T, slopes, gradient[k, part].reshape(width, wide))
                np.dot(slopes, row[part].reshape(width, wide).T, gradient[k, table].reshape(count, width))
                at += width * wide


@compiled
def _activate(row: Numbers, tanh: bool) -> None:
    """The activation, in place."""
    zero = row.dtype.type(0)
    for j in range(len(row)):
        # NaN stays NaN
        row[j] = np.tanh(row[j]) if tanh else zero if row[j] < zero else row[j]


@compiled
def _through(slope: Numbers, weight: Numbers, below: Numbers, through: Numbers, tanh: bool) -> None:
    """through = slope·weightᵀ times the activation's derivative at `below`, its own output."""
    count, n = through.shape
    zero, one = through.dtype.type(0), through.dtype.type(1)
    if slope.shape[1] == 1 and not tanh:
        for i in range(count):
            for j in range(n):
                through[i, j] = zero if below[i, j] <= zero else slope[i, 0] * weight[j, 0]
        return
    np.dot(slope, weight.T, through)
    if tanh:
        for i in range(count):
            for j in range(n):
                through[i, j] *= one - below[i, j] * below[i, j]
    else:
        for i in range(count):
            for j in range(n):
                through[i, j] = zero if below[i, j] <= zero else through[i, j]
