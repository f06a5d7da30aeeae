"""The progress bar: one live line on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class RateColumn(ProgressColumn):
    """Steps a second, over the last half minute."""

    def render(self, task: Task) -> Text:
        """The rate, or a dash before there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "–/s", style="cyan")


class TrainingProgress:
    """Context manager around a Rich bar of `total` steps that starts at `done`."""

    def __init__(self, console: Console, total: int, done: int) -> None:
        self._bar = Progress(
            TextColumn("[bold]training"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            RateColumn(),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=not console.is_terminal,
            expand=True,
        )
        self._task = self._bar.add_task("training", total=total, completed=done, note="")

    def moved(self, step: int) -> None:
        """The run is at `step` now."""
        self._bar.update(self._task, completed=step)

    def note(self, values: Mapping[str, float]) -> None:
        """Show these numbers after the bar."""
        text = "  ".join(f"[dim]{name}[/] {value:.4g}" for name, value in values.items())
        self._bar.update(self._task, note=text)

    def __enter__(self) -> TrainingProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
