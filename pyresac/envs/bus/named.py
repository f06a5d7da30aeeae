"""Corridors by the names that commands take."""

from __future__ import annotations

from pyresac.envs.bus import files
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.default import default_corridor
from pyresac.envs.bus.workbooks import SPEED_TABLES, published_corridor
from pyresac.errors import InputError


def corridor_named(text: str) -> Corridor:
    """default, a JSON file, or published-slow:FOLDER / published-fast:FOLDER. Raises InputError for anything else."""
    source, _, folder = text.partition(":")
    tables = {f"published-{name}": name for name in SPEED_TABLES}
    if source in tables and folder:
        return published_corridor(folder, tables[source])
    if text == "default":
        return default_corridor()
    if text.endswith(".json"):
        return files.load_corridor(text)
    published = " or ".join(f"{name}:FOLDER" for name in tables)
    raise InputError(f"corridor is {text!r}; expected default, a .json file, or {published}")
