"""`python -m pyresac.train`: train an agent, log, checkpoint, resume, report.

RE-SAC on the bus corridor by default; `--env Hopper-v5` for another task, `--agent tabular --env FrozenLake-v1` for the
tabular agent.

Exit codes: 0 when the run ended or stopped as asked (result.json is there only if it ended), 1 when training diverged
or the disk refused, 2 for bad input, before any work, 130 when a second Ctrl-C cut it short.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.markup import escape

from pyresac.command import exit_code
from pyresac.errors import InputError
from pyresac.training.agents import AGENTS, agent_module
from pyresac.training.config import differences, from_dict, load_json, to_dict
from pyresac.training.folder import RunFolder, new_run_path
from pyresac.training.loop import restore_latest, train
from pyresac.training.run_options import FREE_ON_RESUME, CommandOptions

DEFAULT_AGENT = "resac"
DEFAULT_PRESET = "resac"
PROGRAM = "python -m pyresac.train"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    console = Console(highlight=False, emoji=False)
    given = sys.argv[1:] if arguments is None else arguments
    return exit_code(lambda: run(given, console))


def run(arguments: list[str], console: Console) -> int:
    """Parse, open the run folder, train, report. Raises InputError, DivergenceError, OSError."""
    first = _first_look(arguments)
    folder = RunFolder.open(Path(first.run_dir)) if first.resume and first.run_dir else None
    try:
        name, config = parse(arguments, first, folder)
        trainee = agent_module(name).build(config)
        saved = saved_form(name, config)
        if folder is None:
            path = Path(first.run_dir) if first.run_dir else new_run_path(config.label)
            folder = RunFolder.create(path, saved)
        else:
            restore_latest(trainee, folder, saved)
            if trainee.step > config.run.steps:
                raise InputError(f"steps = {config.run.steps}, but {folder.path} is at step {trainee.step} already")
            folder.write_config(saved)
        return _train_and_report(trainee, config, folder, saved, console)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_way_on(folder)) from None
    finally:
        if folder is not None:
            folder.close()


def _way_on(folder: RunFolder | None) -> str:
    """After an interrupt at once, without a new checkpoint."""
    if folder is None:
        return "interrupted before there was a run folder"
    last = folder.latest()
    start = "the beginning, there is no checkpoint" if last is None else str(last)
    return f"interrupted; go on from {start}, with\n  {folder.resume_command()}"


def _train_and_report(trainee: Any, config: Any, folder: RunFolder, saved: dict[str, Any], console: Console) -> int:
    start, began = trainee.step, time.perf_counter()
    doing = f"resumed at step {start:,} of" if start else "training"
    console.print(f"[bold]{escape(trainee.title)}[/], seed {config.run.seed}", soft_wrap=True)
    console.print(f"{doing} {config.run.steps:,} steps in {escape(str(folder.path))}", soft_wrap=True)
    stopped = train(trainee, config.run, folder, saved, console)
    seconds = time.perf_counter() - began
    if stopped is not None and trainee.step < config.run.steps:
        console.print(f"Stopped by {stopped} at step {trainee.step:,}; the checkpoint is written. Go on with")
        console.print(f"  {escape(folder.resume_command())}", soft_wrap=True)
        return 0
    result = trainee.report(console)
    folder.write_result(result)
    done = trainee.step - start
    pace = f"{done:,} steps in {seconds:.1f} s ({done / seconds:,.0f}/s)" if done else "Nothing was left to do"
    console.print(f"{pace}. Curves: {escape(str(folder.metrics_file))}", soft_wrap=True)
    return 0


def parse(arguments: list[str], first: argparse.Namespace, folder: RunFolder | None) -> tuple[str, Any]:
    """The agent's name and its configuration: command line over the folder's or `--config`'s values over defaults.

    Raises InputError for a file that does not fit, or options that a resumed run may not change; exits with code 2
    and tyro's message for an unknown option or a value of another type.
    """
    path = folder.config_file if folder is not None else Path(first.config) if first.config else None
    values = load_json(path) if path is not None else {}
    if "command" in values:
        raise InputError(f"{path}: command stands in no file; --run-dir, --config and --resume go on the command line")
    saved_name = values.pop("agent", DEFAULT_AGENT)
    name = first.agent or saved_name
    if folder is not None and name != saved_name:
        raise InputError(f"{folder.path} was started with agent {saved_name!r}, not {name!r}")
    module = agent_module(name)
    config_type = module.Config
    if hasattr(module, "preset_config"):
        values = _over_preset(module, values, first, path)
    base = from_dict(config_type, {**values, "command": {"agent": name}}, str(path))
    config = tyro.cli(config_type, args=arguments, default=base, prog=PROGRAM, description=_description(config_type))
    if folder is not None:
        changed = differences(to_saved(base), to_saved(config), free=FREE_ON_RESUME)
        if changed:
            raise InputError(f"a resumed run keeps its options, but these differ from {path}: {'; '.join(changed)}")
    return name, config


def _over_preset(module: Any, values: dict[str, Any], first: argparse.Namespace, path: Path | None) -> dict[str, Any]:
    """A file's values over those of the preset that it or the command line names."""
    preset, of_file = first.preset, values.get("preset")
    if None not in (preset, of_file) and preset != of_file:
        raise InputError(f"--preset {preset} was given with {path}, which has the preset {of_file!r}; give one of them")
    problem = values.get("problem")
    env = first.env or (problem.get("env") if isinstance(problem, dict) else None)
    return _merged(
        to_saved(
            module.preset_config(next(name for name in (preset, of_file, DEFAULT_PRESET) if name is not None), env)
        ),
        values,
    )


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {
        name: _merged(base[name], over[name]) for name in base.keys() & over.keys() if _are_tables(base, over, name)
    }
    return {**base, **over, **both}


def _are_tables(base: dict[str, Any], over: dict[str, Any], name: str) -> bool:
    return isinstance(base[name], dict) and isinstance(over[name], dict)


def saved_form(name: str, config: Any) -> dict[str, Any]:
    """What config.json holds: the agent and every option but those of the command itself."""
    return {"agent": name, **to_saved(config)}


def to_saved(config: Any) -> dict[str, Any]:
    """The options that describe a run, without those of the command itself."""
    plain = to_dict(dataclasses.replace(config, command=CommandOptions()))
    del plain["command"]
    return plain


def _first_look(arguments: list[str]) -> argparse.Namespace:
    """The options that decide which dataclass and which defaults the real parser gets."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--agent")
    parser.add_argument("--run-dir", "--run_dir")
    parser.add_argument("--config")
    parser.add_argument("--preset")
    parser.add_argument("--env")
    parser.add_argument("--resume", action="store_true")
    try:
        known, _ = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise InputError(str(error)) from error
    return known


def _description(config_type: type[Any]) -> str:
    return f"{config_type.__doc__} Agents: {', '.join(AGENTS)}."


if __name__ == "__main__":
    sys.exit(main())
