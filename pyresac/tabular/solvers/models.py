"""An operator as a solver sees it: a backup v ↦ (q, W v) with its residual, and the affine system of what it chose."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import kernels
from pyresac.tabular.checks import Floats, check_room, largest_of
from pyresac.tabular.expectations import Nominal
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers.certificate import Certificate, Residual
from pyresac.tabular.solvers.systems import AffineSystem, unsigned
from pyresac.tabular.values import Max, Mellowmax, Min, PolicyEntropy, PolicyMean, Soft
from pyresac.tabular.workers import Workers

VECTORS = 6
"""Arrays (S,) of a solve, at the least: values before and after a sweep, choices, the policy and its values."""


class Model(ABC):
    """A frozen REV operator on v (S,). After `sweep`, `q` holds fl(B v) and `image` fl(W v).

    It may hold threads: use it as `with model_of(operator) as model`.
    """

    fused: bool
    tables: int = 1
    """How many arrays (S, A) a solve keeps, for what it needs of memory."""
    work: int = 1
    """What an entry of the kernel costs in a sweep, in units of a nominal sweep's."""

    def __init__(self, operator: RevOperator) -> None:
        mdp = operator.mdp
        check_room(8 * (self.tables * mdp.reward.size + VECTORS * mdp.n_states), f"solving {mdp!r}")
        self.operator = operator
        self.discount = operator.mdp.discount
        self.rate = self.discount / (1.0 - self.discount)
        self.certificate = Certificate(operator, fused=self.fused)
        self.q: Floats = np.empty(operator.mdp.reward.shape)
        self.image: Floats = np.empty(operator.mdp.n_states)
        self.workers = Workers(mdp.n_states, self.work * mdp.matrix.nnz if mdp.is_sparse else 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.close()

    @abstractmethod
    def sweep(self, v: Floats) -> Residual:
        """Apply the backup to v."""

    @abstractmethod
    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        """The affine system v = rhs + D v of the actions (and kernel) that the last sweep, which was of v, chose.

        It agrees with W at v. solve_loops: with the diagonal of D solved for. Its arrays are reused by the next call.
        """

    @abstractmethod
    def in_place_sweep(self, v: Floats, *, backward: bool) -> tuple[float, int]:
        """One Gauss–Seidel sweep of W over v: (largest change, actions changed). InputError where there is none."""

    def start(self, initial: Floats | None) -> Floats:
        """v to begin with: V(initial), or W c for a constant c from which W moves towards the fixed point on one side.

        With c = min_s W0(s)/(1 − γ), c ≤ W c: iterates rise from there, and good news spreads along a sweep, while
        from above every state first has to unlearn its neighbours' optimism. Min is the mirror image.
        """
        if initial is not None:
            return np.array(self.operator.value_of(initial))
        first = self._rewarded()
        level = first.max() if isinstance(self.operator.value, Min) else first.min()
        first += self.discount * (level / (1.0 - self.discount))
        return first

    def _rewarded(self) -> Floats:
        """W 0, since every expectation of 0 is 0; a fresh array."""
        return np.array(self.operator.value_of(self.operator.shifted_reward))


class ExtremeModel(Model):
    """V = Max or Min under the nominal expectation, by compiled sweeps: CSR, or dense through BLAS."""

    fused = True

    def __init__(self, operator: RevOperator) -> None:
        super().__init__(operator)
        mdp = operator.mdp
        self._sign, self._offset, self._allowed = reading(operator)
        self._dense = mdp.transition if isinstance(mdp.transition, np.ndarray) else None
        self._rows = None if self._dense is not None else unsigned(mdp.matrix)
        self._choice = np.full(mdp.n_states, -1, dtype=np.int32)
        self._written = np.full(mdp.n_states, -1, dtype=np.int32)
        self._solved_loops = False
        self._system: AffineSystem | None = None

    def _rewarded(self) -> Floats:
        np.copyto(self.q, self.operator.shifted_reward)
        kernels.reduce_sweep(
            self._offset, self._allowed, self._sign, self.image, self.q, self.image, np.full_like(self._choice, -1)
        )
        return self.image.copy()

    def sweep(self, v: Floats) -> Residual:
        reward, outputs = self.operator.shifted_reward, (self.q, self.image, self._choice)
        reader = (self._offset, self._allowed)
        if self._rows is None:
            assert self._dense is not None
            np.matmul(self._dense.reshape(-1, len(v)), v, out=self.q.reshape(-1))
            self.q *= self.discount
            self.q += reward
            found = [kernels.reduce_sweep(*reader, self._sign, v, *outputs)]
        else:
            inputs = (*self._rows, reward, *reader, self.discount, self._sign, v)
            found = self.workers.run(kernels.csr_sweep, inputs, outputs)
        low, high, size, changed = zip(*found, strict=True)
        return Residual(min(low), max(high), largest_of(v), max(size), sum(changed))

    def in_place_sweep(self, v: Floats, *, backward: bool) -> tuple[float, int]:
        shared = (
            self.operator.shifted_reward, self._offset, self._allowed, self.discount, self._sign, v, backward,
            self._choice,
        )  # fmt: skip
        if self._rows is None:
            return kernels.dense_in_place(self._dense, *shared)
        return kernels.csr_in_place(*self._rows, *shared)

    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        if self._rows is None:
            return self._dense_system(solve_loops)
        if self._system is None:
            indptr, indices, _ = self._rows
            longest = np.diff(indptr).reshape(self.q.shape).max(axis=1)
            slots = np.concatenate([[0], np.cumsum(longest)]).astype(np.uint64)
            room = int(slots[-1])
            arrays = slots, np.empty(room, indices.dtype), np.empty(room), np.empty(len(v))
            self._system = AffineSystem(*arrays, self.workers)
        if solve_loops != self._solved_loops:
            self._written.fill(-1)
            self._solved_loops = solve_loops
        out = self._system
        kernels.policy_rows(
            *self._rows, self.operator.shifted_reward, self._offset, self.discount, self._choice, self._written,
            solve_loops, out.indptr, out.indices, out.data, out.rhs,
        )  # fmt: skip
        return out

    def _dense_system(self, solve_loops: bool) -> AffineSystem:
        assert self._dense is not None
        states = np.arange(len(self._choice))
        rhs = self.operator.shifted_reward[states, self._choice]
        if self._offset.size:
            rhs = rhs - self._offset[states, self._choice]
        system = AffineSystem.of(sparse.csr_array(self.discount * self._dense[states, self._choice]), rhs)
        return system.without_loops() if solve_loops else system


class GeneralModel(Model):
    """Any value and expectation functional, through the operator."""

    fused = False
    tables = 2

    def __init__(self, operator: RevOperator) -> None:
        super().__init__(operator)
        self._greedy = np.full(operator.mdp.n_states, -1)
        self._fixed: sparse.csr_array | None = None

    def sweep(self, v: Floats) -> Residual:
        self.q = self.operator.backup(v)
        self.image = self.operator.value_of(self.q)
        gap = self.image - v
        mask = self.operator.mdp.available
        q_size = largest_of(self.q if mask is None else self.q[mask])
        changed = 0
        if not self.operator.value.linear:
            greedy = self.operator.seen(self.q).argmax(axis=1)
            changed = int((greedy != self._greedy).sum())
            self._greedy = greedy
        return Residual(float(gap.min()), float(gap.max()), largest_of(v), q_size, changed)

    def in_place_sweep(self, v: Floats, *, backward: bool) -> tuple[float, int]:
        raise no_in_place_sweep(self.operator)

    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        matrix = self._fixed
        if matrix is None:
            matrix = self.discount * (
                _per_state(value_weights(self.operator, self.q))
                @ self.operator.expectation.worst_rows(self.operator.mdp, v)
            )
        if self.operator.value.linear and isinstance(self.operator.expectation, Nominal):
            self._fixed = matrix
        system = AffineSystem.of(matrix, self.image - matrix @ v)
        return system.without_loops() if solve_loops else system


def _per_state(weights: Floats) -> sparse.csr_array:
    """The matrix (S, S·A) whose row s holds weights[s] at the pairs of s."""
    n_states, n_actions = weights.shape
    indptr = np.arange(0, n_states * n_actions + 1, n_actions)
    # A copy: eliminate_zeros works in place, and the weights may be the policy itself.
    matrix = sparse.csr_array((weights.flatten(), np.arange(weights.size), indptr), shape=(n_states, weights.size))
    matrix.eliminate_zeros()
    return matrix


def value_weights(operator: RevOperator, q: Floats) -> Floats:
    """A subgradient of V at what it reads of q: non-negative weights (S, A) with rows summing to 1."""
    value, available = operator.value, operator.mdp.available
    seen = operator.seen(q)
    if isinstance(value, (PolicyMean, PolicyEntropy)):
        return value.policy
    if isinstance(value, (Soft, Mellowmax)):
        return value.policy(seen, available)
    if isinstance(value, (Max, Min)):
        weights = np.zeros(q.shape)
        weights[np.arange(len(q)), value.greedy(seen, available)] = 1.0
        return weights
    raise InputError(
        f"policy evaluation knows no weights for {type(value).__name__}: use method='anderson' or 'value_iteration'"
    )


def no_in_place_sweep(operator: RevOperator) -> InputError:
    """What to say where there is no sweep in place."""
    value, expectation = type(operator.value).__name__, type(operator.expectation).__name__
    return InputError(
        f"method 'gauss_seidel' updates state by state, which {value} with {expectation} does not offer; "
        "allowed are Max and Min with Nominal"
    )


def reading(operator: RevOperator) -> tuple[float, Floats, NDArray[np.bool_]]:
    """How a greedy choice reads a table, for the kernels: (sign, offset, allowed)."""
    mdp = operator.mdp
    offset: Floats = np.empty((0, 0))
    if operator.penalty_at == "next":
        offset = np.ascontiguousarray(-operator.seen(np.zeros(mdp.reward.shape)))
    allowed = np.empty((0, 0), dtype=np.bool_) if mdp.available is None else np.ascontiguousarray(mdp.available)
    return (-1.0 if isinstance(operator.value, Min) else 1.0), offset, allowed
