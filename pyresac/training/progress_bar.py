"""The progress bar: one live line on a terminal, nothing elsewhere."""

from __future__ import annotations

import time
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
    """Characters that all parts but the bar and the notes take, and those of one note."""
    RATE_SECONDS = 2.0
    """Over which the rate of a counter is taken."""

    def __init__(self, console: Console, total: int, done: int, work: Mapping[str, int]) -> None:
        self._work, self._since, self._rates, self._text = work, time.monotonic(), "", ""
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

    def moved(self, step: int, work: Mapping[str, int]) -> None:
        """The run is at `step` now, with these counters beside it, whose rates are shown."""
        now = time.monotonic()
        if work and now - self._since >= self.RATE_SECONDS:
            passed = now - self._since
            rates = (f"{(work[name] - self._work[name]) / passed:,.0f} {name}/s" for name in work)
            self._work, self._since, self._rates = work, now, "  ".join(rates)
        self._bar.update(self._task, completed=step, note=self._shown())

    def note(self, values: Mapping[str, float]) -> None:
        """Show these numbers after the bar, as many as fit, the first ones first."""
        self._text = "  ".join(f"[dim]{name}[/] {value:<8.4g}" for name, value in list(values.items())[: self._notes])
        self._bar.update(self._task, note=self._shown())

    def _shown(self) -> str:
        return f"[cyan]{self._rates}[/]  {self._text}".strip()

    def __enter__(self) -> TrainingProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
