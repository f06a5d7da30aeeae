"""The generated vectors: up to date, enough of every kind, and refused by the kernel when a number is wrong."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from pyresac.formal.build import Builder
from pyresac.formal.check import built_folder
from pyresac.formal.install import Checker
from pyresac.formal.sources import closure, read_tree
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
        assert text.count("\n") <= 310, path
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
    """Three vectors are accepted; with the last number of the second one raised by one, that one is refused."""
    text = (ROOT / "RESAC/Vectors/Terminal.lean").read_text(encoding="utf-8")
    head, *examples = re.split(r"(?=^example )", text, flags=re.MULTILINE)
    chosen = [e.partition("/-!")[0].removesuffix("end RESAC\n") for e in examples[:3]]
    wrong = re.sub(r"\]\] s a := by", r" + 1]] s a := by", chosen[1])
    assert wrong != chosen[1]
    assert checked(checker, tmp_path, "Right", head + "".join(chosen) + "end RESAC\n") == ("checked", [])
    state, lines = checked(checker, tmp_path, "Wrong", head + chosen[0] + wrong + chosen[2] + "end RESAC\n")
    begins = head.count("\n") + chosen[0].count("\n") + 1
    assert state == "failed"
    assert lines
    assert all(begins <= line < begins + wrong.count("\n") for line in lines)


def checked(
    checker: Checker, folder: Path, name: str, text: str, needs: str = "RESAC.Live.EnsembleStd"
) -> tuple[str, list[int]]:
    """The state of one file over a copy of the library, and the lines of its errors. What a check of the library
    has compiled is taken over."""
    compiled = built_folder(checker.library.parent.parent, ROOT)
    source, built = folder / "source", folder / "built"
    modules = read_tree(ROOT)
    wanted = {needs, "RESAC.Foundations.Tables", "RESAC.Contraction.Terminal"}
    for needed in sorted(wanted.union(*(closure(modules, w) for w in wanted))):
        path = Path(needed.replace(".", "/"))
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (built / path).parent.mkdir(parents=True, exist_ok=True)
        source.joinpath(path).with_suffix(".lean").write_text(modules[needed].text, encoding="utf-8")
        for part in compiled.glob(f"{path}.*"):
            shutil.copy(part, built / path.parent)
    (source / f"{name}.lean").write_text(text, encoding="utf-8")
    builder = Builder(checker, built, read_tree(source), timeout=900.0)
    results = {r.module.name: r for r in builder.run(jobs=2)}
    return results[name].state, [m.line for m in results[name].messages]
