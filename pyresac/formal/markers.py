"""Which test states which claim: read from the `@claim("C11", lean=…)` decorators, without importing the tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyresac.formal.errors import FormalError


@dataclass(frozen=True)
class Marker:
    """One decorator: the claim, the test (path::function) and the Lean names that it gives."""

    claim: str
    test: str
    lean: tuple[str, ...]


def names_of_tests(repository: Path, folders: tuple[str, ...]) -> set[str]:
    """Every test function below the folders, as path::name."""
    return {f"{path}::{f.name}" for path, tree in _modules(repository, folders) for f in _tests(tree)}


def markers(repository: Path, folders: tuple[str, ...]) -> list[Marker]:
    """Every use of `claim` in a test's decorators, by file and line; a decorator may name a list of the module in
    which `pytest.param(…, marks=claim(…))` stand. FormalError where an argument is not a literal."""
    found = []
    for path, tree in _modules(repository, folders):
        lists = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for function in _tests(tree):
            found += [_marker(call, f"{path}::{function.name}") for call in _claims(function, lists)]
    return found


def _modules(repository: Path, folders: tuple[str, ...]) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for file in sorted((repository / folder).rglob("test_*.py")):
            yield file.relative_to(repository).as_posix(), ast.parse(file.read_text(encoding="utf-8"), str(file))


def _tests(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def _claims(function: ast.FunctionDef, lists: Mapping[str, ast.expr]) -> Iterator[ast.Call]:
    for decorator in function.decorator_list:
        named = [lists[n.id] for n in ast.walk(decorator) if isinstance(n, ast.Name) and n.id in lists]
        for place in (decorator, *named):
            for node in ast.walk(place):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "claim":
                    yield node


def _marker(call: ast.Call, test: str) -> Marker:
    try:
        claim = ast.literal_eval(call.args[0])
        given = {k.arg: ast.literal_eval(k.value) for k in call.keywords}.get("lean", ())
    except (ValueError, IndexError) as error:
        raise FormalError(f"{test}: the arguments of claim(…) at line {call.lineno} are not literals") from error
    return Marker(claim, test, (given,) if isinstance(given, str) else tuple(given))
