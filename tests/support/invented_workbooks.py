"""Workbooks of a small line in the published layout."""

from __future__ import annotations

import json
from datetime import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import openpyxl


def workbook(path: Path, rows: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Sheet1"
    for row in rows:
        sheet.append(row)
    book.save(path)


def invented_workbooks(folder: Path) -> None:
    """A four-stop line in the published layout."""
    stops, links = ["S", "X13", "X14", "E"], []
    workbook(folder / "stop_news.xlsx", [["stop_id", "stop_name"], *([i, stop] for i, stop in enumerate(stops))])
    for number, (start, end) in enumerate([*pairwise(stops), *pairwise(stops[::-1])]):
        links.append([number, start, end, 500, 15, 8, 9.5])
    header = ["route_id", "start_stop", "end_stop", "distance", "V_max", time(6), time(7)]
    workbook(folder / "route_news.xlsx", [header, *links])
    workbook(folder / "time_table.xlsx", [["launch_time", "direction"], [0, 1], [360, 1], [180, 0], [540, 0]])
    rates = [[time(hour), origin, 10, 10] for hour in (6, 7) for origin in ("X13", "X14")]
    for row in rates:
        row[2 if row[1] == "X13" else 3] = 0
    workbook(folder / "passenger_OD.xlsx", [[None, None, "X13", "X14"], *rates])
    settings = {"time_step": 1, "route_state_update_freq": 300, "passenger_state_update_freq": 20}
    (folder / "config.json").write_text(json.dumps(settings))


def change_cell(path: Path, cell: str, value: Any) -> None:
    book = openpyxl.load_workbook(path)
    book.worksheets[0][cell] = value
    book.save(path)
