"""Sets whose inner problem is solved row by row by a compiled routine: what they share.

A set of this kind is one file: a dataclass with its parameter, and a compiled `row` of the form

    row(p, upper, x, parameter, lowest, warm, wanted, w) -> (value, moved, warm)

p: the stored probabilities of one pair (or lower bounds). upper: upper bounds, or p again. x: the values of the stored
successors, which may be overwritten. parameter: the pair's radius. lowest: the least value that mass may move to. warm:
what the row's solver returned last time, NaN the first time. w receives the minimising weights of the stored successors
where they are `wanted`, and is free to use elsewhere; x and w may be longer than p. `moved` is the mass that goes to a
state of value `lowest`.

Where mass may move: `support="all"`, the default, is the set of the literature, a ball in the simplex over all states;
`support="nominal"` keeps to the successors that the nominal row gives positive probability, which says that the model
knows what is possible and not how likely it is. Sets whose divergence is infinite off the support (KL, χ², CVaR) know
the second kind only.
"""

from __future__ import annotations

import marshal
import zlib
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields
from types import FunctionType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.jit import compiled, inlined
from pyresac.tabular.checks import Floats, check_number, finite_array, owned
from pyresac.tabular.expectations.base import ExpectationFunctional, WorstRows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.workers import Workers

NOTHING: Floats = np.empty(0)
NO_PAIRS: NDArray[np.int64] = np.empty(0, dtype=np.int64)
Sweep = Callable[..., None]


def _over_rows(
    indptr: Any, indices: Any, first: Any, second: Any, parameter: Any, warm: Any, everywhere: Any, sign: Any, v: Any,
    lowest: Any, lowest_at: Any, pairs: Any, slots: Any, start: Any, stop: Any, out: Any, columns: Any, weights: Any,
) -> None:  # fmt: skip
    """out[i] = the worst expectation of v at pair pairs[i] (i itself where `pairs` is empty), for start ≤ i < stop.

    sign: 1 for the worst case, −1 for the best. slots (or none): where each row's columns and weights are written; what
    is left of its room holds zeros.
    """
    longest = 0
    for pair in range(len(indptr) - 1):
        longest = max(longest, indptr[pair + 1] - indptr[pair])
    x, w = np.empty(longest), np.empty(longest)
    for i in range(start, stop):
        pair = pairs[i] if pairs.size else i
        begin, end = indptr[pair], indptr[pair + 1]
        out[i] = 0.0
        moved, at, floor = 0.0, -1, lowest
        if begin < end:
            p = first[begin:end]
            for k in range(end - begin):
                x[k] = sign * v[indices[begin + k]]
            if not everywhere:
                floor = np.inf
                for k in range(end - begin):
                    y = x[k]
                    floor = min(floor, y if p[k] > 0.0 else np.inf)
                for k in range(end - begin if slots.size else 0):
                    at = k if p[k] > 0.0 and x[k] == floor else at
            guess = warm[pair] if warm.size else np.nan
            value, moved, guess = row(p, second[begin:end], x, parameter[pair], floor, guess, slots.size > 0, w)  # type: ignore[name-defined]  # noqa: F821
            out[i] = sign * value
            if warm.size:
                warm[pair] = guess
        if slots.size:
            slot = slots[i]
            for k in range(end - begin):
                columns[slot], weights[slot] = indices[begin + k], w[k]
                slot += 1
            if moved > 0.0 and at >= 0:
                weights[slots[i] + at] += moved
            elif moved > 0.0:
                columns[slot], weights[slot] = lowest_at, moved
                slot += 1
            for k in range(slot, slots[i + 1]):
                columns[k], weights[k] = 0, 0.0


def over_rows(row: Callable[..., tuple[float, float, float]]) -> Sweep:
    """`_over_rows` compiled around `row`, as if it stood in that file: Numba keeps, and renews, its cache there."""
    home = row.__code__.co_filename
    # Numba files what it compiled under this name: one for each row, and a new one whenever the loop changes.
    name = f"over_{row.__name__}_{zlib.crc32(marshal.dumps((_over_rows.__code__, row.__code__))):08x}"
    code = _over_rows.__code__.replace(co_filename=home, co_name=name, co_qualname=name)
    sweep = FunctionType(code, {"row": inlined(row), "np": np, "__name__": row.__module__}, name)
    return compiled(sweep)


@dataclass(frozen=True, eq=False)
class Bound:
    """A set's options checked against one MDP, in the arrays that the kernels take."""

    mdp: FiniteMDP
    indptr: NDArray[np.integer[Any]]
    indices: NDArray[np.integer[Any]]
    first: Floats
    second: Floats
    parameter: Floats


class RowSet(ExpectationFunctional):
    """What the sets of this kind share. Subclasses name their sweep, and bind their options to an MDP."""

    sweep: ClassVar[Sweep]
    support: str = "all"
    optimistic: bool = False
    _bound: Bound | None = None

    @abstractmethod
    def bind(self, mdp: FiniteMDP) -> Bound:
        """The options of this set, checked against `mdp`. Raises InputError."""

    def bound_to(self, mdp: FiniteMDP) -> Self:
        """This set with its options checked, copied and spread over the pairs of `mdp`. Raises InputError."""
        if self._bound is not None and self._bound.mdp is mdp:
            return self
        bound = copy(self)
        object.__setattr__(bound, "_bound", self.bind(mdp))
        return bound

    def of(self, mdp: FiniteMDP) -> Bound:
        """The arrays of this set on `mdp`."""
        bound = self.bound_to(mdp)._bound
        assert bound is not None
        return bound

    def room(self, mdp: FiniteMDP) -> NDArray[np.int64]:
        """How many columns the worst row of each pair may need, (S·A,)."""
        return np.asarray(np.diff(self.of(mdp).indptr) + 1, dtype=np.int64)

    def expect(
        self,
        mdp: FiniteMDP,
        v: Floats,
        *,
        pairs: NDArray[np.int64] = NO_PAIRS,
        rows: WorstRows | None = None,
        warm: Floats = NOTHING,
        workers: Workers | None = None,
        out: Floats | None = None,
    ) -> Floats:
        """E v at `pairs` (all, where none are named), (n,); the rows that attain it go to `rows`."""
        count = len(pairs) if len(pairs) else mdp.reward.size
        given = np.ascontiguousarray(v, dtype=np.float64)
        if given.shape != (mdp.matrix.shape[1],):  # the kernels trust it
            raise InputError(f"v has shape {given.shape}; the MDP asks for {(mdp.matrix.shape[1],)}")
        result = np.empty(count) if out is None else out
        wanted = WorstRows.none() if rows is None else rows
        inputs = (*self.inputs(mdp, given, warm), pairs, wanted.slots)
        outputs = (result, wanted.columns, wanted.weights)
        if workers is None:
            type(self).sweep(*inputs, 0, count, *outputs)
        else:
            workers.run(type(self).sweep, inputs, outputs, items=count)
        return result

    def inputs(self, mdp: FiniteMDP, v: Floats, warm: Floats) -> tuple[Any, ...]:
        """What the sweep takes before `pairs`."""
        bound, sign = self.of(mdp), -1.0 if self.optimistic else 1.0
        at = int(np.argmax(v)) if self.optimistic else int(np.argmin(v))
        indices = bound.indices.view(np.uint32 if bound.indices.itemsize == 4 else np.uint64)
        arrays = (bound.indptr, indices, bound.first, bound.second, bound.parameter)
        return (*arrays, warm, self.support == "all", sign, v, sign * float(v[at]), at)

    def __call__(self, mdp: FiniteMDP, v: Floats) -> Floats:
        return self.bound_to(mdp).expect(mdp, v).reshape(mdp.reward.shape)

    def worst_rows(self, mdp: FiniteMDP, v: Floats) -> sparse.csr_array:
        """The minimising kernel (for `optimistic`, the maximising one), CSR (S·A, S)."""
        rows = WorstRows.for_pairs(self.room(mdp))
        self.bound_to(mdp).expect(mdp, v, rows=rows)
        matrix = sparse.csr_array((rows.weights, rows.columns, rows.slots), shape=mdp.matrix.shape)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix

    def check_options(self) -> None:
        """InputError unless `support` and `optimistic` are what they may be."""
        if self.support not in ("all", "nominal"):
            raise InputError(f"support is {self.support!r}; it must be 'all' or 'nominal'")
        if not isinstance(self.optimistic, bool):
            raise InputError(f"optimistic is {self.optimistic!r}; it must be True or False")


class Ball(RowSet):
    """A set around the nominal row with one parameter, the first field of the dataclass: a number or (S, A)."""

    allowed: ClassVar[str]
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = np.inf
    open_low: ClassVar[bool] = False
    scale: ClassVar[float] = 1.0
    """What the kernel's parameter is of the one given."""

    def __post_init__(self) -> None:
        name = self._name()
        array = finite_array(name, getattr(self, name))
        if array.size == 0:
            raise InputError(f"{name} is empty; it must be {self.allowed}")
        for bound in (array.min(), array.max()):
            check_number(name, float(bound), self.allowed, low=self.low, high=self.high, open_low=self.open_low)
        object.__setattr__(self, name, owned(np.atleast_1d(array), getattr(self, name)).reshape(array.shape))
        self.check_options()

    @classmethod
    def _name(cls) -> str:
        return fields(cls)[0].name  # type: ignore[arg-type]

    def bind(self, mdp: FiniteMDP) -> Bound:
        given = np.asarray(getattr(self, self._name()), dtype=np.float64)
        if given.ndim != 0 and given.shape != mdp.reward.shape:
            raise InputError(f"{self._name()} has shape {given.shape}; expected a number or {mdp.reward.shape}")
        spread = np.ascontiguousarray(np.broadcast_to(self.scale * given, mdp.reward.shape)).ravel()
        indptr, indices, data = mdp.csr()
        return Bound(mdp, indptr, indices, data, data, spread)


Parameter = ArrayLike
