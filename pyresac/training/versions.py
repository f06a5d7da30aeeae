"""What produced a run: versions of Python, of the libraries, and the commit of the source."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import threadpoolctl

import pyresac

LIBRARIES = ("pyresac", "numpy", "scipy", "numba", "torch", "gymnasium", "tensorboard")
OF_TASKS = ("mujoco", "brax", "jax")
"""Simulators, which decide what a task earns; named where they are installed."""


@cache
def versions() -> dict[str, str]:
    """Names to versions, found once a process.

    "git" is the commit of the source tree, "+changes" if it has some; "blas" the kernels that NumPy's and SciPy's
    products run on: another kernel rounds otherwise, and may be twice as fast.
    """
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    for name in OF_TASKS:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    found["blas"] = kernels_of_products()
    found["git"] = git_commit(Path(pyresac.__file__).parent)
    return found


def of_libraries() -> dict[str, str]:
    """`versions` without the machine and the commit: what can differ between two machines that measure the same."""
    return {name: found for name, found in versions().items() if name not in ("platform", "blas", "git")}


def kernels_of_products() -> str:
    """Name and version of each BLAS that this process has loaded, and the processor that it computes for."""
    loaded = (library for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas")
    named = {
        " ".join(str(library.get(key) or "?") for key in ("internal_api", "version", "architecture"))
        for library in loaded
    }
    return ", ".join(sorted(named)) or "none loaded"


def git_commit(folder: Path) -> str:
    """The commit checked out around `folder`, or "unknown" for an installed package or without git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return "unknown"
    return commit + ("+changes" if _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
