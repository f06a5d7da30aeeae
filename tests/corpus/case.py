"""One small input and what it must lead to: a command line, a line for the shell, or a call.

Whatever a case says, a replay also demands that no traceback is shown, and that what is refused (code 2, or an error of
a call) leaves the files of its folder as they were.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

Content = str | bytes | Callable[[Path], object]
"""A file's content, or what writes it at the path that it is given."""
Files = Mapping[str, Content]


@dataclass(frozen=True)
class Case:
    """An input, and what it must say."""

    name: str
    does: str | Callable[[], object]
    """`train --steps 0`: a command of pyresac, in this process; a line for bash (`shell`); or a call."""
    says: str
    """Part of what is printed, or of the error's message; runs of blanks count as one."""
    code: int = 2
    """Exit code of a command."""
    files: Files = field(default_factory=dict)
    """Files in the folder that the case is replayed in, made in this order."""
    raises: type[Exception] | None = None
    """Error of a call, None for one that returns."""
    shell: bool = False
    needs: tuple[str, ...] = ()
    """Modules of optional extras."""
    makes: tuple[str, ...] = ()
    """Files that must be there afterwards, and must not be empty."""

    def of(self, *modules: str) -> Case:
        """The same, where these modules of extras are."""
        return replace(self, needs=(*self.needs, *modules))


def replay(case: Case, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what the case says in `folder`, and hold it to what it must lead to."""
    for module in case.needs:
        pytest.importorskip(module)
    monkeypatch.chdir(folder)
    for name, content in case.files.items():
        write(folder / name, content)
    before = contents(folder)
    capsys.readouterr()
    refused, said = _done(case, capsys)
    assert "Traceback" not in said, said
    assert plain(case.says) in plain(said), said
    if refused:
        assert contents(folder) == before, "what is refused leaves the folder as it was"
    for name in case.makes:
        assert (folder / name).stat().st_size > 0


def _done(case: Case, capsys: pytest.CaptureFixture[str]) -> tuple[bool, str]:
    """Whether it was refused, and what it said."""
    if callable(case.does):
        if case.raises is None:
            return False, str(case.does())
        with pytest.raises(case.raises) as caught:
            case.does()
        return True, str(caught.value)
    if case.shell:
        paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", case.does],
            capture_output=True,
            timeout=240,
            check=False,
            env={**os.environ, "PATH": paths, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        code, said = done.returncode, (done.stdout + done.stderr).decode(errors="replace")
    else:
        code = _in_process(*shlex.split(case.does))
        said = "".join(capsys.readouterr())
    assert code == case.code, f"code {code}, {said}"
    return code == 2, said


def _in_process(command: str, *arguments: str) -> int:
    main: Any = importlib.import_module(f"pyresac.{command}").main
    try:
        return int(main(list(arguments)))
    except SystemExit as end:  # the option parser's own way out
        return int(end.code or 0)


def write(path: Path, content: Content) -> None:
    """Make a file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, and every folder."""
    found = sorted(folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in found}


def plain(text: str) -> str:
    """Without the boxes and line breaks of the option parser."""
    return re.sub(r"[\s│]+", " ", text)
