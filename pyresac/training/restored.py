"""A run of a deep algorithm, read for play: its networks without its buffer. The run may still be training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pyresac.errors import InputError
from pyresac.options import load_json
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.tasks.task import Played
from pyresac.training.agents import require_known
from pyresac.training.checkpoint import fitting
from pyresac.training.deep_agent import DeepConfig, build, read_config
from pyresac.training.folder import RunFiles
from pyresac.training.learned_controller import LearnedController
from pyresac.training.loop import require_same_run

if TYPE_CHECKING:
    from pyresac.deep.networks.network import Network
    from pyresac.training.deep_trainee import DeepTrainee

AGENT = "deep"
PolicyName: TypeAlias = Literal["averaged", "best", "actor"]
POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)


@dataclass(frozen=True)
class Restored:
    """A run at its newest checkpoint."""

    files: RunFiles
    config: DeepConfig
    trainee: DeepTrainee
    policy: PolicyName

    @property
    def step(self) -> int:
        """Environment steps of the checkpoint."""
        return self.trainee.step

    @property
    def actor(self) -> Network:
        """The actor that is played."""
        learner = self.trainee.learner
        return {"averaged": learner.averaged, "best": learner.best, "actor": learner.actor}[self.policy]

    def play(self, episodes: int, seed: int) -> Played:
        """Episodes of the deterministic policy, always the same ones for a seed."""
        return self.trainee.play(episodes, seed, self.actor)

    def controller(self) -> LearnedController:
        """The policy as a holding controller. Raises InputError for a run on something else than the corridor."""
        if not isinstance(self.trainee.task, CorridorTask):
            raise InputError(f"{self.files.path} learned {self.config.problem.env}, not to hold buses on a corridor")
        return LearnedController(self.trainee.task, self.trainee, self.actor)


def restore_run(path: Path, policy: PolicyName = "averaged", device: str = "cpu") -> Restored:
    """Rebuild a run from its config.json and newest checkpoint, without executing code from it, on any device.

    Raises InputError if `path` is no run folder, of another agent or without a checkpoint; CheckpointError if that is
    damaged or of another configuration.
    """
    if policy not in POLICIES:
        raise InputError(f"policy is {policy!r}; it must be one of {', '.join(POLICIES)}")
    files = RunFiles(path)
    values = load_json(files.config_file)
    agent = values.get("agent")
    require_known(agent, str(files.config_file))
    if agent != AGENT:
        raise InputError(f"{path} is a run of the agent {agent!r}; only runs of {AGENT!r} can be evaluated")
    options = {name: value for name, value in values.items() if name != "agent"}
    config = read_config(options, str(files.config_file))
    saved = files.load_latest()
    if saved is None:
        files.require_untouched()
        first = min(config.run.checkpoint_every, config.run.steps)
        raise InputError(f"{path} has no checkpoint yet; the first one is written at step {first:,}")
    where = f"the newest checkpoint of {path}"
    with fitting(where):
        require_same_run(saved, values, where)
    trainee = build(_playable(config, device))
    from pyresac.deep.agent import load_tensors  # PyTorch, as in `build`

    with fitting(where):
        trainee.step = saved.state["trainee"]["step"]
        trainee.learner.updates = saved.state["trainee"]["learner"]["updates"]
        saved_networks = {name.removeprefix("learner/"): array for name, array in saved.arrays.items()}
        load_tensors(trainee.learner.networks(), saved_networks, where)
        trainee.task.load_for_play(saved.state["trainee"]["task"])
    return Restored(files, config, trainee, policy)


def _playable(config: DeepConfig, device: str) -> DeepConfig:
    """Without the memory of a buffer and of environments side by side."""
    return replace(
        config,
        problem=replace(config.problem, num_envs=1, device=device),
        options=replace(config.options, buffer_size=1),
    )
