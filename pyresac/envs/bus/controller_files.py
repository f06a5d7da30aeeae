"""Controllers kept in files: a rule's numbers as JSON, or a function of a Python file, whatever folder it lies in."""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

from pyresac.atomic import write_atomically
from pyresac.envs.bus.controllers import CONTROLLERS, Controller, Rule
from pyresac.envs.bus.full_observation import NAMES
from pyresac.envs.bus.observation import Observation
from pyresac.envs.bus.parametric import LinearRule, NetworkRule
from pyresac.errors import InputError
from pyresac.reading import read_json

FORMAT = "pyresac bus controller 1"
KEYS = ("format", "rule", "parameters", "found")
LARGEST_FILE = 10_000_000
"""Bytes."""


def save_controller(rule: Rule, path: str | Path, found: Mapping[str, Any] | None = None) -> None:
    """Write a rule's numbers with `found`, a note of how they were found. Replaces the file as a whole."""
    name, parameters = _plain(rule)
    content = {"format": FORMAT, "rule": name, "parameters": parameters, "found": dict(found or {})}
    write_atomically(Path(path), (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def load_controller(path: str | Path) -> Rule:
    """The rule that `save_controller` wrote; InputError naming the file, the key and what was expected."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{path}: larger than {LARGEST_FILE:,} bytes; expected a controller's numbers")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    content = read_json(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise InputError(f"{path}: format is {found!r}; expected {FORMAT!r}")
    if sorted(content) != sorted(KEYS):
        raise InputError(f"{path}: keys are {sorted(content)}; expected {sorted(KEYS)}")
    try:
        return _rule(content["rule"], content["parameters"])
    except (InputError, TypeError, OverflowError) as error:
        raise InputError(f"{path}: {error}") from error


def _plain(rule: Rule) -> tuple[str, Any]:
    if isinstance(rule, LinearRule):
        return "linear", {"bias": rule.bias, **dict(zip(NAMES, rule.weights, strict=True))}
    if isinstance(rule, NetworkRule):
        return "network", {"features": list(NAMES), "numbers": list(rule.numbers)}
    for name, kind in CONTROLLERS.items():
        if type(rule) is kind:
            return name, {field.name: getattr(rule, field.name) for field in fields(kind)}
    raise InputError(f"controller is {rule!r}; a file can hold a rule of {sorted([*CONTROLLERS, 'linear', 'network'])}")


def _rule(name: Any, parameters: Any) -> Rule:
    if not isinstance(parameters, dict):
        raise InputError(f"parameters are {parameters!r}; expected an object")
    if name == "network":
        if parameters.get("features") != list(NAMES):
            raise InputError(f"features are {parameters.get('features')}; expected {list(NAMES)}")
        return NetworkRule(parameters.get("numbers", ()))
    expected = {"linear": ["bias", *NAMES]} | {
        known: [field.name for field in fields(kind)] for known, kind in CONTROLLERS.items()
    }
    if not isinstance(name, str) or name not in expected:
        raise InputError(f"rule is {name!r}; expected one of {sorted([*expected, 'network'])}")
    if sorted(parameters) != sorted(expected[name]):
        raise InputError(f"parameters of {name} are {sorted(parameters)}; expected {sorted(expected[name])}")
    numbers = {key: parameters[key] for key in expected[name]}
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{key} is {value!r}; expected a number")
    if name == "linear":
        bias, *weights = map(float, numbers.values())
        return LinearRule(bias, tuple(weights))
    return CONTROLLERS[name](*map(float, numbers.values()))


class FileController:
    """A function of a Python file; what it raises becomes a message that names the file and its line."""

    def __init__(self, path: Path, name: str, function: Controller) -> None:
        self._path, self._name, self._function = path, name, function
        self.batched = bool(getattr(function, "batched", False))

    def __call__(self, observation: Observation) -> Any:
        """What the function says. Raises InputError where it fails."""
        try:
            return self._function(observation)
        except Exception as error:  # the user's own code: any kind
            raise InputError(f"{self._path}:{self._name} failed{_line_of(error, self._path)}") from error


def python_controller(path: Path, name: str) -> FileController:
    """The attribute `name` of a Python file. Raises InputError naming the file and the line of what is wrong."""
    path = path.resolve()
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a Python file and a name, such as ./mine.py:half")
    module = _module(path)
    function = getattr(module, name, None)
    if function is None:
        own = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise InputError(f"{path}: no controller {name!r} in it; it has {sorted(own)}")
    if isinstance(function, type):
        function = function()
    if not callable(function):
        raise InputError(f"{path}:{name} is a {type(function).__name__}; it must be callable")
    return FileController(path, name, function)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"controller_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's own code: any kind
        raise InputError(f"{path} cannot be imported{_line_of(error, path)}") from error
    return module


def _line_of(error: Exception, path: Path) -> str:
    """The last line of `path` in the error's traceback, and the error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    where = f", line {lines[-1]}" if lines else ""
    return f"{where}: {type(error).__name__}: {error}"
