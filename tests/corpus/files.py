"""Corridors, finite MDPs and Lean sources that are damaged, extreme, or of another kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tiny_run import save_tiny_corridor

from corpus.case import Case, Files

MDP = "idstatefrom,idaction,idstateto,probability,reward\n0,0,1,1.0,2.0\n1,0,0,1.0,1.0\n"
CUT = MDP.replace("reward", "reward,rows").replace(".0\n", ".0,3\n")
SOLVE = "solve model.csv --discount 0.9"
PLAY = "corridor simulate --corridor line.json --seeds 1"


def corridor(**changes: Any) -> Files:
    """The tiny line with other numbers: `vehicle__boarding_time` stands in the object `vehicle`."""

    def write(path: Path) -> None:
        save_tiny_corridor(path)
        content = json.loads(path.read_text())
        for name, value in changes.items():
            *outer, last = name.split("__")
            place = content
            for key in outer:
                place = place[key]
            place[last] = [value for _ in place[last]] if isinstance(place[last], list) else value
        path.write_text(json.dumps(content))

    return {"line.json": write}


def half(path: Path) -> None:
    """The first half of a line's file."""
    save_tiny_corridor(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def lean_that_is_no_text() -> object:
    """Lean sources in another encoding."""
    from pyresac.formal.sources import read_tree

    return read_tree(Path("lean"))


def _formal_error() -> type[Exception]:
    from pyresac.formal.errors import FormalError

    return FormalError


EXTREMES: list[tuple[str, float, str]] = [
    ("holding_limit", 1e9, "at most 3600"),
    ("vehicle__clearance_time", 1e9, "at most 3600"),
    ("vehicle__boarding_time", 1e9, "at most 600"),
    ("vehicle__acceleration", 1e-9, "at least 0.01"),
    ("up__launches", 1e9, "launches"),
    ("up__length", 1e9, "at most 200000"),
    ("speed_interval", 5e-324, "at least 1"),
    ("demand_interval", 5e-324, "at least 1"),
    ("headway", 1e308, "at most 86400"),
]

CASES = [
    *(Case(f"{name} {value:g}", PLAY, says, 2, corridor(**{name: value})) for name, value, says in EXTREMES),
    Case("a corridor's first half", PLAY, "line.json is not JSON", 2, {"line.json": half}),
    Case("a corridor that is no text", PLAY, "line.json is not UTF-8 text", 2, {"line.json": b"\x80"}),
    Case("a corridor nested 10⁵ times", PLAY, "line.json is not JSON that can be read", 2, {"line.json": "[" * 10**5}),
    Case("a rule that is no text", "corridor simulate --controller rule.json --seeds 1", "rule.json is not UTF-8 text",
         2, {"rule.json": b"\xff"}),
    Case("an MDP", SOLVE, "Every value is within", 0, {"model.csv": MDP}),
    Case("an MDP that was cut", SOLVE, "model.csv: 2 rows where its column rows says 3", 2, {"model.csv": CUT}),
    Case("an MDP that is no text", SOLVE, "model.csv is not UTF-8 text: byte 0xFE at 0", 2, {"model.csv": b"\xfe"}),
    Case("no MDP", SOLVE, "model.csv is not a file"),
    Case("a result that cannot be written", f"{SOLVE} --out none/q.csv", "there is no folder ", 2, {"model.csv": MDP}),
    Case("Lean that is no text", lean_that_is_no_text, "lean/A.lean is not UTF-8 text: byte 0xE9 at 3", 2,
         {"lean/A.lean": b"-- \xe9"}, raises=_formal_error()),
]  # fmt: skip
