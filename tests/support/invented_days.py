"""Observed days of a line, made from running times."""

from __future__ import annotations

import numpy as np

from pyresac.envs.bus.avl.observed import ObservedWay
from pyresac.envs.bus.corridor import Array

LAUNCHES = np.array([0.0, 1200.0, 2400.0, 3700.0, 4800.0])


def way_of(
    running: Array, dwell: float | Array = 10.0, launches: Array = LAUNCHES, late: Array | None = None
) -> ObservedWay:
    """Of (D, N, S − 1) running times; a dwell (S − 1,) at every stop but the last."""
    arrive = np.zeros((*running.shape[:2], running.shape[2] + 1))
    arrive[:, :, 0] = launches if late is None else launches + late
    steps = running + np.broadcast_to(dwell, running.shape[2])
    arrive[:, :, 1:] = arrive[:, :, :1] + np.cumsum(steps, axis=2)
    depart = arrive + np.append(np.broadcast_to(dwell, running.shape[2]), np.nan)
    return ObservedWay(launches, arrive, depart)


def noisy(seed: int, days: int = 40, links: int = 4, mean: float = 60.0, spread: float = 0.1) -> ObservedWay:
    noise = np.random.default_rng(seed)
    return way_of(mean * (1.0 + spread * noise.standard_normal((days, len(LAUNCHES), links))))
