"""`pytest.approx(x, rel=r)` takes any two numbers below 1e-12 for equal: tests say how small numbers are compared."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = [path for folder in ("tests", "property_tests") for path in sorted((ROOT / folder).rglob("*.py"))]


def loose(tree: ast.AST) -> Iterator[int]:
    """Lines that call `approx` with a relative tolerance alone: as keyword, or as the second of two arguments."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {keyword.arg for keyword in node.keywords}
        relative = "rel" in given or len(node.args) == 2
        if name == "approx" and relative and "abs" not in given:
            yield node.lineno


def test_no_relative_tolerance_without_an_absolute_one() -> None:
    """`abs=0` compares small numbers as it does large ones; where the expected value is 0, say what is near it."""
    assert FILES
    found = [f"{path.relative_to(ROOT)}:{line}" for path in FILES for line in loose(ast.parse(path.read_bytes()))]
    assert found == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("pytest.approx(x, rel=1e-9)", [1]),
        ("\napprox(x, rel=1e-9)", [2]),
        ("pytest.approx(x, 1e-9)", [1]),
        ("pytest.approx(x, rel=1e-9, abs=0)", []),
        ("pytest.approx(x, 1e-9, 0.0)", []),
        ("pytest.approx(x, abs=1e-9)", []),
        ("pytest.approx(x)", []),
        ("near(x, rel=1e-9)", []),
    ],
)
def test_loose_comparisons_are_found(text: str, lines: list[int]) -> None:
    assert list(loose(ast.parse(text))) == lines
