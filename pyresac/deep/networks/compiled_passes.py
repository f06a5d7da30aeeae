"""Passes through heads of equal perceptrons on the CPU: one call of a kernel each, heads shared out to threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401 - loads the BLAS of the kernels' products, so that its threads can be limited
import threadpoolctl
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.deep.networks import pass_kernels as kernels
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import Integers, NetworkLayout

SMALL_PRODUCT = 10**6
"""Multiplications up to which OpenBLAS computes a product without packing its factors."""
CACHED = 2**16
"""Numbers of a layer's activations that a core's cache holds beside the weights that they meet."""
FEWEST_UNPACKED, MOST_ROWS, FEWEST_ROWS = 128, 1024, 64
"""Rows taken at a time: from how many on products without packing are no tiny ones, the most, and the fewest else."""
WORTH_SHARING = 2**21
"""Multiplications of a pass from which another thread pays."""


def chunk_of(layout: NetworkLayout) -> int:
    """Rows taken at a time: small enough for products without packing if these are not tiny, else for the cache."""
    widest = max(layout.hidden)
    unpacked = SMALL_PRODUCT // widest**2
    return min(unpacked, MOST_ROWS) if unpacked >= FEWEST_UNPACKED else max(FEWEST_ROWS, CACHED // widest)


def _chunk(layout: NetworkLayout, size: int) -> int:
    return max(1, min(chunk_of(layout), size))


class CompiledPass(NamedTuple):
    """A pass, see `ForwardPass`."""

    layout: NetworkLayout
    matrix: Tensor
    """(K, P)"""
    dense: NDArray[Any]
    """(B, D)"""
    codes: Integers
    """(B, F)"""
    hidden: NDArray[Any]
    """(K, R·ΣH_l), see `kernels`, as the next one."""
    inverse: NDArray[Any]
    rows: int
    """R"""
    threads: int
    output: Tensor
    """(K, B, outputs)"""

    def first(self, rows: int) -> CompiledPass:
        """See `ForwardPass`."""
        rows_kept = self.rows if self.rows >= len(self.dense) else 0
        dense, codes = self.dense[:rows], self.codes[:rows]
        return self._replace(dense=dense, codes=codes, rows=rows_kept, output=self.output[:, :rows])

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """See `ForwardPass`."""
        result = torch.empty_like(self.matrix) if out is None else out
        self._backward(of_output, result.numpy(), 0)
        return result

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """See `ForwardPass`."""
        nothing = np.empty((0, self.matrix.shape[1]), self.dense.dtype)
        of_inputs = self._backward(of_output, nothing, self.layout.dense if columns is None else columns)
        return torch.from_numpy(of_inputs).sum(0)

    def _backward(self, of_output: Tensor, gradient: NDArray[Any], columns: int) -> NDArray[Any]:
        """Fills `gradient`; returns (K, B, columns). Raises ValueError for a pass that was not kept."""
        if self.rows < len(self.dense):
            raise ValueError("this pass was run with keep=False; it has no gradient")
        matrix, slope = self.matrix.numpy(), of_output.contiguous().numpy()
        of_inputs = np.empty((len(matrix), len(self.dense), columns), self.dense.dtype)
        places, chunk = self.layout.arrays, _chunk(self.layout, len(self.dense))

        def work_on(first: int, last: int) -> None:
            kernels.backward(
                *(matrix, first, last, *places, self.dense, self.codes, self.hidden, self.inverse),
                *(self.rows, slope, gradient, of_inputs, chunk),
            )

        share(len(matrix), self.layout, len(self.dense), self.threads, work_on)
        return of_inputs


def run_compiled(matrix: Tensor, layout: NetworkLayout, inputs: Inputs, keep: bool, threads: int) -> CompiledPass:
    """See `Network.run`. Raises IndexError for a code beyond all features' categories."""
    parameters, dense, codes = matrix.detach(), inputs.dense.detach().contiguous().numpy(), inputs.codes
    heads, size = len(parameters), len(dense)
    given = np.empty((size, 0), np.int64) if codes is None else codes.contiguous().numpy()
    chunk = _chunk(layout, size)
    rows = size if keep else chunk
    hidden = np.empty((heads, rows * sum(layout.hidden)), dense.dtype)
    inverse = np.empty((heads, rows * len(layout.normalised)), dense.dtype)
    output = np.empty((heads, size, layout.outputs), dense.dtype)
    numbers, places, known = parameters.numpy(), layout.arrays, [True] * heads

    def work_on(first: int, last: int) -> None:
        known[first] = kernels.forward(
            *(numbers, first, last, *places, dense, given, hidden, inverse, rows, output, chunk)
        )

    share(heads, layout, size, threads, work_on)
    if not all(known):
        raise IndexError(
            f"codes from {given.min()} to {given.max()}; they must lie in 0 … {layout.code_offsets[-1] - 1}"
        )
    kept = (hidden, inverse, rows)
    return CompiledPass(layout, parameters, dense, given, *kept, threads, torch.from_numpy(output))


def share(heads: int, layout: NetworkLayout, size: int, threads: int, work: Callable[[int, int], None]) -> None:
    """Call `work` on ranges of heads, each in a thread."""
    threads = min(threads, heads)
    if threads == 1 or heads * size * layout.weight_count < WORTH_SHARING:
        work(0, heads)
        return
    own, *rest = pairwise(heads * part // threads for part in range(threads + 1))
    others = [_pool(threads - 1).submit(work, *part) for part in rest]
    work(*own)
    for other in others:
        other.result()


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="heads")


@contextmanager
def single_threaded_libraries() -> Iterator[None]:
    """Give PyTorch and the BLAS of NumPy and SciPy one thread each until the end of the block.

    Little work is left to them, and a waiting thread of theirs would take a core from the heads. Commands enter it,
    whose process it is; no constructor does.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpoolctl.threadpool_limits(1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)
