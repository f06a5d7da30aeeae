"""`python -m pyresac.figures.results [RESULTS] [FIGURES]`: figures and tables of the results page, from small files.

RESULTS/<experiment>/<label>-seed<k>/ holds the metrics.csv, config.json and result.json of a run. An experiment that is
not there is skipped, and said to be. Printed is a Markdown table for each.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from matplotlib.figure import Figure

from pyresac.command import checked, exit_code
from pyresac.errors import InputError
from pyresac.figures.curves import Curves, Group, grouped, read_curves
from pyresac.figures.style import new_figure, require_folder, write
from pyresac.figures.training import CORRIDOR, RETURN, band_on, learning_curve, returns_on, rule_label
from pyresac.reading import read_object

RUN = re.compile(r"(?P<label>.+)-seed\d+")
LABELS = {
    "resac": "RE-SAC",
    "resac-half": "RE-SAC, K = 10",
    "epistemic-only": "epistemic only",
    "aleatoric-only": "aleatoric only",
    "k5": "RE-SAC, K = 5",
    "k2": "RE-SAC, K = 2",
    "both-1": "both penalties, λ_epi = 1",
    "epistemic-1": "epistemic only, λ_epi = 1",
    "resac-k5": "RE-SAC, K = 5",
    "fast": "preset crossq",
    "preset-fast": "preset fast: crossq, averaged",
    "actor": "preset fast: the actor itself",
    "averaged-0.005": "its average, ema_rate 0.005",
    "averaged-0.001": "its average, 0.001 (the preset's)",
    "averaged-0.0003": "its average, 0.0003",
    "sac": "SAC",
    "layernorm": "SAC with LayerNorm, actor every 2nd update",
    "observations": "SAC, normalised observations",
    "td3": "TD3",
    "tqc-narrow": "TQC, two critics of 256 × 256",
    "redq": "REDQ, 20 updates a step, 30,000 steps",
    "sb3-sac": "SAC of Stable-Baselines3",
    "sb3-td3": "TD3 of Stable-Baselines3",
    "schedule": "RE-SAC on top of schedule",
    "linear": "RE-SAC on top of linear",
    "full": "RE-SAC, full observation, on top of schedule",
    "mean-0": "begins at 30 s",
    "mean-1": "begins at 53 s",
    "mean-1.2": "begins at 55 s",
}
"""Names on figures and in tables, in their order there; any other label stands as it is, after these."""
LEARNED = "learned"
OF_ONE_TRAINING = ("actor", "averaged-0.001")
"""Labels of `averages_figure`."""


@dataclass(frozen=True)
class FinishedRun:
    """What a folder holds."""

    name: str
    curves: Curves
    result: Mapping[str, Any] | None

    def final(self, metric: str) -> float | None:
        """Mean of the final episodes, or the last evaluation's where no result was written."""
        if self.result is not None and metric in self.result.get("controllers", {}).get(LEARNED, {}):
            return float(np.mean(self.result["controllers"][LEARNED][metric]))
        if self.result is not None and metric in ("reward", "return") and "return" in self.result:
            return float(self.result["return"])
        column = {"reward": "eval_return", "return": "eval_return"}.get(metric, metric)
        return float(self.curves.columns[column][-1]) if column in self.curves.columns else None


@dataclass(frozen=True)
class RunGroup:
    """Runs side by side."""

    runs: list[FinishedRun]

    @property
    def groups(self) -> list[Group]:
        """Their curves."""
        return grouped([(run.name, run.curves) for run in self.runs])

    def rules(self) -> dict[str, Mapping[str, list[float]]]:
        """The classical rules' days by name, as the first result has them."""
        found = [run.result["controllers"] for run in self.runs if run.result and "controllers" in run.result]
        return {name: days for name, days in found[0].items() if name != LEARNED} if found else {}

    def levels(self) -> dict[str, float]:
        """Mean rewards of the rules that hold; the curves' evaluation days are others than these final ones."""
        holding = {name: days for name, days in self.rules().items() if name != "none"}
        return {f"{rule_label(name)}, final days": float(np.mean(days["reward"])) for name, days in holding.items()}


def load(folder: Path) -> RunGroup | None:
    """The runs in a folder, None without any. Raises InputError for a file that is missing or not what it should be."""
    found = [(match["label"], path) for path in sorted(folder.glob("*-seed*")) if (match := RUN.fullmatch(path.name))]
    order = list(LABELS)
    found.sort(key=lambda pair: order.index(pair[0]) if pair[0] in LABELS else len(order))
    runs = []
    for label, path in found:
        curves = read_curves(path / "metrics.csv")
        if curves is None or "eval_return" not in curves.columns:
            raise InputError(f"{path / 'metrics.csv'} has no evaluation; expected the columns step and eval_return")
        runs.append(FinishedRun(LABELS.get(label, label), curves, _result(path / "result.json")))
    return RunGroup(runs) if runs else None


def _result(path: Path) -> Mapping[str, Any] | None:
    if not path.exists():
        return None
    result = read_object(path)
    if not isinstance(result.get("return", 0.0), int | float):
        raise InputError(f"{path}: return is {result['return']!r}; it must be a number")
    controllers = result.get("controllers", {})
    if not isinstance(controllers, dict):
        raise InputError(f"{path}: controllers is {controllers!r}; it must be an object, a rule's metrics by its name")
    for name, metrics in controllers.items():
        for metric in ("reward", "wait", "travel"):
            days = metrics.get(metric) if isinstance(metrics, dict) else None
            if not isinstance(days, list) or not days or not all(isinstance(day, int | float) for day in days):
                raise InputError(f"{path}: {metric} of {name} is {days!r}; it must be a list of numbers, one a day")
    return result


def reward_figure(title: str) -> Callable[[RunGroup], Figure]:
    """Draws reward over steps beside the classical rules."""
    return lambda experiment: learning_curve(experiment.groups, CORRIDOR, title, experiment.levels())


def ablations_figure(experiment: RunGroup) -> Figure:
    """Reward over steps above; below, a panel a variant, values in their band beside what was earned."""
    groups = experiment.groups
    figure = new_figure("Published slow corridor, half the steps: what each penalty does", 11.0, 7.2)
    shown = [group for group in groups if group.has("q_eval", "sigma_eval", "earned_eval")]
    if not shown:
        raise InputError("no run of the ablations has the columns q_eval, sigma_eval and earned_eval")
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=(1.15, 1.0))[:, 0]
    axes = above.subplots()
    returns_on(axes, groups, CORRIDOR, experiment.levels())
    above.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8.5)
    panels = below.subplots(1, len(shown), squeeze=False)[0]
    for panel, group in zip(panels, shown, strict=True):
        band_on(panel, group, CORRIDOR)
        panel.set_title(group.name, loc="left", fontsize=9.5)
        panel.locator_params(axis="x", nbins=3)
    below.supylabel("discounted reward\nof a trip, 10³", fontsize=9)
    below.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=8.5
    )
    return figure


def averages_figure(experiment: RunGroup) -> Figure:
    """A panel a seed: the return of the actor itself and of its average at the preset's rate, on one training."""
    actor, average = (
        next((g for g in experiment.groups if g.name == LABELS[label]), None) for label in OF_ONE_TRAINING
    )
    if actor is None or average is None or len(actor.runs) != len(average.runs):
        raise InputError(f"the figure needs runs of {' and '.join(OF_ONE_TRAINING)} with the same seeds")
    figure = new_figure("Hopper-v5, preset fast: the actor, and its average, which the preset evaluates", 11.0, 4.0)
    panels = figure.subplots(1, len(actor.runs), sharey=True, squeeze=False)[0]
    for seed, (axes, own, slow) in enumerate(zip(panels, actor.runs, average.runs, strict=True)):
        returns_on(axes, [Group("the actor", [own]), Group("its average", [slow])], RETURN, {})
        axes.set_title(f"seed {seed}", loc="left", fontsize=9.5)
        axes.locator_params(axis="x", nbins=4)
        axes.label_outer()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8.5)
    return figure


def return_figure(task: str) -> Callable[[RunGroup], Figure]:
    """Draws return over steps on a Gymnasium task."""
    title = f"{task}: evaluation return, mean and range where there are several seeds"
    return lambda experiment: learning_curve(experiment.groups, RETURN, title, {})


FIGURES: dict[str, tuple[str, Callable[[RunGroup], Figure]]] = {
    "corridor-default": ("results-default", reward_figure("Default corridor: evaluation during training")),
    "corridor-slow-full": (
        "results-slow-full",
        reward_figure("Published slow corridor, full observation: evaluation during training"),
    ),
    "corridor-slow": (
        "results-corridor",
        reward_figure("Published slow corridor: evaluation during training, mean and range over seeds"),
    ),
    "corridor-ablations": ("results-ablations", ablations_figure),
    "corridor-collapse": (
        "results-collapse",
        reward_figure("Published slow corridor: the collapse under a large variance penalty"),
    ),
    "corridor-slack": (
        "results-slack",
        reward_figure("Published slow corridor: where the policy begins decides where it ends"),
    ),
    "hopper": ("results-hopper", return_figure("Hopper-v5")),
    "hopper-100k": ("results-hopper-100k", return_figure("Hopper-v5")),
    "hopper-300k": ("results-hopper-300k", averages_figure),
    "halfcheetah-100k": ("results-halfcheetah-100k", return_figure("HalfCheetah-v5")),
    "walker2d-100k": ("results-walker2d-100k", return_figure("Walker2d-v5")),
}
"""Experiments, each with the name of its figure and who draws it."""


def markdown(experiment: RunGroup) -> str:
    """A table of final means, and the range over seeds where there are several; the rules below."""
    rules = experiment.rules()
    metrics = {"reward": "reward, 10⁶", "wait": "wait, min", "travel": "travel, min"} if rules else {"return": "return"}
    lines = ["| policy | seeds | " + " | ".join(metrics.values()) + " |", "|---|---|" + "---|" * len(metrics)]
    for name in dict.fromkeys(run.name for run in experiment.runs):
        runs = [run for run in experiment.runs if run.name == name]
        cells = [_cell(metric, [run.final(metric) for run in runs]) for metric in metrics]
        unfinished = "" if all(run.result for run in runs) else " (last evaluation)"
        lines.append(f"| {name}{unfinished} | {len(runs)} | {' | '.join(cells)} |")
    for name, days in rules.items():
        cells = [_cell(metric, [float(np.mean(days[metric]))]) for metric in metrics]
        lines.append(f"| {rule_label(name)} | | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(metric: str, values: list[float | None]) -> str:
    known = np.array([value for value in values if value is not None])
    if not len(known):
        return "–"
    factor, decimals = {"reward": (1e-6, 3), "return": (1.0, 0)}.get(metric, (1.0, 2))
    texts = [f"{value * factor:,.{decimals}f}".replace("-", "−") for value in (known.mean(), known.min(), known.max())]
    return texts[0] if len(known) == 1 else f"{texts[0]} ({texts[1]} to {texts[2]})"


@dataclass(frozen=True)
class ResultsOptions:
    """Redraw the figures of the results page, and print its tables."""

    results: tyro.conf.Positional[Path] = Path("results")
    """Folder of the experiments."""
    figures: tyro.conf.Positional[Path] = Path("docs/figures")
    """Folder that the figures go into."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""

    def work() -> None:
        program = "python -m pyresac.figures.results"
        redraw(tyro.cli(ResultsOptions, args=checked(arguments), prog=program, description=__doc__))

    return exit_code(work)


def redraw(options: ResultsOptions) -> None:
    """Figures to their folder, tables to stdout, notes to stderr. Raises InputError and OSError."""
    if not options.results.is_dir():
        raise InputError(f"{options.results} is no folder of results")
    require_folder(options.figures)
    if not options.figures.absolute().parent.is_dir():
        raise InputError(f"figures = {options.figures}; there is no folder {options.figures.absolute().parent}")
    for name, (figure, draw) in FIGURES.items():
        experiment = load(options.results / name)
        if experiment is None:
            print(f"skipped {name}: no run in {options.results / name}", file=sys.stderr)
            continue
        path = write(draw(experiment), options.figures / f"{figure}.png")
        print(f"wrote {path}", file=sys.stderr)
        print(f"### {name}\n\n{markdown(experiment)}\n")


if __name__ == "__main__":
    sys.exit(main())
