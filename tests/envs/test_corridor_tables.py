"""Tables of the corridor's commands: numbers at the right and words at the left, each with its unit."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from small_feed import write

from pyresac.corridor.feeds import Routes
from pyresac.corridor.vehicle_location import _shown
from pyresac.envs.bus import Corridor, HeadwayEqualising, NoHolding, by_hour, by_stop, metrics_table, simulate_days
from pyresac.envs.bus.avl.moments import agreement
from pyresac.envs.bus.avl.observed import days_of
from pyresac.envs.bus.report import (
    UNITS,
    comparison_shown,
    group_rows,
    groups_shown,
    metrics_plain,
    metrics_shown,
    number,
    paired_gaps,
)

NUMBER = re.compile(r"[+\-−]?[\d,]+(\.\d+)?(e[+-]\d+)?%?( ± [\d.e+-]+)?|–|nan|")


class Seen(Console):
    """Keeps the tables that are printed."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.tables: list[Table] = []

    def print(self, *objects: Any, **options: Any) -> None:
        self.tables += [one for one in objects if isinstance(one, Table)]


@pytest.fixture(scope="module")
def tables(small: Corridor, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    days = {
        name: simulate_days(small, rule, range(3)) for name, rule in (("a", NoHolding()), ("b", HeadwayEqualising()))
    }
    metrics = {name: metrics_table(records) for name, records in days.items()}
    seen, feeds = [agreement(days_of(records), small.hours) for records in days.values()], Seen()
    Routes(write(tmp_path_factory.mktemp("feed") / "feed.zip")).run(feeds)
    return {
        "metrics": metrics_shown("[title]", metrics["a"]),
        "comparison": comparison_shown("[title]", "a", metrics["a"], paired_gaps(metrics, "a", 0.95)),
        "by stop": groups_shown("stop", group_rows(days["a"], "stop")),
        "by hour": groups_shown("hour", group_rows(days["a"], "hour")),
        "observed": _shown("days held out", *seen),
        "routes": feeds.tables[0],
    }


def cells(column: Any) -> list[str]:
    return [re.sub(r"\[/?bold\]|\[/\]", "", str(cell)) for cell in column.cells]


NAMED = {
    "metrics": {"metric", "unit"},
    "comparison": {"metric"},
    "by stop": {"direction", "stop"},
    "by hour": set[str](),
    "observed": {"direction", "statistic"},
    "routes": {"route_id", "short name", "long name", "first", "last"},
}
"""Columns of words."""


@pytest.mark.parametrize("name", NAMED)
def test_numbers_stand_at_the_right_and_words_at_the_left(tables: dict[str, Table], name: str) -> None:
    """Also a word that looks like a number, such as the short name of a route."""
    table = tables[name]
    assert table.row_count
    assert {str(column.header) for column in table.columns if column.justify == "left"} == NAMED[name]
    for column in table.columns:
        if column.justify == "right":
            assert all(NUMBER.fullmatch(cell) for cell in cells(column)), column.header
        assert len(cells(column)) == table.row_count


def test_titles_are_shown_as_they_are(tables: dict[str, Table]) -> None:
    """Brackets in a name are no markup."""
    assert {str(tables[name].title) for name in ("metrics", "comparison")} == {r"\[title]"}
    assert tables["by stop"].title == "by stop, means over days"
    assert tables["observed"].title == "days held out"
    assert str(tables["routes"].title).endswith("feed.zip")


def test_every_metric_has_its_unit(tables: dict[str, Table]) -> None:
    metric, *_, unit = tables["metrics"].columns
    assert dict(zip(cells(metric), cells(unit), strict=True)) == {name: UNITS.get(name, "") for name in cells(metric)}
    with_units = [f"{name}, {UNITS[name]}" if name in UNITS else name for name in cells(metric)]
    assert cells(tables["comparison"].columns[0]) == with_units
    headers = {str(column.header) for column in tables["by stop"].columns}
    assert {"excess wait, min", "holding, s", "wait, min", "left behind"} <= headers
    assert all(column.overflow == "fold" for column in tables["by stop"].columns), "no figure loses its end"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (math.nan, "–"),
        (999.94, "999.9"),
        (1000.0, "1,000"),
        (-1000.4, "-1,000"),
        (0.123456, "0.1235"),
    ],
)
def test_a_number_has_four_digits(value: float, shown: str) -> None:
    assert number(value) == shown


def test_what_is_no_number_is_none_in_json() -> None:
    found = metrics_plain(
        {"wait": np.array([1.0, math.nan]), "load": np.array([math.inf]), "end": np.array([2.0, 4.0])}
    )
    assert found["wait"] == {"mean": None, "deviation": None, "values": [1.0, None]}
    assert found["load"] == {"mean": None, "deviation": None, "values": [None]}
    assert found["end"] == {"mean": 3.0, "deviation": pytest.approx(math.sqrt(2.0)), "values": [2.0, 4.0]}


def test_differences_are_signed_in_their_own_way(tables: dict[str, Table]) -> None:
    """Correlations differ by a number, all else by a share of the observed value."""
    _, statistic, mine, other, change = (cells(column) for column in tables["observed"].columns)
    for name, first, second, shown in zip(statistic, mine, other, change, strict=True):
        if "correlation" in name:
            assert float(shown) == pytest.approx(float(second) - float(first), abs=1.1e-3)
        else:
            # both have four decimals, the share one
            error = 0.05 + 100.0 * 1e-4 / float(first) * (1.0 + float(second) / float(first))
            assert float(shown[:-1]) == pytest.approx(100.0 * (float(second) / float(first) - 1.0), abs=error)
        assert shown[0] in "+-"


@pytest.mark.parametrize("by", ["stop", "hour"])
def test_rows_of_groups_are_means_over_days(small: Corridor, by: str) -> None:
    """Of the stop of a direction, or of the hour of the clock; a number that a day lacks is none."""
    line = replace(small, service_start=6.5 * 3600.0)
    days = simulate_days(line, HeadwayEqualising(), range(4))
    rows = group_rows(days, by)
    if by == "stop":
        ways = [("up", stop) for stop in line.up.stops] + [("down", stop) for stop in line.down.stops]
        assert [(row["direction"], row["stop"]) for row in rows] == ways
        found = [by_stop(day) for day in days]
    else:
        assert [row["hour"] for row in rows] == [6.5, 7.5]
        found = [by_hour(day) for day in days]
    missing = 0
    for name in found[0]:
        for index, row in enumerate(rows):
            value = sum(float(day[name].ravel()[index]) for day in found) / 4
            missing += math.isnan(value)
            assert row[name] == (None if math.isnan(value) else pytest.approx(value)), name
    assert missing or by == "hour"
    shown = groups_shown(by, rows)
    texts = [[str(cell) for cell in column.cells] for column in shown.columns]
    for index, row in enumerate(rows):
        words = [value if isinstance(value, str) else "" if value is None else f"{value:.3g}" for value in row.values()]
        assert [column[index] for column in texts] == words
