"""Buses in each other's way, passengers who give up, advised speeds: each option by what it must do."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import (
    Corridor,
    NoHolding,
    Operations,
    Record,
    TargetHeadway,
    day_metrics,
    default_corridor,
    disturbed_corridor,
    load_corridor,
    save_corridor,
    simulate,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.changes import with_demand
from pyresac.envs.bus.compiled import PATIENCE, uniform
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.line import DIRECTION
from pyresac.errors import InputError


def run(corridor: Corridor, **options: Any) -> Corridor:
    return replace(corridor, operations=replace(corridor.operations, **options))


def times(record: Record, way: int) -> tuple[Array, Array]:
    """(arrivals, departures) of a direction's trips, each (trips, S)."""
    rows = record.visits[record.layout.line.plan[:, DIRECTION] == way]
    leave = rows[..., at.ARRIVED] + rows[..., at.DWELL] + np.nan_to_num(rows[..., at.HELD])
    return rows[..., at.ARRIVED], leave


@pytest.mark.parametrize("rule", [NoHolding(), TargetHeadway(slack=20.0)])
def test_nobody_overtakes(rule: Any) -> None:
    line = disturbed_corridor()
    free, ordered = simulate(line, rule, 4), simulate(run(line, in_order=True), rule, 4)
    assert any((np.diff(times(free, way)[0], axis=0) < 0.0).any() for way in (0, 1)) or rule != NoHolding()
    for way in (0, 1):
        arrive, leave = times(ordered, way)
        assert (np.diff(arrive[:, 1:], axis=0) > 0.0).all()
        assert (np.diff(leave[:, 1:-1], axis=0) > 0.0).all()
    assert np.isfinite(ordered.visits[..., at.ARRIVED]).all()


def test_order_changes_nothing_until_somebody_would_overtake(small: Corridor) -> None:
    assert np.array_equal(
        simulate(small, NoHolding(), 3).visits,
        simulate(run(small, in_order=True), NoHolding(), 3).visits,
        equal_nan=True,
    )


@pytest.mark.parametrize("rule", [NoHolding(), TargetHeadway(slack=50.0)])
@pytest.mark.parametrize("berths", [1, 2])
def test_a_stop_holds_as_many_buses_as_it_has_berths(small: Corridor, berths: int, rule: Any) -> None:
    """A crowded line with a bus a minute: the next one comes in when one has left, and not before."""
    launches = 60.0 * np.arange(20)
    line = with_demand(
        replace(
            small,
            headway=60.0,
            up=replace(small.up, launches=launches),
            down=replace(small.down, launches=launches + 30.0),
        ),
        12.0,
    )
    record, free = simulate(run(line, berths=berths), rule, 1), simulate(line, rule, 1)
    queued = 0
    for way in (0, 1):
        arrive, leave = times(record, way)
        assert (arrive[berths:, 1:] >= leave[:-berths, 1:]).all()
        queued += int(np.isclose(arrive[berths:, 1:], leave[:-berths, 1:], atol=1e-5).sum())
        crowd = (leave[:-berths, 1:] > times(free, way)[0][berths:, 1:]).sum()
        assert crowd > 0 or berths == 2
    assert queued > 0 or berths == 2


def test_passengers_give_up_at_their_time(small: Corridor) -> None:
    record = simulate(run(with_demand(small, 2.0), patience=400.0), NoHolding(), 2)
    created, boarded, _ = record.passengers.T
    patience = np.array([-400.0 * math.log(uniform(2, PATIENCE, index, 0)) for index in range(len(created))])
    assert patience.mean() == pytest.approx(400.0, rel=0.2, abs=0)
    rode = np.isfinite(boarded)
    assert (boarded[rode] - created[rode] <= patience[rode]).all()
    # who appeared and never rode had given up, or was there when the last bus of the day had gone
    plain = simulate(with_demand(small, 2.0), NoHolding(), 2)
    alone = ~rode & np.isfinite(plain.passengers[:, 1]) & (created <= record.end)
    assert alone.sum() > 10
    last = [np.nanmax(boarded[record.queue == queue]) for queue in record.queue[alone]]
    assert ((created[alone] + patience[alone] <= np.array(last)) | (created[alone] > np.array(last) - 700.0)).all()
    assert day_metrics(record).unserved > day_metrics(plain).unserved


def test_left_behind_counts_only_those_who_are_still_there() -> None:
    """Demand beyond all places: queues grow without patience and stay short with it."""
    line = with_demand(default_corridor(), 3.0)
    stays, leaves = (
        day_metrics(simulate(run(line, patience=patience), NoHolding(), 1)).left_behind for patience in (0.0, 300.0)
    )
    assert leaves < 0.3 * stays


def test_advice_is_driven_not_stood(small: Corridor) -> None:
    """The bus leaves at once and comes so much later as was asked."""
    quiet = replace(small, speed_deviation=0.0, demand=0.0 * small.demand)
    held, advised = (simulate(run(quiet, advice=advice), TargetHeadway(slack=25.0), 1) for advice in (False, True))
    for way in (0, 1):
        assert times(held, way)[0] == pytest.approx(times(advised, way)[0])
    assert np.nansum(advised.visits[..., at.HELD]) == 0.0
    # the same hold in another order of sums
    assert held.visits[..., at.ACTION] == pytest.approx(advised.visits[..., at.ACTION], abs=1e-9, nan_ok=True)
    assert np.nansum(held.visits[..., at.HELD]) == pytest.approx(np.nansum(advised.visits[..., at.ACTION]))


def test_the_options_are_kept_in_files_and_checked(tmp_path: Path, small: Corridor) -> None:
    options = Operations(in_order=True, berths=2, patience=600.0, advice=True)
    save_corridor(replace(small, operations=options), tmp_path / "line.json")
    assert load_corridor(tmp_path / "line.json").operations == options
    for wrong, message in (
        ({"berths": -1}, "operations.berths is -1; it must be an integer"),
        ({"patience": math.inf}, "operations.patience is inf"),
        ({"in_order": 1}, "operations.in_order is 1; it must be true or false"),
        ({"advice": "yes"}, "operations.advice is 'yes'; it must be true or false"),
    ):
        with pytest.raises(InputError, match=message):
            Operations(**wrong)


def test_buses_that_leave_at_once_come_one_after_the_other(small: Corridor) -> None:
    """Two launches a nanosecond apart, on one drive: the second bus is an instant behind at every stop, not beside."""
    launches = small.up.launches.copy()
    launches[1] = launches[0] + 1e-9
    line = replace(small, up=replace(small.up, launches=launches), demand=0.0 * small.demand)
    record = simulate(replace(line, operations=Operations(in_order=True)), NoHolding(), 0)
    up = record.visits[record.layout.line.plan[:, DIRECTION] == 0, :, at.ARRIVED]
    assert (up[1, 1:] - up[0, 1:] >= 0.9e-6).all()
