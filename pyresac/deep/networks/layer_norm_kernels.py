"""Layer normalisation of one row, forward and back, for `pass_kernels`.

x̂ = (x − mean x)/√(var x + ε), y = scale·x̂ + shift, over the units of a layer (Ba et al. 2016, arXiv:1607.06450, Eq. 4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.deep.networks.layout import LAYER_EPSILON
from pyresac.jit import compiled

Numbers = NDArray[Any]


@compiled
def normalise(row: Numbers, scale: Numbers, shift: Numbers, normed: Numbers) -> Any:
    """x in `row` (n,) becomes y; `normed` becomes x̂; returns 1/√(var + ε)."""
    kind, count = row.dtype.type, len(row)
    mean = _sum(row) / kind(count)
    for j in range(count):
        normed[j] = row[j] - mean
    inverse = kind(1.0) / np.sqrt(_dot(normed, normed) / kind(count) + kind(LAYER_EPSILON))
    for j in range(count):
        normed[j] *= inverse
        row[j] = scale[j] * normed[j] + shift[j]
    return inverse


@compiled
def normalise_back(slope: Numbers, scale: Numbers, normed: Numbers, inverse: Any) -> None:
    """The slope in y, `slope` (n,), becomes that in x: with g = scale·slope, (g − mean g − x̂·mean(g·x̂))/√(var + ε)."""
    kind, count = slope.dtype.type, len(slope)
    for j in range(count):
        slope[j] *= scale[j]
    mean, along = _sum(slope) / kind(count), _dot(slope, normed) / kind(count)
    for j in range(count):
        slope[j] = inverse * (slope[j] - mean - normed[j] * along)


@compiled
def _sum(values: Numbers) -> Any:
    """Of a row, by eight sums: one alone would wait for each addition."""
    a = b = c = d = e = f = g = h = values.dtype.type(0)
    whole = len(values) // 8 * 8
    for j in range(0, whole, 8):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
        e += values[j + 4]
        f += values[j + 5]
        g += values[j + 6]
        h += values[j + 7]
    for j in range(whole, len(values)):
        a += values[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@compiled
def _dot(first: Numbers, second: Numbers) -> Any:
    """Of two rows, as `_sum` does it; for a row the call of a BLAS costs more than its work."""
    a = b = c = d = e = f = g = h = first.dtype.type(0)
    whole = len(first) // 8 * 8
    for j in range(0, whole, 8):
        a += first[j] * second[j]
        b += first[j + 1] * second[j + 1]
        c += first[j + 2] * second[j + 2]
        d += first[j + 3] * second[j + 3]
        e += first[j + 4] * second[j + 4]
        f += first[j + 5] * second[j + 5]
        g += first[j + 6] * second[j + 6]
        h += first[j + 7] * second[j + 7]
    for j in range(whole, len(first)):
        a += first[j] * second[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
