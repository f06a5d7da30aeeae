"""What the commands have in common: how they print, and how they end."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from rich.console import Console
from rich.markup import escape

from pyresac.errors import DivergenceError, InputError

PIPE_WIDTH = 160
PACKAGE = Path(__file__).parent


class Output:
    """A text stream that takes whatever is written to it: no reader, no terminal any more, and characters that it does
    not have cost what would have been seen, and no work."""

    def __init__(self, stream: TextIO | None) -> None:
        """stream: None where the process was started without it."""
        self._stream = stream

    def write(self, text: str) -> int:
        """All of it counts as written."""
        if self._stream is None:
            return len(text)
        try:
            self._stream.write(text)
        except UnicodeEncodeError:
            encoding = self._stream.encoding
            self.write(text.encode(encoding, "replace").decode(encoding))
        except OSError as error:
            self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Without an error either."""
        try:
            if self._stream is not None:
                self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream is not None and self._stream.isatty()

    @property
    def encoding(self) -> str:
        """Its encoding."""
        return "utf-8" if self._stream is None else self._stream.encoding

    def __getattr__(self, name: str) -> Any:
        """Anything else is the stream's; a missing one has nothing."""
        return getattr(self._stream, name)

    def _give_up(self, error: OSError) -> None:
        """Nobody reads this any more, so what Python flushes at its end goes nowhere too. A full disk is an error."""
        if error.errno not in (errno.EPIPE, errno.EIO, errno.EBADF):
            raise error
        abandon(self._stream)
        self._stream = None


def abandon(stream: TextIO | None) -> None:
    """Let what the stream still holds go to the null device, so that its end is no error."""
    try:
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    except (OSError, ValueError):
        pass  # a stream in memory has no descriptor, and a closed one nothing to lose


@contextmanager
def safe_streams() -> Iterator[None]:
    """Within it, all that is printed, by parsers and libraries too, goes through an `Output`."""
    _open_descriptors()
    with redirect_stdout(_file(_output(sys.stdout))), redirect_stderr(_file(_output(sys.stderr))):
        yield


def _open_descriptors() -> None:
    """A process that was started without one of its three streams would give that number to the next file that it
    opens, and what a library prints would go into that file."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _output(stream: Any) -> Output:
    return stream if isinstance(stream, Output) else Output(stream)


def standard_output() -> Output:
    """What `sys.stdout` is now."""
    return _output(sys.stdout)


def console(stderr: bool = False) -> Console:
    """For messages, on an `Output`."""
    return Console(file=_file(_output(sys.stderr if stderr else sys.stdout)), highlight=False, emoji=False)


def wide_console() -> Console:
    """For tables: as wide as the terminal, with room for every table in a pipe, which has no width."""
    output = standard_output()
    return Console(file=_file(output), highlight=False, emoji=False, width=None if output.isatty() else PIPE_WIDTH)


def _file(output: Output) -> TextIO:
    found: Any = output
    stream: TextIO = found
    return stream


def exit_code(work: Callable[[], int | None]) -> int:
    """Do the work and return its exit code, 0 for None; or say in one message why it ended early. Parsing belongs to
    the work: help goes to a reader that may have seen enough.

    2 for bad input, 1 when a number is not finite, or the disk or memory refused, 130 when interrupted.
    """
    with safe_streams(), warnings.catch_warnings():
        warnings.showwarning = _noted(warnings.showwarning)
        try:
            return work() or 0
        except InputError as error:
            return _said("error", str(error), 2)
        except (DivergenceError, OSError) as error:
            return _said("stopped", str(error), 1)
        except MemoryError as error:
            return _said("stopped", f"memory is exhausted: {error}", 1)
        except KeyboardInterrupt as interrupt:
            return _said("stopped", str(interrupt) or "interrupted", 130)


def checked(arguments: list[str] | None) -> list[str]:
    """The command line's arguments, those of the process for None.

    Raises InputError for an empty one, which an unset variable of the shell leaves: as a path it would be this folder.
    """
    found = sys.argv[1:] if arguments is None else arguments
    for before, argument in zip(["", *found], found, strict=False):
        name = argument.removesuffix("=") if argument.startswith("--") else before if before.startswith("--") else "one"
        if argument == "" or (argument.startswith("--") and argument.endswith("=")):
            raise InputError(f"{name} was given an empty path or value")
    return found


Shown: TypeAlias = Callable[..., None]
"""`warnings.showwarning`."""


def _noted(other: Shown) -> Shown:
    """Shows a warning of this package as a note, without the line of code; any other as `other` does."""

    def show(message: Warning | str, category: type[Warning], filename: str, *rest: Any, **more: Any) -> None:
        if Path(filename).is_relative_to(PACKAGE):
            console(stderr=True).print(f"[yellow]note:[/] {escape(str(message))}", soft_wrap=True)
        else:
            other(message, category, filename, *rest, **more)

    return show


def _said(how: str, why: str, code: int) -> int:
    console(stderr=True).print(f"[bold red]{how}:[/] {escape(why)}", soft_wrap=True)
    return code
