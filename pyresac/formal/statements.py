"""Every definition and every cited statement of the library, without the proofs: `python -m pyresac.formal.statements`.

Writes `docs/statements.md` from the Lean sources. What a person must read to judge the library are its definitions and
the statements of the theorems that the ledger cites; this page holds these and nothing else, in reading order, word for
word. A test keeps it true.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tyro

from pyresac.command import safe_streams
from pyresac.formal.declarations import Declaration, declared
from pyresac.formal.ledger import load
from pyresac.formal.sources import Module, read_tree

PAGE = "docs/statements.md"
TOP = "RESAC"
DEFINITIONS = ("def", "abbrev", "structure", "class", "inductive")
GENERATED = ("RESAC.Vectors", "RESAC.Certificates")
"""Modules written by a program: data, no statements to read."""
OPEN, CLOSE = "([{⟨", ")]}⟩"
TITLE = re.compile(r"/-!\s*# (?P<title>[^\n]+)")
HEAD = """\
# What is proved, without the proofs

All definitions of `lean/RESAC` and the statement of every theorem that the [ledger](claims.md) cites, in the order of
`lean/RESAC.lean`, taken from the sources word for word by `python -m pyresac.formal.statements`. Lean's kernel has
checked the proofs; whether the definitions and statements say what they should is for a reader to judge, and this page
is all that there is to read. [How to read one](lean-for-rl.md).

Throughout, `K` is any linearly ordered field: `[Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K]
[OrderedRing K]`, with `[DecidableLE K]` where something is computed. What a file declares as `variable` is repeated
where it begins.
"""


@dataclass(frozen=True)
class StatementsOptions:
    """Where the repository is."""

    repository: Path = Path()
    """Folder with lean/ and docs/."""


def statement(text: str, line: int, kind: str) -> str:
    """The declaration that begins on a line (from 1): all of a definition, a theorem up to its proof."""
    start = sum(len(row) + 1 for row in text.split("\n")[: line - 1])
    block = re.split(r"\n\n(?=\S)", text[start:], maxsplit=1)[0].rstrip()
    return block if kind in DEFINITIONS else block[: _proof(block)].rstrip()


def _proof(block: str) -> int:
    """Where the proof of a theorem begins: at `:=`, `where` or a first alternative, outside brackets and `let`s."""
    depth, lets = 0, 0
    for found in re.finditer(r"[()\[\]{}⟨⟩]|\blet\b|:=|\bwhere\b|\n  \| ", block):
        token = found.group()
        if token in OPEN:
            depth += 1
        elif token in CLOSE:
            depth -= 1
        elif depth > 0:
            continue
        elif token == "let":
            lets += 1
        elif token == ":=" and lets:
            lets -= 1
        else:
            return found.start()
    return len(block)


def page(root: Path) -> str:
    """The page, from a folder of Lean sources."""
    modules = read_tree(root)
    cited = frozenset(t for c in load() for t in c.theorems)
    parts = [HEAD]
    for name in modules[TOP].imports:
        if name in modules and not name.startswith(GENERATED):
            parts += _file(modules[name], cited)
    return "\n".join(parts)


def _file(module: Module, cited: frozenset[str]) -> Iterator[str]:
    found = declared(module.text, module.file)
    shown = [d for d in found if d.kind in DEFINITIONS or (d.kind == "theorem" and d.name in cited)]
    if not shown:
        return
    title = TITLE.search(module.text)
    path = module.name.replace(".", "/")
    yield f"## {title.group('title') if title else module.name}\n\n[`{path}.lean`](../lean/{path}.lean)\n"
    variables = re.findall(r"^variable [^\n]+(?:\n  +[^\n]+)*", module.text, re.MULTILINE)
    if variables:
        yield "```lean\n" + "\n".join(dict.fromkeys(variables)) + "\n```\n"
    for d in shown:
        yield _entry(module.text, d)


def _entry(text: str, d: Declaration) -> str:
    name = d.name.removeprefix(f"{TOP}.")
    return f"`{name}`. {d.doc}\n\n```lean\n{statement(text, d.line, d.kind)}\n```\n"


@safe_streams()
def main(arguments: list[str] | None = None) -> int:
    """Write the page."""
    repository = tyro.cli(
        StatementsOptions, args=arguments, prog="python -m pyresac.formal.statements", description=__doc__
    ).repository
    (repository / PAGE).write_text(page(repository / "lean"), encoding="utf-8")
    print(repository / PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
