"""What an experiment is: runs of the training command, and an analysis of them that ends in findings and tables."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, get_args

from pyresac.errors import InputError

Scale: TypeAlias = Literal["smoke", "cpu", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)
"""smoke: minutes, in CI; cpu: a few core-hours; paper: what the paper ran."""
Verdict: TypeAlias = Literal["reproduces", "does not reproduce", "undecided", "not tried at this scale"]


def verdict_of(sides: Sequence[int]) -> Verdict:
    """Of a claim about several cases: 1 for one that bears it out, −1 for one that contradicts it, 0 for neither."""
    if not sides:
        return "not tried at this scale"
    return "reproduces" if min(sides) > 0 else "does not reproduce" if max(sides) < 0 else "undecided"


def held(holds: bool) -> Verdict:
    """Of a claim that holds or does not."""
    return "reproduces" if holds else "does not reproduce"


@dataclass(frozen=True)
class Run:
    """One run of `python -m pyresac.train`."""

    name: str
    """Its folder's name within the experiment, such as sac-Hopper-v5-seed8."""
    options: Mapping[str, Any]
    """Options of the command by name, without dashes: {"algorithm": "sac", "seed": 8, …}."""

    @property
    def flags(self) -> list[str]:
        """The options as they are typed."""
        found: list[str] = []
        for name, value in self.options.items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                found.append(f"--{flag}" if value else f"--no-{flag}")
            elif isinstance(value, tuple | list):
                found += [f"--{flag}", *map(str, value)]
            else:
                found += [f"--{flag}", str(value)]
        return found


@dataclass(frozen=True)
class Finding:
    """A statement of the paper beside what the runs show."""

    claim: str
    """What the paper says, with its place."""
    verdict: Verdict
    found: str
    """What the runs show, with intervals, in a sentence."""


@dataclass(frozen=True)
class Table:
    """A table of the report; `paper` has the paper's own numbers for the same cells, "" where it has none."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    paper: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """What an analysis ends in."""

    findings: Sequence[Finding]
    tables: Sequence[Table]
    numbers: Mapping[str, Any]
    """What the figures are drawn from, as JSON."""
    figures: Sequence[str] = ()
    """File names of the figures beside it."""

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


class Experiment(Protocol):
    """A module of this package."""

    ABOUT: str
    """One line."""
    SOURCE: str
    """The tables and figures of the paper that it makes."""
    RUNS_IN: str
    """The experiment whose folder of runs it reads: its own name, or that of another with the same runs."""

    def runs(self, scale: Scale) -> list[Run]:
        """What must be trained; [] for an experiment that computes all itself."""

    def analyse(self, folder: Path, scale: Scale, figures: Path) -> Outcome:
        """Of the finished runs in `folder`; figures are written into `figures`. A run that failed is left out."""


EXPERIMENTS = (
    "returns",
    "oracle",
    "rareness",
    "sensitivity",
    "nonstationary",
    "noise",
    "corridor",
    "poisoning",
    "uncertainty",
)
"""Names on the command line, and of modules of this package."""


def experiment(name: str) -> Experiment:
    """The module of an experiment. Raises InputError for an unknown name."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment {name!r} is unknown; known are {', '.join(EXPERIMENTS)}")
    found: Any = importlib.import_module(f"pyresac.experiments.{name}")
    return found  # type: ignore[no-any-return]
