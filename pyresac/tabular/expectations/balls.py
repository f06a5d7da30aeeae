"""Balls around the nominal row, and the entropic risk: sets with a method of their own for the inner problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import robust_kernels as rk
from pyresac.tabular.checks import Floats, check_number, finite_array
from pyresac.tabular.expectations.base import ExpectationFunctional
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT


@dataclass(frozen=True, eq=False)
class _Ball(ExpectationFunctional):
    """What the balls around the nominal kernel share: a parameter a pair, and a compiled sweep."""

    _kind: ClassVar[int]
    _name: ClassVar[str]

    def _spread(self, mdp: FiniteMDP) -> Floats:
        """The parameter of each pair, (S·A,); no copy where `bound_to` has spread it already."""
        given = np.asarray(getattr(self, self._name), dtype=np.float64)
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
        """This ball with a copy of its parameter, one a pair: what becomes of the caller's array is no matter then."""
        spread = self._spread(mdp).reshape(mdp.reward.shape).copy()
        spread.setflags(write=False)
        return replace(self, **{self._name: spread})


def _check_parameter(name: str, value: ArrayLike, allowed: str, high: float, *, open_low: bool = False) -> None:
    array = finite_array(name, value)
    if array.size == 0:
        raise InputError(f"{name} is empty; it must be {allowed}")
    for bound in (array.min(), array.max()):
        check_number(name, float(bound), allowed, low=0.0, high=high, open_low=open_low)


@dataclass(frozen=True, eq=False)
class L1Ball(_Ball):
    """min over {q : ‖q − P(·|s, a)‖₁ ≤ radius}, over all states: radius in [0, 2], a number or (S, A).

    Greedy by sorting the successors of each pair. Monetary: `RESAC.IsInfimum.monetary` (C03).
    """

    radius: ArrayLike
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    _kind: ClassVar[int] = rk.L1
    _name: ClassVar[str] = "radius"

    def __post_init__(self) -> None:
        _check_parameter("radius", self.radius, "in [0, 2] (‖q − p‖₁ is at most 2)", 2.0)

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((8n + 16)u + 2·row_error): n weights off by nu in all, as many products and sums."""
        return 1.01 * magnitude * ((8 * mdp.longest_row + 16) * UNIT + 2 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class KLBall(_Ball):
    """min over {q : KL(q‖P(·|s, a)) ≤ radius}: radius ≥ 0, a number or (S, A); q lives on the support of the row.

    By its one-dimensional dual sup_λ −λ·log E exp(−v/λ) − λ·radius. Monetary: `RESAC.IsInfimum.monetary` (C03).
    """

    radius: ArrayLike
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    _kind: ClassVar[int] = rk.KL
    _name: ClassVar[str] = "radius"

    def __post_init__(self) -> None:
        _check_parameter("radius", self.radius, "a finite number of at least 0", np.inf)

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((40n + 200)u + 8·row_error).

        The solver stops at a duality gap of 16u·spread, spread ≤ 2M, which bounds what the dual value is off by. That
        is v's least value less two numbers of size at most 2M: λ·log Σ, known to (10n + 60)u relatively (see
        `EntropicRisk.rounding`), and λ·radius.
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

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((10n + 60)u + 4·row_error), for every β.

        With d = v − min v ≤ 2M: where Σ p·expm1(−βd) > −½, that sum is at most β·E d and is known to (n + 4)u
        relatively, and log1p has slope at most 2. Elsewhere |log Σ| ≥ log 2, so 1/β ≤ 3M, and the sum is known to
        (n + 6)u + 2u·β·E_q d relatively.
        """
        return 1.01 * magnitude * ((10 * mdp.longest_row + 60) * UNIT + 4 * mdp.row_error)
