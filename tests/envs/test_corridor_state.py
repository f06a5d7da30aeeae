"""The arrays of a day: as large as they are said to be, and on a morning as on any other morning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import short_turns

from pyresac.envs.bus import Corridor, HeadwayEqualising, Simulator, default_corridor
from pyresac.envs.bus import state as at
from pyresac.envs.bus.day import BESIDE, CREATED, DESTINED, HEAD, START, TAIL, epochs
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.line import GATE
from pyresac.envs.bus.state import State, allocate


def simulator(corridor: Corridor, days: int = 2) -> Simulator:
    found = Simulator(corridor, days)
    found.start(range(3, 3 + days))
    return found


def copied(state: State) -> dict[str, Any]:
    return {name: array.copy() for name, array in state._asdict().items()}


def same(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert list(first) == list(second)
    for name, array in first.items():
        assert np.array_equal(array, second[name], equal_nan=True), name


def test_a_used_row_is_as_a_fresh_one(small: Corridor) -> None:
    """Nothing of a former day is left in any array, so that equal days are equal files."""
    used = simulator(small)
    used.run(HeadwayEqualising())
    used.start([4], rows=[0])
    used.start([3], rows=[1])
    fresh = Simulator(small, 2)
    fresh.start([4, 3])
    same(copied(used.state), copied(fresh.state))


def test_a_rewind_is_the_morning_again(small: Corridor) -> None:
    again = simulator(small)
    morning = copied(again.state)
    again.run(HeadwayEqualising())
    again.rewind()
    same(copied(again.state), morning)


def test_before_it_happens_nobody_has_done_anything(small: Corridor) -> None:
    """−1 stands for nobody, also in the room that a day's passengers leave; what is no time yet is no number."""
    day = simulator(small, 1)
    state, count = day.state, int(day.state.queues[0, -1, START])
    assert state.passengers.shape[1] > count
    assert (state.bound[0, count:] == -1).all()
    assert (state.bound[0, :count, DESTINED] > 0).all()
    assert np.isnan(state.passengers[0, count:]).all()
    assert np.isfinite(state.passengers[0, :count, CREATED]).all()
    waiting = np.isnan(state.passengers[0, :count, CREATED + 1])
    assert (state.bound[0, :count, BESIDE][waiting] == -1).all()
    assert (state.log[0, int(state.cursor[0, at.LOGGED]) :] == -1).all()
    launched = state.trips[0, :, at.BUS] >= 0
    assert 0 < launched.sum() < len(launched)
    assert (state.trips[0, ~launched] == -1).all()
    assert np.isnan(state.visits[0, ~launched]).all()
    assert np.isinf(state.times[0, int(state.cursor[0, at.FLEET]) :]).all()
    assert (state.queues[0, :, START] <= state.queues[0, :, HEAD]).all()
    assert (state.queues[0, :, HEAD] <= state.queues[0, :, TAIL]).all()


def test_a_queue_ends_where_the_next_one_begins(small: Corridor) -> None:
    """Also where its last passenger has gone, and the next queue's first one, too: few come at all."""
    days = simulator(replace(small, demand=0.1 * small.demand), 40)
    days.run(HeadwayEqualising())
    starts, heads, tails = (days.state.queues[..., column] for column in (START, HEAD, TAIL))
    assert (starts[:, :-1] <= heads[:, :-1]).all()
    assert (heads[:, :-1] <= tails[:, :-1]).all()
    assert (tails[:, :-1] <= starts[:, 1:]).all()
    assert ((heads[:, :-1] == starts[:, 1:]) & (np.diff(starts, axis=1) > 0)).sum() > 50, "queues that are served up"
    assert np.nanmin(days.state.visits[..., at.LEFT]) == 0.0


@pytest.mark.parametrize("line", ["small", "a direction with fewer stops", "short turns"])
def test_arrays_have_the_columns_that_are_named(small: Corridor, line: str) -> None:
    corridor = small if line == "small" else short_turns.corridor()
    if line == "a direction with fewer stops":
        down = replace(small.down, stops=("E", "C", "A"), length=np.array([850.0, 700.0]), speed=np.full((2, 2), 8.0))
        corridor = replace(small, down=down, demand=small.demand * np.triu(np.ones((5, 5))))
    days = simulator(corridor, 3)
    layout, state = days.layout, days.state
    trips, stops, buses = corridor.trips, len(corridor.stops), layout.fleet_limit
    gates, people = len(np.unique(layout.line.plan[:, GATE])), state.passengers.shape[1]
    expected: dict[str, tuple[int, ...]] = {
        "cursor": (at.NEXT + gates,),
        "clock": (at.LEAVES + gates,),
        "buses": (buses, at.BUS_COLUMNS),
        "times": (buses, 2),
        "riders": (buses, stops),
        "trips": (trips, at.TRIP_COLUMNS),
        "visits": (trips, stops, at.VISIT_COLUMNS),
        "log": (trips * stops,),
        "speeds": (epochs(layout.chances), 2, stops - 1),
        "passengers": (people, 3),
        "bound": (people, 2),
        "queues": (2 * stops + 1, 3),
        "order": (trips, stops, 2),
    }
    assert {name: array.shape for name, array in state._asdict().items()} == {
        name: (3, *shape) for name, shape in expected.items()
    }


def test_there_is_room_for_as_many_buses_as_may_be_out_at_once(small: Corridor) -> None:
    """At each terminal, the launches of the longest trip; all trips where one waits for another or ends midway."""

    def room(line: Corridor, **options: Any) -> int:
        return lay_out(replace(line, operations=replace(line.operations, **options))).fleet_limit

    # 1,550 m at 40 m/s: a bus has come back long before the last one leaves
    fast = replace(small, speed_floor=40.0, speed_ceiling=41.0, demand=np.zeros_like(small.demand))
    quick = replace(
        fast, up=replace(fast.up, speed=fast.up.speed * 5.0), down=replace(fast.down, speed=fast.up.speed * 5.0)
    )
    assert room(quick) < quick.trips / 2
    assert room(quick, buses=1) == 1
    turns = short_turns.corridor()
    for line, options in (
        (quick, {"in_order": True}),
        (quick, {"berths": 1}),
        (turns, {}),
        (turns, {"in_order": True}),
    ):
        assert room(line, **options) == line.trips
        assert room(line, buses=3, **options) == 3


def test_the_memory_that_is_asked_for_is_what_days_take(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(at, "check_memory", lambda *given: asked.append(given))
    state = allocate(Simulator(default_corridor()).layout, 2)
    (_, (day, days)) = asked
    assert days == 2
    assert day * days == sum(array.nbytes for array in state)
