"""Where filling a row up ends: the inner problem of every set whose rows are filled from one end of the values."""

from __future__ import annotations

import numpy as np

from pyresac.jit import compiled, inlined
from pyresac.tabular.checks import Floats

FEW = 12
"""Steps from value to value, after which sorting the row costs less."""


@compiled
def level_by_sorting(room: Floats, x: Floats, left: float) -> float:
    """The level of `fill_level`, where it is far from where that looked first."""
    level = -np.inf
    for i in np.argsort(x[: len(room)]):
        level = x[i]
        left -= room[i]
        if left <= 0.0:
            break
    return level


@inlined
def fill_level(n: int, room: Floats, x: Floats, left: float, warm: float) -> tuple[float, float, float, float]:
    """Fill the first n of `room` from the least x until the mass `left` is placed.

    Returns the level (successors below it are full, those above it empty), the mass below it, the mass placed on it,
    and the place of a successor on it. One pass over the row, with no branch on its values, says whether a level is
    right. That of the successor which was on it last time (`warm`, NaN at first) mostly is; else the level steps to the
    next value. It never turns back: the mass up to one value and that below the next are the same sum, bit for bit.
    """
    steps = 0
    level = np.inf
    if warm >= 0.0:
        level = x[np.int64(warm)]
    else:
        for i in range(n):
            level = min(level, x[i])
    while True:
        below, up_to = 0.0, 0.0
        for i in range(n):
            y, mass = x[i], room[i]
            below += mass if y < level else 0.0
            up_to += mass if y <= level else 0.0
        nearest = np.inf
        if left > up_to:
            for i in range(n):
                y = x[i]
                nearest = min(nearest, y if y > level else np.inf)
        elif left < below:
            for i in range(n):
                y = x[i]
                nearest = min(nearest, -y if y < level else np.inf)
            nearest = -nearest
        if abs(nearest) == np.inf:
            break
        steps += 1
        level = nearest if steps != FEW else level_by_sorting(room[:n], x, left)
    if steps > 0 or not warm >= 0.0:
        at = 0
        for i in range(n):
            at = i if x[i] == level else at
        warm = float(at)
    return level, below, min(max(left - below, 0.0), up_to - below), warm
