"""A corridor in one readable JSON file: a row of numbers a line; `load_corridor(save_corridor(…))` is the same, bit
for bit."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.atomic import require_output, write_atomically
from pyresac.envs.bus.corridor import DIRECTIONS, Corridor, Direction
from pyresac.envs.bus.operations import NAMES as OPTIONS
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.traffic import NAMES as TRAFFIC
from pyresac.envs.bus.traffic import Traffic
from pyresac.envs.bus.vehicle import Vehicle
from pyresac.errors import InputError
from pyresac.reading import read_json

FORMAT = "pyresac bus corridor 1"
NUMBERS = (
    "headway",
    "holding_limit",
    "speed_deviation",
    "speed_floor",
    "speed_ceiling",
    "speed_interval",
    "demand_interval",
    "service_start",
)
KEYS = ("format", "name", "hours", *NUMBERS, "vehicle", "stops", *DIRECTIONS, "demand")
WAY_KEYS = ("stops", "length", "speed", "launches")
OPTIONAL = ("deviation", "first", "last")


def save_corridor(corridor: Corridor, path: str | Path) -> None:
    """Write the corridor, replacing the file as a whole; of the demand, only pairs with a rate above 0 are written.

    Raises InputError for what is no corridor, and for a path that no file can be written to.
    """
    if not isinstance(corridor, Corridor):
        raise InputError(f"corridor is a {type(corridor).__name__}; save_corridor writes a Corridor")
    require_output(Path(path), name="path")
    write_atomically(Path(path), corridor_text(corridor).encode())


def corridor_text(corridor: Corridor) -> str:
    """What `save_corridor` writes; equal for corridors that `load_corridor` could not tell apart."""
    pairs = np.argwhere(corridor.demand.any(axis=0))
    demand = [
        {"from": corridor.stops[i], "to": corridor.stops[j], "rates": corridor.demand[:, i, j].tolist()}
        for i, j in pairs
    ]
    content: dict[str, Any] = {"format": FORMAT, "name": corridor.name, "hours": corridor.hours}
    content |= {name: getattr(corridor, name) for name in NUMBERS}
    content |= {"vehicle": asdict(corridor.vehicle), "stops": list(corridor.stops)}
    for way, direction in zip(DIRECTIONS, corridor.directions, strict=True):
        keys = [*WAY_KEYS, *(key for key in OPTIONAL if getattr(direction, key) is not None)]
        content[way] = {key: _plain(getattr(direction, key)) for key in keys}
    if corridor.operations != Operations():
        content["operations"] = asdict(corridor.operations) | {"control_stops": list(corridor.operations.control_stops)}
    if corridor.traffic != Traffic():
        content["traffic"] = asdict(corridor.traffic)
    return _lines(content | {"demand": demand}, 0) + "\n"


def load_corridor(path: str | Path) -> Corridor:
    """Read a corridor; InputError naming the file, the key and what was expected."""
    path = Path(path)
    content = read_json(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise InputError(f"{path}: format is {found!r}; expected {FORMAT!r}")
    operations, traffic = content.pop("operations", {}), content.pop("traffic", {})
    _expect_keys(str(path), content, KEYS)
    for name, value, keys in (("operations", operations, OPTIONS), ("traffic", traffic, TRAFFIC)):
        if not isinstance(value, dict) or not set(value) <= set(keys):
            raise InputError(f"{path}: {name} is {value!r}; expected an object with some of the keys {list(keys)}")
    if not isinstance(operations.get("control_stops", []), list):
        raise InputError(f"{path}: operations.control_stops is {operations['control_stops']!r}; expected a list")
    vehicle = content["vehicle"]
    _expect_keys(f"{path}: vehicle", vehicle, tuple(field.name for field in fields(Vehicle)))
    try:
        ways = [_direction(f"{path}: {way}", content[way]) for way in DIRECTIONS]
        return Corridor(
            name=content["name"],
            stops=content["stops"],
            up=ways[0],
            down=ways[1],
            demand=_demand(str(path), content, ways[0].speed.shape[-1]),
            vehicle=Vehicle(**vehicle),
            operations=Operations(**operations),
            traffic=Traffic(**traffic),
            **{name: content[name] for name in NUMBERS},
        )
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from error


def _direction(where: str, content: Any) -> Direction:
    given = [key for key in OPTIONAL if isinstance(content, dict) and key in content]
    _expect_keys(where, content, (*WAY_KEYS, *given))
    try:
        return Direction(**content)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _demand(where: str, content: dict[str, Any], columns: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(hours, N, N); `columns` is the number of hours that the speeds have."""
    stops, hours = content["stops"], content["hours"]
    if isinstance(hours, bool) or not isinstance(hours, int) or hours < 1:
        raise InputError(f"{where}: hours is {hours!r}; it must be an integer of at least 1")
    if hours != columns:
        raise InputError(f"{where}: hours is {hours}, but up.speed has {columns} columns")
    for key in ("stops", "demand"):
        if not isinstance(content[key], list):
            raise InputError(f"{where}: {key} is {content[key]!r}; expected a list")
    demand, filled = np.zeros((hours, len(stops), len(stops))), set()
    for number, row in enumerate(content["demand"]):
        place = f"{where}: demand[{number}]"
        _expect_keys(place, row, ("from", "to", "rates"))
        for key in ("from", "to"):
            if row[key] not in stops:
                raise InputError(f"{place}.{key} is {row[key]!r}, which is not among the stops")
        rates = row["rates"]
        if not isinstance(rates, list) or len(rates) != hours:
            raise InputError(f"{place}.rates is {rates!r}; expected {hours} numbers, one an hour")
        if not all(
            isinstance(rate, int | float) and not isinstance(rate, bool) and abs(rate) <= sys.float_info.max
            for rate in rates
        ):
            raise InputError(f"{place}.rates is {rates!r}; expected numbers")
        pair = stops.index(row["from"]), stops.index(row["to"])
        if pair in filled:
            raise InputError(f"{place}: {row['from']!r} → {row['to']!r} has a row already; expected one a pair")
        filled.add(pair)
        demand[:, *pair] = rates
    return demand


def _expect_keys(where: str, content: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(content, dict):
        raise InputError(f"{where}: found {type(content).__name__}; expected an object with the keys {list(keys)}")
    missing, unknown = [key for key in keys if key not in content], sorted(set(content) - set(keys))
    if missing or unknown:
        raise InputError(f"{where}: missing keys {missing}, unknown keys {unknown}; expected {list(keys)}")


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else list(value)


def _lines(value: Any, depth: int) -> str:
    """JSON with every list of numbers or names, and every object without lists of lists, on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if depth > 0 and (not isinstance(value, list | dict) or _is_row(value)):
        return flat
    pad = "  " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{pad}{json.dumps(key)}: {_lines(part, depth + 1)}" for key, part in value.items()]
        return "{\n" + ",\n".join(parts) + "\n" + "  " * depth + "}"
    return "[\n" + ",\n".join(f"{pad}{_lines(part, depth + 1)}" for part in value) + "\n" + "  " * depth + "]"


def _is_row(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict) and set(value) == {"from", "to", "rates"}:
        return True
    return not any(isinstance(part, list | dict) for part in parts)
