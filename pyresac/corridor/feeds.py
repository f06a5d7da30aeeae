"""`gtfs`: a corridor file from a GTFS feed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from pyresac.envs.bus import files
from pyresac.envs.bus.gtfs import gtfs_corridor
from pyresac.errors import InputError


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

    def run(self, console: Console) -> None:
        """Read the feed and write the file."""
        if self.out.suffix != ".json":
            raise InputError(f"out is {self.out}; expected a file ending in .json, as --corridor takes it")
        corridor = gtfs_corridor(
            self.feed,
            self.route,
            self.date,
            directions=self.directions,
            demand=self.demand,
            per_trip=self.per_trip,
            headway=self.headway,
        )
        files.save_corridor(corridor, self.out)
        made = f"{corridor.name}: {len(corridor.stops)} stops, {corridor.trips} trips, in {self.out}"
        console.print(escape(made), soft_wrap=True)
