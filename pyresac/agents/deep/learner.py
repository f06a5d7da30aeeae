"""Deep RE-SAC's update, Algorithm 1: critics, temperature, actor, targets, averaged policy."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.agents.deep import objectives as eq
from pyresac.agents.deep.adam import Adam
from pyresac.agents.deep.networks import Actor, Features, VectorizedCritic, critic_values, policy
from pyresac.agents.deep.options import AlgorithmOptions
from pyresac.agents.deep.parameters import Layout, weight_norms
from pyresac.agents.deep.replay import Batch, available_bytes
from pyresac.agents.deep.schedule import PessimismSchedule
from pyresac.errors import CheckpointError, InputError

STATISTICS = (
    "critic_loss",
    "actor_loss",
    "q_mean",
    "target_mean",
    "sigma_mean",
    "log_prob",
    "critic_grad",
    "actor_grad",
)
"""What `window` averages over every NOTED-th update since it was last closed."""
NOTED = 8


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
        critic = Layout(actions + dense, categories, options.hidden, 1)
        policy_layout = Layout(dense, categories, options.actor_hidden, 2 * actions)
        _require_memory(options, critic, policy_layout)
        self.critic = VectorizedCritic(critic, options.ensemble_size, start, departures.fan_out_init).to(device)
        self.actor = Actor(policy_layout, start, options.initial_mean).to(device)
        self.log_alpha = torch.tensor(math.log(options.alpha_init), device=device, requires_grad=True)
        self.target = self.critic.matrix.detach().clone()
        """(K, P) frozen target critics φ′."""
        self.averaged = self.actor.matrix.detach().clone()
        """(1, P) the averaged policy θ̄, evaluated and deployed."""
        self.anchor = self.averaged.clone()
        self.best = self.averaged.clone()
        """(1, P) the averaged policy at the best evaluation so far."""
        self.schedule = PessimismSchedule(options)
        self.generator = torch.Generator(device=device).manual_seed(seed + 1)
        self._optimisers = {
            "critic": Adam(self.critic.matrix, options.critic_lr),
            "actor": Adam(self.actor.matrix, options.actor_lr),
            "temperature": Adam(self.log_alpha, options.temperature_lr),
        }
        self.log_volume = log_volume + (actions * math.log(2.0) if departures.full_range_jacobian else 0.0)
        # −dim(A) is meant for actions in [−1, 1]; in the action's own units the same policy has log_volume more
        self.target_entropy = log_volume - actions if options.target_entropy is None else options.target_entropy
        self.updates = 0
        self.not_finite: str | None = None
        """The first quantity that was not finite, and when."""
        self.open_window()

    @property
    def alpha(self) -> float:
        """Temperature α."""
        return float(self.log_alpha.detach().exp())

    def update(self, batch: Batch) -> None:
        """One step of Algorithm 1 on a batch; the actor takes part every `actor_every`-th time."""
        options = self.options
        alpha = self.alpha
        reward = self._scaled(batch.reward)
        target, next_log_prob = self.bootstrap_target(batch, reward, alpha)
        heads = self.critic(batch.state, batch.action)
        loss, sigma = eq.critic_loss(heads, target, options.beta_ood)
        norms = self._descend("critic", loss, self.critic.matrix)
        self._adjust_temperature(next_log_prob, batch.terminal)
        self.updates += 1
        self._check("critic_loss", loss)
        if self.updates % NOTED == 0:
            self._note("critic_loss", loss / len(heads))
            self._note("q_mean", heads.mean())
            self._note("target_mean", target.mean())
            self._note("sigma_mean", sigma)
            self._note("log_prob", next_log_prob.mean())
            self._note("critic_grad", norms.max())
        if self.updates % options.actor_every == 0:
            self._improve_policy(batch, alpha)
        with torch.no_grad():
            self.target.lerp_(self.critic.matrix, options.tau)

    @torch.no_grad()
    def bootstrap_target(self, batch: Batch, reward: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
        """y (K, B), Eq. target_y, and log π(a′|s′) (B,); nothing in it has a gradient. reward: scaled."""
        options = self.options
        next_action, log_prob = self._sample(self.actor.matrix, batch.next_state)
        layout = self.critic.layout
        y = eq.resac_target(
            reward,
            batch.terminal,
            critic_values(self.target, layout, batch.next_state, next_action),
            log_prob,
            weight_norms(self.target, layout, options.departures.kappa_biases),
            discount=options.discount,
            lambda_epi=options.lambda_epi,
            lambda_ale=options.penalty_scale(),
            alpha=alpha,
            independence=options.independence,
        )
        return y, log_prob

    def _improve_policy(self, batch: Batch, alpha: float) -> None:
        options = self.options
        action, log_prob = self._sample(self.actor.matrix, batch.state)
        # detached parameters: the actor's step has no gradient for the critics
        heads = critic_values(self.critic.matrix.detach(), self.critic.layout, batch.state, action)
        loss = eq.actor_loss(log_prob, heads, alpha, self.schedule.beta)
        if options.anchor_weight > 0.0:
            loss = loss + eq.anchor_penalty(self.actor.matrix, self.anchor, options.anchor_weight)
        if options.departures.cloning > 0.0:
            loss = loss + options.departures.cloning * (action - batch.action).square().mean()
        norms = self._descend("actor", loss, self.actor.matrix)
        with torch.no_grad():
            self.averaged.lerp_(self.actor.matrix, options.ema_rate)
        self._check("actor_loss", loss)
        if self.updates // options.actor_every % NOTED == 0:
            self._note("actor_loss", loss)
            self._note("actor_grad", norms.max())

    def _adjust_temperature(self, log_prob: Tensor, terminal: Tensor) -> None:
        """No action is taken in a terminal state, so its log π does not count."""
        going = 1.0 - terminal
        mean = (log_prob * going).sum() / going.sum().clamp(min=1.0)
        loss = eq.temperature_loss(self.log_alpha, mean, self.target_entropy)
        self._optimisers["temperature"].step(*torch.autograd.grad(loss, [self.log_alpha]))
        with torch.no_grad():
            self.log_alpha.clamp_(max=math.log(self.options.alpha_max))

    def _sample(self, matrix: Tensor, state: Features) -> tuple[Tensor, Tensor]:
        noise = torch.randn(len(state.dense), self.actions, generator=self.generator, device=self.device)
        return policy(matrix, self.actor.layout, state).sample(noise, self.log_volume)

    def _descend(self, name: str, loss: Tensor, matrix: Tensor) -> Tensor:
        """One clipped step; returns the gradient norms (K, 1) of the heads before clipping."""
        (gradient,) = torch.autograd.grad(loss, [matrix])
        norms: Tensor = gradient.norm(dim=1, keepdim=True)
        if self.options.grad_clip is not None:
            gradient.mul_((self.options.grad_clip / (norms + 1e-6)).clamp_(max=1.0))
        self._optimisers[name].step(gradient)
        return norms

    def _scaled(self, reward: Tensor) -> Tensor:
        if self.options.departures.standardise_rewards:
            return 10.0 * (reward - reward.mean()) / (reward.std() + 1e-6)
        return reward * self.options.reward_scale

    @torch.no_grad()
    def explore(self, state: Features) -> NDArray[np.float32]:
        """Sampled actions (B, A) of the present policy, in units."""
        unit, _ = self._sample(self.actor.matrix, state)
        return unit.cpu().numpy()

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
            self.anchor.copy_(self.actor.matrix.detach())
        return better

    def open_window(self) -> None:
        """Forget the statistics so far."""
        self._sums = dict.fromkeys(STATISTICS, 0.0)
        self._counts = dict.fromkeys(STATISTICS, 0)

    def window(self) -> dict[str, float]:
        """Means over the updates since `open_window`; NaN where there was none."""
        return {n: self._sums[n] / self._counts[n] if self._counts[n] else math.nan for n in STATISTICS}

    def _note(self, name: str, value: Tensor) -> None:
        self._sums[name] += value.item()
        self._counts[name] += 1

    def _check(self, name: str, value: Tensor) -> None:
        number = value.item()
        if not math.isfinite(number) and self.not_finite is None:
            self.not_finite = f"{name} is {number} at update {self.updates:,}"

    def state(self) -> dict[str, Any]:
        """Counters and statistics, as JSON."""
        return {
            "updates": self.updates,
            "sums": copy.copy(self._sums),
            "counts": copy.copy(self._counts),
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
            "anchor": self.anchor,
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
        self._sums, self._counts = dict(state["sums"]), dict(state["counts"])
        self.schedule.load(state["schedule"])


def _require_memory(options: AlgorithmOptions, critic: Layout, policy_layout: Layout) -> None:
    """Of what is there in any case: parameters, gradient, two moments and a copy, and a batch's inputs and values."""
    heads, batch = options.ensemble_size, options.batch_size
    networks = 5 * (heads * critic.length + policy_layout.length)
    needed, free = 4 * (networks + batch * (critic.dense + heads)), available_bytes()
    if free is not None and needed > free:
        raise InputError(
            f"ensemble_size = {heads}, hidden = {list(options.hidden)}, actor_hidden = {list(options.actor_hidden)} "
            f"and batch_size = {batch} need {needed / 2**20:,.0f} MiB of memory or more; {free / 2**20:,.0f} MiB are "
            f"free"
        )
