"""How far critics are from what is earned: the paper's Oracle Q-error, with and without its alignment.

Section 5.1, tables 1 and 2. The published script maps every head by the one affine map that gives the mean head's
values the mean and deviation of the returns, then takes at each step the head nearest to the return. Both choices
favour the critics: the map forgives any bias and scale, and the nearest head is known only afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Cells: TypeAlias = Mapping[str, Sequence[float]]
"""Decisions by cells of rareness, as JSON: "cell" numbers, the "count" of decisions there, their mean "error"."""
CELLS = 60
"""In a unit of rareness; every edge of the published thirty bins falls between two."""
LCB = -2.0
"""β of the published lower confidence bound, mean + β·σ with the population's σ."""


class CriticErrors(NamedTuple):
    """Mean absolute errors over the steps of evaluation episodes, in the task's rewards."""

    oracle: float
    """Error of the nearest head at each step."""
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
    """Errors of heads (K, m) against discounted returns (m,), m ≥ 1."""
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


def by_cell(distance: Values, error: Values) -> Cells:
    """Decisions counted in cells of their rareness `distance`, with the mean of their `error`, both (m,)."""
    cells, place, count = np.unique(np.floor(distance * CELLS), return_inverse=True, return_counts=True)
    mean = np.bincount(place, error) / count
    return {"cell": cells.tolist(), "count": count.tolist(), "error": [float(f"{value:.5g}") for value in mean]}


def pooled(parts: Iterable[Cells]) -> Cells:
    """The decisions of all parts; a cell may then occur more than once."""
    found = list(parts)
    return {column: [value for part in found for value in part[column]] for column in ("cell", "count", "error")}


def binned(found: Cells, edges: NDArray[np.int64]) -> tuple[Values, NDArray[np.int64]]:
    """Mean error in each bin between two edges, which are numbers of cells, and how many decisions fall there.

    NaN where none does.
    """
    places = np.arange(len(edges) - 1)
    inside = np.equal.outer(places, np.searchsorted(edges, found["cell"], side="right") - 1)
    count, error = np.array(found["count"], dtype=np.int64), np.array(found["error"], dtype=np.float64)
    decisions = inside @ count
    with np.errstate(invalid="ignore"):
        return inside @ (count * error) / decisions, decisions


def published_edges(found: Cells, bins: int = 30) -> NDArray[np.int64]:
    """(bins + 1,) equal bins from 0, as numbers of cells; `bins` divides 30.

    The last edge is the least half that has 99 % of all algorithms' decisions below it.
    """
    half = CELLS // 2
    order = np.argsort(found["cell"])
    below = np.cumsum(np.array(found["count"])[order])
    last = int(np.array(found["cell"])[order][np.searchsorted(below, 0.99 * below[-1])])
    halves = last // half + 1
    return np.arange(bins + 1) * (halves * half // bins)
