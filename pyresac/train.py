"""`python -m pyresac.train`: train an agent, log, checkpoint, resume, report.

RE-SAC on the bus corridor by default; `--algorithm td3 --env Hopper-v5` for another algorithm and task,
`--agent tabular --env FrozenLake-v1` for the tabular agent.

Exit codes: 0 when the run ended or stopped as asked (result.json is there only if it ended), 1 when training diverged
or the disk refused, 2 for bad input, before any work, 130 when a second Ctrl-C cut it short.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from pyresac.command import console, exit_code
from pyresac.errors import InputError
from pyresac.training.agents import agent_module
from pyresac.training.command_line import first_look, parse, saved_form
from pyresac.training.folder import RunFolder, new_run_path
from pyresac.training.loop import restore_latest, train


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return exit_code(lambda: run(given, console()))


def run(arguments: list[str], out: Console) -> int:
    """Parse, open the run folder, train, report. Raises InputError, DivergenceError, OSError."""
    first = first_look(arguments)
    for name in ("run_dir", "config"):
        if getattr(first, name) == "":
            raise InputError(f"--{name.replace('_', '-')} was given an empty path")
    trainee: Any = None
    folder = RunFolder.open(Path(first.run_dir)) if first.resume and first.run_dir is not None else None
    try:
        name, config = parse(arguments, first, folder)
        agent, saved = agent_module(name), saved_form(name, config)
        trainee = agent.build(config)
        if folder is None:
            agent.require_use(config, arguments)
        unlearned = agent.unlearned(config)
        if unlearned is not None:
            warnings.warn(unlearned, stacklevel=1)  # shown as a note
        with agent.threads():
            if folder is None:
                path = Path(first.run_dir) if first.run_dir is not None else new_run_path(config.label)
                folder = RunFolder.create(path, saved)
            else:
                restore_latest(trainee, folder, saved)
                if trainee.step > config.run.steps:
                    raise InputError(f"steps = {config.run.steps}, but {folder.path} is at step {trainee.step} already")
                folder.write_config(saved)
            return _train_and_report(trainee, config, folder, saved, out)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{_way_on(folder)}") from None
    except OSError as error:
        step = "" if trainee is None else f" at step {trainee.step:,}"
        raise OSError(f"{_refused(error)}{step}{_way_on(folder)}") from error
    finally:
        if folder is not None:
            folder.close()


def _way_on(folder: RunFolder | None) -> str:
    """How to go on after an end without a new checkpoint."""
    if folder is None:
        return " before there was a run folder"
    last = folder.latest()
    start = "the beginning, there is no checkpoint" if last is None else str(last)
    return f"; go on from {start}, with\n  {folder.resume_command()}"


def _refused(error: OSError) -> str:
    """The system's message, with the file that it is about."""
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{reason}: {error.filename}"


def _train_and_report(trainee: Any, config: Any, folder: RunFolder, saved: dict[str, Any], out: Console) -> int:
    start, began = trainee.step, time.perf_counter()
    doing = f"resumed at step {start:,} of" if start else "training"
    out.print(f"[bold]{escape(trainee.title)}[/], seed {config.run.seed}", soft_wrap=True)
    out.print(f"{doing} {config.run.steps:,} steps in {escape(str(folder.path))}", soft_wrap=True)
    stopped = train(trainee, config.run, folder, saved, out)
    seconds = time.perf_counter() - began
    if stopped is not None and trainee.step < config.run.steps:
        out.print(f"Stopped by {stopped} at step {trainee.step:,}; the checkpoint is written. Go on with")
        out.print(f"  {escape(folder.resume_command())}", soft_wrap=True)
        return 0
    result = trainee.result()
    folder.write_result(result)
    trainee.show(result, out)
    done = trainee.step - start
    pace = f"{done:,} steps in {seconds:.1f} s ({done / seconds:,.0f}/s)" if done else "Nothing was left to do"
    out.print(f"{pace}. Curves: {escape(str(folder.metrics_file))}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
