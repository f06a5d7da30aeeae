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
from pyresac.experiments.pool import POLL_SECONDS, PoolProgress, run_plan, started

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
    try:
        if address == LOCAL:
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
        else:
            ray.init(address=address, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"--ray {address}: no cluster there: {str(error).splitlines()[0]}") from error
    try:
        return run_plan(OnRay(ray), folder.resolve(), runs, workers, shown)
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


class OnRay:
    """A `Place`: a task of one core for each run."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._task = ray.remote(num_cpus=1)(_make)

    def start(self, folder: Path, run: Run) -> Any:
        """See `Place`."""
        return self._task.remote(folder, run)

    def ended(self, handle: Any) -> bool | None:
        """See `Place`; a task that was lost for good has failed."""
        if not self._ray.wait([handle], timeout=0.0)[0]:
            return None
        try:
            return bool(self._ray.get(handle))
        except self._ray.exceptions.RayError:
            return False

    def stop(self, handles: Sequence[Any]) -> None:
        """See `Place`; a minute at most."""
        for handle in handles:
            self._ray.cancel(handle)
        if handles:
            self._ray.wait(list(handles), num_returns=len(handles), timeout=60.0)


def _make(folder: Path, run: Run) -> bool:
    """In the task: whether the run's command succeeded. A cancelled task stops its run with a checkpoint."""
    process = started(folder, run)
    try:
        # not `wait`: Ray's cancellation does not interrupt it
        while process.poll() is None:
            time.sleep(POLL_SECONDS)
        return process.returncode == 0
    except BaseException:
        process.terminate()
        process.wait()
        raise
