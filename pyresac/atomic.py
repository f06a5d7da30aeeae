"""Writing files so that a reader sees the old content or the new one, never a part, whatever kills the writer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pyresac.errors import InputError


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give the path of a temporary file beside `path` that is to be written; on success sync it and rename it onto
    `path`, on failure remove it.

    Raises OSError (disk full, no permission), which names the file, with `path` left as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with naming(path):
            yield temporary
            descriptor = os.open(temporary, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell
            temporary.unlink()
        raise
    sync_folder(path.parent)


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """`atomic_path`, opened for writing."""
    with atomic_path(path) as temporary, open(temporary, "wb") as handle:
        yield handle


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError without a file's name, as a full disk gives, gets this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(".tmp"):
            error.filename = str(path)
        raise


def require_output(out: Path, *read: Path | str | None, name: str = "out") -> None:
    """Raise InputError, before any work, where no file can be written to `out`: it is a folder, its folder is not
    there, or it is one of the files that the command reads (names that are no files are passed over)."""
    if out.is_dir():
        raise InputError(f"{name} is {out}, which is a folder; name a file in it")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{name} is {out}; there is no folder {out.absolute().parent}")
    if out.exists() and any(file is not None and Path(file).exists() and out.samefile(file) for file in read):
        raise InputError(f"{name} is {out}, which the command reads and would overwrite; name another file")


def write_atomically(path: Path, content: bytes) -> None:
    """Replace the file's content as a whole (see `atomic_writer`)."""
    with atomic_writer(path) as handle:
        handle.write(content)


def sync_folder(folder: Path) -> None:
    """Make a rename or a new name inside `folder` survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
