"""Run a plan: each run a process of its own with one thread, so many side by side; what was cut short goes on.

A run's folder says how far it is: with result.json it is finished and not made again, with a checkpoint it is resumed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from pyresac.experiments.experiment import Run

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
POLL_SECONDS = 0.5
INTERPRETER = "PYRESAC_PYTHON"
"""Environment variable that names the interpreter of the runs, where it is not this one's."""


@dataclass
class PoolProgress:
    """How far a plan is."""

    waiting: list[Run]
    running: dict[str, Any] = field(default_factory=dict)
    """By the run's name, what its `Place` knows it by."""
    finished: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class Place(Protocol):
    """Where runs are made."""

    def start(self, folder: Path, run: Run) -> Any:
        """Make or continue a run; what it is known by from then on."""

    def ended(self, handle: Any) -> bool | None:
        """Whether the run's command succeeded; None while it runs."""

    def stop(self, handles: Sequence[Any]) -> None:
        """Stop runs as Ctrl-C stops each of them, with a checkpoint, and wait for their ends."""


def is_finished(folder: Path, run: Run) -> bool:
    """Whether a run reached its last step."""
    return (folder / run.name / "result.json").is_file()


def command(folder: Path, run: Run) -> list[str]:
    """What makes or continues a run."""
    path = folder / run.name
    train = [os.environ.get(INTERPRETER) or sys.executable, "-m", "pyresac.train", "--run-dir", str(path)]
    return [*train, "--resume"] if (path / "config.json").is_file() else [*train, *run.flags]


def run_plan(
    place: Place,
    folder: Path,
    runs: Sequence[Run],
    workers: int,
    shown: Callable[[PoolProgress], None] = lambda progress: None,
) -> PoolProgress:
    """Make the runs that are not finished; one that fails does not stop the others.

    shown: called whenever something changes and now and then. An interrupt stops the runs and is raised again, and so
    do SIGTERM and the SIGHUP of a closed terminal, as an interrupt.
    """
    folder.mkdir(parents=True, exist_ok=True)
    progress = PoolProgress([run for run in runs if not is_finished(folder, run)])
    progress.finished = [run.name for run in runs if is_finished(folder, run)]
    with interrupted_by(signal.SIGTERM, signal.SIGHUP):
        _make_all(place, folder, progress, workers, shown)
    return progress


@contextmanager
def interrupted_by(*signals: signal.Signals) -> Iterator[None]:
    """Within it each of these signals is a KeyboardInterrupt, but for one that the process ignores, as under nohup.

    The interrupt comes at once: a run that hears two signals more than a moment apart ends without a checkpoint.
    Nothing changes in another thread than the main one, which hears no signals.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(f"stopped by {signal.Signals(number).name}")

    former: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        heard = [number for number in signals if signal.getsignal(number) != signal.SIG_IGN]
        former = {number: signal.signal(number, interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _make_all(
    place: Place, folder: Path, progress: PoolProgress, workers: int, shown: Callable[[PoolProgress], None]
) -> None:
    """Until no run waits or runs."""
    try:
        while progress.waiting or progress.running:
            while progress.waiting and len(progress.running) < workers:
                run = progress.waiting.pop(0)
                progress.running[run.name] = place.start(folder, run)
                shown(progress)
            for name, handle in list(progress.running.items()):
                succeeded = place.ended(handle)
                if succeeded is None:
                    continue
                del progress.running[name]
                done = succeeded and (folder / name / "result.json").is_file()
                (progress.finished if done else progress.failed).append(name)
                shown(progress)
            time.sleep(POLL_SECONDS)
            shown(progress)
    except BaseException:
        place.stop(list(progress.running.values()))
        raise


class ThisMachine:
    """A `Place`: a process of its own for each run."""

    def start(self, folder: Path, run: Run) -> subprocess.Popen[bytes]:
        """See `Place`."""
        return started(folder, run)

    def ended(self, handle: subprocess.Popen[bytes]) -> bool | None:
        """See `Place`."""
        code = handle.poll()
        return None if code is None else code == 0

    def stop(self, handles: Sequence[subprocess.Popen[bytes]]) -> None:
        """See `Place`."""
        for process in handles:
            process.send_signal(signal.SIGTERM)
        for process in handles:
            process.wait()


def run_locally(
    folder: Path, runs: Sequence[Run], workers: int, shown: Callable[[PoolProgress], None] = lambda progress: None
) -> PoolProgress:
    """`run_plan` on this machine."""
    return run_plan(ThisMachine(), folder, runs, workers, shown)


def started(folder: Path, run: Run) -> subprocess.Popen[bytes]:
    """The run's process, which writes into the log beside the run's folder."""
    with open(folder / f"{run.name}.log", "ab") as log:
        return subprocess.Popen(
            command(folder, run), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD}
        )
