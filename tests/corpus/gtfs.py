"""Feeds that are wrong, or ask for a choice."""

from __future__ import annotations

from small_feed import changed, tables, write

from corpus.case import Case, Files


def feed(**changes: str | None) -> Files:
    """The small feed with other tables."""
    return {"feed.zip": lambda path: write(path, **changes)}


IMPORT = "corridor gtfs --feed feed.zip --out line.json --route 7 --date 2026-01-05"
TWO_ROUTES = {"routes": tables()["routes"].replace("R2,A,8", "R2,A,7")}
BY_ID = {
    "routes": tables()["routes"].replace("R1,A,7", "7,A,70").replace("R2,A,8", "R2,A,7"),
    "trips": tables()["trips"].replace("R1,", "7,") + "R2,D,X1,0\n",
}
ONCE_MORE = {"stops": tables()["stops"] + "s1a,Stop 1,50.005,8.0,\n"}
NO_DIRECTION = {"trips": tables()["trips"].replace(",0\n", ",\n").replace(",1\n", ",\n")}

CASES = [
    Case("feed", IMPORT, "5 stops, 14 trips, in line.json", 0, feed(), makes=("line.json",)),
    Case("blank stop_sequence", IMPORT, "stop_sequence is blank at stop 's1a'", 2,
         feed(**changed("stop_times", "s1a,2\nT00,,", "s1a,\nT00,,"))),
    Case("stop_sequence twice", IMPORT, "stop_sequence is 1 at stop 's1a', for the second time", 2,
         feed(**changed("stop_times", "s1a,2\nT00,,", "s1a,1\nT00,,"))),
    Case("two routes of one short name", IMPORT, "2 routes have the short name '7'; name one of the route_ids", 2,
         feed(**TWO_ROUTES)),
    Case("an exact route_id wins", IMPORT, "5 stops, 14 trips", 0, feed(**BY_ID)),
    Case("latitude 999", IMPORT, "stop 's1a': stop_lat is 999; expected −90 to 90 degrees", 2,
         feed(**changed("stops", "s1a,Stop 1,50.005", "s1a,Stop 1,999"))),
    Case("blank latitude", IMPORT, "stop 's1a': stop_lat is blank", 2,
         feed(**changed("stops", "s1a,Stop 1,50.005", "s1a,Stop 1,"))),
    Case("a stop at 0, 0", IMPORT, "m/s; expected at most 50 m/s", 2,
         feed(**changed("stops", "s1a,Stop 1,50.005,8.0", "s1a,Stop 1,0,0"))),
    Case("a stop's row twice", IMPORT, "stops ['s1a'] have more than one row; expected one each", 2, feed(**ONCE_MORE)),
    Case("no trip of that direction", IMPORT + " --directions 0 5",
         "no trip with direction_id 5 on that date; the route has 6 with 0, 6 with 1 then", 2, feed()),
    Case("direction_id blank", IMPORT, "direction_id is blank in all 12 trips of route '7' on 2026-01-05", 2,
         feed(**NO_DIRECTION)),
    Case("a day without service", IMPORT.replace("-05", "-06"), "no service on 2026-01-06; it runs from 2026-01-05",
         2, feed()),
    Case("a route that does not run", IMPORT.replace("--route 7", "--route R2"), "route 'R2' has no trip on",
         2, feed()),
    Case("an unknown route", IMPORT.replace("--route 7", "--route 99"), "corridor routes --feed feed.zip` lists them",
         2, feed()),
    Case("routes and dates of a feed", "corridor routes --feed feed.zip", "2026-01-05", 0, feed()),
    Case("too many passengers a trip", IMPORT + " --per-trip 200", "a bus's 50 places", 0, feed()),
    Case("demand that is no text", IMPORT + " --demand rates.csv", "rates.csv is not UTF-8 text: byte 0xFF at 0", 2,
         feed() | {"rates.csv": b"\xff\xfe"}),
    Case("an ending that is not .json", IMPORT.replace("line.json", "line.txt"), "expected a file ending in .json", 2,
         feed()),
]  # fmt: skip
CASES = [case.of("partridge") for case in CASES]
