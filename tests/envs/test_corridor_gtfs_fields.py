"""Every field of a corridor that comes from a feed, recomputed here from the feed's own tables."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_feed import DATE, clock, tables, write

from pyresac.envs.bus import Corridor, Direction, Vehicle
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.gtfs import gtfs_corridor
from pyresac.envs.bus.layout import dwell_times, headways, lay_out, running_times
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.traffic import Traffic

LATITUDES = (50.0, 50.004, 50.010, 50.015, 50.021)
RADIUS = 6_371_008.8
Given = dict[str, Any]
LINKS = {0: (70, 130, 90, 110), 1: (120, 95, 115, 75)}
"""s from stop to stop of the first trip up and down, without the dwells."""


def feed_tables(factor: float) -> dict[str, str | None]:
    """Links of different lengths and, trip by trip and way by way, different times; 15 s at the second and the fourth
    stop, no time at the third. factor: by which all times are longer."""
    times = ["trip_id,arrival_time,departure_time,stop_id,stop_sequence"]
    for way, links in LINKS.items():
        for number in range(6):
            now = 22 * 3600 + 1500 * number + 300 * way
            for place in range(5):
                stop = f"s{place if way == 0 else 4 - place}{'ab'[way]}"
                stand = 15 if place in (1, 3) else 0
                shown = ("", "") if place == 2 else (clock(now), clock(now + stand))
                times.append(f"T{way}{number},{shown[0]},{shown[1]},{stop},{place + 1}")
                now += stand
                if place < 4:
                    now += round(factor * links[place]) + 4 * number
    stops = ["stop_id,stop_name,stop_lat,stop_lon,parent_station"]
    stops += [f"s{i}{side},Stop {i},{at},8.0," for side in "ab" for i, at in enumerate(LATITUDES)]
    return {"stop_times": "\n".join(times) + "\n", "stops": "\n".join(stops) + "\n"}


def seconds(text: str) -> float:
    return float(sum(int(part) * unit for part, unit in zip(text.split(":"), (3600, 60, 1), strict=True)))


def timetable(changed: dict[str, str | None], way: int) -> tuple[list[list[float]], list[list[float]], Array]:
    """(arrivals, departures) of all trips of a direction in order of departure, and m between the stops."""
    whole = {name: list(csv.DictReader(io.StringIO(text))) for name, text in (tables() | changed).items() if text}
    place = {row["stop_id"]: float(row["stop_lat"]) for row in whole["stops"]}
    arrivals, departures, lengths = [], [], np.zeros(0)
    for trip in whole["trips"]:
        if trip["direction_id"] != str(way):
            continue
        rows = sorted(
            (row for row in whole["stop_times"] if row["trip_id"] == trip["trip_id"]),
            key=lambda row: int(row["stop_sequence"]),
        )
        lengths = np.abs(np.diff([math.radians(place[row["stop_id"]]) for row in rows])) * RADIUS
        arrive = [seconds(row["arrival_time"]) if row["arrival_time"] else math.nan for row in rows]
        depart = [seconds(row["departure_time"]) if row["departure_time"] else math.nan for row in rows]
        share = lengths[1] / (lengths[1] + lengths[2])
        arrive[2] = depart[2] = depart[1] + share * (arrive[3] - depart[1])
        starts = [depart[0]]
        for row in whole["frequencies"]:
            if row["trip_id"] == trip["trip_id"]:
                first, last, gap = seconds(row["start_time"]), seconds(row["end_time"]), float(row["headway_secs"])
                starts = [first + gap * number for number in range(math.ceil((last - first) / gap))]
        for start in starts:
            arrivals.append([time - depart[0] + start for time in arrive])
            departures.append([time - depart[0] + start for time in depart])
    order = sorted(range(len(departures)), key=lambda trip: departures[trip][0])
    return [arrivals[trip] for trip in order], [departures[trip] for trip in order], lengths


def link_times(changed: dict[str, str | None], way: int, start: float, hours: int) -> Array:
    """(links, hours) mean s from departure to departure, to the arrival on the last link, of trips that leave the
    link's beginning in the hour, or else in the nearest hour that has any."""
    arrivals, departures, lengths = timetable(changed, way)
    found = np.empty((len(lengths), hours))
    for link in range(len(lengths)):
        taken: dict[int, list[float]] = {}
        for arrive, depart in zip(arrivals, departures, strict=True):
            end = arrive[link + 1] if link == len(lengths) - 1 else depart[link + 1]
            taken.setdefault(min(int((depart[link] - start) // 3600.0), hours - 1), []).append(end - depart[link])
        for hour in range(hours):
            nearest = min(taken, key=lambda other: (abs(other - hour), other))
            found[link, hour] = np.mean(taken[nearest])
    return found


def default_demand(lengths: int, launches: list[Array], hours: int, capacity: int, per_trip: float | None) -> Array:
    """exp(−|links − 4|/4) of each pair: a trip has 80 passengers, or fills 0.6 of the places, or has what is given."""
    count = lengths + 1
    table = np.zeros((hours, count, count))
    for way, left in enumerate(launches):
        weight = {(i, j): math.exp(-abs(j - i - 4) / 4.0) for i in range(count) for j in range(i + 1, count)}
        busiest = max(sum(x for (i, j), x in weight.items() if i <= link < j) for link in range(lengths))
        fits = min(80.0, 0.6 * capacity * sum(weight.values()) / busiest)
        a_trip = fits if per_trip is None else per_trip
        trips = np.bincount((left // 3600.0).astype(int), minlength=hours)
        for (i, j), x in weight.items():
            pair = (i, j) if way == 0 else (lengths - i, lengths - j)
            table[:, pair[0], pair[1]] = x / sum(weight.values()) * a_trip * trips
    return table


CASES: dict[str, tuple[float, Given]] = {
    "as it is": (1.0, {}),
    "slow": (2.6, {}),
    "fast": (0.6, {"per_trip": 8.0}),
    "swapped": (1.0, {"directions": (1, 0)}),
    "all options": (
        1.0,
        {"headway": 777.0, "holding_limit": 45.0, "speed_deviation": 0.75, "vehicle": Vehicle(capacity=9)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_field_is_what_the_feed_says(case: str, tmp_path: Path) -> None:
    factor, given = CASES[case]
    changed = feed_tables(factor)
    corridor = gtfs_corridor(write(tmp_path / "feed.zip", **changed), "7", DATE, **given)
    order = given.get("directions", (0, 1))
    both = [timetable(changed, way) for way in order]
    first = min(departures[0][0] for _, departures, _ in both)
    start = 3600.0 * (first // 3600.0)
    hours = math.ceil((max(arrive[-1] for arrivals, _, _ in both for arrive in arrivals) - start) / 3600.0)
    launches = [np.array([trip[0] for trip in departures]) - start for _, departures, _ in both]
    times = [link_times(changed, way, start, hours) for way in order]
    plain = np.concatenate([lengths[:, None] / time for (_, _, lengths), time in zip(both, times, strict=True)])
    names = tuple(f"Stop {i}" for i in range(5))
    names = names if order == (0, 1) else names[::-1]
    vehicle = given.get("vehicle", Vehicle())
    slow, fast = float(plain.min()), float(plain.max())
    assert {"slow": slow < 4.0, "fast": fast > 7.5}.get(case, slow >= 4.0 and fast <= 7.5), "the case is another one"
    wanted: dict[str, Any] = {
        "name": f"GTFS route 7 on {DATE}",
        "stops": names,
        "up": {
            "stops": names,
            "length": both[0][2],
            "launches": launches[0],
            "deviation": None,
            "first": None,
            "last": None,
        },
        "down": {
            "stops": names[::-1],
            "length": both[1][2],
            "launches": launches[1],
            "deviation": None,
            "first": None,
            "last": None,
        },
        "demand": default_demand(4, launches, hours, vehicle.capacity, given.get("per_trip")),
        "headway": given.get("headway", float(np.median(np.concatenate([np.diff(left) for left in launches])))),
        "holding_limit": given.get("holding_limit", 60.0),
        "vehicle": vehicle,
        "speed_deviation": given.get("speed_deviation", 1.5),
        "speed_floor": max(1.0, min(2.0, slow / 2)),
        "speed_interval": 300.0,
        "demand_interval": 20.0,
        "service_start": start,
        "operations": Operations(),
        "traffic": Traffic(),
    }
    for field in dataclasses.fields(Corridor):
        found = getattr(corridor, field.name)
        if field.name == "speed_ceiling":
            # room to draw the mean speeds that the timetable's times ask for
            assert found >= max(15.0, 2.0 * fast)
            assert found <= max(15.0, 2.0 * fast, 1.3 * 1.1 * max(way.speed.max() for way in corridor.directions))
        elif field.name in ("up", "down"):
            for part in dataclasses.fields(Direction):
                if part.name != "speed":
                    same(f"{field.name}.{part.name}", getattr(found, part.name), wanted[field.name][part.name])
        else:
            same(field.name, found, wanted[field.name])
    check_speeds(corridor, times)


def same(name: str, found: Any, wanted: Any) -> None:
    """Equal, and numbers to eight digits."""
    if isinstance(wanted, np.ndarray | float):
        assert found == pytest.approx(wanted, rel=1e-8, abs=1e-12), name
    else:
        assert found == wanted, name


def check_speeds(corridor: Corridor, times: list[Array]) -> None:
    """A link's mean running time and the mean dwell at its end make its time: a speed is what its time asks for."""
    layout = lay_out(corridor)
    running = running_times(layout.line, layout.chances)
    headway = headways(corridor)
    dwell = dwell_times(layout.line, layout.chances, headway)
    for index, wanted in enumerate(times):
        stand = dwell[index, 1:].copy()
        stand[-1] = 0.0
        stand[0] += corridor.vehicle.boarding_time * layout.chances.rate[index, 0] * headway[index, 0]
        # 0.3 of a link's time is left for running in any case
        assert running[index] == pytest.approx(np.maximum(wanted - stand, 0.3 * wanted), rel=0.01, abs=0)


def test_a_long_stand_before_a_stop_without_a_time(tmp_path: Path) -> None:
    """The bus drives on when it has left: stops without times lie between its departure and its next arrival."""
    text = tables()["stop_times"]
    for number in range(6):
        start = 22 * 3600 + 1500 * number
        old = f"T0{number},{clock(start + 90)},{clock(start + 90)}"
        assert old in text
        text = text.replace(old, f"T0{number},{clock(start + 90)},{clock(start + 240)}")
    feed = write(tmp_path / "feed.zip", stop_times=text, frequencies=None)
    with pytest.warns(UserWarning, match="no allowed speed takes"):
        corridor = gtfs_corridor(feed, "7", DATE)
    # 30 s for two links of 556 m, 15 s each: the third and fourth are as fast, however long the bus stood before
    fast = corridor.up.speed[1:3]
    assert fast == pytest.approx(np.full(fast.shape, fast[0, 0]), rel=0.35, abs=0)
    assert fast.min() > 20.0
