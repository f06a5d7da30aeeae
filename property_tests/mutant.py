"""A fault of one line, and the tests that must find it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SUITES = {
    "tabular": "property_tests",
    "formal": "property_tests",
    "deep": "tests/deep",
    "tasks": "tests/tasks",
    "training": "tests/training",
    "experiments": "tests/experiments",
    "envs/bus": "tests/envs",
    ".": "tests",
}
"""Parts of the package, below pyresac/, and the folder of each one's tests; "." is pyresac/ itself."""


@dataclass(frozen=True)
class Mutant:
    """A fault: `old` becomes `new` in `file` (below pyresac/`part`); `tests` are tried before all of its part."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    part: str = "tabular"

    @property
    def source(self) -> Path:
        """Its file in the repository."""
        return Path("pyresac") / self.part / self.file

    @property
    def suite(self) -> str:
        """The folder of the tests of its part."""
        return SUITES[self.part]

    @property
    def attempts(self) -> tuple[tuple[str, ...], ...]:
        """What is run one after the other until a test finds the fault: `tests`, then all of the part's."""
        return (self.paths,) if self.part == "." else (self.paths, (self.suite,))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of `tests`."""
        return tuple(name if "/" in name else f"{self.suite}/{name}.py" for name in self.tests)
