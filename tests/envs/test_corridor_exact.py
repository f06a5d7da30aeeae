"""The homogeneous line of EXACT, an open testbed for holding, beside what its own program gives on it."""

from __future__ import annotations

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, Direction, Operations, TargetHeadway, Vehicle, simulate_days
from pyresac.envs.bus import state as at
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.line import DIRECTION

HEADWAY, STOPS, TRIPS, DAYS = 300.0, 35, 100, 24
ARRIVAL, READY, LEAVING = Operations(), Operations(open_doors=True, closed_holds=True), Operations(open_doors=True)
"""Passengers board who are there when the bus comes, until it is ready to leave, and until it leaves."""
FIRST = 45
"""Trips from here on: what the first trip does wrong moves on by a trip at most a stop."""
STOPS_WEIGHED = {15: 90, 20: 60, 25: 30}
"""Headways that were counted at each stop of EXACT's runs."""
EXACT = 27.6
"""Root mean square deviation of those headways, s: of EXACT's program, see docs/corridor-validation.md."""


def homogeneous_one_route(operations: Operations, spread: float = 2.0) -> Corridor:
    """`homo_one_route.py` of EXACT: 35 stops between two terminals, 1 km apart; links of N(50 s, (5 s)²); a bus every
    300 s; 4 passengers a minute at each stop, all to the last one; 2 s a boarding; only the first buses fill."""
    stops = tuple(f"stop {index}" for index in range(STOPS + 2))
    hours = int(TRIPS * HEADWAY // 3600) + 3
    demand = np.zeros((hours, STOPS + 2, STOPS + 2))
    demand[:, 1:STOPS, STOPS] = 240.0

    def way(names: tuple[str, ...], trips: int) -> Direction:
        links = STOPS + 1
        return Direction(names, np.full(links, 1000.0), np.full((links, hours), 20.0), HEADWAY * np.arange(trips))

    return Corridor(
        "EXACT homogeneous_one_route",
        stops,
        way(stops, TRIPS),
        way(stops[::-1], 2),
        demand,
        headway=HEADWAY,
        holding_limit=3600.0,
        vehicle=Vehicle(1_500, 100.0, 100.0, 2.0, 0.0, 0.0),
        speed_deviation=spread,
        speed_floor=8.0,
        speed_ceiling=40.0,
        speed_interval=200.0,
        operations=operations,
    )


def under_control(operations: Operations, spread: float = 2.0) -> Array:
    """(DAYS, TRIPS, stops, columns) under its forward headway control, α = 0.4, slack 30 s, at the end of dwell."""
    records = simulate_days(homogeneous_one_route(operations, spread), TargetHeadway(30.0, 0.4), range(DAYS))
    rows = np.stack([record.visits[record.layout.line.plan[:, DIRECTION] == 0] for record in records])
    assert not rows[:, FIRST:, :, at.LEFT].any()
    return rows


def deviation(visits: Array) -> float:
    """Root mean square, over the stops and with the weights that EXACT's figure has."""
    spread = np.diff(visits[..., at.ARRIVED] + visits[..., at.DWELL], axis=1)[:, FIRST:].std(axis=(0, 1))
    weights = list(STOPS_WEIGHED.values())
    return float(np.sqrt(np.average(np.square(spread[list(STOPS_WEIGHED)]), weights=weights)))


def test_the_line_is_exact_s() -> None:
    """Its links and dwells: 50 s and 5 s; a headway's 20 passengers board in 40 s."""
    rows = under_control(ARRIVAL)[:, FIRST:]
    leave = rows[:, :, :-1, at.ARRIVED] + rows[:, :, :-1, at.DWELL] + rows[:, :, :-1, at.HELD]
    running = rows[:, :, 1:, at.ARRIVED] - leave
    assert running.mean() == pytest.approx(50.0, rel=0.03, abs=0)
    assert running.std() == pytest.approx(5.0, rel=0.05, abs=0)
    assert rows[:, :, 1:STOPS, at.DWELL].mean() == pytest.approx(40.0, rel=0.02, abs=0)
    assert rows[:, :, 1:STOPS, at.HELD].mean() == pytest.approx(30.0, rel=0.02, abs=0)


def test_headways_deviate_as_in_exact() -> None:
    """There passengers board until the bus is ready to leave, and each takes N(2 s, (0.5 s)²). Boarding times are fixed
    here, so links have their spread too: 20 boardings' variance of 5 s² beside the links' 25 s²."""
    assert deviation(under_control(READY, 2.0 * np.sqrt(30.0 / 25.0))) == pytest.approx(EXACT, rel=0.05, abs=0)


def test_who_boards_is_what_made_headways_differ() -> None:
    """With boarding at arrival alone headways deviate by a tenth less than with EXACT's boarding, until the bus
    leaves by an eighth more."""
    fewer, ready, more = (deviation(under_control(operations)) for operations in (ARRIVAL, READY, LEAVING))
    assert fewer == pytest.approx(0.89 * ready, rel=0.04, abs=0)
    assert more == pytest.approx(1.13 * ready, rel=0.04, abs=0)
