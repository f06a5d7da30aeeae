"""Processes that share a model, played by threads: what MPI does, without it. One at a time works, up to where it waits
for the others: they share an interpreter, as processes do not, and Python 3.11 cannot read the headers of two arrays at
once (SystemError, python/cpython#106905)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyresac.tabular.checks import Floats

Result = TypeVar("Result")
PATIENCE = 60.0
"""Seconds after which a thread that waits for another gives up."""


class ThreadProcess:
    """One of `size` threads that each think that they are a process."""

    def __init__(self, rank: int, slots: list[Any], barrier: threading.Barrier, turn: threading.Lock) -> None:
        """turn: held by the one that works."""
        self.rank, self.size = rank, len(slots)
        self._slots, self._barrier, self._turn = slots, barrier, turn

    def everyone(self, word: Any) -> list[Any]:
        """By a list that all write into."""
        self._slots[self.rank] = word
        self._wait()
        words = list(self._slots)
        self._wait()
        return words

    def _wait(self) -> None:
        """For all others."""
        self._turn.release()
        try:
            self._barrier.wait(PATIENCE)
        finally:
            self._turn.acquire()

    def gather(self, own: NDArray[Any], out: NDArray[Any], counts: list[int], places: list[int]) -> None:
        """From everyone's copy."""
        for part, count, place in zip(self.everyone(own.copy()), counts, places, strict=True):
            out[place : place + count] = part

    def largest(self, values: Floats) -> Floats:
        """From everyone's."""
        return np.asarray(np.max(self.everyone(values), axis=0), dtype=np.float64)

    def abort(self, code: int) -> None:
        """No thread waits any longer."""
        self._barrier.abort()


def by_threads(size: int, work: Callable[[ThreadProcess], Result]) -> list[Result]:
    """What `work` returns in each of `size` processes; the first error where one fails, which ends all."""
    slots: list[Any] = [None] * size
    barrier, turn = threading.Barrier(size), threading.Lock()
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def one(rank: int) -> None:
        try:
            with turn:
                results[rank] = work(ThreadProcess(rank, slots, barrier, turn))
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise next((e for e in errors if not isinstance(e, threading.BrokenBarrierError)), errors[0])
    return results
