"""Layer normalisation of one row, forward and back, for `pass_kernels`.

x̂ = (x − mean x)/√(var x + ε), y = scale·x̂ + shift, over the units of a layer (Ba et al. 2016, arXiv:1607.06450, Eq. 4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.deep.networks.network_layout import LAYER_EPSILON
from pyresac.deep.networks.row_sums import row_dot, row_sum
from pyresac.jit import compiled

Numbers = NDArray[Any]


@compiled
def normalise(row: Numbers) -> Any:
    """x in `row` (n,) becomes x̂; returns 1/√(var + ε)."""
    kind, count = row.dtype.type, len(row)
    mean = row_sum(row) / kind(count)
    for j in range(count):
        row[j] -= mean
    inverse = kind(1.0) / np.sqrt(row_dot(row, row) / kind(count) + kind(LAYER_EPSILON))
    for j in range(count):
        row[j] *= inverse
    return inverse


@compiled
def scale_and_shift(normed: Numbers, scale: Numbers, shift: Numbers, row: Numbers) -> None:
    """`row` (n,) becomes y of x̂, which is `normed`."""
    for j in range(len(row)):
        row[j] = scale[j] * normed[j] + shift[j]


@compiled
def normalise_back(slope: Numbers, scale: Numbers, normed: Numbers, inverse: Any) -> None:
    """The slope in y, `slope` (n,), becomes that in x: with g = scale·slope, (g − mean g − x̂·mean(g·x̂))/√(var + ε)."""
    kind, count = slope.dtype.type, len(slope)
    for j in range(count):
        slope[j] *= scale[j]
    mean, along = row_sum(slope) / kind(count), row_dot(slope, normed) / kind(count)
    for j in range(count):
        slope[j] = inverse * (slope[j] - mean - normed[j] * along)
