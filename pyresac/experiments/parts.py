"""Which part of RE-SAC costs return on a task that ends where the robot falls? Each part alone, and all of them.

The base has two critics, the target is their minimum, there is no penalty, and the actor moves with every update.
Everything else is that of the preset `penalties`, which is the paper's equations; it is the last row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pyresac.experiments.deep_runs import (
    Cell,
    Curve,
    by_task,
    cell,
    curve_groups,
    curves_of_runs,
    draw_curves,
    mean_cell,
    measured,
    paired_by_seed,
    seeds_at,
)
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, verdict_of
from pyresac.experiments.statistics import Interval
from pyresac.figures.training import RETURN

RUNS_IN = "parts"
TASKS: Mapping[Scale, tuple[str, ...]] = {
    "smoke": ("Hopper-v5",),
    "cpu": ("Hopper-v5",),
    "paper": ("Hopper-v5", "Walker2d-v5", "HalfCheetah-v5"),
}
STEPS: Mapping[Scale, int] = {"smoke": 12_000, "cpu": 60_000, "paper": 1_000_000}
EVERY: Mapping[Scale, int] = {"smoke": 4_000, "cpu": 5_000, "paper": 20_000}
BASE: Mapping[str, Any] = {
    "preset": "penalties",
    "ensemble_size": 2,
    "independence": 0.0,
    "lambda_epi": 0.0,
    "lambda_ale": 0.0,
    "beta_ood": 0.0,
    "beta_lcb": 0.0,
    "ema_rate": 1.0,
    "actor_every": 1,
}
NONE, ALL = "no part", "all parts, K = 5"
PARTS: Mapping[str, Mapping[str, Any]] = {
    "independent targets": {"independence": 1.0},
    "Γ_epi": {"lambda_epi": 0.01},
    "κ": {"lambda_ale": 1e-5},
    "β_ood": {"beta_ood": 0.01},
    "β_lcb": {"beta_lcb": -0.5},
    "averaged policy": {"ema_rate": 0.005},
    "actor every 2nd update": {"actor_every": 2},
}
"""What each adds to the base: its value in `penalties`."""
WHOLE = "all parts, shared minimum"
LABELS = (NONE, *PARTS, ALL, WHOLE)
SHORT = {
    NONE: "none",
    "independent targets": "independent",
    "Γ_epi": "epi",
    "κ": "kappa",
    "β_ood": "ood",
    "β_lcb": "lcb",
    "averaged policy": "averaged",
    "actor every 2nd update": "actor-every-2",
    ALL: "all",
    WHOLE: "all-minimum",
}
"""Names of run folders."""
PANELS = ((NONE, *list(PARTS)[:4]), (NONE, *list(PARTS)[4:], ALL, WHOLE))
Scores: TypeAlias = Mapping[int, float]
"""A number a seed."""


def settings_of(label: str) -> Mapping[str, Any]:
    """The options of a row."""
    whole = {"preset": "penalties"}
    own = {NONE: BASE, ALL: whole, WHOLE: {**whole, "independence": 0.0}}
    return own[label] if label in own else {**BASE, **PARTS[label]}


def cells(scale: Scale) -> list[Cell]:
    """Every row on every task; all rows of a seed before the next seed."""
    found = []
    for task in TASKS[scale]:
        for seed in seeds_at(scale):
            for label in LABELS:
                one = cell(SHORT[label], settings_of(label), task, seed, STEPS[scale], EVERY[scale])
                found.append(Cell(label, task, seed, one.run))
    return found


def runs(scale: Scale) -> list[Run]:
    """See `Experiment`."""
    return [one.run for one in cells(scale)]


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: a run's learning curve."""
    return curves_of_runs(folder, runs)


def second_half(curve: Curve) -> float:
    """Mean of the second half of a run's evaluations: one evaluation swings by hundreds."""
    found = curve["eval_return"]
    return float(np.mean(found[len(found) // 2 :]))


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    scores: dict[str, dict[str, dict[int, float]]] = {}
    for one, curve in measured(measures, cells(scale)):
        scores.setdefault(one.task, {}).setdefault(one.label, {})[one.seed] = second_half(curve)
    names = []
    for task, curves in by_task(measures, cells(scale)).items():
        names.append(f"parts-{task}.png")
        groups = curve_groups((label, curve) for label in LABELS for curve in curves.get(label, ()))
        draw_curves(figures / names[-1], f"{task}: one part at a time", RETURN, groups, PANELS, {})
    tables = [_table(task, found) for task, found in scores.items()]
    return Outcome([_finding(label, scores) for label in (*PARTS, ALL)], tables, tuple(names))


def _table(task: str, found: Mapping[str, Scores]) -> Table:
    rows = []
    for label in LABELS:
        if label in found:
            against = difference(found, label)
            more = "" if against is None else against.signed
            each = ", ".join(f"{score:,.0f}" for score in found[label].values())
            rows.append((label, (mean_cell(found[label].values()), more, each)))
    columns = ("return, mean over seeds [95 %]", "more than with no part, paired by seed", "each seed")
    return Table(f"{task}: what is added", columns, rows, note="mean of the second half of a run's evaluations")


def difference(found: Mapping[str, Scores], label: str) -> Interval | None:
    """What `label` earns more than the base, paired by seed; None for the base, or with fewer than two pairs."""
    if label == NONE:
        return None
    return paired_by_seed(found.get(label, {}), found.get(NONE, {}))[1]


def _finding(label: str, scores: Mapping[str, Mapping[str, Scores]]) -> Finding:
    sides, words = [], []
    for task, found in scores.items():
        against = difference(found, label)
        if against is not None:
            sides.append(against.side())
            words.append(f"{task}: {against.signed}")
    claim = f"Added to two critics and their minimum, it raises the return (section 5.1): {label}"
    return Finding(claim, verdict_of(sides), "; ".join(words) or "fewer than two seeds with both")
