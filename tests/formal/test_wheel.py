"""The wheel holds the library without the tools of the repository."""

from __future__ import annotations

import tomllib
from pathlib import Path

from setuptools import find_packages

ROOT = Path(__file__).parents[2]


def test_the_wheel_leaves_the_formal_tools_out_and_needs_none_of_them() -> None:
    with (ROOT / "pyproject.toml").open("rb") as handle:
        options = tomllib.load(handle)["tool"]["setuptools"]
    packages = find_packages(str(ROOT), **options["packages"]["find"])
    assert "pyresac.tabular" in packages
    assert not [p for p in packages if p.startswith("pyresac.formal")]
    # one file of data would make the folder a package without modules
    data = [file for pattern in options["package-data"]["pyresac"] for file in (ROOT / "pyresac").glob(pattern)]
    assert [file.name for file in data if file.suffix == ".html"] == ["animation.html"]
    assert not [file for file in data if file.is_relative_to(ROOT / "pyresac/formal")]
    users = [
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "pyresac").rglob("*.py")
        if "pyresac.formal" in file.read_text(encoding="utf-8") and not file.is_relative_to(ROOT / "pyresac/formal")
    ]
    assert users == []
