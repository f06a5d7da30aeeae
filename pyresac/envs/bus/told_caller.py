"""Warnings that name who asked for a corridor, whatever calls of the simulator's own lie between."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path


def warn_caller(message: str) -> None:
    """Warn as of the first caller outside this folder: the line that its user wrote, or the command that called it."""
    own, frame, level = Path(__file__).parent, sys._getframe(1), 2
    while frame.f_back is not None and Path(frame.f_code.co_filename).is_relative_to(own):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
