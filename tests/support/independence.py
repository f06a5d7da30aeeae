"""Random numbers that must have nothing to do with each other: no two columns of a sample may move together."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
CHANCE = 1e-9
"""Of a false alarm, over all pairs of a sample together. Seeds are fixed, so an alarm that is not there stays away."""


def correlation_bound(rows: int, pairs: int) -> float:
    """What no |correlation| of `pairs` pairs of independent columns exceeds, but with probability CHANCE.

    The transform artanh(r)·√(n − 3) of Fisher is a standard normal number in the limit, and nearly one from 50 rows on.
    """
    level = stats.norm.isf(CHANCE / (2 * pairs))
    return math.tanh(level / math.sqrt(rows - 3))


def assert_apart(sample: NDArray[np.generic], names: list[str] | None = None) -> None:
    """No two columns of (n, k) numbers are correlated, and none is constant."""
    values = np.asarray(sample, dtype=np.float64)
    rows, columns = values.shape
    assert rows >= 50, "too few to tell"
    spread = values.std(axis=0)
    assert (spread > 0.0).all(), f"column {int(spread.argmin())} never changes"
    if columns < 2:
        return
    centred = (values - values.mean(axis=0)) / spread
    found = np.abs(centred.T @ centred) / rows
    np.fill_diagonal(found, 0.0)
    first, second = np.unravel_index(int(found.argmax()), found.shape)
    pair = (first, second) if names is None else (names[first], names[second])
    assert found.max() < correlation_bound(rows, columns * (columns - 1) // 2), f"columns {pair} move together"


def assert_apart_along_every_axis(sample: NDArray[np.generic], repeats: int = 0) -> None:
    """Of (n, …) continuous draws: each axis in turn is the one of the columns, and all numbers are different but for
    `repeats` equal ones that rounding makes.

    The other axes are the rows, so that what two places of an axis share shows, wherever it is.
    """
    values = np.asarray(sample, dtype=np.float64)
    assert len(np.unique(values)) >= values.size - repeats, "some numbers were drawn twice"
    assert_apart(values.reshape(len(values), -1))
    for axis in range(values.ndim):
        if values.shape[axis] > 1 and values.size // values.shape[axis] >= 50:
            assert_apart(np.moveaxis(values, axis, -1).reshape(-1, values.shape[axis]))
