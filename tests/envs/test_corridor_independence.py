"""Nothing that a day draws has to do with anything else that it draws, along any axis, nor with another day."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from independence import assert_apart, assert_apart_along_every_axis
from numpy.typing import NDArray

from pyresac.envs.bus import Corridor, NoHolding, Operations, RandomHolding, Simulator
from pyresac.envs.bus import state as at
from pyresac.envs.bus.boarding import gave_up
from pyresac.envs.bus.day import CREATED, DESTINED, START
from pyresac.envs.bus.episodes import day_seed
from pyresac.envs.bus.operations import LONGEST_LATE
from pyresac.envs.bus.traffic import Traffic

DAYS = 400
EPOCHS = 6
Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def busy(small: Corridor) -> Corridor:
    """At least 20 passengers, in the mean, at every stop but the last two in each of the six draws of an hour."""
    demand = 60.0 * (small.demand > 0.0)
    return replace(small, demand=demand, demand_interval=600.0, speed_deviation=1.0)


def speeds_of(corridor: Corridor, published: bool = False) -> Floats:
    """(N, E, 2, L) of the first intervals."""
    simulator, found = Simulator(corridor, published=published), []
    for seed in range(DAYS):
        simulator.start([seed])
        found.append(simulator.state.speeds[0, :EPOCHS].copy())
    return np.array(found)


@pytest.fixture(scope="module")
def draws(busy: Corridor) -> dict[str, Floats]:
    """(N, …) each, of the same N days: what every stream of random numbers decided."""
    late = Operations(late_share=1.0, late_mean=30.0)
    corridor = replace(busy, operations=replace(late, patience=600.0))
    simulator, found = Simulator(corridor), dict[str, list[Floats]]()
    interval, seldom = corridor.demand_interval, replace(late, late_share=0.5)
    mixed = Simulator(replace(busy, operations=seldom))
    for seed in range(DAYS):
        simulator.start([seed])
        simulator.run(RandomHolding())
        day = {name: part[0] for name, part in simulator.state._asdict().items()}
        number = (day["passengers"][: day["queues"][-1, START], CREATED] / interval).astype(int)
        counts, goals, patient = [], [], []
        for queue in (0, 1, 2, 5, 6, 7):
            start, end = day["queues"][queue : queue + 2, START]
            for draw in range(EPOCHS):
                mine = start + np.flatnonzero(number[start:end] == draw)
                counts.append(len(mine))
                # the last stop but one of a direction has a single destination
                if queue not in (3, 8):
                    goals.append(day["bound"][mine[:2], DESTINED])
        first = Simulator.record(simulator)
        for passenger in range(20):
            late_by = 600.0 * np.log(2.0) + first.passengers[passenger, CREATED]
            patient.append(gave_up(simulator.layout.line, _one(simulator), passenger, late_by))
        mixed.start([seed])
        mixed.run(NoHolding())
        launch = simulator.layout.line.schedule[:, 0]
        parts = {
            "speed": day["speeds"][:EPOCHS],
            "arrivals": np.array(counts).reshape(6, EPOCHS),
            "destinations": np.array(goals).reshape(6, EPOCHS, 2),
            "lateness": day["visits"][:, 0, at.ARRIVED] - launch,
            "patience": np.array(patient),
            "holding": day["visits"][2:, 1:4, at.ACTION],
            "late or not": mixed.state.visits[0, :, 0, at.ARRIVED] > launch,
        }
        for name, part in parts.items():
            found.setdefault(name, []).append(np.array(part, dtype=float))
    return {name: np.array(part) for name, part in found.items()}


def _one(simulator: Simulator) -> at.State:
    """The views of its only day."""
    return at.State(*(part[0] for part in simulator.state))


@pytest.mark.parametrize("name", ["speed", "lateness", "holding"])
def test_numbers_of_one_stream_are_apart_along_every_axis(name: str, draws: dict[str, Floats]) -> None:
    """Days, speed intervals, directions, links; trips; stops."""
    values = draws[name]
    if name == "lateness":
        # a few in a hundred thousand are as late as can be
        values = np.where(values < LONGEST_LATE * 30.0, values, values + np.arange(values.size).reshape(values.shape))
    assert_apart_along_every_axis(values)


def test_streams_are_apart(draws: dict[str, Floats]) -> None:
    """All columns of all streams at once."""
    names = [f"{name} {place}" for name, part in draws.items() for place in np.ndindex(part.shape[1:])]
    assert_apart(np.concatenate([part.reshape(DAYS, -1) for part in draws.values()], axis=1), names)


def test_who_is_late_does_not_say_how_late(draws: dict[str, Floats]) -> None:
    """An exponential lateness has its mean, whichever trips are late: within five standard errors."""
    lateness = draws["lateness"][draws["late or not"] > 0.0]
    assert lateness.mean() == pytest.approx(30.0, abs=5 * 30.0 / np.sqrt(lateness.size))
    assert draws["late or not"].mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(draws["late or not"].size))


def test_traffic_is_apart_from_the_links_own_draws(busy: Corridor) -> None:
    """The own draws, the factor that links share with no correlation at all, and the day's factor."""
    still = replace(busy, speed_deviation=0.0)
    own = speeds_of(busy).reshape(DAYS, -1)
    local = np.log(speeds_of(replace(still, traffic=Traffic(local=0.1))))
    day = np.log(speeds_of(replace(still, traffic=Traffic(day=0.1))))
    assert_apart_along_every_axis(local)
    assert np.ptp(day.reshape(DAYS, -1), axis=1).max() < 1e-12, "one factor a day"
    assert_apart(np.concatenate([own, local.reshape(DAYS, -1), day[:, 0, 0, :1]], axis=1))


def test_published_speeds_are_apart(busy: Corridor) -> None:
    assert_apart(speeds_of(busy, published=True).reshape(DAYS, -1))


def test_seeds_of_episodes_are_apart() -> None:
    """Of environments and of their episodes: all different, and every bit of one says nothing about another's."""
    seeds = np.array([[day_seed(base, episode) for episode in range(6)] for base in range(DAYS)])
    assert len(np.unique(seeds)) == seeds.size
    # the first episode's seed is the environment's own
    bits = (seeds[:, 1:, None] >> np.arange(0, 63, 7)) & 1
    assert_apart(bits.reshape(DAYS, -1))
