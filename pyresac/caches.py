"""Where this package keeps what is costly to make again."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache(name: str) -> Path:
    """The folder `name` of the user's cache folder (XDG); it need not exist."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").resolve() / name
