"""Learned policies and classical rules on the same episodes: their numbers, a table and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

from pyresac.envs.bus.report import gaps_plain, metrics_plain, paired_gaps
from pyresac.errors import InputError
from pyresac.tasks.corridor_baselines import Values, searched
from pyresac.tasks.corridor_task import CorridorTask


@dataclass(frozen=True)
class Column:
    """How a metric is shown."""

    header: str
    factor: float = 1.0
    decimals: int = 1


CORRIDOR = {
    "reward": Column("reward\n10⁶", 1e-6, 3),
    "wait": Column("wait\nmin", decimals=2),
    "travel": Column("travel\nmin", decimals=2),
    "imbalance": Column("imbalance\ns"),
    "bunching": Column("bunching\n%", 100.0),
}
PASSENGERS = {
    "weighted_journey": Column("2·wait + ride\nmin", decimals=2),
    "wait": Column("wait\nmin", decimals=2),
    "travel": Column("ride\nmin", decimals=2),
    "vehicle_hours": Column("vehicle\nhours"),
    "left_behind": Column("denied\nboardings"),
}
"""Columns of the objective of passengers' time."""
EPISODES = {"return": Column("return"), "length": Column("length\nsteps"), "cut": Column("cut by time\n%", 100.0)}


@dataclass(frozen=True)
class Contest:
    """Metrics of policies on the same episodes, each name's values (episodes,)."""

    learned: Mapping[str, Values]
    """Learned policies by the name of their run; the first one is what all others are compared with."""
    rules: Mapping[str, Values]
    episodes: int

    @property
    def reference(self) -> str:
        """The first learned policy."""
        return next(iter(self.learned))

    def others(self, level: float) -> dict[str, dict[str, Any]]:
        """The reference less each other policy, by metric; empty with a single episode."""
        tables = {**self.learned, **self.rules}
        if self.episodes < 2:
            return {}
        negated = {name: {key: -values for key, values in table.items()} for name, table in tables.items()}
        return {name: dict(gaps) for name, gaps in paired_gaps(negated, self.reference, level).items()}


def rule_names(task: CorridorTask, names: tuple[str, ...]) -> tuple[str, ...]:
    """With "best-slack" and its like replaced by the rules they stand for. Raises InputError if one comes twice."""
    found = tuple(searched(task, name) for name in names)
    if len(set(found)) < len(found):
        raise InputError(f"controllers are {', '.join(found)}; each may be given once")
    return found


def contest_shown(
    contest: Contest, groups: Mapping[str, list[str]], level: float, title: str, passengers: bool = False
) -> Table:
    """A row a policy: means over the episodes, and below each the reference's mean less this one's, in bold where the
    interval of that difference leaves out 0.

    groups: runs that differ in their seed alone, by a common name; two or more get a row with their mean and range.
    passengers: the columns of passengers' time in place of those of the headways' reward.
    """
    tables = {**contest.learned, **contest.rules}
    on_corridor = "reward" in tables[contest.reference]
    columns = {**CORRIDOR, **EPISODES}
    if on_corridor:
        columns = PASSENGERS if passengers else CORRIDOR
    columns = {name: column for name, column in columns.items() if name in tables[contest.reference]}
    gaps = contest.others(level)
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, title_style="bold", title_justify="left", padding=0)
    table.add_column("policy", overflow="fold")
    for column in columns.values():
        table.add_column(column.header, justify="right", no_wrap=True)
    for name, values in tables.items():
        cells = []
        for metric, column in columns.items():
            cell = shown(column, values[metric].mean())
            if name in gaps:
                gap = gaps[name][metric]
                text = f"{shown(column, gap.mean, '+')}±{shown(column, gap.half_width)}"
                cell += f"\n[bold]{text}[/]" if gap.sure else f"\n[dim]{text}[/]"
            cells.append(cell)
        table.add_row(escape(name), *cells)
    for label, members in groups.items():
        if len(members) > 1:
            table.add_row(f"{escape(label)}\n{len(members)} seeds", *_over_seeds(contest, members, columns))
    return table


def _over_seeds(contest: Contest, members: list[str], columns: Mapping[str, Column]) -> list[str]:
    cells = []
    for metric, column in columns.items():
        means = np.array([contest.learned[name][metric].mean() for name in members])
        cells.append(f"{shown(column, means.mean())}\n{shown(column, means.min())}…{shown(column, means.max())}")
    return cells


def contest_plain(contest: Contest, level: float) -> dict[str, Any]:
    """Every metric of every policy, and the differences, for JSON."""
    return {
        "learned": {name: metrics_plain(values) for name, values in contest.learned.items()},
        "controllers": {name: metrics_plain(values) for name, values in contest.rules.items()},
        "level": level,
        "reference": contest.reference,
        "differences": gaps_plain(contest.others(level)),
    }


def shown(column: Column, value: float, sign: str = "") -> str:
    """A value in the column's unit."""
    return f"{value * column.factor:{sign},.{column.decimals}f}".replace("nan", "–")
