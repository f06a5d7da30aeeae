"""`simulate` and `compare`: metrics of controllers as tables or JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console

from pyresac.atomic import require_output, write_atomically
from pyresac.corridor.days import Days, print_json, run_controllers
from pyresac.envs.bus import report
from pyresac.envs.bus.avl.observed import days_of, observed_text
from pyresac.envs.bus.metrics import metrics_table
from pyresac.envs.bus.record import visits_csv
from pyresac.errors import InputError

COMPARED = ("none", "headway", "forward", "robust:slack=35,memory=0", "schedule", "linear")
"""No holding, the classical rules, and what search found for the default corridor: the slack of `robust`, `linear`."""


@dataclass(frozen=True)
class Simulate:
    """Run one controller and print its metrics, mean ± standard deviation over days."""

    controller: str = "none"
    """none, headway, target, forward, robust, schedule, self, two-way, predictive, linear, random; with parameters:
    target:slack=50,gain=1; a .json file of tune; ./mine.py:function; learned:RUN for the policy of a run folder; or
    package.module:attribute."""
    by: Literal["day", "stop", "hour"] = "day"
    """Also break metrics down by stop or by hour."""
    csv: Path | None = None
    """Also write every visit of every day to this CSV file."""
    avl: Path | None = None
    """Also write arrivals and departures to this CSV file, as `avl` reads them."""
    days: tyro.conf.OmitArgPrefixes[Days] = field(default_factory=Days)

    def run(self, console: Console) -> None:
        """Play, and print."""
        for file in filter(None, (self.csv, self.avl)):
            require_output(file, self.days.corridor)
        records = run_controllers((self.controller,), self.days)[self.controller]
        if self.csv is not None:
            write_atomically(self.csv, visits_csv({self.controller: records}).encode())
        if self.avl is not None:
            text = observed_text(days_of(records), records[0].layout.corridor)
            write_atomically(self.avl, text.encode())
        table = metrics_table(records)
        rows = None if self.by == "day" else report.group_rows(records, self.by)
        if self.days.json:
            content = {"controller": self.controller, **self.days.plain(), "metrics": report.metrics_plain(table)}
            print_json(content if rows is None else content | {f"by_{self.by}": rows})
            return
        title = f"{self.controller} on {records[0].layout.corridor.name}, {len(records)} days"
        console.print(report.metrics_shown(title, table))
        if rows is not None:
            console.print(report.groups_shown(self.by, rows))


@dataclass(frozen=True)
class Compare:
    """Run several controllers on the same days; differences to the first one with confidence intervals."""

    controllers: tuple[str, ...] = COMPARED
    """As for simulate; the first one is the reference."""
    level: float = 0.95
    """Confidence level."""
    days: tyro.conf.OmitArgPrefixes[Days] = field(default_factory=Days)

    def run(self, console: Console) -> None:
        """Play, and print."""
        if self.days.seeds < 2 or len(self.controllers) < 2:
            raise InputError("compare needs at least 2 days and 2 controllers")
        if not 0.0 < self.level < 1.0:
            raise InputError(f"level is {self.level}; it must lie between 0 and 1")
        records = run_controllers(self.controllers, self.days)
        tables = {name: metrics_table(days) for name, days in records.items()}
        first = self.controllers[0]
        gaps = report.paired_gaps(tables, first, self.level)
        if self.days.json:
            found = {name: report.metrics_plain(table) for name, table in tables.items()}
            content = {**self.days.plain(), "level": self.level, "reference": first, "controllers": found}
            print_json(content | {"differences": report.gaps_plain(gaps)})
            return
        title = f"{self.days.seeds} days each, less {first}: mean ± half-width at {self.level:.0%}, bold if sure"
        console.print(report.comparison_shown(title, first, tables[first], gaps))
