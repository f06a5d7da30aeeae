"""Nothing is lost by a console that cannot print, a reader that has gone, a disk that is full, or a closed terminal."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_run import TINY
from train_command import COMMAND, start, wait_for

from pyresac.command import Output, exit_code
from pyresac.train import main
from pyresac.training.tabular_agent import TabularTrainee

SHORT = [
    *("--agent", "tabular", "--steps", "2000", "--eval-every", "1000", "--eval-episodes", "2"),
    *("--final-episodes", "2", "--no-tensorboard"),
]


def test_a_result_is_written_before_it_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> None:
        raise RuntimeError("cannot be shown")

    monkeypatch.setattr(TabularTrainee, "show", fail)
    run = tmp_path / "run"
    with pytest.raises(RuntimeError, match="cannot be shown"):
        main([*SHORT, "--run-dir", str(run)])
    assert json.loads((run / "result.json").read_text())["steps"] == 2000


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_characters_that_a_stream_lacks_are_replaced(encoding: str) -> None:
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, encoding=encoding))
    output.write("± ℝ γ 10⁶\n")
    output.flush()
    assert raw.getvalue().decode(encoding).endswith("\n")
    assert "?" in raw.getvalue().decode(encoding)


class Refusing(io.StringIO):
    """Refuses with an error of the system."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self.tried = number, 0

    def write(self, text: str) -> int:
        self.tried += 1
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EIO, errno.EBADF])
def test_a_reader_that_has_gone_is_no_error(number: int) -> None:
    stream = Refusing(number)
    output = Output(stream)
    assert [output.write("one"), output.write("three")] == [3, 5]
    output.flush()
    assert stream.tried == 1
    assert not output.isatty()


def test_a_full_disk_under_the_output_is_an_error() -> None:
    with pytest.raises(OSError, match="No space left"):
        Output(Refusing(errno.ENOSPC)).write("one")


def test_no_stream_takes_everything() -> None:
    output = Output(None)
    assert output.write("one") == 3
    output.flush()
    assert (output.isatty(), output.encoding) == (False, "utf-8")


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_no_file_takes_the_number_of_a_stream_that_was_closed(closed: int, tmp_path: Path) -> None:
    """What a library prints would go into it."""
    program = (
        "import os, sys\nfrom pyresac.command import safe_streams\n"
        "with safe_streams():\n"
        "    with open(sys.argv[1], 'w') as file: file.write(str(file.fileno()))\n"
        f"    os.write({closed}, b'a library prints')\n"
    )
    target = tmp_path / "file"
    without = ["sh", "-c", f'exec "$@" {closed}>&-', "sh"]
    subprocess.run([*without, sys.executable, "-c", program, target], check=True)
    assert int(target.read_text()) > 2


def test_memory_that_is_exhausted_is_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise MemoryError("Unable to allocate 7 TiB")

    assert exit_code(work) == 1
    assert "memory is exhausted: Unable to allocate 7 TiB" in capsys.readouterr().err


def finished(run: Path) -> bool:
    return bool(json.loads((run / "result.json").read_text())["steps"] == 2000)


def test_a_run_ends_well_in_every_console(tmp_path: Path) -> None:
    """An encoding without the table's characters, a reader that takes one line, no output at all, and no terminal."""
    ascii_ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [*COMMAND, *SHORT, "--run-dir"]
    done = subprocess.run(
        [*command, str(tmp_path / "ascii")], capture_output=True, env=ascii_, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert finished(tmp_path / "ascii")
    shell = " ".join([*command, str(tmp_path / "head"), "| head -1"])
    done = subprocess.run(["bash", "-o", "pipefail", "-c", shell], capture_output=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    assert finished(tmp_path / "head")
    shell = " ".join([*command, str(tmp_path / "closed"), ">&-", "2>&-"])
    assert subprocess.run(["bash", "-c", shell], timeout=240, check=False).returncode == 0
    assert finished(tmp_path / "closed")


def test_help_to_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    shell = " ".join([*COMMAND, "--agent", "tabular", "--help", "|", "head", "-1"])
    done = subprocess.run(["bash", "-o", "pipefail", "-c", shell], capture_output=True, timeout=240, check=False)
    assert done.stderr == b""


def test_a_folder_whose_name_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / os.fsdecode(b"run\xff")
    assert main([*SHORT, "--run-dir", str(run)]) == 0
    assert finished(run)
    assert main(["--run-dir", str(run), "--resume"]) == 0


# --- a closed terminal


@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_terminal_saves_unless_it_is_to_be_ignored(ignored: bool, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = ["nohup", *COMMAND] if ignored else COMMAND
    options = [*SHORT, "--steps", "10000000", "--checkpoint-every", "10000000", "--run-dir", str(run)]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(run / "metrics.csv", process, 2)
    process.send_signal(signal.SIGHUP)
    if ignored:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert f"Stopped by {'SIGTERM' if ignored else 'SIGHUP'} at step" in out
    assert len(list((run / "checkpoints").iterdir())) == 1


def test_a_terminal_that_is_gone_does_not_cost_the_checkpoint(tmp_path: Path) -> None:
    """The kernel refuses what is printed after it has been closed."""
    run = tmp_path / "run"
    process = start(*SHORT, "--steps", "10000000", "--checkpoint-every", "10000000", "--run-dir", str(run))
    wait_for(run / "metrics.csv", process, 2)
    assert process.stdout is not None
    process.stdout.close()
    process.send_signal(signal.SIGHUP)
    assert process.stderr is not None
    error = process.stderr.read()
    assert process.wait(timeout=60) == 0
    assert error == ""
    assert len(list((run / "checkpoints").iterdir())) == 1


# --- checkpoints that are gone, and a full disk


@pytest.mark.parametrize("agent", ["tabular", "deep"])
def test_a_run_whose_checkpoints_are_gone_is_not_begun_anew(
    agent: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    options = SHORT if agent == "tabular" else [*TINY, "--corridor", str(tiny), "--steps", "200"]
    assert main([*options, "--run-dir", str(run)]) == 0
    for path in (run / "checkpoints").iterdir():
        path.unlink()
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for evidence in ("progress.json", "result.json"):
        capsys.readouterr()
        assert main(["--run-dir", str(run), "--resume"]) == 2
        error = capsys.readouterr().err
        assert f"{run} has {evidence}, so checkpoints were written, but there is none in {run / 'checkpoints'}" in error
        assert f"--config {run / 'config.json'}" in error
        assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
        (run / evidence).unlink()
        before.pop(run / evidence)


LIMITED = """
import resource, signal, sys
from pyresac.train import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("refused", ["metrics.csv", "checkpoint"])
def test_a_full_disk_names_file_step_checkpoint_and_the_way_on(refused: str, tiny: Path, tmp_path: Path) -> None:
    """The system's limit on the size of a file refuses like a full disk, in the middle of a file."""
    run, whole = tmp_path / "run", tmp_path / "whole"
    count = "800" if refused == "metrics.csv" else "400"
    steps = ["--steps", count, "--no-tensorboard", "--corridor", str(tiny)]
    rows = [
        "--rule",
        "None",
        "--observation",
        "paper",
        "--eval-every",
        "2",
        "--eval-episodes",
        "1",
        "--ensemble-size",
        "2",
        "--buffer-size",
        "50",
    ]
    options = [*TINY, *steps, *(rows if refused == "metrics.csv" else ["--buffer-size", "100000"])]
    assert main([*options, "--run-dir", str(whole)]) == 0
    sizes = {path: path.stat().st_size for path in whole.rglob("*") if path.is_file()}
    newest = max(size for path, size in sizes.items() if path.suffix == ".ckpt")
    limit = sizes[whole / "metrics.csv"] - 100 if refused == "metrics.csv" else newest - 100
    assert refused != "metrics.csv" or newest < limit, "the rows are the larger file"
    command = [sys.executable, "-c", LIMITED, str(limit), *options, "--run-dir", str(run)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    last = run / f"checkpoints/step-{int(count) - 100:012d}.ckpt"
    at = run / ("metrics.csv" if refused == "metrics.csv" else "checkpoints/step-000000000400.ckpt")
    message = " ".join(done.stderr.split())
    assert f"stopped: File too large: {at} at step " in message
    assert f"; go on from {last}, with python -m pyresac.train --run-dir {run} --resume" in message
    assert main(["--run-dir", str(run), "--resume"]) == 0
    assert (run / "metrics.csv").read_bytes() == (whole / "metrics.csv").read_bytes()
