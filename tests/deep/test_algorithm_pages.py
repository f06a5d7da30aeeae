"""The algorithms' pages: there is one for each, and what it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.options import kinds_of
from pyresac.training.presets import PRESETS

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs" / "algorithms"
COMMAND = {"algorithm", "env", "preset"}
"""Options of the command, not of an algorithm."""


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def defined(path: Path) -> set[str]:
    """Functions and classes of a module, and methods and attributes of its classes as `Class.name`."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
            named = (part.target for part in node.body if isinstance(part, ast.AnnAssign))
            found |= {f"{node.name}.{target.id}" for target in named if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_page_of_one_screen(name: str) -> None:
    """And the table of all leads to it."""
    assert len(page(name).splitlines()) <= 60
    assert f"[{name}]({name}.md)" in page("README")
    assert algorithm_type(name).title in page(name).splitlines()[0]


@pytest.mark.parametrize("name", [*ALGORITHMS, "README"])
def test_the_lines_that_a_page_names_are_there(name: str) -> None:
    """[`Class.method`](path) is a method of that class in that file."""
    named = re.findall(r"\[`([\w.]+)`\]\(([^)]+\.py)\)", page(name))
    assert len(named) >= 3 or name == "README"
    for what, path in named:
        assert what in defined(PAGES / path), f"{what} is not in {path}"
    assert all((PAGES / path).exists() for path in re.findall(r"\]\(([^)#:]+\.py)\)", page(name)))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_options_and_presets_that_a_page_names_are_there(name: str) -> None:
    options = {option.replace("_", "-") for option in kinds_of(algorithm_type(name).options_type)}
    for option in re.findall(r"--([a-z][a-z-]*)", page(name)):
        assert option in options | COMMAND, f"{name} reads no --{option}"
    assert set(re.findall(r"--preset ([a-z0-9-]+)", page(name))) <= PRESETS.keys()
