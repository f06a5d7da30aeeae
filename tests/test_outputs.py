"""A file that is to be written is refused before any work where it cannot be one, or is read as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pyresac import solve
from pyresac.atomic import require_output
from pyresac.corridor import main as corridor
from pyresac.envs.bus import default_corridor, save_corridor
from pyresac.errors import InputError

MODEL = "idstatefrom,idaction,idstateto,probability,reward\n0,0,0,1,1\n"


def model(path: Path) -> Path:
    path.write_text(MODEL)
    return path


def line(path: Path) -> Path:
    save_corridor(default_corridor(), path)
    return path


COMMANDS: dict[str, tuple[Callable[[list[str]], int], Callable[[Path], Path], str, str]] = {
    "solve": (solve.main, model, ".csv", "READ --discount 0.9 --out OUT"),
    "simulate": (corridor, line, ".json", "simulate --seeds 1 --corridor READ --csv OUT"),
    "simulate, arrivals": (corridor, line, ".json", "simulate --seeds 1 --corridor READ --avl OUT"),
    "tune": (corridor, line, ".json", "tune --generations 1 --population 4 --corridor READ --out OUT"),
    "avl": (corridor, line, ".json", "avl missing.csv --corridor READ --out OUT"),
}
"""Command, what makes its input, the ending of that, and its line."""


def words(text: str, read: Path, out: Path) -> list[str]:
    return [{"READ": str(read), "OUT": str(out)}.get(word, word) for word in text.split()]


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_read_is_not_overwritten(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, make, ending, text = COMMANDS[name]
    read = make(tmp_path / f"own{ending}")
    before = read.read_bytes()
    (tmp_path / "folder").mkdir()
    for out in (read, tmp_path / "folder" / ".." / read.name):
        assert command(words(text, read, out)) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert "which the command reads and would overwrite; name another file" in told
        assert read.read_bytes() == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_is_no_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, make, ending, text = COMMANDS[name]
    read, out = make(tmp_path / f"own{ending}"), tmp_path / f"folder{ending}"
    out.mkdir()
    assert command(words(text, read, out)) == 2
    assert "which is a folder; name a file in it" in " ".join(capsys.readouterr().err.split())


def test_names_that_are_no_files_are_passed_over(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("old")
    require_output(out, "default", None, tmp_path / "missing.json", str(tmp_path))
    require_output(tmp_path / "new.json", tmp_path / "new.json")
    with pytest.raises(InputError, match="would overwrite"):
        require_output(out, "default", out)
    with pytest.raises(InputError, match="there is no folder"):
        require_output(tmp_path / "none" / "out.json")
