"""Reads the published corridor from its workbooks (openpyxl, extra `workbooks`).

Sheets: stops (stop_id, stop_name); routes (route_id, start_stop, end_stop, distance, V_max, one column an hour);
timetable (launch_time in s, direction 1 = up or 0 = down); demand (hour, origin, one column a destination: passengers
per hour). Each is the first sheet of its file. Errors name file, sheet, row and what was expected.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.envs.bus.corridor import Array, Corridor, Direction
from pyresac.errors import InputError
from pyresac.reading import read_json

FILES = {
    "stops": "stop_news.xlsx",
    "timetable": "time_table.xlsx",
    "demand": "passenger_OD.xlsx",
    "settings": "config.json",
}
SPEED_TABLES = {"slow": "route_news.xlsx", "fast": "route_news__env_variant.xlsx"}
DOWN_ORIGIN_SCALE = {"X13": 0.4, "X14": 0.4, "X15": 0.4}
"""The published program scales the demand of these origins in the down direction; the workbook has the unscaled
numbers."""

Row = tuple[str, tuple[Any, ...]]


def published_corridor(folder: str | Path, speeds: str = "slow") -> Corridor:
    """The published line, 22 stops and 262 trips; `speeds` is "slow" or "fast", the two published speed tables."""
    if speeds not in SPEED_TABLES:
        raise InputError(f"speeds is {speeds!r}; the published tables are {sorted(SPEED_TABLES)}")
    folder = Path(folder)
    stops = _stops(_rows(folder / FILES["stops"], ("stop_id", "stop_name")))
    header_rows = _rows(folder / SPEED_TABLES[speeds], ("route_id", "start_stop", "end_stop", "distance", "V_max"))
    links, ceiling = _links(header_rows, stops)
    launches = _launches(_rows(folder / FILES["timetable"], ("launch_time", "direction")))
    hours = len(next(iter(links.values()))[1])
    settings = _settings(folder / FILES["settings"])
    ways = []
    for names, times in ((stops, launches[1]), (stops[::-1], launches[0])):
        pairs = list(pairwise(names))
        missing = [pair for pair in pairs if pair not in links]
        if missing:
            raise InputError(f"{folder / SPEED_TABLES[speeds]}: no row for the link {missing[0][0]} → {missing[0][1]}")
        length = np.array([links[pair][0] for pair in pairs])
        ways.append(
            Direction(names, length, np.array([links[pair][1] for pair in pairs]), np.array(sorted(times), dtype=float))
        )
    return Corridor(
        name=f"published, {speeds}",
        stops=stops,
        up=ways[0],
        down=ways[1],
        demand=_demand(folder / FILES["demand"], stops, hours),
        speed_ceiling=ceiling,
        speed_interval=settings["route_state_update_freq"],
        demand_interval=settings["passenger_state_update_freq"],
    )


def _rows(path: Path, columns: tuple[str | None, ...]) -> list[Row]:
    """Rows below the header, each with its place in words; the header's first cells must be `columns`."""
    try:
        import openpyxl
    except ImportError as error:
        raise InputError("reading workbooks needs openpyxl: pip install 'pyresac[workbooks]'") from error
    if not path.is_file():
        raise InputError(
            f"{path}: no such workbook; the published folder holds {sorted(FILES.values())} and a speed table"
        )
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # openpyxl lets errors of zip, XML and its own through, with no common class
        raise InputError(f"{path}: not a readable workbook ({type(error).__name__}: {error})") from error
    if not book.worksheets:
        raise InputError(f"{path}: the workbook has no sheet; expected one with the columns {list(columns)}")
    sheet = book.worksheets[0]
    rows = [tuple(row) for row in sheet.iter_rows(values_only=True)]
    where = f"{path}, sheet {sheet.title!r}"
    book.close()
    if not rows or rows[0][: len(columns)] != columns:
        found = list(rows[0][: len(columns)]) if rows else "nothing"
        raise InputError(f"{where}, row 1: expected the columns {list(columns)}, found {found}")
    body = [
        (f"{where}, row {number}", row)
        for number, row in enumerate(rows[1:], start=2)
        if any(cell is not None for cell in row)
    ]
    if not body:
        raise InputError(f"{where}: no rows below the header")
    return [(f"{where}, row 1", rows[0]), *body]


def _value(where: str, column: str, cell: Any, least: float) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not cell >= least:
        raise InputError(f"{where}: {column} is {cell!r}; expected a number of at least {least:g}")
    return float(cell)


def _stops(rows: list[Row]) -> tuple[str, ...]:
    for where, row in rows[1:]:
        if not isinstance(row[1], str) or not row[1]:
            raise InputError(f"{where}: stop_name is {row[1]!r}; expected a name")
    return tuple(row[1] for _, row in rows[1:])


def _links(rows: list[Row], stops: tuple[str, ...]) -> tuple[dict[tuple[str, str], tuple[float, list[float]]], float]:
    where, header = rows[0]
    hours = [cell for cell in header[5:] if cell is not None]
    if not hours:
        raise InputError(f"{where}: no hourly speed columns after V_max")
    links: dict[tuple[str, str], tuple[float, list[float]]] = {}
    ceilings = set()
    for where, row in rows[1:]:
        for name in row[1:3]:
            if name not in stops:
                raise InputError(f"{where}: stop {name!r} is not in the stop workbook")
        if _value(where, "distance", row[3], 0.0) == 0.0:
            raise InputError(f"{where}: distance is 0; a link must be longer than 0 m")
        ceilings.add(_value(where, "V_max", row[4], 1.0))
        speeds = [_value(where, f"speed of {hour}", cell, 0.1) for hour, cell in zip(hours, row[5:], strict=False)]
        if len(speeds) < len(hours):
            raise InputError(f"{where}: {len(speeds)} hourly speeds; expected {len(hours)}")
        links[row[1], row[2]] = (float(row[3]), speeds)
    return links, max(ceilings)


def _launches(rows: list[Row]) -> dict[int, list[float]]:
    launches: dict[int, list[float]] = {0: [], 1: []}
    for where, row in rows[1:]:
        if row[1] not in (0, 1):
            raise InputError(f"{where}: direction is {row[1]!r}; expected 1 (up) or 0 (down)")
        launches[int(row[1])].append(_value(where, "launch_time", row[0], 0.0))
    return launches


def _demand(path: Path, stops: tuple[str, ...], hours: int) -> Array:
    rows = _rows(path, (None, None))
    where, header = rows[0]
    unknown = [name for name in header[2:] if name not in stops]
    if unknown:
        raise InputError(f"{where}: destinations {unknown} are not in the stop workbook")
    demand = np.zeros((hours, len(stops), len(stops)))
    first = min(_hour(*row) for row in rows[1:])
    for where, row in rows[1:]:
        hour = _hour(where, row) - first
        if row[1] not in stops:
            raise InputError(f"{where}: origin {row[1]!r} is not in the stop workbook")
        if hour >= hours:
            raise InputError(f"{where}: hour {row[0]} lies beyond the {hours} hours of the speed table")
        origin = stops.index(row[1])
        for name, cell in zip(header[2:], row[2:], strict=True):
            destination = stops.index(name)
            scale = DOWN_ORIGIN_SCALE.get(row[1], 1.0) if destination < origin else 1.0
            demand[hour, origin, destination] = scale * _value(where, f"rate to {name}", cell, 0.0)
    return demand


def _hour(where: str, row: tuple[Any, ...]) -> int:
    if not isinstance(row[0], datetime.time):
        raise InputError(f"{where}: the hour is {row[0]!r}; expected a time of day such as 06:00")
    return row[0].hour


def _settings(path: Path) -> Mapping[str, float]:
    names = ("time_step", "route_state_update_freq", "passenger_state_update_freq")
    settings = read_json(path)
    try:
        values = {name: float(settings[name]) for name in names}
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise InputError(f"{path}: expected a JSON object with the numbers {list(names)} ({error!r})") from error
    if values["time_step"] != 1.0:
        raise InputError(f"{path}: time_step is {values['time_step']:g}; this simulator's step is 1 s")
    return values
