"""A real fleet and real stops: each option by what it must do, and none of them by default."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.corridor import main
from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    NoHolding,
    Record,
    SimpleRobust,
    TargetHeadway,
    day_metrics,
    default_corridor,
    load_corridor,
    metrics_table,
    save_corridor,
    simulate,
    simulate_days,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.changes import doubts, with_demand, with_headway
from pyresac.envs.bus.day import BOARDED
from pyresac.envs.bus.line import DIRECTION
from pyresac.envs.bus.objectives import PassengerTime
from pyresac.envs.bus.operations import Operations
from pyresac.errors import InputError

EVERYTHING = Operations(
    buses=4,
    layover=120.0,
    late_share=0.3,
    late_mean=90.0,
    open_doors=True,
    control_stops=("B", "D"),
    seats=10,
    crowding=0.3,
)


OPEN: dict[str, Any] = {"open_doors": True}


def run(corridor: Corridor, **options: Any) -> Corridor:
    return replace(corridor, operations=Operations(**options))


def ends(record: Record) -> np.ndarray[Any, Any]:
    """(T,) when each trip's bus is free."""
    line = record.layout.line
    last = record.visits[np.arange(len(line.plan)), line.stops[line.plan[:, DIRECTION]] - 1]
    return np.asarray(last[:, at.ARRIVED] + last[:, at.DWELL])


@pytest.mark.parametrize("rule", [NoHolding(), TargetHeadway(slack=50.0)])
def test_options_that_change_nothing_leave_the_day_bit_for_bit(small: Corridor, rule: Any) -> None:
    plain = simulate(small, rule, 3)
    enough = run(small, buses=plain.fleet, control_stops=small.stops, seats=small.vehicle.capacity, crowding=1.0)
    other = simulate(replace(enough, operations=replace(enough.operations, late_share=0.5)), rule, 3)
    assert np.array_equal(plain.visits, other.visits, equal_nan=True)
    assert np.array_equal(plain.passengers, other.passengers[: len(plain.passengers)], equal_nan=True)


@pytest.mark.parametrize("buses", [1, 2, 5])
def test_a_fleet_is_never_exceeded_and_buses_rest(small: Corridor, buses: int) -> None:
    record = simulate(run(small, buses=buses, layover=200.0), TargetHeadway(slack=20.0), 1)
    launches, free = record.visits[:, 0, at.ARRIVED], ends(record)
    assert record.fleet <= buses
    assert np.isfinite(free).all()
    for bus in range(record.fleet):
        mine = np.flatnonzero(record.buses == bus)
        mine = mine[np.argsort(launches[mine])]
        assert (launches[mine[1:]] >= free[mine[:-1]] + 200.0 - 1e-9).all()
        ways = record.layout.line.plan[mine, DIRECTION]
        assert (ways[1:] != ways[:-1]).all()
    for way in (0, 1):
        of = record.layout.line.plan[:, DIRECTION] == way
        assert (np.diff(launches[of]) >= 0.0).all()
        assert (launches[of] >= record.layout.line.schedule[of, 0]).all()


def test_a_trip_waits_only_while_no_bus_is_there(small: Corridor) -> None:
    """A late trip leaves at the moment when a bus has come to its terminal and rested."""
    record = simulate(run(small, buses=1, layover=60.0), NoHolding(), 2)
    launches, free = record.visits[:, 0, at.ARRIVED], ends(record)
    late = launches > record.layout.line.schedule[:, 0]
    assert late.sum() > 2
    for trip in np.flatnonzero(late):
        assert np.isclose(launches[trip], free + 60.0).any() or np.isclose(launches[trip], launches[~late]).any()
    assert day_metrics(record).late_dispatches == (launches - record.layout.line.schedule[:, 0] >= 60.0).sum()


def test_late_dispatches_have_their_share_and_mean() -> None:
    corridor = run(default_corridor(), late_share=0.4, late_mean=60.0)
    records = simulate_days(corridor, NoHolding(), range(8))
    late = np.concatenate([record.visits[:, 0, at.ARRIVED] - record.layout.line.schedule[:, 0] for record in records])
    assert (late >= 0.0).all()
    share, count = (late > 0.0).mean(), late.size
    assert abs(share - 0.4) < 5.0 * math.sqrt(0.24 / count)
    # five standard errors of an exponential's mean; a headway of 360 s hardly ever keeps one waiting for its leader
    assert abs(late[late > 0.0].mean() - 60.0) < 5.0 * 60.0 / math.sqrt(share * count) + 1.0


def left_beside_a_bus(record: Record) -> int:
    """Passengers who appeared while a bus with room stood at their stop, and did not board it."""
    visits, line = record.visits, record.layout.line
    places, count = record.layout.places, 0
    for trip, rows in enumerate(visits):
        for place in range(line.stops[line.plan[trip, DIRECTION]] - 1):
            visit = rows[place]
            if visit[at.ONBOARD] >= line.capacity:
                continue
            leave = visit[at.ARRIVED] + visit[at.DWELL] + visit[at.HELD]
            mine = record.queue == line.plan[trip, DIRECTION] * places + place
            created, boarded = record.passengers[mine, 0], record.passengers[mine, 1]
            beside = (created > visit[at.ARRIVED]) & (created <= leave)
            count += int((beside & ~(boarded <= leave)).sum())
    return count


@pytest.mark.parametrize("rule", [NoHolding(), TargetHeadway(slack=50.0)])
def test_nobody_is_left_beside_a_bus_with_open_doors(rule: Any) -> None:
    corridor = default_corridor()
    closed, opened = (simulate(line, rule, 5) for line in (corridor, run(corridor, open_doors=True)))
    assert left_beside_a_bus(closed) > 0.02 * len(closed.passengers)
    assert left_beside_a_bus(opened) == 0
    assert opened.visits[..., at.ONBOARD][np.isfinite(opened.visits[..., at.ONBOARD])].max() <= 50


@pytest.mark.parametrize(("place", "apart"), [(0, 0.5), (1, 30.0)], ids=["first stop", "held"])
def test_a_second_bus_beside_a_standing_one_boards_who_is_there(small: Corridor, place: int, apart: float) -> None:
    """The first one is full and stands for a while; who comes meanwhile, after the second one, boards neither before
    having come."""
    full = replace(small, demand=2.5 * small.demand, vehicle=replace(small.vehicle, capacity=4), holding_limit=120.0)
    launches = np.array([99.0, 99.0 + apart, 4000.0])
    corridor = run(replace(full, up=replace(small.up, launches=launches)), **OPEN)
    meanwhile = 0
    for record in simulate_days(corridor, TargetHeadway(slack=120.0, gain=0.0), range(20)):
        created, boarded, _ = record.passengers.T
        served = np.isfinite(boarded)
        assert (boarded[served] >= created[served]).all()
        first, second = record.visits[0, place], record.visits[1, place]
        leaves = first[at.ARRIVED] + first[at.DWELL] + np.nan_to_num(first[at.HELD])
        later = (created > second[at.ARRIVED]) & (created <= leaves) & (record.queue == place)
        meanwhile += int(later.sum()) if first[at.ONBOARD] == 4 and second[at.ONBOARD] < 4 else 0
    assert meanwhile > 0


def test_a_held_bus_with_closed_doors_boards_nobody() -> None:
    """Who comes during a hold waits for the next bus; during the dwell they board as with open doors."""
    corridor, rule = default_corridor(), TargetHeadway(slack=50.0)
    for options, held in ((OPEN, True), (OPEN | {"closed_holds": True}, False), ({"closed_holds": True}, False)):
        record = simulate(run(corridor, **options), rule, 5)
        boarded = record.passengers[:, BOARDED]
        line, places = record.layout.line, record.layout.places
        during = 0
        for (trip, place), seconds in np.ndenumerate(record.visits[..., at.HELD]):
            if seconds > 0.0:
                ready = record.visits[trip, place, at.ARRIVED] + record.visits[trip, place, at.DWELL]
                mine = record.queue == line.plan[trip, DIRECTION] * places + place
                during += int((mine & (boarded > ready) & (boarded < ready + seconds)).sum())
        assert (during > 100) == held


@pytest.mark.parametrize("options", [OPEN, OPEN | {"closed_holds": True}, vars(EVERYTHING)])
def test_passengers_and_their_costs_add_up(small: Corridor, options: dict[str, Any]) -> None:
    """Waiting and riding noted by visits are those of the passengers; everybody boards in order and once."""
    record = simulate(run(small, **options), TargetHeadway(slack=30.0), 6)
    created, boarded, alighted = record.passengers.T
    rode = np.isfinite(alighted)
    assert np.array_equal(rode, np.isfinite(boarded))
    assert (boarded[rode] >= created[rode]).all()
    assert np.nansum(record.visits[..., at.WAITED]) == pytest.approx((boarded - created)[rode].sum())
    assert np.nansum(record.visits[..., at.RODE]) == pytest.approx((alighted - boarded)[rode].sum())
    assert np.nansum(record.visits[..., at.BOARDED]) == np.nansum(record.visits[..., at.ALIGHTED]) == rode.sum()
    for queue in np.unique(record.queue):
        times = boarded[(record.queue == queue) & rode]
        assert (np.diff(times) >= 0.0).all()
    line = record.layout.line
    for trip, rows in enumerate(record.visits):
        used = rows[: line.stops[line.plan[trip, DIRECTION]]]
        assert (used[:, at.ONBOARD] == np.cumsum(used[:, at.BOARDED] - used[:, at.ALIGHTED])).all()
    found = day_metrics(record)
    worth = PassengerTime(vehicle_hour=100.0, denied=3.0)
    assert -worth(record) == pytest.approx(
        found.weighted_time + 100.0 * found.vehicle_hours + 3.0 * found.left_behind, rel=1e-12, abs=0
    )


@pytest.mark.parametrize("options", [{}, OPEN, OPEN | {"closed_holds": True}, vars(EVERYTHING)])
def test_lateness_is_of_the_end_of_dwell_however_long_it_grew(small: Corridor, options: dict[str, Any]) -> None:
    """Whoever came while the bus stood, and whatever it waited for: against the scheduled departure."""
    record = simulate(run(small, **options), TargetHeadway(slack=30.0), 6)
    line, visits = record.layout.line, record.visits[:, 1:]
    ready = visits[..., at.ARRIVED] + visits[..., at.DWELL]
    assert np.isfinite(ready).all()
    # sums of times below a day
    np.testing.assert_allclose(visits[..., at.LATE], ready - line.departures[:, 1:], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(visits[..., at.LATENESS], visits[..., at.ARRIVED] - line.schedule[:, 1:], atol=1e-9)


def test_buses_are_held_at_control_points_only(small: Corridor) -> None:
    record = simulate(run(small, control_stops=("B", "D")), TargetHeadway(slack=50.0), 1)
    held = np.isfinite(record.visits[..., at.ACTION])
    for way, places in ((0, [1, 3]), (1, [1, 3])):
        mine = held[record.layout.line.plan[:, DIRECTION] == way]
        assert mine[:, places].all(axis=0).any() or mine[1:-1, places].all()
        assert not np.delete(mine, places, axis=1).any()
    free = simulate(run(small, control_stops=("C",)), TargetHeadway(slack=50.0), 1)
    assert np.isfinite(free.visits[..., at.ACTION]).sum() < held.sum()


def test_standing_passengers_slow_boarding(small: Corridor) -> None:
    record = simulate(run(with_demand(small, 3.0), seats=10, crowding=0.5), NoHolding(), 1)
    rows = record.visits[:, 1:4].reshape(-1, at.VISIT_COLUMNS)
    standing = rows[:, at.ONBOARD] > 10
    assert 0 < standing.sum() < len(rows)
    time = np.where(standing, 3.0, 2.0) * rows[:, at.BOARDED]
    assert rows[:, at.DWELL] == pytest.approx(4.0 + np.maximum(time, rows[:, at.ALIGHTED]))


def test_a_small_fleet_makes_the_schedule_rule_uneven() -> None:
    """Fourteen buses and three minutes of layover make dispatches late; who holds to the schedule cannot mend that."""
    line = run(default_corridor(), buses=14, layover=180.0)
    headway, robust = (
        metrics_table(simulate_days(line, rule, range(4))) for rule in (HeadwayEqualising(), SimpleRobust(5.0, 0.0))
    )
    assert (headway["fleet"] == 14).all()
    assert robust["late_dispatches"].mean() > 5
    assert robust["headway_variation"].mean() > headway["headway_variation"].mean()


def test_operations_are_kept_in_corridor_files(tmp_path: Path, small: Corridor) -> None:
    path = tmp_path / "line.json"
    save_corridor(replace(small, operations=EVERYTHING), path)
    assert load_corridor(path).operations == EVERYTHING
    content = json.loads(path.read_text())
    for given, message in (
        ({"wheels": 4}, "operations is .* expected an object with"),
        (3, "operations is 3"),
        ({"control_stops": "AB"}, "operations.control_stops is 'AB'; expected a list"),
        ({"control_stops": ["Z"]}, r"operations.control_stops names \['Z'\]"),
        ({"buses": -1}, "operations.buses is -1; it must be an integer from 0"),
        ({"layover": 1e9}, "operations.layover is 1000000000.0; it must be a number from 0 to 14400"),
        ({"late_share": 2}, "operations.late_share is 2"),
        ({"open_doors": 1}, "operations.open_doors is 1; it must be true or false"),
    ):
        path.write_text(json.dumps(content | {"operations": given}))
        with pytest.raises(InputError, match=message):
            load_corridor(path)


def test_launches_made_anew_and_doubts(small: Corridor) -> None:
    assert doubts(small) == doubts(default_corridor()) == []
    often = with_headway(small, 250.0)
    assert often.headway == 250.0
    assert often.up.launches.tolist() == [250.0 * index for index in range(17)]
    assert often.down.launches[0] == 300.0
    assert doubts(often) == []
    contrary, crowded = doubts(replace(small, headway=100.0)), doubts(with_demand(small, 9.0))
    assert "the scheduled headway is 100 s, but direction up launches every 600 s" in contrary[0]
    assert any("passengers an hour want to ride from 'B' to 'C', direction up" in doubt for doubt in crowded)
    for factor in (-1.0, math.nan):
        with pytest.raises(InputError, match="the factor must be finite"):
            with_demand(small, factor)
    with pytest.raises(InputError, match="headway is 0"):
        with_headway(small, 0)


def test_the_command_line_s_options(tmp_path: Path, small: Corridor, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "line.json"
    save_corridor(small, path)
    options = ["--buses", "3", "--layover", "60", "--late", "0.2", "30", "--open-doors", "True", "--headway", "500"]
    options += ["--closed-holds", "True"]
    assert main(["simulate", "--corridor", str(path), "--seeds", "2", "--demand", "1.5", *options, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["buses"] == 3
    line = replace(
        with_demand(with_headway(small, 500.0), 1.5),
        operations=Operations(
            buses=3, layover=60.0, late_share=0.2, late_mean=30.0, open_doors=True, closed_holds=True
        ),
    )
    expected = metrics_table(simulate_days(line, NoHolding(), range(2)))
    assert content["metrics"]["late_dispatches"]["values"] == expected["late_dispatches"].tolist()
    assert content["metrics"]["wait"]["values"] == expected["wait"].tolist()
    assert main(["simulate", "--corridor", str(path), "--seeds", "1", "--demand", "9"]) == 0
    assert "passengers an hour want to ride" in capsys.readouterr().err.replace("\n", " ")
