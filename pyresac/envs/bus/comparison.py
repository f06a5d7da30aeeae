"""Summaries over days: mean and deviation of a metric, and paired differences of two controllers on the same days."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from pyresac.envs.bus.corridor import Array
from pyresac.errors import InputError


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation (divisor n − 1; NaN for one day) over days."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class Difference:
    """Mean of the paired differences, with a Student confidence interval mean ± half_width."""

    mean: float
    half_width: float
    level: float

    @property
    def sure(self) -> bool:
        """True where the interval leaves out 0."""
        return abs(self.mean) > self.half_width


def summarise(values: Array) -> Summary:
    """The summary of one metric over days (n,)."""
    return Summary(float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else math.nan)


def half_interval(values: Array, level: float = 0.95) -> float:
    """Half of Student's confidence interval of a mean over days; NaN for one day."""
    if values.size < 2:
        return math.nan
    quantile = float(stats.t.ppf(0.5 + level / 2.0, values.size - 1))
    return quantile * float(values.std(ddof=1)) / math.sqrt(values.size)


def paired_difference(values: Array, reference: Array, level: float = 0.95) -> Difference:
    """values − reference, day by day; exact for normal differences, and both on the same seeds (common random
    numbers)."""
    if values.shape != reference.shape or values.size < 2:
        raise InputError(f"paired differences need the same days, at least 2; got {values.size} and {reference.size}")
    if not 0.0 < level < 1.0:
        raise InputError(f"the confidence level is {level}; it must lie between 0 and 1")
    difference = values - reference
    error = float(difference.std(ddof=1)) / math.sqrt(difference.size)
    quantile = float(stats.t.ppf(0.5 + level / 2.0, difference.size - 1))
    return Difference(float(np.mean(difference)), quantile * error, level)
