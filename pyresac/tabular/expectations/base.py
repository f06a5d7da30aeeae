"""What an expectation functional is, the nominal one, and the worst of finitely many kernels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, checked_rows, finite_array, owned, same_mask
from pyresac.tabular.exact.polytopes import vertices
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT

MOST_BASES = 200_000
"""Choices of columns that an enumeration of vertices may look at: some ten seconds."""


@dataclass(frozen=True, eq=False)
class WorstRows:
    """Room for rows of a kernel, in CSR: row i in the slots slots[i]…slots[i + 1] − 1, unused slots at zero."""

    slots: NDArray[np.int64]
    columns: NDArray[np.int32]
    weights: Floats

    @classmethod
    def none(cls) -> WorstRows:
        """No room: the rows are not wanted."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0))

    @classmethod
    def for_pairs(cls, room: NDArray[np.int64]) -> WorstRows:
        """Rows of at most room[i] entries."""
        slots = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
        return cls(slots, np.zeros(int(slots[-1]), dtype=np.int32), np.zeros(int(slots[-1])))


class ExpectationFunctional(ABC):
    """E, pair by pair. `lean` names the theorem that it is monetary."""

    lean: ClassVar[str]

    @abstractmethod
    def __call__(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """E v: v (S,) to (S, A); 0 on unavailable pairs."""

    def worst_kernel(self, mdp: FiniteMDP, v: Floats) -> Floats:
        """The kernel (S, A, S) at which E v is attained (for the entropic risk: the minimiser of its KL dual).

        Of this and `worst_rows` a functional defines at least one.
        """
        dense = np.asarray(self.worst_rows(mdp, v).toarray(), dtype=np.float64)
        return dense.reshape(mdp.n_states, mdp.n_actions, mdp.n_states)

    def worst_rows(self, mdp: FiniteMDP, v: Floats) -> sparse.csr_array:
        """The worst kernel as CSR (S·A, S)."""
        return sparse.csr_array(self.worst_kernel(mdp, v).reshape(mdp.reward.size, mdp.n_states))

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

    def worst_rows(self, mdp: FiniteMDP, v: Floats) -> sparse.csr_array:
        """The kernel itself."""
        return mdp.matrix

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((n + 1)u + row_error), n products summed in any order."""
        return 1.01 * magnitude * ((mdp.longest_row + 1) * UNIT + mdp.row_error)


@dataclass(frozen=True, eq=False)
class WorstOfKernels(ExpectationFunctional):
    """min over a finite set of kernels, at each pair on its own: an (s, a)-rectangular set.

    kernels: a list or tuple of (S, A, S) or CSR (S·A, S), at least one.
    Monetary: `RESAC.Monetary.pointwise_min` of expectations (C03).
    """

    kernels: Sequence[Any]
    lean: ClassVar[str] = "RESAC.Monetary.pointwise_min"

    def __post_init__(self) -> None:
        if not isinstance(self.kernels, (list, tuple)):
            raise InputError(f"kernels is a {type(self.kernels).__name__}; it must be a list or a tuple of kernels")
        if len(self.kernels) == 0:
            raise InputError("kernels is empty; a robust set needs at least one kernel")

    @classmethod
    def of_polytope(cls, mdp: FiniteMDP, matrix: ArrayLike, bound: ArrayLike) -> WorstOfKernels:
        """The set {p : matrix·p ≤ bound} of rows at each pair, as the finitely many kernels of its vertices.

        matrix: (m, S) or (S, A, m, S); bound: (m,) or (S, A, m). For small models: the vertices are enumerated exactly,
        and then rounded to float64. A minimum of a linear function is at a vertex. Raises InputError where a pair's set
        is empty, or where there are more than 200,000 bases to look at.
        """
        given, limits = finite_array("matrix", matrix), finite_array("bound", bound)
        n, pairs = mdp.n_states, mdp.reward.shape
        if given.ndim not in (2, 4) or given.shape[-1] != n or given.shape[:-2] not in ((), pairs):
            raise InputError(f"matrix has shape {given.shape}; expected (m, {n}) or {(*pairs, 'm', n)}")
        m = given.shape[-2]
        if limits.shape not in ((m,), (*pairs, m)):
            raise InputError(f"bound has shape {limits.shape}; the matrix asks for {(m,)} or {(*pairs, m)}")
        shared = given.ndim == 2 and limits.ndim == 1
        bases = math.comb(n + m, m + 1) * (1 if shared else mdp.reward.size)
        if bases > MOST_BASES:
            raise InputError(
                f"the polytopes have {bases} bases; at most {MOST_BASES} are looked at: use fewer inequalities"
            )
        known = _vertices(given, limits) if shared else []
        rows, limits = np.broadcast_to(given, (*pairs, m, n)), np.broadcast_to(limits, (*pairs, m))
        corners = {pair: known if shared else _vertices(rows[pair], limits[pair]) for pair in np.ndindex(*pairs)}
        empty = next((pair for pair, found in corners.items() if not found and _present(mdp, pair)), None)
        if empty is not None:
            raise InputError(f"the polytope of (s={empty[0]}, a={empty[1]}) is empty: no row obeys matrix·p ≤ bound")
        kernels = np.zeros((max(len(found) for found in corners.values()), *pairs, n))
        for (s, a), found in corners.items():
            if _present(mdp, (s, a)):
                exact = [[float(x) for x in found[min(k, len(found) - 1)]] for k in range(len(kernels))]
                kernels[:, s, a] = np.array(exact)
        return cls(list(kernels)).bound_to(mdp)

    def bound_to(self, mdp: FiniteMDP) -> WorstOfKernels:
        """Check every kernel against the MDP's shape and available pairs."""
        if all(isinstance(k, _Checked) and k.fits(mdp) for k in self.kernels):
            return self
        checked = []
        for i, kernel in enumerate(self.kernels):
            given = kernel.model.transition if isinstance(kernel, _Checked) else kernel
            try:
                rows, error = checked_rows(given, mdp.n_states, mdp.n_actions, mdp.available, renormalise=False)
            except InputError as problem:
                raise InputError(f"kernels[{i}]: {problem}") from None
            rows = owned(rows, given)
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


def _vertices(matrix: Floats, bound: Floats) -> list[tuple[Fraction, ...]]:
    exact = [[Fraction(float(x)) for x in row] for row in matrix]
    return vertices(exact, [Fraction(float(x)) for x in bound], matrix.shape[1])


def _present(mdp: FiniteMDP, pair: tuple[int, ...]) -> bool:
    return mdp.available is None or bool(mdp.available[pair])


@dataclass(frozen=True, eq=False)
class _Checked:
    """A kernel that has passed the checks, with the row error that it carries."""

    model: FiniteMDP

    def fits(self, mdp: FiniteMDP) -> bool:
        return self.model.reward.shape == mdp.reward.shape and same_mask(self.model.available, mdp.available)
