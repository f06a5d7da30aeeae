"""`figure`: time–space diagrams, headways by stop, waiting against travelling, Pareto; `animate`: a day as a page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console
from rich.markup import escape

from pyresac.atomic import require_output, write_atomically
from pyresac.corridor.days import Days, run_controllers
from pyresac.envs.bus.corridor import DIRECTIONS
from pyresac.envs.bus.metrics import metrics_table
from pyresac.errors import InputError

HOURS = (2.0, 5.0)


@dataclass(frozen=True)
class Draw:
    """Draw time–space diagrams, headways by stop, wait against travel, or passengers' time against vehicle-hours."""

    kind: Literal["time-space", "headways", "wait-travel", "pareto"]
    out: Path
    """File to write; .png, .svg or .pdf."""
    controllers: tuple[str, ...] = ("none", "headway")
    """As for simulate."""
    direction: Literal["up", "down"] = "up"
    hours: tuple[float, float] = HOURS
    """Hours after the start of service that the time–space diagram shows."""
    days: tyro.conf.OmitArgPrefixes[Days] = field(default_factory=Days)

    def run(self, console: Console) -> None:
        """Play, and draw."""
        from pyresac.envs.bus import figures  # Matplotlib takes a second
        from pyresac.figures import style

        style.require_picture(self.out)
        self.days.require_no_json()
        if self.kind != "time-space" and self.hours != HOURS:
            raise InputError(f"--hours is given with {self.kind}; they are of the time-space diagram")
        if self.kind in ("wait-travel", "pareto") and self.direction != "up":
            raise InputError(f"--direction {self.direction} is given with {self.kind}, which is of both directions")
        records = run_controllers(self.controllers, self.days)
        direction = DIRECTIONS.index(self.direction)
        if self.kind == "time-space":
            firsts = {f"{name}, seed {days[0].seed}": days[0] for name, days in records.items()}
            figure = figures.time_space(firsts, direction, self.hours)
        elif self.kind == "headways":
            figure = figures.headways_by_stop(records, direction)
        else:
            chart = figures.pareto if self.kind == "pareto" else figures.wait_against_travel
            figure = chart({name: metrics_table(days) for name, days in records.items()})
        style.write(figure, self.out, dpi=110)
        console.print(f"wrote {escape(str(self.out))}", soft_wrap=True)


@dataclass(frozen=True)
class Animate:
    """Write the first day as one HTML page: buses on the line, their loads and holds; play, pause, speed."""

    out: Path
    """File to write; .html."""
    controller: str = "none"
    """As for simulate."""
    days: tyro.conf.OmitArgPrefixes[Days] = field(default_factory=Days)

    def run(self, console: Console) -> None:
        """Play a day, and write."""
        from pyresac.envs.bus.animation import animation_page

        if self.out.suffix != ".html":
            raise InputError(f"out is {self.out}; expected a file ending in .html")
        require_output(self.out, self.days.corridor)
        self.days.require_no_json()
        record = run_controllers((self.controller,), replace(self.days, seeds=1))[self.controller][0]
        title = f"{record.layout.corridor.name}, {self.controller}, day {record.seed}"
        write_atomically(self.out, animation_page(record, title).encode())
        console.print(f"wrote {escape(str(self.out))}", soft_wrap=True)
