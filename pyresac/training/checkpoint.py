"""Checkpoint files: safetensors, with a state and checksums in its metadata. Reading one executes nothing from it.

The one entry of the metadata, `pyresac-checkpoint`, is the text `<format> <SHA-256 of what follows> <JSON>`. The JSON
has "state", whatever the owner put there, and "arrays", which lists type, shape and SHA-256 of each array by its name.
So every part of the file is known to be as it was written, the names in the header included.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from pyresac.atomic import atomic_path
from pyresac.errors import CheckpointError, InputError
from pyresac.reading import parse_json

FORMAT = "2"
KEY = "pyresac-checkpoint"
FORMAT_1 = b"pyresac-checkpoint1\n"
"""Files of the first format begin with it."""
DTYPES = frozenset({"bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))})
DTYPES |= {"float16", "float32", "float64"}


@dataclass(frozen=True)
class Checkpoint:
    """A loaded file: `state` is JSON, `arrays` maps names to writable numeric arrays."""

    state: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def save_checkpoint(path: Path, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write `state` (JSON; integers of any size, finite floats) and `arrays` (bool, integer, float) atomically.

    Raises TypeError for another type of array, ValueError for a non-finite float in `state`, OSError if the disk
    refuses; the old file survives each of them.
    """
    plain = {name: _dense(name, array) for name, array in arrays.items()}
    table = {name: _described(array) for name, array in plain.items()}
    content = json.dumps({"state": state, "arrays": table}, allow_nan=False)
    text = f"{FORMAT} {hashlib.sha256(content.encode()).hexdigest()} {content}"
    with atomic_path(path) as temporary:
        try:
            save_file(plain, temporary, metadata={KEY: text})
        except SafetensorError as error:
            raise _disk_error(error, path) from error


def load_checkpoint(path: Path) -> Checkpoint:
    """Read and verify a file of `save_checkpoint`.

    Raises CheckpointError if it is missing, foreign, of another format, truncated, longer than it says or altered.
    """
    try:
        with open(path, "rb") as handle:
            beginning = handle.read(len(FORMAT_1))
        if beginning == FORMAT_1:
            raise CheckpointError(
                f"checkpoint {path} is of format 1, which this version does not read; go on with the commit that "
                f"versions.json names, or start anew with --config and the config.json of the run"
            )
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(KEY)
            if text is None:
                raise CheckpointError(f"{path} is not a pyresac checkpoint: its metadata have no entry {KEY!r}")
            header = _header(text, path)
            if set(file.keys()) != set(header["arrays"]):
                differing = ", ".join(sorted(set(file.keys()) ^ set(header["arrays"])))
                raise CheckpointError(f"checkpoint {path} is damaged: the arrays {differing} are on one side only")
            arrays = {name: np.array(file.get_tensor(name)) for name in header["arrays"]}
    except SafetensorError as error:
        raise CheckpointError(f"{path} is truncated, damaged or no pyresac checkpoint: {_reason(error)}") from error
    except OSError as error:
        raise CheckpointError(f"cannot read checkpoint {path}: {error.strerror or error}") from error
    for name, array in arrays.items():
        if _described(array) != header["arrays"][name]:
            raise CheckpointError(f"checkpoint {path} is damaged: array {name!r} does not match its SHA-256")
    return Checkpoint(header["state"], arrays)


@contextmanager
def fitting(where: str) -> Iterator[None]:
    """For the time in which a loaded state is taken on: a part that is missing or of another kind, as in a file that
    somebody edited and signed anew, becomes a CheckpointError that names `where` it stood."""
    try:
        yield
    except InputError:
        raise
    except KeyError as error:
        raise CheckpointError(f"{where} lacks {error}") from error
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise CheckpointError(f"{where} does not fit this version: {type(error).__name__}: {error}") from error


def _header(text: str, path: Path) -> dict[str, Any]:
    """The verified JSON of the metadata's text."""
    number, _, rest = text.partition(" ")
    digest, _, content = rest.partition(" ")
    if number != FORMAT and number.isdecimal():
        raise CheckpointError(
            f"checkpoint {path} is of format {number}; this version reads format {FORMAT}: go on with the version that "
            f"wrote it"
        )
    if number != FORMAT or hashlib.sha256(content.encode()).hexdigest() != digest:
        raise CheckpointError(f"checkpoint {path} is damaged: the state does not match its SHA-256")
    try:
        header = parse_json(content, f"the state of checkpoint {path}")
    except InputError as error:
        raise CheckpointError(str(error)) from error
    if not isinstance(header, dict) or not all(isinstance(header.get(part), dict) for part in ("state", "arrays")):
        raise CheckpointError(f"checkpoint {path} has a header without state and arrays")
    return header


def _described(array: NDArray[Any]) -> dict[str, Any]:
    digest = hashlib.sha256(array.reshape(-1).view(np.uint8).data).hexdigest()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "sha256": digest}


def _dense(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.name not in DTYPES:
        raise TypeError(f"array {name!r} has type {array.dtype}; a checkpoint holds bool, integer and float arrays")
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _reason(error: SafetensorError) -> str:
    return str(error).removeprefix("Error while deserializing header: ")


def _disk_error(error: SafetensorError, path: Path) -> OSError:
    """The library gives the system's refusal as a text, with its number."""
    text = str(error)
    _, _, tail = text.partition("os error ")
    number = int(tail.split(")")[0]) if tail.split(")")[0].isdigit() else errno.EIO
    return OSError(number, os.strerror(number) if number != errno.EIO else text, str(path))
