"""The update that all algorithms share: critics, temperature, actor, target and averaged networks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.deep.adam import Adam
from pyresac.deep.agent import Agent, load_tensors
from pyresac.deep.algorithms.algorithm import ActorInputs, Algorithm, TargetInputs
from pyresac.deep.critic_passes import heads_of, of_outputs, required, run_critics
from pyresac.deep.heads import ensemble_deviation
from pyresac.deep.networks.inputs import joined
from pyresac.deep.networks.passes import ForwardPass
from pyresac.deep.policies.policy import SampledAction
from pyresac.deep.quantiles import Fractions
from pyresac.deep.replay import Batch
from pyresac.deep.slopes import slopes
from pyresac.deep.update_statistics import OF_STATE_VALUE, STATISTICS, STATISTICS_EVERY, UpdateStatistics


class Learner(Agent):
    """An agent with its optimisers, which learns from batches of experience."""

    def __init__(self, algorithm: Algorithm[Any], **arguments: Any) -> None:
        """arguments: those of `Agent`."""
        super().__init__(algorithm, **arguments)
        options = self.options
        self.best_return = -math.inf
        """Mean return of the best evaluation so far."""
        self._optimisers = {
            "critic": Adam(
                *(self.critic.matrix, options.critic_lr, None if self._by_batch else self.target.matrix, options.tau),
                beta1=options.adam_beta1,
            ),
            "actor": Adam(
                *(self.actor.matrix, options.actor_lr, self.averaged.matrix, options.ema_rate),
                beta1=options.adam_beta1,
            ),
        }
        self._gradients = {
            "critic": torch.empty_like(self.critic.matrix),
            "actor": torch.empty_like(self.actor.matrix),
        }
        if self.state_value is not None and algorithm.state_value_lr is not None:
            self._optimisers["state_value"] = Adam(self.state_value.matrix, algorithm.state_value_lr)
            self._gradients["state_value"] = torch.empty_like(self.state_value.matrix)
        self.updates = 0
        self.not_finite: str | None = None
        """The first quantity that was not finite, and when."""
        self.statistics = UpdateStatistics((*STATISTICS, *(OF_STATE_VALUE if self.state_value is not None else ())))

    @torch.no_grad()
    def update(self, batch: Batch) -> None:
        """One update on a batch; the actor learns in every `actor_every`-th.

        The whole update uses the α that it begins with. Autograd sees only the algorithm's formulas, through `slopes`.
        """
        self.updates += 1
        batch = batch._replace(state=self._seen(batch.state), next_state=self._seen(batch.next_state))
        size, alpha = len(batch.reward), self.alpha
        improves = self.updates % self.options.actor_every == 0
        through, now, following = self._policy_passes(batch, improves)
        next_action = self.algorithm.next_action(following, self.noise)[-size:]
        next_log_prob = following.log_prob[-size:]
        follow = improves or not self.algorithm.targets_follow_actor
        # critics of quantiles have fractions, those of the target drawn apart from their own
        of_target, fractions = self.algorithm.fractions(size, self.noise), self.algorithm.fractions(size, self.noise)
        critics, next_heads = self._critic_passes(batch, next_action, fractions, of_target)
        target = self._target(batch, next_action, next_heads, next_log_prob, alpha, of_target)
        self._improve_state_value(batch)
        self._improve_critics(critics, target, fractions, of_target, follow)
        self._adjust_temperature(batch, now, next_log_prob)
        if through is not None and now is not None:
            self._improve_policy(batch, through, now, alpha)
        if self._noted():
            self.statistics.note(log_prob=next_log_prob.mean(), target_mean=target.mean())

    def _policy_passes(
        self, batch: Batch, improves: bool
    ) -> tuple[ForwardPass | None, SampledAction | None, SampledAction]:
        """The actor's pass and actions at the batch's states, both None where it does not learn, and the actions a′:
        their last B rows are those at the next states."""
        size = len(batch.reward)
        if self.target_actor is None and not self._by_batch:
            # a′ and the actor's own step are of the same policy, so both states go through it at once
            through = self.actor.run(joined(batch.state, batch.next_state) if improves else batch.next_state, improves)
            sample = self.policy.sample(through.output[0], self.noise)
            return (through.first(size), sample.first(size), sample) if improves else (None, None, sample)
        used = self.actor if self.target_actor is None else self.target_actor
        following = self.policy.sample(used.run(batch.next_state, keep=False).output[0], self.noise)
        if not improves:
            return None, None, following
        through = self.actor.run_batch(batch.state)
        return through, self.policy.sample(through.output[0], self.noise), following

    def _critic_passes(
        self, batch: Batch, next_action: Tensor, fractions: Fractions | None, of_target: Fractions | None
    ) -> tuple[ForwardPass, Tensor]:
        """The critics' pass at (s, a), and the frozen heads at (s′, a′).

        With batch normalisation both go through the critics as one batch: statistics of the one alone would not fit the
        other (CrossQ, section 3.2). The target is frozen; the batch's statistics, which its states enter, are not.
        """
        if not self._by_batch:
            frozen = run_critics(self.target, batch.next_state, next_action, of_target, keep=False)
            return run_critics(self.critic, batch.state, batch.action, fractions), heads_of(frozen, of_target)
        both = self.critic.run_batch(
            joined(batch.state.with_action(batch.action), batch.next_state.with_action(next_action))
        )
        size = len(batch.reward)
        return both.first(size), heads_of(both, of_target)[:, size:]

    def _target(
        self,
        batch: Batch,
        next_action: Tensor,
        heads: Tensor,
        log_prob: Tensor,
        alpha: float,
        fractions: Fractions | None,
    ) -> Tensor:
        """y, without a graph. heads: at (s′, a′); fractions: of their quantiles."""

        def heads_at(unit: Tensor) -> Tensor:
            return heads_of(run_critics(self.target, batch.next_state, unit, fractions, keep=False), fractions)

        of_next = None if self.state_value is None else self.state_value.run(batch.next_state, keep=False)
        return self.algorithm.target(
            TargetInputs(
                reward=self.algorithm.scaled(batch.reward),
                going=1.0 - batch.terminal,
                discount=self.options.discount,
                heads=heads,
                next_action=next_action,
                log_prob=log_prob,
                alpha=alpha,
                critic=self.target,
                heads_at=heads_at,
                noise=self.noise,
                state_value=None if of_next is None else of_next.output[0, :, 0],
                fractions=fractions,
            )
        )

    def _improve_state_value(self, batch: Batch) -> None:
        """A step of V(s), before the critics': it reads the same target networks as the target has."""
        if self.state_value is None:
            return
        fractions = self.algorithm.fractions(len(batch.reward), self.noise)
        heads = heads_of(run_critics(self.target, batch.state, batch.action, fractions, keep=False), fractions)
        frozen = self.algorithm.values(heads, fractions)
        through = self.state_value.run(batch.state)
        value = through.output[0, :, 0]
        loss, (slope,) = slopes(lambda leaf: self.algorithm.state_value_loss(leaf, frozen), value)
        self._check("state_value_loss", loss)
        gradient = through.gradient(required(slope)[None, :, None], self._gradients["state_value"])
        self._descend("state_value", gradient)
        if self._noted():
            self.statistics.note(state_value_loss=loss, state_value_mean=value.mean())

    def _improve_critics(
        self,
        through: ForwardPass,
        target: Tensor,
        fractions: Fractions | None,
        of_target: Fractions | None,
        follow: bool,
    ) -> None:
        """through: of (s, a). fractions, of_target: of its quantiles and the target's. follow: whether the target
        networks move."""
        heads = heads_of(through, fractions)

        def loss_of(leaf: Tensor) -> Tensor:
            if fractions is None or of_target is None:
                return self.algorithm.critic_loss(leaf, target)
            return self.algorithm.quantile_loss(leaf, target, fractions, of_target)

        loss, (slope,) = slopes(loss_of, heads)
        self._check("critic_loss", loss)
        self._descend("critic", through.gradient(of_outputs(slope), self._gradients["critic"]), follow)
        if self._noted():
            values = self.algorithm.values(heads, fractions)
            sigma = ensemble_deviation(values).mean() if len(values) > 1 else loss.new_zeros(())
            self.statistics.note(critic_loss=loss / len(heads), q_mean=values.mean(), sigma_mean=sigma)

    def _adjust_temperature(self, batch: Batch, now: SampledAction | None, next_log_prob: Tensor) -> None:
        if self.temperature is None:
            return
        if self.temperature.on_next:
            self.temperature.adjust(next_log_prob, 1.0 - batch.terminal)
        elif now is not None:
            self.temperature.adjust(now.log_prob)

    def _improve_policy(self, batch: Batch, through: ForwardPass, sample: SampledAction, alpha: float) -> None:
        """through, sample: of the batch's states."""
        fractions = self.algorithm.fractions(len(batch.reward), self.noise)
        critics = run_critics(self.algorithm.actor_heads(self.critic), batch.state, sample.unit, fractions)

        def objective(heads: Tensor, log_prob: Tensor, unit: Tensor) -> Tensor:
            return self.algorithm.actor_loss(ActorInputs(heads, log_prob, unit, alpha, batch.action, fractions))

        leaves = heads_of(critics, fractions), sample.log_prob, sample.unit
        loss, (of_heads, of_log_prob, of_unit) = slopes(objective, *leaves)
        # of the critics only the action's gradient is asked for: their parameters are frozen here
        of_action = critics.input_gradient(of_outputs(of_heads), self.actions)
        if of_unit is not None:
            of_action += of_unit
        gradient = through.gradient(sample.gradient(of_action, of_log_prob)[None], self._gradients["actor"])
        if self.algorithm.penalises_actor:
            penalty, (more,) = slopes(
                lambda matrix: self.algorithm.actor_penalty(matrix, self.best.matrix), self.actor.matrix
            )
            loss = loss + penalty
            gradient += required(more)
        self._check("actor_loss", loss)
        self._descend("actor", gradient)
        if self.averaged.running is not None and self.actor.running is not None:
            self.averaged.running.follow(self.actor.running, self.options.ema_rate)
        if self.target_actor is not None:
            self.target_actor.matrix.lerp_(self.actor.matrix, self.options.tau)
        if self._noted():
            self.statistics.note(actor_loss=loss)

    def _descend(self, name: str, gradient: Tensor, follow: bool = True) -> None:
        """One step, each head's gradient clipped by its own norm. follow: whether the slow average moves too."""
        clip, noted = self.options.grad_clip, self._noted()
        if clip is not None or noted:
            norms = gradient.norm(dim=1, keepdim=True)
            if noted:
                self.statistics.note(**{f"{name}_grad": norms.max()})
            if clip is not None:
                gradient.mul_((clip / (norms + 1e-6)).clamp_(max=1.0))
        self._optimisers[name].step(gradient, follow)

    def _noted(self) -> bool:
        """Whether this update's statistics are noted; the actor's only where it learns."""
        return self.updates % STATISTICS_EVERY == 0

    def evaluated(self, mean_return: float, step: int) -> None:
        """An evaluation of the averaged policy gave this mean return; the best policy so far is kept."""
        self.algorithm.evaluated(mean_return, step)
        if mean_return > self.best_return:
            self.best_return = mean_return
            self.best.copy(self.averaged)

    def _check(self, name: str, value: Tensor) -> None:
        number = value.item()
        if not math.isfinite(number) and self.not_finite is None:
            self.not_finite = f"{name} is {number} at update {self.updates:,}"

    def _tensors(self) -> dict[str, Tensor]:
        """All that a checkpoint keeps, but the generator."""
        optimisers = dict(self._optimisers)
        if self.temperature is not None and self.temperature.optimiser is not None:
            optimisers["temperature"] = self.temperature.optimiser
        moments = {f"{name}.{key}": part for name, own in optimisers.items() for key, part in own.moments.items()}
        return {**self.networks(), **moments}

    def state(self) -> dict[str, Any]:
        """Counters and statistics, as JSON."""
        return {
            "updates": self.updates,
            "best_return": None if self.best_return == -math.inf else self.best_return,
            "statistics": self.statistics.state(),
            "algorithm": self.algorithm.state(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters, moments of the optimisers and the generator's state."""
        tensors = {**self._tensors(), "generator": self.noise.generator.get_state()}
        return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}

    def load(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take on a saved learner. Raises CheckpointError if an array does not fit."""
        generator = self.noise.generator.get_state()
        load_tensors({**self._tensors(), "generator": generator}, arrays, "the checkpoint")
        self.noise.generator.set_state(generator)
        self.updates = state["updates"]
        self.best_return = -math.inf if state["best_return"] is None else state["best_return"]
        self.statistics.load(state["statistics"])
        self.algorithm.load(state["algorithm"])
