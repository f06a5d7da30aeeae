"""The ledger agrees with the Lean sources and the tests, in both directions; the pages made from it are up to date."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyresac.formal.declarations import declared
from pyresac.formal.errors import FormalError
from pyresac.formal.ledger import (
    BEGIN,
    END,
    Claim,
    load,
    main,
    page,
    problems,
    table,
    theorem_files,
    theorem_table,
    with_table,
)
from pyresac.formal.markers import Marker, markers, names_of_tests

ROOT = Path(__file__).parents[2]

LEAN = """module
public section
/-! # C99 in a header is no citation -/
namespace RESAC
/-- Says something. Appendix E; C01 and C02. -/
theorem first (x : Nat) : x = x := rfl
/-- About `x`; C01. -/
structure Thing where
  /-- A field, C03. -/
  field : Nat
theorem plain : True := trivial
namespace Inner.Most
/-- Nested, C01. -/
@[simp] protected theorem second : True := trivial
end Inner.Most
section Some
/-- Omitted, C02. -/
omit [Foo K] in
theorem Thing.third : True := trivial
private theorem hidden : True := trivial
end Some
/-- A definition, C03. -/
@[expose] noncomputable def defined := 1
end RESAC
theorem outside : True := trivial
"""

TESTS = """
from property_tests.claims import claim
CASES = [1, pytest.param(2, marks=claim("C03", lean="RESAC.defined"))]
@claim("C01", lean=("RESAC.first", "RESAC.plain"))
@claim("C02")
def test_one(): ...
@pytest.mark.parametrize("x", CASES)
def test_two(x): ...
def test_three(): ...
def helper(): ...
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one Lean file and one test file."""
    for path, text in {"lean/RESAC/A.lean": LEAN, "property_tests/test_a.py": TESTS, "tests/x.py": ""}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.fixture
def claims() -> list[Claim]:
    """A ledger that fits it."""
    one, two = "property_tests/test_a.py::test_one", "property_tests/test_a.py::test_two"
    return [
        Claim("C01", "t", "p", "c", "proved", "f", ("RESAC.first", "RESAC.Inner.Most.second"), (one,)),
        Claim("C02", "t", "p", "c", "refuted", "f", ("RESAC.Thing.third", "RESAC.first"), (one,)),
        Claim("C03", "t", "p", "c", "checked", "f", (), (two,)),
        Claim("C04", "t", "p", "c", "informal", "f"),
    ]


def test_declarations_have_full_names_and_their_own_docstrings() -> None:
    found = {d.name: (d.kind, d.claims, d.line) for d in declared(LEAN, Path("A.lean"))}
    assert found == {
        "RESAC.first": ("theorem", ("C01", "C02"), 6),
        "RESAC.Thing": ("structure", ("C01",), 8),
        "RESAC.plain": ("theorem", (), 11),
        "RESAC.Inner.Most.second": ("theorem", ("C01",), 14),
        "RESAC.Thing.third": ("theorem", ("C02",), 19),
        "RESAC.defined": ("def", ("C03",), 23),
        "outside": ("theorem", (), 25),
    }


def test_markers_are_read_from_decorators_and_the_lists_they_name(repository: Path) -> None:
    file = "property_tests/test_a.py"
    assert markers(repository, ("property_tests", "tests")) == [
        Marker("C01", f"{file}::test_one", ("RESAC.first", "RESAC.plain")),
        Marker("C02", f"{file}::test_one", ()),
        Marker("C03", f"{file}::test_two", ("RESAC.defined",)),
    ]
    assert names_of_tests(repository, ("property_tests",)) == {f"{file}::test_{n}" for n in ("one", "two", "three")}
    (repository / file).write_text("@claim(NAME)\ndef test_x(): ...\n")
    with pytest.raises(FormalError, match=r"test_x: the arguments of claim\(…\) at line 1 are not literals"):
        markers(repository, ("property_tests",))


def test_a_fitting_ledger_has_no_problems(repository: Path, claims: list[Claim]) -> None:
    assert problems(claims, repository) == []


@pytest.mark.parametrize(
    ("index", "change", "problem"),
    [
        (0, {"theorems": ("RESAC.Inner.Most.second",)}, "RESAC.first cites C01, which does not list it"),
        (0, {"theorems": ()}, "C01 is proved; it needs a Lean theorem"),
        (0, {"tests": ()}, "C01 is proved; it needs tests, or a word on why"),
        (0, {"untested": "both"}, "C01 is proved; it needs tests, or a word on why"),
        (0, {"tests": ()}, "property_tests/test_a.py::test_one states C01, which does not list it"),
        (1, {"theorems": ("RESAC.gone",)}, "C02 names the theorem RESAC.gone, which the Lean sources do not have"),
        (1, {"theorems": ("RESAC.defined",)}, "C02 names the theorem RESAC.defined, which"),
        (2, {"tests": ("property_tests/test_a.py::helper",)}, "C03 names the test property_tests/test_a.py::helper"),
        (2, {"id": "C05"}, "RESAC.defined cites C03, which is not in the ledger"),
        (2, {"id": "C05"}, "property_tests/test_a.py::test_two states C03, which is not in the ledger"),
    ],
)
def test_each_disagreement_is_named(
    repository: Path, claims: list[Claim], index: int, change: dict[str, object], problem: str
) -> None:
    claims[index] = replace(claims[index], **change)
    assert any(p.startswith(problem) for p in problems(claims, repository))


def test_a_name_that_only_a_decorator_has_is_a_problem(repository: Path, claims: list[Claim]) -> None:
    file = repository / "property_tests/test_a.py"
    file.write_text(TESTS.replace("RESAC.plain", "RESAC.gone"))
    gone = "property_tests/test_a.py::test_one names RESAC.gone, which the Lean sources do not have"
    assert problems(claims, repository) == [gone]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[[claims]]\nid = "C01"\n', r"C01: unknown fields \[\], missing fields \['claim', 'finding', 'place'"),
        ('[[claims]]\nid = "C01"\nproof = 1\n', r"unknown fields \['proof'\]"),
    ],
)
def test_a_malformed_entry_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "claims.toml"
    file.write_text(text)
    with pytest.raises(FormalError, match=complaint):
        load(file)


def test_a_wrong_verdict_and_a_repeated_id_are_named(tmp_path: Path) -> None:
    entry = '[[claims]]\nid = "C01"\ntitle = "t"\nplace = "p"\nclaim = "c"\nfinding = "f"\nverdict = "{}"\n'
    file = tmp_path / "claims.toml"
    file.write_text(entry.format("true"))
    with pytest.raises(FormalError, match="C01: verdict is 'true'; it must be one of proved, corrected"):
        load(file)
    file.write_text(entry.format("proved") * 2)
    with pytest.raises(FormalError, match="C01 occur more than once"):
        load(file)


def test_the_readme_needs_its_markers(claims: list[Claim]) -> None:
    files = {"RESAC.first": "lean/RESAC/A.lean"}
    text = with_table(f"a\n{BEGIN}\nold\n{END}\nb\n", claims, files)
    assert text == f"a\n{BEGIN}\n{theorem_table(claims, files)}\n{END}\nb\n"
    assert "| C01 | t | proved | [`RESAC.first`](lean/RESAC/A.lean) |" in text
    assert with_table(text, claims, files) == text
    for wrong in ("", BEGIN, END + BEGIN, BEGIN + BEGIN + END):
        with pytest.raises(FormalError, match=r"README\.md must hold the lines"):
            with_table(wrong, claims, {})


def test_the_command(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--repository", str(repository)]) == 2
    assert "README.md" in capsys.readouterr().err
    (repository / "README.md").write_text(f"{BEGIN}\n{END}\n")
    assert main(["--repository", str(repository)]) == 1
    assert "C01 names the theorem" in capsys.readouterr().err
    assert "C50" in (repository / "README.md").read_text()
    assert (repository / "docs/claims.md").read_text() == page(load())


def test_the_ledger_holds_every_claim_once_in_order() -> None:
    assert [c.id for c in load()] == [f"C{i:02}" for i in range(1, 51)]


def test_the_ledger_agrees_with_the_lean_sources_and_the_tests() -> None:
    assert problems(load(), ROOT) == []


def test_the_pages_are_up_to_date() -> None:
    claims = load()
    assert (ROOT / "docs/claims.md").read_text(encoding="utf-8") == page(claims), "run python -m pyresac.formal.ledger"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_table(readme, claims, theorem_files(ROOT)) == readme, "run python -m pyresac.formal.ledger"


def test_the_printed_table_has_a_row_for_every_claim(claims: list[Claim]) -> None:
    assert table(claims).row_count == len(claims)
