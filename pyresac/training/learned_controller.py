"""A learned policy as a holding controller, as the simulator and its commands take one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pyresac.envs.bus.observation import Observation
from pyresac.tasks.corridor_task import CorridorTask

if TYPE_CHECKING:
    from pyresac.deep.networks.network import Network
    from pyresac.training.deep_trainee import DeepTrainee


class LearnedController:
    """Seconds of holding by the deterministic policy; see `pyresac.envs.bus.controllers`."""

    batched: ClassVar[bool] = True

    def __init__(self, task: CorridorTask, trainee: DeepTrainee, actor: Network) -> None:
        self._task, self._trainee, self._actor = task, trainee, actor

    def __call__(self, observation: Observation) -> Any:
        """(n,) seconds in [0, H_max] for n decisions. Raises InputError for a bus or stop that was not learned."""
        state = self._trainee.features(*self._task.observed(observation))
        unit = self._trainee.learner.exploit(state, self._actor)
        return self._task.holding(observation, unit)
