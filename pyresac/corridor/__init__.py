"""`python -m pyresac.corridor`: simulate a bus corridor, compare and tune holding controllers, draw, import a feed,
calibrate from observed days.

Exit codes: 0 done; 2 bad input; 1 the disk refused; 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import tyro
from rich.console import Console

from pyresac.command import checked, exit_code, wide_console
from pyresac.corridor.feeds import Gtfs, Routes
from pyresac.corridor.pictures import Animate, Draw
from pyresac.corridor.search import Tune
from pyresac.corridor.tables import Compare, Simulate
from pyresac.corridor.vehicle_location import Avl

PROGRAM = "python -m pyresac.corridor"

Command: TypeAlias = (
    Annotated[Simulate, tyro.conf.subcommand("simulate")]
    | Annotated[Compare, tyro.conf.subcommand("compare")]
    | Annotated[Tune, tyro.conf.subcommand("tune")]
    | Annotated[Draw, tyro.conf.subcommand("figure")]
    | Annotated[Animate, tyro.conf.subcommand("animate")]
    | Annotated[Gtfs, tyro.conf.subcommand("gtfs")]
    | Annotated[Routes, tyro.conf.subcommand("routes")]
    | Annotated[Avl, tyro.conf.subcommand("avl")]
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""

    def work() -> None:
        run(tyro.cli(Command, args=checked(arguments), prog=PROGRAM, description=__doc__), wide_console())

    return exit_code(work)


def run(command: Simulate | Compare | Tune | Draw | Animate | Gtfs | Routes | Avl, console: Console) -> None:
    """Carry out a command. Raises InputError and OSError."""
    command.run(console)
