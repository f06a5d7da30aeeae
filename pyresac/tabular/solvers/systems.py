"""Affine systems v = rhs + D v, D ≥ 0 with rows summing to at most γ: the evaluation of one policy (and kernel)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg

from pyresac.tabular import kernels
from pyresac.tabular.checks import Floats

LARGEST_BAND = 8
"""Bandwidth up to which elimination beats every iteration: 2·8 + 1 numbers a row."""
LARGEST_DENSE = 800
"""States up to which LAPACK on a dense matrix takes some ten milliseconds."""


@dataclass(frozen=True)
class AffineSystem:
    """v = rhs + D v, with D in CSR (indptr, indices, data); data may be longer than indptr[-1], the rest is unused."""

    indptr: NDArray[np.integer[Any]]
    indices: NDArray[np.integer[Any]]
    data: Floats
    rhs: Floats

    @classmethod
    def of(cls, matrix: sparse.csr_array, rhs: Floats) -> AffineSystem:
        """From a SciPy matrix (S, S)."""
        return cls(matrix.indptr, matrix.indices, matrix.data, rhs)

    @property
    def matrix(self) -> sparse.csr_array:
        """D as a SciPy matrix."""
        n, used = len(self.rhs), int(self.indptr[-1])
        return sparse.csr_array((self.data[:used], self.indices[:used], self.indptr), shape=(n, n))

    def without_loops(self) -> AffineSystem:
        """The system with each row solved for its own state: the same solution, a smaller D with zero diagonal."""
        matrix = self.matrix
        stay = matrix.diagonal()
        rest = (matrix - sparse.diags_array(stay)).tocsr()
        rest.eliminate_zeros()
        scale = 1.0 / (1.0 - stay)
        return AffineSystem.of((sparse.diags_array(scale) @ rest).tocsr(), self.rhs * scale)

    def relax(self, v: Floats, *, backward: bool) -> float:
        """One Gauss–Seidel sweep over v in place; returns the largest change."""
        return float(kernels.affine_in_place(self.indptr, self.indices, self.data, self.rhs, v, backward))

    def apply(self, v: Floats, out: Floats) -> tuple[float, float]:
        """out = rhs + D v; returns the range of out − v."""
        low, high = kernels.affine_sweep(self.indptr, self.indices, self.data, self.rhs, v, out)
        return float(low), float(high)

    def correction(self, residual: Floats, accuracy: float) -> Floats:
        """δ with (I − D)δ = residual: banded or dense elimination, else BiCGSTAB, else sparse LU where that stalls.

        accuracy: the residual, relative to that given, at which the iteration may stop.
        """
        n = len(residual)
        width = kernels.bandwidth(self.indptr, self.indices, 1, LARGEST_BAND)
        if width <= LARGEST_BAND:
            delta = residual.copy()
            kernels.solve_banded(self.indptr, self.indices, self.data, width, delta)
            return delta
        if n <= LARGEST_DENSE:
            return np.asarray(np.linalg.solve(np.eye(n) - self.matrix.toarray(), residual), dtype=np.float64)
        matrix = (sparse.eye_array(n, format="csr") - self.matrix).tocsr()
        delta, info = linalg.bicgstab(matrix, residual, rtol=accuracy, maxiter=300)
        if info == 0 and np.isfinite(delta).all():
            return np.asarray(delta, dtype=np.float64)
        return np.asarray(linalg.splu(matrix.tocsc()).solve(residual), dtype=np.float64)
