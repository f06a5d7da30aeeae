"""The bus corridor as a task: days side by side, same-bus transitions, the full observation or the paper's state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus import episodes
from pyresac.envs.bus.controllers import Controller
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.corridor_files import corridor_text
from pyresac.envs.bus.episodes import Form
from pyresac.envs.bus.full_observation import FEATURES
from pyresac.envs.bus.metrics import METRICS
from pyresac.envs.bus.objectives import objective_named
from pyresac.envs.bus.observation import CATEGORICAL, CONTINUOUS, Observation, scaling
from pyresac.errors import CheckpointError, InputError
from pyresac.tasks.corridor_days import CorridorDays
from pyresac.tasks.experience import Experience, Numbers
from pyresac.tasks.task import Codes, Played, PolicyFunction, code_offsets, play_in_blocks

EVALUATION_DAYS = 10_000
"""Seed of the first evaluation day; training days have hashed seeds far above."""
BLOCK = 64
"""Evaluation days in lockstep, at most."""


class CorridorTask:
    """Continuous features: those of `observation.scaling`, headways as their excess over the scheduled one; codes: bus,
    stop, direction, period."""

    reported: tuple[str, ...] = ("wait", "travel", "bunching")

    def __init__(
        self,
        corridor: Corridor,
        copies: int,
        seed: int,
        published: bool = False,
        form: Form = "paper",
        rule: Controller | None = None,
        objective: str = "reward",
    ) -> None:
        """form: which continuous numbers are seen. rule: what an action is added to, see `CorridorDays`. objective:
        what a day is worth, see `objective_named`."""
        self.corridor, self.copies, self.published = corridor, copies, published
        self._form, self._rule, self._objective = form, rule, objective
        self.worth = objective_named(objective)
        self._days = self._made(copies)
        self.title = f"{corridor.name}, {copies} days side by side"
        self.box = self._days.box
        self._centre, self._scale = scaling(self._days.layout, form)
        self.dense = len(self._scale)
        self._digest = hashlib.sha256(corridor_text(corridor).encode()).hexdigest()
        self.categories = tuple(int(count) for count in self._days.env.cardinalities)
        self._offsets = code_offsets(self.categories)
        # hashed, so that no day of training is one of evaluation
        words = np.random.SeedSequence([seed, 0]).generate_state(copies, np.uint64)
        self._observation = self._days.reset([int(word >> np.uint64(1)) for word in words])
        self._running = np.zeros(copies)
        self._finished: list[float] = []

    def _made(self, days: int) -> CorridorDays:
        return CorridorDays(self.corridor, days, self.published, self._form, self._rule, self._objective)

    def observe(self) -> tuple[Numbers, Codes]:
        """Features of the bus that must decide in each day."""
        return self._features(self._observation["continuous"], self._observation["categorical"])

    def step(self, unit: Numbers) -> Experience:
        """Hold one bus in each day; the transitions that this completes."""
        self._observation, reward, ended, infos = self._days.step(unit)
        self._running += reward
        if ended.any():
            self._finished += self._running[ended].tolist()
            self._running[ended] = 0.0
        return self._transitions(infos["transitions"], self._days)

    def finished(self) -> list[float]:
        """Rewards of the days that have ended since the last call."""
        found, self._finished = self._finished, []
        return found

    def play(self, policy: PolicyFunction, episodes: int, seed: int, discount: float) -> Played:
        """Days EVALUATION_DAYS + seed, … under a policy, BLOCK of them in lockstep."""
        return play_in_blocks(
            lambda first, count: self._play_block(policy, count, seed + first, discount), episodes, BLOCK
        )

    def _play_block(self, policy: PolicyFunction, episodes: int, seed: int, discount: float) -> Played:
        days = self._made(episodes)
        observation = days.reset(EVALUATION_DAYS + seed)
        metrics = {name: np.full(episodes, np.nan) for name in ("return", *METRICS)}
        going, completed = np.ones(episodes, dtype=bool), []
        while going.any():
            features = self._features(observation["continuous"], observation["categorical"])
            observation, _, ended, infos = days.step(policy(*features))
            completed.append(_of_days(infos["transitions"], going))
            for row in np.flatnonzero(ended & going):
                metrics["return"][row] = self.worth(days.record(int(row)))
                for name in METRICS:
                    metrics[name][row] = infos["metrics"][name][row]
            going &= ~ended
        return self._played(completed, metrics, discount, days)

    def state(self) -> dict[str, Any]:
        """Returns of the days under way, and which corridor they are on."""
        return {"running": self._running.tolist(), "finished": list(self._finished), "corridor": self._digest}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The days under way."""
        return self._days.arrays()

    def load(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from `state` and `arrays`. Raises CheckpointError for those of another corridor."""
        self.load_for_play(state)
        try:
            self._observation = self._days.load(dict(arrays))
        except InputError as error:
            raise CheckpointError(f"the checkpoint's corridor does not fit: {error}") from error
        self._running = np.array(state["running"])
        self._finished = list(state["finished"])

    def load_for_play(self, state: Mapping[str, Any]) -> None:
        """See `Task`: days of evaluation depend on the corridor alone. Raises CheckpointError for another one."""
        if state["corridor"] != self._digest:
            raise CheckpointError(
                f"the checkpoint's corridor is not the one that {self.corridor.name!r} names now: its file has changed"
            )

    def observed(self, observation: Observation) -> tuple[Numbers, Codes]:
        """Features of n decisions as a controller sees them, each field (n,).

        Raises InputError for a bus, stop or hour that this corridor does not have.
        """
        names = CONTINUOUS if self._form == "paper" else [feature.name for feature in FEATURES]
        rows = [getattr(observation, "place" if name == "stops_behind" else name) for name in names]
        codes = np.stack([getattr(observation, name) for name in CATEGORICAL], axis=1)
        for name, most, count in zip(CATEGORICAL, codes.max(axis=0), self.categories, strict=True):
            if most >= count:
                raise InputError(f"{name} {most} was met on another corridor than {self.corridor.name}, with {count}")
        episodes = self._days.env.episodes
        inside = np.clip(np.stack(rows, axis=1).astype(np.float32), episodes.low, episodes.high)
        return self._features(inside, codes)

    def holding(self, observation: Observation, unit: Numbers) -> NDArray[np.float64]:
        """(n,) seconds of unit actions (n, 1) at decisions that a controller sees."""
        return self._days.holding(observation, unit)

    def _features(self, continuous: Numbers, categorical: Codes) -> tuple[Numbers, Codes]:
        return (continuous - self._centre) / self._scale, categorical + self._offsets

    def _transitions(self, found: episodes.Transitions, days: CorridorDays) -> Experience:
        dense, codes = self._features(found.continuous, found.categorical)
        next_dense, next_codes = self._features(found.next_continuous, found.next_categorical)
        return Experience(days.units(found), dense, codes, found.reward, found.terminal, next_dense, next_codes)

    def _played(
        self, parts: list[episodes.Transitions], metrics: dict[str, Any], discount: float, days: CorridorDays
    ) -> Played:
        every = episodes.Transitions._make(np.concatenate(field) for field in zip(*parts, strict=True))
        found = self._transitions(every, days)
        return Played(
            metrics=metrics,
            dense=found.dense,
            codes=found.codes,
            action=found.action,
            discounted=_returns_to_go(every, discount),
        )


def _of_days(found: episodes.Transitions, going: NDArray[np.bool_]) -> episodes.Transitions:
    keep = going[found.day]
    return episodes.Transitions._make(field[keep] for field in found)


def _returns_to_go(found: episodes.Transitions, discount: float) -> NDArray[np.float64]:
    """(m,) G = r + γ·G′ along each trip, whose last decision's s′ is terminal."""
    result = np.zeros(len(found.reward))
    ahead = np.zeros((found.day.max() + 1, found.trip.max() + 1))
    for place in range(int(found.place.max()), -1, -1):
        here = np.flatnonzero(found.place == place)
        result[here] = found.reward[here] + discount * ahead[found.day[here], found.trip[here]]
        ahead[found.day[here], found.trip[here]] = result[here]
    return result
