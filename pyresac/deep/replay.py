"""The replay buffer: one preallocated array, a row a transition, so that a batch is one gather."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.deep.networks.inputs import Inputs
from pyresac.errors import CheckpointError, InputError
from pyresac.memory import available_bytes
from pyresac.tasks.experience import Experience, Numbers


class Batch(NamedTuple):
    """B transitions as tensors."""

    action: Tensor
    state: Inputs
    reward: Tensor
    terminal: Tensor
    """(B,) 1.0 where s′ is terminal."""
    next_state: Inputs


@dataclass(frozen=True)
class RowWidths:
    """Columns of a row: A, C and F of `Experience`."""

    action: int
    dense: int
    codes: int

    @property
    def row(self) -> int:
        """Columns in all."""
        return self.action + 2 * (self.dense + self.codes) + 2


class ReplayBuffer:
    """Keeps the last `capacity` transitions. Raises InputError if the memory that it will take is not there."""

    def __init__(self, capacity: int, widths: RowWidths) -> None:
        self.widths = widths
        needed, free = buffer_bytes(capacity, widths), available_bytes()
        if free is not None and needed > free:
            most = free // (4 * widths.row)
            raise InputError(
                f"buffer_size = {capacity:,} needs {needed / 2**20:,.0f} MiB of memory, {4 * widths.row} bytes a "
                f"transition; {free / 2**20:,.0f} MiB are free, enough for {most:,}"
            )
        self.rows: Numbers = np.empty((capacity, widths.row), dtype=np.float32)
        self.size = 0
        self.cursor = 0
        """Where the next transition goes."""

    @property
    def capacity(self) -> int:
        """Most transitions that it keeps."""
        return len(self.rows)

    def add(self, new: Experience) -> None:
        """Keep these, dropping the oldest ones when full."""
        parts = (new.action, new.dense, new.codes, new.reward[:, None], new.terminal[:, None])
        rows = np.concatenate([*parts, new.next_dense, new.next_codes], axis=1, dtype=np.float32, casting="unsafe")
        rows = rows[-self.capacity :]
        places = (self.cursor + np.arange(len(rows))) % self.capacity
        self.rows[places] = rows
        self.cursor = (self.cursor + len(rows)) % self.capacity
        self.size = min(self.size + len(rows), self.capacity)

    def sample(self, size: int, generator: np.random.Generator, device: torch.device) -> Batch:
        """`size` transitions, uniformly with replacement."""
        chosen = self.rows.take(generator.integers(self.size, size=size), axis=0)
        return self.batch(torch.from_numpy(chosen).to(device))

    def batch(self, rows: Tensor) -> Batch:
        """Rows (B, width) by name."""
        widths = self.widths
        sizes = [widths.action, widths.dense, widths.codes, 1, 1, widths.dense, widths.codes]
        action, dense, codes, reward, terminal, next_dense, next_codes = torch.split(rows, sizes, 1)
        return Batch(
            action=action,
            state=_features(dense, codes),
            reward=reward[:, 0],
            terminal=terminal[:, 0],
            next_state=_features(next_dense, next_codes),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The rows in use and where the next one goes."""
        return {"rows": self.rows[: self.size], "cursor": np.array(self.cursor)}

    def load_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take on saved rows. Raises CheckpointError if they do not fit."""
        rows, cursor = arrays["rows"], int(arrays["cursor"])
        if rows.ndim != 2 or rows.shape[1] != self.widths.row or len(rows) > self.capacity or rows.dtype != np.float32:
            raise CheckpointError(
                f"the checkpoint's replay rows are {rows.dtype}{rows.shape}; expected at most {self.capacity} "
                f"rows of {self.widths.row} float32"
            )
        if not 0 <= cursor < self.capacity or (cursor != len(rows) % self.capacity and len(rows) < self.capacity):
            raise CheckpointError(f"the checkpoint's replay cursor is {cursor} for {len(rows)} rows")
        self.rows[: len(rows)] = rows
        self.size, self.cursor = len(rows), cursor


def buffer_bytes(capacity: int, widths: RowWidths) -> int:
    """Bytes that a full buffer takes."""
    return 4 * widths.row * capacity


def _features(dense: Tensor, codes: Tensor) -> Inputs:
    return Inputs(dense, codes.long() if codes.shape[1] else None)
