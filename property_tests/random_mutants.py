"""Faults drawn at random: do the tests notice what nobody thought of?

    python -m property_tests.random_mutants [--count 40] [--seed 0] [--part envs/bus] [--without formal] [--near 8]
        [--reached .coverage] [--jobs 1] [--list]

A line of the package is drawn uniformly among those that can be broken, then one of its faults: an operator or a
comparison changed, a constant moved by one or turned round, a condition negated, a statement left out. Nothing but a
copy of the repository is touched. The tests that concern the file (`CONCERNED`) judge it, those first that name what
is broken: the function, then the module, then its other names. A test that is red without the fault, too, kills
nothing; one that hangs with it, and is quick without it, kills. With `--near N` only the first N files of tests
judge; a fault that they miss may still die of the others, so the share that dies is a lower bound. With `--reached`
the tests that a coverage run saw on the broken line judge before the files do, which is faster and misses less
(`property_tests/reached.py`). Each verdict is a line of the output; survivors come with their text, since some are no
faults at all: the code means the same. The command is not run in CI.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from property_tests.forked import run_forked
from property_tests.mutants import ROOT, TIME_LIMIT
from property_tests.reached import Reached

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
OF_ALL = ("tests/test_settings.py", "tests/test_house.py")
"""Tests that concern every file: numbers that nobody would notice, names of types that are not there."""
OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
PATIENCE = 120.0
"""Seconds after which a broken run is ended if the whole one takes less than a quarter of them: it hangs."""
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
    text: str
    """The line as it is."""
    last: int = 0
    """The line on which the broken part ends."""
    of_a_number: bool = False
    """Whether a constant becomes another."""

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

    def _add(
        self, node: ast.expr | ast.stmt, begin: int, end: int, new: str, what: str, of_a_number: bool = False
    ) -> None:
        text = self.text.splitlines()[node.lineno - 1].decode().strip()
        last = node.end_lineno or node.lineno
        self.found.append(Fault(self.source, node.lineno, begin, end, new.encode(), what, text, last, of_a_number))

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
            self._add(node, *self._whole(node), new, f"{node.value!r} becomes {new}", of_a_number=True)
        elif isinstance(node, LEFT_OUT) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.Yield)
        ):
            self._add(node, *self._whole(node), "pass", "statement left out")


def is_python(text: bytes) -> bool:
    """Whether a file compiles."""
    try:
        compile(text, "a broken file", "exec")
    except SyntaxError:
        return False
    return True


def drawn(count: int, seed: int, part: str | None = None, without: tuple[str, ...] = ()) -> list[Fault]:
    """`count` faults, lines drawn uniformly over the package (or one part of it, or all but some), no line twice."""
    lines: dict[tuple[Path, int], list[Fault]] = {}
    below = ROOT / "pyresac" / (part or "")
    for path in sorted(below.rglob("*.py")):
        source = path.relative_to(ROOT)
        if any(source.is_relative_to(Path("pyresac", other)) for other in without):
            continue
        text = path.read_bytes()
        for fault in Faults(source, text).found:
            # without the assignment that it binds, `nonlocal` is no Python
            if b"nonlocal" not in text or is_python(fault.applied(text)):
                lines.setdefault((source, fault.line), []).append(fault)
    generator = random.Random(seed)
    chosen = generator.sample(sorted(lines), min(count, len(lines)))
    return [generator.choice(lines[place]) for place in chosen]


def concerned(source: Path) -> tuple[str, ...]:
    """The tests of a file."""
    inside = source.relative_to("pyresac").as_posix()
    parts = [part for part in CONCERNED if part and inside.startswith(f"{part}/")]
    return CONCERNED[max(parts, key=len) if parts else ""]


def ranked(fault: Fault, root: Path = ROOT) -> list[str]:
    """The files of tests that concern a fault, those first that name what is broken."""
    module = ".".join(fault.source.with_suffix("").parts)
    tree = ast.parse((root / fault.source).read_bytes())
    named = ast.FunctionDef | ast.ClassDef
    inside = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, named) and node.lineno <= fault.line <= (node.end_lineno or 0)
    ]
    others = [node.name for node in tree.body if isinstance(node, named)]

    def mentions(text: str, names: list[str]) -> int:
        return sum(bool(re.search(rf"\b{re.escape(name)}\b", text)) for name in names)

    def rank(path: Path) -> tuple[int, ...]:
        text = path.read_text(encoding="utf-8")
        return (
            -mentions(text, inside),
            -mentions(text, [module, fault.source.stem]),
            -mentions(text, others),
            len(text),
        )

    files = {path for suite in concerned(fault.source) for path in found_tests(root / suite)}
    return [path.relative_to(root).as_posix() for path in sorted(files, key=lambda path: (*rank(path), path))]


def found_tests(path: Path) -> list[Path]:
    """The file itself, or the files of tests below a folder."""
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


def batches(files: list[str]) -> list[tuple[str, ...]]:
    """Few first, then more; files of property tests by themselves, which have a profile of their own."""
    found: list[tuple[str, ...]] = []
    rest = list(files)
    while rest:
        some, rest = rest[: 2 ** (len(found) + 1)], rest[2 ** (len(found) + 1) :]
        for properties in (False, True):
            part = tuple(path for path in some if path.startswith("property_tests/") == properties)
            found += [part] if part else []
    return found


def copy_tree(target: Path) -> None:
    """All files of the repository that git does not ignore, with their times: Numba knows a source by its own."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in names:
        if (source := ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def copy_cache(copy: Path, cache: Path) -> None:
    """The kernels that are compiled already, where NUMBA_CACHE_DIR says; Numba files them by the source's folder."""
    kept = os.environ.get("NUMBA_CACHE_DIR")
    for folder in sorted({path.parent for path in (copy / "pyresac").rglob("*.py")}) if kept else []:
        mine, theirs = (
            f"{place.name}_{hashlib.sha1(str(place).encode()).hexdigest()}"
            for place in (folder, ROOT / folder.relative_to(copy))
        )
        for found in Path(str(kept)).rglob(theirs):
            shutil.copytree(found, cache / found.parent.relative_to(str(kept)) / mine)


class Judge:
    """A copy of the repository, in which one fault at a time is judged."""

    def __init__(self, copy: Path, near: int | None, reached: Reached | None = None) -> None:
        """near: how many files of tests judge, None for all that concern a fault; reached: who judges before them."""
        self.copy, self.near, self.reached = copy, near, reached
        self.whole = copy / "whole"
        self.cache = copy / "numba"
        self.green = set[str]()
        """Tests that pass on the unchanged copy."""
        copy_tree(copy)
        shutil.copytree(copy / "pyresac", self.whole / "pyresac")
        copy_cache(copy, self.cache)

    def verdict(self, fault: Fault) -> str:
        """Killed and by what, survived, or no verdict. The copy is whole again afterwards."""
        with tempfile.TemporaryDirectory(prefix="random-mutant-") as folder:
            cache = self.cache
            if any(word in (self.whole / fault.source).read_bytes() for word in (b"compiled", b"inlined")):
                # broken kernels must not take the place of the good ones
                cache = Path(folder) / "numba"
                if self.cache.is_dir():
                    shutil.copytree(self.cache, cache)
            for tests in self.suites(fault):
                status, failure = self.run_broken(fault, tests, cache, PATIENCE)
                if status is None:
                    if self.run(tests, self.cache, PATIENCE / 4)[0] == 0:
                        return f"killed by {' '.join(tests)}: it hangs"
                    status, failure = self.run_broken(fault, tests, cache, TIME_LIMIT)
                if status is None:
                    return "no verdict: it takes too long"
                if status != 0:
                    by = (failure,) if failure else tests
                    return (
                        f"killed by {' '.join(by)}" if self.passes(by) else f"no verdict: {' '.join(by)} is red anyway"
                    )
        return "survived"

    def suites(self, fault: Fault) -> list[tuple[str, ...]]:
        """Those of all files, first for a fault of a number; the tests seen on the broken line; the nearest files."""
        found = batches(self.reached.tests(fault.source, fault.line, fault.last)) if self.reached is not None else []
        found.insert(0 if fault.of_a_number else len(found), OF_ALL)
        return found + batches(ranked(fault, self.copy)[: self.near])

    def run_broken(self, fault: Fault, tests: tuple[str, ...], cache: Path, limit: float) -> tuple[int | None, str]:
        """`run` with the fault in the copy."""
        target, original = self.copy / fault.source, self.whole / fault.source
        target.write_bytes(fault.applied(original.read_bytes()))
        try:
            return self.run(tests, cache, limit)
        finally:
            shutil.copy2(original, target)

    def run(self, tests: tuple[str, ...], cache: Path, limit: float = TIME_LIMIT) -> tuple[int | None, str]:
        """(exit status or None after `limit` seconds, the first test that failed), up to the first failure."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "--tb", "line"]
        if all(path.startswith("property_tests") for path in tests):  # where the profile is registered
            options += ["--hypothesis-profile", "mutants"]
        return run_forked(self.copy, [*options, *tests], cache, limit)

    def passes(self, tests: tuple[str, ...]) -> bool:
        """Whether these tests pass on the unchanged copy."""
        if not self.green.issuperset(tests):
            if self.run(tests, self.cache)[0] != 0:
                return False
            self.green.update(tests)
        return True


def judge_all(faults: list[Fault], jobs: int, near: int | None, reached: Reached | None) -> list[str]:
    """Judge the faults, print a line for each as it is there, and return the verdicts. A copy for each job."""
    verdicts = []
    judges: queue.SimpleQueue[Judge] = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="random-mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            judges.put(Judge(Path(folder) / str(number), near, reached))

        def judge(fault: Fault) -> str:
            mine = judges.get()
            try:
                return mine.verdict(fault)
            finally:
                judges.put(mine)

        pending = {pool.submit(judge, fault): fault for fault in faults}
        for done in as_completed(pending):
            fault, verdict = pending[done], done.result()
            verdicts.append(verdict)
            print(f"{fault.source}:{fault.line}: {fault.what}: {verdict}", flush=True)
            if verdict == "survived":
                print(f"    {fault.text}", flush=True)
    return verdicts


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m property_tests.random_mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=sorted(part for part in CONCERNED if part), help="of one folder alone")
    parser.add_argument("--without", nargs="+", default=[], metavar="PART", help="of all folders but these")
    parser.add_argument("--near", type=int, help="judge by so many files of tests, the nearest ones (default: all)")
    parser.add_argument("--reached", type=Path, help="a coverage run's file; the tests seen on the line judge first")
    parser.add_argument("--jobs", type=int, default=1, help="judged at a time (default 1)")
    parser.add_argument("--list", action="store_true", help="print the faults, and the tests that come first, and stop")
    given = parser.parse_args()
    if min(given.count, given.jobs, 1 if given.near is None else given.near) < 1:
        parser.error("--count, --jobs and --near must be at least 1")
    try:
        reached = Reached(given.reached) if given.reached is not None else None
    except argparse.ArgumentTypeError as error:
        parser.error(f"--reached: {error}")
    faults = drawn(given.count, given.seed, given.part, tuple(given.without))
    if given.list:
        for fault in faults:
            print(f"{fault.source}:{fault.line}: {fault.what}: {' '.join(ranked(fault)[:3])}")
        return 0
    verdicts = judge_all(faults, given.jobs, given.near, reached)
    killed = sum(verdict.startswith("killed") for verdict in verdicts)
    how = "all tests" if given.near is None else f"the {given.near} nearest files of tests"
    how = f"the tests seen on the line and {how}" if reached is not None else how
    print(
        f"{killed} of {len(verdicts)} killed by {how}, {verdicts.count('survived')} survived, "
        f"{sum(verdict.startswith('no verdict') for verdict in verdicts)} without a verdict, seed {given.seed}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
