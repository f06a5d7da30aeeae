"""A GTFS feed's tables (partridge reads them, extra `gtfs`), cut down to one route and date, and checked.

What a feed gets wrong is said by file, table, trip or stop, and value; nothing is guessed.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.errors import InputError

NEEDED = {
    "routes": ("route_id",),
    "trips": ("route_id", "service_id", "trip_id", "direction_id"),
    "stop_times": ("trip_id", "stop_id", "stop_sequence", "arrival_time", "departure_time"),
    "stops": ("stop_id", "stop_lat", "stop_lon"),
}
SHOWN = 20
"""Names that a message lists at most."""


@dataclass(frozen=True)
class RouteSummary:
    """A route of a feed."""

    route_id: str
    short_name: str
    long_name: str
    trips: int
    """Trips of all services."""
    dates: tuple[datetime.date, ...]
    """Dates with a service of at least one of its trips, in order."""


def partridge() -> Any:
    """The reader. Raises InputError where the extra is not installed."""
    try:
        import partridge as module
    except ImportError as error:
        raise InputError("reading GTFS needs partridge: pip install 'pyresac[gtfs]'") from error
    return module


def read_feed(feed: Path, route: str, day: datetime.date) -> Any:
    """The feed cut down to the route's trips of the day. Raises InputError."""
    reader, tables = partridge(), raw_tables(feed)
    chosen = chosen_route(feed, tables["routes"], route)
    services = services_by_date(feed)
    if day not in services:
        span = f"it runs from {min(services)} to {max(services)}" if services else "it has no service at all"
        raise InputError(f"{feed}: no service on {day}; {span}")
    trips = tables["trips"][tables["trips"]["route_id"] == chosen]
    mine = trips["service_id"].isin(list(services[day]))
    if not mine.any():
        dates = [date for date in sorted(services) if trips["service_id"].isin(list(services[date])).any()]
        when = f"it runs on {len(dates)} dates from {dates[0]} to {dates[-1]}" if dates else "it has no trip at all"
        raise InputError(f"{feed}, table trips.txt: route {route!r} has no trip on {day}; {when}")
    if (trips.loc[mine, "direction_id"].fillna("").astype(str).str.strip() == "").all():
        raise InputError(
            f"{feed}, table trips.txt: direction_id is blank in all {int(mine.sum())} trips of route {route!r} on "
            f"{day}; expected 0 or 1"
        )
    view = {"trips.txt": {"service_id": services[day], "route_id": [chosen]}}
    tables = reader.load_feed(str(feed), view=view)
    for name in ("trips", "stop_times", "stops", "frequencies", "shapes"):
        try:
            getattr(tables, name)  # read and converted here
        except Exception as error:  # partridge lets errors of pandas and its own through, with no common class
            raise InputError(f"{feed}, table {name}.txt: cannot be read ({type(error).__name__}: {error})") from error
    return tables


def raw_tables(feed: Path) -> dict[str, Any]:
    """routes, trips, stop_times and stops as texts, with the columns that are needed. Raises InputError."""
    reader = partridge()
    if not feed.is_file():
        raise InputError(f"{feed}: no such file; expected a zipped GTFS feed")
    try:
        whole = reader.load_raw_feed(str(feed))
        tables = {name: whole.get(f"{name}.txt") for name in NEEDED}
    except Exception as error:  # partridge lets errors of zipfile, pandas and its own through, with no common class
        raise InputError(f"{feed}: not a readable GTFS feed ({type(error).__name__}: {error})") from error
    for name, columns in NEEDED.items():
        missing = [column for column in columns if column not in tables[name].columns]
        if missing:
            found = list(tables[name].columns) or "no such table"
            raise InputError(f"{feed}, table {name}.txt: columns {missing} are missing; found {found}")
    return tables


def services_by_date(feed: Path) -> dict[datetime.date, Any]:
    """Service ids of each date that has any. Raises InputError."""
    try:
        return dict(partridge().read_service_ids_by_date(str(feed)))
    except Exception as error:  # as above
        where = f"{feed}, tables calendar.txt and calendar_dates.txt"
        raise InputError(f"{where}: {type(error).__name__}: {error}") from error


def chosen_route(feed: Path, routes: Any, route: str) -> str:
    """The route_id that `route` names: itself, or the one route of that short name. Raises InputError."""
    ids = routes["route_id"].astype(str)
    if (ids == route).any():
        return route
    short = routes["route_short_name"] if "route_short_name" in routes.columns else ids
    found = sorted(set(ids[short == route]))
    if not found:
        raise InputError(
            f"{feed}, table routes.txt: no route {route!r}; it has {sorted(ids)[:SHOWN]}; "
            f"`python -m pyresac.corridor routes --feed {feed}` lists them"
        )
    if len(found) > 1:
        raise InputError(
            f"{feed}, table routes.txt: {len(found)} routes have the short name {route!r}; name one of the route_ids "
            f"{found[:SHOWN]}"
        )
    return str(found[0])


def summaries(feed: Path) -> list[RouteSummary]:
    """All routes, in order of short name and id. Raises InputError."""
    tables, services = raw_tables(feed), services_by_date(feed)
    routes, trips = tables["routes"], tables["trips"]
    services_of = trips.groupby("route_id")["service_id"].agg(set).to_dict()
    counts = trips["route_id"].value_counts().to_dict()

    def text(row: Any, column: str) -> str:
        value = row.get(column)
        return value if isinstance(value, str) else ""

    found = [
        RouteSummary(
            route_id=str(row["route_id"]),
            short_name=text(row, "route_short_name"),
            long_name=text(row, "route_long_name"),
            trips=int(counts.get(row["route_id"], 0)),
            dates=tuple(
                date for date in sorted(services) if services_of.get(row["route_id"], set()) & set(services[date])
            ),
        )
        for _, row in routes.iterrows()
    ]
    return sorted(found, key=lambda route: (route.short_name, route.route_id))


def check_sequences(feed: Path, times: Any) -> None:
    """InputError where a trip's stop_sequence is blank, not whole, or occurs twice: its order would be a guess."""
    numbers = times["stop_sequence"].to_numpy(dtype=float)
    wrong = ~(numbers >= 0.0) | (numbers != np.floor(numbers))
    repeated = times.duplicated(["trip_id", "stop_sequence"]).to_numpy()
    for bad, what in ((wrong, "a whole number of at least 0"), (repeated, "each number once a trip")):
        if bad.any():
            row = times.iloc[int(np.flatnonzero(bad)[0])]
            value = row["stop_sequence"]
            shown = "blank" if value != value else f"{value:g}"
            again = ", for the second time" if what.startswith("each") else ""
            raise InputError(
                f"{feed}, table stop_times.txt, trip {row['trip_id']!r}: stop_sequence is {shown} at stop "
                f"{row['stop_id']!r}{again}; expected {what}"
            )


def coordinates(feed: Path, table: Any, ids: list[str], trip: str) -> Any:
    """(n, 2) latitudes and longitudes of stops. Raises InputError for a stop without, or out of range."""
    indexed = table.set_index("stop_id")
    if indexed.index.has_duplicates:
        twice = sorted(set(indexed.index[indexed.index.duplicated()]) & set(ids))
        if twice:
            raise InputError(
                f"{feed}, table stops.txt: stops {twice[:SHOWN]} have more than one row; expected one each"
            )
    unknown = [stop for stop in ids if stop not in indexed.index]
    if unknown:
        raise InputError(f"{feed}, table stop_times.txt: stops {unknown} of trip {trip!r} are not in stops.txt")
    points = indexed.loc[ids, ["stop_lat", "stop_lon"]].to_numpy(dtype=float)
    return checked_degrees(
        f"{feed}, table stops.txt", points, [f"stop {stop!r}" for stop in ids], ("stop_lat", "stop_lon")
    )


def checked_degrees(where: str, points: Any, names: list[str], columns: tuple[str, str]) -> Any:
    """The points (n, 2). Raises InputError for a blank one, or degrees out of range."""
    for axis, most in ((0, 90.0), (1, 180.0)):
        bad = np.flatnonzero(~(np.abs(points[:, axis]) <= most))
        if bad.size:
            value = points[bad[0], axis]
            shown = "blank" if value != value else f"{value:g}"
            raise InputError(
                f"{where}, {names[bad[0]]}: {columns[axis]} is {shown}; expected −{most:g} to {most:g} degrees"
            )
    return points
