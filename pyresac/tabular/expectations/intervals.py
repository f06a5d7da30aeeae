"""Sets with bounds on each probability, filled from the lowest value up: intervals, CVaR, the L∞ ball."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, check_number, finite_array, real_matrix
from pyresac.tabular.expectations.filling import fill_level
from pyresac.tabular.expectations.rows import Ball, Bound, Parameter, RowSet, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.readers import drn
from pyresac.tabular.values import UNIT


def interval_row(
    low: Floats, high: Floats, x: Floats, parameter: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over low ≤ q ≤ high, Σ q = 1: from the lowest value up."""
    left, value = 1.0, 0.0
    for i in range(len(low)):
        w[i] = high[i] - low[i]
        left -= low[i]
    level, _, placed, warm = fill_level(len(low), w, x, left, warm)
    for i in range(len(low)):
        y, least, most = x[i], low[i], high[i]
        value += (most if y < level else least) * y
    value += placed * level
    if wanted:
        for i in range(len(low)):
            on = placed if x[i] == level else 0.0
            full = (x[i] < level) | (on > w[i])
            placed -= min(on, w[i])
            w[i] = high[i] if full else min(low[i] + on, high[i])
    return value, 0.0, warm


def tail_row(
    p: Floats, upper: Floats, x: Floats, alpha: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """The mean of the lowest share alpha of p: q ≤ p/alpha, filled in units of alpha, so that nothing overflows."""
    total, value = 0.0, 0.0
    for i in range(len(p)):
        total += p[i]
    share = alpha * total
    level, _, placed, warm = fill_level(len(p), p, x, share, warm)
    for i in range(len(p)):
        y, mass = x[i], p[i]
        value += (mass if y < level else 0.0) * y
    value += placed * level
    if wanted:
        for i in range(len(p)):
            on = min(placed, p[i]) if x[i] == level else 0.0
            placed -= on
            w[i] = (p[i] if x[i] < level else on) / share
    return value / share, 0.0, warm


@dataclass(frozen=True, eq=False)
class IntervalSet(RowSet):
    """min over {q : lower ≤ q ≤ upper, Σ q = 1} at each pair.

    lower, upper: (S, A, S) or CSR (S·A, S), 0 ≤ lower ≤ upper ≤ 1, Σ lower ≤ 1 ≤ Σ upper on each available row.
    Filled from the lowest value up (Givan, Leach and Dean 2000). optimistic: the best case instead. Monetary:
    `RESAC.IsInfimum.monetary`; the worst case exists over every ordered field (`RESAC.intervals_finitelyGenerated`;
    C03).
    """

    lower: Any
    upper: Any
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(interval_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]

    @classmethod
    def around(cls, mdp: FiniteMDP, radius: float, *, optimistic: bool = False) -> IntervalSet:
        """P ± radius on the support of P, cut to [0, 1]; radius in [0, 1]."""
        radius = check_number("radius", radius, "in [0, 1]", low=0.0, high=1.0)
        rows = mdp.matrix
        least = np.maximum(rows.data - radius, 0.0)
        most = np.where(rows.data > 0.0, np.minimum(rows.data + radius, 1.0), 0.0)
        low, high = (sparse.csr_array((x, rows.indices, rows.indptr), shape=rows.shape) for x in (least, most))
        result = cls(low, high, optimistic)
        object.__setattr__(result, "_bound", _checked_bound(mdp, rows.indptr, rows.indices, least, most))
        return result

    @classmethod
    def load(
        cls, path: str | Path, discount: float, *, rewards: str | None = None, optimistic: bool = False
    ) -> tuple[FiniteMDP, IntervalSet]:
        """An interval model of a DRN file and its set; a nominal row takes the same share of each of its intervals.

        rewards: the reward model's name; by default the first. Raises InputError naming file and line.
        """
        nominal, lower, upper = drn.intervals(Path(path), discount, rewards)
        mdp = FiniteMDP.from_arrays(
            nominal.transition, nominal.reward, discount,
            available=nominal.available, initial=nominal.initial, renormalise=True,
        )  # fmt: skip
        return mdp, cls(lower, upper, optimistic).bound_to(mdp)

    def __post_init__(self) -> None:
        self.check_options()

    def bind(self, mdp: FiniteMDP) -> Bound:
        """Check the two bounds, and store them on one sparsity pattern. Raises InputError naming the pair."""
        low, high = (_rows(name, x, mdp) for name, x in (("lower", self.lower), ("upper", self.upper)))
        if mdp.available is not None:
            keep = sparse.diags_array(mdp.available.ravel().astype(np.float64))
            low, high = (keep @ low).tocsr(), (keep @ high).tocsr()
        pattern = ((low != 0).astype(np.float64) + (high != 0).astype(np.float64)).tocsr()
        pattern.sort_indices()
        columns = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), pattern.indices
        lows, highs = (_entries(m, columns) for m in (low, high))
        return _checked_bound(mdp, pattern.indptr, pattern.indices, lows, highs)

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M(16n + 32)u.

        The free mass 1 − Σ lower is known to (n + 1)u, the mass below the level (at most as much) to (n + 1)u, so what
        is placed on the level to (2n + 2)u. A level that only rounding prefers exchanges (3n + 3)u at a price of at
        most 2M, the mass of the row misses 1 by (3n + 3)u, and n + 1 products are summed.
        """
        longest = max(int(np.diff(self.of(mdp).indptr).max(initial=1)), mdp.longest_row)
        return 1.01 * magnitude * (16 * longest + 32) * UNIT


@dataclass(frozen=True, eq=False)
class CVaR(Ball):
    """The mean of v over the worst share alpha of P(·|s, a): alpha in (0, 1], a number or (S, A).

    min over {q : q ≤ P/alpha} (Rockafellar and Uryasev; iterated, as in Chow and Ghavamzadeh 2014): alpha = 1 is the
    nominal expectation. Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the mean of the best share.
    """

    alpha: Parameter
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(tail_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "in (0, 1]"
    high: ClassVar[float] = 1.0
    open_low: ClassVar[bool] = True

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((6n + 16)u + 2·row_error).

        In units of alpha, the share and the mass below the level are each known to (n + 1)u; an error of δ in where the
        tail ends moves the mean by at most 2Mδ, and the mass of the row by δ. The sum of n products, and the division,
        cost (n + 2)u·M.
        """
        return 1.01 * magnitude * ((6 * mdp.longest_row + 16) * UNIT + 2 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class LInfinityBall(Ball):
    """min over {q : |q(s') − P(s'|s, a)| ≤ radius for each successor s'}: radius in [0, 1], a number or (S, A).

    On the support of the nominal row: on all states a ball of this norm would let the adversary send `radius` to every
    state of the model at once, so that its size would depend on how many states there are. Filled from the lowest
    value. Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the best case instead.
    """

    radius: Parameter
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = IntervalSet.sweep
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "in [0, 1]"
    high: ClassVar[float] = 1.0

    def bind(self, mdp: FiniteMDP) -> Bound:
        """The two bounds of each probability. Raises InputError."""
        given = super().bind(mdp)
        p, radius = given.first, np.repeat(given.parameter, np.diff(given.indptr))
        return replace(given, first=np.maximum(p - radius, 0.0), second=np.where(p > 0.0, p + radius, 0.0))

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((18n + 32)u + 2·row_error): as `IntervalSet`, whose bounds here are known to u·(p + radius).

        Those that are attained sum to at most 2, and rows that miss 1 move them by row_error, at a price of at most 2M.
        """
        return 1.01 * magnitude * ((18 * mdp.longest_row + 32) * UNIT + 2 * mdp.row_error)


def _checked_bound(mdp: FiniteMDP, indptr: Any, indices: Any, lows: Floats, highs: Floats) -> Bound:
    """Two bounds on one sparsity pattern. Raises InputError naming the pair."""
    pair_of = np.repeat(np.arange(mdp.reward.size), np.diff(indptr))
    bad = np.flatnonzero(~((lows >= 0) & (lows <= highs) & (highs <= 1)))
    if len(bad):
        s, a = divmod(int(pair_of[bad[0]]), mdp.n_actions)
        raise InputError(
            f"the interval [{lows[bad[0]]}, {highs[bad[0]]}] at (s={s}, a={a}, s'={indices[bad[0]]}) "
            "must satisfy 0 ≤ lower ≤ upper ≤ 1"
        )
    below, above = (np.bincount(pair_of, weights=x, minlength=mdp.reward.size) for x in (lows, highs))
    slack = 8 * UNIT * (np.diff(indptr) + 1)
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
    return Bound(mdp, indptr, indices, lows, highs, np.zeros(mdp.reward.size))


def _entries(rows: sparse.csr_array, places: tuple[Any, Any]) -> Floats:
    """The entries at these rows and columns; at none, SciPy would give an empty matrix."""
    return np.asarray(rows[places], dtype=np.float64).ravel() if len(places[0]) else np.empty(0)


def _rows(name: str, given: Any, mdp: FiniteMDP) -> sparse.csr_array:
    pairs = mdp.reward.size
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
