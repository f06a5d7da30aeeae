"""`python -m pyresac.corridor`: simulate a bus corridor, compare holding controllers, draw figures, import a GTFS feed.

Exit codes: 0 done; 2 bad input; 1 the disk refused; 130 interrupted.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import tyro
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pyresac.command import exit_code, wide_console
from pyresac.envs.bus import figures, files, report
from pyresac.envs.bus.controllers import Controller, controller_named
from pyresac.envs.bus.corridor import DIRECTIONS
from pyresac.envs.bus.gtfs import gtfs_corridor
from pyresac.envs.bus.metrics import metrics_table
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.simulator import Record, Simulator, checked_seed
from pyresac.errors import InputError

PROGRAM = "python -m pyresac.corridor"
LEARNED = "learned"


@dataclass(frozen=True)
class Days:
    """Which days of which line."""

    corridor: str = "default"
    """default, a JSON file, or published-slow:FOLDER / published-fast:FOLDER for the published workbooks."""
    seeds: int = 12
    """Number of days."""
    first_seed: int = 0
    """Seed of the first day; the others follow."""
    published: bool = False
    """Keep the published program's accidents (whole-metre speeds, whole-second clock), as its figures need."""
    json: bool = False
    """Print JSON instead of tables."""


@dataclass(frozen=True)
class Simulate:
    """Run one controller and print its metrics, mean ± standard deviation over days."""

    controller: str = "none"
    """none, headway, target, forward, robust, random; with parameters: target:slack=50,gain=1; learned:RUN for the
    policy of a run folder; or package.module:attribute."""
    by: Literal["day", "stop", "hour"] = "day"
    """Also break metrics down by stop or by hour."""
    days: tyro.conf.OmitArgPrefixes[Days] = Days()


@dataclass(frozen=True)
class Compare:
    """Run several controllers on the same days; differences to the first one with confidence intervals."""

    controllers: tuple[str, ...] = ("none", "headway", "target:slack=20", "forward", "robust")
    """As for simulate; the first one is the reference."""
    level: float = 0.95
    """Confidence level."""
    days: tyro.conf.OmitArgPrefixes[Days] = Days()


@dataclass(frozen=True)
class Draw:
    """Draw time–space diagrams, headways by stop, or wait against travel."""

    kind: Literal["time-space", "headways", "wait-travel"]
    out: Path
    """File to write; .png, .svg or .pdf."""
    controllers: tuple[str, ...] = ("none", "headway")
    """As for simulate."""
    direction: Literal["up", "down"] = "up"
    hours: tuple[float, float] = (2.0, 5.0)
    """Hours after the start of service that the time–space diagram shows."""
    days: tyro.conf.OmitArgPrefixes[Days] = Days()


@dataclass(frozen=True)
class Gtfs:
    """Make a corridor file from a GTFS feed."""

    feed: Path
    """A zipped feed."""
    out: Path
    """JSON file to write."""
    route: str
    """route_id or route_short_name."""
    date: str
    """YYYY-MM-DD"""
    directions: tuple[int, int] = (0, 1)
    """direction_id of up and of down."""
    demand: Path | None = None
    """CSV from,to,start,end,rate; the default model without it."""
    per_trip: float = 80.0
    """Passengers a trip of the default model."""
    headway: float | None = None
    """Scheduled headway in s; the timetable's median without it."""


Command: TypeAlias = (
    Annotated[Simulate, tyro.conf.subcommand("simulate")]
    | Annotated[Compare, tyro.conf.subcommand("compare")]
    | Annotated[Draw, tyro.conf.subcommand("figure")]
    | Annotated[Gtfs, tyro.conf.subcommand("gtfs")]
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""

    def work() -> None:
        run(tyro.cli(Command, args=arguments, prog=PROGRAM, description=__doc__), wide_console())

    return exit_code(work)


def run(command: Simulate | Compare | Draw | Gtfs, console: Console) -> None:
    """Carry out a command. Raises InputError and OSError."""
    if isinstance(command, Gtfs):
        if command.out.suffix != ".json":
            raise InputError(f"out is {command.out}; expected a file ending in .json, as --corridor takes it")
        corridor = gtfs_corridor(
            command.feed,
            command.route,
            command.date,
            directions=command.directions,
            demand=command.demand,
            per_trip=command.per_trip,
            headway=command.headway,
        )
        files.save_corridor(corridor, command.out)
        made = f"{corridor.name}: {len(corridor.stops)} stops, {corridor.trips} trips, in {command.out}"
        console.print(escape(made), soft_wrap=True)
    elif isinstance(command, Simulate):
        _simulate(command, console)
    elif isinstance(command, Compare):
        _compare(command, console)
    else:
        _draw(command, console)


def run_controllers(names: tuple[str, ...], days: Days, console: Console) -> dict[str, list[Record]]:
    """Records of each controller on the same days, with a progress bar where the output is a terminal."""
    if days.seeds < 1:
        raise InputError(f"seeds is {days.seeds}; at least 1 day is needed")
    if not names or len(set(names)) < len(names):
        raise InputError(f"controllers are {list(names)}; expected at least one, each once")
    seeds = range(checked_seed(days.first_seed), checked_seed(days.first_seed + days.seeds - 1) + 1)
    controllers = {name: named(name) for name in names}
    simulator = Simulator(corridor_named(days.corridor), published=days.published)
    records: dict[str, list[Record]] = {name: [] for name in names}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for name, controller in controllers.items():
            for seed in progress.track(seeds, description=name):
                simulator.start([seed])
                simulator.run(controller)
                records[name].append(simulator.record())
    return records


def named(text: str) -> Controller:
    """`controller_named`, and learned:RUN for what deep RE-SAC learned in a run folder."""
    source, _, run = text.partition(":")
    if source != LEARNED or not run:
        return controller_named(text)
    # only here, since PyTorch takes seconds to import
    from pyresac.training.restored import restore_run

    return restore_run(Path(run)).controller()


def _simulate(command: Simulate, console: Console) -> None:
    records = run_controllers((command.controller,), command.days, console)[command.controller]
    table = metrics_table(records)
    rows = None if command.by == "day" else report.group_rows(records, command.by)
    if command.days.json:
        content = {
            "controller": command.controller,
            **_days_plain(command.days),
            "metrics": report.metrics_plain(table),
        }
        _print_json(content if rows is None else content | {f"by_{command.by}": rows})
        return
    title = f"{command.controller} on {records[0].layout.corridor.name}, {len(records)} days"
    console.print(report.metrics_shown(title, table))
    if rows is not None:
        console.print(report.groups_shown(command.by, rows))


def _compare(command: Compare, console: Console) -> None:
    if command.days.seeds < 2 or len(command.controllers) < 2:
        raise InputError("compare needs at least 2 days and 2 controllers")
    if not 0.0 < command.level < 1.0:
        raise InputError(f"level is {command.level}; it must lie between 0 and 1")
    records = run_controllers(command.controllers, command.days, console)
    tables = {name: metrics_table(days) for name, days in records.items()}
    first = command.controllers[0]
    gaps = report.paired_gaps(tables, first, command.level)
    if command.days.json:
        found = {name: report.metrics_plain(table) for name, table in tables.items()}
        content = {**_days_plain(command.days), "level": command.level, "reference": first, "controllers": found}
        _print_json(content | {"differences": report.gaps_plain(gaps)})
        return
    title = f"{command.days.seeds} days each, less {first}: mean ± half-width at {command.level:.0%}, bold if sure"
    console.print(report.comparison_shown(title, first, tables[first], gaps))


def _draw(command: Draw, console: Console) -> None:
    if command.out.suffix not in (".png", ".svg", ".pdf"):
        raise InputError(f"out is {command.out}; expected a file ending in .png, .svg or .pdf")
    records = run_controllers(command.controllers, command.days, console)
    direction = DIRECTIONS.index(command.direction)
    if command.kind == "time-space":
        firsts = {f"{name}, seed {days[0].seed}": days[0] for name, days in records.items()}
        figure = figures.time_space(firsts, direction, command.hours)
    elif command.kind == "headways":
        figure = figures.headways_by_stop(records, direction)
    else:
        figure = figures.wait_against_travel({name: metrics_table(days) for name, days in records.items()})
    figure.savefig(command.out, dpi=110)
    console.print(f"wrote {escape(str(command.out))}")


def _days_plain(days: Days) -> dict[str, Any]:
    seeds = list(range(days.first_seed, days.first_seed + days.seeds))
    return {"corridor": days.corridor, "published": days.published, "seeds": seeds}


def _print_json(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
