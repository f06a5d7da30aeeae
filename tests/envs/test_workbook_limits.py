"""Numbers of a workbook: the least one that is allowed is taken, the next one below is refused with its place."""

from __future__ import annotations

import json
import math
from datetime import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from invented_workbooks import change_cell, invented_workbooks, workbook

from pyresac.envs.bus import Corridor, published_corridor
from pyresac.envs.bus.bounds import FASTEST, LATEST
from pyresac.envs.bus.corridor import BUSIEST, LONGEST_LINK, SHORTEST_LINK
from pyresac.errors import InputError


def found(folder: Path, file: str, cells: dict[str, Any]) -> Corridor:
    invented_workbooks(folder)
    for cell, value in cells.items():
        change_cell(folder / file, cell, value)
    return published_corridor(folder)


@pytest.mark.parametrize(
    ("file", "cell", "least", "said"),
    [
        ("route_news.xlsx", "F2", 0.1, "row 2: speed of 06:00:00 is {}; expected a number of at least 0.1"),
        ("route_news.xlsx", "G7", 0.1, "row 7: speed of 07:00:00 is {}; expected a number of at least 0.1"),
        ("time_table.xlsx", "A2", 0, "row 2: launch_time is {}; expected a number of at least 0"),
        ("passenger_OD.xlsx", "D2", 0, "row 2: rate to X14 is {}; expected a number of at least 0"),
    ],
)
def test_the_least_number_of_a_cell(tmp_path: Path, file: str, cell: str, least: float, said: str) -> None:
    found(tmp_path, file, {cell: least})
    for below in (math.nextafter(least, -math.inf), -1):
        with pytest.raises(InputError, match=said.format(below).replace("+", r"\\+")):
            found(tmp_path, file, {cell: below})


@pytest.mark.parametrize(
    ("file", "cell", "most"),
    [
        ("route_news.xlsx", "F2", FASTEST),
        ("route_news.xlsx", "D2", LONGEST_LINK),
        ("time_table.xlsx", "A3", LATEST),
        ("passenger_OD.xlsx", "D2", BUSIEST),
    ],
)
def test_the_largest_number_of_a_cell(tmp_path: Path, file: str, cell: str, most: float) -> None:
    """The corridor's own limits, on what stands in the workbook."""
    found(tmp_path, file, {cell: most})
    with pytest.raises(InputError, match="must be"):
        # a workbook keeps 15 digits
        found(tmp_path, file, {cell: most * (1.0 + 1e-12)})


def test_the_least_length_and_the_least_ceiling(tmp_path: Path) -> None:
    assert found(tmp_path, "route_news.xlsx", {"D2": SHORTEST_LINK}).up.length[0] == SHORTEST_LINK
    with pytest.raises(InputError, match=r"up\.length\[0\]"):
        found(tmp_path, "route_news.xlsx", {"D2": math.nextafter(SHORTEST_LINK, 0.0)})
    with pytest.raises(InputError, match="row 2: distance is 0; a link must be longer than 0 m"):
        found(tmp_path, "route_news.xlsx", {"D2": 0})
    # the largest of all rows is the line's, so that one of them may be lower
    assert found(tmp_path, "route_news.xlsx", {"E2": 1}).speed_ceiling == 15.0
    with pytest.raises(InputError, match=r"row 2: V_max is 0\.99; expected a number of at least 1"):
        found(tmp_path, "route_news.xlsx", {"E2": 0.99})


@pytest.mark.parametrize("step", [0.999, 1.001, 0, 2, -1])
def test_the_only_time_step(tmp_path: Path, step: float) -> None:
    invented_workbooks(tmp_path)
    path = tmp_path / "config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps(settings | {"time_step": 1.0}))
    published_corridor(tmp_path)
    path.write_text(json.dumps(settings | {"time_step": step}))
    with pytest.raises(InputError, match=f"time_step is {step}; this simulator's step is 1 s"):
        published_corridor(tmp_path)


HEADER = ["route_id", "start_stop", "end_stop", "distance", "V_max", time(6), time(7)]


def test_blank_rows_and_columns_are_none(tmp_path: Path) -> None:
    """And a row keeps its number."""
    stops = ["S", "X13", "X14", "E"]
    links = [[0, *pair, 500 + 10 * number, 15 + number, 8, 9.5, None] for number, pair in enumerate(pairwise(stops))]
    links += [[0, *pair, 500, 15, 8, 9.5] for pair in pairwise(stops[::-1])]
    invented_workbooks(tmp_path)
    workbook(tmp_path / "route_news.xlsx", [[*HEADER, None], [None] * 8, *links[:2], [None] * 8, *links[2:]])
    corridor = published_corridor(tmp_path)
    assert corridor.up.length.tolist() == [500.0, 510.0, 520.0]
    assert corridor.speed_ceiling == 17.0
    assert (corridor.speed_interval, corridor.demand_interval) == (300.0, 20.0)
    change_cell(tmp_path / "route_news.xlsx", "D6", 0)
    with pytest.raises(InputError, match="row 6: distance is 0"):
        published_corridor(tmp_path)


@pytest.mark.parametrize(
    ("file", "cell"),
    [("route_news.xlsx", "D2"), ("route_news.xlsx", "F3"), ("time_table.xlsx", "A2"), ("passenger_OD.xlsx", "D2")],
)
def test_true_is_no_number_of_a_workbook(tmp_path: Path, file: str, cell: str) -> None:
    with pytest.raises(InputError, match=f"row {cell[1:]}: .* is True; expected a number of at least"):
        found(tmp_path, file, {cell: True})


def test_demand_down_of_three_origins_is_scaled(tmp_path: Path) -> None:
    """By the stop that it begins at, and against the order of the stops alone; hours count from the first one."""
    invented_workbooks(tmp_path)
    rates = [[time(hour), origin, 1 + hour, 2 + hour, 3 + hour] for hour in (7, 6) for origin in ("X14", "E", "X13")]
    for row in rates:
        row[2 + ["S", "X13", "X14"].index(str(row[1])) if row[1] != "E" else 2] = 0
    workbook(tmp_path / "passenger_OD.xlsx", [[None, None, "S", "X13", "X14"], *rates])
    demand, stops = published_corridor(tmp_path).demand, ["S", "X13", "X14", "E"]
    expected = np.zeros((2, 4, 4))
    for clock, origin, *row in rates:
        for name, rate in zip(("S", "X13", "X14"), row, strict=True):
            begin, end = stops.index(str(origin)), stops.index(name)
            expected[clock.hour - 6, begin, end] = rate * (0.4 if end < begin and origin != "E" else 1.0)
    np.testing.assert_allclose(demand, expected)
