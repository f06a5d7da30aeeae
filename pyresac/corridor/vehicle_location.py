"""`avl`: a corridor file that varies as observed days do, checked on days that the calibration did not see."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pyresac.atomic import require_output
from pyresac.corridor.days import print_json
from pyresac.envs.bus import corridor_files
from pyresac.envs.bus.avl.calibration import calibrated
from pyresac.envs.bus.avl.moments import Agreement, agreement
from pyresac.envs.bus.avl.observed import Observed, days_of, read_observed
from pyresac.envs.bus.controllers import NoHolding
from pyresac.envs.bus.corridor import DIRECTIONS, Corridor
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.simulator import checked_seed, simulate_days
from pyresac.errors import InputError


@dataclass(frozen=True)
class Avl:
    """Make a corridor file whose running times, dispatches and dwells vary as those observed in FILE."""

    observations: tyro.conf.Positional[Path]
    """CSV file day,direction,launch,stop,arrival,departure, a row a visit; `simulate --avl` writes such files."""
    out: Path
    """JSON file to write."""
    corridor: str = "default"
    """The line: its stops, lengths, vehicle, options and the pattern of its demand; as for simulate."""
    held_out: float = 0.25
    """Share of the days, the last ones, that the calibration does not see and the check is made on."""
    keep_demand: bool = False
    """Keep the corridor's demand in place of scaling it until dwells are as observed."""
    first_seed: int = 2_000_000
    """Seed of the first simulated day of the check."""
    json: bool = False
    """Print JSON."""

    def run(self, console: Console) -> None:
        """Read, calibrate, check, write."""
        if self.out.suffix != ".json":
            raise InputError(f"out is {self.out}; expected a file ending in .json, as --corridor takes it")
        if not 0.0 < self.held_out < 1.0:
            raise InputError(f"held_out is {self.held_out}; it must be a share of the days, between 0 and 1")
        require_output(self.out, self.corridor, self.observations)
        checked_seed(self.first_seed)
        line = corridor_named(self.corridor)
        observed, labels = read_observed(self.observations, line)
        kept = len(labels) - max(round(self.held_out * len(labels)), 1)
        if kept < 2:
            raise InputError(
                f"{self.observations} has {len(labels)} days; at least 3 are needed, 2 of them to calibrate and one to "
                f"check"
            )
        made = calibrated(line, part(observed, slice(0, kept)), demand=not self.keep_demand)
        seen = agreement(part(observed, slice(kept, None)), made.hours)
        seeds = range(self.first_seed, self.first_seed + len(labels) - kept)
        simulated = agreement(days_of(simulate_days(made, NoHolding(), seeds)), made.hours)
        corridor_files.save_corridor(made, self.out)
        if self.json:
            print_json(_plain(made, kept, len(labels), seen, simulated) | {"out": str(self.out)})
            return
        traffic, late = made.traffic, made.operations
        console.print(_shown(f"{len(labels) - kept} days held out", seen, simulated))
        console.print(
            escape(
                f"traffic: day {traffic.day:.3f}, local {traffic.local:.3f}, along {traffic.along:.2f}, persistence "
                f"{traffic.persistence:.2f}; {late.late_share:.0%} of dispatches late by {late.late_mean:.0f} s; from "
                f"{kept} days, in {self.out}"
            ),
            soft_wrap=True,
        )


def part(observed: Observed, days: slice) -> Observed:
    """Some of the days of both directions."""
    up, down = observed
    return up.days(days), down.days(days)


def _rows(seen: Agreement, simulated: Agreement) -> list[tuple[str, str, float, float]]:
    """(direction, statistic, observed, simulated) of the numbers, and of the stop where headways differ most."""
    rows = []
    for index, way in enumerate(DIRECTIONS):
        mine, other = seen.headway_variation[index], simulated.headway_variation[index]
        worst = int(np.nan_to_num(np.abs(other / mine - 1.0)).argmax())
        rows += [
            (way, "trip time, variation", seen.trip_variation[index], simulated.trip_variation[index]),
            (
                way,
                "adjacent links, correlation",
                seen.adjacent_correlation[index],
                simulated.adjacent_correlation[index],
            ),
            (way, "headway, mean variation of stops", float(np.nanmean(mine)), float(np.nanmean(other))),
            (way, f"headway variation at stop {worst + 2}, the worst", float(mine[worst]), float(other[worst])),
        ]
    return rows


def _shown(title: str, seen: Agreement, simulated: Agreement) -> Table:
    table = Table(title=title)
    for column in ("direction", "statistic", "observed", "simulated", "difference"):
        table.add_column(column, justify="left" if column in ("direction", "statistic") else "right")
    for way, name, mine, other in _rows(seen, simulated):
        change = f"{other - mine:+.3f}" if "correlation" in name else f"{other / mine - 1.0:+.1%}"
        table.add_row(way, name, f"{mine:.4f}", f"{other:.4f}", change)
    return table


def _plain(made: Corridor, kept: int, days: int, seen: Agreement, simulated: Agreement) -> dict[str, Any]:
    rows = [
        {"direction": way, "statistic": name, "observed": _or_none(mine), "simulated": _or_none(other)}
        for way, name, mine, other in _rows(seen, simulated)
    ]
    traffic = {name: getattr(made.traffic, name) for name in ("day", "local", "along", "persistence")}
    late = {name: getattr(made.operations, name) for name in ("late_share", "late_mean")}
    return {"days": days, "calibrated_on": kept, "traffic": traffic, **late, "agreement": rows}


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
