"""Tables of a feed: what is taken from them, what is refused and in which words, each limit just met."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_feed import DATE, changed, tables, write

from pyresac.envs.bus import Vehicle, gtfs
from pyresac.envs.bus.gtfs import gtfs_corridor
from pyresac.envs.bus.gtfs_feed import (
    SHOWN,
    RouteSummary,
    check_sequences,
    checked_degrees,
    chosen_route,
    coordinates,
    read_feed,
    summaries,
)
from pyresac.errors import InputError

FEED = Path("feed.zip")
COLUMNS = ("stop_lat", "stop_lon")


@pytest.mark.parametrize("axis", [0, 1])
def test_the_last_degree_is_a_place(axis: int) -> None:
    most = (90.0, 180.0)[axis]
    points = np.array([[1.0, 2.0], [most if axis == 0 else 3.0, most if axis == 1 else 3.0], [5.0, 100.0]])
    for sign in (1.0, -1.0):
        points[1, axis] = sign * most
        assert checked_degrees("here", points, ["a", "b", "c"], COLUMNS) is points
        for value, shown in ((sign * math.nextafter(most, math.inf), f"{sign * most:g}"), (math.nan, "blank")):
            points[1, axis] = value
            said = f"^here, b: {COLUMNS[axis]} is {shown}; expected −{most:g} to {most:g} degrees$"
            with pytest.raises(InputError, match=said):
                checked_degrees("here", points, ["a", "b", "c"], COLUMNS)


def test_a_trip_s_stops_are_counted_from_0_in_whole_numbers() -> None:
    """The first row that is wrong is named; two trips may have the same numbers."""

    def times(*numbers: float) -> pd.DataFrame:
        return pd.DataFrame({"trip_id": list("xxxyyy"), "stop_id": list("abcdef"), "stop_sequence": numbers})

    check_sequences(FEED, times(0.0, 1.0, 7.0, 1.0, 0.0, 7.0))
    whole, once = "a whole number of at least 0", "each number once a trip"
    for numbers, said in (
        ((0.0, 1.0, 2.0, 3.0, -1.0, -2.0), f"trip 'y': stop_sequence is -1 at stop 'e'; expected {whole}"),
        ((0.0, 0.5, 2.0, 3.0, 4.5, 5.0), f"trip 'x': stop_sequence is 0.5 at stop 'b'; expected {whole}"),
        ((0.0, 1.0, math.nan, 3.0, 4.0, 5.0), f"trip 'x': stop_sequence is blank at stop 'c'; expected {whole}"),
        (
            (0.0, 1.0, 1.0, 3.0, 3.0, 5.0),
            f"trip 'x': stop_sequence is 1 at stop 'c', for the second time; expected {once}",
        ),
    ):
        with pytest.raises(InputError, match=f"^feed.zip, table stop_times.txt, {said}$"):
            check_sequences(FEED, times(*numbers))


def test_coordinates_are_those_of_the_stops_that_are_asked_for() -> None:
    """In their order; a row twice matters where the stop is one of them, and is named then."""
    table = pd.DataFrame({"stop_id": list("abccbd"), "stop_lat": range(1, 7), "stop_lon": range(11, 17)})
    assert coordinates(FEED, table, ["d", "a"], "x").tolist() == [[6.0, 16.0], [1.0, 11.0]]
    with pytest.raises(InputError, match=r"table stops.txt: stops \['c'\] have more than one row; expected one each"):
        coordinates(FEED, table, ["a", "c"], "x")
    with pytest.raises(InputError, match=r"stop_times.txt: stops \['e', 'f'\] of trip 'x' are not in stops.txt"):
        coordinates(FEED, table, ["a", "e", "f"], "x")
    table["stop_lat"] = 91.0
    with pytest.raises(InputError, match=r"feed\.zip, table stops\.txt, stop 'a': stop_lat is 91"):
        coordinates(FEED, table, ["a"], "x")


def test_a_route_is_its_id_or_its_short_name() -> None:
    routes = pd.DataFrame({"route_id": ["1", "2", "3", "3"], "route_short_name": ["2", "9", "8", "8"]})
    assert [chosen_route(FEED, routes, name) for name in ("2", "9", "8")] == ["2", "2", "3"]
    assert chosen_route(FEED, routes[["route_id"]], "1") == "1"
    for table in (routes, routes[["route_id"]]):
        with pytest.raises(
            InputError, match=r"no route '7'; it has \['1', '2', '3', '3'\]; .* --feed feed.zip` lists them"
        ):
            chosen_route(FEED, table, "7")
    many = pd.DataFrame({"route_id": [f"{number:03d}" for number in range(40)], "route_short_name": "x"})
    for name in ("x", "y"):
        with pytest.raises(InputError, match=f"'{SHOWN - 2:03d}', '{SHOWN - 1:03d}'\\]"):
            chosen_route(FEED, many, name)


def several_days(path: Path) -> Path:
    """Route R1 runs on three days; R2, whose short name comes first, on one of them and another; R3 has no trip."""
    routes = "route_id,agency_id,route_short_name,route_long_name,route_type\n"
    dates = ["D,20260105", "D,20260107", "D,20260109", "E,20260107", "E,20260111"]
    return write(
        path,
        routes=routes + "R3,A,9,,3\nR1,A,7,Line,3\nR4,A,,No name,3\nR2,A,12,Other,3\nR0,A,7,Twin,3\n",
        trips=tables()["trips"] + "R2,E,X1,0\nR2,E,X2,1\n",
        calendar_dates="service_id,date,exception_type\n" + "".join(f"{date},1\n" for date in dates),
        frequencies=None,
    )  # fmt: skip


def test_routes_in_order_of_short_name_and_id_with_their_dates(tmp_path: Path) -> None:
    found = summaries(several_days(tmp_path / "feed.zip"))

    def days(*numbers: int) -> tuple[datetime.date, ...]:
        return tuple(datetime.date(2026, 1, number) for number in numbers)

    assert found == [
        RouteSummary("R4", "", "No name", 0, ()),
        RouteSummary("R2", "12", "Other", 2, days(7, 11)),
        RouteSummary("R0", "7", "Twin", 0, ()),
        RouteSummary("R1", "7", "Line", 12, days(5, 7, 9)),
        RouteSummary("R3", "9", "", 0, ()),
    ]


@pytest.mark.parametrize(
    ("route", "day", "message"),
    [
        (
            "R1",
            11,
            "table trips.txt: route 'R1' has no trip on 2026-01-11; it runs on 3 dates from 2026-01-05 to 2026-01-09",
        ),
        (
            "R2",
            5,
            "table trips.txt: route 'R2' has no trip on 2026-01-05; it runs on 2 dates from 2026-01-07 to 2026-01-11",
        ),
        ("R3", 5, "table trips.txt: route 'R3' has no trip on 2026-01-05; it has no trip at all"),
        ("R1", 6, "no service on 2026-01-06; it runs from 2026-01-05 to 2026-01-11"),
    ],
)
def test_days_without_a_trip(tmp_path: Path, route: str, day: int, message: str) -> None:
    with pytest.raises(InputError, match=f"{message}$"):
        read_feed(several_days(tmp_path / "feed.zip"), route, datetime.date(2026, 1, day))


def test_a_feed_without_any_service(tmp_path: Path) -> None:
    calendar = "service_id,date,exception_type\n"
    with pytest.raises(InputError, match=r"no service on 2026-01-05; it has no service at all|calendar_dates\.txt: "):
        gtfs_corridor(write(tmp_path / "feed.zip", calendar_dates=calendar), "7", DATE)


def test_one_route_of_a_day_is_read(tmp_path: Path) -> None:
    """No trip of another route or day; a blank direction of some trips is left to the next step."""
    feed = several_days(tmp_path / "feed.zip")
    assert set(read_feed(feed, "R1", datetime.date(2026, 1, 7)).trips["route_id"]) == {"R1"}
    given = changed("trips", "T05,0", "T05, ")
    assert len(read_feed(write(tmp_path / "blank.zip", **given), "R1", datetime.date.fromisoformat(DATE)).trips) == 12


@pytest.mark.parametrize("table", ["frequencies", "shapes"])
def test_a_table_that_cannot_be_read_is_named(tmp_path: Path, table: str) -> None:
    text = {
        "frequencies": "trip_id,start_time,end_time,headway_secs\nT00,soon,late,often\n",
        "shapes": "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\nP,north,8.0,1\n",
    }[table]
    trips = tables()["trips"].replace("direction_id\n", "direction_id,shape_id\n").replace(",0\n", ",0,P\n")
    trips = trips.replace(",1\n", ",1,P\n")
    given = {table: text} | ({"trips": trips} if table == "shapes" else {})
    with pytest.raises(InputError, match=f"feed.zip, table {table}.txt: cannot be read "):
        gtfs_corridor(write(tmp_path / "feed.zip", **given), "7", DATE)


def test_one_trip_a_direction_needs_a_headway(tmp_path: Path) -> None:
    """Two of a direction have one, if a single gap."""

    def first(count: int) -> dict[str, str]:
        kept = tuple(f"T{way}{number}" for way in (0, 1) for number in range(count if way else 1))
        whole = {name: tables()[name].splitlines() for name in ("trips", "stop_times")}
        return {
            name: "\n".join([rows[0], *(row for row in rows[1:] if any(trip in row for trip in kept))]) + "\n"
            for name, rows in whole.items()
        }

    alone = write(tmp_path / "alone.zip", frequencies=None, **first(1))
    with pytest.raises(InputError, match=f"alone.zip: route '7' has one trip a direction on {DATE}; state the headway"):
        gtfs_corridor(alone, "7", DATE)
    assert gtfs_corridor(alone, "7", DATE, headway=333.0).headway == 333.0
    assert gtfs_corridor(write(tmp_path / "two.zip", frequencies=None, **first(2)), "7", DATE).headway == 1500.0


def test_demand_of_a_file_and_passengers_a_trip_are_two_demands(tmp_path: Path) -> None:
    feed, rates = write(tmp_path / "feed.zip"), tmp_path / "rates.csv"
    rates.write_text("from,to,start,end,rate\nStop 0,Stop 1,22:00,23:00,5\n")
    with pytest.raises(InputError, match=r"rates.csv and per_trip is 80, which is of the default model; give one"):
        gtfs_corridor(feed, "7", DATE, demand=rates, per_trip=80.0)
    assert gtfs_corridor(feed, "7", DATE, demand=rates).demand.sum() == 5.0
    day = datetime.date.fromisoformat(DATE)
    assert gtfs_corridor(feed, "7", day, per_trip=8.0).demand[0].sum() == pytest.approx(8.0 * 8)


@pytest.mark.parametrize("link", [30.0, 90.0, 120.0, 400.0])
def test_speeds_before_they_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: float) -> None:
    """Length over the timetable's time, at least 1 m/s; drawn from half of the slowest, between 1 and 2 m/s, to twice
    the fastest, at least 15 m/s."""
    monkeypatch.setattr(gtfs, "timed", lambda corridor, times: (corridor, times))
    text = tables()["stop_times"]
    rows = [row.split(",") for row in text.splitlines()[1:]]
    for row in rows:
        place = int(row[4]) - 1
        if row[1]:
            hours, minutes, seconds = map(int, row[1].split(":"))
            begin = 3600 * hours + 60 * minutes + seconds - 90 * place
            # the first link of a trip up is slower by a half
            now = round(begin + link * (place + 0.5 * (place > 0 and row[0].startswith("T0"))))
            row[1] = row[2] = f"{now // 3600:02d}:{now // 60 % 60:02d}:{now % 60:02d}"
    given = "\n".join([text.splitlines()[0], *(",".join(row) for row in rows)]) + "\n"
    feed = write(tmp_path / "feed.zip", stop_times=given, frequencies=None)
    found: Any = gtfs_corridor(feed, "7", DATE, vehicle=Vehicle(capacity=7))
    corridor, times = found
    metres = math.radians(0.005) * 6_371_008.8
    seconds = np.array([1.5 * link, link, link, link])
    assert times[0][:, 0] == pytest.approx(seconds, rel=1e-9, abs=0)
    assert times[1][:, 0] == pytest.approx(np.full(4, link), rel=1e-9, abs=0)
    assert corridor.up.speed[:, 0] == pytest.approx(np.maximum(metres / seconds, 1.0), rel=1e-6, abs=0)
    slow, fast = {30.0: (2.0, 2.0 * metres / 30.0), 90.0: (2.0, 15.0), 120.0: (2.0, 15.0), 400.0: (1.0, 15.0)}[link]
    assert corridor.speed_floor == pytest.approx(max(1.0, min(slow, 0.5 * max(metres / (1.5 * link), 1.0))))
    assert corridor.speed_ceiling == pytest.approx(fast, rel=1e-6, abs=0)
    assert corridor.vehicle == Vehicle(capacity=7)
