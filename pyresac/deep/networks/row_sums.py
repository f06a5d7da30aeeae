"""Sums over a row in compiled code, by eight at a time: one sum alone would wait for each of its additions."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pyresac.jit import compiled

Numbers = NDArray[Any]


@compiled
def row_sum(values: Numbers) -> Any:
    """Of a row."""
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
def row_dot(first: Numbers, second: Numbers) -> Any:
    """Of the products of two rows; the call of a BLAS would cost more than the work."""
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
