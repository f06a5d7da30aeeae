"""What a number of a corridor's file or options may be: checked here for all of them, with one message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyresac.errors import InputError


def is_number(value: Any) -> bool:
    """A real number, of Python or NumPy; true and false are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """An integer, of Python or NumPy; true and false are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_inside(name: str, value: Any, least: float, most: float) -> None:
    """InputError unless the value is a number in [least, most]; NaN and infinities are in none."""
    if not is_number(value) or not math.isfinite(value) or not least <= value <= most:
        raise InputError(f"{name} is {value!r}; it must be a number from {least:g} to {most:g}")
