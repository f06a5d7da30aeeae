"""Runs of pytest in forks of a process that has imported the large libraries: most of a short run is their import."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

LIBRARIES = [
    "numpy",
    "scipy.sparse",
    "scipy.stats",
    "scipy.linalg",
    "numba",
    "torch",
    "gymnasium",
    "hypothesis",
    "pytest",
]
"""Imported once; nothing of this package is."""


def _run(copy: str, options: list[str], cache: str, output: str) -> None:
    """In the fork: pytest in the folder `copy`, with its code and this cache of kernels; exits with its status."""
    import numba
    import pytest

    os.setpgrp()
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.chdir(copy)
    # this module came from the repository's own package of that name
    for name in [name for name in sys.modules if name.split(".")[0] == __name__.split(".")[0]]:
        del sys.modules[name]
    sys.path[:] = [copy, *(path for path in sys.path if not Path(path or ".").joinpath("pyresac").is_dir())]
    # for processes that the tests start, and for this one
    os.environ |= {"PYTHONPATH": copy, "NUMBA_CACHE_DIR": cache, "PYTEST_ADDOPTS": ""}
    numba.config.CACHE_DIR = cache
    status = pytest.main(options)
    sys.stdout.flush()
    os._exit(int(status))


def run_forked(copy: Path, options: list[str], cache: Path, limit: float) -> tuple[int | None, str]:
    """(exit status, or None after `limit` seconds; the first test that failed, or ""). A crash is a status.

    What the tests started and did not end is killed: a fault may well be that nobody ends it.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as output:
        process = context.Process(target=_run, args=(str(copy), options, str(cache), output.name))
        process.start()
        process.join(limit)
        late = process.is_alive()
        if late:
            process.kill()
            process.join()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if late:
            return None, ""
        # the test's function: the names of its cases may hold anything
        first = re.search(r"^FAILED ([^\s\[]+)", output.read(), flags=re.MULTILINE)
        return process.exitcode, first.group(1) if first else ""
