"""Deep RE-SAC's update, Algorithm 1: critics, temperature, actor, targets, averaged policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.deep.adam import Adam
from pyresac.deep.algorithms import gradients
from pyresac.deep.algorithms import objectives as eq
from pyresac.deep.algorithms.pessimism import PessimismSchedule
from pyresac.deep.algorithms.resac_options import AlgorithmOptions
from pyresac.deep.networks.layout import NetworkLayout, weight_norms
from pyresac.deep.networks.modules import Actor, Features, VectorizedCritic, action_pass, joined, policy, state_pass
from pyresac.deep.networks.passes import ForwardPass
from pyresac.deep.networks.squashed_gaussian import SampledAction, draw
from pyresac.deep.replay import Batch, available_bytes
from pyresac.deep.update_statistics import STATISTICS_EVERY, UpdateStatistics
from pyresac.errors import CheckpointError, InputError

LARGEST_EXPONENT = 88.0
"""e to it is finite in float32."""


class Learner:
    """Networks, optimisers and temperature. States and actions come in a task's features and units."""

    def __init__(
        self,
        options: AlgorithmOptions,
        *,
        actions: int,
        dense: int,
        categories: tuple[int, ...],
        log_volume: float,
        seed: int,
        device: torch.device,
    ) -> None:
        """log_volume: Σ log half-width of the action box, see `distribution.Box`.

        Raises InputError for networks or batches that memory does not hold.
        """
        self.options, self.device, self.actions = options, device, actions
        start = torch.Generator().manual_seed(seed)
        departures = options.departures
        critic = NetworkLayout(actions + dense, categories, options.hidden, 1)
        policy_layout = NetworkLayout(dense, categories, options.actor_hidden, 2 * actions)
        _require_memory(options, critic, policy_layout)
        self.critic = VectorizedCritic(critic, options.ensemble_size, start, departures.fan_out_init).to(device)
        self.actor = Actor(policy_layout, start, options.initial_mean).to(device)
        self.log_alpha = torch.tensor(math.log(options.alpha_init), device=device, requires_grad=True)
        self.target = self.critic.matrix.detach().clone()
        """(K, P) frozen target critics φ′."""
        self.averaged = self.actor.matrix.detach().clone()
        """(1, P) the averaged policy θ̄, evaluated and deployed."""
        self.best = self.averaged.clone()
        """(1, P) the averaged policy at the best evaluation so far, θ_anchor of the anchor penalty."""
        self.schedule = PessimismSchedule(options)
        self.generator = torch.Generator(device=device).manual_seed(seed + 1)
        self._optimisers = {
            "critic": Adam(self.critic.matrix, options.critic_lr, self.target, options.tau),
            "actor": Adam(self.actor.matrix, options.actor_lr, self.averaged, options.ema_rate),
            "temperature": Adam(self.log_alpha, options.temperature_lr),
        }
        self.log_volume = log_volume + (actions * math.log(2.0) if departures.full_range_jacobian else 0.0)
        # −dim(A) is meant for actions in [−1, 1]; in the action's own units the same policy has log_volume more
        self.target_entropy = log_volume - actions if options.target_entropy is None else options.target_entropy
        self.updates = 0
        self.not_finite: str | None = None
        """The first quantity that was not finite, and when."""
        self.statistics = UpdateStatistics()
        self._gradients = {
            "critic": torch.empty_like(self.critic.matrix.detach()),
            "actor": torch.empty_like(self.actor.matrix.detach()),
        }

    @property
    def alpha(self) -> float:
        """Temperature α."""
        exponent = self.log_alpha.item()
        return math.exp(exponent) if exponent <= LARGEST_EXPONENT else math.inf

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """One step of Algorithm 1 on a batch; the actor takes part every `actor_every`-th time.

        No autograd graph is built: `gradients` has the derivatives of `objectives`; passes and actions have the chain rule.
        """
        self.updates += 1
        size, alpha = len(batch.reward), self.alpha
        improves = self.updates % self.options.actor_every == 0
        # a′ and the actor's own step are of the same policy, so both states go through it at once
        states = joined(batch.state, batch.next_state) if improves else batch.next_state
        through = state_pass(self.actor.matrix, self.actor.layout, states)
        drawn = self._draw(through.output[0])
        next_action, next_log_prob = drawn.unit[-size:], drawn.log_prob[-size:]
        target = self._target(batch, self._scaled(batch.reward), next_action, next_log_prob, alpha)
        self._improve_critics(batch, target)
        self._adjust_temperature(next_log_prob, batch.terminal)
        if improves:
            self._improve_policy(batch, through.first(size), drawn.first(size), alpha)
        if self._noted():
            self.statistics.note(log_prob=next_log_prob.mean(), target_mean=target.mean())

    def _target(self, batch: Batch, reward: Tensor, next_action: Tensor, log_prob: Tensor, alpha: float) -> Tensor:
        """y (K, B), Eq. target_y. reward: scaled."""
        options, layout, lambda_ale = self.options, self.critic.layout, self.options.penalty_scale()
        return eq.resac_target(
            reward,
            batch.terminal,
            action_pass(self.target, layout, batch.next_state, next_action, keep=False).output[..., 0],
            log_prob,
            self.kappa() if lambda_ale != 0.0 else reward.new_zeros(options.ensemble_size),
            discount=options.discount,
            lambda_epi=options.lambda_epi,
            lambda_ale=lambda_ale,
            alpha=alpha,
            independence=options.independence,
        )

    def _improve_critics(self, batch: Batch, target: Tensor) -> None:
        through = action_pass(self.critic.matrix, self.critic.layout, batch.state, batch.action)
        heads = through.output[..., 0]
        loss, slope = gradients.critic_loss(heads, target, self.options.beta_ood)
        self._check("critic_loss", loss)
        self._descend("critic", through.gradient(slope[..., None], self._gradients["critic"]))
        if self._noted():
            sigma = eq.ensemble_deviation(heads).mean() if len(heads) > 1 else loss.new_zeros(())
            self.statistics.note(critic_loss=loss / len(heads), q_mean=heads.mean(), sigma_mean=sigma)

    def _adjust_temperature(self, log_prob: Tensor, terminal: Tensor) -> None:
        self._optimisers["temperature"].step(gradients.temperature_slope(log_prob, 1.0 - terminal, self.target_entropy))
        self.log_alpha.clamp_(max=math.log(self.options.alpha_max))

    def _improve_policy(self, batch: Batch, through: ForwardPass, drawn: SampledAction, alpha: float) -> None:
        """through, drawn: of the batch's states."""
        options = self.options
        critics = action_pass(self.critic.matrix, self.critic.layout, batch.state, drawn.unit)
        loss, of_log_prob, slope = gradients.actor_loss(
            drawn.log_prob, critics.output[..., 0], alpha, self.schedule.beta
        )
        # of the critics only the action's gradient is asked for: their parameters are frozen here
        of_unit = critics.input_gradient(slope[..., None], self.actions)
        if options.departures.cloning > 0.0:
            penalty, more = gradients.square_penalty(drawn.unit, batch.action, options.departures.cloning)
            loss, of_unit = loss + penalty, of_unit + more
        gradient = through.gradient(drawn.gradient(of_unit, of_log_prob)[None], self._gradients["actor"])
        if options.anchor_weight > 0.0:
            penalty, more = gradients.square_penalty(self.actor.matrix, self.best, options.anchor_weight)
            loss, gradient = loss + penalty, gradient.add_(more)
        self._check("actor_loss", loss)
        self._descend("actor", gradient)
        if self._noted():
            self.statistics.note(actor_loss=loss)

    def _draw(self, outputs: Tensor) -> SampledAction:
        return draw(outputs, self._noise(len(outputs)), self.log_volume)

    def _noise(self, size: int) -> Tensor:
        return torch.randn(size, self.actions, generator=self.generator, device=self.device)

    def _descend(self, name: str, gradient: Tensor) -> None:
        """One step, each head's gradient clipped by its own norm."""
        clip, noted = self.options.grad_clip, self._noted()
        if clip is not None or noted:
            norms = gradient.norm(dim=1, keepdim=True)
            if noted:
                self.statistics.note(**{f"{name}_grad": norms.max()})
            if clip is not None:
                gradient.mul_((clip / (norms + 1e-6)).clamp_(max=1.0))
        self._optimisers[name].step(gradient)

    def _noted(self) -> bool:
        """Whether this update's statistics are noted; the actor's are where it takes part as well."""
        return self.updates % STATISTICS_EVERY == 0

    def _scaled(self, reward: Tensor) -> Tensor:
        if self.options.departures.standardise_rewards:
            return 10.0 * (reward - reward.mean()) / (reward.std() + 1e-6)
        scale = self.options.reward_scale
        return reward if scale == 1.0 else reward * scale

    @torch.no_grad()
    def explore(self, state: Features) -> NDArray[np.float32]:
        """Sampled actions (B, A) of the present policy, in units."""
        through = state_pass(self.actor.matrix, self.actor.layout, state, keep=False)
        return self._draw(through.output[0]).unit.cpu().numpy()

    @torch.no_grad()
    def exploit(self, state: Features, parameters: Tensor | None = None) -> NDArray[np.float32]:
        """Deterministic actions (B, A) of the averaged policy, or of other actor parameters (1, P), in units."""
        matrix = self.averaged if parameters is None else parameters
        return policy(matrix, self.actor.layout, state).mode().cpu().numpy()

    @torch.no_grad()
    def values(self, state: Features, unit: Tensor) -> Tensor:
        """(K, B) online values in units of scaled rewards."""
        return self.critic(state, unit)  # type: ignore[no-any-return]

    def kappa(self) -> Tensor:
        """κ_k (K,) of the target critics, as the target uses them."""
        return weight_norms(self.target, self.critic.layout, self.options.departures.kappa_biases)

    def evaluated(self, value: float, step: int) -> bool:
        """Tell the mean return of an evaluation of the averaged policy; true if it is the best so far."""
        better = self.schedule.evaluated(value, step)
        if better:
            self.best.copy_(self.averaged)
        return better

    def _check(self, name: str, value: Tensor) -> None:
        number = value.item()
        if not math.isfinite(number) and self.not_finite is None:
            self.not_finite = f"{name} is {number} at update {self.updates:,}"

    def state(self) -> dict[str, Any]:
        """Counters and statistics, as JSON."""
        return {
            "updates": self.updates,
            "statistics": self.statistics.state(),
            "schedule": self.schedule.state(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters, moments of the optimisers and the generator's state."""
        tensors = {**self._tensors(), "generator": self.generator.get_state()}
        return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}

    def _tensors(self) -> dict[str, Tensor]:
        tensors: dict[str, Tensor] = {
            "critic": self.critic.matrix,
            "actor": self.actor.matrix,
            "log_alpha": self.log_alpha,
            "target": self.target,
            "averaged": self.averaged,
            "best": self.best,
        }
        for name, optimiser in self._optimisers.items():
            tensors |= {f"{name}.{key}": value for key, value in optimiser.moments.items()}
        return tensors

    def load(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take on a saved learner. Raises CheckpointError if an array does not fit."""
        present = self.arrays()
        for name, array in present.items():
            if name not in arrays or arrays[name].shape != array.shape or arrays[name].dtype != array.dtype:
                given = f"{arrays[name].dtype}{arrays[name].shape}" if name in arrays else "missing"
                raise CheckpointError(f"the checkpoint's {name} is {given}; expected {array.dtype}{array.shape}")
        with torch.no_grad():
            for name, tensor in self._tensors().items():
                tensor.copy_(torch.from_numpy(np.array(arrays[name])))
        self.generator.set_state(torch.from_numpy(np.array(arrays["generator"])))
        self.updates = state["updates"]
        self.statistics.load(state["statistics"])
        self.schedule.load(state["schedule"])


def _require_memory(options: AlgorithmOptions, critic: NetworkLayout, policy_layout: NetworkLayout) -> None:
    """Of what is there in any case: parameters, gradient, two moments and a copy, a batch's activations."""
    heads, batch = options.ensemble_size, options.batch_size
    networks = 5 * (heads * critic.length + policy_layout.length)
    activations = batch * (critic.dense + heads * (sum(options.hidden) + 1) + 2 * sum(options.actor_hidden))
    needed, free = 4 * (networks + activations), available_bytes()
    if free is not None and needed > free:
        raise InputError(
            f"ensemble_size = {heads}, hidden = {list(options.hidden)}, actor_hidden = {list(options.actor_hidden)} "
            f"and batch_size = {batch} need {needed / 2**20:,.0f} MiB of memory or more; {free / 2**20:,.0f} MiB are "
            f"free"
        )
