"""Finite Markov decision processes in float64, dense or sparse.

Everything downstream relies on one invariant, checked here: the row of every available pair is a probability vector
up to `row_error`, which the operator carries in its bounds. The theorems (C09–C11) are about full kernels; a reading
in which `done` masks the bootstrap is kept apart (`continuation`, `terminal`; see `FiniteMDP.from_gymnasium`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import (
    as_float,
    check_available,
    check_initial,
    checked_rows,
    finite_array,
    largest_of,
    owned,
)
from pyresac.tabular.exact import ExactMDP
from pyresac.tabular.readers import Arrays, cassandra, drn, files, folders, packages, prism, umb
from pyresac.tabular.readers.counts import from_counts

if TYPE_CHECKING:
    import gymnasium

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class FiniteMDP:
    """A finite MDP (S states, A actions); build one with `from_arrays` or the other constructors, which check it.

    transition: float64 (S, A, S), or CSR of shape (S·A, S) whose row s·A + a belongs to the pair (s, a).
    reward: float64 (S, A), in the reward's own unit, 0 on unavailable pairs.
    discount: γ in [0, 1).
    available: bool (S, A), or None where every action is available everywhere. Rows of unavailable pairs are zero.
    initial: float64 (S,), the distribution of the first state, or None.
    row_error: a bound on |Σ_s' P(s'|s,a) − 1| over the available pairs.
    continuation: float64 (S, A), or None. Only in the done-masked reading: the probability that the episode goes on,
        by which `RevOperator` multiplies frozen penalties (C22 d).
    terminal: bool (S,), or None. Only in the done-masked reading: the absorbing states whose value is pinned to 0.
    """

    transition: Floats | sparse.csr_array
    reward: Floats
    discount: float
    available: NDArray[np.bool_] | None = None
    initial: Floats | None = None
    row_error: float = 0.0
    continuation: Floats | None = None
    terminal: NDArray[np.bool_] | None = None

    @classmethod
    def from_arrays(
        cls,
        transition: ArrayLike | sparse.sparray | sparse.spmatrix,
        reward: ArrayLike,
        discount: float,
        *,
        available: ArrayLike | None = None,
        initial: ArrayLike | None = None,
        renormalise: bool = False,
    ) -> FiniteMDP:
        """An MDP from arrays: transition (S, A, S) or sparse (S·A, S), reward (S, A), discount in [0, 1).

        available: bool (S, A); each state needs one available action. What `transition` and `reward` hold elsewhere
        is ignored. initial: a probability vector (S,).
        A row may miss 1 by the rounding of float64 at its length; what is left is carried in `row_error`.
        renormalise: divide each row by its sum first; rows may then miss 1 by the rounding of their own dtype
        (float32, say), but no more.

        The arrays are copied, and the copies cannot be written to: what a solver certifies is what it was given.
        Raises InputError naming the first offending entry.
        """
        given = Arrays(transition, reward, discount, available=available, initial=initial, renormalise=renormalise)
        return cls._checked(given, discount)

    @classmethod
    def _checked(cls, given: Arrays, discount: float, n_columns: int | None = None) -> FiniteMDP:
        """`from_arrays`. n_columns: S where the rows are those of some states only."""
        rewards = finite_array("reward", given.reward, ndim=2, allow_nonfinite=True)
        n_states, n_actions = rewards.shape
        if n_states < 1 or n_actions < 1:
            raise InputError(f"reward has shape {rewards.shape}; an MDP needs at least one state and one action")
        gamma = check_discount(discount)
        mask = None if given.available is None else check_available(given.available, (n_states, n_actions))
        if mask is not None:
            rewards = np.where(mask, rewards, 0.0)
        if np.isneginf(rewards).any():
            s, a = (int(ids[0]) for ids in np.nonzero(np.isneginf(rewards)))
            raise InputError(
                f"reward[{s}, {a}] is -inf; every entry must be finite. If −∞ marks actions that are not there, "
                f"say so: available=reward > -np.inf"
            )
        finite_array("reward", rewards)
        rows, row_error = checked_rows(
            given.transition, n_states, n_actions, mask, renormalise=given.renormalise, n_columns=n_columns
        )
        first = None if given.initial is None else owned(check_initial(given.initial, n_states), given.initial)
        mask = None if mask is None else owned(mask, given.available)
        rows = owned(rows, given.transition)
        return cls(rows, owned(rewards, given.reward), gamma, mask, first, row_error)

    @classmethod
    def _read(cls, model: Arrays) -> FiniteMDP:
        """Check what a reader returned."""
        mdp = cls.from_arrays(
            model.transition, model.reward, model.discount, available=model.available, initial=model.initial,
            renormalise=model.renormalise,
        )  # fmt: skip
        if model.continuation is None and model.terminal is None:
            return mdp
        return mdp.replace(continuation=model.continuation, terminal=model.terminal)

    @classmethod
    def from_exact(cls, mdp: ExactMDP) -> FiniteMDP:
        """The nearest float64 MDP; row sums that rounding moved off 1 are carried in its `row_error`."""
        if not isinstance(mdp, ExactMDP):
            raise InputError(f"mdp is a {type(mdp).__name__}; it must be an ExactMDP")
        return cls.from_arrays(
            np.array([[[float(x) for x in row] for row in state] for state in mdp.transition]),
            np.array([[float(x) for x in row] for row in mdp.reward]),
            float(mdp.discount),
            available=None if mdp.available is None else np.array(mdp.available),
        )

    @classmethod
    def from_gymnasium(
        cls, env: str | gymnasium.Env[Any, Any], discount: float, *, done_masked: bool = False, **make_options: Any
    ) -> FiniteMDP:
        """The model of a Gymnasium toy-text environment, from its table `P`: see
        `pyresac.tabular.readers.toy_text`."""
        from pyresac.tabular.readers.toy_text import from_gymnasium  # Gymnasium takes a while to import

        return cls._read(from_gymnasium(env, discount, done_masked=done_masked, **make_options))

    @classmethod
    def from_counts(cls, counts: ArrayLike | sparse.sparray, reward_sums: ArrayLike, discount: float) -> FiniteMDP:
        """The nominal model p° of a replay buffer: counts (S, A, S) or sparse (S·A, S) of transitions seen, and the
        sums of rewards (S, A) seen at each pair.

        p°(s'|s,a) = n(s,a,s')/n(s,a), R(s,a) the mean reward. Pairs never seen are unavailable. A state that was never
        left is made absorbing, with reward 0 and every action available: of what follows there nothing is known.
        """
        return cls._read(from_counts(counts, reward_sums, discount))

    @classmethod
    def load(cls, path: str | Path, discount: float | None = None) -> FiniteMDP:
        """Read `.npz` (written by `save`), `.csv` (idstatefrom,idaction,idstateto,probability,reward), PRISM's `.tra`
        with what lies beside it, Storm's `.drn`, the model checkers' `.umb` (extra `umb`), Cassandra's `.mdp`, or a
        folder written by `save_folder`.

        Only .npz, .mdp and folders hold a discount: for the others give one. Raises InputError naming file and line.
        """
        path = Path(path)
        if path.is_dir():
            return cls._read(folders.load(path, discount))
        if path.suffix == ".mdp":
            return cls._read(cassandra.load(path, discount))
        reader = {".tra": prism.load, ".drn": drn.load, ".umb": umb.load}.get(path.suffix)
        if reader is not None:
            if discount is None:
                raise InputError(f"{path}: a {path.suffix} file holds no discount; give discount=… in [0, 1)")
            return cls._read(reader(path, discount))
        return cls._read(files.load(path, discount))

    @classmethod
    def from_storm(cls, model: Any, discount: float, rewards: str | None = None) -> FiniteMDP:
        """A stormpy MDP or DTMC: see `pyresac.tabular.readers.packages`."""
        return cls._read(packages.from_storm(model, discount, rewards))

    @classmethod
    def from_quantecon(cls, problem: Any, discount: float | None = None) -> FiniteMDP:
        """QuantEcon's `DiscreteDP`; a reward of −∞ marks an unavailable action."""
        return cls._read(packages.from_quantecon(problem, discount))

    @classmethod
    def from_pr(cls, transition: Any, reward: Any, discount: float) -> FiniteMDP:
        """The (P, R) of pymdptoolbox: P (A, S, S), R (S,), (S, A) or (A, S, S), or sequences of A sparse matrices."""
        return cls._read(packages.from_pr(transition, reward, discount))

    def save(self, path: str | Path) -> None:
        """Write `.npz` (everything) or `.csv` (transitions and rewards), by the ending of `path`.

        Raises InputError for a done-masked reading, and for a `.csv` where the last action is available nowhere.
        """
        files.save(self._arrays(), Path(path))

    def save_folder(self, path: str | Path) -> None:
        """Write everything into a new folder of arrays, which several processes can share: see
        `pyresac.tabular.readers.folders`. Raises InputError for a done-masked reading."""
        folders.save(self._arrays(), Path(path))

    def _arrays(self) -> Arrays:
        return Arrays(
            *(self.transition, self.reward, self.discount, self.available, self.initial),
            continuation=self.continuation, terminal=self.terminal,
        )  # fmt: skip

    def __repr__(self) -> str:
        size = f"{self.n_states} states, {self.n_actions} actions, discount {self.discount}"
        return f"FiniteMDP({size}, {f'sparse: {self.matrix.nnz} transitions' if self.is_sparse else 'dense'})"

    @property
    def n_states(self) -> int:
        """S."""
        return int(self.reward.shape[0])

    @property
    def n_actions(self) -> int:
        """A."""
        return int(self.reward.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether `transition` is CSR."""
        return not isinstance(self.transition, np.ndarray)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The kernel as CSR of shape (S·A, S)."""
        if isinstance(self.transition, np.ndarray):
            return sparse.csr_array(self.transition.reshape(self.n_states * self.n_actions, self.n_states))
        return self.transition

    def csr(self) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]], Floats]:
        """(indptr, indices, data) of `matrix`, in SciPy's index type (int32 unless there are 2³¹ entries)."""
        return self.matrix.indptr, self.matrix.indices, self.matrix.data

    @cached_property
    def longest_row(self) -> int:
        """The largest number of stored successors of a pair: what rounding bounds depend on."""
        if isinstance(self.transition, np.ndarray):
            return self.n_states
        return int(np.diff(self.matrix.indptr).max(initial=1))

    @cached_property
    def reward_size(self) -> float:
        """max |R| over the table."""
        return largest_of(self.reward)

    def expect(self, v: Floats) -> Floats:
        """Σ_s' P(s'|s,a)·v(s') for v (S,): an array (S, A), 0 on unavailable pairs."""
        if isinstance(self.transition, np.ndarray):
            return np.asarray(self.transition @ v, dtype=np.float64)
        return np.asarray(self.transition @ v, dtype=np.float64).reshape(self.n_states, self.n_actions)

    def dense(self) -> Floats:
        """The kernel as a dense array (S, A, S)."""
        if isinstance(self.transition, np.ndarray):
            return self.transition
        shape = (self.n_states, self.n_actions, self.n_states)
        return np.asarray(self.transition.toarray(), dtype=np.float64).reshape(shape)

    def with_discount(self, discount: float) -> FiniteMDP:
        """The same MDP with another γ."""
        return self.replace(discount=check_discount(discount))

    def replace(self, **changes: Any) -> FiniteMDP:
        """A copy with some fields replaced (unchecked; for code that keeps the invariants)."""
        return replace(self, **changes)

    def to_exact(self) -> ExactMDP:
        """The same MDP over ℚ: each float is a rational; each row is divided by its exact sum."""
        if self.continuation is not None:
            raise InputError("this MDP is a done-masked reading; build the full-kernel one to compare exactly")
        kernel = [[_exact_row(row) for row in state] for state in self.dense()]
        available = None if self.available is None else tuple(tuple(bool(x) for x in row) for row in self.available)
        reward = tuple(tuple(Fraction(float(x)) for x in row) for row in self.reward)
        return ExactMDP(tuple(tuple(state) for state in kernel), reward, Fraction(self.discount), available)


def _exact_row(row: Floats) -> tuple[Fraction, ...]:
    entries = [Fraction(float(x)) for x in row]
    total = sum(entries, Fraction(0))
    return tuple(x / total for x in entries) if total else tuple(entries)


def check_discount(discount: float) -> float:
    """`discount` as a float; InputError unless it lies in [0, 1)."""
    gamma = as_float(discount)
    if gamma is None:
        raise InputError(f"discount is {discount!r}; it must be a number in [0, 1)")
    if not 0.0 <= gamma < 1.0:
        raise InputError(f"discount is {gamma}; it must lie in [0, 1): at 1 the backup is no contraction")
    return gamma
