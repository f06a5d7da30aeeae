"""Many days at once as a Gymnasium vector environment: every step is one decision in each day.

Autoreset is NEXT_STEP: the step after a day's end ignores that day's action and returns the first observation of its
next day with reward 0. `infos["transitions"]` holds what all days have completed in the step (`episodes.Transitions`,
`day` says whose), `infos["metrics"]` arrays of the metrics of days that ended, with `infos["_metrics"]` saying which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from pyresac.envs.bus import observation as seen
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.environment import action_space, observation_space, to_seconds
from pyresac.envs.bus.episodes import Episodes, Form
from pyresac.envs.bus.metrics import METRICS, day_metrics
from pyresac.envs.bus.simulator import LARGEST_SEED
from pyresac.errors import InputError

METADATA: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}


class VectorBusCorridor(VectorEnv[Any, Any, Any]):
    """`num_envs` days side by side; the other arguments are those of `BusCorridor`."""

    metadata = METADATA

    def __init__(
        self,
        num_envs: int = 1,
        corridor: Corridor | None = None,
        observation: Form = "paper",
        published: bool = False,
        unit_actions: bool = False,
        objective: str = "reward",
    ) -> None:
        self.episodes = Episodes(corridor, num_envs, observation, published, objective)
        self.num_envs = num_envs
        self.unit_actions = unit_actions
        self.single_observation_space = observation_space(self.episodes)
        self.single_action_space = action_space(self.episodes, unit_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        """(4,) numbers of categories: buses, stops, directions, periods."""
        return seen.cardinalities(self.episodes.layout)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a day in each environment: of seed, seed + 1, …, of the seeds given, or the next ones."""
        if seed is None and self.episodes.episode[0] < 0:
            seed = int(np.random.default_rng().integers(LARGEST_SEED - self.num_envs))
        seeds = None if seed is None else self._seeds(seed)
        self.episodes.begin(np.arange(self.num_envs), seeds)
        return self._observation(), {"transitions": self.episodes.collect()}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One decision in each day; days that had ended begin anew instead."""
        if (self.episodes.episode < 0).any():
            raise InputError("step called before reset; call reset")
        seconds = to_seconds(actions, self.num_envs, self.episodes.limit, self.unit_actions)
        pending = self.episodes.simulator.pending == 1
        going, ended = np.flatnonzero(pending), np.flatnonzero(~pending)
        if going.size:
            self.episodes.act(seconds[going], going)
        if ended.size:
            self.episodes.begin(ended, None)
        terminated = self.episodes.simulator.pending == 0
        infos: dict[str, Any] = {"transitions": self.episodes.collect()}
        if terminated.any():
            infos |= self._metrics(terminated)
        return self._observation(), self.episodes.rewards(), terminated, np.zeros(self.num_envs, dtype=bool), infos

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on exactly, as named arrays."""
        return self.episodes.get_state()

    def set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from `get_state` of a vector environment made with the same arguments."""
        self.episodes.set_state(arrays)

    def _seeds(self, seed: int | Sequence[int]) -> list[int]:
        if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
            return [int(seed) + index for index in range(self.num_envs)]
        if not isinstance(seed, Sequence | np.ndarray) or len(seed) != self.num_envs:
            raise InputError(f"seed is {seed!r}; it must be an integer, or {self.num_envs} of them")
        return list(seed)

    def _observation(self) -> Any:
        continuous, categorical = self.episodes.observe()
        return {"continuous": continuous, "categorical": categorical} if self.episodes.coded else continuous

    def _metrics(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        values = {name: np.full(self.num_envs, np.nan) for name in METRICS}
        for row in np.flatnonzero(ended):
            day = day_metrics(self.episodes.simulator.record(int(row)))
            for name in METRICS:
                values[name][row] = getattr(day, name)
        return {"metrics": values, "_metrics": ended.copy()}
