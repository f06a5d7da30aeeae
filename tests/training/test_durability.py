"""What a loss of power, a full disk or an error on the way leaves: the order of writes, and each call that can fail."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac import atomic
from pyresac.atomic import write_atomically
from pyresac.errors import InputError
from pyresac.tabular import families
from pyresac.training import metrics_log
from pyresac.training.checkpoint import save_checkpoint
from pyresac.training.folder import RunFolder
from pyresac.training.metrics_log import MetricsLog
from pyresac.training.versions import versions

WRITERS: dict[str, Callable[[Path], None]] = {
    "content": lambda path: write_atomically(path, b"content"),
    "table.csv": families.grid(3, 0.9).save,
    "archive.npz": families.grid(3, 0.9).save,
    "step.ckpt": lambda path: save_checkpoint(path, {"step": 1}, {"weights": np.ones(3)}),
}


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What is synced, replaced and renamed from here on: a folder's or file's number in the system, or a name."""
    found: list[tuple[Any, ...]] = []
    sync = os.fsync

    def recorded_sync(descriptor: int) -> None:
        about = os.fstat(descriptor)
        found.append(("folder", about.st_ino) if stat.S_ISDIR(about.st_mode) else ("file", about.st_ino, about.st_size))
        sync(descriptor)

    def recorded(call: str, plain: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def moved(source: Any, target: Any) -> None:
            plain(source, target)
            found.append((call, Path(target)))

        return moved

    monkeypatch.setattr(os, "fsync", recorded_sync)
    for call in ("replace", "rename"):
        monkeypatch.setattr(os, call, recorded(call, getattr(os, call)))
    return found


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_synced_whole_then_renamed_then_its_folder_is_synced(
    name: str, tmp_path: Path, events: list[tuple[Any, ...]]
) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    about = path.stat()
    ours = events[-3:]  # a library may sync the file by itself before
    assert ours == [("file", about.st_ino, about.st_size), ("replace", path), ("folder", tmp_path.stat().st_ino)]
    assert about.st_size > 0


def test_the_name_of_a_new_folder_is_synced_after_it_is_given(tmp_path: Path, events: list[tuple[Any, ...]]) -> None:
    """Else a loss of power could cost a folder that a run already writes into."""
    RunFolder.create(tmp_path / "run", {"agent": "none", "run": {"seed": 3}}).close()
    assert events[-2:] == [("rename", tmp_path / "run"), ("folder", tmp_path.stat().st_ino)]


class Failing:
    """Calls of the operating system, the one with number `at` of which finds the disk full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.at, self.calls = at, list[str]()
        for name in ("mkdir", "open", "fsync", "replace", "rename"):
            monkeypatch.setattr(os, name, self._counted(name, getattr(os, name)))
        monkeypatch.setattr(fcntl, "flock", self._counted("flock", fcntl.flock))
        monkeypatch.setattr(atomic, "open", self._counted("open", open), raising=False)

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **keywords: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) == self.at:
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*args, **keywords)

        return counted


def open_files() -> list[str]:
    """The descriptors of this process."""
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open descriptors are counted in /proc")
def test_whatever_call_fails_a_new_run_folder_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions()  # read once and kept: no call of every folder
    with monkeypatch.context() as patch:
        counted = Failing(patch, 0)
        RunFolder.create(tmp_path / "whole", {"a": 1}).close()
    assert set(counted.calls) == {"mkdir", "open", "fsync", "replace", "rename", "flock"}
    for at in range(1, len(counted.calls) + 1):
        place = tmp_path / f"place-{at}"
        place.mkdir()
        before = open_files()
        with monkeypatch.context() as patch:
            failing = Failing(patch, at)
            with pytest.raises(InputError, match=rf"^cannot make run folder {place}/run: No space left on device$"):
                RunFolder.create(place / "run", {"a": 1})
        assert failing.calls[:at] == counted.calls[:at]
        assert list(place.iterdir()) == [], counted.calls[at - 1]
        assert open_files() == before, counted.calls[at - 1]


def test_a_new_folder_that_another_process_took_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(descriptor: int, operation: int) -> None:
        raise BlockingIOError

    monkeypatch.setattr(fcntl, "flock", taken)
    with pytest.raises(InputError, match="is in use by another process"):
        RunFolder.create(tmp_path / "run", {"a": 1})
    assert (tmp_path / "run" / "config.json").is_file()


class Events:
    """Stands for TensorBoard's event files."""

    made: list[Events]

    def __init__(self, folder: Path, start: int) -> None:
        self.closed = 0
        Events.made.append(self)

    def write(self, step: int, row: Any) -> None:
        """Nothing."""

    def close(self) -> None:
        """Counted."""
        self.closed += 1


def test_a_row_is_in_the_file_when_it_is_written_and_on_the_disk_when_it_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint counts on its rows, and whoever watches a run sees each of them."""
    path, synced = tmp_path / "metrics.csv", list[bytes]()
    with MetricsLog(path, ["a", "b"], 0, None) as log:
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(path.read_bytes()))
        text = b"step,a,b\n"
        for step in (1, 2):
            log.write(step, {"b": 0.5, "a": 0.1 * step})
            text += f"{step},{0.1 * step!r},0.5\n".encode()
            assert path.read_bytes() == text
        assert synced == []
        log.sync()
        assert synced == [text]


class Unclosable:
    """A file whose last bytes find the disk full."""

    def close(self) -> None:
        """Fail."""
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("way", ["end", "error", "interrupt", "disk full"])
def test_event_files_are_closed_on_every_way_out(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Events.made = []
    monkeypatch.setattr(metrics_log, "EventLog", Events)
    raised: dict[str, type[BaseException]] = {"error": ValueError, "interrupt": KeyboardInterrupt, "disk full": OSError}

    def use() -> None:
        with MetricsLog(tmp_path / "metrics.csv", ["a"], 0, tmp_path / "events") as log:
            log.write(1, {"a": 1.0})
            if way == "disk full":
                log._file.close()
                monkeypatch.setattr(log, "_file", Unclosable())
            elif way != "end":
                raise raised[way]

    if way == "end":
        use()
    else:
        with pytest.raises(raised[way]):
            use()
    assert [events.closed for events in Events.made] == [1]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open descriptors are counted in /proc")
def test_event_files_that_cannot_be_made_leave_no_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: Path, start: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(metrics_log, "EventLog", refused)
    before = open_files()
    with pytest.raises(OSError, match="No space left") as caught:
        MetricsLog(tmp_path / "metrics.csv", ["a"], 0, tmp_path / "events")
    assert open_files() == before, caught
