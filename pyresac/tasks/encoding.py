"""Python and NumPy values as JSON that gives them back exactly: type, shape and every bit."""

from __future__ import annotations

import base64
import math
from collections import deque
from typing import Any

import numpy as np

from pyresac.errors import CheckpointError

MISSING = object()
"""What `encode` gives for a value that it does not know."""
_KINDS = "biuf"
_SEQUENCES: dict[str, type[Any]] = {"tuple": tuple, "list": list}


def encode(value: Any) -> Any:
    """A number, string, None, NumPy array or scalar (bool, integer, float), or a tuple, list, deque or dictionary (by
    strings) of them, as JSON.

    MISSING for any other value.
    """
    if type(value) is float and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _encode_array(value)
    for name, kind in _SEQUENCES.items():
        if type(value) is kind:
            parts = [encode(part) for part in value]
            return MISSING if any(part is MISSING for part in parts) else {name: parts}
    if type(value) is deque:
        content = encode([value.maxlen, list(value)])
        return content if content is MISSING else {"deque": content}
    if type(value) is dict and all(type(name) is str for name in value):
        values = {name: encode(part) for name, part in value.items()}
        return MISSING if any(part is MISSING for part in values.values()) else {"dict": values}
    return MISSING


def decode(value: Any) -> Any:
    """The value of `encode`'s JSON; an array is new and writable. Raises CheckpointError for anything else."""
    if not isinstance(value, dict):
        return value
    try:
        ((kind, content),) = value.items()
        if kind == "float":
            return float(content)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](decode(part) for part in content)
        if kind == "deque":
            most, parts = decode(content)
            return deque(parts, most)
        if kind == "dict":
            return {name: decode(part) for name, part in content.items()}
        if kind in ("array", "scalar"):
            array = _decode_array(**content)
            return array if kind == "array" else array[()]
    except (ValueError, TypeError, AttributeError) as error:
        raise CheckpointError(f"a saved value is unusable: {error}") from error
    raise CheckpointError(f"a saved value is of the unknown kind {kind!r}")


def _encode_array(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind not in _KINDS:
        return MISSING
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    content = {
        "dtype": little.dtype.str,
        "shape": list(array.shape),
        "bytes": base64.b64encode(little.tobytes()).decode("ascii"),
    }
    return {"array" if isinstance(value, np.ndarray) else "scalar": content}


def _decode_array(dtype: str, shape: list[int], bytes: str) -> Any:
    kind = np.dtype(dtype)
    if kind.kind not in _KINDS:
        raise ValueError(f"an array of {dtype}")
    return (
        np.frombuffer(base64.b64decode(bytes, validate=True), dtype=kind).reshape(shape).astype(kind.newbyteorder("="))
    )
