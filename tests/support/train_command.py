"""`python -m pyresac.train` as tests call it: in this process, in another, and until it has got somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pyresac.train import main
from pyresac.training.checkpoint import load_checkpoint

COMMAND = [sys.executable, "-m", "pyresac.train"]


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=300, check=False)


def start(*arguments: str) -> subprocess.Popen[str]:
    """Let it run beside the test."""
    return subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, process: subprocess.Popen[str], rows: int) -> None:
    """Until the file has more lines than `rows`."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.read_text().count("\n") > rows:
            return
        time.sleep(0.02)
    process.kill()
    raise AssertionError(f"{path} did not get {rows} rows; the process says {process.communicate()}")


def assert_refused(arguments: list[str], message: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One message and code 2, before any work."""
    try:
        code = main([*arguments, "--run-dir", str(run)])
    except SystemExit as end:  # the option parser's own way out
        code = int(end.code or 0)
    error = re.sub(r"[\s│]+", " ", capsys.readouterr().err)
    assert code == 2
    assert message in error
    assert "Traceback" not in error
    assert not run.exists()


def same_run(first: Path, second: Path, step: int) -> None:
    """Equal byte for byte, but for what says which program wrote it, and for the rhythm of checkpoints."""
    assert (first / "metrics.csv").read_bytes() == (second / "metrics.csv").read_bytes()
    assert (first / "result.json").read_bytes() == (second / "result.json").read_bytes()
    saved = [load_checkpoint(run / f"checkpoints/step-{step:012d}.ckpt") for run in (first, second)]
    arrays = [[(name, a.dtype, a.shape, a.tobytes()) for name, a in one.arrays.items()] for one in saved]
    assert arrays[0] == arrays[1]
    configs = [json.loads((run / "config.json").read_text()) for run in (first, second)]
    for content in (*configs, *(one.state["config"] for one in saved)):
        del content["run"]["checkpoint_every"]
    for one in saved:
        del one.state["versions"]
    assert configs[0] == configs[1]
    assert json.dumps(saved[0].state) == json.dumps(saved[1].state)
