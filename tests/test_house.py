"""The shape of the package: which room may import which, and no name for two things."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest
from import_graph import cycles, imports, modules

FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "atomic", "caches", "command", "jit", "memory", "mujoco_warnings", "options", "reading"),
    ("tabular", "envs"),
    ("tasks",),
    ("deep",),
    ("training",),
    ("figures",),
    ("experiments",),
    ("corridor", "evaluate", "solve", "train"),
    ("formal",),
)
"""Rooms of pyresac/ from the ground up. A room imports from lower floors alone; `formal` may read all."""

TREES = modules()
GRAPH = imports(TREES)


def room(module: str) -> str:
    """The part of the package that a module belongs to; "" for the package itself."""
    return module.partition(".")[2].partition(".")[0]


def test_every_room_has_a_floor() -> None:
    """A new folder or command of the package is to be placed in `FLOORS`."""
    assert {room(name) for name in TREES} - {""} == {name for floor in FLOORS for name in floor}


def test_no_module_imports_itself_by_others() -> None:
    assert cycles(GRAPH) == []


def test_lower_floors_never_import_upper_ones() -> None:
    floor_of = {name: number for number, floor in enumerate(FLOORS) for name in floor}
    upwards = [
        f"{name} imports {other}"
        for name, others in GRAPH.items()
        for other in sorted(others)
        if room(other)
        and room(name) != room(other)
        and floor_of[room(other)] >= floor_of[room(name)]
        # what the ground floor has of its own
        and not (floor_of[room(other)] == floor_of[room(name)] == 0)
    ]
    assert upwards == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a": "import p.b", "b": "import p.a"}, [["p.a", "p.b"]]),
        ({"a": "from p import b", "b": "def f():\n    from p.a import x"}, [["p.a", "p.b"]]),
        ({"a": "from p.b import x", "b": "from p.c import x", "c": "from p.a import x"}, [["p.a", "p.b", "p.c"]]),
        ({"a": "import p.b", "b": "if TYPE_CHECKING:\n    import p.a"}, []),
        ({"a": "import p.b", "b": "if TYPE_CHECKING:\n    pass\nelse:\n    import p.a"}, [["p.a", "p.b"]]),
        ({"a": "import p.b, p.c", "b": "import p.c", "c": "import numpy"}, []),
    ],
)
def test_cycles_are_found(sources: dict[str, str], expected: list[list[str]], tmp_path: Path) -> None:
    """An import inside a function counts, one for type checking alone does not."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").touch()
    for name, text in sources.items():
        (tmp_path / "p" / f"{name}.py").write_text(text)
    assert cycles(imports(modules(tmp_path / "p"))) == expected


SHARED_FILES = {
    "live": "the exact twin has the names of the module that it is the twin of",
    "mdp": "the exact twin",
    "s_rectangular": "the exact twin",
    "operator": "the exact twin",
    "sets": "tabular.exact.sets has uncertainty sets over the rationals, figures.sets draws uncertainty sets",
    "errors": "the errors of the package, and of the repository's tools for proofs, which are in no wheel",
    "corridor": "a module of experiments has the name of its experiment",
    "noise": "a module of experiments has the name of its experiment",
}
"""Names of files that stand twice, and why that misleads nobody."""
SHARED_CLASSES: dict[str, str] = {}
"""Names of public classes that stand twice, and why."""


def twice(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names with the modules that have them, of those that more than one has."""
    where: dict[str, list[str]] = {}
    for name, module in names:
        where.setdefault(name, []).append(module)
    return {name: found for name, found in where.items() if len(found) > 1}


def test_no_two_files_of_one_name() -> None:
    packages = {other.rpartition(".")[0] for other in TREES}
    stems = [(name.rpartition(".")[2], name) for name in TREES if name not in packages]
    found = twice((stem, name) for stem, name in stems if stem != "__main__")
    assert found.keys() == SHARED_FILES.keys(), found


def test_no_two_classes_of_one_name() -> None:
    classes = [
        (node.name, module)
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    found = twice(classes)
    assert found.keys() == SHARED_CLASSES.keys(), found
