"""`gtfs`: a corridor file from a GTFS feed; `routes`: what a feed has."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pyresac.atomic import require_output
from pyresac.corridor.days import print_json
from pyresac.envs.bus import corridor_files
from pyresac.envs.bus.gtfs import gtfs_corridor
from pyresac.envs.bus.gtfs_feed import summaries
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
    per_trip: float | None = None
    """Passengers a trip of the default model; 80 without it, or fewer where a bus would be too full."""
    headway: float | None = None
    """Scheduled headway in s; the timetable's median without it."""

    def run(self, console: Console) -> None:
        """Read the feed and write the file."""
        if self.out.suffix != ".json":
            raise InputError(f"out is {self.out}; expected a file ending in .json, as --corridor takes it")
        require_output(self.out, self.feed, self.demand)
        corridor = gtfs_corridor(
            self.feed,
            self.route,
            self.date,
            directions=self.directions,
            demand=self.demand,
            per_trip=self.per_trip,
            headway=self.headway,
        )
        corridor_files.save_corridor(corridor, self.out)
        made = f"{corridor.name}: {len(corridor.stops)} stops, {corridor.trips} trips, in {self.out}"
        console.print(escape(made), soft_wrap=True)


@dataclass(frozen=True)
class Routes:
    """List the routes of a GTFS feed, and the dates on which they run."""

    feed: Path
    """A zipped feed."""
    json: bool = False
    """Print JSON, with every date."""

    def run(self, console: Console) -> None:
        """Read the feed and print."""
        found = summaries(self.feed)
        if self.json:
            rows = [asdict(route) | {"dates": [str(date) for date in route.dates]} for route in found]
            print_json({"feed": str(self.feed), "routes": rows})
            return
        shown = Table(title=escape(str(self.feed)))
        for column in ("route_id", "short name", "long name", "trips", "dates", "first", "last"):
            shown.add_column(column, justify="right" if column in ("trips", "dates") else "left", overflow="fold")
        for route in found:
            ends = (str(route.dates[0]), str(route.dates[-1])) if route.dates else ("", "")
            names = (escape(text) for text in (route.route_id, route.short_name, route.long_name))
            shown.add_row(*names, str(route.trips), str(len(route.dates)), *ends)
        console.print(shown)
