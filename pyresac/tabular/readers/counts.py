"""The nominal model p° that a replay buffer stands for: empirical frequencies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, finite_array, real_matrix
from pyresac.tabular.readers.arrays import Arrays


def from_counts(counts: ArrayLike | sparse.sparray, reward_sums: ArrayLike, discount: float) -> Arrays:
    """See `FiniteMDP.from_counts`. Raises InputError for negative or non-finite counts, or shapes that disagree."""
    sums = finite_array("reward_sums", reward_sums, ndim=2)
    n_states, n_actions = sums.shape
    table, seen = checked_counts(counts, sums.shape)
    if (sums[seen == 0] != 0).any():
        s, a = np.argwhere((seen == 0) & (sums != 0))[0]
        raise InputError(f"reward_sums is {sums[s, a]} at (s={s}, a={a}), a pair that was never seen")
    reward = np.divide(sums, seen, out=np.zeros_like(sums), where=seen > 0)
    available = seen > 0
    unknown = np.flatnonzero(~available.any(axis=1))
    available[unknown] = True
    loops = (np.repeat(unknown, n_actions) * n_actions + np.tile(np.arange(n_actions), len(unknown))).astype(np.int64)
    absorbing = sparse.csr_array(
        (np.ones(len(loops)), (loops, np.repeat(unknown, n_actions))), shape=(n_states * n_actions, n_states)
    )
    scale = np.repeat(np.where(seen > 0, seen, 1.0).ravel(), np.diff(table.indptr))
    frequencies = sparse.csr_array((table.data / scale, table.indices, table.indptr), shape=table.shape)
    return Arrays(frequencies + absorbing, reward, discount, available=available, renormalise=True)


def checked_counts(counts: ArrayLike | sparse.sparray, shape: tuple[int, ...]) -> tuple[sparse.csr_array, Floats]:
    """(the counts as CSR (S·A, S), their sums (S, A)) for rewards of shape (S, A). Raises InputError."""
    n_states, n_actions = shape
    if sparse.issparse(counts):
        table = real_matrix("counts", counts).astype(np.float64)
    else:
        dense = finite_array("counts", counts, ndim=3)
        table = sparse.csr_array(dense.reshape(dense.shape[0] * dense.shape[1], dense.shape[2]))
    if table.shape != (n_states * n_actions, n_states):
        raise InputError(
            f"counts has {table.shape} (pairs, successors); rewards ask for {(n_states * n_actions, n_states)}"
        )
    if len(table.data) and not (np.isfinite(table.data).all() and table.data.min() >= 0):
        raise InputError(f"counts holds {table.data.min()}; counts must be finite and at least 0")
    return table, np.asarray(table.sum(axis=1), dtype=np.float64).reshape(n_states, n_actions)
