"""What the literature says of holding, checked on the simulator: each row of docs/corridor-validation.md."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyresac.envs.bus import (
    Corridor,
    Direction,
    ForwardHeadway,
    NoHolding,
    Operations,
    SimpleRobust,
    Simulator,
    controller_named,
    default_corridor,
    disturbed_corridor,
    metrics_table,
    simulate,
    simulate_days,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.controllers import Rule
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.line import AFTER, DIRECTION

STOPS, TRIPS, HEADWAY = 21, 60, 360.0
DAYS = 160


def homogeneous() -> Corridor:
    """Equal links, no passengers, independent draws of every link and trip, holds that the limit never cuts."""
    stops = tuple(f"stop {index}" for index in range(STOPS))
    launches = HEADWAY * np.arange(TRIPS)

    def way(names: tuple[str, ...]) -> Direction:
        return Direction(names, np.full(STOPS - 1, 400.0), np.full((STOPS - 1, 8), 8.0), launches)

    return Corridor(
        "homogeneous",
        stops,
        way(stops),
        way(stops[::-1]),
        np.zeros((8, STOPS, STOPS)),
        headway=HEADWAY,
        holding_limit=600.0,
        speed_deviation=0.3,
        speed_interval=30.0,
    )


def visits_under(rule: Rule) -> Array:
    """(DAYS, TRIPS, STOPS, columns) of the up direction."""
    records = simulate_days(homogeneous(), rule, range(DAYS))
    return np.stack([record.visits[record.layout.line.plan[:, DIRECTION] == 0] for record in records])


def link_noise(visits: Array) -> float:
    """Standard deviation of a running time, s."""
    leave = visits[:, :, :-1, at.ARRIVED] + visits[:, :, :-1, at.DWELL] + visits[:, :, :-1, at.HELD]
    return float((visits[:, :, 1:, at.ARRIVED] - leave).std())


def daganzo(gain: float) -> Array:
    """(STOPS − 1,) sd of the headway at each stop but the first, over the sd of a running time.

    h_{n,s+1} = (1 − α)·h_{n,s} + α·h_{n−1,s} + ν_n − ν_{n−1}: a link's noise enters with the coefficients (1, −1),
    which each later stop convolves with (1 − α, α); links are independent.
    """
    coefficients, total, found = np.array([1.0, -1.0]), 0.0, []
    for _ in range(STOPS - 1):
        total += float(np.square(coefficients).sum())
        found.append(total)
        coefficients = np.convolve(coefficients, [1.0 - gain, gain])
    return np.sqrt(found)


@pytest.mark.parametrize("gain", [0.2, 0.5, 0.8])
def test_daganzo_s_headways_at_every_stop(gain: float) -> None:
    """Of the trips that no boundary reaches: what the first trip, which has no leader and is not held, does wrong moves
    on by a trip at most a stop, so at stop s the trips from s on are free of it."""
    visits = visits_under(ForwardHeadway(slack=200.0, gain=gain))
    spacing, limit = visits[:, STOPS:, 1:, at.SPACING], link_noise(visits) * daganzo(gain)
    assert (visits[:, STOPS:, 1:-1, at.HELD] > 0.0).all()
    assert spacing.std(axis=(0, 1)) == pytest.approx(limit, rel=0.05, abs=0)
    assert spacing.mean() == pytest.approx(HEADWAY, abs=0.1)


def test_why_a_large_gain_differs_at_the_last_stops() -> None:
    """The first trip's fault travels α trips a stop backwards. Until its follower has been launched it has no neighbour
    and is not held: that is at its first six stops, so from about the third on. At the last stops α = 0.8 has brought
    the fault to trip 12, α = 0.2 to trip 4; whoever leaves out ten trips sees the first and not the second."""
    reached = []
    for gain in (0.2, 0.8):
        visits = visits_under(ForwardHeadway(slack=200.0, gain=gain))
        off = np.abs(visits[:, :, 18, at.SPACING].mean(axis=0) - HEADWAY)
        reached.append(int(off.argmax()))
        assert off[STOPS:].max() < 1.0
        assert (off[10:STOPS].max() > 20.0) == (gain == 0.8)
    assert reached == pytest.approx([0.2 * (18 - 3), 0.8 * (18 - 3)], abs=1.5)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_xuan_s_headways_at_every_stop(memory: float) -> None:
    """Deviations from the schedule decay by f₀ a stop: ε_{s+1} = f₀·ε_s + ν, of independent trips."""
    visits = visits_under(SimpleRobust(slack=100.0, memory=memory))
    spacing = visits[:, 3:, 1:, at.SPACING]
    sums = np.cumsum(memory ** (2.0 * np.arange(STOPS - 1)))
    assert (visits[:, 3:, 1:-1, at.HELD] > 0.0).all()
    assert spacing.std(axis=(0, 1)) == pytest.approx(link_noise(visits) * np.sqrt(2.0 * sums), rel=0.05, abs=0)


def test_predictions_come_true_where_nothing_disturbs_them() -> None:
    """Uneven launches, no noise, nothing held: predicted ends of dwell are those that come, and the evening hold is the
    first slope of the least concave majorant."""
    line = replace(homogeneous(), speed_deviation=0.0)
    launches = line.up.launches + 150.0 * np.random.default_rng(3).random(TRIPS)
    record = simulate(replace(line, up=replace(line.up, launches=launches)), NoHolding(), 0)
    rows = record.visits[record.layout.line.plan[:, DIRECTION] == 0]
    ready = rows[:, :, at.ARRIVED] + rows[:, :, at.DWELL]
    for trip in range(1, TRIPS - 6):
        for place in (1, 10, 19):
            now, left = ready[trip, place], ready[trip - 1, place]
            assert rows[trip, place, at.BEHIND] == pytest.approx(ready[trip + 1, place] - now, abs=1e-6)
            slopes = [(ready[trip + k, place] - left) / (k + 1) for k in range(6)]
            assert rows[trip, place, at.EVENS] == pytest.approx(left + max(slopes) - now, abs=1e-6)


def test_a_late_trip_is_predicted_late() -> None:
    """Late dispatches, nothing else: from its launch on, a follower's readiness is foretold exactly."""
    line = replace(homogeneous(), speed_deviation=0.0, operations=Operations(late_share=0.6, late_mean=80.0))
    record = simulate(line, NoHolding(), 1)
    rows = record.visits[record.layout.line.plan[:, DIRECTION] == 0]
    ready = rows[:, :, at.ARRIVED] + rows[:, :, at.DWELL]
    seen = 0
    for trip in range(1, TRIPS - 1):
        for place in range(1, STOPS - 1):
            now = ready[trip, place]
            if np.isfinite(rows[trip, place, at.BEHIND]) and now > rows[trip + 1, 0, at.ARRIVED] + 1.0:
                assert rows[trip, place, at.BEHIND] == pytest.approx(max(ready[trip + 1, place] - now, 0.0), abs=1e-6)
                seen += 1
    assert seen > 300


def test_a_follower_that_has_come_to_the_stop_is_no_headway_behind() -> None:
    """Random holds let buses come to a stop where their leader still stands; nobody is predicted before now."""
    days = Simulator(default_corridor())
    days.start([3])
    beside, rng = 0, np.random.default_rng(0)
    for _ in range(2_500):
        state, bus = days.state, int(days.state.cursor[0, at.PENDING])
        trip, place = state.buses[0, bus, [at.TRIP, at.PLACE]]
        behind, follower = state.visits[0, trip, place, at.BEHIND], int(state.order[0, trip, place, AFTER])
        if follower < 0:
            assert behind == days.layout.line.headway
        elif state.trips[0, follower, at.CAME] >= place:
            assert behind == 0.0
            beside += 1
        else:
            assert behind >= 0.0
        days.step(60.0 * rng.random())
    assert beside > 0


def test_the_evening_hold_is_optimal() -> None:
    """Repeated along the trips with the true times, the rule makes the departures of least Σ headway²."""
    from scipy.optimize import minimize

    ready = np.cumsum(np.random.default_rng(5).uniform(50.0, 650.0, 6))
    departures, before = [], 0.0
    for first in range(6):
        before += max((ready[first + k] - before) / (k + 1) for k in range(6 - first))
        departures.append(before)

    def squares(times: Array) -> float:
        return float(np.square(np.diff(times, prepend=0.0)).sum() / 1e5)

    bounds = [(time, ready[-1]) for time in ready]
    best = minimize(squares, ready, bounds=bounds, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500})
    assert departures == pytest.approx(best.x.tolist(), abs=0.5)


def means(rule: str, corridor: Corridor, days: int = 16) -> dict[str, float]:
    table = metrics_table(simulate_days(corridor, controller_named(rule), range(days)))
    return {name: float(values.mean()) for name, values in table.items()}


def test_berrebi_s_ranking() -> None:
    """Prediction-based holding evens headways more than headway-based holding, for no more seconds of it."""
    line = disturbed_corridor()
    for mine, others in (
        ("predictive:share=0.5", ("headway", "forward:slack=0,gain=0.5", "target:slack=0,gain=0.6", "self:share=0.1")),
        ("predictive:share=1", ("forward:slack=20,gain=0.5",)),
    ):
        best = means(mine, line)
        for other in others:
            found = means(other, line)
            assert best["holding"] <= 1.02 * found["holding"], other
            assert best["headway_variation"] < 0.97 * found["headway_variation"], other
    # a schedule holds least where it holds, and leaves headways more uneven than predictions do for the same seconds
    schedule = means("schedule:slack=15,foresight=0", line)
    half = means("predictive:share=0.5", line)
    assert half["holding"] == pytest.approx(schedule["holding"], rel=0.08, abs=0)
    assert half["headway_variation"] < 0.97 * schedule["headway_variation"]


def test_cats_s_effect() -> None:
    """Even-headway holding by both neighbours: headways and waiting fall and passengers' time falls on bad days; more
    control points do more."""
    line = disturbed_corridor()
    few = replace(
        line,
        holding_limit=180.0,
        operations=replace(line.operations, control_stops=("Gasworks", "Museum", "Central", "Stadium")),
    )
    free, points, everywhere = means("none", line), means("headway", few), means("headway", line)
    for name in ("headway_variation", "wait"):
        assert everywhere[name] < 0.95 * points[name] < 0.95 * 0.95 * free[name]
    for held in (points, everywhere):
        assert held["weighted_journey"] < free["weighted_journey"] - 0.25
