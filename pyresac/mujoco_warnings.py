"""MuJoCo's warnings as Python's."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def once_each() -> Iterator[None]:
    """While models are read, MuJoCo's warnings are Python's, which come once each.

    Its own come for every copy of an environment, and it writes them into a file of the working folder.
    """
    mujoco: Any = importlib.import_module("mujoco")
    before = getattr(mujoco, "get_mju_user_warning", lambda: None)()  # versions below 4 do not tell
    mujoco.set_mju_user_warning(_warn)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _warn(text: str) -> None:
    warnings.warn(f"MuJoCo: {text.strip()}", stacklevel=1)
