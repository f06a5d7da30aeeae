"""`figure`: time–space diagrams, headways by stop, waiting against travelling."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console
from rich.markup import escape

from pyresac.corridor.days import Days, run_controllers
from pyresac.envs.bus.corridor import DIRECTIONS
from pyresac.envs.bus.metrics import metrics_table
from pyresac.errors import InputError


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
    days: tyro.conf.OmitArgPrefixes[Days] = field(default_factory=Days)

    def run(self, console: Console) -> None:
        """Play, and draw."""
        from pyresac.envs.bus import figures  # Matplotlib takes a second

        if self.out.suffix not in (".png", ".svg", ".pdf"):
            raise InputError(f"out is {self.out}; expected a file ending in .png, .svg or .pdf")
        records = run_controllers(self.controllers, self.days)
        direction = DIRECTIONS.index(self.direction)
        if self.kind == "time-space":
            firsts = {f"{name}, seed {days[0].seed}": days[0] for name, days in records.items()}
            figure = figures.time_space(firsts, direction, self.hours)
        elif self.kind == "headways":
            figure = figures.headways_by_stop(records, direction)
        else:
            figure = figures.wait_against_travel({name: metrics_table(days) for name, days in records.items()})
        figure.savefig(self.out, dpi=110)
        console.print(f"wrote {escape(str(self.out))}")
