"""Metrics where a number lies exactly on its limit."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, NoHolding, Operations, Record, by_hour, by_stop, day_metrics, simulate
from pyresac.envs.bus import state as at
from pyresac.envs.bus.day import CREATED
from pyresac.envs.bus.full_observation import COUNT
from pyresac.envs.bus.metrics import FIRST_COUNTED, _core, _crowding
from pyresac.envs.bus.rules import SKIP, rule_holding


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


@pytest.mark.parametrize("direction", ["up", "down"])
def test_the_same_passengers_are_counted_from_half_an_hour_to_the_last_launch(small: Corridor, direction: str) -> None:
    """Of the direction whose launches end first; from the start of a line that runs for an hour at most."""
    way = getattr(small, direction)
    for last, first in ((2.0 * FIRST_COUNTED, 0.0), (math.nextafter(2.0 * FIRST_COUNTED, math.inf), FIRST_COUNTED)):
        launches = np.array([10.0, 600.0, last])
        line = dataclasses.replace(small, **{direction: dataclasses.replace(way, launches=launches)})
        record = simulate(line, NoHolding(), 0)
        created = [0.0, math.nextafter(FIRST_COUNTED, 0.0), FIRST_COUNTED, last, math.nextafter(last, math.inf)]
        people = np.array([[time, time + 10.0 + index, time + 30.0 + 3 * index] for index, time in enumerate(created)])
        people[2, 1:] = np.nan
        wait, ride = _core(dataclasses.replace(record, passengers=people, end=5000.0))
        expected = [(10.0, 20.0), (11.0, 22.0), (5000.0 - FIRST_COUNTED, 0.0), (13.0, 26.0)][0 if first == 0.0 else 2 :]
        np.testing.assert_allclose(np.stack([wait, ride], axis=1), expected, atol=1e-9)


def test_a_second_of_riding_is_crowding() -> None:
    """Load weighed by the time that passengers meet it; none where nobody rides."""
    visits = np.zeros((1, 3, at.VISIT_COLUMNS))
    visits[0, :, at.ARRIVED] = [0.0, 0.25, 0.75]
    visits[0, :, at.ONBOARD] = [1.0, 2.0, 7.0]
    assert _crowding(visits) == (1 * 0.25 + 4 * 0.5) / (1 * 0.25 + 2 * 0.5)
    visits[0, :, at.ONBOARD] = [0.4, 0.4, 0.0]
    assert _crowding(visits) == pytest.approx(0.4)
    visits[..., at.ONBOARD] = 0.0
    with np.errstate(all="raise"):
        assert math.isnan(_crowding(visits))


def test_a_share_of_none_makes_nobody_late() -> None:
    assert Operations(late_mean=60.0).latest == 0.0
    assert Operations(late_share=5e-324, late_mean=60.0).latest == 600.0
    assert not Operations().ordered
    assert Operations(berths=1).ordered
    assert Operations(in_order=True).ordered


def test_a_bus_that_gains_just_enough_by_not_stopping_does_not_pass() -> None:
    """To gain more than the threshold it passes the next stop, where that is allowed."""
    x, room = np.zeros(at.VISIT_COLUMNS), np.empty(COUNT)
    for forward, skipping, seconds in (
        (600.0, True, 0.0),
        (math.nextafter(600.0, math.inf), True, -60.0),
        (math.nextafter(600.0, math.inf), False, 0.0),
        (320.0, True, 20.0),
    ):
        x[[at.FORWARD, at.BACKWARD]] = forward, 360.0
        assert rule_holding(SKIP, np.array([1.0, 120.0]), x, 360.0, 60.0, skipping, 2, 0.5, room) == seconds
