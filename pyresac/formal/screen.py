"""Words that have no place in a proof library, looked for outside comments and strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FORBIDDEN = frozenset(
    {
        # holes
        "sorry", "sorryAx", "admit", "lcProof",
        # new axioms, and trust in compiled code
        "axiom", "native_decide", "reduceBool", "ofReduceBool", "reduceNat", "ofReduceNat", "trustCompiler",
        "unsafe", "unsafeCast", "implemented_by", "extern", "csimp",
        # code that runs while a file is checked, and could add declarations behind the kernel's back
        "run_cmd", "run_elab", "run_meta", "run_tac", "by_elab", "#eval", "#eval!", "initialize", "builtin_initialize",
        "elab", "elab_rules", "command_elab", "term_elab", "simproc", "dsimproc",
        "addDecl", "addDeclCore", "addDeclWithoutChecking", "skipKernelTC",
        # options that hide a warning
        "linter", "warn", "warningAsError",
    }
)  # fmt: skip

TOKEN = re.compile(
    r"""(?P<line>--[^\n]*)
      | (?P<open>/-)
      | (?P<raw>(?<![\w'])r(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes))
      | (?P<string>"(?:\\.|\\\n|[^"\\])*")
      | (?P<char>(?<![\w'])'(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^'\\\n])')
    """,
    re.VERBOSE,
)
BLOCK = re.compile(r"/-|-/")
WORD = re.compile(r"#?[^\W\d][\w'!?]*")


@dataclass(frozen=True)
class Word:
    """A forbidden word and its place (line from 1, column from 0, as Lean counts)."""

    line: int
    column: int
    word: str


def blanked(text: str) -> str:
    """`text` with comments, strings and character literals turned into blanks; line ends stay, so places do."""
    pieces, at = [], 0
    while found := TOKEN.search(text, at):
        end = _block_end(text, found.end()) if found.group("open") else found.end()
        pieces += [text[at : found.start()], re.sub(r"[^\n]", " ", text[found.start() : end])]
        at = end
    return "".join([*pieces, text[at:]])


def _block_end(text: str, at: int) -> int:
    """Where the block comment whose opening ends at `at` ends; block comments nest."""
    depth = 1
    while depth and (found := BLOCK.search(text, at)):
        depth += 1 if found.group() == "/-" else -1
        at = found.end()
    return len(text) if depth else at


def forbidden_words(text: str) -> Iterator[Word]:
    """Every forbidden word of a Lean source, as a whole component of an identifier."""
    for number, line in enumerate(blanked(text).split("\n"), start=1):
        for found in WORD.finditer(line):
            for word in {found.group(), found.group().removeprefix("#")} & FORBIDDEN:
                yield Word(number, found.start(), word)
