"""Corridors by the names that commands take."""

from __future__ import annotations

from pyresac.envs.bus import corridor_files
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.default import default_corridor, disturbed_corridor
from pyresac.envs.bus.workbooks import SPEED_TABLES, published_corridor
from pyresac.errors import InputError

SHIPPED = {"default": default_corridor, "disturbed": disturbed_corridor}
"""Corridors that come with the package."""


def corridor_named(text: str) -> Corridor:
    """default, disturbed, a JSON file, or published-slow:FOLDER / published-fast:FOLDER. Raises InputError."""
    source, _, folder = text.partition(":")
    tables = {f"published-{name}": name for name in SPEED_TABLES}
    if source in tables and folder:
        return published_corridor(folder, tables[source])
    if text in SHIPPED:
        return SHIPPED[text]()
    if text.endswith(".json"):
        return corridor_files.load_corridor(text)
    published = " or ".join(f"{name}:FOLDER" for name in tables)
    raise InputError(f"corridor is {text!r}; expected {', '.join(SHIPPED)}, a .json file, or {published}")
