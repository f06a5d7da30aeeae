"""The documentation's examples run, and its links lead somewhere."""

from __future__ import annotations

import doctest
import re
from dataclasses import fields
from pathlib import Path

import pytest

from pyresac.experiments.experiment import EXPERIMENTS, SCALES
from pyresac.tasks.variation import Variation

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "results").glob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
    ]
)


def in_project(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=in_project)
def test_examples_run(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=in_project)
def test_links_to_files_exist(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_the_tabular_guide_has_examples() -> None:
    """The test above must not pass because a page's examples were not found."""
    parser = doctest.DocTestParser()
    assert len(parser.get_examples((ROOT / "docs" / "tabular.md").read_text(encoding="utf-8"))) > 10


def test_the_pages_name_every_experiment_and_every_way_that_a_task_changes() -> None:
    pages = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("experiments.md", "training.md")}
    named = re.findall(r"^\| `([\w-]+)` \| .* \| .* \|$", pages["experiments.md"], re.MULTILINE)
    assert [name for name in named if name not in SCALES] == list(EXPERIMENTS)
    options = {f"--{option.name.replace('_', '-')}" for option in fields(Variation)}
    assert {option for option in options if f"`{option}`" not in pages["training.md"]} == set()
