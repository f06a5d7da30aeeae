"""The rows that a resumed run keeps, and what its event files tell TensorBoard to forget."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.event_pb2 import SessionLog

from pyresac.training.metrics_log import EventLog, MetricsLog


def told(folder: Path) -> list[tuple[int, str]]:
    """The steps of the newest file's events, with what each one is."""
    newest = max(folder.iterdir(), key=lambda path: (path.stat().st_mtime_ns, path.name))
    found = []
    for event in EventFileLoader(str(newest)).Load():
        if event.HasField("session_log"):
            assert event.session_log.status == SessionLog.START
            found.append((event.step, "start"))
        elif event.HasField("summary"):
            found.append((event.step, " ".join(value.tag for value in event.summary.value)))
    return found


@pytest.mark.parametrize(
    ("start", "beginning"), [(0, []), (1, [(2, "start")]), (20, [(21, "start")]), (10**9, [(10**9 + 1, "start")])]
)
def test_a_resumed_run_begins_after_its_checkpoint(
    start: int, beginning: list[tuple[int, str]], tmp_path: Path
) -> None:
    log = EventLog(tmp_path, start)
    log.write(start + 30, {"a": 0.5, "b": math.nan})
    log.close()
    assert told(tmp_path) == [*beginning, (start + 30, "a b")]


def test_tensorboard_hides_what_was_written_after_the_checkpoint(tmp_path: Path) -> None:
    """And keeps what was written at it."""
    first = EventLog(tmp_path, 0)
    for step in (10, 20, 30):
        first.write(step, {"a": float(step)})
    first.close()
    second = EventLog(tmp_path, 20)
    second.write(40, {"a": 4.0})
    second.close()
    found = EventAccumulator(str(tmp_path)).Reload().Scalars("a")
    assert [(event.step, event.value) for event in found] == [(10, 10.0), (20, 20.0), (40, 4.0)]


NO_ROWS = ("15", "15,", "15,1", "15,1,2,3", "-1,0.5,1", "x,0.5,1", "²,0.5,1", "1.5,0.5,1", ",0.5,1", "21,0.5,1")


@pytest.mark.parametrize("row", [*NO_ROWS, "torn"])
def test_rows_that_are_none_or_not_whole_are_not_kept(row: str, tmp_path: Path) -> None:
    """Short or long ones, those whose step is no number or after the checkpoint, and a torn last one before it."""
    path = tmp_path / "metrics.csv"
    whole = "step,a,b\n5,0.25,1\n20,0.5,2\n"
    path.write_text(f"{whole}20,0.5,2" if row == "torn" else whole.replace("20,", f"{row}\n20,"))
    with MetricsLog(path, ["a", "b"], 20, None) as log:
        log.write(30, {"a": 0.1, "b": 3})
    assert path.read_text() == f"{whole}30,0.1,3\n"


def test_an_empty_file_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("")
    with MetricsLog(path, ["a"], 0, None):
        pass
    assert path.read_text() == "step,a\n"
