"""Run a plan on a Ray cluster: each run a task of one core, the same command as `pool` starts on one machine.

The folder of the runs must be one that every machine sees, with the package installed for the same interpreter path: a
run that is lost with its machine is started again by Ray, and goes on from its checkpoint there.
"""

from __future__ import annotations

import importlib.util
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyresac.errors import InputError
from pyresac.experiments.experiment import Run
from pyresac.experiments.pool import PoolProgress, is_finished, started

POLL_SECONDS = 0.5
CONNECT_SECONDS = 10.0
LOCAL = "local"
"""The address of a cluster of this machine alone, made for the plan."""


def require_ray(address: str) -> None:
    """Raise InputError if Ray is not installed, or the address is empty."""
    if not address:
        raise InputError(
            "--ray was given an empty address; give 'local', 'auto' or the head's, such as ray://host:10001"
        )
    if importlib.util.find_spec("ray") is None:
        raise InputError("--ray needs Ray, which is not installed: pip install 'pyresac[ray]'")


def run_on_ray(
    address: str,
    folder: Path,
    runs: Sequence[Run],
    workers: int,
    shown: Callable[[PoolProgress], None] = lambda progress: None,
) -> PoolProgress:
    """As `run_locally`, at most `workers` runs at a time. Raises InputError if there is no cluster at the address."""
    require_ray(address)
    import ray

    _require_listening(address)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if address == LOCAL:
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
        else:
            ray.init(address=address, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"--ray {address}: no cluster there: {str(error).splitlines()[0]}") from error
    try:
        return _made(ray, folder.resolve(), runs, workers, shown)
    finally:
        ray.shutdown()


def _require_listening(address: str) -> None:
    """Raise InputError if nothing answers at HOST:PORT, where Ray itself would try for minutes."""
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if not separator:
        return
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"--ray {address}: no cluster there: {error}") from error


def _made(
    ray: Any, folder: Path, runs: Sequence[Run], workers: int, shown: Callable[[PoolProgress], None]
) -> PoolProgress:
    make = ray.remote(num_cpus=1)(_make)
    progress = PoolProgress([run for run in runs if not is_finished(folder, run)])
    progress.finished = [run.name for run in runs if is_finished(folder, run)]
    handles: dict[Any, Run] = {}
    try:
        while progress.waiting or handles:
            while progress.waiting and len(handles) < workers:
                run = progress.waiting.pop(0)
                handles[make.remote(folder, run)] = run
                progress.running[run.name] = None
                shown(progress)
            ended, _ = ray.wait(list(handles), timeout=POLL_SECONDS)
            for handle in ended:
                run = handles.pop(handle)
                del progress.running[run.name]
                (progress.finished if _succeeded(ray, handle) else progress.failed).append(run.name)
            shown(progress)
    except BaseException:
        for handle in handles:
            ray.cancel(handle)
        ray.wait(list(handles), num_returns=len(handles), timeout=60.0)
        raise
    return progress


def _succeeded(ray: Any, handle: Any) -> bool:
    try:
        return bool(ray.get(handle))
    except ray.exceptions.RayError:
        return False


def _make(folder: Path, run: Run) -> bool:
    """In the task: whether the run reached its last step. A cancelled task stops its run with a checkpoint."""
    process = started(folder, run)
    try:
        # not `wait`: Ray's cancellation does not interrupt it
        while process.poll() is None:
            time.sleep(POLL_SECONDS)
        return process.returncode == 0 and is_finished(folder, run)
    except BaseException:
        process.terminate()
        process.wait()
        raise
