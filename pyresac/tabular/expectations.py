"""Expectation functionals E: one number a pair from v (S,). Each is monetary in v, hence non-expansive (C03, C11).

A worst case over a set of kernels is a greatest lower bound of expectations, and those are monetary
(Lean: `RESAC.monetary_of_glb`); so is the entropic risk. Each inner problem is solved by its own method, in
`robust_kernels`. `rounding` bounds |fl(E v) − E v| with u = 2⁻⁵³, n the longest row, and M ≥ ‖v‖∞; where the stored
rows miss 1, E is the expectation under the rows divided by their exact sums, and the difference is in the bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import robust_kernels as rk
from pyresac.tabular.checks import Floats, check_number, checked_rows, finite_array
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT


class ExpectationFunctional(ABC):
    """E, pair by pair. `lean` names the theorem that it is monetary."""

    lean: ClassVar[str]

    @abstractmethod
    def __call__(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """E v: v (S,) to (S, A); 0 on unavailable pairs."""

    @abstractmethod
    def worst_kernel(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """The kernel (S, A, S) at which E v is attained (for the entropic risk: the minimiser of its KL dual)."""

    @abstractmethod
    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """A bound on |fl(E v) − E v| over all pairs, whenever |v| ≤ magnitude."""

    def bound_to(self, mdp: FiniteMDP) -> ExpectationFunctional:
        """This functional with its options checked against `mdp` and spread over its pairs. Raises InputError."""
        return self


@dataclass(frozen=True)
class Nominal(ExpectationFunctional):
    """Σ_s' P(s'|s, a)·v(s'). Monetary: `RESAC.expect_monetary`."""

    lean: ClassVar[str] = "RESAC.expect_monetary"

    def __call__(self, mdp: FiniteMDP, v: Floats) -> Floats:
        return mdp.expect(v)

    def worst_kernel(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """The kernel itself."""
        return mdp.dense()

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((n + 1)u + row_error), n products summed in any order."""
        return 1.01 * magnitude * ((mdp.longest_row + 1) * UNIT + mdp.row_error)


@dataclass(frozen=True, eq=False)
class WorstOfKernels(ExpectationFunctional):
    """min over a finite set of kernels, at each pair on its own: an (s, a)-rectangular set.

    kernels: each (S, A, S) or CSR (S·A, S), at least one. Monetary: `RESAC.fmin_monetary` of expectations (C03).
    """

    kernels: Sequence[Any]
    lean: ClassVar[str] = "RESAC.monetary_fmin_family"

    def __post_init__(self) -> None:
        if len(self.kernels) == 0:
            raise InputError("kernels is empty; a robust set needs at least one kernel")

    def bound_to(self, mdp: FiniteMDP) -> WorstOfKernels:
        """Check every kernel against the MDP's shape and available pairs."""
        if all(isinstance(k, _Checked) and k.shape == mdp.reward.shape for k in self.kernels):
            return self
        checked = []
        for i, given in enumerate(self.kernels):
            try:
                rows, error = checked_rows(given, mdp.n_states, mdp.n_actions, mdp.available, renormalise=False)
            except InputError as problem:
                raise InputError(f"kernels[{i}]: {problem}") from None
            checked.append(_Checked(FiniteMDP(rows, mdp.reward, mdp.discount, mdp.available, row_error=error)))
        return WorstOfKernels(tuple(checked))

    def __call__(self, mdp: FiniteMDP, v: Floats) -> Floats:
        return np.asarray(np.min([k.model.expect(v) for k in self.bound_to(mdp).kernels], axis=0))

    def worst_kernel(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """The first minimising kernel of each pair."""
        models = [k.model for k in self.bound_to(mdp).kernels]
        choice = np.argmin([m.expect(v) for m in models], axis=0)
        return np.asarray(np.choose(choice[:, :, None], [m.dense() for m in models]), dtype=np.float64)

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """The largest of the kernels' own bounds: a minimum of numbers each off by ε is off by ε."""
        return max(Nominal().rounding(k.model, magnitude) for k in self.bound_to(mdp).kernels)


@dataclass(frozen=True, eq=False)
class _Checked:
    """A kernel that has passed the checks, with the row error that it carries."""

    model: FiniteMDP

    @property
    def shape(self) -> tuple[int, ...]:
        return self.model.reward.shape


@dataclass(frozen=True, eq=False)
class _Ball(ExpectationFunctional):
    """What the balls around the nominal kernel share: a parameter a pair, and a compiled sweep."""

    _kind: ClassVar[int]
    _name: ClassVar[str]
    _high: ClassVar[float] = np.inf

    def _parameter(self) -> ArrayLike:
        raise NotImplementedError

    def _spread(self, mdp: FiniteMDP) -> Floats:
        given = np.asarray(self._parameter(), dtype=np.float64)
        if given.ndim != 0 and given.shape != mdp.reward.shape:
            raise InputError(f"{self._name} has shape {given.shape}; expected a number or {mdp.reward.shape}")
        return np.ascontiguousarray(np.broadcast_to(given, mdp.reward.shape)).ravel()

    def _sweep(self, mdp: FiniteMDP, v: Floats, weights: Floats) -> tuple[Floats, Floats]:
        indptr, indices, data = mdp.csr()
        out, moved = np.zeros(mdp.reward.size), np.zeros(mdp.reward.size if len(weights) else 0)
        gap = rk.sweep(self._kind, indptr, indices, data, data, self._spread(mdp), v, out, weights, moved)
        if gap == rk.KL_UNSOLVED:
            raise ArithmeticError("the dual of the KL ball did not converge at some pair; is v finite?")
        return out.reshape(mdp.reward.shape), moved

    def __call__(self, mdp: FiniteMDP, v: Floats) -> Floats:
        return self._sweep(mdp, np.ascontiguousarray(v, dtype=np.float64), np.empty(0))[0]

    def worst_kernel(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """The minimising kernel, dense (S, A, S)."""
        weights = np.empty(mdp.matrix.nnz)
        _, moved = self._sweep(mdp, np.ascontiguousarray(v, dtype=np.float64), weights)
        rows = sparse.csr_array((weights, mdp.matrix.indices, mdp.matrix.indptr), shape=mdp.matrix.shape)
        dense = np.asarray(rows.toarray())
        dense[:, int(np.argmin(v))] += moved
        return dense.reshape(mdp.n_states, mdp.n_actions, mdp.n_states)

    def bound_to(self, mdp: FiniteMDP) -> _Ball:
        """Check the shape of the parameter."""
        self._spread(mdp)
        return self


def _check_parameter(name: str, value: ArrayLike, allowed: str, high: float, *, open_low: bool = False) -> None:
    array = finite_array(name, value)
    if array.size == 0:
        raise InputError(f"{name} is empty; it must be {allowed}")
    for bound in (array.min(), array.max()):
        check_number(name, float(bound), allowed, low=0.0, high=high, open_low=open_low)


@dataclass(frozen=True, eq=False)
class L1Ball(_Ball):
    """min over {q : ‖q − P(·|s, a)‖₁ ≤ radius}, over all states: radius in [0, 2], a number or (S, A).

    Greedy by sorting the successors of each pair. Monetary: `RESAC.monetary_of_glb` (C03).
    """

    radius: ArrayLike
    lean: ClassVar[str] = "RESAC.monetary_of_glb"
    _kind: ClassVar[int] = rk.L1
    _name: ClassVar[str] = "radius"

    def __post_init__(self) -> None:
        _check_parameter("radius", self.radius, "in [0, 2] (‖q − p‖₁ is at most 2)", 2.0)

    def _parameter(self) -> ArrayLike:
        return self.radius

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((8n + 16)u + 2·row_error): n weights off by nu in all, as many products and sums."""
        return 1.01 * magnitude * ((8 * mdp.longest_row + 16) * UNIT + 2 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class KLBall(_Ball):
    """min over {q : KL(q‖P(·|s, a)) ≤ radius}: radius ≥ 0, a number or (S, A); q lives on the support of the row.

    By its one-dimensional dual sup_λ −λ·log E exp(−v/λ) − λ·radius. Monetary: `RESAC.monetary_of_glb` (C03).
    """

    radius: ArrayLike
    lean: ClassVar[str] = "RESAC.monetary_of_glb"
    _kind: ClassVar[int] = rk.KL
    _name: ClassVar[str] = "radius"

    def __post_init__(self) -> None:
        _check_parameter("radius", self.radius, "a finite number of at least 0", np.inf)

    def _parameter(self) -> ArrayLike:
        return self.radius

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((40n + 200)u + 8·row_error).

        The solver stops at a duality gap of 16u·spread, spread ≤ 2M. λ·KL is a difference of two numbers of size at
        most 2M, each computed to (10n + 60)u relatively (see `EntropicRisk.rounding`), so feasibility is off by that.
        """
        return 1.01 * magnitude * ((40 * mdp.longest_row + 200) * UNIT + 8 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class EntropicRisk(_Ball):
    """ρ_β(v) = −(1/β)·log Σ_s' P(s'|s, a)·exp(−β·v(s')), β > 0, a number or (S, A): the paper's iterated risk (C26).

    Equal to min_q E_q v + KL(q‖P)/β. Monetary: `RESAC.entropicRisk_monetary`.
    """

    beta: ArrayLike
    lean: ClassVar[str] = "RESAC.entropicRisk_monetary"
    _kind: ClassVar[int] = rk.ENTROPIC
    _name: ClassVar[str] = "beta"

    def __post_init__(self) -> None:
        _check_parameter("beta", self.beta, "a finite number above 0", np.inf, open_low=True)

    def _parameter(self) -> ArrayLike:
        return self.beta

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((10n + 60)u + 4·row_error), for every β.

        With d = v − min v ≤ 2M: where Σ p·expm1(−βd) > −½, that sum is at most β·E d and is known to (n + 4)u
        relatively, and log1p has slope at most 2. Elsewhere |log Σ| ≥ log 2, so 1/β ≤ 3M, and the sum is known to
        (n + 6)u + 2u·β·E_q d relatively.
        """
        return 1.01 * magnitude * ((10 * mdp.longest_row + 60) * UNIT + 4 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class IntervalSet(ExpectationFunctional):
    """min over {q : lower ≤ q ≤ upper, Σ q = 1} at each pair.

    lower, upper: (S, A, S) or CSR (S·A, S), 0 ≤ lower ≤ upper ≤ 1, Σ lower ≤ 1 ≤ Σ upper on each available row.
    Greedy by sorting. Monetary: `RESAC.monetary_of_glb` (C03).
    """

    lower: Any
    upper: Any
    lean: ClassVar[str] = "RESAC.monetary_of_glb"

    @classmethod
    def around(cls, mdp: FiniteMDP, radius: float) -> IntervalSet:
        """P ± radius on the support of P, cut to [0, 1]; radius in [0, 1]."""
        check_number("radius", radius, "in [0, 1]", low=0.0, high=1.0)
        rows = mdp.matrix
        low = sparse.csr_array((np.maximum(rows.data - radius, 0.0), rows.indices, rows.indptr), shape=rows.shape)
        high = sparse.csr_array((np.minimum(rows.data + radius, 1.0), rows.indices, rows.indptr), shape=rows.shape)
        return cls(low, high).bound_to(mdp)

    def bound_to(self, mdp: FiniteMDP) -> IntervalSet:
        """Check the two bounds, and store them on one sparsity pattern. Raises InputError naming the pair."""
        if isinstance(self.lower, _Pattern) and self.lower.shape == mdp.reward.shape:
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
        shape = mdp.reward.shape
        return IntervalSet(_Pattern(pattern, lows, shape), _Pattern(pattern, highs, shape))

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


def _rows(name: str, given: Any, mdp: FiniteMDP) -> sparse.csr_array:
    pairs = mdp.reward.size
    if sparse.issparse(given):
        rows = sparse.csr_array(given).astype(np.float64)
    else:
        dense = finite_array(name, given, shape=(mdp.n_states, mdp.n_actions, mdp.n_states))
        rows = sparse.csr_array(dense.reshape(pairs, mdp.n_states))
    if rows.shape != (pairs, mdp.n_states):
        raise InputError(f"{name} is sparse of shape {rows.shape}; expected {(pairs, mdp.n_states)} (S·A, S)")
    if not np.isfinite(rows.data).all():
        raise InputError(f"{name} holds {rows.data[~np.isfinite(rows.data)][0]}; every entry must be finite")
    return rows
