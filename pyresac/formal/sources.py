"""Lean source trees: the modules, what each imports, and the order in which to check them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyresac.errors import InputError
from pyresac.formal.errors import FormalError
from pyresac.formal.screen import blanked
from pyresac.reading import read_text

CORE = ("Init", "Std", "Lean")
"""The first components of the modules that come with Lean."""

OPENING = re.compile(r"\s*(?:module\b\s*)?(?:prelude\b\s*)?")
IMPORT = re.compile(r"(?:public\s+)?(?:meta\s+)?import\s+(?P<all>all\s+)?(?P<name>[\w.«»]+)\s*")


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, its text, and the modules that its header imports, in order."""

    name: str
    file: Path
    text: str
    imports: tuple[str, ...]
    imports_private: bool
    """Whether a line says `import all`: then it sees the private part of what it imports."""
    stand_in: bool = False
    """Whether it declares, as axioms, the signatures of a library that is absent."""
    options: tuple[str, ...] = ()
    """Options of Lean beyond the library's own."""

    @property
    def root(self) -> Path:
        """The source folder that its name is relative to."""
        return self.file.parents[self.name.count(".")]


def read_module(name: str, file: Path) -> Module:
    """Read a file; `import`s are looked for in its header only, outside comments."""
    text = source_text(file)
    found = list(_header_imports(blanked(text)))
    names = tuple(dict.fromkeys(m.group("name") for m in found))
    return Module(name, file, text, names, any(m.group("all") for m in found))


def source_text(file: Path) -> str:
    """A source's text with plain line ends. Raises FormalError if it cannot be read or is not UTF-8."""
    try:
        return read_text(file).replace("\r\n", "\n")
    except InputError as error:
        raise FormalError(str(error)) from error


def _header_imports(code: str) -> Iterator[re.Match[str]]:
    opening = OPENING.match(code)
    at = opening.end() if opening else 0
    while found := IMPORT.match(code, at):
        yield found
        at = found.end()


def read_tree(root: Path) -> dict[str, Module]:
    """Every .lean file under `root` by module name, ascending. Folders that hold a Lake package of their own
    (a `lakefile.lean` or `lakefile.toml` below `root`) are left out, and so are hidden ones."""
    if not root.is_dir():
        raise FormalError(f"{root} is not a folder of Lean sources")
    modules = {}
    for file in sorted(root.rglob("*.lean")):
        relative = file.relative_to(root)
        folders = [root / p for p in relative.parents if p != Path(".")]
        if any((f / x).exists() for f in folders for x in ("lakefile.lean", "lakefile.toml")):
            continue
        if any(part.startswith(".") for part in relative.parts):
            continue
        name = ".".join(relative.with_suffix("").parts)
        modules[name] = read_module(name, file)
    return modules


def check_imports(modules: Mapping[str, Module]) -> None:
    """FormalError where a module imports something that is neither in the tree nor part of Lean, or where
    imports form a cycle (which is named)."""
    for module in modules.values():
        for name in module.imports:
            if name not in modules and name.split(".")[0] not in CORE:
                raise FormalError(
                    f"{module.file} imports {name}, which is neither under the source folder nor part of Lean "
                    f"({', '.join(CORE)})"
                )
    order(modules)


def order(modules: Mapping[str, Module]) -> list[str]:
    """All names, imported before importing, alphabetically where free. Raises FormalError on a cycle."""
    left = {name: {i for i in m.imports if i in modules} for name, m in modules.items()}
    result: list[str] = []
    while left:
        ready = sorted(name for name, needs in left.items() if not needs)
        if not ready:
            raise FormalError("imports form a cycle: " + " → ".join(_cycle(left)))
        result += ready
        left = {name: needs - set(ready) for name, needs in left.items() if name not in ready}
    return result


def _cycle(left: Mapping[str, set[str]]) -> list[str]:
    path = [min(left)]
    while True:
        following = min(left[path[-1]])
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)


def closure(modules: Mapping[str, Module], name: str) -> list[str]:
    """The modules of the tree that `name` imports, directly or not, ascending."""
    seen: set[str] = set()
    todo = list(modules[name].imports)
    while todo:
        current = todo.pop()
        if current in modules and current not in seen:
            seen.add(current)
            todo += modules[current].imports
    return sorted(seen)


def unreached(modules: Mapping[str, Module], top: str) -> list[str]:
    """Modules that `top` does not import, directly or not: `lake build` would not check them."""
    if top not in modules:
        raise FormalError(f"there is no {top}.lean; it must import every module")
    return sorted(set(modules) - set(closure(modules, top)) - {top})
