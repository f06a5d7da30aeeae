"""`python -m pyresac.evaluate RUN [RUN …]`: play what runs of deep algorithms learned, beside the classical rules.

Every policy is played on the same episodes, from the newest checkpoint of its run, which may still be training; nothing
is written but the figures. Exit codes: 0 done; 2 bad input; 1 the disk refused or an environment gave a number that is
not finite; 130 interrupted.
"""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from matplotlib.figure import Figure
from rich.console import Console
from rich.markup import escape

from pyresac.command import checked, exit_code, standard_output, wide_console
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.objectives import PassengerTime
from pyresac.envs.bus.simulator import LARGEST_SEED
from pyresac.errors import InputError
from pyresac.figures import training
from pyresac.figures.curves import Group, grouped, read_curves
from pyresac.figures.evaluation import curve_figures, day_figure
from pyresac.figures.style import require_folder, write
from pyresac.figures.training import Predictions
from pyresac.options import differences, to_plain
from pyresac.tasks.corridor_baselines import SEARCHES, Values, baselines, rules_of
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.tasks.task import Played
from pyresac.training.contest import (
    Contest,
    contest_plain,
    contest_shown,
    rule_names,
)
from pyresac.training.deep_agent import CORRIDOR
from pyresac.training.deep_report import FINAL_SEED
from pyresac.training.restored import PolicyName, Restored, restore_run
from pyresac.training.run_options import FREE_ON_RESUME

PROGRAM = "python -m pyresac.evaluate"
ANY_SEED = re.compile(r"-seed\d+(-\d{8}-\d{6}(-\d+)?)?$")
MOST_EPISODES = 1_000_000
MACHINE = frozenset({"device", "threads", "num_envs"})
"""Options of a problem that do not change it."""
BESIDE_SEED = frozenset({*FREE_ON_RESUME, "run.seed", "problem.device"})
"""Options in which runs of one setting may differ."""


@dataclass(frozen=True)
class Evaluate:
    """Play the deterministic policies of runs of deep algorithms on the same episodes, compare them, draw figures."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    """Run folders; the others are compared with the first one."""
    policy: PolicyName = "averaged"
    """The averaged actor, the averaged one at the best evaluation of training, or the present actor."""
    episodes: Annotated[int, tyro.conf.arg(aliases=["--days"])] = 10
    """Episodes, or days, that each policy is played on."""
    seed: int = FINAL_SEED
    """Seed of the first episode. The report after training has the default; 0 plays those of the evaluations first."""
    controllers: tuple[str, ...] = ()
    """Rules on the corridor's days beside it, as for python -m pyresac.corridor; best-slack, best-robust, best-schedule
    and best-threshold are the rules of that kind with the highest objective on other days. By default those that the
    report after training has."""
    level: float = 0.95
    """Confidence level of the paired differences."""
    device: str = "cpu"
    """PyTorch's name of the device to play on, whatever it was trained on."""
    json: bool = False
    """Print JSON instead of tables."""
    figures: Path | None = None
    """Folder of the figures; by default, figures in the first run's."""
    no_figures: bool = False
    """Draw none."""
    format: Literal["png", "svg", "pdf"] = "png"
    """Format of the figures."""

    def require_usable(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        if not self.runs:
            raise InputError("no run was named; give the folder of at least one")
        if len({run.resolve() for run in self.runs}) < len(self.runs):
            raise InputError(f"runs are {', '.join(map(str, self.runs))}; each may be given once")
        if not 1 <= self.episodes <= MOST_EPISODES:
            raise InputError(f"episodes = {self.episodes}; it must lie in [1, {MOST_EPISODES}]")
        if not 0 <= self.seed <= LARGEST_SEED // 2:
            raise InputError(f"seed = {self.seed}; it must lie in [0, {LARGEST_SEED // 2}]")
        if not 0.0 < self.level < 1.0:
            raise InputError(f"level = {self.level}; it must lie between 0 and 1")
        if self.no_figures and (self.figures is not None or self.format != "png"):
            given = f"--figures {self.figures}" if self.figures is not None else f"--format {self.format}"
            raise InputError(f"{given} is given with --no-figures, which draws none")
        require_folder(self.figures)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""

    def work() -> None:
        options = tyro.cli(
            Evaluate, args=checked(arguments), prog=PROGRAM, description=__doc__, config=(tyro.conf.FlagCreatePairsOff,)
        )
        run(options, wide_console())

    return exit_code(work)


def run(options: Evaluate, console: Console) -> None:
    """Play, print, draw. Raises InputError, DivergenceError and OSError."""
    options.require_usable()
    for name in options.controllers:
        if name not in SEARCHES:
            controller_named(name)
    runs = {_name(path, options.runs): restore_run(path, options.policy, options.device) for path in options.runs}
    _require_one_task(runs, options)
    task = next(iter(runs.values())).trainee.task
    rules: dict[str, Values] = {}
    if isinstance(task, CorridorTask):
        names = rule_names(task, options.controllers or baselines(task))
        found = rules_of(task, names, options.episodes, options.seed)
        rules = {name: _without_return(values) for name, values in found.items()}
    played = {name: one.play(options.episodes, options.seed) for name, one in runs.items()}
    contest = Contest({name: _metrics(runs[name], found) for name, found in played.items()}, rules, options.episodes)
    foreseen = {name: _foreseen(one, played[name]) for name, one in runs.items()}
    if not options.json:
        # before the figures, which a damaged metrics.csv can refuse
        _print(runs, contest, foreseen, options, console)
    written: list[Path] = []
    try:
        if not options.no_figures:
            written = _draw(runs, list(rules), foreseen, options)
    finally:
        if options.json:
            content = _plain(runs, contest, foreseen, options, written)
            output = standard_output()
            output.write(json.dumps(content, indent=1, allow_nan=False) + "\n")
            output.flush()
    if not options.json:
        for path in written:
            console.print(f"wrote {escape(str(path))}", soft_wrap=True)


def _of_passengers(runs: dict[str, Restored]) -> bool:
    """Whether the runs learned the corridor's objective of passengers' time."""
    task = next(iter(runs.values())).trainee.task
    return isinstance(task, CorridorTask) and isinstance(task.worth, PassengerTime)


def _metrics(run: Restored, played: Played) -> Values:
    return _without_return(played.metrics) if isinstance(run.trainee.task, CorridorTask) else played.metrics


def _without_return(values: Values) -> Values:
    """A day's metrics without its return, which is the reward or follows from the others."""
    return {name: numbers for name, numbers in values.items() if name != "return"}


def _foreseen(run: Restored, played: Played) -> Predictions:
    value, _, earned = run.trainee.predictions(played)
    return Predictions(value, earned)


def _require_one_task(runs: dict[str, Restored], options: Evaluate) -> None:
    (first, one), *others = runs.items()
    for name, other in others:
        changed = differences(to_plain(one.config.problem), to_plain(other.config.problem), free=MACHINE)
        if changed:
            raise InputError(f"{first} and {name} are runs on different problems: {'; '.join(changed)}")
    env = one.config.problem.env
    if env != CORRIDOR and options.controllers:
        raise InputError(f"controllers = {', '.join(options.controllers)}: they hold buses, and {first} learned {env}")


def _name(path: Path, paths: tuple[Path, ...]) -> str:
    """The folder's name, or the path where two folders have the same."""
    names = [other.resolve().name for other in paths]
    own = path.resolve().name
    return own if names.count(own) == 1 else str(path)


def _labels(runs: dict[str, Restored]) -> dict[str, str]:
    """What a run's setting is called: runs of one setting share it, whatever their seeds."""
    settings: list[tuple[str, dict[str, Any]]] = []
    labels = {}
    for name, run in runs.items():
        config = to_plain(run.config)
        alike = [label for label, other in settings if not differences(other, config, free=BESIDE_SEED)]
        if not alike:
            without = ANY_SEED.sub("", name)
            short = run.config.preset if without == name else without
            taken = [label for label, _ in settings]
            alike = [name if short in taken else short]
            settings.append((alike[0], config))
        labels[name] = alike[0]
    return labels


def _draw(
    runs: dict[str, Restored], rules: list[str], foreseen: dict[str, Predictions], options: Evaluate
) -> list[Path]:
    first_name, first = next(iter(runs.items()))
    task, on_corridor = first.trainee.task, first.config.problem.env == CORRIDOR
    scale = training.RETURN
    if on_corridor:
        scale = training.PASSENGERS if _of_passengers(runs) else training.CORRIDOR
    title = _problem(first)[:1].upper() + _problem(first)[1:]
    figures: dict[str, Figure] = {}
    groups = _groups(runs)
    if groups:
        lines = {}
        if isinstance(task, CorridorTask):
            seen = rules_of(task, tuple(rules), first.config.run.eval_episodes, 0)
            lines = {name: float(values["return"].mean()) for name, values in seen.items()}
        figures |= curve_figures(groups, scale, title, lines)
    if isinstance(task, CorridorTask):
        figures["time-space"] = day_figure(task, first_name, first.controller(), options.seed)
    known = {name: points for name, points in foreseen.items() if len(points.value)}
    if known:
        figures["predictions"] = training.predictions(known, scale, f"{title}: values and what was earned")
    folder = options.figures or first.files.path / "figures"
    return [write(figure, folder / f"{name}.{options.format}") for name, figure in figures.items()]


def _problem(run: Restored) -> str:
    task = run.trainee.task
    return f"corridor {task.corridor.name}" if isinstance(task, CorridorTask) else run.config.problem.env


def _groups(runs: dict[str, Restored]) -> list[Group]:
    """Curves of the runs that have some."""
    labels = _labels(runs)
    found = [(labels[name], read_curves(run.files.metrics_file)) for name, run in runs.items()]
    return grouped([(label, curves) for label, curves in found if curves is not None])


def _print(
    runs: dict[str, Restored], contest: Contest, foreseen: dict[str, Predictions], options: Evaluate, console: Console
) -> None:
    for name, run in runs.items():
        heads, updates = run.config.options.ensemble_size, run.trainee.learner.updates
        learned = f"{_problem(run)}, {heads} critics, step {run.step:,}, {updates:,} updates"
        console.print(f"[bold]{escape(name)}[/]: {escape(learned)}", soft_wrap=True)
    groups: dict[str, list[str]] = {}
    for name, label in _labels(runs).items():
        groups.setdefault(label, []).append(name)
    title = f"{options.policy} policy, {options.episodes} episodes"
    console.print(contest_shown(contest, groups, options.level, title, _of_passengers(runs)))
    if options.episodes > 1:
        lead = f"{contest.reference} less it on the same episodes, mean ± half-width at {options.level:.0%}"
        console.print(f"Under a mean: {escape(lead)}, bold if sure.", soft_wrap=True)
    for name, points in foreseen.items():
        if len(points.value):
            console.print(
                f"{escape(name)}: values of {len(points.value):,} decisions {points.value.mean():,.1f} on average, "
                f"earned {points.earned.mean():,.1f}, correlation {points.correlation:.2f}.",
                soft_wrap=True,
            )


def _plain(
    runs: dict[str, Restored],
    contest: Contest,
    foreseen: dict[str, Predictions],
    options: Evaluate,
    written: list[Path],
) -> dict[str, Any]:
    def of_run(name: str, run: Restored) -> dict[str, Any]:
        points = foreseen[name]
        known = len(points.value) > 0
        values = {
            "decisions": len(points.value),
            "q": float(points.value.mean()) if known else None,
            "earned": float(points.earned.mean()) if known else None,
            "correlation": None if math.isnan(points.correlation) else points.correlation,
        }
        return {
            "run": str(run.files.path),
            "step": run.step,
            "updates": run.trainee.learner.updates,
            "seed": run.config.run.seed,
            "setting": labels[name],
            "values": values,
        }

    labels = _labels(runs)
    return {
        "policy": options.policy,
        "episodes": options.episodes,
        "seed": options.seed,
        "runs": {name: of_run(name, run) for name, run in runs.items()},
        **contest_plain(contest, options.level),
        "figures": [str(path) for path in written],
    }


if __name__ == "__main__":
    sys.exit(main())
