"""Every Lean name that a docstring, a message or a page cites is declared in lean/."""

from __future__ import annotations

import re
from pathlib import Path

from pyresac.formal.declarations import declarations

ROOT = Path(__file__).parents[2]
FOLDERS = ("pyresac", "property_tests", "tests", "benchmarks", "docs")
CITED = re.compile(r"\bRESAC\.(?!lean\b)([A-Za-z_][\w'₀-₉]*(?:\.[A-Za-z_][\w'₀-₉]*)*)")

PYTHON = re.compile(r"\[`[^`]*`\]\([^)]*\.py\)")
"""A link to a Python file: the class RESAC has methods, which are no Lean names."""


def test_cited_lean_names_are_declared() -> None:
    declared = declarations(ROOT / "lean")
    pages = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.suffix in {".py", ".md"}]
    pages = [p for p in [*pages, ROOT / "README.md"] if p.is_relative_to(ROOT / "tests" / "formal") is False]
    cited = {f"RESAC.{name}": p for p in pages for name in CITED.findall(PYTHON.sub("", p.read_text(encoding="utf-8")))}
    files = [p.relative_to(ROOT / "lean").with_suffix("") for p in (ROOT / "lean").rglob("*.lean")]
    modules = {".".join(q.parts) for p in files for q in (p, *p.parents) if q.parts}
    missing = {name: str(p.relative_to(ROOT)) for name, p in cited.items() if name not in declared.keys() | modules}
    assert len(cited) > 30
    assert missing == {}
