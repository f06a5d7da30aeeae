"""Observed days from simulated ones, and in files: every cell, every refusal, and each limit met exactly."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, HeadwayEqualising, simulate_days
from pyresac.envs.bus import state as at
from pyresac.envs.bus.avl.observed import COLUMNS, ObservedWay, days_of, observed_text, read_observed
from pyresac.envs.bus.corridor import Direction
from pyresac.envs.bus.line import DIRECTION
from pyresac.errors import InputError

HEADER = "day,direction,launch,stop,arrival,departure\n"


@pytest.fixture
def uneven(small: Corridor) -> Corridor:
    """Down has three of up's five stops, and other launches; service begins at half past five."""
    down = Direction(("E", "C", "A"), np.array([850.0, 700.0]), np.full((2, 2), 8.0), small.down.launches[:5] + 7.0)
    demand = np.triu(small.demand)
    return Corridor("small", small.stops, small.up, down, demand, headway=600.0, service_start=5.5 * 3600.0)


def test_an_observer_sees_when_buses_come_and_leave(uneven: Corridor) -> None:
    records = simulate_days(uneven, HeadwayEqualising(), [3, 4])
    found = days_of(records)
    plan = records[0].layout.line.plan
    for index, (way, line) in enumerate(zip(found, uneven.directions, strict=True)):
        trips, stops = np.flatnonzero(plan[:, DIRECTION] == index), len(line.stops)
        assert way.launch.tolist() == line.launches.tolist()
        assert way.arrive.shape == way.depart.shape == (2, len(trips), stops)
        assert way.running.shape == (2, len(trips), stops - 1)
        for day, row, place in np.ndindex(way.arrive.shape):
            visit = records[day].visits[trips[row], place]
            assert way.arrive[day, row, place] == visit[at.ARRIVED]
            leaves = visit[at.ARRIVED] + visit[at.DWELL] + visit[at.HELD]
            if place == stops - 1:
                assert math.isnan(way.depart[day, row, place])
            else:
                assert way.depart[day, row, place] == leaves
                assert way.running[day, row, place] == way.arrive[day, row, place + 1] - leaves
        second = way.days(slice(1, 2))
        assert second.launch is way.launch
        assert (second.arrive == way.arrive[1:]).all()
        assert np.array_equal(second.depart, way.depart[1:], equal_nan=True)
        way.arrive[:] = way.launch[:, None] = 0.0
    assert (records[0].visits[:, 1, at.ARRIVED] > 0.0).all(), "what is seen is a copy"
    assert uneven.up.launches.tolist() == [600.0 * index for index in range(8)]


def test_the_text_of_observed_days(small: Corridor) -> None:
    """Service begins at 06:00; times are rounded to whole seconds, half of one to the even one; hours go past 24."""
    arrive, depart = np.full((2, 2, 5), np.nan), np.full((2, 2, 5), np.nan)
    arrive[0, 0, :2], depart[0, 0, :2] = [0.0, 95.4], [10.5, 96.0]
    arrive[1, 1, 4] = 20 * 3600.0 + 61.6
    up = ObservedWay(np.array([0.0, 3725.0]), arrive, depart)
    down = ObservedWay(np.array([59.0]), np.full((2, 1, 5), np.nan), np.full((2, 1, 5), np.nan))
    down.arrive[1, 0, 0], down.depart[1, 0, 0] = 3599.0, 3600.0
    assert observed_text((up, down), small) == HEADER + (
        "0,up,06:00:00,A,06:00:00,06:00:10\n"
        "0,up,06:00:00,B,06:01:35,06:01:36\n"
        "1,up,07:02:05,E,26:01:02,\n"
        "1,down,06:00:59,E,06:59:59,07:00:00\n"
    )


def test_every_cell_of_a_file_has_its_place(tmp_path: Path, uneven: Corridor) -> None:
    """Days in order of appearance, launches by time, stops in any order, blanks around cells; what has no row is not
    observed. At a first stop the bus is there for its launch; at a last stop it need not leave."""
    path = tmp_path / "days.csv"
    path.write_text(
        " day , direction,launch,stop,arrival,departure\n"
        "Tue,up,06:00,C,06:03:00,06:03:20\n"
        " Mon , down ,05:30, A ,05:50:00, \n"
        "Tue,up,06:00,A,05:00:00,06:00:30\n"
        "\n"
        "Tue,up,05:30:00,B,05:31:00,05:31:00\n"
        "Mon,up,05:30,E,05:59:00,whenever\n"
        "Mon,up,05:30,A,05:30:40,05:30:41\n"
        "Tue,up,06:00,B,06:00:31,06:02:59\n"
    )
    (up, down), labels = read_observed(str(path), uneven)
    assert labels == ["Tue", "Mon"]
    assert (up.launch.tolist(), down.launch.tolist()) == ([0.0, 1800.0], [0.0])
    assert (up.arrive.shape, down.arrive.shape) == ((2, 2, 5), (2, 1, 3))
    seen = {
        (day, trip, place): (up.arrive[day, trip, place], up.depart[day, trip, place])
        for day, trip, place in np.argwhere(np.isfinite(up.arrive)).tolist()
    }
    last = seen.pop((1, 0, 4))
    assert last[0] == 1740.0
    assert math.isnan(last[1])
    assert seen == {
        (0, 0, 1): (60.0, 60.0),
        (0, 1, 0): (1800.0, 1830.0),
        (0, 1, 1): (1831.0, 1979.0),
        (0, 1, 2): (1980.0, 2000.0),
        (1, 0, 0): (40.0, 41.0),
    }
    assert np.argwhere(np.isfinite(down.arrive)).tolist() == [[1, 0, 2]]
    assert down.arrive[1, 0, 2] == 1200.0
    assert not np.isfinite(down.depart).any()
    assert np.isfinite(up.depart).sum() == 5


UP = "1,up,06:00,A,05:58,06:00:10"
DOWN = "1,down,06:00,E,06:00,06:00:10"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"days\.csv, row 1: found nothing; expected the columns \['day', 'direction', 'launch', 'stop',"),
        ("day,way\n" + UP, r"row 1: found \['day', 'way'\]; expected the columns"),
        (HEADER + UP + "\n1,up,06:00,B,06:00:09,06:01\n" + DOWN, r"to 'B' no later than it leaves 'A'; times must"),
        (
            HEADER + "1,up,06:10,B,06:00:10,06:01\n" + UP.replace("06:00,A", "06:10,A"),
            "departure 06:00:10 is before the",
        ),
        (
            HEADER + "1,up,06:00,C,06:00:10,06:01\n" + UP,
            r"launch 06:00:00: it comes to 'C' no later than it leaves 'A'",
        ),
        (
            HEADER + UP + "\n" + DOWN + "\n1,up,06:00,B,06:02,06:01:59",
            r"row 4: departure 06:01:59 is before .* 06:02:00",
        ),
        (HEADER + UP + "\n" + DOWN + "\n1,up,06:00,B,06:02,06:02,", r"row 4: 7 cells; expected 6"),
        (
            HEADER + UP + "\n" + DOWN + "\n1,down,06:00,E,06:00,06:00:10",
            r"row 4: the trip has a row for stop 'E' already",
        ),
        (HEADER + UP + "\n1,down,05:59:59,E,06:00,06:01", r"row 3: launch is 05:59:59, before .* starts at 06:00:00"),
        (HEADER + DOWN, "no trip of direction up; a corridor needs both"),
        (HEADER + UP, "no trip of direction down; a corridor needs both"),
    ],
)
def test_files_that_are_no_days(tmp_path: Path, small: Corridor, text: str, message: str) -> None:
    path = tmp_path / "days.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_observed(path, small)
    assert str(caught.value).startswith(str(path))


def test_a_second_between_two_stops_is_enough(tmp_path: Path, small: Corridor) -> None:
    """And a departure at the arrival; a trip may have other rows of another day, direction or launch."""
    assert ",".join(COLUMNS) + "\n" == HEADER
    path = tmp_path / "days.csv"
    rows = [UP, "1,up,06:00,B,06:00:11,06:00:11", "2" + UP[1:], "1,up,06:01,A,06:01,06:01", DOWN]
    path.write_text(HEADER + "\n".join(rows))
    (up, _), labels = read_observed(path, small)
    assert labels == ["1", "2"]
    assert up.launch.tolist() == [0.0, 60.0]
    assert up.arrive[0, 0, :2].tolist() == [0.0, 11.0]
    assert np.isfinite(up.arrive).sum() == 4
