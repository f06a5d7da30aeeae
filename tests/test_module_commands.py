"""A module that is a command runs as one, and importing it does nothing."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GUARD = 'if __name__ == "__main__":'
COMMANDS = [
    path
    for path in sorted((ROOT / "pyresac").rglob("*.py"))
    # the parts of the formal proof and the experiments have tests of their own
    if GUARD in path.read_text(encoding="utf-8") and path.parent.name not in ("formal", "experiments")
]


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_takes_its_arguments_and_ends_with_a_code(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    assert f"usage: python -m {name} [" in capsys.readouterr().out
    runpy.run_path(str(path), run_name="imported")
    assert capsys.readouterr().out == ""
