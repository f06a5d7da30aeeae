"""How far critics are from what is earned: the paper's Oracle Q-error, with and without its alignment.

Section 5.1, tables 1 and 2. The published script maps every head by the one affine map that gives the mean head's
values the mean and deviation of the returns, then takes at each step the head nearest to the return. Both choices
favour the critics: the map forgives any bias and scale, and the nearest head is known only afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
LCB = -2.0
"""β of the published lower confidence bound, mean + β·σ with the population's σ."""


class CriticErrors(NamedTuple):
    """Mean absolute errors over the steps of evaluation episodes, in the task's rewards."""

    oracle: float
    """Of the nearest head at each step."""
    mean: float
    lcb: float
    minimum: float
    bias: float
    """Mean of (Q̄ − return): below 0 the critics underestimate."""
    within: float
    """Mean over heads of the deviation of a head's error over steps: what a constant shift cannot mend."""
    between: float
    """Mean over steps of the heads' deviation from one another."""


def aligned(heads: Values, returns: Values) -> Values:
    """(K, m) heads under the affine map that gives their mean the mean and deviation of the returns (m,).

    Where the mean head is constant there is no such map; then only the means are matched.
    """
    mean = heads.mean(0)
    spread = mean.std()
    scale = returns.std() / spread if spread > 0.0 else 1.0
    return np.asarray(returns.mean() + (heads - mean.mean()) * scale)


def errors(heads: Values, returns: Values) -> CriticErrors:
    """Of heads (K, m) against discounted returns (m,), m ≥ 1."""
    away = heads - returns
    mean = heads.mean(0)
    sigma = heads.std(0)
    return CriticErrors(
        oracle=float(np.abs(away).min(0).mean()),
        mean=float(np.abs(mean - returns).mean()),
        lcb=float(np.abs(mean + LCB * sigma - returns).mean()),
        minimum=float(np.abs(heads.min(0) - returns).mean()),
        bias=float((mean - returns).mean()),
        within=float(away.std(1).mean()),
        between=float(sigma.mean()),
    )


def rareness(states: Values, reference: Values) -> Values:
    """(m,) Mahalanobis distance of states (m, C) to the mean and covariance of reference states (n, C), n ≥ 2.

    As published: 10⁻⁶ is added to the covariance's diagonal.
    """
    centred = states - reference.mean(0)
    covariance = np.atleast_2d(np.cov(reference, rowvar=False)) + 1e-6 * np.eye(reference.shape[1])
    return np.asarray(np.sqrt(np.einsum("mi,mi->m", centred, np.linalg.solve(covariance, centred.T).T)))


def binned(distance: Values, error: Values, edges: Values) -> tuple[Values, Values, NDArray[np.int64]]:
    """Mean and standard error of `error` in each bin of `distance`, and how many fall there; NaN where none does."""
    place = np.digitize(distance, edges) - 1
    count = np.array([(place == b).sum() for b in range(len(edges) - 1)])
    mean, doubt = np.full(len(count), np.nan), np.full(len(count), np.nan)
    for b in np.flatnonzero(count):
        inside = error[place == b]
        mean[b] = inside.mean()
        doubt[b] = inside.std(ddof=1) / np.sqrt(len(inside)) if len(inside) > 1 else np.nan
    return mean, doubt, count.astype(np.int64)


def published_edges(distances: Values, bins: int = 30) -> Values:
    """(bins + 1,) equal bins from 0 up to the 99th percentile of all algorithms' rareness, rounded up to a half."""
    top = np.ceil(2.0 * np.percentile(distances, 99.0)) / 2.0
    return np.linspace(0.0, max(top, 0.5), bins + 1)
