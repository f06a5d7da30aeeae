"""How accurate are the critics: the paper's Oracle Q-error (tables 1 and 2), with its alignment and without.

After training, evaluation episodes are played; every step gives the values of all heads and the discounted return from
there on. Steps near a time limit, whose return is not known, are left out, as the published script does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pyresac.experiments.critic_error import CriticErrors, aligned, errors
from pyresac.experiments.deep_runs import by_part, mean_cell, measures_of_runs, odds, stationary_cells
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, verdict_of
from pyresac.tasks.task import Played
from pyresac.training.restored import Restored

RUNS_IN = "returns"
EPISODES: dict[Scale, int] = {"smoke": 3, "cpu": 50, "paper": 50}
PAPER = {
    "Hopper-v5": {"SAC": "15.5", "DSAC": "16.6", "TD3": "6.8", "BAC": "13.4", "RE-SAC v1": "7.9", "RE-SAC B0": "13.0"},
    "HalfCheetah-v5": {
        "SAC": "59.0",
        "DSAC": "45.9",
        "TD3": "47.6",
        "BAC": "42.2",
        "RE-SAC v1": "30.2",
        "RE-SAC B0": "82.1",
    },
    "Walker2d-v5": {
        "SAC": "10.1",
        "DSAC": "10.6",
        "TD3": "10.7",
        "BAC": "7.5",
        "RE-SAC v1": "7.0",
        "RE-SAC B0": "10.7",
    },
    "Ant-v5": {
        "SAC": "81.7",
        "DSAC": "107.7",
        "TD3": "61.4",
        "BAC": "86.5",
        "RE-SAC v1": "48.1",
        "RE-SAC B0": "74.3",
    },
}
"""Table 1: Oracle MAE of one seed after 8M steps on Brax."""
BLOCK = 4096
"""Decisions at a time."""
KINDS = ("aligned", "raw")
SHOWN = ("oracle", "mean", "lcb", "minimum")
NOTE = (
    "mean over seeds [95 %]; oracle: of the nearest head at each step; lcb: mean − 2σ; bias: values less returns; "
    "within: deviation of a head's error over steps; between: of the heads at a step. "
    "The paper's: one seed, 8M steps on Brax"
)


def runs(scale: Scale) -> list[Run]:
    """The runs of `returns`, which are trained once for both."""
    return [one.run for one in stationary_cells(scale)]


def values_of(run: Restored, played: Played) -> NDArray[np.float64]:
    """(K, m) what the heads say of the decisions whose return is known, in the task's rewards."""
    blocks = []
    for begin in range(0, len(played.discounted), BLOCK):
        part = slice(begin, begin + BLOCK)
        state = run.trainee.features(played.dense[part], played.codes[part])
        blocks.append(run.trainee.learner.values(state, torch.from_numpy(played.action[part])).double().numpy())
    return np.asarray(np.concatenate(blocks, 1) / run.config.options.reward_scale)


def both_errors(run: Restored, episodes: int) -> tuple[CriticErrors, CriticErrors]:
    """Errors of the heads as they are, and under the published alignment, over the steps of evaluation episodes."""
    played = run.play(episodes, 5_000)
    heads = values_of(run, played)
    return errors(heads, played.discounted), errors(aligned(heads, played.discounted), played.discounted)


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: a run's `CriticErrors`, raw and aligned."""

    def measure(run: Restored) -> dict[str, dict[str, float]]:
        raw, under_map = both_errors(run, EPISODES[scale])
        return {"raw": raw._asdict(), "aligned": under_map._asdict()}

    return measures_of_runs(folder, runs, measure)


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    numbers = by_part(measures, stationary_cells(scale), KINDS)
    tables = [_table(task, found, kind) for task, found in numbers.items() for kind in KINDS]
    return Outcome(_findings(numbers), tables)


def _table(task: str, found: dict[str, Any], kind: str) -> Table:
    columns = SHOWN if kind == "aligned" else (*SHOWN, "bias", "within", "between")
    rows = [
        (label, tuple(mean_cell((one[column] for one in both[kind]), 1) for column in columns))
        for label, both in found.items()
    ]
    words = "under the published affine map" if kind == "aligned" else "as they are"
    paper = {label: (value,) for label, value in PAPER[task].items()} if kind == "aligned" else {}
    return Table(f"{task}: mean absolute error, values {words}", columns, rows, paper, NOTE)


def _findings(numbers: dict[str, Any]) -> list[Finding]:
    """On a task v1 is the lowest if its runs are surely below those of each other; it is not if surely above one's."""
    claim = "RE-SAC v1 has the lowest Oracle MAE on three of four tasks (table 1)"
    lines, sides = [], []
    for task, found in numbers.items():
        errors_of = {label: [one["oracle"] for one in cell["aligned"]] for label, cell in found.items()}
        own = errors_of.pop("RE-SAC v1", None)
        if own is None or not errors_of:
            continue
        sides.append(min(odds(other, own).side(0.5) for other in errors_of.values()))
        means = {label: float(np.mean(there)) for label, there in errors_of.items()}
        first = min(means, key=lambda label: means[label])
        lines.append(f"{task}: RE-SAC v1 {np.mean(own):.1f}, the least of the others {first} {means[first]:.1f}")
    if not lines:
        return [Finding(claim, "not tried at this scale", "no finished runs of RE-SAC v1 and of others")]
    lowest, higher = (sum(side == of for side in sides) / len(sides) for of in (1, -1))
    return [Finding(claim, verdict_of([1 if lowest >= 0.75 else -1 if higher > 0.25 else 0]), "; ".join(lines))]
