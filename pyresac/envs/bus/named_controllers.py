"""Controllers by the names that commands take."""

from __future__ import annotations

import importlib
from dataclasses import fields
from pathlib import Path

from pyresac.envs.bus import controller_files
from pyresac.envs.bus.controllers import CONTROLLERS, Controller, Rule
from pyresac.errors import InputError

SHIPPED = {path.stem: path for path in (Path(__file__).parent / "tuned").glob("*.json")}
"""Controllers that come as files: rules of the full observation, searched for by `tune`: `linear` for the reward on the
default corridor, `linear-passengers` for passengers' time on the disturbed one. Each says how it was found."""


def controller_named(text: str) -> Controller:
    """A controller from words: "headway", "target:slack=50,gain=1", "linear" as it comes with the package, a file of
    `save_controller`, "./mine.py:half" of a Python file, or "package.module:attribute"."""
    if not isinstance(text, str):
        raise InputError(f"controller is {text!r}; it must be named by a string, such as 'headway'")
    name, _, rest = text.partition(":")
    if text in SHIPPED:
        return controller_files.load_controller(SHIPPED[text])
    if text.endswith(".json"):
        return controller_files.load_controller(text)
    file, _, attribute = text.rpartition(":")
    if file.endswith(".py"):
        return controller_files.python_controller(Path(file).expanduser(), attribute)
    if name in CONTROLLERS:
        return _with_parameters(name, rest)
    allowed = (
        f"one of {sorted([*CONTROLLERS, *SHIPPED])}, with parameters as in 'target:slack=50,gain=1', a .json file of "
        f"`tune`, './file.py:function', or 'package.module:attribute'"
    )
    if not rest:
        raise InputError(f"controller {text!r} is unknown; allowed: {allowed}")
    try:
        found: Controller = getattr(importlib.import_module(name), rest)
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        # of a module's text, a relative name, an empty name; what the module's own code raises goes through
        raise InputError(f"controller {text!r}: {error}; allowed: {allowed}") from error
    if not callable(found):
        raise InputError(f"controller {text!r} is a {type(found).__name__}; it must be callable")
    return found


def _with_parameters(name: str, text: str) -> Rule:
    parameters: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key.strip() in parameters:
            raise InputError(f"controller {name}: {key.strip()!r} is given more than once")
        try:
            parameters[key.strip()] = float(value)
        except ValueError as error:
            raise InputError(f"controller {name}: {part!r} is not of the form parameter=number") from error
    allowed = sorted(field.name for field in fields(CONTROLLERS[name]))
    unknown = sorted(set(parameters) - set(allowed))
    if unknown:
        raise InputError(f"controller {name} has no parameters {unknown}; it has {allowed}")
    return CONTROLLERS[name](**parameters)
