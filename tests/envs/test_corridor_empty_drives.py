"""Buses that drive back empty because nobody else can serve a trip that waits: when, which one, and for which trip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, NoHolding, Operations, simulate
from pyresac.envs.bus import state as at
from pyresac.envs.bus.line import DIRECTION

LAYOVER = 45.0


def one_way(small: Corridor, way: int, trips: int, buses: int) -> Corridor:
    """One way every minute and the other one once, in the beginning; nobody rides, so that every drive takes its time
    of the schedule."""
    launches = [60.0 * np.arange(trips), np.array([7.0])][:: 1 - 2 * way]
    up, down = (replace(of, launches=times) for of, times in zip(small.directions, launches, strict=True))
    operations = Operations(buses=buses, layover=LAYOVER)
    quiet = {"speed_deviation": 0.0, "demand": 0.0 * small.demand}
    return replace(small, up=up, down=down, operations=operations, **quiet)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize(("trips", "buses"), [(14, 1), (9, 2), (13, 3)])
def test_a_bus_drives_back_when_all_are_idle_elsewhere(small: Corridor, way: int, trips: int, buses: int) -> None:
    """Told by a list of idle buses: each trip takes the one that can be there first; where all have ended and none is
    there, the one that has been idle longest rests, drives back in the trip's own time and rests again."""
    record = simulate(one_way(small, way, trips, buses), NoHolding(), 0)
    line, visits = record.layout.line, record.visits
    order = np.argsort(visits[:, 0, at.ARRIVED], kind="stable")
    ends = visits[:, -1, at.ARRIVED] + visits[:, -1, at.DWELL]
    ready: list[tuple[float, int, int]] = []  # (idle since, bus, terminal)
    fresh, empty = 0, 0
    running: list[tuple[float, int, int]] = []
    for trip in order.tolist():
        launch, side = float(visits[trip, 0, at.ARRIVED]), int(line.plan[trip, DIRECTION])
        ready += [one for one in running if one[0] <= launch]
        running = [one for one in running if one[0] > launch]
        ready.sort()
        here = [one for one in ready if one[2] == side and one[0] + LAYOVER <= launch + 1e-9]
        if here:
            since, bus, _ = here[0]
            due = float(line.schedule[trip, 0])
            previous = [
                float(visits[other, 0, at.ARRIVED]) for other in order.tolist() if line.plan[other, DIRECTION] == side
            ]
            assert launch == pytest.approx(max([due, since + LAYOVER, *[one for one in previous if one < launch]]))
            ready.remove(here[0])
        elif fresh < buses:
            bus, fresh = fresh, fresh + 1
            assert launch == line.schedule[trip, 0]
        else:
            # nobody is here and nobody is under way
            assert not running
            since, bus, _ = ready[0]
            last_end = max(ends[other] for other in order.tolist() if visits[other, 0, at.ARRIVED] < launch)
            driving = float(line.schedule[trip, -1] - line.schedule[trip, 0])
            assert launch == pytest.approx(max(last_end, since + LAYOVER) + driving + LAYOVER)
            ready.remove(ready[0])
            empty += 1
        assert record.buses[trip] == bus
        running.append((float(ends[trip]), int(bus), 1 - side))
    assert empty >= 3
    assert len(order) == trips + 1
    assert record.fleet == buses
