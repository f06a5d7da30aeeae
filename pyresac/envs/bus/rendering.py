"""The time–space picture of a day so far, as pixels: `render_mode="rgb_array"` of the environments."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.record import Record
from pyresac.errors import InputError

RGB = "rgb_array"
METADATA: dict[str, Any] = {"render_modes": [RGB], "render_fps": 10}
WINDOW = 2.0
"""Hours that a picture shows."""
DOTS = 72
Pixels: TypeAlias = NDArray[np.uint8]


def checked_mode(render_mode: str | None) -> str | None:
    """The mode. Raises InputError for one that the environments do not have."""
    if render_mode not in (None, RGB):
        raise InputError(f"render_mode is {render_mode!r}; expected None or {RGB!r}")
    return render_mode


def time_space_pixels(record: Record) -> Pixels:
    """(height, width, 3) of both directions over the last WINDOW hours."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # Matplotlib takes a second to import

    from pyresac.envs.bus.figures import time_space_so_far

    canvas: Any = FigureCanvasAgg(time_space_so_far(record, WINDOW))
    canvas.figure.set_dpi(DOTS)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
