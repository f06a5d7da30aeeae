"""Import headers, dependency order, forbidden words, and the message filter."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyresac.formal.errors import FormalError
from pyresac.formal.messages import Message, messages
from pyresac.formal.screen import Word, blanked, forbidden_words
from pyresac.formal.sources import check_imports, closure, order, read_tree, unreached


def tree(root: Path, **files: str) -> Path:
    """Write files: `RESAC__A="text"` is RESAC/A.lean."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".lean")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_imports_are_read_from_the_header_only(tmp_path: Path) -> None:
    tree(
        tmp_path,
        RESAC="module\n/- import Nope -/\n-- import Nope\npublic import RESAC.A\npublic meta import RESAC.B\n"
        "import all RESAC.C\nimport Std\n/-! import RESAC.D -/\ndef x := 1\nimport RESAC.E\n",
        RESAC__A="",
    )
    module = read_tree(tmp_path)["RESAC"]
    assert module.imports == ("RESAC.A", "RESAC.B", "RESAC.C", "Std")
    assert module.imports_private
    assert read_tree(tmp_path)["RESAC.A"].imports == ()


def test_order_puts_imported_files_first(tmp_path: Path) -> None:
    tree(tmp_path, R="import R.B\nimport R.C", R__A="", R__B="import R.A", R__C="import R.A\nimport R.B", R__D="")
    modules = read_tree(tmp_path)
    assert order(modules) == ["R.A", "R.D", "R.B", "R.C", "R"]
    assert closure(modules, "R") == ["R.A", "R.B", "R.C"]
    assert unreached(modules, "R") == ["R.D"]


def test_a_cycle_is_named(tmp_path: Path) -> None:
    tree(tmp_path, A="import B", B="import C", C="import B")
    with pytest.raises(FormalError, match="cycle: B → C → B"):
        check_imports(read_tree(tmp_path))


def test_a_foreign_import_is_refused(tmp_path: Path) -> None:
    tree(tmp_path, A="import Mathlib.Order\nimport Lean.Elab")
    with pytest.raises(FormalError, match=r"A\.lean imports Mathlib\.Order, which is neither"):
        check_imports(read_tree(tmp_path))


def test_nested_lake_packages_and_hidden_folders_are_left_out(tmp_path: Path) -> None:
    tree(tmp_path, R="", real__lakefile="", real__Real="", real__Real__X="")
    (tmp_path / ".lake").mkdir()
    (tmp_path / ".lake/Y.lean").write_text("")
    assert list(read_tree(tmp_path)) == ["R"]


def test_a_missing_folder_or_main_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormalError, match="not a folder of Lean sources"):
        read_tree(tmp_path / "nowhere")
    with pytest.raises(FormalError, match=r"there is no RESAC\.lean"):
        unreached(read_tree(tmp_path), "RESAC")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("theorem x : P := by sorry", [Word(1, 20, "sorry")]),
        ("axiom a : False", [Word(1, 0, "axiom")]),
        ("example := by\n  native_decide", [Word(2, 2, "native_decide")]),
        ("set_option linter.unusedVariables false", [Word(1, 11, "linter")]),
        ("set_option debug.skipKernelTC true", [Word(1, 17, "skipKernelTC")]),
        ("@[implemented_by f] def g := 1", [Word(1, 2, "implemented_by")]),
        ("/- a /- nested -/ still -/ unsafe def f := 1", [Word(1, 27, "unsafe")]),
        ('/- sorry /- sorry -/ sorry -/ -- sorry\n/-- sorry -/ def f := "sorry \\" sorry"', []),
        ('def f := r"sorry" ++ r#"sorry " sorry"#', []),
        ("def f' := 'x' def g' := '\\'' -- sorry", []),
        ("example := by run_tac pure ()", [Word(1, 14, "run_tac")]),
        ("#eval main\n#eval! main", [Word(1, 0, "#eval"), Word(2, 0, "#eval!")]),
        ("def f := #sorry", [Word(1, 9, "sorry")]),
        ("def sorry_free := notAxiom.axioms + net.eval x", []),
        ("/- unclosed sorry", []),
    ],
)
def test_forbidden_words(text: str, expected: list[Word]) -> None:
    assert list(forbidden_words(text)) == expected


def test_blanks_keep_every_place() -> None:
    text = 'a /- b\n c -/ "d\ne" f -- g\nh'
    assert [len(line) for line in blanked(text).split("\n")] == [len(line) for line in text.split("\n")]
    assert blanked(text).split() == ["a", "f", "h"]


def test_messages_are_picked_out_of_the_traces() -> None:
    output = (
        "[DEBUG:A] argv[0]=/x/lean.js\nmodule\n\npublic import RESAC.Order\n  mainModule? = true\n"
        "/lean/source/RESAC/A.lean:3:8: error(lean.unknownIdentifier): unknown `x`\nsecond line\n\n"
        "  - /lean/library/Init.olean\nquoted input\n"
        "/lean/source/RESAC/A.lean:9:0: warning: unused variable\n[DEBUG:N] done\n"
        "/lean/source/RESAC/A.lean:10:2: info: 1 + 1\n"
    )
    assert messages(output) == [
        Message(3, 8, "error", "unknown `x`\nsecond line"),
        Message(9, 0, "warning", "unused variable"),
        Message(10, 2, "info", "1 + 1"),
    ]
    assert messages(output)[1].show("lean/A.lean") == "lean/A.lean:9:0: warning: unused variable"
