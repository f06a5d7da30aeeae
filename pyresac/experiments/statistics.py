"""Statistics of a few runs: interquartile mean, stratified bootstrap, probability of improvement, profiles.

Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice". Scores come as
(runs, tasks); tests hold the results to figures of rliable 1.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Scores = NDArray[np.float64]
REPETITIONS = 2_000
LEVEL = 0.95


class Interval(NamedTuple):
    """A point estimate with its interval."""

    point: float
    low: float
    high: float

    def side(self, of: float = 0.0) -> int:
        """1 if all of it is above `of`, −1 if all of it is below, 0 if it is around it."""
        return 1 if self.low > of else -1 if self.high < of else 0

    @property
    def signed(self) -> str:
        """A difference in words, in whole numbers: +30 [-2, +62]."""
        return f"{self.point:+,.0f} [{self.low:+,.0f}, {self.high:+,.0f}]"


def interquartile_mean(scores: Scores) -> Scores:
    """Mean of the middle half along the last axis: ⌊n/4⌋ of n are left out on each side."""
    ordered = np.sort(scores, axis=-1)
    count = ordered.shape[-1]
    cut = count // 4
    return np.asarray(ordered[..., cut : count - cut].mean(-1))


def resampled(scores: Scores, generator: np.random.Generator, repetitions: int = REPETITIONS) -> Scores:
    """(repetitions, runs, tasks): runs drawn with replacement within each task, independently of the other tasks."""
    runs, tasks = scores.shape
    chosen = generator.integers(0, runs, (repetitions, runs, tasks))
    return np.asarray(scores[chosen, np.arange(tasks)])


def interval(
    scores: Scores, generator: np.random.Generator, aggregate: Callable[[Scores], Scores] = interquartile_mean
) -> Interval:
    """An aggregate of all scores (runs, tasks), with its percentile interval by the stratified bootstrap."""
    draws = aggregate(resampled(scores, generator).reshape(REPETITIONS, -1))
    low, high = np.percentile(draws, [50.0 * (1.0 - LEVEL), 50.0 * (1.0 + LEVEL)])
    return Interval(float(aggregate(scores.reshape(-1))), float(low), float(high))


def improvement(first: Scores, second: Scores) -> float:
    """Probability that a run of `first` beats one of `second` on a task drawn uniformly; ties count a half.

    Both (runs, tasks), the number of runs may differ.
    """
    greater = (first[:, None] > second[None]).mean((0, 1))
    equal = (first[:, None] == second[None]).mean((0, 1))
    return float((greater + 0.5 * equal).mean())


def improvement_interval(first: Scores, second: Scores, generator: np.random.Generator) -> Interval:
    """`improvement` with its interval."""
    draws = [
        improvement(one, other)
        for one, other in zip(resampled(first, generator), resampled(second, generator), strict=True)
    ]
    low, high = np.percentile(draws, [50.0 * (1.0 - LEVEL), 50.0 * (1.0 + LEVEL)])
    return Interval(improvement(first, second), float(low), float(high))


def performance_profile(scores: Scores, thresholds: NDArray[np.float64]) -> Scores:
    """(T,) share of all runs and tasks whose score is above each threshold."""
    return np.asarray((scores.reshape(-1)[:, None] > thresholds).mean(0))


def rank_correlation(x: Scores, y: Scores) -> float:
    """Spearman's, of two samples (n,); 0 if one of them is constant."""
    first, second = rankdata(x), rankdata(y)
    return float(np.corrcoef(first, second)[0, 1]) if first.std() > 0.0 and second.std() > 0.0 else 0.0


def paired_interval(first: Scores, second: Scores, generator: np.random.Generator) -> Interval:
    """Mean difference of scores (runs, tasks) that share their seeds row by row, with its interval.

    Raises ValueError unless both have the same shape.
    """
    if first.shape != second.shape:
        raise ValueError(f"scores are {first.shape} and {second.shape}; paired scores have one shape")
    return interval(first - second, generator, lambda scores: np.asarray(scores.mean(-1)))
