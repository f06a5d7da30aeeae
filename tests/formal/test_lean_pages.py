"""The Lean code that the documentation shows is the code of the library."""

from __future__ import annotations

import re
from pathlib import Path

from pyresac.formal.declarations import declarations
from pyresac.formal.sources import read_tree

ROOT = Path(__file__).parents[2]


def flat(text: str) -> str:
    """Text with every run of blanks made one blank."""
    return " ".join(text.split())


def test_lean_blocks_are_quotations() -> None:
    library = flat("\n".join(m.text for m in read_tree(ROOT / "lean").values()))
    blocks = re.findall(r"```lean\n(.*?)```", (ROOT / "docs/lean-for-rl.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    for paragraph in (p for b in blocks for p in b.split("\n\n")):
        assert flat(paragraph) in library, paragraph


def test_names_in_the_tour_exist() -> None:
    text = (ROOT / "docs/lean-tour.md").read_text(encoding="utf-8")
    declared = {name.removeprefix("RESAC.") for name in declarations(ROOT / "lean")}
    named = set(re.findall(r"`([a-z]\w*_\w+|Monetary\.\w+)`", text)) - {"native_decide"}
    assert named
    assert named <= declared


def test_the_tour_visits_every_file() -> None:
    text = (ROOT / "docs/lean-tour.md").read_text(encoding="utf-8")
    library = ROOT / "lean/RESAC"
    files = {f.relative_to(library).as_posix() for f in library.rglob("*.lean")}
    visited = set(re.findall(r"RESAC/([\w/]+\.lean)\)", text))
    assert {f for f in files if not f.startswith("Vectors/")} == visited


def test_the_number_of_vectors_is_the_number_of_vectors() -> None:
    count = sum(
        m.text.count("\nexample ") for n, m in read_tree(ROOT / "lean").items() if n.startswith("RESAC.Vectors.")
    )
    assert f"{count} theorems" in (ROOT / "docs/lean-tour.md").read_text(encoding="utf-8")
    assert f"on {count} random instances" in (ROOT / "docs/lean-for-rl.md").read_text(encoding="utf-8")
