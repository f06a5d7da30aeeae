"""Confidence intervals of a mean over episodes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def half_width(sample: NDArray[np.float64]) -> float:
    """Half of the 95 % interval of a mean, by the normal approximation, from at least two values."""
    return float(1.96 * sample.std(ddof=1) / math.sqrt(len(sample)))
