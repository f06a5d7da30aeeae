"""The mutation harness: its mutants apply to the code as it stands, and it notices when one does not."""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from property_tests import mutants, random_mutants, reached
from property_tests.forked import run_forked


def test_there_are_at_least_twenty_with_names_of_their_own() -> None:
    names = [mutant.name for mutant in mutants.MUTANTS]
    assert len(names) >= 20
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda m: m.name)
def test_every_mutant_applies_to_valid_python(mutant: mutants.Mutant, tmp_path: Path) -> None:
    source = mutant.source
    target = tmp_path / source
    target.parent.mkdir(parents=True)
    before = (mutants.ROOT / source).read_text(encoding="utf-8")
    target.write_text(before, encoding="utf-8")
    mutants.mutate(tmp_path, mutant)
    after = target.read_text(encoding="utf-8")
    assert after != before
    compile(after, str(target), "exec")
    assert mutant.paths
    assert all((mutants.ROOT / path).is_file() for path in mutant.paths)


def test_a_text_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    mutants.copy_repository(tmp_path / "copy")
    stale = replace(mutants.MUTANTS[0], old="a line that nobody wrote")
    with pytest.raises(ValueError, match="occurs 0 times"):
        mutants.mutate(tmp_path / "copy", stale)


def test_the_copy_is_what_its_tests_import(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    mutants.copy_repository(copy)
    (copy / "property_tests" / "test_where.py").write_text(
        f"import pyresac\n\n\ndef test_where():\n    assert pyresac.__file__.startswith({str(copy)!r})\n",
        encoding="utf-8",
    )
    assert mutants.run_tests(copy, ("property_tests/test_where.py",)).status == 0


def test_a_failure_is_reported_with_its_test(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    mutants.copy_repository(copy)
    (copy / "property_tests" / "test_red.py").write_text("def test_red():\n    assert False\n", encoding="utf-8")
    outcome = mutants.run_tests(copy, ("property_tests/test_red.py",))
    assert outcome.status == 1
    assert outcome.failure == "property_tests/test_red.py::test_red"


def test_random_faults_compile_change_one_line_and_depend_on_the_seed_alone() -> None:
    found = random_mutants.drawn(150, 3)
    assert found == random_mutants.drawn(150, 3)
    assert found != random_mutants.drawn(150, 4)
    assert len({(fault.source, fault.line) for fault in found}) == 150
    for fault in found:
        before = (mutants.ROOT / fault.source).read_bytes()
        after = fault.applied(before)
        assert after != before
        compile(after, str(fault.source), "exec")
        assert all((mutants.ROOT / tests).exists() for tests in random_mutants.concerned(fault.source))


def test_every_kind_of_random_fault_is_what_it_says() -> None:
    body = ('"""Words, 1 + 1."""', "y = x + 1", "if not x < 2:", "    return -y", "raise OSError")
    text = "\n    ".join(("def f(x: int = 3) -> int:", *body)) + "\n"
    found = random_mutants.Faults(Path("f.py"), text.encode()).found
    broken = {fault.what: fault.applied(text.encode()).decode() for fault in found}
    assert broken.keys() == {
        "3 becomes 4",
        "1 becomes 2",
        "2 becomes 3",
        "+ becomes -",
        "< becomes <=",
        "not is left out",
        "- is left out",
        "statement left out",
    }
    assert "y = x - 1" in broken["+ becomes -"]
    assert "if x < 2:" in broken["not is left out"]
    assert "return y" in broken["- is left out"]
    assert "    pass\n" in broken["statement left out"]


@pytest.mark.parametrize("formula", ["not (x or y)", "-(x + y)", "not x", "-x"])
def test_what_is_negated_stays_as_it_is(formula: str) -> None:
    """In its parentheses too."""
    text = f"def f(x, y):\n    return {formula}\n"
    (found,) = (fault for fault in random_mutants.Faults(Path("f.py"), text.encode()).found if fault.new == b"")
    assert found.applied(text.encode()).decode() == text.replace(formula, formula.lstrip("not -"))


def test_the_nearest_tests_of_a_random_fault_name_it() -> None:
    """The function that is broken, then its module; batches grow, and property tests have their own."""
    source = Path("pyresac/envs/bus/gtfs.py")
    text = (mutants.ROOT / source).read_text().splitlines()
    line = next(number for number, row in enumerate(text, start=1) if "def _link_times" in row) + 3
    fault = random_mutants.Fault(source, line, 0, 0, b"", "", "")
    order = random_mutants.ranked(fault)
    assert "_link_times" in (mutants.ROOT / order[0]).read_text()
    assert "tests/envs/test_corridor_gtfs.py" in order[:4]
    assert "property_tests/test_corridor_invariants.py" in order
    assert len(order) == len(set(order)) > 15
    parts = random_mutants.batches(["a.py", "b.py", "property_tests/c.py", "d.py", "e.py", "f.py", "g.py"])
    assert parts == [("a.py", "b.py"), ("d.py", "e.py", "f.py"), ("property_tests/c.py",), ("g.py",)]


@pytest.mark.parametrize(
    ("broken", "whole", "verdict"),
    [
        ([0], [], "survived"),
        ([1], [0], "killed by tests/a.py::test_x"),
        ([1], [1], "no verdict: tests/a.py::test_x is red anyway"),
        ([None], [0], "killed by tests/a.py: it hangs"),
        # slow, with the fault as without
        ([None, 0], [None], "survived"),
        ([None, None], [None], "no verdict: it takes too long"),
    ],
)
def test_what_a_run_with_a_fault_says(
    broken: list[int | None], whole: list[int | None], verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path("pyresac/a.py")
    (tmp_path / source).parent.mkdir()
    (tmp_path / source).write_text("x = 1\n")
    runs = {"x = 2\n": iter(broken), "x = 1\n": iter(whole)}

    def run(copy: Path, options: list[str], cache: Path, limit: float) -> tuple[int | None, str]:
        status = next(runs[(copy / source).read_text()])
        return status, "tests/a.py::test_x" if status else ""

    monkeypatch.setattr(random_mutants, "run_forked", run)
    monkeypatch.setattr(random_mutants, "OF_ALL", ("tests/a.py",))
    monkeypatch.setattr(random_mutants, "ranked", lambda *_: [])
    monkeypatch.setattr(random_mutants, "copy_tree", lambda _: None)
    judge = random_mutants.Judge(tmp_path, None)
    assert judge.verdict(random_mutants.Fault(source, 1, 4, 5, b"2", "", "")) == verdict
    assert (tmp_path / source).read_text() == "x = 1\n"
    assert all(next(rest, "none") == "none" for rest in runs.values()), "every run was asked for"


class Noted:
    """In the place of coverage's database of a run elsewhere: two tests of this file, and one that is gone."""

    contexts: ClassVar = {
        10: ["tests/test_mutants.py::test_a_fork_says_what_failed[a[b]|c]|run", ""],
        11: [
            "tests/test_mutants.py::test_random_faults_may_leave_out_parts|run",
            "tests/test_mutants.py::test_gone|run",
        ],
        12: ["tests/test_mutants.py::test_random_faults_may_leave_out_parts|setup", "tests/gone.py::test_x|run"],
    }

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self) -> None: ...

    def measured_files(self) -> set[str]:
        return {"/elsewhere/pyresac/run/pyresac/tabular/mdp.py"}

    def measured_contexts(self) -> set[str]:
        return {""} if Path(self.path).name == "plain" else {"", "some"}

    def contexts_by_lineno(self, name: str) -> dict[int, list[str]]:
        return self.contexts


def test_the_tests_that_reach_a_line_come_narrowest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coverage", SimpleNamespace(CoverageData=Noted))
    for name in ("noted", "plain"):
        (tmp_path / name).touch()
    found = reached.Reached(tmp_path / "noted")
    source = Path("pyresac/tabular/mdp.py")
    narrow, wide = (
        f"tests/test_mutants.py::test_{name}"
        for name in ("a_fork_says_what_failed", "random_faults_may_leave_out_parts")
    )
    assert found.tests(source, 10, 10) == [narrow]
    assert found.tests(source, 9, 12) == [narrow, wide]
    assert found.tests(source, 13, 20) == [wide, narrow], "on import: who reaches most of the file comes first"
    assert found.tests(Path("pyresac/tabular/other.py"), 10, 10) == []
    with pytest.raises(argparse.ArgumentTypeError, match="notes no tests"):
        reached.Reached(tmp_path / "plain")
    with pytest.raises(argparse.ArgumentTypeError, match="is no file"):
        reached.Reached(tmp_path / "none")


def test_compiled_code_is_reached_by_those_who_call_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through other compiled code too; not by a namesake in another folder."""
    files = {
        "pyresac/tabular/kernels.py": "def look(x):\n    return x\n\ndef sweep(x):\n    return look(x)\n",
        "pyresac/tabular/models.py": "from pyresac.tabular.kernels import sweep\n\ndef run(x):\n    return sweep(x)\n",
        "pyresac/envs/day.py": "def go(look):\n    return look\n",
        "tests/test_all.py": "def test_model(): ...\ndef test_day(): ...\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    contexts = {
        "kernels.py": {1: ["tests/test_all.py::test_day|run"], 2: [], 4: [""]},
        "models.py": {1: ["tests/test_all.py::test_day|run"], 3: [""], 4: ["tests/test_all.py::test_model|run"]},
        "day.py": {2: ["tests/test_all.py::test_day|run"]},
    }
    noted = SimpleNamespace(
        read=lambda: None,
        measured_contexts=lambda: {"", "some"},
        measured_files=lambda: [str(tmp_path / path) for path in files if path.startswith("pyresac")],
        contexts_by_lineno=lambda name: contexts[Path(name).name],
    )
    monkeypatch.setitem(sys.modules, "coverage", SimpleNamespace(CoverageData=lambda _: noted))
    monkeypatch.setattr(reached, "ROOT", tmp_path)
    (tmp_path / "noted").touch()
    found = reached.Reached(tmp_path / "noted")
    for line in (2, 5):
        assert found.tests(Path("pyresac/tabular/kernels.py"), line, line) == ["tests/test_all.py::test_model"]


def test_random_faults_may_leave_out_parts() -> None:
    found = random_mutants.drawn(200, 0, None, ("formal", "envs/bus"))
    assert {fault.source.parts[1] for fault in found} >= {"tabular", "deep"}
    assert not any(fault.source.is_relative_to(f"pyresac/{part}") for fault in found for part in ("formal", "envs/bus"))


def test_a_fork_says_what_failed(tmp_path: Path) -> None:
    """With the copy's own code; names of cases may hold anything."""
    (tmp_path / "pyresac").mkdir()
    (tmp_path / "pyresac" / "__init__.py").write_text("COPY = True\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\nimport pyresac\n\n"
        '@pytest.mark.parametrize("x", [1, 2], ids=["a - b", "c d"])\n'
        "def test_red(x): assert pyresac.COPY and x == 1\n\n"
        "def test_green(): assert pyresac.COPY\n"
    )
    # the package that the fork itself comes from is the copy's, too
    tests = tmp_path / "property_tests"
    tests.mkdir()
    (tests / "__init__.py").write_text("COPY = True\n")
    (tests / "conftest.py").write_text("from property_tests import COPY\n")
    (tests / "test_there.py").write_text("import property_tests\n\ndef test_green(): assert property_tests.COPY\n")
    run = partial(run_forked, tmp_path, cache=tmp_path / "numba", limit=120.0)
    assert run(["-q", "test_it.py::test_green"]) == (0, "")
    assert run(["-q", "property_tests/test_there.py"]) == (0, "")
    assert run(["-x", "-q", "test_it.py"]) == (1, "test_it.py::test_red")


@pytest.mark.parametrize("limit", [120.0, 6.0])
def test_what_the_tests_left_running_ends_with_the_fork(limit: float, tmp_path: Path) -> None:
    """Of a run that ended and of one that was stopped; a process gives up its locks when it ends."""
    lock = tmp_path / "lock"
    child = f"import fcntl, time; f = open({str(lock)!r}, 'w'); fcntl.flock(f, 2); print(1, flush=1); time.sleep(600)"
    (tmp_path / "test_it.py").write_text(
        "import subprocess, sys, time\n\n"
        "def test_green():\n"
        f"    child = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)\n"
        "    assert child.stdout.readline() == b'1\\n'\n"
        f"    time.sleep({600 if limit < 60 else 0})\n"
    )
    status, _ = run_forked(tmp_path, ["-q", "-p", "no:cacheprovider", "test_it.py"], tmp_path / "numba", limit)
    assert status == (None if limit < 60 else 0)
    assert is_given_up(lock), "the process runs on"


def is_given_up(lock: Path, patience: float = 20.0) -> bool:
    """Whether nobody holds the lock, or will hold it in a while: a killed process takes some time to end."""
    end = time.monotonic() + patience
    with lock.open("w") as held:
        while time.monotonic() < end:
            with suppress(BlockingIOError):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            time.sleep(0.05)
    return False
