"""The real checker refuses what it must. Skipped where it isn't set up."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyresac.formal import check as command
from pyresac.formal.build import Builder, Result
from pyresac.formal.install import Checker
from pyresac.formal.screen import forbidden_words
from pyresac.formal.sources import read_tree

pytestmark = pytest.mark.slow

GOOD = "theorem good (a b : Nat) : a + b = b + a := by grind\n"


def check(checker: Checker, folder: Path, text: str, name: str = "File") -> Result:
    """Check one file on its own."""
    root, built = folder / "lean", folder / "built"
    root.mkdir(exist_ok=True)
    built.mkdir(exist_ok=True)
    (root / f"{name}.lean").write_text("module\n\npublic import Init\n\npublic section\n\n" + text)
    (result,) = Builder(checker, built, read_tree(root), timeout=300.0).run(jobs=1)
    return result


def test_a_true_theorem_is_accepted(checker: Checker, tmp_path: Path) -> None:
    result = check(checker, tmp_path, GOOD)
    assert (result.state, result.messages) == ("checked", ())


def test_a_false_theorem_is_refused(checker: Checker, tmp_path: Path) -> None:
    result = check(checker, tmp_path, GOOD + "theorem bad : (1 : Nat) + 1 = 3 := by decide +kernel\n")
    assert result.state == "failed"
    assert [(m.line, m.severity) for m in result.messages] == [(8, "error")]


def test_more_output_than_a_pipe_holds_comes_whole(checker: Checker, tmp_path: Path) -> None:
    result = check(checker, tmp_path, GOOD + "#print Nat.rec\n" * 400 + "theorem bad : 1 + 1 = 3 := rfl\n")
    assert result.messages[-1].line == 408


@pytest.mark.parametrize("text", ["theorem hole : 1 + 1 = 3 := by sorry\n", "axiom home_made : 1 + 1 = 3\n"])
def test_a_hole_and_a_home_made_axiom_are_refused(checker: Checker, tmp_path: Path, text: str) -> None:
    assert list(forbidden_words(text))
    assert check(checker, tmp_path, text).state == "failed"


def test_a_hole_that_the_word_list_misses_is_refused_for_lean_s_warning(checker: Checker, tmp_path: Path) -> None:
    text = "theorem hole : 1 + 1 = 3 := by stop rfl\n"
    assert not list(forbidden_words(text))
    result = check(checker, tmp_path, text)
    assert result.state == "failed"
    assert any(m.severity == "warning" and "sorry" in m.text for m in result.messages)


def test_the_command_fails_on_a_broken_proof_and_names_the_place(
    checker: Checker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "module\n\npublic import {}\n\npublic section\n\n"
    (tmp_path / "lean/Top").mkdir(parents=True)
    (tmp_path / "lean/Top.lean").write_text(head.format("Top.File"))
    file = tmp_path / "lean/Top/File.lean"
    monkeypatch.setattr(command, "install", lambda *_, **__: checker)
    monkeypatch.chdir(tmp_path)
    arguments = ["--top", "Top", "--cache", str(tmp_path / "cache")]
    file.write_text(head.format("Init") + GOOD)
    assert command.main(arguments) == 0
    file.write_text(head.format("Init") + GOOD.replace("b + a", "b + a + 1"))
    assert command.main(arguments) == 1
    out = capsys.readouterr().out
    assert "FAIL  Top.File" in out
    assert "lean/Top/File.lean:7:" in out
    assert "skip  Top  an import failed" in out
