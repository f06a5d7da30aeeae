"""metrics.csv as arrays, and runs that differ by their seed alone as one curve with its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pyresac.errors import InputError
from pyresac.reading import read_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Curves:
    """The columns of one run, each (rows,)."""

    columns: dict[str, Array]

    @property
    def steps(self) -> Array:
        """Environment steps of the rows."""
        return self.columns["step"]


@dataclass(frozen=True)
class Group:
    """Runs of one setting, under a name."""

    name: str
    runs: Sequence[Curves]

    def spread(self, column: str, scale: float = 1.0) -> Spread:
        """A column over the seeds, at the steps that all runs have; times `scale`."""
        steps = self.runs[0].steps
        for run in self.runs[1:]:
            steps = np.intersect1d(steps, run.steps)
        values = np.stack([run.columns[column][np.isin(run.steps, steps)] for run in self.runs]) * scale
        return Spread(steps, values.mean(axis=0), values.min(axis=0), values.max(axis=0))

    def has(self, *columns: str) -> bool:
        """Whether every run has these columns."""
        return all(column in run.columns for run in self.runs for column in columns)

    @property
    def label(self) -> str:
        """Its name, and how many seeds there are of it."""
        return f"{self.name}, {len(self.runs)} seeds" if len(self.runs) > 1 else self.name


@dataclass(frozen=True)
class Spread:
    """Mean and range over seeds, each (steps,)."""

    steps: Array
    mean: Array
    low: Array
    high: Array


def read_curves(path: Path) -> Curves | None:
    """Read metrics.csv; None while it has no row. A last line that is not whole yet is left out.

    Raises InputError if it is missing or no table of numbers with a column "step".
    """
    rows = [row for _, row in read_rows(path, whole_lines=True)]
    if not rows or "step" not in rows[0]:
        raise InputError(f"{path} has no column step in its first line")
    if len(rows) == 1:
        return None
    try:
        table = np.array([[float(entry) for entry in row] for row in rows[1:]])
        return Curves(dict(zip(rows[0], table.T, strict=True)))
    except ValueError as error:
        raise InputError(f"{path} is not a table of {len(rows[0])} numbers a line: {error}") from error


def grouped(named: Sequence[tuple[str, Curves]]) -> list[Group]:
    """Runs of equal names as one group each, in order of their first appearance."""
    names = dict.fromkeys(name for name, _ in named)
    return [Group(name, [curves for of, curves in named if of == name]) for name in names]
