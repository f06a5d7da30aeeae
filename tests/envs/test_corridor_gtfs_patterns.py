"""Trips of a feed's direction, worked by hand: which of them are taken, when they are where, and which are refused."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_feed import DATE, changed, write

from pyresac.envs.bus import gtfs
from pyresac.envs.bus.gtfs_patterns import (
    FASTEST_TIMETABLE,
    Pattern,
    _begin,
    _check_speeds,
    _departures,
    _interpolated,
    _lengths,
    _widest,
    pattern_of,
    plain_name,
)
from pyresac.errors import InputError

FEED = Path("feed.zip")
DEGREE = math.radians(1.0) * 6_371_008.8
Call = tuple[str, float, float]
"""Stop, arrival, departure."""


def tables(of: dict[str, tuple[float, list[Call]]], **changes: Any) -> Any:
    """Tables as partridge gives them: stops a, b, … 0.01° of latitude apart, trips (direction_id, calls)."""
    rows = [
        (trip, stop, 10.0 * place, arrive, depart)
        for trip, (_, calls) in of.items()
        for place, (stop, arrive, depart) in enumerate(calls)
    ]
    columns = ["trip_id", "stop_id", "stop_sequence", "arrival_time", "departure_time"]
    names = "abcdefgh"
    given = {
        "trips": pd.DataFrame({"trip_id": list(of), "direction_id": [way for way, _ in of.values()]}),
        # partridge leaves them in the order of the file, here the last one first
        "stop_times": pd.DataFrame(rows[::-1], columns=columns),
        "stops": pd.DataFrame(
            {
                "stop_id": list(names),
                "stop_name": [f"Stop {name}" for name in names],
                "stop_lat": [50.0 + 0.01 * index for index in range(8)],
                "stop_lon": 8.0,
            }
        ),
        "frequencies": pd.DataFrame(),
        "shapes": pd.DataFrame(),
    }
    return SimpleNamespace(**given | changes)


def calls(stops: str, start: float, link: float = 100.0, stand: float = 0.0) -> list[Call]:
    """One stop after the other, `link` seconds apart, of which the bus stands `stand`."""
    return [
        (stop, start + link * place - stand * (place > 0), start + link * place) for place, stop in enumerate(stops)
    ]


def asked(given: Any, way: int = 0) -> Pattern:
    """The pattern of the tables of a feed."""
    return pattern_of(FEED, given, way)


def warned(given: Any, message: str, way: int = 0) -> Pattern:
    """One warning, which names the line below."""
    with pytest.warns(UserWarning, match=message) as caught:
        found = pattern_of(FEED, given, way)
    first = warned.__code__.co_firstlineno
    assert all(one.filename == __file__ and first < one.lineno < first + 6 for one in caught)
    assert len(caught) == 1
    return found


def test_trips_of_a_direction_stand_in_order_of_launch_with_their_parts() -> None:
    """Short turns among them; the other direction's trips are not its own."""
    given = tables(
        {
            "late": (0.0, calls("abcd", 900.0, stand=20.0)),
            "back": (1.0, calls("dcba", 0.0)),
            "early": (0.0, calls("abcd", 300.0, link=200.0)),
            "middle": (0.0, calls("bc", 350.0)),
            "end": (0.0, calls("bcd", 700.0)),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = asked(given)
    nan = math.nan
    assert found.stop_ids == ("a", "b", "c", "d")
    assert found.length == pytest.approx(np.full(3, 0.01 * DEGREE), rel=1e-6, abs=0)
    assert found.first.tolist() == [0, 1, 1, 0]
    assert found.last.tolist() == [3, 2, 3, 3]
    assert found.launches.tolist() == [300.0, 350.0, 700.0, 900.0]
    depart = [[300, 500, 700, 900], [nan, 350, 450, nan], [nan, 700, 800, 900], [900, 1000, 1100, 1200]]
    np.testing.assert_array_equal(found.depart, depart)
    np.testing.assert_array_equal(found.arrive[:3], depart[:3])
    np.testing.assert_array_equal(found.arrive[3], [900, 980, 1080, 1180])
    assert asked(given, 1).stop_ids == ("d", "c", "b", "a")


def test_of_trips_that_leave_a_stop_together_the_longest_stays() -> None:
    """Whichever of them comes first in the feed; trips that leave other stops at that time, or later, stay too."""
    parts = {"short": "bc", "long": "bcd", "whole": "abcd"}
    for order in (parts, dict(reversed(parts.items()))):
        given = {name: (0.0, calls(stops, 500.0)) for name, stops in order.items()}
        found = warned(tables(given | {"later": (0.0, calls("bc", 501.0))}), "1 trips of direction 0 leave together")
        assert list(zip(found.launches, found.first, found.last, strict=True)) == [
            (500, 0, 3),
            (500, 1, 3),
            (501, 1, 2),
        ]
    one_hour = {f"{start}{stops}": (0.0, calls(stops, float(start))) for stops in ("abcd", "bc") for start in (0, 100)}
    assert len(asked(tables(one_hour)).first) == 4
    twins = {name: (0.0, calls("abc", 0.0)) for name in "xyz"}
    assert len(warned(tables(twins), "2 trips of direction 0 leave together").first) == 1


def test_other_trips_are_left_out_with_a_warning_that_counts_them() -> None:
    line = {f"line {number}": (0.0, calls("abc", 100.0 * number)) for number in range(3)}
    assert (
        len(warned(tables(line | {"x": (0.0, calls("cba", 0.0)), "y": (0.0, calls("ac", 0.0))}), "2 trips").first) == 3
    )
    unknown = tables(line | {"x": (math.nan, calls("abc", 0.0)), "y": (math.nan, calls("abc", 0.0))})
    assert len(warned(unknown, "feed.zip: 2 trips without a direction_id are left out").first) == 3


@pytest.mark.parametrize(
    ("trips", "way", "message"),
    [
        ({"x": (0.0, calls("abc", 0.0)), "y": (1.0, calls("cba", 0.0)), "z": (0.0, [])}, 2,
         "no trip with direction_id 2 on that date; the route has 2 with 0, 1 with 1 then"),
        ({"x": (0.0, calls("abc", 0.0)), "y": (1.0, [])}, 1,
         "table stop_times.txt: no stop times for the trips of direction_id 1"),
        ({"x": (0.0, calls("ab", 0.0))}, 0, r"direction 0 visits \['a', 'b'\]; expected 3 stops, each once"),
        ({"x": (0.0, calls("aba", 0.0))}, 0, r"direction 0 visits \['a', 'b', 'a'\]; expected 3 stops, each once"),
        ({"x": (0.0, calls("abc", 0.0)), "y": (0.0, calls("abc", 500.0, link=1.0))}, 0,
         "trip 'y': 1,112 m from stop 'a' to 'b' in 1 s, 1,112 m/s; expected at most 50 m/s"),
    ],
)  # fmt: skip
def test_directions_that_are_no_line(trips: dict[str, Any], way: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        asked(tables(trips), way)


@pytest.mark.parametrize(
    ("counts", "whole", "begins"),
    [
        # the most trips, parts among them, though another sequence is commoner or longer
        ({"abcd": 1, "bc": 5, "efgh": 3, "hgfedc": 1}, "abcd", {"abcd": 0, "bc": 1}),
        # as many: the one with the most trips of its own, then the longest
        ({"abc": 3, "ab": 1, "def": 2, "ef": 2}, "abc", {"abc": 0, "ab": 0}),
        ({"abc": 2, "defg": 2}, "defg", {"defg": 0}),
        ({"abcd": 2, "cd": 1, "cb": 1, "d": 1, "acd": 1}, "abcd", {"abcd": 0, "cd": 2}),
    ],
)
def test_the_sequence_that_most_trips_serve(counts: dict[str, int], whole: str, begins: dict[str, int]) -> None:
    found = _widest(tables({}), {tuple(stops): count for stops, count in counts.items()})
    assert found == (tuple(whole), {tuple(part): begin for part, begin in begins.items()})


def test_stops_are_one_where_their_names_are_unless_the_line_has_a_name_twice() -> None:
    """Two platforms of one station are one stop of a line; a loop that passes both has two of them."""
    stops = pd.DataFrame({"stop_id": list("aAbBc"), "stop_name": ["One", "One", "Two", "Two", "Three"]})
    given = tables({}, stops=stops)
    assert _widest(given, {("a", "b", "c"): 2, ("A", "B"): 1}) == (("a", "b", "c"), {("a", "b", "c"): 0, ("A", "B"): 0})
    loop = ("a", "b", "A", "c")
    assert _widest(given, {loop: 2, ("A", "c"): 1, ("a", "B"): 1}) == (loop, {loop: 0, ("A", "c"): 2})
    # a stop that the feed does not know has its own id for a name
    assert _widest(given, {("a", "x"): 1}) == (("a", "x"), {("a", "x"): 0})


@pytest.mark.parametrize(
    ("part", "begin"), [("abc", 0), ("ab", 0), ("bc", 1), ("bcd", 1), ("cd", 2), ("c", None), ("", None), ("ac", None),
                        ("xb", None), ("cde", None), ("ba", None)]
)  # fmt: skip
def test_where_a_part_begins(part: str, begin: int | None) -> None:
    assert _begin(tuple(part), tuple("abcd")) == begin


def test_the_fastest_trip_is_just_fast_enough() -> None:
    """A trip that does not stop there, or takes no time, has no speed, or an endless one."""
    lengths, stops = np.array([100.0, 500.0]), ("a", "b", "c")
    slow = np.array([[2.0, 10.0], [math.nan, math.nan], [50.0, 100.0]])
    _check_speeds(FEED, stops, lengths, slow, ["x", "y", "z"])
    assert FASTEST_TIMETABLE == 50.0
    for trip, link, seconds, said in (
        (2, 1, math.nextafter(10.0, 0.0), "trip 'z': 500 m from stop 'b' to 'c' in 10 s, 50 m/s"),
        (0, 0, 0.0, "trip 'x': 100 m from stop 'a' to 'b' in 0 s, inf m/s"),
    ):
        running = slow.copy()
        running[trip, link] = seconds
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(InputError, match=said):
                _check_speeds(FEED, stops, lengths, running, ["x", "y", "z"])


def test_frequencies_move_a_trip_to_each_of_its_departures() -> None:
    rows = pd.DataFrame(
        [("x", 1000.0, 1900.0, 300.0), ("y", 0.0, 10.0, 1.0), ("x", 5000.0, 5001.0, 0.5)],
        columns=["trip_id", "start_time", "end_time", "headway_secs"],
    )
    given = tables({}, frequencies=rows)
    assert _departures(FEED, given, "x", 400.0) == [600.0, 900.0, 1200.0, 4600.0, 4600.5]
    assert _departures(FEED, given, "z", 400.0) == [0.0]
    assert _departures(FEED, tables({}), "x", 400.0) == [0.0]
    for start, end, gap in (
        (10.0, 10.0, 1.0),
        (10.0, 9.0, 1.0),
        (0.0, 10.0, 0.0),
        (0.0, 10.0, -1.0),
        (0.0, 9.0, math.nan),
    ):
        wrong = tables({}, frequencies=pd.DataFrame([("x", start, end, gap)], columns=rows.columns))
        said = (
            f"trip 'x': start_time {start:g} s, end_time {end:g} s, headway_secs {gap:g}; the end must follow the start"
        )
        with pytest.raises(InputError, match=said):
            _departures(FEED, wrong, "x", 0.0)


_ = math.nan


@pytest.mark.parametrize(
    ("arrive", "depart", "come", "leave"),
    [
        # what stands on one side only stands for the other, too
        ([0, 100, _, 300], [_, _, 220, 310], [0, 100, 220, 300], [0, 100, 220, 310]),
        # links of 100, 300, 100 and 500 m: by distance, from the departure before to the arrival after
        ([0, 90, _, _, 600], [10, 100, _, _, 600], [0, 90, 266.6666666666667, 322.22222222222223, 600],
         [10, 100, 266.6666666666667, 322.22222222222223, 600]),
        # times of the minute before are let go of; a later second is none of it
        ([0, 0, 60, 60, 120], [0, 0, 60, 60, 120], [0, 15, 60, 70, 120], [0, 15, 60, 70, 120]),
        ([0, 1, 60, 61, 120], [0, 1, 60, 61, 120], [0, 1, 60, 61, 120], [0, 1, 60, 61, 120]),
        # the last stop at the minute of the one before keeps its time; the other one is between its neighbours
        ([0, 60, 120, 180, 180], [0, 60, 120, 180, 180], [0, 60, 120, 130, 180], [0, 60, 120, 130, 180]),
        ([0, 0, 0, 0, 90], [0, 0, 0, 0, 90], [0, 9, 36, 45, 90], [0, 9, 36, 45, 90]),
        ([0, 60], [0, 60], [0, 60], [0, 60]),
        ([0, 60, 60], [0, 60, 60], [0, 15, 60], [0, 15, 60]),
    ],
)  # fmt: skip
def test_times_that_are_missing_or_of_the_minute_before(arrive: Any, depart: Any, come: Any, leave: Any) -> None:
    found = _interpolated(FEED, rows_of(arrive, depart), np.array([100.0, 300.0, 100.0, 500.0])[: len(arrive) - 1])
    np.testing.assert_allclose(found, [come, leave], rtol=1e-12)


def rows_of(arrive: list[float], depart: list[float]) -> pd.DataFrame:
    """A trip's rows."""
    columns = {"trip_id": ["t"] * len(arrive), "stop_id": list("abcdefgh")[: len(arrive)]}
    return pd.DataFrame(columns | {"arrival_time": arrive, "departure_time": depart})


@pytest.mark.parametrize(
    ("arrive", "depart", "message"),
    [
        ([_, 60, 120], [_, 60, 120], "the first and the last stop need times"),
        ([0, 60, _], [0, 60, _], "the first and the last stop need times"),
        ([0, 60, 120], [0, 59, 120], "times go backwards at stop 'b'"),
        ([0, 60, 120], [1, 60, 119], "times go backwards at stop 'c'"),
        ([0, 60, 59, 120], [0, 60, 60, 120], "times go backwards at stop 'c'"),
        ([10, 60, 120], [9, 60, 120], "times go backwards at stop 'a'"),
        ([0, _, 60, 40, 120], [0, _, 70, 90, 120], "times go backwards at stop 'd'"),
        ([0, 0, 0], [0, 0, 0], "the whole trip takes no time"),
        ([0, _, 0], [0, _, 0], "the whole trip takes no time"),
    ],
)
def test_times_that_are_none(arrive: Any, depart: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"feed.zip, table stop_times.txt, trip 't': {message}"):
        _interpolated(FEED, rows_of(arrive, depart), np.full(len(arrive) - 1, 100.0))


def test_lengths_are_along_the_trip_s_own_shape() -> None:
    """Its points in order; great circles without one, or with a single point."""
    side = 0.002
    points = [("s", 50.0, 8.0, 1.0), ("s", 50.01, 8.0, 4.0), ("s", 50.004, 8.0 + side, 3.0), ("s", 50.004, 8.0, 2.0)]
    points += [("other", 50.0, 8.0, 1.0), ("other", 51.0, 9.0, 2.0), ("one", 50.0, 8.0, 1.0)]
    shapes = pd.DataFrame(points, columns=["shape_id", "shape_pt_lat", "shape_pt_lon", "shape_pt_sequence"])
    trips = pd.DataFrame({"trip_id": ["x", "y", "z"], "direction_id": 0.0, "shape_id": ["s", "one", math.nan]})
    given, stops = tables({}, shapes=shapes, trips=trips), ("a", "b", "c")
    across = side * math.cos(math.radians(50.0))
    detour = (0.004 + across + math.hypot(0.006, across)) * DEGREE
    straight = np.full(2, 0.01 * DEGREE)
    assert _lengths(FEED, given, stops, "x")[0] == pytest.approx(detour, rel=1e-6, abs=0)
    for trip in ("y", "z"):
        assert _lengths(FEED, given, stops, trip) == pytest.approx(straight, rel=1e-6, abs=0)
    for other in ({"shapes": pd.DataFrame()}, {"trips": trips.drop(columns="shape_id")}):
        assert _lengths(FEED, tables({}, **{"shapes": shapes, "trips": trips} | other), stops, "x") == pytest.approx(
            straight
        )
    pair = tables({}, shapes=shapes.iloc[:2], trips=trips)
    assert _lengths(FEED, pair, stops[:2], "x") == pytest.approx(straight[:1], rel=1e-6, abs=0)
    for column, value, said in (("shape_pt_lat", 91.0, "shape_pt_lat is 91"), ("shape_pt_lon", math.nan, "is blank")):
        wrong = tables(
            {},
            shapes=shapes.assign(**{column: shapes[column].where(shapes.shape_pt_sequence != 3, value)}),
            trips=trips,
        )
        with pytest.raises(InputError, match=f"feed.zip, table shapes.txt, shape 's', point 3.0: .*{said}"):
            _lengths(FEED, wrong, stops, "x")


def test_two_stops_in_one_place_are_refused_by_name() -> None:
    """Half a metre is a link."""
    stops = tables({}).stops
    stops["stop_lat"] = [50.0, 50.0 + 0.5 / DEGREE, 50.01, 50.01, 50.02, 50.03, 50.04, 50.05]
    given = tables({}, stops=stops)
    assert _lengths(FEED, given, ("a", "b", "c"), "x")[0] == pytest.approx(0.5, rel=1e-3, abs=0)
    with pytest.raises(InputError, match="stops 'c' and 'd' lie 0 m apart"):
        _lengths(FEED, given, ("a", "b", "c", "d"), "x")


@pytest.mark.parametrize(
    ("parent", "name", "shown"),
    [
        ("station", "Platform 1", "Station"),
        ("station", math.nan, "Station"),
        ("nowhere", "Platform 1", "Platform 1"),
        ("", "Platform 1", "Platform 1"),
        (math.nan, "Platform 1", "Platform 1"),
        ("nameless", "Platform 1", "p"),
        (math.nan, math.nan, "p"),
        (math.nan, "", "p"),
    ],
)
def test_a_stop_s_name_is_its_station_s(parent: Any, name: Any, shown: str) -> None:
    rows = [("p", name, parent), ("station", "Station", math.nan), ("nameless", math.nan, math.nan), ("", "Blank", "")]
    table = pd.DataFrame(rows, columns=["stop_id", "stop_name", "parent_station"]).set_index("stop_id")
    assert plain_name(table, "p") == shown
    if isinstance(name, str) and name:
        assert plain_name(table.drop(columns="parent_station"), "p") == name


def pattern(depart: Any, arrive: Any, first: Any, last: Any) -> Pattern:
    """Four stops, 100, 200 and 300 m apart."""
    return Pattern(
        ("a", "b", "c", "d"),
        np.array([100.0, 200.0, 300.0]),
        np.array(arrive),
        np.array(depart),
        np.array(first),
        np.array(last),
    )


def test_mean_times_of_a_link_and_hour() -> None:
    """From departure to departure, to the arrival at the last stop; a stand at the end of a short turn is none of those
    who go on, and does not count. The hour in which a trip leaves the link's beginning; else the nearest one."""
    hour, start = 3600.0, 7200.0
    depart = start + np.array(
        [
            [0.0, 50.0, 150.0, 450.0],
            [10.0, 80.0, 300.0, 777.0],
            [3590.0, 3599.0, 3600.0, 4000.0],
            [20.0, 60.0, 999.0, _],
            [_, 30.0, 90.0, 888.0],
            [3 * hour + 5.0, 3 * hour + 9.0, 3 * hour + 20.0, 5 * hour],
        ]
    )
    arrive = depart - 7.0
    found = gtfs._link_times(pattern(depart, arrive, [0, 0, 0, 0, 1, 0], [3, 3, 3, 2, 3, 3]), start, 4)
    last = 2 * hour - 27.0
    expected = [
        [(50 + 70 + 9 + 40) / 4, (50 + 70 + 9 + 40) / 4, 4.0, 4.0],
        [(100 + 220 + 1 + 60) / 4, (100 + 220 + 1 + 60) / 4, 11.0, 11.0],
        [(293 + 470 + 791) / 3, 393.0, 393.0, last],
    ]
    np.testing.assert_allclose(found, expected)
    # a trip of the day's last hours leaves in the last one that the tables have
    np.testing.assert_allclose(
        gtfs._link_times(pattern(depart, arrive, [0] * 6, [3] * 6), start, 2)[0], [(50 + 70 + 9 + 40) / 4, 4.0]
    )


def test_names_that_a_direction_has_twice_are_told_apart() -> None:
    stops = pd.DataFrame({"stop_id": list("abcd"), "stop_name": ["One", "Two", "One", "Two"]})
    ways = [SimpleNamespace(stop_ids=("a", "b", "c")), SimpleNamespace(stop_ids=("d",))]
    found = gtfs._names(FEED, tables({}, stops=stops), ways)  # type: ignore[arg-type]
    assert found == {"a": "One (a)", "b": "Two", "c": "One (c)", "d": "Two"}


def test_the_order_of_a_trip_s_stops_is_never_guessed() -> None:
    given = tables({"x": (0.0, calls("abc", 0.0))})
    given.stop_times["stop_sequence"] = 1.0
    with pytest.raises(InputError, match="trip 'x': stop_sequence is 1 at stop 'b', for the second time"):
        asked(given)


def test_warnings_of_a_feed_name_who_asked_for_the_corridor(tmp_path: Path) -> None:
    path = write(tmp_path / "feed.zip", frequencies=None, **changed("trips", "T05,0", "T05,"))
    with pytest.warns(UserWarning, match="1 trips without a direction_id are left out") as caught:
        gtfs.gtfs_corridor(path, "7", DATE)
    assert {one.filename for one in caught if "left out" in str(one.message)} == {__file__}
