"""What a deep run ends with: the learned policy beside the classical rules on the same days, or its returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

from pyresac.agents.deep.corridor_task import EVALUATION_DAYS, CorridorTask
from pyresac.agents.deep.task import Played
from pyresac.agents.deep.trainee import DeepTrainee
from pyresac.envs.bus.comparison import paired_difference
from pyresac.envs.bus.controllers import controller_named
from pyresac.envs.bus.metrics import metrics_table
from pyresac.envs.bus.simulator import Simulator

FINAL_SEED = 5_000
"""Of the final episodes: none of those that training was evaluated on."""
SLACKS = tuple(range(0, 61, 10))
"""Seconds of slack among which the best slack rule is searched, on the days that training was evaluated on."""
COLUMNS = {"reward": "reward, 10⁶", "wait": "wait, min", "travel": "travel, min"}


@dataclass(frozen=True)
class Contest:
    """Metrics of controllers on the same days, each name's values (days,)."""

    tables: dict[str, dict[str, NDArray[np.float64]]]
    """The learned policy first."""
    seeds: list[int]


def report(trainee: DeepTrainee, episodes: int, console: Console) -> dict[str, Any]:
    """Play the final episodes, print the table, return its numbers as JSON."""
    played = trainee.play(episodes, FINAL_SEED)
    compared = trainee.compare(played)
    result: dict[str, Any] = {
        "steps": trainee.step,
        "updates": trainee.learner.updates,
        "episodes": episodes,
        "return": float(played.returns.mean()),
        "return_error": half_width(played.returns),
        "values": {"q": compared.value, "sigma": compared.deviation, "earned": compared.earned},
    }
    if isinstance(trainee.task, CorridorTask):
        contest = contest_of(trainee.task, played, episodes, FINAL_SEED)
        result["controllers"] = {
            name: {metric: table[metric].tolist() for metric in COLUMNS} for name, table in contest.tables.items()
        }
        print_contest(console, contest, f"{trainee.task.corridor.name} after {trainee.step:,} steps")
    else:
        mean, error = result["return"], result["return_error"]
        console.print(f"Return of the averaged policy in {episodes} episodes: {mean:,.1f} ± {error:,.1f} (95 %).")
    if math.isnan(compared.earned):
        if trainee.options.departures.standardise_rewards:
            why = "the critics learned standardised rewards"
        else:
            why = "time limits end every episode too soon"
        console.print(f"Value of a decision: nothing to compare it with, {why}.")
    else:
        console.print(
            f"Value of a decision, mean: critics {compared.value:,.1f} (σ_ens {compared.deviation:,.1f}), "
            f"earned {compared.earned:,.1f}."
        )
    plain: dict[str, Any] = _plain(result)
    return plain


def contest_of(task: CorridorTask, played: Played, episodes: int, seed: int) -> Contest:
    """The learned policy's days again without holding, with the headway rule and with the best slack rule."""
    seeds = [EVALUATION_DAYS + seed + index for index in range(episodes)]
    tables = {"learned": dict(played.metrics)}
    for name in ("none", "headway", best_slack(task)):
        tables[name] = rule_days(task, name, seeds)
    return Contest(tables, seeds)


def best_slack(task: CorridorTask) -> str:
    """The slack rule of the highest reward on other days than the final ones."""
    seeds = [EVALUATION_DAYS + index for index in range(6)]
    rules = [f"target:slack={slack}" for slack in SLACKS]
    return max(rules, key=lambda name: float(rule_days(task, name, seeds)["reward"].mean()))


def rule_days(task: CorridorTask, name: str, seeds: list[int]) -> dict[str, NDArray[np.float64]]:
    """Metrics of a controller on days."""
    simulator = Simulator(task.corridor, days=len(seeds), published=task.published)
    simulator.start(seeds)
    simulator.run(controller_named(name))
    return metrics_table([simulator.record(row) for row in range(len(seeds))])


def print_contest(console: Console, contest: Contest, title: str) -> None:
    """Means over the days, and the paired differences in reward to the learned policy."""
    learned = contest.tables["learned"]
    table = Table(title=f"{title}, {len(contest.seeds)} days", box=box.ROUNDED, title_style="bold")
    table.add_column("controller", no_wrap=True)
    for header in COLUMNS.values():
        table.add_column(header, justify="right")
    table.add_column("learned better by", justify="right", no_wrap=True)
    for name, days in contest.tables.items():
        cells = [f"{_scaled(metric, days[metric].mean()):,.4g}" for metric in COLUMNS]
        gain = ""
        if name != "learned" and len(contest.seeds) > 1:
            gap = paired_difference(learned["reward"], days["reward"])
            gain = f"{gap.mean / 1e6:+.3f} ± {gap.half_width / 1e6:.3f}"
        table.add_row(name, *cells, gain, style="bold" if name == "learned" else None)
    console.print(table)
    console.print("± is half of the 95 % interval over the same days. The reward sees headways, not passengers' time.")


def half_width(values: NDArray[np.float64]) -> float:
    """Half of the 95 % interval of a mean by the normal approximation; NaN for one value."""
    return float(1.96 * values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _scaled(metric: str, value: float) -> float:
    return value / 1e6 if metric == "reward" else value


def _plain(value: Any) -> Any:
    """None for what JSON lacks."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
