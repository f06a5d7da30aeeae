"""Metrics where a number lies exactly on its limit."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, NoHolding, Record, by_hour, by_stop, day_metrics, simulate
from pyresac.envs.bus import state as at
from pyresac.envs.bus.day import CREATED


def with_visits(record: Record, **columns: float) -> Record:
    """The day with these numbers in all visits."""
    visits = record.visits.copy()
    for name, value in columns.items():
        place = getattr(at, name)
        visits[..., place] = np.where(np.isnan(visits[..., place]), np.nan, value)
    return dataclasses.replace(record, visits=visits)


@pytest.mark.parametrize("column", ["FORWARD", "BACKWARD"])
def test_half_a_headway_is_not_bunched(small: Corridor, column: str) -> None:
    """Either headway below half the scheduled one is; over the day, at every stop and in every hour."""
    record, half = simulate(small, NoHolding(), 0), 0.5 * small.headway
    for value, bunched in ((math.nextafter(half, 0.0), 1.0), (half, 0.0), (math.nextafter(half, math.inf), 0.0)):
        day = with_visits(record, **{"FORWARD": 1e6, "BACKWARD": 1e6, column: value})
        assert day_metrics(day).bunching == bunched
        for table in (by_stop(day), by_hour(day)):
            known = table["bunching"][np.isfinite(table["bunching"])]
            assert known.size
            assert (known == bunched).all()


def test_a_dispatch_is_late_from_a_minute_on(small: Corridor) -> None:
    record = simulate(small, NoHolding(), 0)
    for late, counted in ((math.nextafter(60.0, 0.0), 0.0), (60.0, 1.0)):
        visits = record.visits.copy()
        # the first launch of the day is at 0 s, so that its lateness is exact
        assert record.layout.line.schedule[0, 0] == 0.0
        visits[0, 0, at.ARRIVED] = late
        day = dataclasses.replace(record, visits=visits)
        assert day_metrics(day).late_dispatches == counted


def test_a_passenger_who_appears_at_the_end_counts(small: Corridor) -> None:
    record = simulate(small, NoHolding(), 0)
    before = day_metrics(record).passengers
    beyond = record.passengers[:, CREATED] > record.end
    assert beyond.any()
    passengers = record.passengers.copy()
    passengers[np.flatnonzero(beyond)[0], CREATED] = record.end
    assert day_metrics(dataclasses.replace(record, passengers=passengers)).passengers == before + 1
    passengers[np.flatnonzero(beyond)[0], CREATED] = math.nextafter(record.end, math.inf)
    assert day_metrics(dataclasses.replace(record, passengers=passengers)).passengers == before
