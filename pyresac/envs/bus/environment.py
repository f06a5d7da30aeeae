"""The corridor as a Gymnasium environment: one step a decision, one episode a day.

Step reward: the reward that the bus now deciding has earned since its previous decision (0 at its trip's first one,
and when the day ends), so an episode's return is the paper's reward of the day. With `objective="passengers…"`: what
passengers and the operator have paid since the last step, so its return is that objective's value of the day. To
learn from, use `info["transitions"]` (`episodes.Transitions`): there each decision has its own bus's reward and
successor. `info["metrics"]` of the last step holds the day's metrics. Actions outside the box are clipped to it, NaN
and infinities are refused.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pyresac.envs.bus import observation as seen
from pyresac.envs.bus.corridor import Array, Corridor
from pyresac.envs.bus.episodes import Episodes, Form
from pyresac.envs.bus.metrics import day_metrics
from pyresac.envs.bus.rendering import METADATA, checked_mode, time_space_pixels
from pyresac.envs.bus.simulator import LARGEST_SEED, numbers
from pyresac.errors import InputError


def observation_space(episodes: Episodes) -> spaces.Space[Any]:
    """Dict(continuous Box (3,), categorical MultiDiscrete (4,)) for the paper's observation, the same with a Box (10,)
    for the full one, Box (7 + links,) for the published."""
    continuous = spaces.Box(episodes.low, episodes.high, dtype=np.float32)
    if not episodes.coded:
        return continuous
    return spaces.Dict(
        {"continuous": continuous, "categorical": spaces.MultiDiscrete(seen.cardinalities(episodes.layout))}
    )


def action_space(episodes: Episodes, unit_actions: bool) -> spaces.Box:
    """Box (1,): seconds in [0, H_max], from −H_max where stops may be passed, or [−1, 1] standing for them."""
    if unit_actions:
        return spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)
    return spaces.Box(episodes.least, episodes.limit, (1,), dtype=np.float32)


def to_seconds(actions: Any, count: int, episodes: Episodes, unit_actions: bool) -> Array:
    """(count,) seconds from actions of `action_space`."""
    try:
        array = numbers(actions)
    except ValueError as error:
        raise InputError(f"action is {actions!r}; it must be {count} numbers") from error
    if array.size != count:
        raise InputError(f"action has {array.size} entries; expected {count}")
    least, most = episodes.least, episodes.limit
    return least + 0.5 * (array + 1.0) * (most - least) if unit_actions else array


class BusCorridor(gymnasium.Env[Any, Any]):
    """`gymnasium.make("pyresac/BusCorridor-v0")`.

    corridor: the default one if None. observation: "paper", "full" (lateness, load and waiting
    passengers besides, see `full_observation`) or "published". objective: what the rewards are, see
    `objectives.objective_named`. published: the published program's
    accidents, see `simulator`. unit_actions: act in [−1, 1] instead of seconds, as general-purpose agents like it.
    """

    metadata = METADATA

    def __init__(
        self,
        corridor: Corridor | None = None,
        observation: Form = "paper",
        published: bool = False,
        unit_actions: bool = False,
        objective: str = "reward",
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = checked_mode(render_mode)
        self.episodes = Episodes(corridor, 1, observation, published, objective)
        self.unit_actions = unit_actions
        self.observation_space = observation_space(self.episodes)
        self.action_space: spaces.Space[Any] = action_space(self.episodes, unit_actions)

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        """(4,) numbers of categories: buses, stops, directions, periods."""
        return seen.cardinalities(self.episodes.layout)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a day: of `seed`, or the next one. The day of a seed is the day that `simulate` runs with it."""
        super().reset(seed=seed)
        if seed is None and self.episodes.episode[0] < 0:
            seed = int(self.np_random.integers(LARGEST_SEED))
        self.episodes.begin(np.zeros(1, dtype=np.int64), None if seed is None else [seed])
        return self._observation(), {"transitions": self.episodes.collect()}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hold the pending bus and run to the next decision of any bus, or to the end of the day."""
        if self.episodes.simulator.pending[0] == 0:
            raise InputError("step called before reset or after the end of a day; call reset")
        seconds = to_seconds(action, 1, self.episodes, self.unit_actions)
        self.episodes.act(seconds, np.zeros(1, dtype=np.int64))
        info: dict[str, Any] = {"transitions": self.episodes.collect()}
        terminated = bool(self.episodes.simulator.pending[0] == 0)
        if terminated:
            info["metrics"] = asdict(day_metrics(self.episodes.simulator.record()))
        return self._observation(), float(self.episodes.rewards()[0]), terminated, False, info

    def render(self) -> Any:
        """With render_mode="rgb_array" the time–space picture of the day so far, (height, width, 3) uint8."""
        if self.render_mode is None:
            return None
        if self.episodes.episode[0] < 0:
            raise InputError("render called before reset; call reset")
        return time_space_pixels(self.episodes.simulator.record())

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on exactly, as named arrays."""
        return self.episodes.get_state()

    def set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from `get_state` of an environment made with the same arguments."""
        self.episodes.set_state(arrays)

    def _observation(self) -> Any:
        continuous, categorical = self.episodes.observe()
        return (
            continuous[0] if not self.episodes.coded else {"continuous": continuous[0], "categorical": categorical[0]}
        )
