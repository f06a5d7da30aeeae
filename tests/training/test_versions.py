"""What versions.json names: Python, the libraries, the machine and the commit."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyresac
from pyresac.training import versions as module
from pyresac.training.versions import LIBRARIES, OF_TASKS, git_commit, kernels_of_products, of_libraries, versions


@pytest.fixture
def anew() -> Iterator[None]:
    """They are found once a process."""
    versions.cache_clear()
    yield
    versions.cache_clear()


def installed(names: tuple[str, ...]) -> dict[str, str]:
    """Versions of those that are installed."""
    found = {of.metadata["Name"]: of.version for of in importlib.metadata.distributions()}
    return {name: found[name] for name in names if name in found}


def test_every_library_has_the_version_that_is_installed() -> None:
    assert versions() == {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **dict.fromkeys(LIBRARIES, "not installed"),
        **installed(LIBRARIES + OF_TASKS),
        "blas": kernels_of_products(),
        "git": git_commit(Path(pyresac.__file__).parent),
    }
    machine = {"platform", "blas", "git"}
    assert of_libraries() == {name: found for name, found in versions().items() if name not in machine}
    assert machine < versions().keys()


@pytest.mark.usefixtures("anew")
def test_a_library_that_lacks_is_named_and_a_simulator_that_lacks_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name in ("tensorboard", "mujoco"):
            raise importlib.metadata.PackageNotFoundError(name)
        return f"of {name}"

    monkeypatch.setattr(module, "version", version)
    found = versions()
    assert [found.get(name) for name in ("numpy", "tensorboard", "brax", "mujoco")] == [
        *("of numpy", "not installed", "of brax", None)
    ]


def git(folder: Path, *arguments: str) -> str:
    """In a repository that knows no settings of this machine."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_commit_is_named_with_the_changes_of_the_package_alone(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    for name in ("package/code.py", "notes.txt"):
        (tmp_path / name).write_text("one\n")
    git(tmp_path, "init", "-q")
    assert git_commit(package) == "unknown", "there is no commit yet"
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "All")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert len(commit) >= 40
    (tmp_path / "notes.txt").write_text("two\n")
    (package / "draft.py").write_text("new\n")
    assert git_commit(package) == commit, "neither a change elsewhere nor a file that is not tracked counts"
    (package / "code.py").write_text("two\n")
    assert git_commit(package) == f"{commit}+changes"


def test_without_a_repository_or_git_the_commit_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_commit(tmp_path) == "unknown"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_commit(Path(pyresac.__file__).parent) == "unknown"
