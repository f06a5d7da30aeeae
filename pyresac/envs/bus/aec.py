"""The corridor as a PettingZoo AEC environment: every bus is an agent, and acts when it must decide (extra `multi`).

Agents are "bus_0" … up to the most buses that a day can use; a bus that never leaves the depot never acts. An agent's
reward is the one that its decision completes (0 at a trip's first). All agents terminate when the day ends.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pyresac.envs.bus import state as at
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.environment import action_space, observation_space, to_seconds
from pyresac.envs.bus.episodes import Episodes, Form
from pyresac.envs.bus.rendering import METADATA, checked_mode, time_space_pixels
from pyresac.envs.bus.simulator import LARGEST_SEED
from pyresac.errors import InputError

try:
    from pettingzoo import AECEnv
except ImportError as error:
    raise ImportError("the PettingZoo view needs pettingzoo: pip install 'pyresac[multi]'") from error

DAY = np.zeros(1, dtype=np.int64)


class BusCorridorAEC(AECEnv):
    """The arguments are those of `BusCorridor`."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "pyresac_bus_corridor_v0",
        "is_parallelizable": False,
        **METADATA,
    }

    def __init__(
        self,
        corridor: Corridor | None = None,
        observation: Form = "paper",
        published: bool = False,
        unit_actions: bool = False,
        objective: str = "reward",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.episodes = Episodes(corridor, 1, observation, published, objective)
        self.unit_actions = unit_actions
        self.render_mode = checked_mode(render_mode)
        self.possible_agents = [f"bus_{bus}" for bus in range(self.episodes.layout.fleet_limit)]
        self.observation_spaces = {agent: observation_space(self.episodes) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(self.episodes, unit_actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same for every bus."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Box:
        """The same for every bus."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a day: of `seed`, or the next one."""
        if seed is None and self.episodes.episode[0] < 0:
            seed = int(np.random.default_rng().integers(LARGEST_SEED))
        self.episodes.begin(DAY, None if seed is None else [seed])
        self.agents = list(self.possible_agents)
        self.rewards: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self.terminations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.truncations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._seen = {agent: self._nothing(agent) for agent in self.agents}
        self._select()

    def render(self) -> Any:
        """With render_mode="rgb_array" the time–space picture of the day so far, (height, width, 3) uint8."""
        if self.render_mode is None:
            return None
        self._require_reset("render")
        return time_space_pixels(self.episodes.simulator.record())

    def close(self) -> None:
        """Nothing is open."""

    def observe(self, agent: str) -> Any:
        """What the bus saw at its latest decision; the space's lowest values before the first."""
        return self._seen[agent]

    def step(self, action: NDArray[np.float32] | None) -> None:
        """Hold the selected bus and go on to the next decision."""
        self._require_reset("step")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.episodes.act(to_seconds(action, 1, self.episodes, self.unit_actions), DAY)
        self._clear_rewards()
        if self.episodes.simulator.pending[0] == 0:
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self._select()
            self.rewards[self.agent_selection] = float(self.episodes.rewards()[0])
        self._accumulate_rewards()

    def _require_reset(self, call: str) -> None:
        if self.episodes.episode[0] < 0:
            raise InputError(f"{call} called before reset; call reset")

    def _select(self) -> None:
        bus = int(self.episodes.simulator.state.cursor[0, at.PENDING])
        self.agent_selection = self.possible_agents[bus]
        continuous, categorical = self.episodes.observe()
        self._seen[self.agent_selection] = (
            {"continuous": continuous[0], "categorical": categorical[0]} if self.episodes.coded else continuous[0]
        )

    def _nothing(self, agent: str) -> Any:
        space = self.observation_spaces[agent]
        if isinstance(space, spaces.Dict):
            box = space["continuous"]
            assert isinstance(box, spaces.Box)
            return {"continuous": box.low.copy(), "categorical": np.zeros(4, dtype=np.int64)}
        assert isinstance(space, spaces.Box)
        return space.low.copy()
