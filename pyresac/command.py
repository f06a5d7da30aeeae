"""What the commands have in common: how wide they print, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console
from rich.markup import escape

from pyresac.errors import DivergenceError, InputError

PIPE_WIDTH = 160


def wide_console() -> Console:
    """For tables: as wide as the terminal, with room for every table in a pipe, which has no width."""
    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def exit_code(work: Callable[[], int | None]) -> int:
    """Do the work and return its exit code, 0 for None; or say in one message why it ended early.

    2 for bad input, 1 when a number is not finite or the disk refused, 130 when interrupted.
    """
    complaints = Console(stderr=True, highlight=False, emoji=False)
    try:
        return work() or 0
    except InputError as error:
        complaints.print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
        return 2
    except (DivergenceError, OSError) as error:
        complaints.print(f"[bold red]stopped:[/] {escape(str(error))}", soft_wrap=True)
        return 1
    except KeyboardInterrupt as interrupt:
        complaints.print(f"[bold red]stopped:[/] {escape(str(interrupt) or 'interrupted')}", soft_wrap=True)
        return 130
