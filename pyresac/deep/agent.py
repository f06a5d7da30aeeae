"""An agent: the networks of one algorithm, what they see, and how it acts; `Learner` makes it learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.deep.algorithms.algorithm import Algorithm
from pyresac.deep.algorithms.deep_options import DeepOptions, EntropyOptions
from pyresac.deep.critic_passes import heads_of, run_critics
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.networks.running_statistics import RunningStatistics
from pyresac.deep.observation_statistics import ObservationStatistics
from pyresac.deep.random_source import Noise
from pyresac.deep.temperature import Temperature
from pyresac.errors import CheckpointError, InputError
from pyresac.memory import available_bytes
from pyresac.tasks.experience import Numbers


class Agent:
    """Networks and temperature of one algorithm. States and actions come in a task's features and units."""

    def __init__(
        self,
        algorithm: Algorithm[Any],
        *,
        actions: int,
        dense: int,
        categories: tuple[int, ...],
        log_volume: float,
        seed: int,
        device: torch.device,
        threads: int = 1,
    ) -> None:
        """actions, dense: coordinates A of an action and continuous features C of a state. categories: number of
        categories of each other feature. log_volume: Σ log half-width of the action box, see `ActionBox`. threads: over
        which the critics are divided.

        Raises InputError for networks or batches that memory does not hold.
        """
        options: DeepOptions = algorithm.options
        self.algorithm, self.options, self.device, self.actions = algorithm, options, device, actions
        self.policy = algorithm.policy(log_volume, actions)
        critic = algorithm.critic_layout(actions + dense, categories)
        self._by_batch = options.normalisation == "batch"
        actor = NetworkLayout(
            *(dense, categories, options.actor_hidden, self.policy.outputs(actions), options.activation),
            normalisation="batch" if self._by_batch else "none",
        )
        _require_memory(options, critic, actor)
        start = torch.Generator().manual_seed(seed)
        self.critic = _network(
            *(critic, algorithm.initial_critic(critic, start).to(device), threads, options), kind=algorithm.critic_type
        )
        self.actor = _network(actor, _initial_actor(actor, options, actions, start).to(device), threads, options)
        self.target = self.critic if self._by_batch else self.critic.clone()
        """Frozen target critics φ′; with batch normalisation there are none, and the critics stand for them."""
        self.averaged = self.actor.clone()
        """The averaged policy θ̄, evaluated and deployed."""
        self.target_actor = self.actor.clone() if algorithm.target_policy and not self._by_batch else None
        """The slowly following policy of a′, where the algorithm has one and there are target networks."""
        self.best = self.averaged.clone()
        """The averaged policy at the best evaluation so far."""
        self.observations = ObservationStatistics(dense) if options.normalise_observations else None
        """Statistics of the states that were acted in, if networks see them normalised."""
        self.noise = Noise(seed + 1, device)
        self.temperature = None
        if isinstance(options, EntropyOptions):
            # −dim(A) is meant for actions in [−1, 1]; in the action's own units the same policy has log_volume more
            wanted = log_volume - actions if options.target_entropy is None else options.target_entropy
            self.temperature = Temperature(options, wanted, device)
        self.state_value = None
        """V(s), where the algorithm learns one."""
        if algorithm.state_value_lr is not None:
            layout = NetworkLayout(dense, categories, options.hidden, 1, options.activation)
            self.state_value = Network(layout, layout.initial(1, start).to(device), threads)

    @property
    def alpha(self) -> float:
        """Temperature α, 0 for an algorithm without one."""
        return 0.0 if self.temperature is None else self.temperature.alpha

    def observe(self, dense: Numbers) -> None:
        """Add states (m, C) in which training acted to the statistics of observations."""
        if self.observations is not None:
            self.observations.add(dense)

    def _seen(self, state: Inputs) -> Inputs:
        """States as the networks see them."""
        return state if self.observations is None else self.observations.normalised(state)

    @torch.no_grad()
    def explore(self, state: Inputs) -> NDArray[np.float32]:
        """Actions (B, A) of the present policy that collect experience, in units."""
        sample = self.policy.sample(self.actor.run(self._seen(state), keep=False).output[0], self.noise)
        return self.algorithm.explore(sample, self.noise).cpu().numpy()

    def random_actions(self, count: int) -> NDArray[np.float32]:
        """Actions (count, A) uniform in the box, in units."""
        return (2.0 * self.noise.uniform(count, self.actions) - 1.0).cpu().numpy()

    @torch.no_grad()
    def exploit(self, state: Inputs, actor: Network | None = None) -> NDArray[np.float32]:
        """Deterministic actions (B, A) of the averaged policy, or of another actor, in units."""
        used = self.averaged if actor is None else actor
        return self.policy.mode(used.run(self._seen(state), keep=False).output[0]).cpu().numpy()

    @torch.no_grad()
    def values(self, state: Inputs, unit: Tensor) -> Tensor:
        """(K, B) online values in units of scaled rewards."""
        fractions = self.algorithm.fractions(len(unit), self.noise, evaluates=True)
        through = run_critics(self.critic, self._seen(state), unit, fractions, keep=False)
        return self.algorithm.values(heads_of(through, fractions), fractions)

    def networks(self) -> dict[str, Tensor]:
        """Parameters and statistics by name: what plays and values, without what only learning needs."""
        networks = {"critic": self.critic}
        if self.target is not self.critic:
            networks["target"] = self.target
        networks |= {"actor": self.actor, "averaged": self.averaged, "best": self.best}
        if self.target_actor is not None:
            networks["target_actor"] = self.target_actor
        if self.state_value is not None:
            networks["state_value"] = self.state_value
        found = {name: network.matrix for name, network in networks.items()}
        for name, network in networks.items():
            if network.running is not None:
                found |= network.running.tensors(name)
        if self.temperature is not None:
            found["log_alpha"] = self.temperature.log_alpha
        if self.observations is not None:
            found |= self.observations.tensors
        return found


def load_tensors(tensors: Mapping[str, Tensor], arrays: Mapping[str, NDArray[Any]], where: str) -> None:
    """Copy arrays into tensors of the same names. Raises CheckpointError, and changes none, if one does not fit."""
    for name, tensor in tensors.items():
        expected = f"{str(tensor.dtype).removeprefix('torch.')}{tuple(tensor.shape)}"
        given = f"{arrays[name].dtype}{arrays[name].shape}" if name in arrays else "missing"
        if given != expected:
            raise CheckpointError(f"the {name} of {where} is {given}; expected {expected}")
    for name, tensor in tensors.items():
        tensor.copy_(torch.from_numpy(np.array(arrays[name])))


def _network(
    layout: NetworkLayout, matrix: Tensor, threads: int, options: DeepOptions, kind: type[Network] = Network
) -> Network:
    """With fresh running statistics, where batches are normalised."""
    running = None
    if layout.normalisation == "batch":
        running = RunningStatistics.fresh(layout, len(matrix), options.renorm_warmup, matrix.device)
    return kind(layout, matrix, threads, running)


def _initial_actor(layout: NetworkLayout, options: DeepOptions, actions: int, generator: torch.Generator) -> Tensor:
    matrix = layout.initial(1, generator)
    if isinstance(options, EntropyOptions):
        _, biases, _ = layout.split(matrix)
        biases[-1][:, :actions] += options.initial_mean
    return matrix


def _require_memory(options: DeepOptions, critic: NetworkLayout, actor: NetworkLayout) -> None:
    """Raise InputError unless memory holds what every run needs: parameters, gradient, two moments and a copy, and the
    activations of a batch."""
    heads, batch = options.ensemble_size, options.batch_size
    networks = 5 * (heads * critic.length + actor.length)
    activations = batch * (critic.dense + heads * critic.activations + 2 * sum(options.actor_hidden))
    needed, free = 4 * (networks + activations), available_bytes()
    if free is not None and needed > free:
        raise InputError(
            f"ensemble_size = {heads}, hidden = {list(options.hidden)}, actor_hidden = {list(options.actor_hidden)} "
            f"and batch_size = {batch} need {needed / 2**20:,.0f} MiB of memory or more; {free / 2**20:,.0f} MiB are "
            f"free"
        )
