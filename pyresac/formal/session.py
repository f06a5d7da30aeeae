"""Processes that check Lean files one after the other.

Starting Lean, compiled for WebAssembly, takes several seconds of a core, more than most files do; a process that has
started checks the next file at once. What a file leaves behind (memory that Lean does not give back) ends a process
after some ten files. A process is asked by a line of JSON and answers by one: see `serve.js`.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyresac.formal.install import Checker

FLAGS = ("--wasm-lazy-validation", "--wasm-tiering-budget=100000000")
"""Node's: no check of functions that are never called (validating all of 137 MB costs more than most files), and V8's
optimising compiler for the hottest functions alone: with its own budget it compiles many that are soon done."""
MARK = "\x1e"
"""Stands before a reply. Lean's own output is inside replies, as JSON, which has no such character."""
LIBRARY, BUILT = "/lean/library", "/lean/built"
"""Where compiled files appear in a process's own file system: real paths never enter it."""
HEAP = 1600 * 10**6
"""Bytes of Lean's memory, of at most 2 GB, above which a process is not asked again. Each file adds about 0.1 GB."""
TAIL = 30
"""Lines of a process's other output that are kept, to be shown where it ends unasked."""


class EndedError(Exception):
    """The process ended without a reply; the text is what it printed last."""


@dataclass(frozen=True)
class Reply:
    """Lean's exit status, and all that it printed about the file."""

    status: int
    output: str


class Session:
    """A running Lean."""

    def __init__(self, checker: Checker, built: Path) -> None:
        self.checked = 0
        """How many files it has checked."""
        self.heap = 0
        """Bytes of its memory after the last one."""
        self._mounts = {LIBRARY: checker.library, BUILT: built}
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        env = {"PATH": os.defpath, "LEAN_PATH": f"{LIBRARY}:{BUILT}"}
        # The script changes into the folder it is started in, which must exist in its own file system.
        self._process = subprocess.Popen(
            [str(checker.node), *FLAGS, str(checker.script)],
            env=env, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def usable(self) -> bool:
        """Whether it can check another file."""
        return self._process.poll() is None and self.heap <= HEAP

    def check(self, source: str, options: Sequence[str], mounts: Mapping[str, Path], timeout: float) -> Reply:
        """Run Lean on `source`, a path below one of the mounts (seen path to real folder).

        Raises TimeoutError after `timeout` seconds, when the process is ended, and EndedError where it ended.
        """
        folders = [[str(real), seen] for seen, real in (self._mounts | dict(mounts)).items()]
        request = json.dumps({"mounts": folders, "options": list(options), "source": source})
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its end is seen below
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        try:
            reply = self._replies.get(timeout=timeout)
        except queue.Empty:
            self.close()
            raise TimeoutError from None
        if reply is None:
            status = self._process.wait()
            raise EndedError(f"status {status}:\n" + "\n".join(self._tail))
        found = json.loads(reply)
        self.checked += 1
        self.heap = found["heap"]
        return Reply(found["status"], found["output"])

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close() if pipe is not None else None

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):  # closed while it was read
            for line in self._process.stdout:
                before, mark, reply = line.partition(MARK)
                if mark:
                    self._replies.put(reply)
                elif before.strip():
                    self._tail.append(before.rstrip())
        self._replies.put(None)


@dataclass
class Sessions:
    """Sessions to borrow: a used one where one is idle, else a new one."""

    checker: Checker
    built: Path
    _idle: list[Session] = field(default_factory=list)

    @contextlib.contextmanager
    def borrow(self, *, fresh: bool = False) -> Iterator[Session]:
        """A session for one file; with `fresh` one that has checked none."""
        session = self._taken()
        if session is not None and fresh:
            session.close()
            session = None
        if session is None:
            session = Session(self.checker, self.built)
        try:
            yield session
        finally:
            if session.usable:
                self._idle.append(session)
            else:
                session.close()

    def close(self) -> None:
        """End the idle sessions."""
        while (session := self._taken()) is not None:
            session.close()

    def _taken(self) -> Session | None:
        try:
            return self._idle.pop()  # one operation: safe between threads
        except IndexError:
            return None
