"""Faults of the corridor."""

from __future__ import annotations

from property_tests.mutant import Mutant


def corridor(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of the corridor."""
    return Mutant(f"corridor: {name}", file, old, new, tests, "envs/bus")


OBJECTIVES, OPERATIONS, GTFS = "test_corridor_objectives", "test_corridor_operations", "test_corridor_gtfs"
TUNING = "test_corridor_tuning"

CORRIDOR = (
    corridor(
        "lateness of the arrival, not of the departure",
        "full_observation.py",
        "values[3] = x[at.LATE]",
        "values[3] = x[at.LATENESS]",
        OBJECTIVES,
    ),
    corridor(
        "passengers still at stops go free",
        "episodes.py",
        "self._due[row] += owed(state.passengers[row, :count], end)",
        "self._due[row] += 0.0 * owed(state.passengers[row, :count], end)",
        OBJECTIVES,
    ),
    corridor(
        "buses do not rest",
        "kernel.py",
        "day.times[bus, at.SINCE] + line.layover <= time",
        "day.times[bus, at.SINCE] <= time",
        OPERATIONS,
    ),
    corridor(
        "doors close at the end of dwell",
        "kernel.py",
        "        _board_more(line, day, bus, leave, True)\n",
        "        _board_more(line, day, bus, leave - held, True)\n",
        OPERATIONS,
    ),
    corridor(
        "the schedule rule forgets its slack along the line",
        "rules.py",
        "p[1] * (x[at.LATE] - p[0] * (place - 1))",
        "p[1] * x[at.LATE]",
        TUNING,
    ),
    corridor(
        "a short name before a route_id",
        "gtfs_feed.py",
        "    if (ids == route).any():\n        return route\n",
        "",
        GTFS,
    ),
    corridor(
        "a dwell at the last stop is in the trip",
        "timing.py",
        "        stand[-1] = 0.0\n",
        "",
        GTFS,
    ),
)
