"""One look for all figures: colours that colour-blind people tell apart, open axes, a title at the left."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pyresac.errors import InputError

BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
"""M. Okabe and K. Ito, Color universal design (2008)."""
GREY = "#555555"
CYCLE = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (9, 3)), (0, (1, 3)))
FORMATS = ("png", "svg", "pdf")


def new_figure(title: str, width: float = 8.0, height: float = 4.6) -> Figure:
    """An empty figure, `width` by `height` inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=11, x=0.02, ha="left")
    return figure


def plain(axes: Axes) -> Axes:
    """Without the upper and right border, on a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, lw=0.5)
    return axes


def colours() -> Iterator[str]:
    """The colours of curves, over and over."""
    return cycle(CYCLE)


def require_folder(figures: Path | None) -> None:
    """Raise InputError where the figures cannot go into `figures`, because it is a file."""
    if figures is not None and figures.exists() and not figures.is_dir():
        raise InputError(f"figures = {figures}, which is a file; name a folder")


def write(figure: Figure, path: Path) -> Path:
    """Save to `path`, whose ending chooses the format; folders are made. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)
    return path
