"""metrics.csv and TensorBoard events.

No clock enters metrics.csv: two runs of one seed, or a run in one piece and in two, give the same bytes.
"""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from pyresac.atomic import naming, write_atomically
from pyresac.errors import InputError
from pyresac.reading import read_rows


class MetricsLog:
    """Appends rows (step, then `columns`) to the CSV, and the same scalars to TensorBoard where a folder is given.

    start: the step that the run goes on from; rows beyond it, written after the last checkpoint, are removed.
    Raises InputError if the file has other columns.
    """

    def __init__(self, path: Path, columns: Sequence[str], start: int, tensorboard: Path | None) -> None:
        self._path, self.columns = path, ["step", *columns]
        kept = _rows_until(path, self.columns, start) if path.exists() else []
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *kept])
        write_atomically(path, text.getvalue().encode())
        self._file = open(path, "a", encoding="utf-8", newline="")  # noqa: SIM115 — closed in __exit__
        self._rows = csv.writer(self._file, lineterminator="\n")
        try:
            self._events = None if tensorboard is None else EventLog(tensorboard, start)
        except BaseException:
            self._file.close()
            raise

    def write(self, step: int, row: Mapping[str, float]) -> None:
        """Add one row; floats are written so that reading them gives the same bits."""
        with naming(self._path):
            self._rows.writerow([step, *(repr(row[name]) for name in self.columns[1:])])
            self._file.flush()
        if self._events is not None:
            self._events.write(step, row)

    def sync(self) -> None:
        """Write every row to the disk. A checkpoint counts on them, so this comes before it."""
        with naming(self._path):
            os.fsync(self._file.fileno())

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with naming(self._path):
                self._file.close()
        finally:
            if self._events is not None:
                self._events.close()


class EventLog:
    """TensorBoard scalars, written without a deep-learning library."""

    def __init__(self, folder: Path, start: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._writer = EventFileWriter(str(folder))
        if start > 0:
            # TensorBoard hides what an earlier process wrote from this step on.
            again = Event(wall_time=time.time(), step=start + 1, session_log=SessionLog(status=SessionLog.START))
            self._writer.add_event(again)

    def write(self, step: int, row: Mapping[str, float]) -> None:
        """Add every entry of `row` as a scalar of that name."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=name, simple_value=float(value)) for name, value in row.items()]
        self._writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def close(self) -> None:
        """Flush and close the file."""
        self._writer.close()


def _rows_until(path: Path, columns: list[str], step: int) -> list[list[str]]:
    rows = [row for _, row in read_rows(path, whole_lines=True)]
    if rows and rows[0] != columns:
        raise InputError(f"{path} has the columns {', '.join(rows[0])}; this run writes {', '.join(columns)}")
    complete = [row for row in rows[1:] if len(row) == len(columns) and row[0].isascii() and row[0].isdigit()]
    return [row for row in complete if int(row[0]) <= step]
