"""Faults of the corridor."""

from __future__ import annotations

from property_tests.mutant import Mutant


def corridor(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of the corridor."""
    return Mutant(f"corridor: {name}", file, old, new, tests, "envs/bus")


OBJECTIVES, OPERATIONS, GTFS = "test_corridor_objectives", "test_corridor_operations", "test_corridor_gtfs"
TUNING = "test_corridor_tuning"
AVL, VALIDATION, BLOCKING = "test_corridor_avl", "test_corridor_validation", "test_corridor_blocking"
SHORT = "test_corridor_short_turns"

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
        "dispatch.py",
        "    ready = day.times[bus, at.SINCE] + line.layover if bus >= 0 else np.inf\n",
        "    ready = day.times[bus, at.SINCE] if bus >= 0 else np.inf\n",
        OPERATIONS,
    ),
    corridor(
        "doors close at the end of dwell",
        "kernel.py",
        "        board_more(line, day, bus, leave, True)\n",
        "        board_more(line, day, bus, leave - held, True)\n",
        OPERATIONS,
    ),
    corridor(
        "closed doors let board during a hold",
        "kernel.py",
        "    if line.open_doors and not line.closed_holds and visit",
        "    if line.open_doors and visit",
        OPERATIONS,
    ),
    corridor(
        "the schedule rule forgets its slack along the line",
        "rules.py",
        "p[1] * (x[at.LATE] - p[0] * (made - 1))",
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
    corridor(
        "the traffic's factor has a mean above 1",
        "day.py",
        "shift = 0.5 * (chances.day_spread**2 + chances.local_spread**2)",
        "shift = 0.0",
        AVL,
    ),
    corridor(
        "traffic is forgotten from interval to interval",
        "day.py",
        "fresh, old = math.sqrt(1.0 - chances.persistence**2), chances.persistence",
        "fresh, old = 1.0, 0.0",
        AVL,
    ),
    corridor(
        "a link's own spread is taken for all of it",
        "avl/calibration.py",
        "own = [np.maximum((1.0 + _variances(of, corridor.hours)) / (1.0 + shared) - 1.0, 0.0) for of in (seen, mine)]",
        "own = [_variances(of, corridor.hours) for of in (mine, mine)]",
        AVL,
    ),
    corridor(
        "the mean lateness is that of all trips",
        "avl/calibration.py",
        "mean = min(float(noticed.mean()) - NOTICED, 3600.0)",
        "mean = min(float(late.mean()), 3600.0)",
        AVL,
    ),
    corridor(
        "predictions do not see beyond the follower",
        "predictions.py",
        "LOOK_AHEAD = 5",
        "LOOK_AHEAD = 1",
        VALIDATION,
    ),
    corridor(
        "a prediction forgets how late the trip is",
        "predictions.py",
        "return float(max(leaves + line.departures[trip, place] - line.departures[trip, came], now))",
        "return float(max(line.departures[trip, place], now))",
        VALIDATION,
    ),
    corridor(
        "forward-headway control with half its gain",
        "rules.py",
        "holding = p[0] + (p[1] + x[at.PRESSURE]) * (headway - x[at.SPACING])",
        "holding = p[0] + 0.5 * (p[1] + x[at.PRESSURE]) * (headway - x[at.SPACING])",
        VALIDATION,
    ),
    corridor(
        "a held bus has left its berth",
        "blocking.py",
        "        if day.buses[other, at.MOVING] == 0 or leaves > time:\n",
        "        if day.buses[other, at.MOVING] == 0:\n",
        BLOCKING,
    ),
    corridor(
        "a bus overtakes its leader at a stop",
        "blocking.py",
        "    return float(max(leaves + INSTANT, time))\n",
        "    return time\n",
        BLOCKING,
    ),
    corridor(
        "who gave up boards all the same",
        "boarding.py",
        "    return not gave_up(line, day, passenger, time)\n",
        "    return True\n",
        BLOCKING,
    ),
    corridor(
        "who comes while a full bus stands boards another before that",
        "boarding.py",
        "    while tail > day.queues[queue, HEAD] and day.passengers[tail - 1, CREATED] > time:\n        tail -= 1\n",
        "",
        "test_corridor_operations",
    ),
    corridor(
        "advised seconds are driven and stood",
        "kernel.py",
        "    held -= slower\n",
        "",
        BLOCKING,
    ),
    corridor(
        "both directions have the noise of one",
        "day.py",
        "noise = normal(seed, epoch, direction * links + link)",
        "noise = normal(seed, epoch, link)",
        "test_corridor_independence",
    ),
    corridor(
        "traffic is a link's own noise",
        "day.py",
        "noise = normal(seed, epoch, (2 + direction) * links + link)",
        "noise = normal(seed, epoch, direction * links + link)",
        "test_corridor_independence",
    ),
    corridor(
        "a bus drives to a stop without a time before it leaves",
        "gtfs_patterns.py",
        "[depart[before], arrive[after]]",
        "[arrive[before], arrive[after]]",
        "test_corridor_gtfs_fields",
    ),
    corridor(
        "half a headway counts as bunched",
        "metrics.py",
        "bunching=_mean(np.minimum(forward, backward) < 0.5 * line.headway)",
        "bunching=_mean(np.minimum(forward, backward) <= 0.5 * line.headway)",
        "test_corridor_ties",
    ),
    corridor(
        "who is left at a stop by a short turn has left the queue",
        "boarding.py",
        "    head, end = day.queues[queue, HEAD], line.schedule.shape[1]\n",
        "    head, end = passenger, line.schedule.shape[1]\n",
        SHORT,
    ),
    corridor(
        "a trip that begins midway keeps the timetable's place",
        "order.py",
        "day.trips[leader, at.CAME] < max(line.plan[leader, FIRST], line.plan[trip, FIRST])",
        "day.trips[leader, at.CAME] < 0",
        SHORT,
    ),
    corridor(
        "a bus that drives on empty is free at once",
        "kernel.py",
        "        day.times[bus, at.SINCE] = time + line.plan[trip, FROM_LAST]\n",
        "        day.times[bus, at.SINCE] = time\n",
        SHORT,
    ),
    corridor(
        "a bus comes to a stop midway in no time",
        "dispatch.py",
        "        comes = day.times[other, at.SINCE] + line.layover + line.plan[trip, TO_FIRST] if",
        "        comes = day.times[other, at.SINCE] + line.layover if",
        SHORT,
    ),
    corridor(
        "the follower's headway is to whatever bus it follows",
        "headways.py",
        "        if day.order[follower, came, BEFORE] != trip and line.short:\n",
        "        if False:\n",
        SHORT,
    ),
    corridor(
        "slack counts from the line's first stop",
        "rules.py",
        "            made = place - line.plan[trip, FIRST]\n",
        "            made = place\n",
        SHORT,
    ),
    corridor(
        "short turns bring the passengers of the whole line",
        "demand.py",
        "            part = slice(first, last + 1)\n",
        "            part = slice(None)\n",
        SHORT,
    ),
)
