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
from pyresac.envs.bus import rendering
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.environment import action_space, observation_space, to_seconds
from pyresac.envs.bus.episodes import Episodes, Form, Transitions
from pyresac.envs.bus.metrics import METRICS, day_metrics
from pyresac.envs.bus.simulator import LARGEST_SEED, checked_seed
from pyresac.errors import InputError

METADATA: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, **rendering.METADATA}


class Infos(dict[str, Any]):
    """A step's infos. `infos["transitions"]` is answered but is no item: Gymnasium's wrappers expect an entry a day of
    each item, and a step completes any number of transitions."""

    def __init__(self, transitions: Transitions) -> None:
        super().__init__()
        self.transitions = transitions

    def __missing__(self, key: str) -> Transitions:
        if key != "transitions":
            raise KeyError(key)
        return self.transitions


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
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        self.render_mode = rendering.checked_mode(render_mode)
        if max_episode_steps is not None and not (
            isinstance(max_episode_steps, int | np.integer)
            and not isinstance(max_episode_steps, bool)
            and max_episode_steps >= 1
        ):
            raise InputError(f"max_episode_steps is {max_episode_steps!r}; it must be an integer of at least 1")
        self._limit = max_episode_steps
        self.episodes = Episodes(corridor, num_envs, observation, published, objective)
        self.num_envs = num_envs
        self._steps = np.zeros(num_envs, dtype=np.int64)
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
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a day in each environment: of seed, seed + 1, …, of the seeds given, or the next ones (None).

        options: {"reset_mask": (num_envs,) bool} leaves the other days as they are.
        """
        rows = self._chosen(options)
        seeds = self._seeds(seed)
        fresh = self.episodes.episode < 0
        if (fresh & (seeds < 0)).any():
            random = np.random.default_rng().integers(LARGEST_SEED, size=self.num_envs)
            seeds = np.where(fresh & (seeds < 0), random, seeds)
        for mine in (rows[seeds[rows] >= 0], rows[seeds[rows] < 0]):
            if mine.size:
                self.episodes.begin(mine, seeds[mine].tolist() if seeds[mine[0]] >= 0 else None)
        self._steps[rows] = 0
        return self._observation(), Infos(self.episodes.collect())

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One decision in each day; days that had ended begin anew instead."""
        if (self.episodes.episode < 0).any():
            raise InputError("step called before reset; call reset")
        seconds = to_seconds(actions, self.num_envs, self.episodes, self.unit_actions)
        pending = (self.episodes.simulator.pending == 1) & ~self._cut()
        going, ended = np.flatnonzero(pending), np.flatnonzero(~pending)
        if going.size:
            self.episodes.act(seconds[going], going)
        if ended.size:
            self.episodes.begin(ended, None)
        self._steps[going] += 1
        self._steps[ended] = 0
        terminated = self.episodes.simulator.pending == 0
        infos = Infos(self.episodes.collect())
        if terminated.any():
            infos |= self._metrics(terminated)
        return self._observation(), self.episodes.rewards(), terminated, self._cut() & ~terminated, infos

    def render(self) -> Any:
        """With render_mode="rgb_array" a picture of each day so far, (height, width, 3) uint8."""
        if self.render_mode is None:
            return None
        if (self.episodes.episode < 0).any():
            raise InputError("render called before reset; call reset")
        return tuple(rendering.time_space_pixels(self.episodes.simulator.record(row)) for row in range(self.num_envs))

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on exactly, as named arrays."""
        state = self.episodes.get_state()
        return state if self._limit is None else state | {"steps": self._steps.copy()}

    def set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from `get_state` of a vector environment made with the same arguments."""
        if self._limit is not None:
            arrays = dict(arrays)
            steps = arrays.pop("steps", None)
            if not isinstance(steps, np.ndarray) or steps.shape != self._steps.shape:
                raise InputError(f"the state has no array steps of {self.num_envs} numbers")
            self._steps = steps.copy()
        self.episodes.set_state(arrays)

    def _cut(self) -> NDArray[np.bool_]:
        """(num_envs,) days whose steps are used up."""
        return np.zeros(self.num_envs, dtype=bool) if self._limit is None else self._steps >= self._limit

    def _chosen(self, options: dict[str, Any] | None) -> NDArray[np.int64]:
        """Rows that a reset's options choose."""
        if not options or "reset_mask" not in options:
            return np.arange(self.num_envs)
        mask = np.asarray(options["reset_mask"])
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise InputError(f"reset_mask is {options['reset_mask']!r}; expected {self.num_envs} booleans, one true")
        if (self.episodes.episode[~mask] < 0).any():
            raise InputError("reset_mask leaves out days that have never begun; reset all of them first")
        return np.flatnonzero(mask)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> NDArray[np.int64]:
        """(num_envs,) seeds, −1 for None."""
        if seed is None:
            return np.full(self.num_envs, -1, dtype=np.int64)
        if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
            first = checked_seed(seed)
            checked_seed(first + self.num_envs - 1)
            return first + np.arange(self.num_envs)
        if not isinstance(seed, Sequence | np.ndarray) or len(seed) != self.num_envs:
            raise InputError(f"seed is {seed!r}; it must be an integer, or {self.num_envs} integers or Nones")
        return np.array([-1 if one is None else checked_seed(one) for one in seed], dtype=np.int64)

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
