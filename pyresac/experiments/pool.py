"""Run a plan: each run a process of its own with one thread, so many side by side; what was cut short goes on.

A run's folder says how far it is: with result.json it is finished and not made again, with a checkpoint it is resumed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyresac.experiments.experiment import Run

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
POLL_SECONDS = 0.5
INTERPRETER = "PYRESAC_PYTHON"
"""Environment variable that names the interpreter of the runs, where it is not this one's."""


@dataclass
class PoolProgress:
    """How far a plan is."""

    waiting: list[Run]
    running: dict[str, subprocess.Popen[bytes] | None] = field(default_factory=dict)
    """Processes by the run's name; None for one on another machine."""
    finished: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def is_finished(folder: Path, run: Run) -> bool:
    """Whether a run reached its last step."""
    return (folder / run.name / "result.json").is_file()


def command(folder: Path, run: Run) -> list[str]:
    """What makes or continues a run."""
    path = folder / run.name
    train = [os.environ.get(INTERPRETER) or sys.executable, "-m", "pyresac.train", "--run-dir", str(path)]
    return [*train, "--resume"] if (path / "config.json").is_file() else [*train, *run.flags]


def run_locally(
    folder: Path, runs: Sequence[Run], workers: int, shown: Callable[[PoolProgress], None] = lambda progress: None
) -> PoolProgress:
    """Make the runs that are not finished; one that fails does not stop the others.

    shown: called whenever something changes and now and then. An interrupt stops the processes as Ctrl-C stops each of
    them, with a checkpoint, and is raised again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    progress = PoolProgress([run for run in runs if not is_finished(folder, run)])
    progress.finished = [run.name for run in runs if is_finished(folder, run)]
    try:
        while progress.waiting or progress.running:
            while progress.waiting and len(progress.running) < workers:
                run = progress.waiting.pop(0)
                progress.running[run.name] = started(folder, run)
                shown(progress)
            for name, process in list(progress.running.items()):
                assert process is not None  # all are of this machine
                code = process.poll()
                if code is None:
                    continue
                del progress.running[name]
                done = code == 0 and (folder / name / "result.json").is_file()
                (progress.finished if done else progress.failed).append(name)
                shown(progress)
            time.sleep(POLL_SECONDS)
            shown(progress)
    except BaseException:
        under_way = [process for process in progress.running.values() if process is not None]
        for process in under_way:
            process.send_signal(signal.SIGTERM)
        for process in under_way:
            process.wait()
        raise
    return progress


def started(folder: Path, run: Run) -> subprocess.Popen[bytes]:
    """The run's process, which writes into the log beside the run's folder."""
    with open(folder / f"{run.name}.log", "ab") as log:
        return subprocess.Popen(
            command(folder, run), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD}
        )
