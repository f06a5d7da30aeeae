"""A corridor from a GTFS feed, and one day on it: python examples/a_line_from_gtfs.py [FEED.zip ROUTE DATE]

Needs pip install 'pyresac[gtfs]'. Without arguments it writes a small feed of its own: five stops, a bus every ten
minutes in the evening.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

from pyresac.envs.bus import NoHolding, day_metrics, gtfs_corridor, simulate


def clock(seconds: int) -> str:
    """HH:MM:SS."""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def small_feed(path: Path) -> Path:
    """Five stops half a kilometre apart, 90 s a link."""
    trips, times, stops = ["route_id,service_id,trip_id,direction_id"], [], ["stop_id,stop_name,stop_lat,stop_lon"]
    for way in (0, 1):
        order = range(5) if way == 0 else range(4, -1, -1)
        stops += [f"{place}-{way},Stop {place},{50 + 0.005 * place},8.0" for place in range(5)]
        for number in range(12):
            trips.append(f"R1,D,{way}-{number},{way}")
            for row, place in enumerate(order):
                time = clock(18 * 3600 + 600 * number + 90 * row)
                times.append(f"{way}-{number},{time},{time},{place}-{way},{row + 1}")
    tables = {
        "agency": ["agency_id,agency_name,agency_url,agency_timezone", "A,A,http://example.org,UTC"],
        "routes": ["route_id,agency_id,route_short_name,route_long_name,route_type", "R1,A,7,Line,3"],
        "calendar_dates": ["service_id,date,exception_type", "D,20260105,1"],
        "trips": trips,
        "stop_times": ["trip_id,arrival_time,departure_time,stop_id,stop_sequence", *times],
        "stops": stops,
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, rows in tables.items():
            archive.writestr(f"{name}.txt", "\n".join(rows) + "\n")
    return path


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        feed, route, date = sys.argv[1:4] or (str(small_feed(Path(folder) / "feed.zip")), "7", "2026-01-05")
        corridor = gtfs_corridor(Path(feed), route, date)
    day = day_metrics(simulate(corridor, NoHolding(), seed=0))
    print(f"{corridor.name}: {len(corridor.stops)} stops, {corridor.trips} trips, a bus every {corridor.headway:.0f} s")
    print(f"a day: {day.wait:.1f} min of waiting, {day.travel:.1f} min of riding, {day.bunching:.1%} bunched")
