"""A command line of `python -m pyresac.train` as the name of an agent and its configuration."""

from __future__ import annotations

import argparse
import dataclasses
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tyro

from pyresac.errors import InputError
from pyresac.options import differences, load_json, to_plain
from pyresac.training.agents import FirstLook, agent_module, require_known
from pyresac.training.folder import RunFolder
from pyresac.training.run_options import FREE_ON_RESUME, CommandOptions

DEFAULT_AGENT = "deep"
PROGRAM = "python -m pyresac.train"


def parse(arguments: list[str], first: FirstLook, folder: RunFolder | None) -> tuple[str, Any]:
    """The agent's name and its configuration: command line over the folder's or `--config`'s values over defaults.

    Raises InputError for a file that does not fit, an unknown option, or options that a resumed run may not change;
    exits with code 2 and tyro's message for a value of another type.
    """
    path = folder.config_file if folder is not None else Path(first.config) if first.config is not None else None
    values = load_json(path) if path is not None else {}
    if "command" in values:
        raise InputError(f"{path}: command stands in no file; --run-dir, --config and --resume go on the command line")
    saved_name = values.pop("agent", DEFAULT_AGENT)
    require_known(saved_name, str(path))
    name = saved_name if first.agent is None else first.agent
    if folder is not None and name != saved_name:
        raise InputError(f"{folder.path} was started with agent {saved_name!r}, not {name!r}")
    module = agent_module(name)
    base = module.base_config(values, first, str(path))
    base = dataclasses.replace(base, command=CommandOptions(agent=name))
    module.require_read(base, arguments)
    kind = type(base)
    about = module.description(base)
    config, left = tyro.cli(
        kind, args=arguments, default=base, prog=PROGRAM, description=about, return_unknown_args=True
    )
    if left:
        raise InputError(_unknown(left, _names(base), *module.reads(base)))
    if folder is not None:
        changed = differences(to_saved(base), to_saved(config), free=FREE_ON_RESUME)
        if changed:
            raise InputError(f"a resumed run keeps its options, but these differ from {path}: {'; '.join(changed)}")
    return name, config


def _names(options: Any) -> list[str]:
    """The names of all options in a dataclass, those of the dataclasses in it included."""
    parts = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    return [name for key, part in parts.items() for name in (_names(part) if dataclasses.is_dataclass(part) else [key])]


def _unknown(left: list[str], known: list[str], reader: str, own: list[str]) -> str:
    """What is wrong with arguments that no option takes. known: all options. reader, own: who reads which of them."""
    flag = next((word.partition("=")[0] for word in left if word.startswith("-")), None)
    if flag is None:
        return f"{left[0]!r} belongs to no option; --help lists them all"
    near = get_close_matches(flag.lstrip("-").removeprefix("no-").replace("-", "_"), known, 1)
    meant = f"did you mean --{near[0].replace('_', '-')}? " if near else ""
    return f"{flag}: there is no such option; {meant}{reader} reads {', '.join(own)}; --help lists all"


def planned(arguments: list[str]) -> tuple[str, Any]:
    """The agent's name and configuration that a command line of a new run stands for; see `parse`."""
    return parse(arguments, first_look(arguments), None)


def saved_form(name: str, config: Any) -> dict[str, Any]:
    """What config.json holds: the agent and every option but those of the command itself."""
    return {"agent": name, **to_saved(config)}


def to_saved(config: Any) -> dict[str, Any]:
    """The options that describe a run, without those of the command itself."""
    plain = to_plain(config)
    del plain["command"]
    return plain


def first_look(arguments: list[str]) -> FirstLook:
    """The options that decide which dataclass and which defaults the real parser gets."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for name in ("agent", "run_dir", "config", "algorithm", "preset", "env"):
        parser.add_argument(*{f"--{name.replace('_', '-')}", f"--{name}"}, dest=name)
    parser.add_argument("--resume", action="store_true")
    try:
        known, _ = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise InputError(str(error)) from error
    return FirstLook(**vars(known))
