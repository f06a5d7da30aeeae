"""Threads over ranges of states: the kernels release the GIL and write to disjoint parts, so the result is the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

Result = TypeVar("Result")

THREADED_ENTRIES = 1_000_000
"""Below this many stored probabilities a sweep ends about as soon as a second thread has woken."""
MOST_THREADS = 8
"""More would share one memory bus."""


class Workers:
    """Runs kernels that take (…, start, stop, …) on equal ranges of states; on all at once where `entries` are few."""

    def __init__(self, n_states: int, entries: int) -> None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        parts = min(threads, MOST_THREADS, n_states) if entries >= THREADED_ENTRIES else 1
        self._parts = parts
        self._ranges = self._split(n_states)
        self._pool = ThreadPoolExecutor(parts - 1) if parts > 1 else None

    def _split(self, items: int) -> list[tuple[int, int]]:
        return list(pairwise(items * i // self._parts for i in range(self._parts + 1)))

    def run(
        self,
        kernel: Callable[..., Result],
        inputs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        *,
        items: int | None = None,
    ) -> list[Result]:
        """kernel(*inputs, start, stop, *outputs) for each range of the states, or of so many `items`; the first range
        in the calling thread."""
        ranges = self._ranges if items is None else self._split(items)
        if self._pool is None:
            return [kernel(*inputs, *ranges[0], *outputs)]
        jobs = [self._pool.submit(kernel, *inputs, *part, *outputs) for part in ranges[1:]]
        return [kernel(*inputs, *ranges[0], *outputs), *(job.result() for job in jobs)]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
