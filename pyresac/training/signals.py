"""Ctrl-C and termination as a request that the training loop reads between two steps."""

from __future__ import annotations

import signal
import time
from types import FrameType, TracebackType
from typing import Any

TOGETHER = 0.25
"""Seconds within which signals are one request: a terminal and a supervisor may send both at once."""


class StopRequest:
    """Context manager: SIGINT, SIGTERM and SIGHUP (of a terminal that is closed) set `name`.

    One that comes later does what it would do without this.

    Must be entered from the main thread; the former handlers come back at exit.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.name: str | None = None
        self._since = 0.0
        self._former: dict[signal.Signals, Any] = {}

    def __bool__(self) -> bool:
        """Whether a stop was asked for."""
        return self.name is not None

    def __enter__(self) -> StopRequest:
        # nohup lets a process ignore SIGHUP, and it should go on to
        heard = [n for n in self.SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
        self._former = {number: signal.signal(number, self._receive) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.name is None:
            self.name, self._since = signal.Signals(number).name, time.monotonic()
        elif time.monotonic() - self._since > TOGETHER:
            self._restore()
            signal.raise_signal(number)

    def _restore(self) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
        self._former = {}
