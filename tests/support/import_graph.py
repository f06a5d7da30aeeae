"""The package's modules and what each imports, read from their sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "pyresac"
"""The package's folder."""


def modules(root: Path = ROOT) -> dict[str, ast.Module]:
    """Trees of all modules by their dotted names; a package has its folder's."""
    names = {}
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
        names[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return names


def imports(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """The modules that each one imports anywhere, inside functions too, but not for type checking alone.

    The packages that a module lies in are imported before it and do not count.
    """
    graph = {}
    for name, tree in trees.items():
        found = {_module(target, trees) for target in _targets(tree)}
        graph[name] = {other for other in found if other and not f"{name}.".startswith(f"{other}.")}
    return graph


def _targets(tree: ast.AST) -> Iterator[str]:
    """Dotted names of what the tree's import statements ask for."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"line {node.lineno}: the package imports by full names"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from (target for part in node.orelse for target in _targets(ast.Module([part], [])))
        else:
            yield from _targets(node)


def _module(target: str, trees: Mapping[str, ast.Module]) -> str:
    """The module that a dotted name leads to, "" for one of another package."""
    while target and target not in trees:
        target = target.rpartition(".")[0]
    return target


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Sets of modules that import each other, directly or by others (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            place = stack.index(name)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return found
