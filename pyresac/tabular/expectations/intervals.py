"""Interval sets: lower and upper bounds on each transition probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import robust_kernels as rk
from pyresac.tabular.checks import Floats, check_number, finite_array, real_matrix, same_mask
from pyresac.tabular.expectations.base import ExpectationFunctional
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT


@dataclass(frozen=True, eq=False)
class IntervalSet(ExpectationFunctional):
    """min over {q : lower ≤ q ≤ upper, Σ q = 1} at each pair.

    lower, upper: (S, A, S) or CSR (S·A, S), 0 ≤ lower ≤ upper ≤ 1, Σ lower ≤ 1 ≤ Σ upper on each available row.
    Greedy by sorting. Monetary: `RESAC.IsInfimum.monetary`; the worst case exists over every ordered field
    (`RESAC.intervals_finitelyGenerated`; C03).
    """

    lower: Any
    upper: Any
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"

    @classmethod
    def around(cls, mdp: FiniteMDP, radius: float) -> IntervalSet:
        """P ± radius on the support of P, cut to [0, 1]; radius in [0, 1]."""
        radius = check_number("radius", radius, "in [0, 1]", low=0.0, high=1.0)
        rows = mdp.matrix
        low = sparse.csr_array((np.maximum(rows.data - radius, 0.0), rows.indices, rows.indptr), shape=rows.shape)
        high = sparse.csr_array((np.minimum(rows.data + radius, 1.0), rows.indices, rows.indptr), shape=rows.shape)
        return cls(low, high).bound_to(mdp)

    def bound_to(self, mdp: FiniteMDP) -> IntervalSet:
        """Check the two bounds, and store them on one sparsity pattern. Raises InputError naming the pair."""
        if isinstance(self.lower, _Pattern) and self.lower.fits(mdp):
            return self
        low, high = (_rows(name, x, mdp) for name, x in (("lower", self.lower), ("upper", self.upper)))
        pattern = ((low != 0).astype(np.float64) + (high != 0).astype(np.float64)).tocsr()
        pattern.sort_indices()
        columns = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), pattern.indices
        lows, highs = (np.asarray(m[columns], dtype=np.float64).ravel() for m in (low, high))
        bad = np.flatnonzero(~((lows >= 0) & (lows <= highs) & (highs <= 1)))
        if len(bad):
            s, a = divmod(int(columns[0][bad[0]]), mdp.n_actions)
            raise InputError(
                f"the interval [{lows[bad[0]]}, {highs[bad[0]]}] at (s={s}, a={a}, s'={pattern.indices[bad[0]]}) "
                "must satisfy 0 ≤ lower ≤ upper ≤ 1"
            )
        below, above = (np.bincount(columns[0], weights=x, minlength=pattern.shape[0]) for x in (lows, highs))
        slack = 8 * UNIT * (np.diff(pattern.indptr) + 1)
        wrong = (below > 1 + slack) | (above < 1 - slack)
        if mdp.available is not None:
            wrong &= mdp.available.ravel()
        if wrong.any():
            pair = int(np.flatnonzero(wrong)[0])
            s, a = divmod(pair, mdp.n_actions)
            raise InputError(
                f"row (s={s}, a={a}) has Σ lower = {below[pair]} and Σ upper = {above[pair]}; "
                "a probability vector needs Σ lower ≤ 1 ≤ Σ upper"
            )
        asked = mdp.reward.shape, mdp.available
        return IntervalSet(_Pattern(pattern, lows, *asked), _Pattern(pattern, highs, *asked))

    def __call__(self, mdp: FiniteMDP, v: Floats) -> Floats:
        return self._sweep(mdp, v, np.empty(0))

    def worst_kernel(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """The minimising kernel, dense (S, A, S)."""
        bound = self.bound_to(mdp)
        pattern = bound.lower.pattern
        weights = np.empty(pattern.nnz)
        bound._sweep(mdp, v, weights)
        rows = sparse.csr_array((weights, pattern.indices, pattern.indptr), shape=pattern.shape)
        return np.asarray(rows.toarray()).reshape(mdp.n_states, mdp.n_actions, mdp.n_states)

    def _sweep(self, mdp: FiniteMDP, v: Floats, weights: Floats) -> Floats:
        bound = self.bound_to(mdp)
        pattern, pairs = bound.lower.pattern, mdp.reward.size
        out, moved = np.zeros(pairs), np.zeros(pairs)
        x = np.ascontiguousarray(v, dtype=np.float64)
        rk.sweep(
            rk.INTERVAL, pattern.indptr, pattern.indices, bound.lower.data, bound.upper.data, np.empty(0),
            x, out, weights, moved,
        )  # fmt: skip
        if mdp.available is not None:
            out[~mdp.available.ravel()] = 0.0
        return out.reshape(mdp.reward.shape)

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M(16n + 32)u: the free mass 1 − Σ lower is off by (n + 1)u, and so is each filling step."""
        longest = int(np.diff(self.bound_to(mdp).lower.pattern.indptr).max(initial=1))
        return 1.01 * magnitude * (16 * longest + 32) * UNIT


@dataclass(frozen=True, eq=False)
class _Pattern:
    """One bound of an interval set: its data on a shared CSR pattern."""

    pattern: sparse.csr_array
    data: Floats
    shape: tuple[int, ...]
    available: NDArray[np.bool_] | None

    def fits(self, mdp: FiniteMDP) -> bool:
        return self.shape == mdp.reward.shape and same_mask(self.available, mdp.available)


def _rows(name: str, given: Any, mdp: FiniteMDP) -> sparse.csr_array:
    pairs = mdp.reward.size
    if isinstance(given, _Pattern):
        given = sparse.csr_array((given.data, given.pattern.indices, given.pattern.indptr), shape=given.pattern.shape)
    if sparse.issparse(given):
        rows = real_matrix(name, given).astype(np.float64)
    else:
        dense = finite_array(name, given, shape=(mdp.n_states, mdp.n_actions, mdp.n_states))
        rows = sparse.csr_array(dense.reshape(pairs, mdp.n_states))
    if rows.shape != (pairs, mdp.n_states):
        raise InputError(f"{name} is sparse of shape {rows.shape}; expected {(pairs, mdp.n_states)} (S·A, S)")
    if not np.isfinite(rows.data).all():
        raise InputError(f"{name} holds {rows.data[~np.isfinite(rows.data)][0]}; every entry must be finite")
    return rows
