"""Faults drawn at random: do the tests notice what nobody thought of?

    python -m property_tests.random_mutants [--count 40] [--seed 0] [--part envs/bus] [--jobs 2] [--list]

A line of the package is drawn uniformly among those that can be broken, then one of its faults: an operator or a
comparison changed, a constant moved by one or turned round, a condition negated, a statement left out. The tests that
concern the file judge it (`CONCERNED`), and nothing but a copy of the repository is touched. Each verdict is a line of
the output; survivors come with their text, since some are no faults at all: the code means the same. The command is not
run in CI.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from property_tests.mutants import ROOT, copy_repository, run_tests

CONCERNED = {
    "tabular": ("property_tests", "tests/tabular"),
    "deep": ("tests/deep", "property_tests/test_family.py"),
    "tasks": ("tests/tasks",),
    "envs/bus": ("tests/envs", "property_tests/test_corridor_invariants.py"),
    "corridor": ("tests/envs",),
    "training": ("tests/training",),
    "experiments": ("tests/experiments",),
    "figures": ("tests/figures",),
    "formal": ("tests/formal",),
    "": ("tests",),
}
"""Folders below pyresac/, and the tests that concern them; "" is pyresac/ itself."""
OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
LEFT_OUT = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise, ast.Break, ast.Continue)
"""Statements that may be left out."""


@dataclass(frozen=True)
class Fault:
    """Bytes `begin` to `end` of a file become `new`."""

    source: Path
    line: int
    begin: int
    end: int
    new: bytes
    what: str

    def applied(self, text: bytes) -> bytes:
        """The broken file."""
        return text[: self.begin] + self.new + text[self.end :]


class Faults(ast.NodeVisitor):
    """All faults of a file. Annotations, docstrings and words in messages are left alone."""

    def __init__(self, source: Path, text: bytes) -> None:
        self.source, self.text, self.found = source, text, list[Fault]()
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self.visit(ast.parse(text))

    def _at(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def _add(self, node: ast.expr | ast.stmt, begin: int, end: int, new: str, what: str) -> None:
        self.found.append(Fault(self.source, node.lineno, begin, end, new.encode(), what))

    def _whole(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def _between(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> None:
        """Change the operator that stands between two operands."""
        old, new = OPERATORS.get(type(operator), ("", ""))
        begin, end = self._whole(left)[1], self._whole(right)[0]
        place = self.text.find(old.encode(), begin, end) if old else -1
        if place >= 0:
            self._add(left, place, place + len(old), new, f"{old} becomes {new}")

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.arg | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.visit(node.value)
            return
        if isinstance(node, ast.FunctionDef):
            for part in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None), *node.body):
                self.visit(part)
            return
        self._break(node)
        self.generic_visit(node)

    def _break(self, node: ast.AST) -> None:
        if isinstance(node, ast.BinOp):
            self._between(node.left, node.op, node.right)
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands[:-1], node.ops, operands[1:], strict=True):
                self._between(left, operator, right)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values[:-1], node.values[1:], strict=True):
                self._between(left, node.op, right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            begin, word = self._whole(node)[0], "not" if isinstance(node.op, ast.Not) else "-"
            # up to the operand, whose parentheses stay
            end = begin + len(word)
            while self.text[end : end + 1].isspace():
                end += 1
            self._add(node, begin, end, "", f"{word} is left out")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            new = repr(not node.value) if isinstance(node.value, bool) else repr(node.value + 1)
            self._add(node, *self._whole(node), new, f"{node.value!r} becomes {new}")
        elif isinstance(node, LEFT_OUT) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.Yield)
        ):
            self._add(node, *self._whole(node), "pass", "statement left out")


def drawn(count: int, seed: int, part: str | None = None) -> list[Fault]:
    """`count` faults, lines drawn uniformly over the package (or one part of it), no line twice."""
    lines: dict[tuple[Path, int], list[Fault]] = {}
    below = ROOT / "pyresac" / (part or "")
    for path in sorted(below.rglob("*.py")):
        source = path.relative_to(ROOT)
        for fault in Faults(source, path.read_bytes()).found:
            lines.setdefault((source, fault.line), []).append(fault)
    generator = random.Random(seed)
    chosen = generator.sample(sorted(lines), min(count, len(lines)))
    return [generator.choice(lines[place]) for place in chosen]


def concerned(source: Path) -> tuple[str, ...]:
    """The tests of a file."""
    inside = source.relative_to("pyresac").as_posix()
    parts = [part for part in CONCERNED if part and inside.startswith(f"{part}/")]
    return CONCERNED[max(parts, key=len) if parts else ""]


def judged(base: Path, fault: Fault) -> str:
    """killed, survived, or no verdict; a file that no longer compiles is killed."""
    with tempfile.TemporaryDirectory(prefix="random-mutant-") as folder:
        copy = Path(folder)
        copy_repository(copy, base)
        target = copy / fault.source
        target.write_bytes(fault.applied(target.read_bytes()))
        for tests in concerned(fault.source):
            status = run_tests(copy, (tests,)).status
            if status is None:
                return "no verdict"
            if status != 0:
                return "killed"
    return "survived"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m property_tests.random_mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=sorted(part for part in CONCERNED if part), help="of one folder alone")
    parser.add_argument("--jobs", type=int, default=2, help="judged at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="print the faults and stop")
    given = parser.parse_args()
    if given.count < 1 or given.jobs < 1:
        parser.error("--count and --jobs must be at least 1")
    faults = drawn(given.count, given.seed, given.part)
    if given.list:
        print("\n".join(f"{fault.source}:{fault.line}: {fault.what}" for fault in faults))
        return 0
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="random-mutants-base-") as folder:
        base = Path(folder)
        copy_repository(base)
        with ThreadPoolExecutor(given.jobs) as pool:
            pending = {pool.submit(judged, base, fault): fault for fault in faults}
            for done in as_completed(pending):
                fault, verdict = pending[done], done.result()
                verdicts.append(verdict)
                print(f"{verdict:10}  {fault.source}:{fault.line}: {fault.what}", flush=True)
                if verdict == "survived":
                    print(f"            {(ROOT / fault.source).read_text().splitlines()[fault.line - 1].strip()}")
    killed = verdicts.count("killed")
    print(f"{killed} of {len(verdicts)} killed, {verdicts.count('survived')} survived, seed {given.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
