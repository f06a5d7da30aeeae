"""Fixtures of the corridor's tests: a small line, and the published files where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, Direction

REFERENCE = Path(__file__).parents[3] / "shared" / "reference"


@pytest.fixture(scope="session")
def reference() -> Path:
    """The published workbooks and figures, beside the repository."""
    if not (REFERENCE / "route_news.xlsx").is_file():
        pytest.skip("the published files are not at ../shared/reference")
    return REFERENCE


@pytest.fixture(scope="session")
def small() -> Corridor:
    """Five stops, eight trips a direction, one hour and a half of launches."""
    stops = ("A", "B", "C", "D", "E")
    length = np.array([400.0, 300.0, 500.0, 350.0])
    speed = np.full((4, 2), 8.0)
    demand = 12.0 * np.ones((2, 5, 5)) * ~np.eye(5, dtype=bool)
    launches = 600.0 * np.arange(8)
    up = Direction(stops, length, speed, launches)
    return Corridor(
        "small", stops, up, Direction(stops[::-1], length[::-1], speed, launches + 300.0), demand, headway=600.0
    )
