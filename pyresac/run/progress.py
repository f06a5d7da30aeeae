"""The progress bar: one live line on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class RateColumn(ProgressColumn):
    """Steps a second, over the last half minute."""

    def render(self, task: Task) -> Text:
        """The rate, or a dash before there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "–/s", style="cyan")


class TrainingProgress:
    """Context manager around a Rich bar of `total` steps that starts at `done`; it fits 80 columns and uses more."""

    FIXED, NOTE = 51, 16
    """Columns that all but bar and notes take, and one note."""

    def __init__(self, console: Console, total: int, done: int) -> None:
        room = console.width - self.FIXED
        self._notes = max(1, room // self.NOTE - 1)
        self._bar = Progress(
            BarColumn(bar_width=max(4, min(40, room - self._notes * self.NOTE))),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
            RateColumn(),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("training", total=total, completed=done, note="")

    def moved(self, step: int) -> None:
        """The run is at `step` now."""
        self._bar.update(self._task, completed=step)

    def note(self, values: Mapping[str, float]) -> None:
        """Show these numbers after the bar, as many as fit, the first ones first."""
        text = "  ".join(f"[dim]{name}[/] {value:<8.4g}" for name, value in list(values.items())[: self._notes])
        self._bar.update(self._task, note=text)

    def __enter__(self) -> TrainingProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
