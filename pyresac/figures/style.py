"""One look for all figures: colours that colour-blind people tell apart, open axes, a title at the left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import tyro
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.markup import escape

from pyresac.atomic import atomic_path, require_output
from pyresac.command import checked, console, exit_code
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


def curve_styles() -> Iterator[tuple[str, str]]:
    """Colour and line of one curve after another: whole lines first, then the same colours with dashes, and so on."""
    return cycle([(colour, dash) for dash in DASHES[:3] for colour in CYCLE])


def require_folder(figures: Path | None) -> None:
    """Raise InputError where the figures cannot go into `figures`, because it is a file."""
    if figures is not None and figures.exists() and not figures.is_dir():
        raise InputError(f"figures = {figures}, which is a file; name a folder")


def require_picture(path: Path) -> None:
    """Raise InputError unless a figure can be written to `path`: to be asked before anything is computed."""
    if path.suffix.removeprefix(".") not in FORMATS:
        raise InputError(f"out is {path}; expected a file ending in {', '.join(f'.{ending}' for ending in FORMATS)}")
    require_output(path)


def write(figure: Figure, path: Path, dpi: int = 160) -> Path:
    """Save to `path` as a whole; its ending chooses the format, and its folder is made. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=dpi, format=path.suffix.removeprefix("."))
    return path


@dataclass(frozen=True)
class OneFigure:
    """Where to draw it."""

    out: tyro.conf.Positional[Path]
    """File to write; .png, .svg or .pdf."""


def figure_command(draw: Callable[[], Figure], program: str, about: str | None, arguments: list[str] | None) -> int:
    """A command that draws one figure to the file that it is given; returns its exit code."""

    def work() -> None:
        out = tyro.cli(OneFigure, args=checked(arguments), prog=program, description=about).out
        require_picture(out)
        write(draw(), out)
        console().print(f"wrote {escape(str(out))}", soft_wrap=True)

    return exit_code(work)
