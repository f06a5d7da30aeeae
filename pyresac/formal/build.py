"""Check a tree of Lean files in import order, several at a time, and remember what is checked.

A file is skipped when its text, the compiled form of everything it imports, and the checker are those of its last
good check. A changed proof changes no statement: the files that import it are skipped still.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from pyresac.formal.install import Checker
from pyresac.formal.messages import Message, messages
from pyresac.formal.screen import forbidden_words
from pyresac.formal.sources import Module, closure, source_text

OPTIONS = ("-DautoImplicit=false",)
"""The options of the lakefile."""
FLAGS = ("--liftoff-only", "--wasm-lazy-validation")
"""Node's: V8's baseline compiler alone, and no check of functions that are never called; optimising 137 MB of
WebAssembly, or validating all of it, costs more than it gains."""
PARTS = (".olean", ".olean.server", ".olean.private", ".ir")
SEEN = {"library": "/lean/library", "built": "/lean/built", "source": "/lean/source", "output": "/lean/output"}
"""Where the folders appear in the checker's own file system: real paths never enter it."""


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
        """A result for every module, as they come; `jobs` files are checked at a time."""
        shutil.rmtree(self.built / "part", ignore_errors=True)
        done: set[str] = set()
        left = set(self.modules)
        running: dict[Future[Result], str] = {}
        with ThreadPoolExecutor(jobs) as pool:
            while True:
                for name in sorted(left):
                    if self._needs(name) <= done:
                        left.discard(name)
                        running[pool.submit(self.check, self.modules[name])] = name
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

    def check(self, module: Module) -> Result:
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
        found = self._elaborate(module)
        if source_text(module.file) != module.text:
            found.append(Message(1, 0, "error", "changed while it was checked; run the check again"))
        bad = any(m.severity != "info" for m in found)
        if not bad:
            self._record(module.name, key)
        return Result(module, "failed" if bad else "checked", time.monotonic() - began, tuple(found))

    def key(self, module: Module) -> str:
        """A hash of all that decides the outcome: the checker, the options, the text, and what it imports."""
        field = "everything" if module.imports_private else "exported"
        imports = [(name, self._recorded(name).get(field)) for name in closure(self.modules, module.name)]
        return _digest(
            json.dumps([self.checker.identity, [*OPTIONS, *module.options], module.name, module.text, imports]).encode()
        )

    def _needs(self, name: str) -> set[str]:
        return {i for i in self.modules[name].imports if i in self.modules}

    def _elaborate(self, module: Module) -> list[Message]:
        """Run Lean on the file; the compiled parts go into their place only if it has nothing to say against it."""
        stage = self.built / "part" / module.name
        stage.mkdir(parents=True)
        path = module.name.replace(".", "/")
        mounts = {"library": self.checker.library, "built": self.built, "source": module.root, "output": stage}
        env = {
            "PATH": os.defpath,
            "LEAN_PATH": f"{SEEN['library']}:{SEEN['built']}",
            "LEAN_MOUNTS": json.dumps([[str(folder), SEEN[name]] for name, folder in mounts.items()]),
        }
        target = f"{SEEN['output']}/{stage.name}.olean"
        command = [str(self.checker.node), *FLAGS, str(self.checker.script), "-j1", *OPTIONS, *module.options]
        command += ["-R", SEEN["source"], "-o", target, f"{SEEN['source']}/{path}.lean"]
        try:
            # The script changes into the folder it is started in, which must exist in its own file system.
            run = subprocess.run(
                command, env=env, cwd="/", capture_output=True, text=True, timeout=self.timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return [Message(1, 0, "error", f"not checked within {self.timeout:g} s (--timeout)")]
        found = messages(run.stdout + run.stderr)
        complete = (stage / f"{stage.name}.olean").exists()
        if not any(m.severity == "error" for m in found) and (run.returncode != 0 or not complete):
            tail = (run.stdout + run.stderr).strip()[-1500:]
            found.append(Message(1, 0, "error", f"the checker ended with status {run.returncode}:\n{tail}"))
        if all(m.severity == "info" for m in found):
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


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
