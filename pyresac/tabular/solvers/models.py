"""An operator as a solver sees it: a backup v ↦ (q, W v) with its residual, and the affine system of what it chose."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import kernels
from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations import Nominal
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers.certificate import Certificate, Residual
from pyresac.tabular.solvers.systems import AffineSystem
from pyresac.tabular.values import Max, Mellowmax, Min, PolicyEntropy, PolicyMean, Soft

THREADED_ENTRIES = 1_000_000
"""Below this many stored probabilities a sweep is faster than waking a second thread."""
LARGEST_WORST_KERNEL = 20_000_000
"""Entries (S·A·S) up to which a dense worst kernel is built for a policy evaluation: 160 MB."""


class Model(ABC):
    """A frozen REV operator on v (S,). After `sweep`, `q` holds fl(B v) and `image` fl(W v)."""

    fused: bool

    def __init__(self, operator: RevOperator) -> None:
        self.operator = operator
        self.discount = operator.mdp.discount
        self.certificate = Certificate(operator, fused=self.fused)
        self.q: Floats = np.empty(operator.mdp.reward.shape)
        self.image: Floats = np.empty(operator.mdp.n_states)
        self.sweeps = 0

    @abstractmethod
    def sweep(self, v: Floats) -> Residual:
        """Apply the backup to v."""

    @abstractmethod
    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        """The affine system v = rhs + D v of the actions (and kernel) that the last sweep, which was of v, chose.

        It agrees with W at v. solve_loops: with the diagonal of D solved for. Its arrays are reused by the next call.
        """

    def in_place_sweep(self, v: Floats, *, backward: bool) -> float:
        """One Gauss–Seidel sweep of W over v; returns the largest change. InputError where there is none."""
        raise InputError(
            f"method 'gauss_seidel' updates state by state, which {type(self.operator.value).__name__} with "
            f"{type(self.operator.expectation).__name__} does not offer; allowed are Max and Min with Nominal"
        )

    def start(self, initial: Floats | None) -> Floats:
        """v to begin with: V(initial), or a constant that W moves towards the fixed point from one side.

        With c = min_s W0(s)/(1 − γ), W c ≥ c: iterates rise from there, and good news spreads along a sweep, while
        from above every state first has to unlearn its neighbours' optimism. Min is the mirror image.
        """
        if initial is not None:
            return np.array(self.operator.value_of(initial))
        first = self.operator.value_of(self.operator.shifted_reward)
        level = first.max() if isinstance(self.operator.value, Min) else first.min()
        return np.full(first.shape, level / (1.0 - self.discount))


class ExtremeModel(Model):
    """V = Max or Min under the nominal expectation, by compiled sweeps: CSR, or dense through BLAS."""

    fused = True

    def __init__(self, operator: RevOperator) -> None:
        super().__init__(operator)
        mdp = operator.mdp
        self._sign = -1.0 if isinstance(operator.value, Min) else 1.0
        self._allowed = np.empty((0, 0), dtype=np.bool_) if mdp.available is None else mdp.available
        self._offset: Floats = np.empty((0, 0))
        if operator.penalty_at == "next":
            self._offset = np.ascontiguousarray(-operator.seen(np.zeros(mdp.reward.shape)))
        self._dense = None if mdp.is_sparse else np.asarray(mdp.transition).reshape(mdp.reward.size, mdp.n_states)
        self._choice = np.full(mdp.n_states, -1, dtype=np.int32)
        self._ranges = self._split()
        self._system: AffineSystem | None = None

    def _split(self) -> list[tuple[int, int]]:
        """Ranges of states with about the same number of stored probabilities, one a thread."""
        n_states, n_actions = self.q.shape
        if self._dense is not None or (indptr := self.operator.mdp.csr()[0])[-1] < THREADED_ENTRIES:
            return [(0, n_states)]
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        shares = np.linspace(0, indptr[-1], min(threads, 8) + 1)[1:-1]
        cuts = [0, *(int(c) // n_actions for c in np.searchsorted(indptr, shares)), n_states]
        return [(a, b) for a, b in pairwise(cuts) if b > a]

    def sweep(self, v: Floats) -> Residual:
        self.sweeps += 1
        mdp, reward = self.operator.mdp, self.operator.shifted_reward
        if self._dense is not None:
            np.matmul(self._dense, v, out=self.q.reshape(-1))
            self.q *= self.discount
            self.q += reward
            found = [kernels.reduce_sweep(self._offset, self._allowed, self._sign, v, self.q, self.image, self._choice)]
        else:
            arguments = (*mdp.csr(), reward, self._offset, self._allowed, self.discount, self._sign, v)
            outputs = (self.q, self.image, self._choice)
            if len(self._ranges) == 1:
                found = [kernels.csr_sweep(*arguments, *self._ranges[0], *outputs)]
            else:
                with ThreadPoolExecutor(len(self._ranges)) as pool:
                    jobs = [pool.submit(kernels.csr_sweep, *arguments, *part, *outputs) for part in self._ranges]
                    found = [job.result() for job in jobs]
        low, high, size, changed = zip(*found, strict=True)
        return Residual(min(low), max(high), float(np.abs(v).max()), max(size), sum(changed))

    def in_place_sweep(self, v: Floats, *, backward: bool) -> float:
        mdp = self.operator.mdp
        shared = (self.operator.shifted_reward, self._offset, self._allowed, self.discount, self._sign, v, backward)
        if isinstance(mdp.transition, np.ndarray):
            return float(kernels.dense_in_place(mdp.transition, *shared))
        return float(kernels.csr_in_place(*mdp.csr(), *shared))

    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        mdp = self.operator.mdp
        if isinstance(mdp.transition, np.ndarray):
            return self._dense_system(mdp.transition, solve_loops)
        indptr, indices, data = mdp.csr()
        if self._system is None:
            longest = np.diff(indptr).reshape(self.q.shape).max(axis=1)
            room = int(longest.sum())
            self._system = AffineSystem(
                np.empty(mdp.n_states + 1, dtype=indptr.dtype), np.empty(room, dtype=indices.dtype), np.empty(room),
                np.empty(mdp.n_states),
            )  # fmt: skip
        out = self._system
        kernels.policy_rows(
            indptr, indices, data, self.operator.shifted_reward, self._offset, self.discount, self._choice, solve_loops,
            out.indptr, out.indices, out.data, out.rhs,
        )  # fmt: skip
        return out

    def _dense_system(self, transition: Floats, solve_loops: bool) -> AffineSystem:
        states = np.arange(len(self._choice))
        rows = self.discount * transition[states, self._choice]
        rhs = self.operator.shifted_reward[states, self._choice]
        if self._offset.size:
            rhs = rhs - self._offset[states, self._choice]
        system = AffineSystem.of(sparse.csr_array(rows), rhs)
        return system.without_loops() if solve_loops else system


class GeneralModel(Model):
    """Any value and expectation functional, through the operator."""

    fused = False

    def __init__(self, operator: RevOperator) -> None:
        super().__init__(operator)
        self._greedy = np.full(operator.mdp.n_states, -1)
        self._fixed: sparse.csr_array | None = None

    def sweep(self, v: Floats) -> Residual:
        self.sweeps += 1
        self.q = self.operator.backup(v)
        self.image = self.operator.value_of(self.q)
        gap = self.image - v
        mask = self.operator.mdp.available
        q_size = float(np.abs(self.q if mask is None else self.q[mask]).max())
        greedy = self.operator.seen(self.q).argmax(axis=1)
        changed = int((greedy != self._greedy).sum())
        self._greedy = greedy
        return Residual(float(gap.min()), float(gap.max()), float(np.abs(v).max()), q_size, changed)

    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        matrix = self._fixed
        if matrix is None:
            matrix = self.discount * (_per_state(value_weights(self.operator, self.q)) @ self._kernel(v))
        if self.operator.value.linear and isinstance(self.operator.expectation, Nominal):
            self._fixed = matrix
        system = AffineSystem.of(matrix, self.image - matrix @ v)
        return system.without_loops() if solve_loops else system

    def _kernel(self, v: Floats) -> sparse.csr_array:
        mdp, expectation = self.operator.mdp, self.operator.expectation
        if isinstance(expectation, Nominal):
            return mdp.matrix
        entries = mdp.reward.size * mdp.n_states
        if entries > LARGEST_WORST_KERNEL:
            raise InputError(
                f"a policy evaluation under {type(expectation).__name__} needs its worst kernel, {entries} entries; at "
                f"most {LARGEST_WORST_KERNEL} are built: use method='anderson' or 'value_iteration'"
            )
        return sparse.csr_array(expectation.worst_kernel(mdp, v).reshape(mdp.reward.size, mdp.n_states))


def _per_state(weights: Floats) -> sparse.csr_array:
    """The matrix (S, S·A) whose row s holds weights[s] at the pairs of s."""
    n_states, n_actions = weights.shape
    indptr = np.arange(0, n_states * n_actions + 1, n_actions)
    matrix = sparse.csr_array((weights.ravel(), np.arange(weights.size), indptr), shape=(n_states, weights.size))
    matrix.eliminate_zeros()
    return matrix


def value_weights(operator: RevOperator, q: Floats) -> Floats:
    """A subgradient of V at what it reads of q: non-negative weights (S, A) with rows summing to 1."""
    value, available = operator.value, operator.mdp.available
    seen = operator.seen(q)
    if isinstance(value, (PolicyMean, PolicyEntropy)):
        return value.policy
    if isinstance(value, Soft):
        return value.policy(seen, available)
    if isinstance(value, Mellowmax):
        return Soft(1.0 / value.omega).policy(seen, available)
    if isinstance(value, (Max, Min)):
        weights = np.zeros(q.shape)
        weights[np.arange(len(q)), value.greedy(seen, available)] = 1.0
        return weights
    raise InputError(
        f"policy evaluation knows no weights for {type(value).__name__}: use method='anderson' or 'value_iteration'"
    )


def model_of(operator: RevOperator) -> Model:
    """The compiled model where there is one, else the general one."""
    if isinstance(operator.value, (Max, Min)) and isinstance(operator.expectation, Nominal):
        return ExtremeModel(operator)
    return GeneralModel(operator)
