"""The evening hold by hand: three trips at one stop, their order as it is after overtaking."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from interpreted_kernels import interpret

from pyresac.envs.bus import predictions
from pyresac.envs.bus import state as at
from pyresac.envs.bus.line import AFTER, BEFORE

PLACE, NOW, LEFT = 1, 300.0, 100.0


def day_of(order: list[int], departures: list[float]) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Trips that pass the stop in this order; the second is there now, the first has left, the rest are to be
    launched on time."""
    trips, stops = len(order), 2
    day = SimpleNamespace(
        order=np.full((trips, stops, 2), -1, dtype=np.int64),
        trips=np.full((trips, at.TRIP_COLUMNS), -1, dtype=np.int64),
        visits=np.zeros((trips, stops, at.VISIT_COLUMNS)),
    )
    for before, after in pairwise(order):
        day.order[before, PLACE, AFTER], day.order[after, PLACE, BEFORE] = after, before
    day.trips[order[:2], at.CAME] = PLACE
    day.visits[order[0], PLACE, at.ARRIVED] = LEFT
    schedule = np.full((trips, stops), 1e6)
    line = SimpleNamespace(
        schedule=schedule,
        plan=np.zeros((trips, 8), dtype=np.int64),
        departures=np.tile(np.asarray(departures)[:, None], (1, stops)),
    )
    return line, day


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]])
def test_every_follower_counts_whichever_its_number(order: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """900 s − 100 s in two gaps: the bus leaves at 500 s. The day's first trip may follow as any other."""
    interpret(monkeypatch, predictions)
    departures = [0.0] * 3
    departures[order[2]] = 900.0
    line, day = day_of(order, departures)
    assert predictions.evening_hold(line, day, order[1], PLACE, NOW) == 200.0
    # the last one has no follower, and is as late as it is
    day.trips[order[2], at.CAME] = PLACE
    assert predictions.evening_hold(line, day, order[1], PLACE, NOW) == 0.0


@pytest.mark.parametrize(("late", "hold"), [(5, 1000.0), (6, 0.0)])
def test_five_followers_are_looked_at(late: int, hold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fifth one's 7,200 s fall in six gaps; a sixth follower's are not seen. The others come at once."""
    interpret(monkeypatch, predictions)
    departures = [NOW] * 9
    departures[1 + late] = LEFT + (late + 1) * 1200.0
    line, day = day_of(list(range(9)), departures)
    assert predictions.evening_hold(line, day, 1, PLACE, NOW) == hold
