"""Ctrl-C and termination as a request that the training loop reads between two steps."""

from __future__ import annotations

import signal
import time
from types import FrameType, TracebackType
from typing import Any

ONE_REQUEST = 0.25
"""Seconds within which several signals are one request: a terminal and a supervisor may send one each."""


class StopRequest:
    """Context manager: the first SIGINT, SIGTERM or SIGHUP (of a closed terminal) sets `name`.

    A later signal has its usual effect again. Must be entered from the main thread; at exit the former handlers are put
    back.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.name: str | None = None
        self._since: float
        """When the first signal came."""
        self._former: dict[signal.Signals, Any] = {}

    def __bool__(self) -> bool:
        """Whether a stop was asked for."""
        return self.name is not None

    def __enter__(self) -> StopRequest:
        # a process under nohup ignores SIGHUP and must go on doing so
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
        elif time.monotonic() - self._since > ONE_REQUEST:
            self._restore()
            signal.raise_signal(number)

    def _restore(self) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
        self._former = {}
