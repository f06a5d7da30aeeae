"""The paper's tables and figures: `python -m pyresac.experiments list | plan NAME | run NAME | redraw | report | tune`.

Runs lie in a folder an experiment and scale, by default under runs/experiments/; small results in results/experiments/.
Exit codes: 0 done; 1 a run failed or the disk refused; 2 bad input, before any work; 130 interrupted, and what was done
is kept: the same command goes on.
"""

from __future__ import annotations

import fnmatch
import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pyresac.atomic import write_atomically
from pyresac.command import checked, exit_code, wide_console
from pyresac.errors import InputError
from pyresac.experiments.experiment import EXPERIMENTS, Run, Scale, experiment
from pyresac.reading import read_object

PROGRAM = "python -m pyresac.experiments"
RUNS, RESULTS = Path("runs/experiments"), Path("results/experiments")


@dataclass(frozen=True)
class List:
    """The experiments, and what of the paper each makes."""


@dataclass(frozen=True)
class Plan:
    """What an experiment would train, its core-hours and its disk, before anything starts."""

    name: tyro.conf.Positional[str]
    scale: Scale = "cpu"
    """smoke: minutes; cpu: a few core-hours; paper: what the paper ran."""
    only: tuple[str, ...] = ()
    """Patterns of names of runs, such as 'sac-*' '*-Hopper-v5-*': those alone; by default all."""


@dataclass(frozen=True)
class RunAll:
    """Make an experiment's runs, go on with what was cut short, and analyse them."""

    name: tyro.conf.Positional[str]
    scale: Scale = "cpu"
    """smoke: minutes; cpu: a few core-hours; paper: what the paper ran."""
    only: tuple[str, ...] = ()
    """Patterns of names of runs, such as 'sac-*' '*-Hopper-v5-*': those alone; by default all."""
    workers: int | None = None
    """Runs side by side, one thread each; by default the number of cores."""
    ray: str | None = None
    """Address of a Ray cluster to run on: ray://HOST:PORT, auto, or local for one of this machine alone."""
    runs: Path = RUNS
    """Folder of the runs."""
    results: Path = RESULTS
    """Folder of the small results."""


@dataclass(frozen=True)
class Redraw:
    """Tables, figures and verdicts again, from what the files of results hold of every run; nothing is trained."""

    results: Path = RESULTS
    """Folder of the small results."""


@dataclass(frozen=True)
class Report:
    """One page of all results: tables beside the paper's, figures, verdicts."""

    results: Path = RESULTS
    """Folder of the small results."""
    output: Path = RESULTS / "report.html"
    """The page."""


@dataclass(frozen=True)
class TunePreset:
    """Search options of a preset on a task with optuna, and print the best."""

    preset: tyro.conf.Positional[str]
    env: str
    """Task: an id of Gymnasium's, or corridor."""
    search: tuple[str, ...]
    """Options and their ranges: NAME=LOW:HIGH or NAME=LOW:HIGH:log, such as critic_lr=1e-4:3e-3:log."""
    trials: int = 20
    """Runs, those of an earlier call counted."""
    steps: int = 50_000
    """Steps of each run, evaluated twenty times."""
    seed: int = 0
    """Seed of every run and of the search."""
    folder: Path = Path("runs/tuning")
    """Folder of the runs and of the study, which goes on where it was."""


Command = (
    Annotated[List, tyro.conf.subcommand("list")]
    | Annotated[Plan, tyro.conf.subcommand("plan")]
    | Annotated[RunAll, tyro.conf.subcommand("run")]
    | Annotated[TunePreset, tyro.conf.subcommand("tune")]
    | Annotated[Redraw, tyro.conf.subcommand("redraw")]
    | Annotated[Report, tyro.conf.subcommand("report")]
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""

    def work() -> int:
        given: Any = tyro.cli(
            Command,
            args=checked(arguments),
            prog=PROGRAM,
            description=__doc__,
            config=(tyro.conf.FlagCreatePairsOff,),
        )
        return _done(given, wide_console())

    return exit_code(work)


def _done(given: List | Plan | RunAll | TunePreset | Redraw | Report, console: Console) -> int:
    if isinstance(given, List):
        table = Table("experiment", "what", "in the paper")
        for name, entry in EXPERIMENTS.items():
            table.add_row(name, entry.about, entry.source)
        console.print(table)
        return 0
    if isinstance(given, Plan):
        return _plan(given, console)
    if isinstance(given, TunePreset):
        from pyresac.experiments.option_search import tune

        found = tune(**vars(given), shown=lambda line: console.print(escape(line), soft_wrap=True))
        write_atomically(given.folder / "best.json", (json.dumps(found, indent=1) + "\n").encode())
        options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in found["best"]["options"].items())
        console.print(
            f"best, {found['best']['score']:,.4g}: python -m pyresac.train --env {escape(given.env)} "
            f"--preset {escape(given.preset)} {options}",
            soft_wrap=True,
        )
        return 0
    if isinstance(given, Redraw):
        from pyresac.experiments.results_file import redraw

        written, left = redraw(given.results)
        if not written and not left:
            raise InputError(f"{given.results} has no results; make some: {PROGRAM} run NAME")
        for path in written:
            console.print(f"wrote {escape(str(path))}", soft_wrap=True)
        for path in left:
            console.print(f"left {escape(str(path))}: it keeps no measures, run it again", soft_wrap=True)
        return 0
    if isinstance(given, Report):
        from pyresac.experiments.html_report import write_report

        write_report(given.results, given.output)
        console.print(f"wrote {escape(str(given.output))}", soft_wrap=True)
        return 0
    return _run(given, console)


def _plan(given: Plan, console: Console) -> int:
    runs = _chosen(experiment(given.name).runs(given.scale), given.only)
    for run in runs:
        console.print(f"{run.name}: python -m pyresac.train {escape(shlex.join(run.flags))}", soft_wrap=True)
    if not runs:
        console.print(f"{given.name} trains nothing; it computes all itself.")
        return 0
    from pyresac.experiments.cost import cost_of

    cost = cost_of(runs)
    console.print(
        f"{len(runs)} runs, about {cost.core_hours:.1f} core-hours by rates measured now, "
        f"up to {cost.disk_bytes / 2**30:.1f} GiB of disk."
    )
    return 0


def _run(given: RunAll, console: Console) -> int:
    chosen = experiment(given.name)
    workers = given.workers if given.workers is not None else os.cpu_count() or 1
    if workers < 1:
        raise InputError(f"workers = {workers}; it must be at least 1")
    from pyresac.experiments.pool import PoolProgress, run_locally
    from pyresac.experiments.ray_pool import require_ray, run_on_ray
    from pyresac.experiments.results_file import path_of, read_before, require_readable, set_aside, write_results
    from pyresac.training.deep_agent import threads

    whole = chosen.runs(given.scale)
    runs = _chosen(whole, given.only)
    if given.ray is not None:
        require_ray(given.ray)
    folder = given.runs / f"{chosen.RUNS_IN}-{given.scale}"
    _require_tasks(runs)
    _require_writable(folder)
    _require_plan(folder, whole)
    _require_writable(given.results / given.name / "figures")
    require_readable(given.results, given.name, given.scale)
    failed: list[str] = []
    if runs:
        began = time.monotonic()
        last = ""

        def shown(progress: PoolProgress) -> None:
            nonlocal last
            done, under_way = len(progress.finished), len(progress.running)
            text = f"{done} of {len(runs)} runs done, {under_way} running, {len(progress.failed)} failed"
            if text != last:
                last = text
                console.print(f"{text}, {(time.monotonic() - began) / 60.0:.1f} min")

        if given.ray is None:
            progress = run_locally(folder, runs, workers, shown)
        else:
            progress = run_on_ray(given.ray, folder, runs, workers, shown)
        failed = progress.failed
    # waiting threads of the BLAS made small networks some forty times slower
    with threads():
        measures = chosen.measures(folder, given.scale, runs)
        path = path_of(given.results, given.name, given.scale)
        if measures and read_before(path, given.name, given.scale).bare:
            shown_aside = escape(str(set_aside(path)))
            console.print(f"the earlier {escape(str(path))} keeps no measures; it is now {shown_aside}", soft_wrap=True)
        outcome = write_results(given.results, given.name, given.scale, measures)
    console.print(f"wrote {escape(str(path))}", soft_wrap=True)
    for finding in outcome.findings:
        console.print(f"[bold]{finding.verdict}[/]: {escape(finding.claim)}\n  {escape(finding.found)}", soft_wrap=True)
    for name in failed:
        console.print(f"[red]failed:[/] {escape(name)}, see {escape(str(folder / f'{name}.log'))}", soft_wrap=True)
    return 1 if failed else 0


def _chosen(runs: list[Run], patterns: tuple[str, ...]) -> list[Run]:
    """The runs with a name that fits a pattern; all, if there is none. Raises InputError for one that fits no name."""
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(run.name, pattern) for run in runs):
            names = f"its runs are {runs[0].name} to {runs[-1].name}" if runs else "it trains nothing"
            raise InputError(f"--only {pattern!r} fits the name of no run; {names}")
    return [run for run in runs if not patterns or any(fnmatch.fnmatchcase(run.name, one) for one in patterns)]


def _require_writable(folder: Path) -> None:
    """Make a folder. Raises InputError if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot write to folder {folder}: {error.strerror}") from error


def _require_tasks(runs: list[Run]) -> None:
    """Raise InputError for a task that cannot be made, because its extra is not installed say."""
    from pyresac.training.command_line import planned
    from pyresac.training.deep_agent import make_task

    for run in {run.options["env"]: run for run in runs}.values():
        make_task(planned(run.flags)[1].problem, 0)


def _require_plan(folder: Path, runs: list[Run]) -> None:
    """Raise InputError for a folder of another plan, or without room on its disk; note the plan in a new one."""
    plan = {run.name: run.flags for run in runs}
    noted = folder / "plan.json"
    if noted.is_file():
        other = read_object(noted)
        if other != plan:
            changed = sorted(name for name in {*other, *plan} if other.get(name) != plan.get(name))
            raise InputError(f"{folder} holds another plan: {', '.join(changed[:5])} differ; name another --runs")
        return
    if runs and shutil.disk_usage(folder).free < 2**30:
        raise InputError(f"{folder} has less than 1 GiB of free disk")
    write_atomically(noted, (json.dumps(plan, indent=1) + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
