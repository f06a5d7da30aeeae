"""A small feed written here: six departures a direction after 22:00, past midnight, one of them by frequency."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import short_turns
from small_feed import DATE, LINK, changed, tables, write

from pyresac.corridor import main
from pyresac.envs.bus import (
    HeadwayEqualising,
    NoHolding,
    Record,
    default_corridor,
    metrics_table,
    simulate,
    simulate_days,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.demand import csv_demand
from pyresac.envs.bus.gtfs import gtfs_corridor
from pyresac.envs.bus.gtfs_feed import summaries
from pyresac.envs.bus.line import DIRECTION, FIRST, LAST
from pyresac.errors import InputError


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    return write(tmp_path / "feed.zip")


def test_calendar_dates_frequencies_midnight_and_no_shapes(feed: Path) -> None:
    corridor = gtfs_corridor(feed, "7", DATE)
    assert corridor.stops == tuple(f"Stop {index}" for index in range(5))
    assert corridor.service_start == 22 * 3600
    # T00 runs every 600 s from 22:00 until 22:30; the others once each, the last one past midnight
    assert corridor.up.launches.tolist() == [0.0, 600.0, 1200.0, 1500.0, 3000.0, 4500.0, 6000.0, 7500.0]
    assert corridor.down.launches.tolist() == [300.0 + 1500.0 * number for number in range(6)]
    assert corridor.hours == 3
    assert corridor.headway == 1500.0
    assert corridor.up.length == pytest.approx(np.full(4, LINK), rel=1e-6, abs=0)
    # default model: as many passengers a trip as fill 0.6 of the places between the second and the third stop
    share = np.exp(-np.abs(np.arange(1, 5) - 4.0) / 4.0)
    pairs, across = np.array([4, 3, 2, 1]), np.array([1, 2, 2, 1])
    a_trip = 0.6 * 50 * (pairs @ share) / (across @ share)
    assert corridor.demand.sum(axis=(1, 2)).tolist() == pytest.approx([a_trip * 8, a_trip * 4, a_trip * 2])
    record = simulate(corridor, HeadwayEqualising(), 0)
    assert np.isfinite(record.visits[:, 0, 0]).all()


def test_a_weekly_calendar_and_the_route_id(tmp_path: Path) -> None:
    week = "monday,tuesday,wednesday,thursday,friday,saturday,sunday"
    calendar = f"service_id,{week},start_date,end_date\nD,1,1,1,1,1,0,0,20260101,20260131\n"
    feed = write(tmp_path / "feed.zip", calendar=calendar, calendar_dates=None, frequencies=None)
    assert gtfs_corridor(feed, "R1", DATE).up.launches.tolist() == [1500.0 * number for number in range(6)]
    with pytest.raises(InputError, match="no service on 2026-01-10; it runs from 2026-01-01 to 2026-01-30"):
        gtfs_corridor(feed, "R1", "2026-01-10")


def test_directions_can_be_swapped(feed: Path) -> None:
    corridor = gtfs_corridor(feed, "7", DATE, directions=(1, 0))
    assert corridor.up.stops[0] == "Stop 4"
    assert corridor.up.launches[0] == 300.0


def test_shapes_give_lengths(tmp_path: Path) -> None:
    """A shape that leaves the straight line between the second and the third stop by a right-angled detour."""
    trips = tables()["trips"].replace("direction_id\n", "direction_id,shape_id\n")
    trips = "\n".join(row + (",P" if row.startswith("R1") else "") for row in trips.splitlines()) + "\n"
    points = [(50.0, 8.0), (50.005, 8.0), (50.005, 8.004), (50.01, 8.004), (50.01, 8.0), (50.02, 8.0)]
    rows = [f"P,{latitude},{longitude},{index}" for index, (latitude, longitude) in enumerate(points)]
    shapes = "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n" + "\n".join(rows) + "\n"
    feed = write(tmp_path / "feed.zip", trips=trips, shapes=shapes)
    side = math.radians(0.004) * 6_371_008.8 * math.cos(math.radians(50.0))
    assert gtfs_corridor(feed, "7", DATE).up.length == pytest.approx(
        [LINK, LINK + 2 * side, LINK, LINK], rel=1e-4, abs=0
    )


def test_times_rounded_to_the_same_minute_are_spread(tmp_path: Path) -> None:
    rows = tables()["stop_times"].splitlines()
    changed = [row.replace("22:01:30", "22:00:00") if row.startswith("T00") else row for row in rows]
    feed = write(tmp_path / "feed.zip", stop_times="\n".join(changed) + "\n", frequencies=None)
    spread = gtfs_corridor(feed, "7", DATE)
    exact = gtfs_corridor(write(tmp_path / "exact.zip", frequencies=None), "7", DATE)
    assert spread.up.speed == pytest.approx(exact.up.speed, rel=1e-6, abs=0)


def test_of_trips_that_leave_together_one_is_kept_with_a_warning(tmp_path: Path) -> None:
    rows = tables()["stop_times"].splitlines()
    twins = [row.replace("T04", "T05") for row in rows if row.startswith("T04")]
    alone = [row for row in rows if not row.startswith("T05")]
    feed = write(tmp_path / "feed.zip", stop_times="\n".join(alone + twins) + "\n", frequencies=None)
    with pytest.warns(UserWarning, match="1 trips of direction 0 leave together with another and are left out"):
        corridor = gtfs_corridor(feed, "7", DATE)
    assert len(corridor.up.launches) == 5


def test_trips_of_other_patterns_are_left_out_with_a_warning(tmp_path: Path) -> None:
    rows = [row for row in tables()["stop_times"].splitlines() if not row.startswith("T05") or "s3a" not in row]
    feed = write(tmp_path / "feed.zip", stop_times="\n".join(rows) + "\n", frequencies=None)
    with pytest.warns(UserWarning, match="1 trips of direction 0 with other stop sequences are left out"):
        corridor = gtfs_corridor(feed, "7", DATE)
    assert len(corridor.up.launches) == 5


BAD_FEEDS: list[tuple[dict[str, str | None], dict[str, Any], str]] = [
    ({}, {"route": "99"}, r"table routes.txt: no route '99'; it has \['R1', 'R2'\]"),
    ({}, {"route": "R2"}, "table trips.txt: route 'R2' has no trip on 2026-01-05; it has no trip at all"),
    ({}, {"date": "2026-01-06"}, "no service on 2026-01-06; it runs from 2026-01-05 to 2026-01-05"),
    ({}, {"date": "Monday"}, "date is 'Monday'; expected YYYY-MM-DD"),
    ({}, {"directions": (0, 5)}, "no trip with direction_id 5 on that date; the route has 6 with 0, 6 with 1 then"),
    ({"stops": None}, {}, r"table stops.txt: columns .* are missing; found no such table"),
    ({"stop_times": None}, {}, r"table stop_times.txt: columns .* are missing"),
    (
        {"trips": tables()["trips"].replace("direction_id", "way")},
        {},
        r"trips.txt: columns \['direction_id'\] are missing",
    ),
    ({"calendar_dates": None}, {}, "feed.zip"),
    (
        changed("stop_times", "T00,22:04:30,22:04:30", "T00,21:04:30,21:04:30"),
        {},
        "trip 'T00': times go backwards at stop 's3a'",
    ),
    (changed("stop_times", "T00,22:06:00,22:06:00", "T00,,"), {}, "trip 'T00': the first and the last stop need times"),
    (
        {
            "stop_times": re.sub(
                r"(?m)^T00,\d\d:\d\d:\d\d,\d\d:\d\d:\d\d", "T00,22:00:00,22:00:00", tables()["stop_times"]
            )
        },
        {},
        "trip 'T00': the whole trip takes no time",
    ),
    (changed("stops", "s1a,Stop 1,50.005", "s1a,Stop 1,50.0"), {}, "stops 's0a' and 's1a' lie 0 m apart"),
    (
        changed("stop_times", "T00,22:01:30,22:01:30", "T00,22:01:30,22:01:00"),
        {},
        "trip 'T00': times go backwards at stop 's1a'",
    ),
    (changed("frequencies", "22:30:00,600", "22:30:00,0"), {}, "frequencies.txt, trip 'T00': .*headway_secs 0;"),
    (changed("frequencies", "22:30:00,600", "22:30:00,"), {}, "frequencies.txt, trip 'T00': .*headway_secs nan;"),
    (
        changed("frequencies", "22:30:00", "21:30:00"),
        {},
        "frequencies.txt, trip 'T00': .*the end must follow the start",
    ),
    (changed("trips", "T00,0", "T00,out"), {}, "table trips.txt: cannot be read"),
    (changed("stop_times", "T00,22:00:00", "T00,soon"), {}, "table stop_times.txt: cannot be read"),
    (changed("stops", "Stop 0,50.0", "Stop 0,north"), {}, "table stops.txt: cannot be read"),
    ({}, {"directions": (0, 0)}, r"directions are \(0, 0\); expected two different"),
    (changed("stops", "s1a,", "x1a,"), {}, r"stops \['s1a'\] of trip 'T00' are not in stops.txt"),
    (changed("stop_times", "s1a,2\nT00,,", "s1a,\nT00,,"), {}, "trip 'T00': stop_sequence is blank at stop 's1a'"),
    (
        changed("stop_times", "s1a,2\nT00,,", "s1a,1\nT00,,"),
        {},
        "trip 'T00': stop_sequence is 1 at stop 's1a', for the second time; expected each number once a trip",
    ),
    (changed("stop_times", "s1a,2\nT00,,", "s1a,1.5\nT00,,"), {}, "trip 'T00': stop_sequence is 1.5 at stop 's1a'"),
    (changed("stop_times", "s1a,2\nT00,,", "s1a,-2\nT00,,"), {}, "trip 'T00': stop_sequence is -2 at stop 's1a'"),
    (
        changed("stop_times", "T00,22:00:00,22:00:00,s0a,1\n", "T00,22:00:00,22:00:00,s0a,1\n" * 2),
        {},
        "trip 'T00': stop_sequence is 1 at stop 's0a', for the second time",
    ),
    (changed("stops", "s1a,Stop 1,50.005", "s1a,Stop 1,999"), {}, "stop 's1a': stop_lat is 999; expected −90 to 90"),
    (changed("stops", "s1a,Stop 1,50.005", "s1a,Stop 1,"), {}, "stop 's1a': stop_lat is blank; expected −90 to 90"),
    (changed("stops", "s1a,Stop 1,50.005,8.0", "s1a,Stop 1,50.005,-181"), {}, "stop 's1a': stop_lon is -181"),
    (
        changed("stops", "s1a,Stop 1,50.005,8.0", "s1a,Stop 1,0,0"),
        {},
        r"trip 'T00': [\d,]+ m from stop 's0a' to 's1a' in 90 s, [\d,]+ m/s; expected at most 50 m/s",
    ),
    (
        {"stops": tables()["stops"] + "s1a,Stop 1,50.005,8.0,\n"},
        {},
        r"table stops.txt: stops \['s1a'\] have more than one row",
    ),
    (
        {"trips": re.sub(r",[01]\n", ",\n", tables()["trips"])},
        {},
        "direction_id is blank in all 12 trips of route '7' on 2026-01-05",
    ),
    (
        {"routes": tables()["routes"].replace("R2,A,8", "R2,A,7")},
        {},
        r"2 routes have the short name '7'; name one of the route_ids \['R1', 'R2'\]",
    ),
]


def test_an_exact_route_id_wins(tmp_path: Path) -> None:
    """A route of the id 7, and another of the short name 7: the id is meant."""
    routes = tables()["routes"].replace("R1,A,7", "7,A,70").replace("R2,A,8", "R2,A,7")
    trips = tables()["trips"].replace("R1,", "7,") + "R2,D,X1,0\n"
    corridor = gtfs_corridor(write(tmp_path / "feed.zip", routes=routes, trips=trips), "7", DATE)
    assert len(corridor.up.launches) == 8


def test_a_dwell_is_counted_once(tmp_path: Path) -> None:
    """Simulated trips take what the timetable says, within 2 %, whether it separates the dwell or not."""
    plain = tables()["stop_times"]
    separate = plain.replace("T00,22:01:30,22:01:30", "T00,22:01:10,22:01:30")
    assert separate != plain
    for text in (plain, separate):
        corridor = gtfs_corridor(write(tmp_path / "feed.zip", stop_times=text, frequencies=None), "7", DATE)
        records = simulate_days(corridor, NoHolding(), range(20))
        trips = [record.visits[:, 4, at.ARRIVED] - record.visits[:, 0, at.ARRIVED] for record in records]
        assert np.mean(trips) == pytest.approx(360.0, rel=0.02, abs=0)


def test_no_speed_makes_up_for_a_timetable_that_is_too_slow(tmp_path: Path) -> None:
    """An hour for 556 m: 0.15 m/s."""
    rows = tables()["stop_times"].replace("T00,22:06:00,22:06:00", "T00,24:06:00,24:06:00")
    with pytest.warns(UserWarning, match="no allowed speed takes"):
        gtfs_corridor(write(tmp_path / "feed.zip", stop_times=rows, frequencies=None), "7", DATE)


def test_the_default_demand_fits_a_short_line(tmp_path: Path) -> None:
    feed = write(tmp_path / "feed.zip")
    table = metrics_table(simulate_days(gtfs_corridor(feed, "7", DATE), HeadwayEqualising(), range(5)))
    assert table["left_behind"].mean() < 0.1 * table["passengers"].mean()
    with pytest.warns(UserWarning, match=r"200 passengers a trip put \d+ on the busiest link .* a bus's 50 places"):
        gtfs_corridor(feed, "7", DATE, per_trip=200.0)


def test_trips_without_a_direction_are_left_out_with_a_warning(tmp_path: Path) -> None:
    feed = write(tmp_path / "feed.zip", trips=tables()["trips"].replace("T05,0", "T05,"))
    with pytest.warns(UserWarning, match="1 trips without a direction_id are left out"):
        assert len(gtfs_corridor(feed, "7", DATE).up.launches) == 7


def test_routes_of_a_feed(tmp_path: Path, feed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = summaries(feed)
    assert (first.route_id, first.short_name, first.long_name, first.trips) == ("R1", "7", "Line", 12)
    assert [str(date) for date in first.dates] == [DATE]
    assert (second.route_id, second.trips, second.dates) == ("R2", 0, ())
    assert main(["routes", "--feed", str(feed)]) == 0
    shown = capsys.readouterr().out
    assert "R1" in shown
    assert DATE in shown
    assert main(["routes", "--feed", str(feed), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["routes"][0]["dates"] == [DATE]


@pytest.mark.parametrize(("changes", "options", "message"), BAD_FEEDS)
def test_bad_feeds(tmp_path: Path, changes: dict[str, str | None], options: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "feed.zip", **changes)
    with pytest.raises(InputError, match=message):
        gtfs_corridor(path, **({"route": "7", "date": DATE} | options))


def test_no_feed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; expected a zipped GTFS feed"):
        gtfs_corridor(tmp_path / "none.zip", "7", DATE)
    (tmp_path / "feed.zip").write_bytes(b"not a zip")
    with pytest.raises(InputError, match="not a readable GTFS feed"):
        gtfs_corridor(tmp_path / "feed.zip", "7", DATE)


def demand_file(tmp_path: Path, *rows: str, header: str = "from,to,start,end,rate") -> Path:
    path = tmp_path / "demand.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_demand_from_a_file(tmp_path: Path, feed: Path) -> None:
    path = demand_file(
        tmp_path, "Stop 0,Stop 3,22:00,25:00,30", "Stop 0,Stop 3,22:30,23:30,8", "Stop 4,Stop 0,24:15,24:45,4"
    )
    corridor = gtfs_corridor(feed, "7", DATE, demand=path)
    assert corridor.demand[:, 0, 3].tolist() == [34.0, 34.0, 30.0]
    assert corridor.demand[:, 4, 0].tolist() == [0.0, 0.0, 2.0]
    assert corridor.demand.sum() == 100.0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Harbour,Moon,08:00,09:00,1", "row 2: to is 'Moon', which is not a stop"),
        ("Harbour,Library,08:00,09:00,-1", "row 2: rate is '-1'; expected a finite number"),
        ("Harbour,Library,08:00,09:00,many", "row 2: rate is 'many'"),
        ("Harbour,Library,08:00,09:00,inf", "row 2: rate is 'inf'"),
        ("Harbour,Library,8 am,09:00,1", "row 2: start is '8 am'; expected a clock time"),
        ("Harbour,Library,09:00,08:00,1", "row 2: from 09:00 to 08:00; start must be before end"),
        ("Harbour,Library,05:00,08:00,1", "both within 6 h to 20 h"),
        ("Harbour,Library,08:00,09:00", "row 2: 4 cells; expected 5"),
    ],
)
def test_bad_demand_files(tmp_path: Path, row: str, message: str) -> None:
    corridor = default_corridor()
    with pytest.raises(InputError, match=message):
        csv_demand(demand_file(tmp_path, row), corridor.stops, corridor.hours, corridor.service_start)


def test_demand_file_without_its_header(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"row 1: found .* expected the columns \['from'"):
        csv_demand(demand_file(tmp_path, header="a,b,c,d,e"), ("A",), 1, 0.0)
    with pytest.raises(InputError, match=r"cannot read .*none\.csv: No such file"):
        csv_demand(tmp_path / "none.csv", ("A",), 1, 0.0)


def test_short_turns_are_trips_of_their_own(tmp_path: Path) -> None:
    """Departures from each stop, and trips of each pattern, on a simulated day as in the timetable."""
    corridor = gtfs_corridor(short_turns.write_feed(tmp_path / "feed.zip"), "7", DATE)
    assert corridor.stops == short_turns.STOPS
    assert corridor.headway == short_turns.EVERY
    record = simulate(corridor, HeadwayEqualising(), 0)
    line, leaves = record.layout.line, Counter[tuple[int, int]]()
    for way in (0, 1):
        wanted = sorted(short_turns.timetable(way))
        mine = np.flatnonzero(line.plan[:, DIRECTION] == way)
        ends = line.plan[mine][:, [FIRST, LAST]].tolist()
        launched = corridor.service_start + record.visits[mine, line.plan[mine, FIRST], at.ARRIVED]
        found = sorted((round(float(time)), *pattern) for time, pattern in zip(launched, ends, strict=True))
        assert found == wanted
        for _, first, last in wanted:
            leaves.update((way, place) for place in range(first, last))
    assert Counter(_departures(record)) == leaves


def _departures(record: Record) -> list[tuple[int, int]]:
    """(direction, place) of each departure: a stop that the bus has come to and that is not its last one."""
    came = np.isfinite(record.visits[..., at.ARRIVED])
    went = came[:, :-1] & came[:, 1:]
    return [(int(record.layout.line.plan[trip, DIRECTION]), int(place)) for trip, place in np.argwhere(went)]


@pytest.mark.parametrize(("per_trip", "apart"), [(4.0, 0.02), (None, 0.08)])
def test_running_times_of_short_turns(tmp_path: Path, per_trip: float | None, apart: float) -> None:
    """All trips together take what the timetable says, within 2 %, and so does each pattern where few passengers ride.
    With many a short turn is faster: who is bound beyond waits for a whole trip, which the timetable leaves out."""
    corridor = gtfs_corridor(
        short_turns.write_feed(tmp_path / "feed.zip"), "7", DATE, per_trip=per_trip, speed_deviation=0.5
    )
    records = simulate_days(corridor, NoHolding(), range(10))
    plan = records[0].layout.line.plan
    trips = np.arange(len(plan))
    took = np.mean(
        [
            record.visits[trips, plan[:, LAST], at.ARRIVED] - record.visits[trips, plan[:, FIRST], at.ARRIVED]
            for record in records
        ],
        axis=0,
    )
    wanted = short_turns.LINK * (plan[:, LAST] - plan[:, FIRST])
    assert took.sum() == pytest.approx(wanted.sum(), rel=0.02, abs=0)
    for first, last in short_turns.PATTERNS:
        for way in (0, 1):
            mine = (plan[:, FIRST] == first) & (plan[:, LAST] == last) & (plan[:, DIRECTION] == way)
            assert took[mine].mean() == pytest.approx(wanted[mine].mean(), rel=apart, abs=0)
            if per_trip is None and (first, last) == (0, 6):
                assert took[mine].mean() < 0.96 * wanted[mine].mean()
