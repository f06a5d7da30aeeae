"""A trained run of deep RE-SAC, read to be played: its networks, none of its buffer; the run may go on meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.deep.deep_learner import Learner
from pyresac.errors import CheckpointError, InputError
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.tasks.task import Played
from pyresac.training import deep_agent as resac
from pyresac.training.config import from_dict, load_json
from pyresac.training.deep_trainee import DeepTrainee
from pyresac.training.folder import RunFiles
from pyresac.training.learned_controller import LearnedController
from pyresac.training.loop import require_same_run

AGENT = "resac"
PolicyName: TypeAlias = Literal["averaged", "best", "actor"]
POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)


@dataclass(frozen=True)
class Restored:
    """A run at its newest checkpoint."""

    files: RunFiles
    config: resac.Config
    trainee: DeepTrainee
    policy: PolicyName

    @property
    def step(self) -> int:
        """Environment steps of the checkpoint."""
        return self.trainee.step

    @property
    def parameters(self) -> Tensor:
        """(1, P) of the actor that is played."""
        learner = self.trainee.learner
        found: dict[PolicyName, Tensor] = {
            "averaged": learner.averaged,
            "best": learner.best,
            "actor": learner.actor.matrix,
        }
        return found[self.policy].detach()

    def play(self, episodes: int, seed: int) -> Played:
        """Episodes of the deterministic policy, always the same ones for a seed."""
        return self.trainee.play(episodes, seed, self.parameters)

    def controller(self) -> LearnedController:
        """The policy as a holding controller. Raises InputError for a run on something else than the corridor."""
        if not isinstance(self.trainee.task, CorridorTask):
            raise InputError(f"{self.files.path} learned {self.config.problem.env}, not to hold buses on a corridor")
        return LearnedController(self.trainee.task, self.trainee, self.parameters)


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
    if agent != AGENT:
        raise InputError(f"{path} is a run of the agent {agent!r}; only runs of {AGENT!r} can be evaluated")
    options = {name: value for name, value in values.items() if name != "agent"}
    config = from_dict(resac.Config, options, str(files.config_file))
    saved = files.load_latest()
    if saved is None:
        every = config.run.checkpoint_every
        raise InputError(f"{path} has no checkpoint yet; the first one is written at step {every:,}")
    where = f"the newest checkpoint of {path}"
    require_same_run(saved, values, where)
    trainee = resac.build(_playable(config, device))
    try:
        trainee.step = saved.state["trainee"]["step"]
        trainee.learner.updates = saved.state["trainee"]["learner"]["updates"]
        _load_networks(trainee.learner, saved.arrays, where)
    except KeyError as error:
        raise CheckpointError(f"{where} lacks {error}") from error
    return Restored(files, config, trainee, policy)


def _playable(config: resac.Config, device: str) -> resac.Config:
    """Without the memory of a buffer and of environments side by side."""
    return replace(
        config,
        problem=replace(config.problem, num_envs=1, device=device),
        algorithm=replace(config.algorithm, buffer_size=1),
    )


def _load_networks(learner: Learner, arrays: Mapping[str, NDArray[Any]], where: str) -> None:
    networks = {
        "critic": learner.critic.matrix,
        "target": learner.target,
        "actor": learner.actor.matrix,
        "averaged": learner.averaged,
        "best": learner.best,
        "log_alpha": learner.log_alpha,
    }
    for name, tensor in networks.items():
        array = arrays[f"learner/{name}"]
        if array.shape != tuple(tensor.shape) or array.dtype != np.float32:
            expected = f"float32{tuple(tensor.shape)}"
            raise CheckpointError(f"the {name} of {where} is {array.dtype}{array.shape}; expected {expected}")
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(array))
