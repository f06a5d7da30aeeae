"""Sums over a row in compiled code."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pyresac.jit import compiled_sum

Numbers = NDArray[Any]


@compiled_sum
def row_sum(values: Numbers) -> Any:
    """Σ_j values_j."""
    total = values.dtype.type(0)
    for j in range(len(values)):
        total += values[j]
    return total


@compiled_sum
def row_dot(first: Numbers, second: Numbers) -> Any:
    """Σ_j first_j·second_j; for a row the call of a BLAS costs more than its work."""
    total = first.dtype.type(0)
    for j in range(len(first)):
        total += first[j] * second[j]
    return total
