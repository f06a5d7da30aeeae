"""The shape of the package: which room may import which, and no name for two things."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
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


def bound(scope: ast.AST) -> set[str]:
    """Names that a scope binds itself, not in the scopes inside it; imports for type checking alone count."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        else:
            found |= bound(node)
    return found


def types_of(node: ast.AST) -> list[ast.expr]:
    """The types that a definition, a parameter or a variable is given."""
    if isinstance(node, ast.FunctionDef):
        return [] if node.returns is None else [node.returns]
    if isinstance(node, ast.arg):
        return [] if node.annotation is None else [node.annotation]
    return [node.annotation] if isinstance(node, ast.AnnAssign) else []


def unknown_types(scope: ast.AST, known: set[str]) -> Iterator[str]:
    """Names in annotations that neither `known` nor a scope around them has."""
    for node in ast.iter_child_nodes(scope):
        for annotation in types_of(node):
            names = (part for part in ast.walk(annotation) if isinstance(part, ast.Name))
            yield from (f"{part.id} in line {part.lineno}" for part in names if part.id not in known)
        inside = known | bound(node) if isinstance(node, ast.ClassDef | ast.FunctionDef) else known
        yield from unknown_types(node, inside)


GIVEN = {"folder", "model", "out", "output", "path", "root"}
"""Names of what a user wrote, or of what was made of it."""


def cut(tree: ast.AST) -> Iterator[str]:
    """Lines that are printed with words that a user gave, of which the console would break a long one in two, or take
    what stands in brackets for a style."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "print":
            switches = {key.arg: ast.unparse(key.value) for key in node.keywords}
            words = "".join(ast.unparse(part) for part in node.args)
            escaped = [
                id(part)
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "escape"
                for part in ast.walk(call)
            ]
            bare = {
                name
                for part in ast.walk(node)
                if isinstance(part, ast.FormattedValue)
                for inner in ast.walk(part)
                if id(inner) not in escaped
                for name in (getattr(inner, "id", None), getattr(inner, "attr", None))
            }
            as_it_is = switches.get("markup") == "False"
            if ("escape(" in words or bare & GIVEN or as_it_is) and switches.get("soft_wrap") != "True":
                yield f"wrapped in line {node.lineno}"
            if bare & GIVEN and not as_it_is:
                yield f"not escaped in line {node.lineno}"


def test_what_a_user_gave_is_printed_as_it_is() -> None:
    """A path or a command is copied from the screen: it is one line, however long, and keeps its brackets."""
    found = {name: list(cut(tree)) for name, tree in TREES.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("console.print(f'wrote {escape(str(path))}', soft_wrap=True)", []),
        ("console.print(f'{given.out}', soft_wrap=True, markup=False)", []),
        ("console.print(f'{len(rows)} rows')", []),
        ("console.print(escape(f'in {given.out}'), soft_wrap=True)", []),
        ("console.print(escape(text))", ["wrapped in line 1"]),
        ("console.print(escape(text), soft_wrap=False)", ["wrapped in line 1"]),
        ("console.print(f'wrote {path}', soft_wrap=True)", ["not escaped in line 1"]),
        ("console.print(f'{given.out}', markup=False)", ["wrapped in line 1"]),
    ],
)
def test_lines_that_are_cut_are_found(text: str, expected: list[str]) -> None:
    assert list(cut(ast.parse(text))) == expected


def test_every_type_that_is_named_is_there() -> None:
    """No annotation is evaluated where it stands, so a name that nothing binds would be seen by mypy alone, and by who
    asks for the types of a signature."""
    of_python = set(dir(builtins))
    found = {name: list(unknown_types(tree, of_python | bound(tree))) for name, tree in TREES.items()}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "from numpy import array as Numbers\ndef f(x: Numbers, *, y: list[Text] = ()) -> None: ...",
            ["Text in line 2"],
        ),
        ("if TYPE_CHECKING:\n    from numpy import Numbers\nx: Numbers | Other", ["Other in line 3"]),
        ("Numbers = int\nclass C:\n    Own = int\n    def f(self) -> Own:\n        y: Numbers = 1", []),
        ("class C:\n    Own = int\ndef f() -> Own: ...", ["Own in line 3"]),
        ("def f() -> Inner:\n    Inner = int", ["Inner in line 1"]),
    ],
)
def test_types_that_are_not_there_are_found(text: str, expected: list[str]) -> None:
    tree = ast.parse(text)
    assert list(unknown_types(tree, set(dir(builtins)) | bound(tree))) == expected
