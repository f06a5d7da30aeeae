"""Where the checker lives on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from pyresac.caches import user_cache

VARIABLE = "PYRESAC_LEAN_CACHE"


def cache_folder(given: Path | None) -> Path:
    """The option, else $PYRESAC_LEAN_CACHE, else pyresac-lean under the user's cache folder (XDG)."""
    if given is not None:
        return given.expanduser().resolve()
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser().resolve()
    return user_cache("pyresac-lean")
