"""Affine systems v = rhs + D v, D ≥ 0 with rows summing to at most γ: the evaluation of one policy (and kernel)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg

from pyresac.tabular import affine_kernels
from pyresac.tabular.checks import Floats
from pyresac.tabular.workers import Workers

LARGEST_BAND = 8
"""Bandwidth up to which elimination beats every iteration: 2·8 + 1 numbers a row."""
LARGEST_DENSE = 800
"""States up to which LAPACK on a dense matrix takes some ten milliseconds."""


Unsigned = NDArray[np.unsignedinteger[Any]]


def unsigned(matrix: sparse.csr_array) -> tuple[Unsigned, Unsigned, Floats]:
    """(indptr, indices, data) with the indices seen as unsigned, as the kernels take them; no copy."""
    kind = np.uint32 if matrix.indices.dtype.itemsize == 4 else np.uint64
    starts = np.uint32 if matrix.indptr.dtype.itemsize == 4 else np.uint64
    return matrix.indptr.view(starts), matrix.indices.view(kind), matrix.data


@dataclass(frozen=True)
class AffineSystem:
    """v = rhs + D v, with D in CSR of unsigned indices; explicit zeros may stand in it."""

    indptr: Unsigned
    indices: Unsigned
    data: Floats
    rhs: Floats
    workers: Workers | None = None

    @classmethod
    def of(cls, matrix: sparse.csr_array, rhs: Floats) -> AffineSystem:
        """From a SciPy matrix (S, S)."""
        return cls(*unsigned(matrix), rhs)

    @property
    def matrix(self) -> sparse.csr_array:
        """D as a SciPy matrix, a copy (merging duplicates would shift the slots of a system that is patched)."""
        n = len(self.rhs)
        signed = self.indices.view(np.int32 if self.indices.dtype.itemsize == 4 else np.int64)
        matrix = sparse.csr_array((self.data, signed, self.indptr.astype(np.int64)), shape=(n, n), copy=True)
        matrix.sum_duplicates()
        return matrix

    def without_loops(self) -> AffineSystem:
        """The system with each row solved for its own state: the same solution, a smaller D with zero diagonal."""
        matrix = self.matrix
        stay = matrix.diagonal()
        rest = (matrix - sparse.diags_array(stay)).tocsr()
        rest.eliminate_zeros()
        scale = 1.0 / (1.0 - stay)
        return AffineSystem.of((sparse.diags_array(scale) @ rest).tocsr(), self.rhs * scale)

    def relax(self, v: Floats, stop: float, most: int, *, backward: bool) -> bool:
        """Up to `most` Gauss–Seidel sweeps over v in place, in alternating directions, until none changes it by more
        than `stop`. Returns the direction of the next one."""
        for _ in range(most):
            change = affine_kernels.affine_in_place(self.indptr, self.indices, self.data, self.rhs, v, backward)
            backward = not backward
            if change <= stop:
                break
        return backward

    def apply(self, v: Floats, out: Floats) -> tuple[float, float]:
        """out = rhs + D v; returns the range of out − v."""
        inputs = (self.indptr, self.indices, self.data, self.rhs, v)
        if self.workers is None:
            return affine_kernels.affine_sweep(*inputs, 0, len(v), out)
        lows, highs = zip(*self.workers.run(affine_kernels.affine_sweep, inputs, (out,)), strict=True)
        return min(lows), max(highs)

    def correction(self, residual: Floats, accuracy: float) -> Floats:
        """δ with (I − D)δ = residual: banded or dense elimination, else BiCGSTAB, else sparse LU where that stalls.

        accuracy: the residual, relative to that given, at which the iteration may stop.
        """
        n = len(residual)
        width = affine_kernels.bandwidth(self.indptr, self.indices, 1, LARGEST_BAND)
        if width <= LARGEST_BAND:
            delta = residual.copy()
            affine_kernels.solve_banded(self.indptr, self.indices, self.data, width, delta)
            return delta
        if n <= LARGEST_DENSE:
            return np.asarray(np.linalg.solve(np.eye(n) - self.matrix.toarray(), residual), dtype=np.float64)
        matrix = (sparse.eye_array(n, format="csr") - self.matrix).tocsr()
        delta, info = linalg.bicgstab(matrix, residual, rtol=accuracy, maxiter=300)
        if info == 0 and np.isfinite(delta).all():
            return np.asarray(delta, dtype=np.float64)
        return np.asarray(linalg.splu(matrix.tocsc()).solve(residual), dtype=np.float64)
