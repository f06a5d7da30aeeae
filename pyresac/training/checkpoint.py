"""Checkpoint files: a JSON header and raw arrays, each with its SHA-256. Reading one executes nothing from it.

Layout: the 20-byte magic line, the header's length (8 bytes, little endian), the header's SHA-256 (32 bytes), the
header (UTF-8 JSON), then the arrays' bytes one after the other in C order. The header's "arrays" lists name, dtype,
shape and digest in that order; its "state" is whatever JSON the owner put there.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.atomic import atomic_writer
from pyresac.errors import CheckpointError

MAGIC = b"pyresac-checkpoint1\n"
_PRELUDE = len(MAGIC) + 8 + 32
_KINDS = "biuf"


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
    plain = {name: _little_endian(name, array) for name, array in arrays.items()}
    table = [
        {
            "name": name,
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "sha256": hashlib.sha256(_bytes(array)).hexdigest(),
        }
        for name, array in plain.items()
    ]
    header = json.dumps({"arrays": table, "state": state}, allow_nan=False).encode()
    with atomic_writer(path) as handle:
        handle.write(MAGIC + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest() + header)
        for array in plain.values():
            handle.write(_bytes(array))


def load_checkpoint(path: Path) -> Checkpoint:
    """Read and verify a file of `save_checkpoint`.

    Raises CheckpointError if it is missing, foreign, truncated, longer than it says or altered anywhere.
    """
    try:
        size = path.stat().st_size
        with open(path, "rb") as handle:
            header = _read_header(handle, path, size)
            return Checkpoint(header["state"], _read_arrays(handle, path, size, header["arrays"]))
    except OSError as error:
        raise CheckpointError(f"cannot read checkpoint {path}: {error.strerror}") from error


def _read_header(handle: BufferedReader, path: Path, size: int) -> dict[str, Any]:
    prelude = handle.read(_PRELUDE)
    if prelude[: len(MAGIC)] != MAGIC[: len(prelude)] or not prelude:
        raise CheckpointError(
            f"{path} is not a pyresac checkpoint: it begins with {prelude[: len(MAGIC)]!r}, not {MAGIC!r}"
        )
    length = int.from_bytes(prelude[len(MAGIC) : len(MAGIC) + 8], "little")
    if len(prelude) < _PRELUDE or size < _PRELUDE + length:
        raise CheckpointError(f"checkpoint {path} is truncated: {size} bytes end inside its header")
    raw = handle.read(length)
    if hashlib.sha256(raw).digest() != prelude[-32:]:
        raise CheckpointError(f"checkpoint {path} is damaged: the header does not match its SHA-256")
    header = json.loads(raw)
    if not isinstance(header, dict) or not {"arrays", "state"} <= header.keys():
        raise CheckpointError(f"checkpoint {path} has a header without state and arrays")
    return header


def _read_arrays(handle: BufferedReader, path: Path, size: int, table: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    try:
        lengths = [_checked_dtype(entry).itemsize * math.prod(entry["shape"]) for entry in table]
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"checkpoint {path} lists an unusable array: {error}") from error
    expected = handle.tell() + sum(lengths)
    if size != expected:
        what = "truncated" if size < expected else "longer than its header says"
        raise CheckpointError(f"checkpoint {path} is {what}: {size} bytes, expected {expected}")
    arrays = {}
    for entry in table:
        array = np.empty(entry["shape"], dtype=np.dtype(entry["dtype"]))
        handle.readinto(_bytes(array))
        if hashlib.sha256(_bytes(array)).hexdigest() != entry["sha256"]:
            raise CheckpointError(f"checkpoint {path} is damaged: array {entry['name']!r} does not match its SHA-256")
        arrays[entry["name"]] = array
    return arrays


def _checked_dtype(entry: dict[str, Any]) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(entry["dtype"])
    if dtype.kind not in _KINDS or any(type(n) is not int or n < 0 for n in entry["shape"]):
        raise ValueError(f"{entry['name']!r} of type {dtype} and shape {entry['shape']}")
    return dtype


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"array {name!r} has type {array.dtype}; a checkpoint holds bool, integer and float arrays")
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
