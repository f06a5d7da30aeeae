"""Bad input: each is refused with a message that says what was given, where, and what is allowed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from invented_workbooks import change_cell, invented_workbooks, workbook

from pyresac.envs.bus import (
    Corridor,
    Direction,
    Simulator,
    Vehicle,
    controller_named,
    default_corridor,
    metrics_table,
    published_corridor,
    simulate,
    simulate_days,
)
from pyresac.envs.bus.controllers import CONTROLLERS, HeadwayEqualising, NoHolding, TargetHeadway
from pyresac.envs.bus.corridor_files import load_corridor, save_corridor
from pyresac.errors import InputError


def equal(first: Corridor, second: Corridor) -> bool:
    scalars = [name for name in first.__dataclass_fields__ if name not in ("up", "down", "demand")]
    ways = [(a.stops, *map(bytes, (a.length, a.speed, a.launches))) for a in first.directions]
    others = [(a.stops, *map(bytes, (a.length, a.speed, a.launches))) for a in second.directions]
    same = all(getattr(first, name) == getattr(second, name) for name in scalars)
    return same and ways == others and np.array_equal(first.demand, second.demand)


def test_the_default_corridor_has_the_stated_scale() -> None:
    corridor = default_corridor()
    assert (len(corridor.stops), corridor.trips, corridor.headway) == (22, 262, 360.0)
    table = metrics_table(simulate_days(corridor, NoHolding(), range(4)))
    assert table["passengers"].mean() == pytest.approx(21_000 * 13.6 / 13, rel=0.03, abs=0)
    controlled = metrics_table(simulate_days(corridor, HeadwayEqualising(), range(4)))
    assert table["bunching"].mean() > 5 * controlled["bunching"].mean()


def test_a_saved_corridor_is_read_back_bit_for_bit(tmp_path: Path, small: Corridor) -> None:
    for corridor in (small, default_corridor(), replace(small, vehicle=Vehicle(capacity=7), headway=123.456)):
        save_corridor(corridor, tmp_path / "line.json")
        assert equal(load_corridor(tmp_path / "line.json"), corridor)


def test_the_published_corridor_is_saved_and_read_back(tmp_path: Path, reference: Path) -> None:
    corridor = published_corridor(reference, "fast")
    save_corridor(corridor, tmp_path / "line.json")
    assert equal(load_corridor(tmp_path / "line.json"), corridor)


def test_the_published_corridor_is_what_the_workbooks_say(reference: Path) -> None:
    slow, fast = published_corridor(reference), published_corridor(reference, "fast")
    assert (len(slow.stops), slow.hours, slow.trips) == (22, 14, 262)
    assert slow.up.launches.tolist() == list(range(0, 46801, 360))
    assert slow.down.launches.tolist() == list(range(180, 46981, 360))
    means = [np.mean([way.speed.mean() for way in corridor.directions]) for corridor in (slow, fast)]
    assert means == pytest.approx([7.50, 8.24], abs=0.005)
    assert slow.demand[0, slow.stops.index("X02"), slow.stops.index("X01")] == 6.0
    # 23,379 a day in the workbook, less what the down origins X13–X15 lose to the factor 0.4
    down = sum(slow.demand[:, slow.stops.index(name), : slow.stops.index(name)].sum() for name in ("X13", "X14", "X15"))
    assert slow.demand.sum() + down * (1 / 0.4 - 1) == pytest.approx(23_379)


Change = Callable[[Corridor], Any]


def with_up(corridor: Corridor, **changes: Any) -> Corridor:
    return replace(corridor, up=replace(corridor.up, **changes))


def with_demand(corridor: Corridor, value: float) -> Corridor:
    demand = corridor.demand.copy()
    demand[1, 0, 3] = value
    return replace(corridor, demand=demand)


BAD_VALUES: list[tuple[str, Change, str]] = [
    ("capacity", lambda c: Vehicle(capacity=0), "vehicle.capacity is 0; it must be an integer of at least 1"),
    ("half a place", lambda c: Vehicle(capacity=1.5), "vehicle.capacity is 1.5"),
    ("acceleration", lambda c: Vehicle(acceleration=0.0), "vehicle.acceleration is 0.0; .* at least 0.01"),
    ("boarding", lambda c: Vehicle(boarding_time=-1.0), "vehicle.boarding_time is -1.0; .* at least 0"),
    ("zero link", lambda c: with_up(c, length=[400, 0, 500, 350]), r"up.length\[1\] \('B' → 'C'\) is 0.0 m"),
    ("nan link", lambda c: with_up(c, length=[400, np.nan, 500, 350]), r"up.length\[1\].* is nan m"),
    ("links", lambda c: with_up(c, length=[400.0]), r"up.length has shape \(1,\); 5 stops need \(4,\)"),
    ("speed", lambda c: with_up(c, speed=np.zeros((4, 2))), r"up.speed\[link 0, hour 0\] is 0.0 m/s; .* above 0"),
    ("hours", lambda c: with_up(c, speed=np.ones((4, 3))), r"up.speed has shape \(4, 3\); .* \(4, 2\)"),
    ("empty timetable", lambda c: with_up(c, launches=[]), "the timetable of direction up is empty"),
    ("order", lambda c: with_up(c, launches=[0, 50, 50]), r"up.launches\[1\] and \[2\] are 50 s then 50 s"),
    ("early", lambda c: with_up(c, launches=[-5.0, 50.0]), "up.launches must be finite and not negative"),
    ("words", lambda c: with_up(c, launches=["soon"]), "launches must be an array of numbers"),
    ("unknown stop", lambda c: with_up(c, stops=("A", "B", "C", "D", "Z")), r"up.stops names \['Z'\]"),
    ("two stops", lambda c: with_up(c, stops=("A", "B")), "up.stops has 2 entries .* at least 3"),
    ("repeated stop", lambda c: replace(c, stops=("A", "B", "C", "D", "A")), r"stops \['A'\] occur more than once"),
    ("negative rate", lambda c: with_demand(c, -2.0), "demand.hour 1, 'A' → 'D'. is -2.0; rates must be"),
    ("nan rate", lambda c: with_demand(c, np.nan), "demand.hour 1, 'A' → 'D'. is nan; rates must be"),
    ("rate to itself", lambda c: replace(c, demand=np.ones((2, 5, 5))), "no direction visits 'A' before 'A'"),
    (
        "demand shape",
        lambda c: replace(c, demand=np.ones((2, 4, 5))),
        r"demand has shape \(2, 4, 5\); .* \(hours, 5, 5\)",
    ),
    ("headway", lambda c: replace(c, headway=0.0), "headway is 0.0; .* at least 1, at most 86400"),
    ("holding", lambda c: replace(c, holding_limit=-1.0), "holding_limit is -1.0; .* at least 0"),
    ("deviation", lambda c: replace(c, speed_deviation=np.inf), "speed_deviation is inf"),
    ("floor", lambda c: replace(c, speed_floor=0.5), "speed_floor is 0.5; .* at least 1"),
    ("ceiling", lambda c: replace(c, speed_ceiling=1.0), "speed_ceiling is 1 m/s; .* at least 2"),
    ("interval", lambda c: replace(c, demand_interval=17.0), "must divide an hour"),
    ("name", lambda c: replace(c, name=""), "non-empty string"),
    ("controller", lambda c: simulate(c, lambda observation: 61.0), r"holding\[0\] is 61.0 s; it must be in \[0, 60\]"),
    ("nan holding", lambda c: simulate(c, lambda observation: np.nan), r"holding\[0\] is nan s"),
    ("no number", lambda c: simulate(c, lambda observation: "x"), "holding is 'x'"),
    ("a text", lambda c: simulate(c, lambda observation: "5"), "holding is '5'"),
    ("nothing", lambda c: simulate(c, lambda observation: None), "holding is None"),
    ("a huge bus", lambda c: Vehicle(capacity=10**30), "it must be an integer of at least 1, at most 10000"),
    ("a huge number", lambda c: replace(c, headway=10**400), "headway is 10+; it must be a finite number"),
    (
        "texts of numbers",
        lambda c: with_up(c, length=["400", "300", "500", "350"]),
        "length must be an array of numbers",
    ),
    ("a missing number", lambda c: with_up(c, length=[None, 300, 500, 350]), "length must be an array of numbers"),
    ("one text of stops", lambda c: replace(c, stops="ABCDE"), "stops is 'ABCDE'; it must be a list of names"),
    ("a number of stops", lambda c: with_up(c, stops=5), "stops is 5; it must be a list of names"),
    ("a number as name", lambda c: replace(c, name=5), "non-empty string"),
    ("no corridor", lambda c: simulate("default", NoHolding()), "corridor is 'default'; it must be a Corridor"),
    ("no controller", lambda c: simulate(c, "none"), "controller is 'none'; it must be callable"),
    ("day past the end", lambda c: Simulator(c, 2).start([1], rows=[2]), r"rows are \[2\]; .* in \[0, 1\]"),
    ("day before the first", lambda c: Simulator(c, 2).start([1], rows=[-1]), r"rows are \[-1\]"),
    ("half a day", lambda c: Simulator(c, 2).start([1], rows=[0.5]), r"rows are \[0.5\]"),
    ("gain", lambda c: TargetHeadway(gain=-1.0), "gain is -1.0"),
]


@pytest.mark.parametrize(("change", "message"), [row[1:] for row in BAD_VALUES], ids=[row[0] for row in BAD_VALUES])
def test_bad_values(small: Corridor, change: Change, message: str) -> None:
    with pytest.raises(InputError, match=message):
        change(small)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fast", "controller 'fast' is unknown; allowed: one of"),
        ("target:slack=1,slack=2", "'slack' is given more than once"),
        (":rule", "Empty module name"),
        (".near:rule", "controller '.near:rule'"),
        ("target:slack", "'slack' is not of the form parameter=number"),
        ("target:slck=3", r"no parameters \['slck'\]; it has \['gain', 'slack'\]"),
        ("no_such_module:rule", "No module named 'no_such_module'"),
        ("math:no_such_name", "has no attribute 'no_such_name'"),
        ("math:pi", "it must be callable"),
    ],
)
def test_bad_controller_names(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        controller_named(text)


def test_controller_names() -> None:
    assert controller_named("target:slack=50,gain=0.5") == TargetHeadway(50.0, 0.5)
    assert controller_named("math:hypot") is __import__("math").hypot
    assert {name: type(controller_named(name)) for name in CONTROLLERS} == CONTROLLERS


def edit_json(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c.pop("up"), r"missing keys \['up'\]"),
        (lambda c: c.update(extra=1), r"unknown keys \['extra'\]"),
        (lambda c: c.update(format="other"), "format is 'other'; expected"),
        (lambda c: c["vehicle"].pop("capacity"), r"vehicle: missing keys \['capacity'\]"),
        (lambda c: c.update(vehicle=3), "vehicle: found int; expected an object"),
        (lambda c: c["vehicle"].update(capacity="many"), "vehicle.capacity"),
        (lambda c: c["demand"][0].update({"to": "Z"}), r"demand\[0\].to is 'Z', which is not among the stops"),
        (lambda c: c["demand"][0].update(rates=[1.0]), r"demand\[0\].rates is \[1.0\]; expected 2 numbers"),
        (lambda c: c["demand"][0].update(rates=["a", "b"]), r"demand\[0\].rates .* expected numbers"),
        (lambda c: c.update(hours=0), "hours is 0"),
        (lambda c: c["down"].update(launches=[]), "timetable of direction down is empty"),
        (lambda c: c.update(headway="often"), "headway is 'often'"),
        (lambda c: c.update(headway=10**400), "headway is 10+; it must be a finite number"),
        (lambda c: c.update(stops=5), "stops is 5; expected a list"),
        (lambda c: c.update(stops="ABCDE"), "stops is 'ABCDE'; expected a list"),
        (lambda c: c.update(demand=5), "demand is 5; expected a list"),
        (lambda c: c["up"].update(stops=5), "up: stops is 5; it must be a list of names"),
        (lambda c: c["demand"][0].update(rates=[10**400, 1]), "expected numbers"),
        (lambda c: c["demand"].append(c["demand"][0]), r"demand\[20\]: 'A' → 'B' has a row already"),
        (lambda c: c.update(hours=True), "hours is True; it must be an integer"),
        (lambda c: c.update(hours=10**12), "hours is 1000000000000, but up.speed has 2 columns"),
    ],
)
def test_bad_corridor_files(
    tmp_path: Path, small: Corridor, edit: Callable[[dict[str, Any]], Any], message: str
) -> None:
    path = tmp_path / "line.json"
    save_corridor(small, path)
    edit_json(path, edit)
    with pytest.raises(InputError, match=message) as caught:
        load_corridor(path)
    assert str(caught.value).startswith(str(path))


def test_unreadable_corridor_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load_corridor(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        load_corridor(tmp_path / "broken.json")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="is not JSON"):
        load_corridor(tmp_path / "deep.json")


def test_workbooks_of_another_line(tmp_path: Path) -> None:
    invented_workbooks(tmp_path)
    corridor = published_corridor(tmp_path)
    assert corridor.stops == ("S", "X13", "X14", "E")
    assert corridor.down.launches.tolist() == [180.0, 540.0]
    assert corridor.up.speed.tolist() == [[8.0, 9.5]] * 3
    assert corridor.demand[:, 1, 2].tolist() == [10.0, 10.0]
    assert corridor.demand[:, 2, 1].tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    ("file", "cell", "value", "message"),
    [
        ("stop_news.xlsx", "A1", "id", r"sheet 'Sheet1', row 1: expected the columns \['stop_id', 'stop_name'\]"),
        ("stop_news.xlsx", "B3", 7, "row 3: stop_name is 7; expected a name"),
        ("route_news.xlsx", "D2", 0, "row 2: distance is 0; a link must be longer than 0 m"),
        ("route_news.xlsx", "D3", -4, "row 3: distance is -4; expected a number of at least 0"),
        ("route_news.xlsx", "F4", "fast", "row 4: speed of 06:00:00 is 'fast'"),
        ("route_news.xlsx", "C2", "Nowhere", "row 2: stop 'Nowhere' is not in the stop workbook"),
        ("route_news.xlsx", "C2", "X14", "no row for the link S → X13"),
        ("time_table.xlsx", "B3", 2, r"row 3: direction is 2; expected 1 \(up\) or 0 \(down\)"),
        ("time_table.xlsx", "A2", None, "row 2: launch_time is None"),
        ("passenger_OD.xlsx", "D2", -3, "row 2: rate to X14 is -3; expected a number of at least 0"),
        ("passenger_OD.xlsx", "B2", "Y", "row 2: origin 'Y' is not in the stop workbook"),
        ("passenger_OD.xlsx", "C1", "Y", r"destinations \['Y'\] are not in the stop workbook"),
        ("passenger_OD.xlsx", "A3", "dawn", "row 3: the hour is 'dawn'; expected a time of day"),
    ],
)
def test_bad_workbooks(tmp_path: Path, file: str, cell: str, value: Any, message: str) -> None:
    invented_workbooks(tmp_path)
    change_cell(tmp_path / file, cell, value)
    with pytest.raises(InputError, match=message) as caught:
        published_corridor(tmp_path)
    assert file in str(caught.value) or "route_news" in str(caught.value)


def test_missing_or_broken_workbooks(tmp_path: Path) -> None:
    invented_workbooks(tmp_path)
    with pytest.raises(InputError, match="'medium'; the published tables are"):
        published_corridor(tmp_path, "medium")
    with pytest.raises(InputError, match=r"route_news__env_variant.xlsx: no such workbook"):
        published_corridor(tmp_path, "fast")
    workbook(tmp_path / "time_table.xlsx", [["launch_time", "direction"]])
    with pytest.raises(InputError, match=r"time_table.xlsx, sheet 'Sheet1': no rows below the header"):
        published_corridor(tmp_path)
    (tmp_path / "stop_news.xlsx").write_bytes(b"not a zip")
    with pytest.raises(InputError, match=r"stop_news.xlsx: not a readable workbook"):
        published_corridor(tmp_path)
    shutil.rmtree(tmp_path)
    with pytest.raises(InputError, match="no such workbook"):
        published_corridor(tmp_path)


HEADER = ["route_id", "start_stop", "end_stop", "distance", "V_max"]


@pytest.mark.parametrize(
    ("file", "rows", "message"),
    [
        ("route_news.xlsx", [HEADER, [0, "S", "X13", 500, 15]], "row 1: no hourly speed columns after V_max"),
        ("route_news.xlsx", [], r"row 1: expected the columns \['route_id', .*, found (nothing|\[None)"),
        (
            "passenger_OD.xlsx",
            [[None, None, "X13"], [time(6), "S", 1], [time(8), "S", 1]],
            "row 3: hour 08:00:00 lies beyond the 2 hours of the speed table",
        ),
    ],
)
def test_workbooks_that_lack_hours(tmp_path: Path, file: str, rows: list[list[Any]], message: str) -> None:
    invented_workbooks(tmp_path)
    workbook(tmp_path / file, rows)
    with pytest.raises(InputError, match=f"{file}, sheet 'Sheet1', {message}"):
        published_corridor(tmp_path)


def test_a_timetable_of_one_direction_is_refused(tmp_path: Path) -> None:
    invented_workbooks(tmp_path)
    workbook(tmp_path / "time_table.xlsx", [["launch_time", "direction"], [0, 1], [360, 1]])
    with pytest.raises(InputError, match="the timetable of direction down is empty"):
        published_corridor(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        "[]",
        "{",
        '{"time_step": 1}',
        '{"time_step": 2, "route_state_update_freq": 300, "passenger_state_update_freq": 20}',
    ],
)
def test_bad_settings(tmp_path: Path, settings: str) -> None:
    invented_workbooks(tmp_path)
    (tmp_path / "config.json").write_text(settings)
    with pytest.raises(InputError, match=r"config.json"):
        published_corridor(tmp_path)


def test_directions_may_differ(small: Corridor) -> None:
    """A direction may skip stops; passengers ride where their stops are served in order."""
    down = Direction(("E", "C", "A"), np.array([850.0, 700.0]), np.full((2, 2), 8.0), small.down.launches)
    demand = small.demand.copy()
    demand[:, 4, 3] = demand[:, 3, :3] = demand[:, 2, 1] = demand[:, 1, 0] = demand[:, 4, 1] = 0.0
    record = simulate(replace(small, down=down, demand=demand), HeadwayEqualising(), 0)
    assert np.isfinite(record.passengers[:, 2]).sum() > 100
