"""The small file of an experiment's results: what was measured, and the tables and findings that follow from it.

Measures stand by the name of their run, beside the options that it was trained with. So the file of one machine goes on
on another: what is measured there is added, and tables, figures and findings are made of all. They can be made again
from the file alone, without the runs.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyresac.atomic import write_atomically
from pyresac.errors import InputError
from pyresac.experiments.experiment import (
    EXPERIMENTS,
    SCALES,
    Experiment,
    Measures,
    Outcome,
    Scale,
    as_text,
    experiment,
)
from pyresac.reading import read_object
from pyresac.training.versions import of_libraries

COMMAND = "python -m pyresac.experiments run {name} --scale {scale}"
FORMAT = 1
"""Version of the file; a later one is refused."""
ODD = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What comes of measures that are not as an experiment writes them."""


def path_of(results: Path, name: str, scale: Scale) -> Path:
    """The file of an experiment at a scale."""
    return results / name / f"{scale}.json"


@dataclass(frozen=True)
class Before:
    """What a file of results holds already."""

    measures: Measures
    versions: Sequence[Mapping[str, str]] = ()
    """Those that the measures were made with."""
    bare: bool = False
    """Whether it has tables of an earlier version, which kept no measures: nothing can be added to it."""


def set_aside(path: Path) -> Path:
    """Rename a file that is `bare`, so that another can take its place; its new path."""
    for number in range(1, 1000):
        other = path.with_name(f"{path.stem}.earlier-{number}.json")
        if not other.exists():
            return path.rename(other)
    raise InputError(f"{path.parent} has a thousand earlier files; move them away")


def require_readable(results: Path, name: str, scale: Scale) -> None:
    """Raise InputError, before any run, for a file to which nothing could be added afterwards."""
    path = path_of(results, name, scale)
    before = read_before(path, name, scale)
    if before.measures:
        with tempfile.TemporaryDirectory(prefix="pyresac-figures-") as figures:
            _concluded(path, experiment(name), before.measures, scale, Path(figures))


def read_before(path: Path, name: str, scale: Scale) -> Before:
    """What is in a file of results; nothing where there is none.

    Raises InputError for a file that cannot be read, or that has a measure of a run which this plan does not make so.
    """
    if not path.is_file():
        return Before({})
    content = read_object(path)
    written = content.get("format", FORMAT)
    if written != FORMAT:
        raise InputError(f"{path} is of format {written!r}, and this version of the package reads {FORMAT}")
    try:
        found = {run: (entry["options"], entry["measured"]) for run, entry in content.get("measures", {}).items()}
        versions = [dict(one.items()) for one in content.get("versions", [])]
    except ODD as error:
        raise InputError(f"{path} cannot be read as results: its measures are no table of runs") from error
    plan = _options(experiment(name), scale)
    other = sorted(run for run, (options, _) in found.items() if plan and options != plan.get(run))
    if other:
        raise InputError(
            f"{path} has measures of runs that are not of this plan or had other options: {', '.join(other[:5])}; "
            "move it away, or name another --results"
        )
    measures = {run: value for run, (_, value) in found.items()}
    _require_finite(path, measures)
    return Before(measures, versions, "measures" not in content and bool(content.get("tables")))


def write_results(results: Path, name: str, scale: Scale, own: Measures) -> Outcome:
    """Add the measures `own` to an experiment's file, and write what follows from all that are there.

    A figure is written into the folder `figures` beside it. Another process that adds to the file at the same time
    waits. Raises InputError as `read_before` does, and for a file that is `bare`.
    """
    chosen, path = experiment(name), path_of(results, name, scale)
    figures = path.parent / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    _require_finite(path, own)
    with _alone(path.parent):
        before = read_before(path, name, scale)
        if before.bare:
            raise InputError(f"{path} keeps no measures, so nothing can be added to it; move it away")
        # through JSON at once, so that the same tables follow from the file
        measures = json.loads(as_text({**before.measures, **own}))
        plan = _options(chosen, scale)
        if plan:
            measures = {run: measures[run] for run in plan if run in measures}
        outcome = _concluded(path, chosen, measures, scale, figures)
        used = list(before.versions)
        if own and of_libraries() not in used:
            used.append(of_libraries())
        content = {
            "format": FORMAT,
            "experiment": name,
            "scale": scale,
            "command": COMMAND.format(name=name, scale=scale),
            **({"planned": len(plan), "finished": len(measures)} if plan else {}),
            **outcome.plain(),
            "versions": used,
            "measures": {run: {"options": plan.get(run, ""), "measured": value} for run, value in measures.items()},
        }
        write_atomically(path, as_text(content).encode())
    return outcome


def redraw(results: Path) -> tuple[list[Path], list[Path]]:
    """Make tables, figures and findings again from the measures of every file in `results`.

    The files that were written, and those that keep no measures and stay as they are.
    """
    written, left = [], []
    for name in EXPERIMENTS:
        for scale in SCALES:
            path = path_of(results, name, scale)
            if read_before(path, name, scale).bare:
                left.append(path)
            elif path.is_file():
                write_results(results, name, scale, {})
                written.append(path)
    return written, left


def _concluded(path: Path, chosen: Experiment, measures: Measures, scale: Scale, figures: Path) -> Outcome:
    try:
        return chosen.conclude(measures, scale, figures)
    except InputError:
        raise
    except ODD as error:
        kind = f"{type(error).__name__}: {error}"
        raise InputError(f"{path} cannot be read as results: no tables follow from its measures ({kind})") from error


def _require_finite(path: Path, measures: Measures) -> None:
    """Raise InputError for a measure with a number that is none: it would decide verdicts by chance."""
    for run, measure in measures.items():
        for value in _numbers(measure):
            if not math.isfinite(value):
                raise InputError(f"{path}: the measure of {run} has {value}; a measure is a finite number, or null")


def _numbers(value: Any) -> Iterator[float]:
    """Every float in a measure."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers(part)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else is within it for this folder, on this machine or on a file system that locks between machines."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _options(chosen: Experiment, scale: Scale) -> Mapping[str, str]:
    """The options of every run of the plan; none for an experiment that computes all itself."""
    return {run.name: " ".join(run.flags) for run in chosen.runs(scale)}
