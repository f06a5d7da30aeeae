"""Options as data: dataclasses to JSON and back, strictly typed, and the differences between two of them."""

from __future__ import annotations

import dataclasses
import json
import types
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pyresac.errors import InputError

T = TypeVar("T")


def to_dict(config: object) -> dict[str, Any]:
    """The fields of a dataclass instance, nested dataclasses as nested dictionaries, tuples as lists."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))  # type: ignore[call-overload]
    return plain


def from_dict(cls: type[T], values: Any, where: str) -> T:
    """Build `cls` from the output of `to_dict`; absent fields keep their defaults.

    Raises InputError naming `where` and the field for an unknown field or a value of another type.
    """
    built: T = _convert(cls, values, where)
    return built


def load_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file. Raises InputError if it is missing or something else."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read configuration {path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"configuration {path} is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"configuration {path} holds {type(values).__name__}; it must be a JSON object")
    return values


def differences(old: dict[str, Any], new: dict[str, Any], *, free: frozenset[str] = frozenset()) -> list[str]:
    """A line `name: old → new` for each entry that differs and is not in `free`; nested names read `outer.inner`."""
    return _compare(old, new, "", free)


def _compare(old: dict[str, Any], new: dict[str, Any], prefix: str, free: frozenset[str]) -> list[str]:
    lines = []
    for name in [*old, *(n for n in new if n not in old)]:
        before, after = old.get(name), new.get(name)
        full = prefix + name
        if full in free or before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            lines += _compare(before, after, full + ".", free)
        else:
            lines.append(f"{full}: {before!r} → {after!r}")
    return lines


def _convert(kind: Any, value: Any, where: str) -> Any:
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _convert_dataclass(kind, value, where)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in get_args(kind):
            return None
        (inner,) = [option for option in get_args(kind) if option is not type(None)]
        return _convert(inner, value, where)
    if origin is Literal:
        if value not in get_args(kind):
            raise InputError(f"{where} = {value!r}; it must be one of {', '.join(map(repr, get_args(kind)))}")
        return value
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(get_args(kind)[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        expected = getattr(kind, "__name__", str(kind))
        raise InputError(f"{where} = {value!r}; it must be of type {expected}")
    return value


def _convert_dataclass(cls: type[Any], value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise InputError(f"{where} = {value!r}; it must be an object with the fields of {cls.__name__}")
    hints = get_type_hints(cls)
    unknown = sorted(set(value) - set(hints))
    if unknown:
        raise InputError(f"{where} has unknown fields {', '.join(unknown)}; known are {', '.join(sorted(hints))}")
    fields = {name: _convert(hints[name], item, f"{where}: {name}") for name, item in value.items()}
    try:
        return cls(**fields)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
