"""Which tests reach a line of the package, by a coverage run that noted each test:

    pip install pytest-cov && pytest --cov=pyresac --cov-context=test --cov-report=

It writes the file .coverage. Compiled code and processes that tests start are not seen, so a line may be reached by
tests that are not named here.
"""

from __future__ import annotations

import argparse
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any

from property_tests.mutants import ROOT

MOST = 60
"""Tests that are named for a line: those that reach the least of the package."""


class Reached:
    """The contexts of a coverage database."""

    def __init__(self, database: Path) -> None:
        """Raises argparse.ArgumentTypeError if it is missing, or notes no tests."""
        try:
            from coverage import CoverageData
        except ImportError:
            raise argparse.ArgumentTypeError("coverage is not installed: pip install pytest-cov") from None
        if not database.is_file():
            raise argparse.ArgumentTypeError(f"{database} is no file; the module's docstring says how to make it")
        self._data: Any = CoverageData(str(database))
        self._data.read()
        if not self._data.measured_contexts() - {""}:
            raise argparse.ArgumentTypeError(f"{database} notes no tests: pytest needs --cov-context=test, too")
        self._files = {self._below(name): name for name in self._data.measured_files()}

    @staticmethod
    def _below(name: str) -> str:
        """A measured file as the repository names it, wherever the run was: pyresac/…"""
        parts = Path(name).parts
        last = max((place for place, part in enumerate(parts) if part == "pyresac"), default=0)
        return Path(*parts[last:]).as_posix()

    @cached_property
    def _breadth(self) -> Counter[str]:
        """Of each test, how many lines of the package it reaches."""
        found: Counter[str] = Counter()
        for name in self._files.values():
            for contexts in self._data.contexts_by_lineno(name).values():
                found.update({_test(context) for context in contexts if context})
        return found

    def tests(self, source: Path, first: int, last: int) -> list[str]:
        """Those that reach one of the lines `first` to `last` of pyresac/…, the narrowest first: file::function.

        A line that runs on import is reached by no test: there it is those that reach most of its file. The cases of a
        test go together, since a case's name may hold anything. A test that is no longer there is left out.
        """
        measured = self._files.get(source.as_posix())
        if measured is None:
            return []
        lines = self._data.contexts_by_lineno(measured)
        found = {_test(context) for line in range(first, last + 1) for context in lines.get(line, ()) if context}
        share: Counter[str] = Counter()
        if not found:
            for contexts in lines.values():
                share.update({_test(context) for context in contexts if context})
        present = (test for test in found or share if _is_there(test))
        return sorted(present, key=lambda test: (-share[test], self._breadth[test], test))[:MOST]


def _test(context: str) -> str:
    """tests/x.py::test_y[case]|run without its case and phase."""
    return context.split("|")[0].split("[")[0]


def _is_there(test: str) -> bool:
    path, _, rest = test.partition("::")
    name = rest.split("::")[-1]
    return bool(name) and (ROOT / path).is_file() and f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
