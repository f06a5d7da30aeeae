"""What the Lean sources declare: full names, kinds, docstrings and the claims that these cite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyresac.formal.screen import blanked
from pyresac.formal.sources import read_tree

CLAIM = re.compile(r"\bC\d\d\b")
COMMAND = re.compile(
    r"^(?:@\[[^\]]*\]\s*)*(?P<modifiers>(?:(?:private|protected|noncomputable|public|scoped|local)\s+)*)"
    r"(?P<kind>namespace|section|end|theorem|def|abbrev|structure|class|inductive|instance)\b"
    r"(?:[ \t]+(?P<name>[^\s:({\[⦃:=]+))?",
    re.MULTILINE,
)
DOCSTRING = re.compile(
    r"/--(?P<text>(?:(?!-/).)*)-/\s*(?:(?:omit|variable|set_option|open)\b(?:(?!/-).)*\bin\s+)?\Z", re.DOTALL
)


@dataclass(frozen=True)
class Declaration:
    """A declaration that other files can name. doc: its docstring on one line, or ""."""

    name: str
    kind: str
    doc: str
    file: Path
    line: int

    @property
    def claims(self) -> tuple[str, ...]:
        """The claim ids that the docstring cites, in order."""
        return tuple(dict.fromkeys(CLAIM.findall(self.doc)))


def declarations(root: Path) -> dict[str, Declaration]:
    """Every public declaration under a source folder, by full name."""
    return {d.name: d for module in read_tree(root).values() for d in declared(module.text, module.file)}


def declared(text: str, file: Path) -> Iterator[Declaration]:
    """The public declarations of one file."""
    code = blanked(text)
    scopes: list[tuple[str, str]] = []
    previous = 0
    for found in COMMAND.finditer(code):
        kind, name = found.group("kind"), found.group("name") or ""
        if kind in ("namespace", "section"):
            scopes.append((kind, name))
        elif kind == "end":
            _close(scopes, name)
        elif name and "private" not in found.group("modifiers"):
            prefix = [scope for kind_, scope in scopes if kind_ == "namespace"]
            doc = DOCSTRING.search(text, previous, found.start())
            said = " ".join(doc.group("text").split()) if doc else ""
            yield Declaration(".".join([*prefix, name]), kind, said, file, code.count("\n", 0, found.start()) + 1)
        previous = found.end()


def _close(scopes: list[tuple[str, str]], name: str) -> None:
    while scopes:
        _, opened = scopes.pop()
        if opened == name or opened.endswith("." + name):
            return
