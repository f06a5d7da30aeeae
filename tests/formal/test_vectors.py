"""The generated vectors: up to date, enough of every kind, and refused by the kernel when a number is wrong."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from pyresac.formal.build import Builder
from pyresac.formal.install import Checker
from pyresac.formal.sources import Module, closure, read_tree
from pyresac.formal.vectors import EACH, lean_files, main, vectors, wrapped

ROOT = Path(__file__).parents[2] / "lean"


def test_the_files_are_what_python_computes_now() -> None:
    files = lean_files()
    there = {p.relative_to(ROOT).as_posix() for p in (ROOT / "RESAC/Vectors").glob("*.lean")}
    assert there == set(files) - {"RESAC/Vectors.lean"}
    for path, text in files.items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, f"{path}: run python -m pyresac.formal.vectors"


def test_there_are_enough_of_every_kind() -> None:
    counts = Counter((file, v.kind) for file, (_, found) in vectors().items() for v in found)
    assert set(counts.values()) == {EACH}
    assert sum(counts.values()) >= 200
    statements = [v.statement for _, found in vectors().values() for v in found]
    definitions = ("rev ", "revNext ", "revLive ", "revDone ", "ensembleBackup ", "tBad ", "normPen ", "gapPen ")
    functionals = ("maxV", "fmin", "policyV", "kernelE", "robustE", "ensembleVar", "ensembleMean")
    for name in (*definitions, *functionals):
        assert any(name in s for s in statements), name


def test_files_are_short_and_lines_fit() -> None:
    for path, text in lean_files().items():
        assert text.count("\n") <= 300, path
        assert max(len(line) for line in text.splitlines()) <= 100, path


def test_wrapped_keeps_every_token() -> None:
    text = "example : " + ", ".join(f"[{i}/7, -{i}]" for i in range(60)) + "\nnext line"
    assert wrapped(text).split() == text.split()


def test_the_command_writes_the_files_and_removes_old_ones(tmp_path: Path) -> None:
    old = tmp_path / "RESAC/Vectors/Old.lean"
    old.parent.mkdir(parents=True)
    old.write_text("")
    assert main(["--root", str(tmp_path)]) == 0
    assert not old.exists()
    assert {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.lean")} == set(lean_files())


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_kernel_refuses_a_wrong_number(checker: Checker, tmp_path: Path) -> None:
    """Three vectors, and the same three with the last number of the second one raised by one. The library below
    them is checked in a folder that stays, so that this is quick after the first time."""
    text = (ROOT / "RESAC/Vectors/Terminal.lean").read_text(encoding="utf-8")
    head, *examples = re.split(r"(?=^example )", text, flags=re.MULTILINE)
    chosen = [e.partition("/-!")[0].removesuffix("end RESAC\n") for e in examples[:3]]
    wrong = re.sub(r"\]\] s a := by", r" + 1]] s a := by", chosen[1])
    assert wrong != chosen[1]
    assert checked(checker, "Right", head + "".join(chosen) + "end RESAC\n") == ("checked", [])
    state, lines = checked(checker, "Wrong", head + chosen[0] + wrong + chosen[2] + "end RESAC\n")
    assert state == "failed"
    begins = head.count("\n") + chosen[0].count("\n") + 1
    assert all(begins <= line < begins + wrong.count("\n") for line in lines)
    assert lines


def checked(checker: Checker, name: str, text: str) -> tuple[str, list[int]]:
    """The state of one file over the library, and the lines of its errors."""
    built = checker.library.parent.parent / "built/tests"
    built.mkdir(parents=True, exist_ok=True)
    source = built / "source"
    modules = read_tree(ROOT)
    needed = {n: modules[n] for n in ["RESAC.VectorTables", *closure(modules, "RESAC.VectorTables")]}
    for module in needed.values():
        file = source / module.file.relative_to(ROOT)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(module.text, encoding="utf-8")
    (source / f"{name}.lean").write_text(text, encoding="utf-8")
    mine: dict[str, Module] = {n: m for n, m in read_tree(source).items() if n in needed or n == name}
    results = {r.module.name: r for r in Builder(checker, source, built, mine, timeout=900.0).run(jobs=2)}
    return results[name].state, [m.line for m in results[name].messages]
