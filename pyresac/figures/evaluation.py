"""The figures of an evaluation: curves of the runs, their values, and a day under the learned policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from pyresac.envs.bus.controllers import Controller, NoHolding
from pyresac.envs.bus.figures import time_space
from pyresac.envs.bus.metrics import day_metrics
from pyresac.envs.bus.record import Record
from pyresac.envs.bus.simulator import simulate
from pyresac.figures import training
from pyresac.figures.curves import Group
from pyresac.tasks.corridor_task import EVALUATION_DAYS, CorridorTask
from pyresac.training.learned_controller import LearnedController

HOURS = (2.0, 5.0)
"""After the start of service, of the time–space diagram; a shorter day is shown whole."""


def curve_figures(
    groups: Sequence[Group], scale: training.Scale, task: str, rules: Mapping[str, float]
) -> dict[str, Figure]:
    """By file name. rules: mean returns of the classical rules on the days of training's evaluations."""
    several = any(len(group.runs) > 1 for group in groups)
    means = ", mean and range over seeds" if several else ""
    drawn = {
        "learning-curve": training.learning_curve(groups, scale, f"{task}: evaluation during training{means}", rules),
        "uncertainty": training.uncertainty(
            groups, scale, f"{task}: disagreement of the critics on replayed batches, weight norm, temperature"
        ),
    }
    # where a time limit cuts every episode, no return is known to its end
    known = [group for group in groups if np.isfinite(group.spread("earned_eval").mean).any()]
    if known:
        drawn["values"] = training.value_bands(known, scale, f"{task}: do the critics foresee what is earned?")
    return drawn


def day_figure(task: CorridorTask, name: str, controller: LearnedController, seed: int) -> Figure:
    """Trajectories of the first evaluation day of `seed` under the learned policy and without holding."""
    day = EVALUATION_DAYS + seed
    pair: dict[str, Controller] = {f"learned ({name})": controller, "no holding": NoHolding()}
    records = {name: simulate(task.corridor, rule, day, task.published) for name, rule in pair.items()}
    end = min(record.end for record in records.values()) / 3600.0
    hours = HOURS if end > HOURS[1] else (0.0, max(record.end for record in records.values()) / 3600.0)
    named = {f"{name}: {_described(record)}": record for name, record in records.items()}
    figure = time_space(named, 0, hours)
    figure.suptitle(
        f"Corridor {task.corridor.name}, day {day}: the buses of one direction", fontsize=11, x=0.02, ha="left"
    )
    return figure


def _described(record: Record) -> str:
    day = day_metrics(record)
    reward, bunched = day.reward / 1e6, 100.0 * day.bunching
    text = f"reward {reward:.3f}·10⁶, wait {day.wait:.1f} min, travel {day.travel:.1f} min, {bunched:.1f} % bunched"
    return text.replace("-", "−")
