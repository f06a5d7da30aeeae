"""Options as dataclasses whose fields say what they allow, checked by msgspec when they are made or read.

A field's type carries its bounds: `discount: Annotated[float, Meta(ge=0, lt=1)]`. `Checked` holds every field to its
type and bounds; `read_options` builds a class from JSON, and names what it does not know.
"""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from pyresac.errors import InputError
from pyresac.reading import read_object

T = TypeVar("T")

Count = Annotated[int, Meta(ge=1)]
"""A whole number from 1 on."""
NonNegative = Annotated[float, Meta(ge=0)]
NonPositive = Annotated[float, Meta(le=0)]
Positive = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(gt=0, le=1)]
"""In (0, 1]."""
Fraction = Annotated[float, Meta(ge=0, le=1)]
"""In [0, 1]."""
Discount = Annotated[float, Meta(ge=0, lt=1)]
"""In [0, 1)."""


@dataclasses.dataclass(frozen=True)
class Checked:
    """Base of options: raises InputError for a value outside its field's type or bounds, and for an infinite number."""

    def __post_init__(self) -> None:
        """Check every field."""
        for name, kind in kinds_of(type(self)).items():
            value = getattr(self, name)
            part = _dataclass_in(kind)
            if part is not None:  # checked when it was made
                if not isinstance(value, part):
                    raise InputError(f"{name} = {value!r}; it must be {part.__name__}(…)")
                continue
            try:
                msgspec.convert(value, kind)
            except msgspec.ValidationError as error:
                raise InputError(f"{name} = {value!r}; {_another_type(error) or allowed(kind) or error}") from error
            if any(isinstance(number, float) and not math.isfinite(number) for number in _flat(value)):
                raise InputError(f"{name} = {value!r}; {allowed(kind) or 'it must be finite'}")


TYPES = {"int": "an integer", "float": "a number", "bool": "true or false", "str": "text", "array": "a list"}
"""What msgspec's names of types mean."""


def _another_type(error: msgspec.ValidationError) -> str:
    """What a value of another type should have been, "" for an error of another kind."""
    found = re.match(r"Expected `(\w+)(?: \| null)?`, got", str(error))
    return f"it must be {TYPES.get(found.group(1), found.group(1))}" if found else ""


def allowed(kind: Any) -> str:
    """The bounds of a field's type in words, "" for a type without bounds."""
    if get_origin(kind) is Annotated:
        found = [part for part in get_args(kind)[1:] if isinstance(part, Meta)]
        if found:
            return _bounds(found[0])
    inner = [words for part in get_args(kind) if (words := allowed(part))]
    return inner[0] if inner else ""


def _bounds(meta: Meta) -> str:
    low = meta.ge if meta.ge is not None else meta.gt
    high = meta.le if meta.le is not None else meta.lt
    if low is not None and high is not None:
        left, right = "[" if meta.ge is not None else "(", "]" if meta.le is not None else ")"
        return f"it must lie in {left}{_number(low)}, {_number(high)}{right}"
    if low is not None:
        return f"it must be {'at least' if meta.ge is not None else 'greater than'} {_number(low)}"
    if high is not None:
        return f"it must be {'at most' if meta.le is not None else 'less than'} {_number(high)}"
    return ""


def _number(bound: float) -> str:
    """Whole numbers with all their digits, others short where that is exact."""
    if float(bound).is_integer() and abs(bound) < 1e15:
        return str(int(bound))
    return f"{bound:g}" if float(f"{bound:g}") == bound else str(bound)


def kinds_of(cls: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields, bounds included."""
    if cls not in _KINDS:
        hints = get_type_hints(cls, include_extras=True)
        _KINDS[cls] = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
    return _KINDS[cls]


_KINDS: dict[type[Any], dict[str, Any]] = {}


def _flat(value: Any) -> list[Any]:
    return [part for item in value for part in _flat(item)] if isinstance(value, tuple | list) else [value]


def to_plain(options: object) -> dict[str, Any]:
    """A dataclass as JSON has it: nested dictionaries, tuples as lists."""
    plain: dict[str, Any] = _listed(msgspec.to_builtins(options))
    return plain


def _listed(value: Any) -> Any:
    """With lists for tuples, as a file gives them back."""
    if isinstance(value, dict):
        return {name: _listed(part) for name, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, tuple | list) else value


def read_options(cls: type[T], values: Any, where: str) -> T:
    """Build `cls` from the output of `to_plain`; absent fields keep their defaults.

    Raises InputError naming `where` and the field for an unknown field or a value that is not allowed.
    """
    _require_known(cls, values, where)
    try:
        return msgspec.convert(values, cls)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {_explained(error, values, cls)}") from error


def _explained(error: msgspec.ValidationError, values: Any, kind: Any) -> str:
    """msgspec's message with the option's name, what was given, and the bounds in words."""
    text, _, place = str(error).partition(" - at `$.")
    steps = place.removesuffix("`").split(".") if place else []
    for step in steps:
        name, *indices = step.removesuffix("]").split("[")
        values, kind = values[name], kinds_of(_dataclass_in(kind)).get(name) if _dataclass_in(kind) else None
        for index in indices:
            values = values[int(index.rstrip("]"))] if index.rstrip("]").isdigit() else values
    if not text.startswith("Expected "):
        return text  # of a `__post_init__`
    bounds = "" if ", got " in text else allowed(kind)
    return f"{'.'.join(steps)} = {values!r}; {bounds or text[0].lower() + text[1:]}"


def _dataclass_in(kind: Any) -> Any:
    """The dataclass that a field's type is, without its annotations; None for another type."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind if isinstance(kind, type) and dataclasses.is_dataclass(kind) else None


def _require_known(kind: Any, values: Any, where: str) -> None:
    """msgspec ignores unknown fields of dataclasses; a misspelt option must not be ignored."""
    found = _dataclass_in(kind)
    if found is None or not isinstance(values, dict):
        return
    kinds = kinds_of(found)
    unknown = sorted(set(values) - set(kinds))
    if unknown:
        raise InputError(f"{where} has unknown options {', '.join(unknown)}; known are {', '.join(sorted(kinds))}")
    for name, value in values.items():
        _require_known(kinds[name], value, f"{where}: {name}")


def load_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file. Raises InputError if it is missing or something else."""
    return read_object(path, "configuration")


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
