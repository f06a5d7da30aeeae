"""Ctrl-C and termination as a request that the training loop reads between two steps."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any


class StopRequest:
    """Context manager: SIGINT and SIGTERM set `name`; a second one interrupts at once, as without it.

    Must be entered from the main thread; the former handlers come back at exit.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.name: str | None = None
        self._former: dict[signal.Signals, Any] = {}

    def __bool__(self) -> bool:
        """Whether a stop was asked for."""
        return self.name is not None

    def __enter__(self) -> StopRequest:
        self._former = {number: signal.signal(number, self._receive) for number in self.SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
        self._former = {}
