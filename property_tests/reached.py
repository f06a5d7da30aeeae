"""Which tests reach a line of the package, by a coverage run that noted each test:

    pip install pytest-cov && pytest --cov=pyresac --cov-context=test --cov-report=

It writes the file .coverage. Compiled code is not seen: there those tests count that reach the lines which call it.
What runs in processes that tests start is not seen either, so a line may be reached by tests that are not named here.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
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
        self._read: dict[str, dict[int, set[str]]] = {}
        self._unseen_in: dict[str, list[tuple[str, range]]] = {}

    @staticmethod
    def _below(name: str) -> str:
        """A measured file as the repository names it, wherever the run was: pyresac/…"""
        parts = Path(name).parts
        last = max((place for place, part in enumerate(parts) if part == "pyresac"), default=0)
        return Path(*parts[last:]).as_posix()

    def _tests_by_line(self, path: str) -> dict[int, set[str]]:
        """Of each line of pyresac/… that a test reaches, the tests; read once."""
        if path not in self._read:
            lines = self._data.contexts_by_lineno(self._files[path])
            self._read[path] = {
                line: found for line, contexts in lines.items() if (found := {_test(one) for one in contexts if one})
            }
        return self._read[path]

    @cached_property
    def _breadth(self) -> Counter[str]:
        """Of each test, how many lines of the package it reaches."""
        found: Counter[str] = Counter()
        for path in self._files:
            for tests in self._tests_by_line(path).values():
                found.update(tests)
        return found

    def tests(self, source: Path, first: int, last: int) -> list[str]:
        """Those that reach one of the lines `first` to `last` of pyresac/…, the narrowest first: file::function.

        Of a function of which no line is seen it is those that reach its callers; of a line that runs on import those
        that reach most of its file. The cases of a test go together, since a case's name may hold anything. A test that
        is no longer there is left out.
        """
        if source.as_posix() not in self._files:
            return []
        lines = self._tests_by_line(source.as_posix())
        found = {test for line in range(first, last + 1) for test in lines.get(line, ())}
        share: Counter[str] = Counter()
        if not found:
            found = self._callers(source, first)
        if not found:
            for tests in lines.values():
                share.update(tests)
        present = (test for test in found or share if _is_there(test))
        return sorted(present, key=lambda test: (-share[test], self._breadth[test], test))[:MOST]

    def _callers(self, source: Path, line: int) -> set[str]:
        """Tests that reach a line which names the unseen function around `line`, or an unseen one that names that.

        Only in the same folder of the package: a name may be that of something else elsewhere.
        """
        names = {name for name, body in self._unseen(source.as_posix()) if line in body}
        before: set[str] = set()
        found: set[str] = set()
        while names > before:
            word = re.compile(r"\b(" + "|".join(map(re.escape, sorted(names))) + r")\b")
            before = set(names)
            for path in (path for path in self._files if Path(path).parts[:2] == source.parts[:2]):
                unseen, lines = self._unseen(path), self._tests_by_line(path)
                for number, text in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), start=1):
                    if word.search(text) and not text.lstrip().startswith(("from ", "import ", "def ")):
                        names |= {name for name, body in unseen if number in body}
                        found |= lines.get(number, set())
        return found

    def _unseen(self, path: str) -> list[tuple[str, range]]:
        """Functions of which no line is reached within a test, and the lines of their bodies."""
        if path not in self._unseen_in:
            seen = self._tests_by_line(path).keys()
            self._unseen_in[path] = [(name, body) for name, body in _functions(path) if seen.isdisjoint(body)]
        return self._unseen_in[path]


def _functions(path: str) -> Iterator[tuple[str, range]]:
    if (ROOT / path).is_file():
        for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
            if isinstance(node, ast.FunctionDef):
                yield node.name, range(node.body[0].lineno, (node.end_lineno or 0) + 1)


def _test(context: str) -> str:
    """tests/x.py::test_y[case]|run without its case and phase."""
    return context.split("|")[0].split("[")[0]


def _is_there(test: str) -> bool:
    path, _, rest = test.partition("::")
    name = rest.split("::")[-1]
    return bool(name) and (ROOT / path).is_file() and f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
