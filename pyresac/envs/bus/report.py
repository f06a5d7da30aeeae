"""Metrics as tables for a terminal and as plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from pyresac.envs.bus import metrics
from pyresac.envs.bus.comparison import Difference, paired_difference, summarise
from pyresac.envs.bus.corridor import DIRECTIONS, Array
from pyresac.envs.bus.record import Record

UNITS = {
    "wait": "min",
    "travel": "min",
    "journey": "min",
    "imbalance": "s",
    "excess_wait": "min",
    "holding": "s",
    "trip": "min",
    "vehicle_hours": "h",
    "weighted_journey": "min",
    "wait_95": "min",
    "weighted_time": "min",
    "end": "h",
}
Days = Mapping[str, Array]
Gaps = Mapping[str, Mapping[str, Difference]]


def paired_gaps(tables: Mapping[str, Days], reference: str, level: float) -> dict[str, dict[str, Difference]]:
    """Differences of every controller but the reference to it, by controller and metric."""
    others = [name for name in tables if name != reference]
    first = tables[reference]
    return {name: {key: paired_difference(tables[name][key], first[key], level) for key in first} for name in others}


def metrics_shown(title: str, table: Days) -> Table:
    """Mean ± standard deviation over days."""
    shown = Table(title=escape(title))
    for column in ("metric", "mean", "± sd", "unit"):
        shown.add_column(column, justify="left" if column in ("metric", "unit") else "right")
    for name, values in table.items():
        summary = summarise(values)
        shown.add_row(name, number(summary.mean), number(summary.deviation), UNITS.get(name, ""))
    return shown


def comparison_shown(title: str, reference: str, table: Days, gaps: Gaps) -> Table:
    """The reference's means and the others' differences to it, bold where the interval leaves out 0."""
    shown = Table(title=escape(title))
    for index, column in enumerate(("metric", reference, *gaps)):
        shown.add_column(column, justify="left" if index == 0 else "right")
    for key, values in table.items():
        texts = [f"{gaps[name][key].mean:+.3g} ± {gaps[name][key].half_width:.2g}" for name in gaps]
        cells = [f"[bold]{text}[/]" if gaps[name][key].sure else text for name, text in zip(gaps, texts, strict=True)]
        shown.add_row(_with_unit(key), number(summarise(values).mean), *cells)
    return shown


def group_rows(records: list[Record], by: str) -> list[dict[str, Any]]:
    """Means over days of the grouped metrics, one row a stop of each direction, or an hour; None where undefined."""
    layout = records[0].layout
    days = [metrics.by_stop(record) if by == "stop" else metrics.by_hour(record) for record in records]
    means = {name: np.mean([day[name] for day in days], axis=0) for name in metrics.GROUPED}

    def row(index: int | tuple[int, int]) -> dict[str, float | None]:
        return {name: _or_none(float(values[index])) for name, values in means.items()}

    if by == "hour":
        start = layout.corridor.service_start / 3600.0
        return [{"hour": start + hour, **row(hour)} for hour in range(layout.corridor.hours)]
    return [
        {"direction": way, "stop": stop, **row((index, place))}
        for index, (way, direction) in enumerate(zip(DIRECTIONS, layout.corridor.directions, strict=True))
        for place, stop in enumerate(direction.stops)
    ]


def groups_shown(by: str, rows: list[dict[str, Any]]) -> Table:
    """The rows of `group_rows`."""
    shown = Table(title=f"by {by}, means over days")
    for name, value in rows[0].items():
        # fold, as a figure must not lose its end in a narrow terminal
        shown.add_column(
            _with_unit(name).replace("_", " "), justify="left" if isinstance(value, str) else "right", overflow="fold"
        )
    for row in rows:
        shown.add_row(
            *(
                escape(value) if isinstance(value, str) else "" if value is None else f"{value:.3g}"
                for value in row.values()
            )
        )
    return shown


def metrics_plain(table: Days) -> dict[str, dict[str, Any]]:
    """Mean, deviation and the days' values of each metric; None for NaN and infinities, which JSON lacks."""
    found = {}
    for name, values in table.items():
        summary = summarise(values)
        plain = [_or_none(value) for value in values.tolist()]
        found[name] = {"mean": _or_none(summary.mean), "deviation": _or_none(summary.deviation), "values": plain}
    return found


def gaps_plain(gaps: Gaps) -> dict[str, dict[str, dict[str, float | None]]]:
    """Mean and half-width of each difference."""
    return {
        name: {key: {"mean": _or_none(gap.mean), "half_width": _or_none(gap.half_width)} for key, gap in of.items()}
        for name, of in gaps.items()
    }


def number(value: float) -> str:
    """Four digits, thousands in full, a dash for NaN."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _with_unit(name: str) -> str:
    return f"{name}, {UNITS[name]}" if name in UNITS else name


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
