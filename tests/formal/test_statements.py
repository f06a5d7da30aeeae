"""The page of statements is what the sources say, and holds no proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyresac.formal.declarations import declarations
from pyresac.formal.ledger import load
from pyresac.formal.statements import PAGE, page, statement

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert text == page(ROOT / "lean"), "run python -m pyresac.formal.statements"
    assert ":= by" not in text


def test_every_theorem_of_the_ledger_is_on_it() -> None:
    text = page(ROOT / "lean")
    core = declarations(ROOT / "lean")
    names = {t for c in load() for t in c.theorems if t in core}
    assert len(names) > 150
    assert [t for t in sorted(names) if f"\n`{t.removeprefix('RESAC.')}`. " not in text] == []


LET = "theorem a (h : x = 1) : let y := 2\n    y = 2"
DEFAULT = "theorem d (h : ∀ x (hx : x = (1 : Nat) := rfl), x = 1) : True"


@pytest.mark.parametrize(
    ("shown", "proof"),
    [
        (LET, " := by\n  rfl\n\nnext"),
        ("theorem b : Thing x", " where\n  field := 1\n\nnext"),
        ("theorem c : ∀ n : Nat, n = n", "\n  | 0 => rfl\n  | _ => rfl\n\nnext"),
        (DEFAULT, " :=\n  trivial"),
        ("def e : Nat :=\n  1", "\n\nnext"),
    ],
)
def test_a_statement_ends_where_its_proof_begins(shown: str, proof: str) -> None:
    assert statement(shown + proof, 1, shown.split()[0]) == shown
