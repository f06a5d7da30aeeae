"""Compiled sweeps and elimination for affine maps v ↦ rhs + D v, which a fixed policy's backup is.

D is S × S in CSR form (indptr, indices, data), its indices unsigned as in `kernels`. As there, all release the GIL and
none reassociates sums.
"""

from __future__ import annotations

import numpy as np

from pyresac.jit import compiled
from pyresac.tabular.kernels import Floats, Unsigned


@compiled
def affine_sweep(
    indptr: Unsigned, indices: Unsigned, data: Floats, rhs: Floats, v: Floats, start: int, stop: int, out: Floats
) -> tuple[float, float]:
    """out = rhs + D v for the states start…stop − 1. Returns (min, max) of out − v there."""
    low, high = np.inf, -np.inf
    first = indptr[start]
    for s in range(start, stop):
        total = rhs[s]
        last = indptr[s + 1]
        for k in range(first, last):
            total += data[k] * v[indices[k]]
        first = last
        gap = total - v[s]
        low, high = min(low, gap), max(high, gap)
        out[s] = total
    return low, high


@compiled
def affine_in_place(indptr: Unsigned, indices: Unsigned, data: Floats, rhs: Floats, v: Floats, backward: bool) -> float:
    """One Gauss–Seidel sweep of v = rhs + D v. Returns the largest change."""
    largest = 0.0
    for i in range(v.size):
        s = v.size - 1 - i if backward else i
        total = rhs[s]
        for k in range(indptr[s], indptr[s + 1]):
            total += data[k] * v[indices[k]]
        largest = max(largest, abs(total - v[s]))
        v[s] = total
    return largest


@compiled
def bandwidth(indptr: Unsigned, indices: Unsigned, rows_per_state: int, limit: int) -> int:
    """max |s' − s| over the stored entries; counting stops at the first entry beyond `limit`, returning limit + 1."""
    widest = 0
    for row in range(indptr.size - 1):
        s = row // rows_per_state
        for k in range(indptr[row], indptr[row + 1]):
            apart = np.int64(indices[k]) - s
            if apart > widest or -apart > widest:
                widest = int(abs(apart))
        if widest > limit:
            return limit + 1
    return widest


@compiled
def solve_banded(indptr: Unsigned, indices: Unsigned, data: Floats, width: int, x: Floats) -> None:
    """x ← (I − D)⁻¹ x for D of the given bandwidth, by elimination without pivoting.

    I − D is strictly diagonally dominant by rows (rows of D sum to at most γ < 1), an M-matrix: elimination in the
    natural order is stable, and every pivot stays at least 1 − γ.
    """
    n = x.size
    band = np.zeros((n, width + 1))
    row = np.zeros(2 * width + 1)
    for s in range(n):
        row[:] = 0.0
        row[width] = 1.0
        for k in range(indptr[s], indptr[s + 1]):
            row[np.int64(indices[k]) - s + width] -= data[k]
        for j in range(width):
            above = s - width + j
            factor = row[j]
            if factor == 0.0:
                continue
            x[s] -= factor * x[above]
            for t in range(1, width + 1):
                row[j + t] -= factor * band[above, t]
        pivot = 1.0 / row[width]
        x[s] *= pivot
        for t in range(1, width + 1):
            band[s, t] = row[width + t] * pivot
    for s in range(n - 2, -1, -1):
        for t in range(1, min(width, n - 1 - s) + 1):
            x[s] -= band[s, t] * x[s + t]
