"""Reading files of others: whatever is wrong with one becomes an InputError that names it, in this one place."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from pyresac.errors import InputError


def read_text(path: Path, what: str = "") -> str:
    """The file's UTF-8 text, without a byte order mark, line ends as they are. `what` it is stands before its name.

    Raises InputError if it cannot be read or is no such text.
    """
    name = f"{what} {path}".strip()
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 text: byte 0x{error.object[error.start]:02X} at {error.start}"
        ) from error
    except ValueError as error:  # a path with a null character
        raise InputError(f"cannot read {name}: {error}") from error


def read_json(path: Path, what: str = "") -> Any:
    """The file's JSON. Raises InputError if it cannot be read, is no JSON, or names an entry of an object twice."""
    return parse_json(read_text(path, what), f"{what} {path}".strip())


def read_object(path: Path, what: str = "") -> dict[str, Any]:
    """`read_json` of a JSON object. Raises InputError for anything else."""
    values = read_json(path, what)
    if not isinstance(values, dict):
        raise InputError(f"{what} {path} holds {_kind(values)}; it must be a JSON object".strip())
    return values


def parse_json(text: str, where: str) -> Any:
    """JSON out of a text. Raises InputError, which begins with `where`."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise InputError(f"{where} is not JSON that can be read: it is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"{where} is not JSON: {error}") from error


def read_rows(path: Path, whole_lines: bool = False) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file that are not empty, each with the number of its last line. Raises InputError.

    whole_lines: without a last line that has no end, of a file that is being written.
    """
    text = read_text(path)
    reader = csv.reader(io.StringIO(text[: text.rfind("\n") + 1] if whole_lines else text, newline=""))
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV: {error} in line {reader.line_num}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice in one object")
    return found


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "text", bool: "a truth value", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")
