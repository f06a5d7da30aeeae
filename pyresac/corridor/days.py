"""Which days of which line a command plays, and playing them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pyresac.command import console, standard_output
from pyresac.envs.bus.changes import doubts, with_demand, with_headway
from pyresac.envs.bus.controllers import Controller
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.record import Record
from pyresac.envs.bus.simulator import Simulator, checked_seed
from pyresac.errors import InputError

LEARNED = "learned"
MOST_DAYS = 1_000_000
DIRECT = ("buses", "layover", "open_doors", "closed_holds", "in_order", "berths", "patience", "advice", "skipping")
"""Options of `Days` that are options of `Operations` by the same name."""


@dataclass(frozen=True)
class Days:
    """Which days of which line."""

    corridor: str = "default"
    """default, disturbed, a JSON file, or published-slow:FOLDER / published-fast:FOLDER for the published workbooks."""
    seeds: int = 12
    """Number of days."""
    first_seed: int = 0
    """Seed of the first day; the others follow."""
    published: bool = False
    """Keep the published program's accidents (whole-metre speeds, whole-second clock), as its figures need."""
    json: bool = False
    """Print JSON instead of tables."""

    headway: float | None = None
    """Launch a bus every so many seconds from both ends, in place of the corridor's timetable."""
    demand: float = 1.0
    """Factor on the corridor's demand."""
    buses: int | None = None
    """Buses of the line: a trip without a free bus leaves late. The corridor's own without it; 0 for any number."""
    layover: float | None = None
    """Least rest at a terminal, s."""
    late: tuple[float, float] | None = None
    """Share of late dispatches, and their mean lateness in s."""
    open_doors: bool | None = None
    """Whether passengers who come while a bus stands still board it."""
    closed_holds: bool | None = None
    """Whether a held bus has closed its doors, where they are open else."""
    in_order: bool | None = None
    """Whether buses of a direction never overtake."""
    berths: int | None = None
    """Buses that can stand at a stop of one direction; others wait before it."""
    patience: float | None = None
    """Mean time after which a waiting passenger gives up, s; 0 for never."""
    advice: bool | None = None
    """Whether the seconds asked of a bus are spent driving slower, not standing."""
    skipping: bool | None = None
    """Whether a bus may pass its next stop, where it then boards nobody: see the rule skip."""

    def line(self) -> Corridor:
        """The corridor with what was asked for. Raises InputError."""
        found = corridor_named(self.corridor)
        if self.headway is not None:
            found = with_headway(found, self.headway)
        if self.demand != 1.0:
            found = with_demand(found, self.demand)
        changes: dict[str, Any] = {name: getattr(self, name) for name in DIRECT}
        if self.late is not None:
            changes |= {"late_share": self.late[0], "late_mean": self.late[1]}
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(found, operations=replace(found.operations, **given)) if given else found

    def numbers(self) -> range:
        """The seeds. Raises InputError."""
        if not 1 <= self.seeds <= MOST_DAYS:
            raise InputError(f"seeds is {self.seeds}; at least 1 day is needed, at most {MOST_DAYS:,}")
        return range(checked_seed(self.first_seed), checked_seed(self.first_seed + self.seeds - 1) + 1)

    def require_no_json(self) -> None:
        """Raise InputError where JSON is asked of a command that writes a picture."""
        if self.json:
            raise InputError("--json is given to a command that writes a picture; simulate and compare print JSON")

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        seeds = list(range(self.first_seed, self.first_seed + self.seeds))
        told = {"corridor": self.corridor, "published": self.published, "seeds": seeds}
        own = ("headway", "demand", "late", *DIRECT)
        default = Days()
        return told | {name: getattr(self, name) for name in own if getattr(self, name) != getattr(default, name)}


def progress_bar() -> Progress:
    """On the standard error, where it is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console(stderr=True), transient=True)


def run_controllers(names: tuple[str, ...], days: Days) -> dict[str, list[Record]]:
    """Records of each controller on the same days, with a progress bar where the output is a terminal."""
    seeds = days.numbers()
    if not names or len(set(names)) < len(names):
        raise InputError(f"controllers are {list(names)}; expected at least one, each once")
    controllers = {name: named(name) for name in names}
    corridor = days.line()
    for doubt in doubts(corridor):
        console(stderr=True).print(f"[yellow]note:[/] {escape(doubt)}", soft_wrap=True)
    simulator = Simulator(corridor, published=days.published)
    records: dict[str, list[Record]] = {name: [] for name in names}
    with progress_bar() as progress:
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


def print_json(content: dict[str, Any]) -> None:
    """To the standard output."""
    standard_output().write(json.dumps(content, indent=1, allow_nan=False) + "\n")
