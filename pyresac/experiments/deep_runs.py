"""The runs that several experiments share: the eight algorithms and RE-SAC's variants at the paper's rhythm."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pyresac.errors import InputError
from pyresac.experiments.experiment import Measures, Run, Scale
from pyresac.experiments.pool import is_finished
from pyresac.experiments.statistics import Interval, improvement_interval, interval, paired_interval
from pyresac.figures.curves import Curves, Group, read_curves
from pyresac.figures.style import new_figure, write
from pyresac.figures.training import Scale as FigureScale
from pyresac.figures.training import returns_on
from pyresac.training.restored import Restored, restore_run

ALGORITHMS: Mapping[str, Mapping[str, Any]] = {
    "SAC": {"preset": "published-sac"},
    "TD3": {"preset": "published-td3"},
    "DSAC": {"preset": "published-dsac"},
    "BAC": {"preset": "published-bac"},
    "REDQ": {"preset": "published-redq"},
    "SAC-N": {"preset": "published-sac-n"},
    "TQC": {"preset": "published-tqc"},
    "TQC, fixed fractions": {"preset": "published-tqc", "critics": "fixed"},
    "RE-SAC v1": {"preset": "resac-v1"},
    "RE-SAC B0": {"preset": "resac-b0"},
}
"""As the published program computes them, 250 updates for 4,000 steps.

The published TQC asks five implicit critics at 25 random fractions: an update takes fifty times SAC's. At the scales of
a few cores the fixed fractions of TQC's own paper take its place, at three times SAC's.
"""
SEEDS = (8, 16, 24)
"""The paper's."""
TASKS: Mapping[Scale, tuple[str, ...]] = {
    "smoke": ("Hopper-v5",),
    "cpu": ("Hopper-v5", "HalfCheetah-v5"),
    "paper": ("Hopper-v5", "HalfCheetah-v5", "Walker2d-v5", "Ant-v5"),
}
STEPS: Mapping[Scale, int] = {"smoke": 12_000, "cpu": 200_000, "paper": 8_000_000}


RETURNS = ("eval_return",)
Curve: TypeAlias = Mapping[str, Sequence[float]]
"""Columns of a run's metrics.csv, "step" among them."""


@dataclass(frozen=True)
class Cell:
    """A run, and what it stands for in a table."""

    label: str
    """The algorithm or setting: a row."""
    task: str
    seed: int
    run: Run


def cell(label: str, settings: Mapping[str, Any], task: str, seed: int, steps: int, every: int) -> Cell:
    """A run of `steps` steps that is evaluated and saved every so many."""
    options = {
        **settings,
        "env": task,
        "seed": seed,
        "steps": steps,
        "eval_every": every,
        "checkpoint_every": every,
        "keep_checkpoints": 1,
        "buffer_size": min(1_000_000, steps),
        "tensorboard": False,
    }
    if str(settings.get("preset", "")).startswith("resac-"):
        options["beta_steps"] = steps  # its schedule of β_lcb is shares of the whole
    short = re.sub(r"[^a-z0-9.=-]+", "-", label.lower()).strip("-")
    return Cell(label, task, seed, Run(f"{short}-{task}-seed{seed}", options))


def labels_at(scale: Scale) -> list[str]:
    """The algorithms, with the TQC that the scale can pay for."""
    left_out = "TQC, fixed fractions" if scale == "paper" else "TQC"
    return [label for label in ALGORITHMS if label != left_out]


def seeds_at(scale: Scale) -> tuple[int, ...]:
    """One at the scale `smoke`, the paper's three at the others."""
    return SEEDS[:1] if scale == "smoke" else SEEDS


def every_at(scale: Scale) -> int:
    """Steps between evaluations."""
    return {"smoke": 4_000, "cpu": 10_000, "paper": 40_000}[scale]


def stationary_cells(scale: Scale, labels: Iterable[str] | None = None) -> list[Cell]:
    """Every algorithm on every task with every seed."""
    return [
        cell(label, ALGORITHMS[label], task, seed, STEPS[scale], every_at(scale))
        for task in TASKS[scale]
        for label in (labels_at(scale) if labels is None else labels)
        for seed in seeds_at(scale)
    ]


def measures_of_runs(folder: Path, runs: Iterable[Run], measure: Callable[[Restored], Any]) -> dict[str, Any]:
    """`measure` of every finished run, by its name."""
    found = ((run.name, restored(folder, run)) for run in runs)
    return {name: measure(run) for name, run in found if run is not None}


def measured(measures: Measures, cells: Iterable[Cell]) -> Iterator[tuple[Cell, Any]]:
    """The cells that were measured, each with its measure."""
    return ((one, measures[one.run.name]) for one in cells if one.run.name in measures)


def by_task(measures: Measures, cells: Iterable[Cell]) -> dict[str, dict[str, list[Any]]]:
    """The measures of every seed, by task and label, in the order of the cells."""
    found: dict[str, dict[str, list[Any]]] = {}
    for one, own in measured(measures, cells):
        found.setdefault(one.task, {}).setdefault(one.label, []).append(own)
    return found


def by_part(
    measures: Measures, cells: Iterable[Cell], parts: Sequence[str]
) -> dict[str, dict[str, dict[str, list[Any]]]]:
    """`by_task` for measures of several parts: those of every seed by task, label and part."""
    return {
        task: {label: {part: [one[part] for one in seeds] for part in parts} for label, seeds in row.items()}
        for task, row in by_task(measures, cells).items()
    }


def curve_of(folder: Path, run: Run, columns: Sequence[str] = RETURNS) -> Curve:
    """The learning curve of a finished run. Raises InputError if its metrics.csv has no evaluation."""
    path = folder / run.name / "metrics.csv"
    curves = read_curves(path)
    if curves is None:
        raise InputError(f"{path} has no evaluation, although its run is finished")
    return {name: curves.columns[name].tolist() for name in ("step", *columns)}


def curves_of_runs(folder: Path, runs: Iterable[Run], columns: Sequence[str] = RETURNS) -> dict[str, Curve]:
    """The learning curve of every finished run, by its name."""
    return {run.name: curve_of(folder, run, columns) for run in runs if is_finished(folder, run)}


def last_quarters(folder: Path, runs: Iterable[Run]) -> dict[str, float]:
    """`last_quarter` of every finished run, by its name."""
    return {name: last_quarter(curve) for name, curve in curves_of_runs(folder, runs).items()}


def curve_groups(labelled: Iterable[tuple[str, Curve]]) -> dict[str, Group]:
    """Learning curves under their labels, a group of seeds a label."""
    found: dict[str, list[Curves]] = {}
    for label, curve in labelled:
        found.setdefault(label, []).append(Curves({name: np.array(values) for name, values in curve.items()}))
    return {label: Group(label, runs) for label, runs in found.items()}


def draw_curves(
    path: Path,
    title: str,
    scale: FigureScale,
    groups: Mapping[str, Group],
    panels: Sequence[Sequence[str]],
    rules: Mapping[str, float],
) -> None:
    """Learning curves, mean and range over seeds, in panels of these labels side by side; `rules` as levels.

    A panel of which there is no curve is left out.
    """
    shown = [labels for labels in panels if groups.keys() & set(labels)]
    figure = new_figure(title, 13.0, 5.6)
    for axes, labels in zip(figure.subplots(1, len(shown), sharey=True, squeeze=False)[0], shown, strict=True):
        returns_on(axes, [groups[label] for label in labels if label in groups], scale, rules)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize=8.5)
    write(figure, path, dpi=130)


def last_quarter(curve: Curve) -> float:
    """The paper's final return: mean of the last quarter of a run's evaluations."""
    found = curve["eval_return"]
    return float(np.mean(found[-max(1, len(found) // 4) :]))


def odds(first: Sequence[float], second: Sequence[float]) -> Interval:
    """The probability that a run of `first` scores above one of `second`."""
    sample, other = (np.array(scores, dtype=np.float64)[:, None] for scores in (first, second))
    return improvement_interval(sample, other, np.random.default_rng(0))


def paired_by_seed(first: Mapping[int, float], second: Mapping[int, float]) -> tuple[int, Interval | None]:
    """How many seeds both have, and what `first` scores more on them; None for fewer than two."""
    seeds = sorted(first.keys() & second.keys())
    if len(seeds) < 2:
        return len(seeds), None
    pairs = [np.array([[one[seed]] for seed in seeds]) for one in (first, second)]
    return len(seeds), paired_interval(pairs[0], pairs[1], np.random.default_rng(0))


def best_of_all(scores: Mapping[str, Sequence[float]], ours: str = "RE-SAC B0") -> tuple[int, str] | None:
    """Whether `ours` scores above every algorithm that is no RE-SAC, on a task, given a score a seed by label.

    1 if it surely does, −1 if it is surely below one of them, 0 if neither; with words. None without it, or without
    others.
    """
    rivals = [label for label in scores if not label.startswith("RE-SAC")]
    if ours not in scores or not rivals:
        return None
    found = {label: odds(scores[ours], scores[label]) for label in rivals}
    words = ", ".join(f"{label} {one.point:.2f} [{one.low:.2f}, {one.high:.2f}]" for label, one in found.items())
    return min(one.side(0.5) for one in found.values()), f"probability that a run of {ours} beats one of {words}"


def mean_cell(values: Iterable[float], digits: int = 0) -> str:
    """Mean over seeds with its bootstrap interval, as a cell of a table; a single value has none.

    Raises ValueError for what is no finite number.
    """
    sample = np.array(list(values), dtype=np.float64)
    if not np.isfinite(sample).all():
        raise ValueError(f"a mean over seeds needs numbers, not {sample.tolist()}")
    if len(sample) == 1:
        return f"{sample[0]:,.{digits}f}"
    found = interval(sample[:, None], np.random.default_rng(0), lambda scores: np.asarray(scores.mean(-1)))
    return f"{found.point:,.{digits}f} [{found.low:,.{digits}f}, {found.high:,.{digits}f}]"


def restored(folder: Path, run: Run) -> Restored | None:
    """A finished run, or None for one that failed or is not finished."""
    if not is_finished(folder, run):
        return None
    try:
        return restore_run(folder / run.name)
    except InputError:
        return None
