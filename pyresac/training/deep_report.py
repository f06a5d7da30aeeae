"""The report of a deep run: the learned policy beside the classical rules on the same days, or its returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from pyresac.envs.bus.comparison import paired_difference
from pyresac.envs.bus.objectives import PassengerTime
from pyresac.tasks.corridor_baselines import Values, baselines, rules_of, searched
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.tasks.task import Played, Task
from pyresac.training.mean_intervals import half_width

FINAL_SEED = 5_000
"""Seed of the final episodes, none of which is played in an evaluation during training."""
LEARNED = "learned"
COLUMNS = {"reward": "reward, 10⁶", "wait": "wait, min", "travel": "travel, min"}
"""Columns for the objective of headways; the first one ranks the policies."""
PASSENGERS = {
    "weighted_journey": "cost, min",
    "wait": "wait, min",
    "travel": "ride, min",
    "vehicle_hours": "bus hours",
}
"""Columns for the objective of passengers' time; the first one ranks the policies, less is better."""


@dataclass(frozen=True)
class Comparison:
    """Values of the critics beside what was earned, over decisions of evaluation episodes, in the task's rewards."""

    value: float
    """Mean of Q̄."""
    deviation: float
    """Mean of σ_ens."""
    earned: float
    """Mean discounted return."""


def result_of(task: Task, played: Played, compared: Comparison, steps: int, updates: int) -> dict[str, Any]:
    """The numbers of the final episodes, which begin with `FINAL_SEED`, as JSON; None for what is not known."""
    episodes = len(played.returns)
    result: dict[str, Any] = {
        "steps": steps,
        "updates": updates,
        "episodes": episodes,
        "return": float(played.returns.mean()),
        "return_error": half_width(played.returns),
        "values": {"q": compared.value, "sigma": compared.deviation, "earned": compared.earned},
    }
    if isinstance(task, CorridorTask):
        names = tuple(searched(task, name) for name in baselines(task))
        tables = {LEARNED: played.metrics, **rules_of(task, names, episodes, FINAL_SEED)}
        result["controllers"] = {
            name: {metric: table[metric].tolist() for metric in {**COLUMNS, **_columns(task)}}
            for name, table in tables.items()
        }
    plain: dict[str, Any] = _plain(result)
    return plain


def print_result(console: Console, task: Task, result: Mapping[str, Any], values_have_a_unit: bool) -> None:
    """The numbers of `result_of` as a table, or in words. values_have_a_unit: see `Algorithm`."""
    episodes = result["episodes"]
    if isinstance(task, CorridorTask):
        tables = {
            name: {metric: np.array(days, dtype=np.float64) for metric, days in table.items()}
            for name, table in result["controllers"].items()
        }
        title = f"{task.corridor.name} after {result['steps']:,} steps, {episodes} days"
        print_contest(console, tables, title, isinstance(task.worth, PassengerTime))
    else:
        mean, error = result["return"], result["return_error"]
        console.print(f"Return of the averaged policy in {episodes} episodes: {mean:,.1f} ± {error:,.1f} (95 %).")
    values = result["values"]
    if values["earned"] is None:
        if not values_have_a_unit:
            why = "the critics learned standardised rewards"
        else:
            why = "time limits end every episode too soon"
        console.print(f"The critics' values cannot be compared with returns: {why}.")
    else:
        console.print(
            f"On average the critics value a decision at {values['q']:,.1f} (σ_ens {values['sigma']:,.1f}), "
            f"and it earned {values['earned']:,.1f}."
        )


def print_contest(console: Console, tables: Mapping[str, Values], title: str, passengers: bool = False) -> None:
    """Means of each controller over the same days, and paired differences to the learned policy: in reward, or with
    `passengers` in minutes of 2·wait + ride."""
    columns = PASSENGERS if passengers else COLUMNS
    judged, factor = ("weighted_journey", -1.0) if passengers else ("reward", 1e-6)
    learned = tables[LEARNED][judged]
    table = Table(title=title, box=box.ROUNDED, title_style="bold")
    table.add_column("controller", no_wrap=True)
    for header in columns.values():
        table.add_column(header, justify="right")
    table.add_column("saved, min" if passengers else "learned better by", justify="right", no_wrap=True)
    for name, days in tables.items():
        cells = [f"{_scaled(metric, days[metric].mean()):,.4g}" for metric in columns]
        gain = ""
        if name != LEARNED and len(learned) > 1:
            gap = paired_difference(learned, days[judged])
            gain = f"{gap.mean * factor:+.3f} ± {gap.half_width * abs(factor):.3f}"
        table.add_row(name, *cells, gain, style="bold" if name == LEARNED else None)
    console.print(table)
    seen = " The reward sees headways, not passengers' time."
    if passengers:
        seen = " Cost is 2·wait + ride, the same passengers for all."
    console.print(f"± is half of the 95 % interval over the same days.{seen}")


def _columns(task: CorridorTask) -> dict[str, str]:
    return PASSENGERS if isinstance(task.worth, PassengerTime) else COLUMNS


def _scaled(metric: str, value: float) -> float:
    return value / 1e6 if metric == "reward" else value


def _plain(value: Any) -> Any:
    """With None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
