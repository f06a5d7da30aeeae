"""A request to stop: one signal, two at once, and a second one later."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from pyresac.training.signals import ONE_REQUEST, StopRequest

ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def foreground() -> Iterator[None]:
    """A shell lets what it starts in the background ignore SIGINT, and Python then leaves it so."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.parametrize("number", ALL)
def test_a_signal_is_a_request(number: signal.Signals) -> None:
    former = [signal.getsignal(each) for each in ALL]
    with StopRequest() as stop:
        assert not stop
        signal.raise_signal(number)
        assert stop
        assert stop.name == number.name
    assert [signal.getsignal(each) for each in ALL] == former


@pytest.mark.parametrize("order", [ALL, ALL[::-1], ALL[:1] * 3])
def test_signals_at_once_are_one_request(order: tuple[signal.Signals, ...]) -> None:
    """The second of them would else end the process before its checkpoint is written."""
    with StopRequest() as stop:
        for number in order:
            signal.raise_signal(number)
        assert stop.name == order[0].name


@pytest.mark.parametrize("first", ALL)
def test_a_later_one_interrupts_at_once(first: signal.Signals) -> None:
    former = [signal.getsignal(each) for each in ALL]
    with StopRequest():
        signal.raise_signal(first)
        time.sleep(ONE_REQUEST + 0.05)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert [signal.getsignal(each) for each in ALL] == former


def test_a_closed_terminal_that_is_to_be_ignored_stays_so() -> None:
    """As nohup asks for."""
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopRequest() as stop:
            signal.raise_signal(signal.SIGHUP)
            assert not stop
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, former)


def test_a_handler_that_was_put_in_after_a_second_signal_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The former ones were put back at that signal, and are not a second time."""
    heard: list[int] = []
    former = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        clock = iter([10.0, 10.0 + ONE_REQUEST + 0.001])
        monkeypatch.setattr(time, "monotonic", lambda: next(clock))
        with StopRequest() as stop:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)
            assert heard == [signal.SIGTERM]
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
        assert stop.name == "SIGTERM"
    finally:
        signal.signal(signal.SIGTERM, former)
