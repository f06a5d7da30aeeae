"""Days of the corridor side by side, in which an action is the holding itself or what is added to a rule's holding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus import episodes
from pyresac.envs.bus.controllers import Controller
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.episodes import Form
from pyresac.envs.bus.observation import Observation, pending
from pyresac.envs.bus.record import Record
from pyresac.envs.bus.vector import VectorBusCorridor
from pyresac.errors import InputError
from pyresac.tasks.action_box import ActionBox
from pyresac.tasks.experience import Numbers


class CorridorDays:
    """`count` days. With a rule, a unit action u in [−1, 1] holds for clip(rule + u·H_max/2, 0, H_max) seconds;
    where stops may be passed, for clip(rule + u·H_max, −H_max, H_max)."""

    def __init__(
        self, corridor: Corridor, count: int, published: bool, form: Form, rule: Controller | None, objective: str
    ) -> None:
        self.env = VectorBusCorridor(count, corridor, form, published, objective=objective)
        self.layout = self.env.episodes.layout
        self.box = ActionBox.of(self.env.single_action_space, "the corridor")
        self._rule = rule
        _, trips, places, _ = self.env.episodes.simulator.state.visits.shape
        self._asked = np.zeros((count, trips, places) if rule is not None else (0, 0, 0), dtype=np.float32)
        """The unit action at each decision."""

    def reset(self, seed: int | Sequence[int]) -> Any:
        """Begin days of these seeds; the observation."""
        observation, _ = self.env.reset(seed=seed)
        return observation

    def step(self, unit: Numbers) -> tuple[Any, NDArray[Any], NDArray[np.bool_], dict[str, Any]]:
        """Act (count, 1): observation, rewards, which days have ended, and the environment's information."""
        observation, reward, ended, _, infos = self.env.step(self._seconds(unit))
        return observation, reward, ended, infos

    def _seconds(self, unit: Numbers) -> Numbers:
        if self._rule is None:
            return self.box.to_action(unit)
        base = np.zeros((len(unit), 1))
        # a day that has ended starts again in this step and reads no action
        rows = np.flatnonzero(self.env.episodes.simulator.pending == 1)
        if rows.size:
            state = self.env.episodes.simulator.state
            seen = pending(self.layout, state, rows)
            base[rows, 0] = self._rule(seen)
            self._asked[rows, seen.trip, seen.place] = unit[rows, 0]
        return self._on_top(base, unit)

    def _on_top(self, base: NDArray[np.float64], unit: Numbers) -> Numbers:
        """(n, 1) seconds of unit actions on top of a rule's."""
        return np.clip((base + self.box.half * unit).astype(np.float32), self.box.low, self.box.high)

    def units(self, found: episodes.Transitions) -> Numbers:
        """(m, 1) the transitions' actions in units. On top of a rule, what was asked, before the limits: critics are
        asked about it where the limits cut it, and must have learned there that more of it changes nothing."""
        if self._rule is None:
            return self.box.to_unit(found.action)
        return self._asked[found.day, found.trip, found.place][:, None]

    def holding(self, observation: Observation, unit: Numbers) -> NDArray[np.float64]:
        """(n,) seconds of unit actions (n, 1) at decisions that a controller sees."""
        if self._rule is None:
            seconds = self.box.to_action(unit)
        else:
            seconds = self._on_top(np.atleast_1d(self._rule(observation))[:, None], unit)
        least = self.env.episodes.least
        return np.asarray(np.clip(seconds[:, 0].astype(np.float64), least, observation.holding_limit))

    def record(self, row: int) -> Record:
        """All that happened on a day that has ended."""
        return self.env.episodes.simulator.record(row)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `load` needs."""
        own = {} if self._rule is None else {"rule.asked": self._asked.copy()}
        return {**self.env.get_state(), **own}

    def load(self, arrays: dict[str, NDArray[Any]]) -> Any:
        """Go on from `arrays`; the observation. Raises InputError if they do not fit."""
        given = dict(arrays)
        if self._rule is not None:
            asked = given.pop("rule.asked", np.empty(0))
            if asked.shape != self._asked.shape:
                raise InputError(f"the asked actions are {asked.shape}; expected {self._asked.shape}")
            self._asked = asked.copy()
        self.env.set_state(given)
        continuous, categorical = self.env.episodes.observe()
        return {"continuous": continuous, "categorical": categorical}
