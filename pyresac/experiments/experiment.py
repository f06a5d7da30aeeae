"""What an experiment is: runs of the training command, what is measured of each, and what follows from that."""

from __future__ import annotations

import importlib
import json
import re
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
    """Verdict on a claim about several cases: 1 where one bears it out, −1 where one contradicts it, 0 for neither."""
    if not sides:
        return "not tried at this scale"
    return "reproduces" if min(sides) > 0 else "does not reproduce" if max(sides) < 0 else "undecided"


def held(holds: bool) -> Verdict:
    """Verdict on a claim that holds or does not."""
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


def decided(claim: str, tasks: Sequence[str], seen: Mapping[str, tuple[int, str]]) -> Finding:
    """On a claim about `tasks`, from what is seen on each task: its side (see `verdict_of`), and words.

    Where none of `tasks` was run, those that were decide.
    """
    deciding = [side for task, (side, _) in seen.items() if task in tasks] or [side for side, _ in seen.values()]
    words = "; ".join(f"{task}: {said}" for task, (_, said) in seen.items())
    return Finding(claim, verdict_of(deciding), words or "no finished runs that tell")


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
    """What follows from the measures of an experiment."""

    findings: Sequence[Finding]
    tables: Sequence[Table]
    figures: Sequence[str] = ()
    """File names of the figures beside it."""

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


LIST_OF_NUMBERS = re.compile(r"\[\n\s+([^\[\]{}\"]+?)\n\s+\]")


def as_text(content: Mapping[str, Any]) -> str:
    """JSON for people and for git: a list of numbers is one line, a number has seven digits."""
    text = json.dumps(_rounded(content), indent=1, ensure_ascii=False, allow_nan=False)
    return LIST_OF_NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def _rounded(value: Any) -> Any:
    """`value` with every float in it rounded to seven digits."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


Measures: TypeAlias = Mapping[str, Any]
"""What was measured, as JSON, by the name of the run, or of the part that an experiment computes itself."""


class Experiment(Protocol):
    """A module of this package."""

    RUNS_IN: str
    """The experiment whose folder of runs it reads: its own name, or that of another with the same runs."""

    def runs(self, scale: Scale) -> list[Run]:
        """What must be trained; [] for an experiment that computes all itself."""

    def measures(self, folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
        """All that tables and figures need of those of `runs` in `folder` that are finished."""

    def conclude(self, measures: Measures, scale: Scale, figures: Path) -> Outcome:
        """Tables, figures and findings, from the measures alone; figures are written into `figures`."""


@dataclass(frozen=True)
class Entry:
    """A line of the list of experiments, which is shown without loading them."""

    about: str
    """What it makes, one line."""
    source: str
    """The tables and figures of the paper that it makes."""


EXPERIMENTS: Mapping[str, Entry] = {
    "returns": Entry(
        "learning curves and final returns of the eight algorithms and RE-SAC's variants", "figure 2, table 1 (returns)"
    ),
    "oracle": Entry(
        "errors of the critics against what is earned: best head, mean, bound, minimum",
        "tables 1 and 2 (Oracle MAE and its aggregators)",
    ),
    "rareness": Entry(
        "the critics' oracle error in bins of rareness, by the evaluation's states and by those trained on", "figure 1"
    ),
    "sensitivity": Entry(
        "K, λ_anc, β_end, α_ind, τ_ema one at a time, and λ_epi × λ_ale", "table 3 and the findings (i) to (v) below it"
    ),
    "parts": Entry(
        "each part of RE-SAC alone, added to two critics and their minimum: which one costs return?",
        "section 5.1; the paper has no table of it",
    ),
    "nonstationary": Entry(
        "mean and worst-quartile return under changing gravity, on held-out and on training tasks", "table 4"
    ),
    "noise": Entry("λ_ale with and without noise: is κ a remedy for noise?", "table 5"),
    "corridor": Entry(
        "curves for K = 2 to 40, SAC, DSAC, BAC and ablations; values beside what is earned; tuned rules",
        "figures 3 and 4, table 6",
    ),
    "corridor-rareness": Entry(
        "the critics' oracle error on the corridor in bins of rareness of the headways, by stop and direction",
        "figure 5",
    ),
    "poisoning": Entry(
        "over- and underestimation against the exact Q* on finite MDPs, for each algorithm's tabular form",
        "appendix on Q-value poisoning (C01); the paper has no figure of it",
    ),
    "uncertainty": Entry(
        "how Γ_epi, κ and the error go with data and with noise",
        "section 4.2 and appendix F (disentanglement; C20, C21); the paper has no figure of it",
    ),
}
"""By their names on the command line, which are those of modules of this package, with _ for -."""


def experiment(name: str) -> Experiment:
    """The module of an experiment. Raises InputError for an unknown name."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment {name!r} is unknown; known are {', '.join(EXPERIMENTS)}")
    found: Any = importlib.import_module(f"pyresac.experiments.{name.replace('-', '_')}")
    return found  # type: ignore[no-any-return]
