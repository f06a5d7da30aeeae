"""Figures: nothing is made unasked, and what cannot be written is refused before anything is computed."""

from __future__ import annotations

from corpus.case import Case

LISTED = {"results/resac-seed0/config.json": "{}"}

CASES = [
    *(Case(f"figures.{name} --help", f"figures.{name} --help", "usage", 0)
      for name in ("convergence", "sets", "results")),
    *(Case(f"figures.{name} without a file", f"figures.{name}", "required") for name in ("convergence", "sets")),
    Case("a picture of another kind", "figures.sets sets.bmp", "expected a file ending in .png, .svg, .pdf"),
    Case("a picture in no folder", "figures.convergence none/picture.png", "there is no folder"),
    Case("a picture", "figures.convergence picture.svg", "wrote picture.svg", 0, makes=("picture.svg",)),
    Case("no results", "figures.results", "results is no folder of results"),
    Case("no folder for the figures", "figures.results results", "figures = docs/figures; there is no folder",
         2, LISTED),
    Case("a diagram of another kind", "corridor figure --kind time-space --out day.gif", "expected a file ending in"),
    Case("a diagram in no folder", "corridor figure --kind headways --out none/day.png", "there is no folder"),
    Case("a page in no folder", "corridor animate --out none/day.html", "there is no folder"),
    Case("figures into a file", "evaluate run --figures file", "figures = file, which is a file", 2, {"file": "text"}),
]  # fmt: skip
