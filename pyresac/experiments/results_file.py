"""The small file of an experiment's results: what was measured, and the tables and findings that follow from it.

Measures stand by the name of their run, beside the options that it was trained with. So the file of one machine goes on
on another: what is measured there is added, and tables, figures and findings are made of all. They can be made again
from the file alone, without the runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

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


def path_of(results: Path, name: str, scale: Scale) -> Path:
    """The file of an experiment at a scale."""
    return results / name / f"{scale}.json"


def measured_before(path: Path, chosen: Experiment, scale: Scale) -> Measures:
    """The measures in a file of results; {} where there is none, or one of a version that kept none.

    Raises InputError for a file that cannot be read, or that has a measure of a run which this plan does not make so.
    """
    if not path.is_file():
        return {}
    content = read_object(path).get("measures", {})
    try:
        found = {name: (entry["options"], entry["measured"]) for name, entry in content.items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{path} cannot be read as results: its measures are no table of runs") from error
    plan = _options(chosen, scale)
    other = sorted(name for name, (options, _) in found.items() if plan and options != plan.get(name))
    if other:
        raise InputError(f"{path} has measures of another plan, of {', '.join(other[:5])}; name another --results")
    return {name: value for name, (_, value) in found.items()}


def write_results(results: Path, name: str, scale: Scale, own: Measures) -> Outcome:
    """Add the measures `own` to an experiment's file, and write what follows from all that are there.

    A figure is written into the folder `figures` beside it. Raises InputError as `measured_before` does.
    """
    chosen, path = experiment(name), path_of(results, name, scale)
    plan = _options(chosen, scale)
    # through JSON at once, so that the same tables follow from the file
    measures = json.loads(as_text({**measured_before(path, chosen, scale), **own}))
    if plan:
        measures = {run: measures[run] for run in plan if run in measures}
    figures = path.parent / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    outcome = chosen.conclude(measures, scale, figures)
    used = read_object(path).get("versions", []) if path.is_file() else []
    if own and of_libraries() not in used:
        used.append(of_libraries())
    content = {
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


def redraw(results: Path) -> list[Path]:
    """Make tables, figures and findings again from the measures of every file in `results`; the files with some."""
    found = []
    for name in EXPERIMENTS:
        for scale in SCALES:
            path = path_of(results, name, scale)
            if measured_before(path, experiment(name), scale):
                write_results(results, name, scale, {})
                found.append(path)
    return found


def _options(chosen: Experiment, scale: Scale) -> Mapping[str, str]:
    """The options of every run of the plan; none for an experiment that computes all itself."""
    return {run.name: " ".join(run.flags) for run in chosen.runs(scale)}
