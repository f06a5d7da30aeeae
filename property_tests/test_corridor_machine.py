"""The corridor driven through its views is the simulator: resets, steps, saves and restores in any order.

Each day of a view has a model beside it: a simulator that was started with the day's seed and stepped through the same
holds, and nothing else. After every rule both have the same state, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pyresac.envs.bus import Corridor, Direction, Simulator
from pyresac.envs.bus.aec import BusCorridorAEC
from pyresac.envs.bus.environment import BusCorridor
from pyresac.envs.bus.episodes import Episodes, day_seed
from pyresac.envs.bus.vector import VectorBusCorridor

LIMIT = 60.0
seconds = st.floats(0.0, LIMIT, width=32)
several = st.lists(seconds, min_size=1, max_size=14)
"""A day has about ten decisions."""
seeds = st.integers(0, 2**62)
chosen = st.sampled_from(["single", "vector", "agents"])
restorable = st.sampled_from(["single", "vector"])
"""PettingZoo's view has no state to save."""


def line() -> Corridor:
    """Four stops and three trips a direction: a day of about ten decisions."""
    stops = ("a", "b", "c", "d")
    ways = [
        Direction(names, np.full(3, 400.0), np.full((3, 1), 8.0), 200.0 * np.arange(1, 4))
        for names in (stops, stops[::-1])
    ]
    return Corridor("small", stops, *ways, 40.0 * (1.0 - np.eye(4))[None], headway=200.0, holding_limit=LIMIT)


LINE = line()


class Day:
    """What a day of a view must be: its seed, and the holds since its start."""

    def __init__(self, seed: int) -> None:
        self.base, self.episode = seed, 0
        self.begin(seed)

    def begin(self, seed: int) -> None:
        self.seed, self.holds = seed, list[float]()
        self.simulator = Simulator(LINE)
        self.simulator.start([seed])

    def next(self) -> None:
        """The day after, as an environment goes on by itself."""
        self.episode += 1
        self.begin(int(day_seed(self.base, self.episode)))

    @property
    def ended(self) -> bool:
        return bool(self.simulator.pending[0] == 0)

    def hold(self, time: float) -> None:
        self.holds.append(time)
        self.simulator.step(time)

    def copy(self) -> Day:
        """The same day, played again from its seed."""
        other = Day(self.base)
        other.episode = self.episode
        other.begin(self.seed)
        for time in self.holds:
            other.hold(time)
        return other


def views() -> dict[str, Any]:
    return {"single": BusCorridor(LINE), "vector": VectorBusCorridor(2, LINE), "agents": BusCorridorAEC(LINE)}


class CorridorMachine(RuleBasedStateMachine):
    """The three views side by side."""

    @initialize(seed=seeds)
    def begin(self, seed: int) -> None:
        self.views = views()
        self.saved: dict[str, tuple[dict[str, Any], list[Day]]] = {}
        self.days: dict[str, list[Day]] = {}
        for name, view in self.views.items():
            view.reset(seed=seed)
            self.days[name] = [Day(seed + row) for row in range(2 if name == "vector" else 1)]

    @rule(name=chosen, seed=seeds)
    def reset_with_a_seed(self, name: str, seed: int) -> None:
        self.views[name].reset(seed=seed)
        self.days[name] = [Day(seed + row) for row in range(len(self.days[name]))]

    @rule(name=chosen)
    def reset_to_the_next_day(self, name: str) -> None:
        self.views[name].reset()
        for day in self.days[name]:
            day.next()

    @rule(row=st.integers(0, 1), seed=st.none() | seeds)
    def reset_one_day_of_two(self, row: int, seed: int | None) -> None:
        given = [None, None]
        given[row] = seed
        self.views["vector"].reset(seed=given, options={"reset_mask": np.arange(2) == row})
        if seed is None:
            self.days["vector"][row].next()
        else:
            self.days["vector"][row] = Day(seed)

    @rule(times=several)
    def step_alone(self, times: list[float]) -> None:
        (day,) = self.days["single"]
        for time in times:
            if day.ended:
                self.views["single"].reset()
                day.next()
            _, reward, ended, cut, _ = self.views["single"].step(np.array([time], dtype=np.float32))
            day.hold(time)
            assert (ended, cut) == (day.ended, False)
            assert np.isfinite(reward)

    @rule(times=several)
    def step_two(self, times: list[float]) -> None:
        """Different holds; a day that has ended begins anew, whatever is asked of it."""
        for pair in zip(times, times[::-1], strict=True):
            _, _, ended, cut, _ = self.views["vector"].step(np.array(pair, dtype=np.float32)[:, None])
            for day, time in zip(self.days["vector"], pair, strict=True):
                if day.ended:
                    day.next()
                else:
                    day.hold(time)
            assert ended.tolist() == [day.ended for day in self.days["vector"]]
            assert not cut.any()

    @rule(times=several)
    def step_an_agent(self, times: list[float]) -> None:
        (day,), view = self.days["agents"], self.views["agents"]
        for time in times:
            if day.ended:
                view.reset()
                day.next()
            view.step(np.array([time], dtype=np.float32))
            day.hold(time)

    @rule(name=restorable)
    def save(self, name: str) -> None:
        """All that is needed to go on; what happens later must not change it."""
        self.saved[name] = (self.views[name].get_state(), [day.copy() for day in self.days[name]])

    @precondition(lambda self: self.saved)
    @rule(data=st.data(), fresh=st.booleans())
    def restore(self, data: st.DataObject, fresh: bool) -> None:
        """Into the view that was saved, or into one that has never begun."""
        name = data.draw(st.sampled_from(sorted(self.saved)))
        if fresh:
            self.views[name] = views()[name]
        state, days = self.saved[name]
        self.views[name].set_state(state)
        self.days[name] = [day.copy() for day in days]

    def episodes(self, name: str) -> Episodes:
        found: Episodes = self.views[name].episodes
        return found

    @invariant()
    def every_day_is_the_simulators(self) -> None:
        for name, days in getattr(self, "days", {}).items():
            simulator = self.episodes(name).simulator
            for row, day in enumerate(days):
                mine, model = simulator.record(row), day.simulator.record()
                assert (mine.seed, mine.end, mine.fleet) == (model.seed, model.end, model.fleet)
                for part in ("visits", "buses", "passengers", "destination", "queue"):
                    np.testing.assert_array_equal(getattr(mine, part), getattr(model, part))
                assert simulator.pending[row] == day.simulator.pending[0]
                assert self.episodes(name).episode[row] == day.episode
                assert self.episodes(name).base[row] == day.base


TestCorridorMachine = CorridorMachine.TestCase
TestCorridorMachine.settings = settings(
    # not the search for what the failures have in common, which takes minutes
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
