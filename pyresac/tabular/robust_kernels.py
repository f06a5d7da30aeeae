"""Compiled inner problems of the robust expectations: the worst row of one uncertainty set against one value.

Each row solver writes the minimising weights on the stored successors into `w`; `sweep` runs it over all pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.jit import compiled
from pyresac.tabular.checks import Floats

L1, INTERVAL, KL, ENTROPIC = 0, 1, 2, 3
KL_UNSOLVED = -1.0


@compiled
def l1_row(p: Floats, x: Floats, lowest: float, radius: float, w: Floats) -> float:
    """min of Σ q·x over ‖q − p‖₁ ≤ radius: half the radius moves from the highest values to the lowest state.

    Returns the mass moved, which belongs to a state of value `lowest` (the least of all states, stored here or not).
    """
    left = 0.5 * radius
    moved = 0.0
    w[:] = p
    for i in np.argsort(-x):
        if left <= 0.0 or x[i] <= lowest:
            break
        step = min(left, p[i])
        w[i] = p[i] - step
        moved += step
        left -= step
    return moved


@compiled
def interval_row(low: Floats, high: Floats, x: Floats, w: Floats) -> None:
    """min of Σ q·x over low ≤ q ≤ high, Σ q = 1: fill up from the lowest value."""
    w[:] = low
    left = 1.0 - low.sum()
    for i in np.argsort(x):
        if left <= 0.0:
            break
        step = min(left, high[i] - low[i])
        w[i] += step
        left -= step


@compiled
def _tilt(p: Floats, d: Floats, theta: float, w: Floats) -> tuple[float, float]:
    """The Gibbs weights w ∝ p·exp(−θd) for d ≥ 0: (their mean of d, log Σ p·exp(−θd))."""
    total = 0.0
    slack = 0.0
    for i in range(len(p)):
        e = np.exp(-theta * d[i])
        w[i] = p[i] * e
        total += w[i]
        slack += p[i] * np.expm1(-theta * d[i])
    # Near 1 the sum itself has lost the digits that log needs; the sum of expm1 has not.
    log_total = np.log1p(slack) if slack > -0.5 else np.log(total)
    mean = 0.0
    for i in range(len(p)):
        w[i] /= total
        mean += w[i] * d[i]
    return mean, log_total


@compiled
def kl_row(p: Floats, x: Floats, radius: float, w: Floats) -> tuple[float, float]:
    """(min of Σ q·x over KL(q‖p) ≤ radius, the duality gap reached or KL_UNSOLVED), by bisection on the tilt θ.

    KL(q_θ‖p) of the Gibbs weights grows with θ from 0 to −log p(argmin). With λ = 1/θ the duality gap is
    λ(radius − KL), so θ is moved until that is below 16 roundings of the spread of x, the unit of all that follows.
    The value is that of the dual, −λ(log Σ p·exp(−θd) + radius): the last bit of θ moves it in second order only, and
    the mean under q_θ by θ·Var, hundreds of roundings where p has tiny entries.
    """
    lowest, highest = np.inf, -np.inf
    for i in range(len(p)):
        if p[i] > 0.0:
            lowest, highest = min(lowest, x[i]), max(highest, x[i])
    spread = highest - lowest
    if spread == 0.0 or radius == 0.0:
        w[:] = p
        return float((p * x).sum()), 0.0
    d = np.where(p > 0.0, (x - lowest) / spread, 0.0)
    at_lowest = 0.0
    for i in range(len(p)):
        if p[i] > 0.0 and d[i] == 0.0:
            at_lowest += p[i]
    if radius >= -np.log(at_lowest):
        for i in range(len(p)):
            w[i] = p[i] / at_lowest if d[i] == 0.0 else 0.0
        return lowest, 0.0
    enough = 16 * 2.0**-53
    low, high = 0.0, 1.0
    for _ in range(2000):
        mean, log_total = _tilt(p, d, high, w)
        if -high * mean - log_total >= radius:
            break
        low, high = high, 2.0 * high
    for _ in range(400):
        theta = 0.5 * (low + high)
        mean, log_total = _tilt(p, d, theta, w)
        # λ·KL, kept in units of x so that a tiny radius loses no digits to it.
        spent = -mean - log_total / theta
        gap = radius / theta - spent
        if 0.0 <= gap <= enough or theta in (low, high):
            return float(lowest - spread * ((log_total + radius) / theta)), float(spread * max(gap, 0.0))
        if gap > 0.0:
            low = theta
        else:
            high = theta
    return np.nan, KL_UNSOLVED


@compiled
def entropic_row(p: Floats, x: Floats, beta: float, w: Floats) -> float:
    """−(1/β)·log Σ p·exp(−βx); `w` receives the Gibbs weights, which attain the dual minimum (C26)."""
    lowest = np.inf
    for i in range(len(p)):
        if p[i] > 0.0 and x[i] < lowest:
            lowest = x[i]
    _, log_total = _tilt(p, np.where(p > 0.0, x - lowest, 0.0), beta, w)
    return float(lowest - log_total / beta)


@compiled
def sweep(
    kind: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    first: Floats,
    second: Floats,
    parameter: Floats,
    v: Floats,
    out: Floats,
    weights: Floats,
    moved: Floats,
) -> float:
    """out[pair] = the worst expectation of v at each pair; returns the largest duality gap (KL), or KL_UNSOLVED.

    first: kernel data (nnz), or the lower bounds of an interval set; second: the upper bounds (else unused).
    parameter: radius or β of each pair. weights (nnz or 0): receives the minimisers where it has room, as does `moved`.
    """
    lowest = v.min()
    worst_gap = 0.0
    for pair in range(len(indptr) - 1):
        start, end = indptr[pair], indptr[pair + 1]
        if start == end:
            continue
        p = first[start:end]
        x = v[indices[start:end]]
        w = np.empty(end - start)
        extra = 0.0
        if kind == L1:
            extra = l1_row(p, x, lowest, parameter[pair], w)
        elif kind == INTERVAL:
            interval_row(p, second[start:end], x, w)
        elif kind == KL:
            out[pair], gap = kl_row(p, x, parameter[pair], w)
            if gap == KL_UNSOLVED:
                return KL_UNSOLVED
            worst_gap = max(worst_gap, gap)
        if kind == ENTROPIC:
            out[pair] = entropic_row(p, x, parameter[pair], w)
        elif kind != KL:
            out[pair] = (w * x).sum() + extra * lowest
        if len(weights):
            weights[start:end] = w
            moved[pair] = extra
    return worst_gap
