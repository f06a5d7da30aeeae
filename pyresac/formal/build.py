"""Check a tree of Lean files in import order, several at a time, and remember what is checked.

A file is skipped when its text, the compiled form of everything it imports, and the checker are those of its last
good check. A changed proof changes no statement: the files that import it are skipped still.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pyresac.formal.install import Checker
from pyresac.formal.messages import Message, messages
from pyresac.formal.screen import forbidden_words
from pyresac.formal.session import EndedError, Session, Sessions
from pyresac.formal.sources import Module, closure, order, source_text

OPTIONS = ("-DautoImplicit=false",)
"""The options of the lakefile."""
ONE_THREAD = "-DElab.async=false"
"""Elaborate a file in one thread: with more, a file of many small proofs took seven times the processor time."""
PARTS = (".olean", ".olean.server", ".olean.private", ".ir")
SOURCE, OUTPUT = "/lean/source", "/lean/output"
"""Where the folders of a file appear in the checker's own file system."""


@dataclass(frozen=True)
class Result:
    """What came of one file. state: "checked", "cached", "failed" or "unreached" (an import failed)."""

    module: Module
    state: str
    seconds: float = 0.0
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Builder:
    """Checks modules in import order. built: where compiled files stay between runs."""

    checker: Checker
    built: Path
    modules: Mapping[str, Module]
    timeout: float
    fresh: bool = False
    """Check everything again."""

    def run(self, jobs: int) -> Iterator[Result]:
        """A result for every module, as they come; `jobs` files are checked at a time, those first on which the
        longest chains of imports rest."""
        shutil.rmtree(self.built / "part", ignore_errors=True)
        urgent = chains(self.modules)
        done: set[str] = set()
        left = sorted(self.modules, key=lambda name: (-urgent[name], name))
        running: dict[Future[Result], str] = {}
        with closing(Sessions(self.checker, self.built)) as sessions, ThreadPoolExecutor(jobs) as pool:
            while True:
                ready = [name for name in left if self._needs(name) <= done][: jobs - len(running)]
                for name in ready:
                    left.remove(name)
                    running[pool.submit(self.check, self.modules[name], sessions)] = name
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    name = running.pop(future)
                    result = future.result()
                    if result.state != "failed":
                        done.add(name)
                    yield result
        for name in sorted(left):
            yield Result(self.modules[name], "unreached")

    def check(self, module: Module, sessions: Sessions) -> Result:
        """Check one module whose imports are built."""
        words = tuple(
            Message(w.line, w.column, "error", f"`{w.word}` has no place here")
            for w in forbidden_words(module.text)
            if not (module.stand_in and w.word == "axiom")
        )
        if words:
            return Result(module, "failed", messages=words)
        key = self.key(module)
        if not self.fresh and self._recorded(module.name).get("key") == key:
            return Result(module, "cached")
        began = time.monotonic()
        found = self._judged(module, sessions)
        if source_text(module.file) != module.text:
            found.append(Message(1, 0, "error", "changed while it was checked; run the check again"))
        good = _good(found)
        if good:
            self._record(module.name, key)
        return Result(module, "checked" if good else "failed", time.monotonic() - began, tuple(found))

    def key(self, module: Module) -> str:
        """A hash of all that decides the outcome: the checker, the options, the text, and what it imports."""
        field = "everything" if module.imports_private else "exported"
        imports = [(name, self._recorded(name).get(field)) for name in closure(self.modules, module.name)]
        return _digest(
            json.dumps([self.checker.identity, _options(module), module.name, module.text, imports]).encode()
        )

    def _needs(self, name: str) -> set[str]:
        return {i for i in self.modules[name].imports if i in self.modules}

    def _judged(self, module: Module, sessions: Sessions) -> list[Message]:
        """What Lean says. Only a process that has checked nothing before may refuse a file."""
        with sessions.borrow() as session:
            used = session.checked > 0
            found = self._elaborate(module, session)
        if used and not _good(found):
            with sessions.borrow(fresh=True) as session:
                found = self._elaborate(module, session)
        return found

    def _elaborate(self, module: Module, session: Session) -> list[Message]:
        """Run Lean on the file; the compiled parts go into their place only if it has nothing to say against it."""
        stage = self.built / "part" / module.name
        stage.mkdir(parents=True)
        path = module.name.replace(".", "/")
        options = ["-j1", *_options(module), f"-R{SOURCE}", f"-o{OUTPUT}/{stage.name}.olean"]
        mounts = {SOURCE: module.root, OUTPUT: stage}
        try:
            reply = session.check(f"{SOURCE}/{path}.lean", options, mounts, self.timeout)
        except TimeoutError:
            found = [Message(1, 0, "error", f"not checked within {self.timeout:g} s (--timeout)")]
        except EndedError as ended:
            found = [Message(1, 0, "error", f"the checker ended with {ended}")]
        else:
            found = messages(reply.output)
            complete = (stage / f"{stage.name}.olean").exists()
            if not any(m.severity == "error" for m in found) and (reply.status != 0 or not complete):
                tail = reply.output.strip()[-1500:]
                found.append(Message(1, 0, "error", f"Lean ended with status {reply.status}:\n{tail}"))
        if _good(found):
            self._place(stage, path)
        shutil.rmtree(stage)
        return found

    def _place(self, stage: Path, path: str) -> None:
        self._record_file(path).unlink(missing_ok=True)
        for part in PARTS:
            made = stage / f"{stage.name}{part}"
            if made.exists():
                target = self.built / f"{path}{part}"
                target.parent.mkdir(parents=True, exist_ok=True)
                made.replace(target)

    def _record(self, name: str, key: str) -> None:
        path = name.replace(".", "/")
        parts = [self.built / f"{path}{part}" for part in PARTS]
        digests = [_digest(p.read_bytes()) for p in parts if p.exists()]
        record = {"key": key, "exported": digests[0], "everything": _digest("".join(digests).encode())}
        draft = self._record_file(path).with_suffix(".part")
        draft.write_text(json.dumps(record))
        draft.replace(self._record_file(path))

    def _record_file(self, path: str) -> Path:
        return self.built / f"{path}.json"

    def _recorded(self, name: str) -> dict[str, str]:
        """The record of the last good check, or nothing where there is none or it is not readable."""
        try:
            record = json.loads(self._record_file(name.replace(".", "/")).read_text())
        except (OSError, ValueError):
            return {}
        return record if isinstance(record, dict) else {}


def chains(modules: Mapping[str, Module]) -> dict[str, int]:
    """For each module the length of the longest chain of imports that begins with it, in characters of source."""
    found: dict[str, int] = {}
    for name in reversed(order(modules)):
        users = [found[m] for m, module in modules.items() if name in module.imports]
        found[name] = len(modules[name].text) + max(users, default=0)
    return found


def _options(module: Module) -> list[str]:
    """What decides how Lean reads the file."""
    return [ONE_THREAD, *OPTIONS, *module.options]


def _good(found: list[Message]) -> bool:
    return all(m.severity == "info" for m in found)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
