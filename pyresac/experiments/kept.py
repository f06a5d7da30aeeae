"""What an analysis computes itself, in files of its own: what was made before a kill is read and not made again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyresac.atomic import write_atomically
from pyresac.errors import InputError
from pyresac.reading import read_object


def kept(folder: Path, name: str, settings: Any, make: Callable[[], Any]) -> Any:
    """The value in `folder` under this name, or `make()`, which is then written there.

    Both are of JSON. settings: all that the value depends on; one that was made with others, or a damaged file, is made
    anew.
    """
    path = folder / (re.sub(r"[^a-z0-9.=-]+", "-", name.lower()).strip("-") + ".json")
    plain = json.loads(json.dumps({"name": name, "settings": settings}))
    if path.is_file():
        try:
            found = read_object(path)
        except InputError:
            found = {}
        if {key: found.get(key) for key in plain} == plain and "value" in found:
            return found["value"]
    value = json.loads(json.dumps(make()))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, (json.dumps({**plain, "value": value}) + "\n").encode())
    return value
