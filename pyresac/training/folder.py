"""The run folder: config.json, versions.json, metrics.csv, tensorboard/, checkpoints/, progress.json, result.json.

A new folder gets its name by one rename, so it is there as a whole or not at all. Each file in it is replaced as a
whole; only metrics.csv and the event files grow by rows, and on resume they are cut back to the checkpoint. So a run
can be resumed at whatever moment its process died.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pyresac.atomic import sync_folder, write_atomically
from pyresac.errors import CheckpointError, InputError
from pyresac.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from pyresac.training.versions import versions


class RunFiles:
    """One run on disk, for reading: nothing here writes or takes the lock, so a run can be read while it trains."""

    def __init__(self, path: Path) -> None:
        """Raises InputError if `path` is no run folder."""
        if not (path / "config.json").is_file():
            found = "there is no config.json in it" if path.is_dir() else "no such folder"
            raise InputError(f"{path} is not a run folder: {found}")
        self.path = path
        self.config_file = path / "config.json"
        self.metrics_file = path / "metrics.csv"
        self.result_file = path / "result.json"
        self.progress_file = path / "progress.json"
        self.tensorboard = path / "tensorboard"
        self.checkpoints = path / "checkpoints"

    def latest(self) -> Path | None:
        """The newest checkpoint, or None before the first one."""
        saved = self._saved()
        return saved[-1] if saved else None

    def load_latest(self) -> Checkpoint | None:
        """Read the newest checkpoint, None before the first one.

        Raises CheckpointError, with the way back to the one before it, if it is damaged.
        """
        saved = self._saved()
        if not saved:
            return None
        try:
            return load_checkpoint(saved[-1])
        except CheckpointError as error:
            if not saved[-1].exists():  # the run's process has removed it for a newer one
                return self.load_latest()
            if len(saved) == 1:
                raise
            raise CheckpointError(f"{error}; remove it to resume from {saved[-2].name}") from error

    def _saved(self) -> list[Path]:
        return sorted(self.checkpoints.glob("step-*.ckpt"))

    def require_untouched(self) -> None:
        """Raise CheckpointError if steps were saved but there is no checkpoint now: to begin anew would lose them."""
        for evidence in (self.progress_file, self.result_file):
            if evidence.exists():
                raise CheckpointError(
                    f"{self.path} has {evidence.name}, so checkpoints were written, but there is none in "
                    f"{self.checkpoints}: put them back, or begin anew in another --run-dir with "
                    f"--config {shlex.quote(str(self.config_file))}"
                )


class RunFolder(RunFiles):
    """One run on disk, held by one process at a time. Use `create` or `open`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._lock = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            if isinstance(error, BlockingIOError):
                raise InputError(f"run folder {path} is in use by another process; wait for it or stop it") from None
            raise

    @classmethod
    def create(cls, path: Path, config: Mapping[str, Any]) -> RunFolder:
        """Make a new run folder. Raises InputError if the path exists or cannot be made."""
        if os.path.lexists(path):
            if os.path.lexists(path / "config.json"):
                raise InputError(f"run folder {path} exists; go on with it by --resume, or name another --run-dir")
            raise InputError(f"{path} exists and is no run folder; name another --run-dir")
        draft = made = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            (draft / "checkpoints").mkdir(parents=True)
            write_atomically(draft / "config.json", _json(config))
            write_atomically(draft / "versions.json", _json(versions()))
            os.rename(draft, path)
            made = path
            sync_folder(path.parent)
            return cls(path)
        except InputError:  # another process has begun to use it
            raise
        except (OSError, ValueError) as error:  # ValueError: a null character in the name
            shutil.rmtree(made, ignore_errors=True)
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"cannot make run folder {path}: {reason}") from error

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing folder. Raises InputError if it is no run folder, or if another process holds it."""
        folder = cls(path)
        # our own temporary files, and those that safetensors renames to them
        for unfinished in (*path.glob(".*.tmp"), *folder.checkpoints.glob(".*.tmp"), *folder.checkpoints.glob(".tmp*")):
            unfinished.unlink()
        return folder

    def close(self) -> None:
        """Release the lock."""
        os.close(self._lock)

    def write_config(self, config: Mapping[str, Any]) -> None:
        """Replace config.json."""
        write_atomically(self.config_file, _json(config))

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Replace result.json, whose presence says that the run reached its last step."""
        write_atomically(self.result_file, _json(result))

    def save(self, step: int, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], keep: int) -> Path:
        """Write the checkpoint of `step`, then remove all but the newest `keep`. Returns its path; raises OSError."""
        path = self.checkpoints / f"step-{step:012d}.ckpt"
        save_checkpoint(path, {"step": step, "versions": versions(), **state}, arrays)
        write_atomically(self.progress_file, _json({"step": step, "checkpoint": path.name}))
        for old in self._saved()[:-keep]:
            old.unlink()
        return path

    def resume_command(self) -> str:
        """The command that resumes this run."""
        return f"python -m pyresac.train --run-dir {shlex.quote(str(self.path))} --resume"


def new_run_path(label: str, root: Path = Path("runs")) -> Path:
    """A path under `root` that does not exist yet: label, date and time, and a number if need be."""
    stem = f"{label}-{time.strftime('%Y%m%d-%H%M%S')}"
    candidates = [root / stem, *(root / f"{stem}-{n}" for n in range(2, 1000))]
    return next(path for path in candidates if not path.exists())


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
