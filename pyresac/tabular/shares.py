"""One model over several processes: each holds the rows of some states, and all hold the values of every state.

`solve` on a `Share` is value iteration as on a whole model, by the same kernels. After each sweep the processes gather
one another's values and take the largest and least residual over all. A row's sum is taken by one process, in the
stored order, and extrema do not depend on an order: so the answer and its bound are the same bits for any number of
processes. What a bound depends on (the longest row, the largest reward and row error) is that of the whole model.

Each process counts states from its own first one, round the end: column j of its rows is the state first + j mod S.
So its own values come first, where the kernels look for them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, check_room
from pyresac.tabular.mdp import FiniteMDP, check_discount
from pyresac.tabular.readers import folders
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import GeneralModel, Model
from pyresac.tabular.solvers.systems import AffineSystem

Result = TypeVar("Result")
Part = TypeVar("Part", bound=np.generic)
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Variables in which launchers of MPI programs say how many processes there are; the second is of MPICH and Slurm."""
FAILURES: tuple[type[Exception], ...] = (InputError, OSError, MemoryError)
"""What a process may meet alone and still tell the others about."""


class Processes(Protocol):
    """What the processes that share a model do together; each method is called by all of them at once."""

    rank: int
    size: int

    def gather(self, own: NDArray[Any], out: NDArray[Any], counts: list[int], places: list[int]) -> None:
        """out[places[i] : places[i] + counts[i]] = what process i has as its `own`."""

    def largest(self, values: Floats) -> Floats:
        """The largest of each entry over the processes."""

    def everyone(self, word: Any) -> list[Any]:
        """What each process says, by rank."""

    def abort(self, code: int) -> None:
        """End all processes at once."""


class MpiProcesses:
    """The processes that `mpirun` started (extra `mpi`)."""

    def __init__(self) -> None:
        from mpi4py import MPI  # starts MPI

        self._mpi, self._world = MPI, MPI.COMM_WORLD
        self.rank, self.size = self._world.rank, self._world.size

    def gather(self, own: NDArray[Any], out: NDArray[Any], counts: list[int], places: list[int]) -> None:
        """By Allgatherv."""
        self._world.Allgatherv(own, [out, counts, places, own.dtype.char])

    def largest(self, values: Floats) -> Floats:
        """By Allreduce, whose maximum knows no NaN: one counts as infinite."""
        found = np.where(np.isnan(values), np.inf, values)
        self._world.Allreduce(self._mpi.IN_PLACE, found, self._mpi.MAX)
        return found

    def everyone(self, word: Any) -> list[Any]:
        """By allgather of pickles."""
        return list(self._world.allgather(word))

    def abort(self, code: int) -> None:
        """By Abort, which ends processes that wait, too."""
        self._world.Abort(code)


class OneProcess:
    """A process by itself: no MPI is needed."""

    rank, size = 0, 1

    def gather(self, own: NDArray[Any], out: NDArray[Any], counts: list[int], places: list[int]) -> None:
        """A copy."""
        out[:] = own

    def largest(self, values: Floats) -> Floats:
        """They are."""
        return values

    def everyone(self, word: Any) -> list[Any]:
        """One word."""
        return [word]

    def abort(self, code: int) -> None:
        """The error itself ends it."""


def launched() -> int:
    """How many processes the launcher of MPI programs started, by the environment; 0 where there was none."""
    found = [os.environ.get(name, "") for name in SIZES]
    return next((int(x) for x in found if x.isdecimal()), 0)


def agreed(processes: Processes, work: Callable[[], Result]) -> Result:
    """work() in every process. Where it fails in some, all raise what the first of these did."""
    result: Result | None = None
    failure = None
    try:
        result = work()
    except FAILURES as error:
        failure = next(i for i, kind in enumerate(FAILURES) if isinstance(error, kind)), str(error)
    failures = [word for word in processes.everyone(failure) if word is not None]
    if failures:
        kind, message = failures[0]
        raise FAILURES[kind](message)
    return result  # type: ignore[return-value]


@contextmanager
def together(processes: Processes, say: Callable[[str], None]) -> Iterator[None]:
    """Within it, an error of one process ends all of them, after one sentence: the others would wait for it forever.

    An InputError passes: here it is about what all processes know, so all raise it.
    """
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        who = f"process {processes.rank + 1} of {processes.size}"
        say(f"{who} failed, which ends all of them: {type(error).__name__}: {error}")
        processes.abort(1)
        raise


@dataclass(frozen=True, eq=False, repr=False)
class Share(FiniteMDP):
    """The rows of the states first…first + n − 1 of a model of S states; build one with `load`.

    transition: CSR (n·A, S), its columns counted from `first`; reward: (n, A). cuts: the first state of each process,
    and S. longest, largest: the longest row and the largest |reward| of the whole model, as row_error is its.
    """

    processes: Processes | None = None
    cuts: tuple[int, ...] = ()
    longest: int = 0
    largest: float = 0.0

    @classmethod
    def load(  # type: ignore[override]
        cls, path: str | Path, processes: Processes, discount: float | None = None
    ) -> Share:
        """This process's rows of the model in a folder (`FiniteMDP.save_folder`). Every process must call it.

        Only these rows are read. Raises InputError, in every process, where one finds its rows wrong.
        """
        folder = agreed(processes, lambda: folders.open_folder(Path(path)))
        gamma = agreed(processes, lambda: folder.discount if discount is None else check_discount(discount))
        cuts = agreed(processes, lambda: folder.cuts(processes.size))
        start, stop = cuts[processes.rank : processes.rank + 2]

        def own() -> tuple[FiniteMDP, dict[str, int]]:
            rows, sums = folder.rows(start, stop)
            try:
                return FiniteMDP._checked(rows, gamma, n_columns=folder.n_states), sums
            except InputError as error:
                counted = f" (here states are counted from s={start})" if start else ""
                raise InputError(f"{path}: {error}{counted}") from None

        model, sums = agreed(processes, own)
        everyone = processes.everyone(sums)
        folder.check_sums({name: sum(found[name] for found in everyone) for name in sums})
        longest, reward, row_error = processes.largest(
            np.array([model.longest_row, model.reward_size, model.row_error])
        ).tolist()
        rows = model.matrix
        columns = rows.indices - rows.indices.dtype.type(start)
        columns[columns < 0] += folder.n_states
        turned = sparse.csr_array((rows.data, columns, rows.indptr), shape=rows.shape)
        return cls(
            turned, model.reward, gamma, model.available, None, row_error,
            processes=processes, cuts=tuple(cuts), longest=int(longest), largest=reward,
        )  # fmt: skip

    def __repr__(self) -> str:
        states = f"states {self.first} to {self.first + self.n_states - 1} of {self.cuts[-1]}"
        who = f"process {self._of.rank + 1} of {self._of.size}"
        return f"Share({states}, {self.n_actions} actions, discount {self.discount}; {who})"

    @property
    def first(self) -> int:
        """The first state whose rows are here."""
        return self.cuts[self._of.rank]

    @property
    def _of(self) -> Processes:
        assert self.processes is not None
        return self.processes

    def agreed(self, work: Callable[[], Result]) -> Result:
        """`agreed` by the processes that share the model."""
        return agreed(self._of, work)

    @cached_property
    def longest_row(self) -> int:
        """That of the whole model."""
        return self.longest

    @cached_property
    def reward_size(self) -> float:
        """That of the whole model."""
        return self.largest

    def gathered(self, own: NDArray[Part], *, first: int = 0, out: NDArray[Part] | None = None) -> NDArray[Part]:
        """The values (S,) of all states from those (n,) of each process; counted from the state `first`."""
        total = self.cuts[-1]
        result = np.empty(total, dtype=own.dtype) if out is None else out
        counts = np.diff(self.cuts).tolist()
        places = [(cut - first) % total for cut in self.cuts[:-1]]
        self._of.gather(np.ascontiguousarray(own), result, counts, places)
        return result


class SharedModel(Model):
    """The model of a `Share`: v and image are those of all states, counted from the share's first, q its own rows'.

    After each sweep the images are gathered, and the residual is that over all states.
    """

    def __init__(self, own: Model) -> None:
        operator, share = own.operator, own.operator.mdp
        assert isinstance(share, Share)
        if isinstance(own, GeneralModel):
            raise InputError(
                f"several processes solve for Max or Min, nominally or over a set of rows; "
                f"{type(operator.value).__name__} with {type(operator.expectation).__name__} is solved by one"
            )
        self.fused, self.operator, self.certificate, self.workers = own.fused, operator, own.certificate, own.workers
        self.discount, self.rate, self.q = own.discount, own.rate, own.q
        self._own, self._share = own, share
        check_room(24 * share.cuts[-1], f"the values of all {share.cuts[-1]} states")
        self.image: Floats = np.empty(share.cuts[-1])
        self.sweeping = self.gathering = 0.0
        """CPU seconds of this process, all threads, in its rows; seconds of the exchange, with waiting for others."""

    def sweep(self, v: Floats) -> Residual:
        started = time.process_time()
        found = self._own.sweep(v)
        self.sweeping += time.process_time() - started
        swept = time.perf_counter()
        self._share.gathered(self._own.image, first=self._share.first, out=self.image)
        most = self._share._of.largest(np.array([-found.low, found.high, found.q_size, float(found.changed)])).tolist()
        self.gathering += time.perf_counter() - swept
        return Residual(-most[0], most[1], found.v_size, most[2], int(min(most[3], self.image.size)))

    def start(self, initial: Floats | None) -> Floats:
        if initial is None:
            return super().start(None)
        own = np.array(self.operator.value_of(initial))
        return self._share.gathered(own, first=self._share.first)

    def _rewarded(self) -> Floats:
        return self._share.gathered(self._own._rewarded(), first=self._share.first)

    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        raise one_method_alone()

    def in_place_sweep(self, v: Floats, *, backward: bool) -> tuple[float, int]:
        raise one_method_alone()


def one_method_alone() -> InputError:
    """What to say of a method that does not run on shares."""
    return InputError("several processes run 'value_iteration' alone; other methods take the whole model")
