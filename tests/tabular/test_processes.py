"""What the processes that share a model say to MPI, and what a pool of threads is given: MPI is a stand-in here that
writes down every call, so that this is tested where mpi4py is not installed, too."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from property_tests.together import ThreadProcess, by_threads
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, Min, PolicyMean, RevOperator, families, shares, workers
from pyresac.tabular.shares import MpiProcesses, OneProcess, Share, SharedModel, agreed, launched
from pyresac.tabular.solvers.api import model_of
from pyresac.tabular.workers import Workers


class World:
    """A communicator of two processes, of which this is the second; the first has what is given, times ten."""

    rank, size = 1, 2

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def Allgatherv(self, own: np.ndarray, target: list[Any]) -> None:  # noqa: N802
        out, counts, places, kind = target
        self.calls.append(("Allgatherv", list(counts), list(places), kind))
        out[places[1] : places[1] + counts[1]] = own
        out[places[0] : places[0] + counts[0]] = 10.0 * own[: counts[0]]

    def Allreduce(self, place: str, values: np.ndarray, how: str) -> None:  # noqa: N802
        self.calls.append(("Allreduce", place, how))
        assert not np.isnan(values).any(), "its maximum knows no NaN"
        values[:] = np.maximum(values, 10.0 * values)

    def allgather(self, word: object) -> tuple[object, object]:
        return "first", word

    def Abort(self, code: int) -> None:  # noqa: N802
        self.calls.append(("Abort", code))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    found = World()
    mpi = SimpleNamespace(COMM_WORLD=found, IN_PLACE="in place", MAX="max")
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=mpi))
    return found


def test_what_mpi_is_asked_for(world: World) -> None:
    processes = MpiProcesses()
    assert (processes.rank, processes.size) == (1, 2)
    out = np.zeros(5)
    processes.gather(np.array([1.0, 2.0, 3.0]), out, [2, 3], [3, 0])
    assert out.tolist() == [1.0, 2.0, 3.0, 10.0, 20.0]
    values = np.array([-1.0, np.nan, 3.0])
    assert processes.largest(values).tolist() == [-1.0, np.inf, 30.0]
    assert np.isnan(values[1]), "what was given is left as it was"
    assert processes.everyone("second") == ["first", "second"]
    processes.abort(3)
    assert world.calls == [("Allgatherv", [2, 3], [3, 0], "d"), ("Allreduce", "in place", "max"), ("Abort", 3)]


def test_one_process_speaks_with_itself() -> None:
    one, out = OneProcess(), np.zeros(3)
    one.gather(np.array([1.0, 2.0, 3.0]), out, [3], [0])
    assert out.tolist() == [1.0, 2.0, 3.0]
    assert (one.rank, one.size, one.everyone("a")) == (0, 1, ["a"])
    assert one.largest(out) is out


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, 0),
        ({"OMPI_COMM_WORLD_SIZE": "4"}, 4),
        ({"PMI_SIZE": "3"}, 3),
        ({"OMPI_COMM_WORLD_SIZE": "4", "PMI_SIZE": "3"}, 4),
        ({"OMPI_COMM_WORLD_SIZE": "many", "PMI_SIZE": "3"}, 3),
        ({"PMI_SIZE": "-1"}, 0),
        ({"PMI_SIZE": ""}, 0),
    ],
)
def test_a_launcher_says_how_many(monkeypatch: pytest.MonkeyPatch, said: dict[str, str], expected: int) -> None:
    for name in shares.SIZES:
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert launched() == expected


@pytest.mark.parametrize("kind", [InputError, OSError, MemoryError])
def test_the_first_failure_is_told_as_what_it_was(kind: type[Exception]) -> None:
    """Two of three fail: all raise the first one's kind and words. Any other error is its own process's."""

    def met(process: ThreadProcess) -> str:
        def work() -> int:
            if process.rank > 0:
                raise (kind if process.rank == 1 else OSError)(f"of process {process.rank}")
            return 7

        with pytest.raises(kind, match=r"^of process 1$") as error:
            agreed(process, work)
        return type(error.value).__name__

    assert by_threads(3, met) == [kind.__name__] * 3
    assert by_threads(2, lambda process: agreed(process, lambda: process.rank)) == [0, 1]
    with pytest.raises(ZeroDivisionError):
        agreed(OneProcess(), lambda: 1 // 0)


def test_what_a_share_holds(tmp_path: Path) -> None:
    """Rows counted from its own first state, round the end; sizes and what rows miss 1 by of the whole model."""
    mdp = families.random_sparse(7, 2, 3, 0.75, seed=4)
    mdp.save_folder(tmp_path / "model")
    whole = FiniteMDP.load(tmp_path / "model")

    def held(process: ThreadProcess) -> list[int]:
        share = Share.load(tmp_path / "model", process)
        first, stop = share.cuts[process.rank : process.rank + 2]
        assert (share.first, share.n_states) == (first, stop - first)
        rolled = np.roll(whole.matrix.toarray()[2 * first : 2 * stop], -first, axis=1)
        np.testing.assert_array_equal(share.matrix.toarray(), rolled)
        np.testing.assert_array_equal(share.reward, whole.reward[first:stop])
        found = (share.longest_row, share.reward_size, share.row_error, share.discount)
        assert found == (whole.longest_row, whole.reward_size, whole.row_error, whole.discount)
        assert repr(share) == (
            f"Share(states {first} to {stop - 1} of 7, 2 actions, discount 0.75; process {process.rank + 1} of 3)"
        )
        own = np.arange(first, stop, dtype=float)
        assert share.gathered(own).tolist() == list(range(7))
        assert share.gathered(own, first=first).tolist() == np.roll(np.arange(7), -first).tolist()
        out = np.empty(7)
        assert share.gathered(own, out=out) is out
        assert share.agreed(lambda: 5) == 5
        other = Share.load(tmp_path / "model", process, 0.5)
        assert other.discount == 0.5
        return list(share.cuts)

    assert [cuts[0] for cuts in by_threads(3, held)] == [0, 0, 0]
    with pytest.raises(InputError, match=r"discount is 1\.0"):
        Share.load(tmp_path / "model", OneProcess(), 1.0)


@pytest.mark.parametrize("size", [1, 3])
def test_a_sweep_of_shares_is_one_of_the_whole(tmp_path: Path, size: int) -> None:
    """Image, residual, and the number of states whose choice changed; from a start, and from none."""
    mdp = families.random_sparse(11, 3, 4, 0.75, seed=2)
    mdp.save_folder(tmp_path / "model")
    whole = FiniteMDP.load(tmp_path / "model")
    initial = np.random.default_rng(0).normal(size=(11, 3))
    v = np.random.default_rng(1).normal(size=11)
    with model_of(RevOperator(whole, value=Min())) as model:
        starts = [model.start(None), model.start(initial)]
        first = model.sweep(v)
        image, second = model.image.copy(), model.sweep(-v)

    def swept(process: ThreadProcess) -> None:
        share = Share.load(tmp_path / "model", process)
        at, stop = share.first, share.first + share.n_states
        with model_of(RevOperator(share, value=Min())) as part:
            assert isinstance(part, SharedModel)
            assert (part.sweeping, part.gathering) == (0.0, 0.0)
            for given, expected in zip((None, initial[at:stop]), starts, strict=True):
                np.testing.assert_array_equal(part.start(given), np.roll(expected, -at))
            for values, expected in ((v, first), (-v, second)):
                found = part.sweep(np.roll(values, -at))
                assert replace(found, changed=expected.changed) == expected
                # the largest number of any process: at first all states change
                assert expected.changed <= found.changed * size <= 11 * size
                if values is v:
                    np.testing.assert_array_equal(part.image, np.roll(image, -at))
                    assert found.changed == max(np.diff(share.cuts))
            assert part.gathering > 0.0
            assert 0.0 <= part.sweeping < 60.0
            assert part.gathering < 60.0

    by_threads(size, swept)
    assert first.changed == 11


def test_a_share_is_solved_for_the_best_or_the_worst_action(tmp_path: Path) -> None:
    families.chain(3, 0.9).save_folder(tmp_path / "model")
    share = Share.load(tmp_path / "model", OneProcess())
    with pytest.raises(InputError, match=r"solve for Max or Min, .*; PolicyMean with Nominal is solved by one"):
        model_of(RevOperator(share, value=PolicyMean(np.full((3, 2), 0.5))))


@pytest.mark.parametrize(
    ("processors", "states", "entries", "parts"),
    [
        (4, 100, workers.THREADED_ENTRIES, 4),
        (4, 100, workers.THREADED_ENTRIES - 1, 1),
        (4, 3, workers.THREADED_ENTRIES, 3),
        (2, 5, workers.THREADED_ENTRIES, 2),
        (99, 100, workers.THREADED_ENTRIES, workers.MOST_THREADS),
        (1, 100, workers.THREADED_ENTRIES, 1),
    ],
)
@pytest.mark.parametrize("affinity", [True, False])
def test_states_are_cut_among_threads(
    monkeypatch: pytest.MonkeyPatch, processors: int, states: int, entries: int, parts: int, affinity: bool
) -> None:
    """As many ranges as processors, states and memory allow; each range once, the first in the calling thread."""
    if affinity:
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(processors + pid)), raising=False)
    else:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        monkeypatch.setattr(os, "cpu_count", lambda: processors)
    sizes = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, size: int) -> None:
            sizes.append(size)
            super().__init__(size)

    monkeypatch.setattr(workers, "ThreadPoolExecutor", Pool)
    pool = Workers(states, entries)
    assert sizes == [parts - 1] * (parts > 1)
    seen: list[tuple[int, int, str]] = []
    threads: set[int] = set()

    def kernel(word: str, start: int, stop: int, out: list[Any]) -> int:
        out.append((start, stop, word))
        threads.add(threading.get_ident())
        return start

    before = {thread for thread in threading.enumerate() if thread.is_alive()}
    for items in (None, 2 * states, parts):
        seen.clear()
        found = pool.run(kernel, ("a",), (seen,), items=items)
        assert found == sorted(found)
        assert len(found) == parts
        ends = sorted(seen)
        assert ends[0][0] == 0
        assert ends[-1][1] == (items or states)
        assert all(one[1] == other[0] for one, other in pairwise(ends))
        lengths = [stop - start for start, stop, _ in ends]
        assert max(lengths) - min(lengths) <= 1
        assert found == [start for start, _, _ in ends]
    assert threading.get_ident() in threads
    assert len(threads) <= parts
    own = {thread for thread in threading.enumerate() if thread not in before}
    assert len(own) <= parts - 1
    pool.close()
    assert not any(thread.is_alive() for thread in own)


def test_without_a_count_there_is_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    pool = Workers(10, workers.THREADED_ENTRIES)
    assert pool.run(lambda start, stop: (start, stop), (), ()) == [(0, 10)]
    pool.close()
