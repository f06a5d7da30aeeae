"""The progress bar at the width of a terminal, on a clock that the test moves."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

import pytest
from rich.console import Console
from rich.progress import BarColumn

from pyresac.training.progress_bar import TrainingProgress

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A terminal, with its time and what stands on its last line."""

    def __init__(self, width: int = 120, terminal: bool = True) -> None:
        self.now = 1000.0
        self.file = io.StringIO()
        self.console = Console(
            file=self.file, force_terminal=terminal, width=width, color_system=None, get_time=lambda: self.now
        )

    def line(self, bar: TrainingProgress) -> str:
        """The bar, drawn now."""
        bar._bar.refresh()
        return re.split(r"[\r\n]", CONTROL.sub("", self.file.getvalue()).rstrip())[-1].rstrip()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal()
    monkeypatch.setattr("pyresac.training.progress_bar.time.monotonic", lambda: made.now)
    return made


def test_a_line_has_steps_rate_and_the_time_that_is_left_then_the_time_that_it_took(terminal: Terminal) -> None:
    with TrainingProgress(terminal.console, 3000, 1000, {}) as bar:
        assert terminal.line(bar).endswith(" 1,000/3,000 –/s --:--"), "no rate before there is one"
        for step in (1100, 1200, 1300):
            terminal.now += 1.0
            bar.moved(step, {})
        # a hundred steps a second; 1,700 are left
        assert terminal.line(bar).endswith(" 1,300/3,000 100/s 00:17")
        terminal.now += 22.0
        bar.moved(3000, {})
        assert re.fullmatch(r"━+ 3,000/3,000 [\d,]+/s 00:25", terminal.line(bar)), "25 seconds in all"


def test_rates_of_counters_are_of_the_last_two_seconds(terminal: Terminal) -> None:
    """A rate stays until as long a time has passed again, and then is of that time alone."""
    with TrainingProgress(terminal.console, 10_000, 0, {"updates": 7, "episodes": 0}) as bar:
        shown: list[str] = []
        for after, work in [
            (1.9, {"updates": 4000, "episodes": 3}),
            (0.1, {"updates": 5007, "episodes": 4}),
            (1.0, {"updates": 9999, "episodes": 9}),
            (3.0, {"updates": 5017, "episodes": 8}),
        ]:
            terminal.now += after
            bar.moved(100, work)
            shown.append(" ".join(re.findall(r"[\d,]+ \w+/s", terminal.line(bar))))
        assert shown == ["", *["2,500 updates/s 2 episodes/s"] * 2, "2 updates/s 1 episodes/s"]


@pytest.mark.parametrize(
    ("width", "kept", "bar_width"), [(40, 1, 4), (80, 1, 13), (99, 2, 16), (120, 3, 21), (131, 4, 16), (147, 5, 16)]
)
def test_as_many_notes_as_fit_beside_a_bar(width: int, kept: int, bar_width: int) -> None:
    """The first ones, one at least; what they leave is the bar's, which is never below 4 nor above 40."""
    made = Terminal(width)
    values = {name: 0.123456 * 10**place for place, name in enumerate("abcdef")}
    with TrainingProgress(made.console, 10, 0, {}) as bar:
        bar.note(values)
        task = bar._bar.tasks[0]
        assert re.findall(r"\[dim\](\w)\[/\]", task.fields["note"]) == list(values)[:kept]
        assert isinstance(first := bar._bar.columns[0], BarColumn)
        assert first.bar_width == bar_width
        if width >= 80:
            line = made.line(bar)
            assert line.index(" 0/10 ") == bar_width
            assert line.endswith(
                "  ".join(f"{name} {value:<8.4g}" for name, value in list(values.items())[:kept]).rstrip()
            )


def test_rates_stand_before_the_notes_and_stay_with_them(terminal: Terminal) -> None:
    work: Mapping[str, int] = {"updates": 0}
    with TrainingProgress(terminal.console, 10, 0, work) as bar:
        bar.note({"return": -12.5})
        assert terminal.line(bar).endswith("return -12.5")
        terminal.now += 2.0
        bar.moved(5, {"updates": 6})
        assert terminal.line(bar).endswith("3 updates/s  return -12.5")
        bar.note({"return": 4.0})
        assert terminal.line(bar).endswith("3 updates/s  return 4")


def test_nothing_is_drawn_where_no_terminal_is() -> None:
    made = Terminal(terminal=False)
    with TrainingProgress(made.console, 10, 0, {"updates": 0}) as bar:
        bar.moved(10, {"updates": 1})
        bar.note({"return": 1.0})
    assert made.file.getvalue().strip() == ""


def test_nothing_is_drawn_after_the_end() -> None:
    """Nor before the beginning: another bar may then have the terminal."""
    made = Terminal()
    bar = TrainingProgress(made.console, 10, 0, {})
    assert not bar._bar.live.is_started
    for _ in range(2):
        with bar:
            assert bar._bar.live.is_started
        assert not bar._bar.live.is_started
