"""A corridor and options for runs of little work."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyresac.envs.bus import Corridor, Direction, Vehicle
from pyresac.envs.bus.corridor_files import save_corridor


def save_tiny_corridor(path: Path) -> None:
    """Four stops and four trips a direction: a day of a few dozen decisions."""
    stops = ("a", "b", "c", "d")
    ways = [
        Direction(names, np.full(3, 400.0), np.full((3, 1), 8.0), 200.0 * np.arange(1, 5))
        for names in (stops, stops[::-1])
    ]
    demand = 40.0 * (1.0 - np.eye(4))[None]
    vehicle = Vehicle(capacity=10)
    save_corridor(
        Corridor("tiny", stops, *ways, demand, headway=200.0, holding_limit=60.0, vehicle=vehicle, speed_deviation=1.5),
        path,
    )


TINY = [
    *("--hidden", "8", "8", "--actor-hidden", "8", "--batch-size", "16", "--buffer-size", "300", "--num-envs", "2"),
    *("--learning-starts", "40", "--update-every", "2", "--eval-episodes", "2", "--final-episodes", "2"),
    *("--eval-every", "100", "--checkpoint-every", "100"),
]
"""Options of a run of little work."""
