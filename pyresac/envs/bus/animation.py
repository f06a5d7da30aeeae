"""A day as one self-contained HTML page: buses on the line, their loads and holds; play, pause, speed, time."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST
from pyresac.envs.bus.record import Record

TEMPLATE = Path(__file__).parent / "animation.html"
OPENS = 2.0
"""Hours after the start of service at which the page opens: by then the line is full of buses."""


def animation_page(record: Record, title: str) -> str:
    """The page; nothing in it is loaded from elsewhere. About 150 kB for 262 trips of 22 stops."""
    data = json.dumps(day_plain(record), separators=(",", ":"), allow_nan=False)
    # no name of a stop may end the script or open a tag
    data = data.replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("__TITLE__", html.escape(title)).replace("__DATA__", data)


def day_plain(record: Record) -> dict[str, Any]:
    """What the page draws: of each trip its direction, the place of its first stop and, a stop,
    arrival, departure, begin of holding, load."""
    line, corridor = record.layout.line, record.layout.corridor
    trips = []
    for visits, (way, first, last) in zip(record.visits, line.plan[:, [DIRECTION, FIRST, LAST]], strict=True):
        rows = visits[first : last + 1]
        ready = rows[:, at.ARRIVED] + rows[:, at.DWELL]
        leave = ready + np.nan_to_num(rows[:, at.HELD])
        numbers = np.round(np.stack([rows[:, at.ARRIVED], leave, ready], axis=1), 1)
        seen = [[*map(float, row), int(load)] for row, load in zip(numbers, rows[:, at.ONBOARD], strict=True)]
        trips.append([int(way), int(first), seen])
    position = []
    for way in corridor.directions:
        along = np.concatenate([[0.0], np.cumsum(way.length)])
        position.append(np.round(along / along[-1], 5).tolist())
    return {
        "start": float(corridor.service_start),
        "end": float(np.ceil(record.end)),
        "first": 3600.0 * OPENS,
        "capacity": int(line.capacity),
        "names": list(corridor.up.stops),
        "position": position,
        "trips": trips,
    }
