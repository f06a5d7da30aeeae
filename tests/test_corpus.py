"""Replays every row of the corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import console, figures, files, gtfs, libraries, training
from corpus.case import Case, replay

TABLES = (console, figures, files, gtfs, libraries, training)
CASES = [
    pytest.param(case, id=f"{table.__name__.rpartition('.')[2]}: {case.name}")
    for table in TABLES
    for case in table.CASES
]


@pytest.mark.parametrize("case", CASES)
def test_a_small_input(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replay(case, tmp_path, capsys, monkeypatch)


def test_names_are_told_apart() -> None:
    names = [case.id for case in CASES]
    assert len(set(names)) == len(names)
