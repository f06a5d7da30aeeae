"""A small feed: six departures a direction after 22:00, past midnight, one of them by frequency."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

DATE = "2026-01-05"
STOPS = [f"s{index}" for index in range(5)]
LINK = math.radians(0.005) * 6_371_008.8
"""m between stops 0.005° of latitude apart."""


def clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def tables() -> dict[str, str]:
    """Trips T0k and T1k leave at 22:00 + 25 min · k (down 5 min later), 90 s a link; the third stop has no times."""
    trips, times = (
        ["route_id,service_id,trip_id,direction_id"],
        ["trip_id,arrival_time,departure_time,stop_id,stop_sequence"],
    )
    for number in range(6):
        for way, side in enumerate("ab"):
            trips.append(f"R1,D,T{way}{number},{way}")
            start = 22 * 3600 + 1500 * number + 300 * way
            for place, stop in enumerate(STOPS if way == 0 else STOPS[::-1]):
                time = "" if place == 2 else clock(start + 90 * place)
                times.append(f"T{way}{number},{time},{time},{stop}{side},{place + 1}")
    stops = ["stop_id,stop_name,stop_lat,stop_lon,parent_station"]
    stops += [f"{stop}{side},Stop {i},{50 + 0.005 * i},8.0," for side in "ab" for i, stop in enumerate(STOPS)]
    lists = {
        "routes": ["route_id,agency_id,route_short_name,route_long_name,route_type", "R1,A,7,Line,3", "R2,A,8,Other,3"],
        "agency": ["agency_id,agency_name,agency_url,agency_timezone", "A,A,http://example.org,UTC"],
        "calendar_dates": ["service_id,date,exception_type", "D,20260105,1"],
        "frequencies": ["trip_id,start_time,end_time,headway_secs", "T00,22:00:00,22:30:00,600"],
        "trips": trips,
        "stop_times": times,
        "stops": stops,
    }
    return {name: "\n".join(rows) + "\n" for name, rows in lists.items()}


def write(path: Path, **changes: str | None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (tables() | changes).items():
            if text is not None:
                archive.writestr(f"{name}.txt", text)
    return path


def changed(name: str, old: str, new: str) -> dict[str, str | None]:
    text = tables()[name]
    assert old in text
    return {name: text.replace(old, new)}
