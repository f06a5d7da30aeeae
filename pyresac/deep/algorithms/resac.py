"""RE-SAC: robust ensemble soft actor-critic, section 4 of its paper.

The target is penalised twice, by frozen numbers: the variance of the target critics (epistemic) and the l1 norm of
their weights (aleatoric). With both frozen, one backup is a γ-contraction: C11, `RESAC.resac_contraction`; if the
variance were live, no modulus would hold: C15, `RESAC.variance_not_modulus`.

What the published corridor program does differently stands in `Departures` and in the preset `published-code`; the
MuJoCo program's variants are the presets `resac-v1` … `resac-b0`. Three of that program's other switches are options
here: `adaptive_beta`, `normalise_lcb`, `sigma_clip`. Left out, because none is a line in a formula: spectral
normalisation of the critics' layers, a count bonus by hashed (s, a), and λ_ale adapted to the TD residual, to the
random phase's rewards or to the variance within heads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pyresac.deep.algorithms.algorithm import ActorInputs, Algorithm, TargetInputs
from pyresac.deep.algorithms.deep_options import Companion, DeepOptions, EntropyOptions
from pyresac.deep.algorithms.pessimism import PessimismSchedule
from pyresac.deep.heads import ensemble_deviation, ensemble_variance, squared_error
from pyresac.errors import InputError
from pyresac.options import Checked, Count, Fraction, NonNegative, NonPositive, Positive
from pyresac.tasks.experience import Experience

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from pyresac.deep.networks.network import Network
    from pyresac.deep.networks.network_layout import NetworkLayout
    from pyresac.deep.policies.policy import Policy

SIGMA_DECAY = 0.99
"""Share of σ_ema that stays at each step of the actor."""
LARGEST_SCALE = 3.0
"""The most that σ̄/σ_ema scales β_lcb by."""
SMALLEST_VALUE = 1e-6
"""The least |Q̄| that a bound is divided by."""


@dataclass(frozen=True)
class Departures(Checked):
    """Where the published corridor program leaves the paper's equations; all off but in the preset `published-code`.

    Its missing λ_epi term is `lambda_epi = 0`; κ in its actor's objective does not depend on θ and changes nothing.
    """

    add_kappa: bool = False
    """Add λ_ale·κ to the target instead of subtracting it."""
    kappa_biases: bool = False
    """Count biases in κ."""
    standardise_rewards: bool = False
    """Replace the rewards of each batch by 10·(r − mean)/deviation."""
    cloning: NonNegative = 0.0
    """Weight of E[(a_π − a)²] in the actor's loss."""
    full_range_jacobian: bool = False
    """Subtract the logarithm of the action range from log π, where the Jacobian is half the range."""
    fan_out_init: bool = False
    """Initialise the critic by each layer's outputs instead of its inputs."""
    skip_terminals: bool = False
    """Never learn from a transition into a terminal state."""


@dataclass(frozen=True)
class RESACOptions(EntropyOptions):
    """RE-SAC. Penalties act in units of scaled rewards, reward_scale·r."""

    ensemble_size: Count = 5
    """Critics K; at least 2 where a variance is used (lambda_epi, beta_lcb, beta_ood)."""
    lambda_epi: NonNegative = 0.01
    """λ_epi, of the frozen target variance (Eq. target_y)."""
    lambda_ale: NonNegative = 0.0001
    """λ_ale, of κ_k, the l1 norm of frozen head k's weights (Eq. target_y)."""
    beta_ood: NonNegative = 0.01
    """β_ood, of σ_ens in the critic's loss."""
    beta_lcb: NonPositive = -0.5
    """β_lcb, of σ_ens in the actor's objective (Eq. actor_loss)."""
    beta_lcb_end: NonPositive | None = None
    """Where β_lcb goes linearly after a fifth of beta_steps; None keeps it. It moves half-way back to beta_lcb
    when the mean of three evaluations falls by a tenth below that of the three before."""
    beta_steps: Count = 1_000_000
    """Environment steps of that schedule."""
    independence: Fraction = 1.0
    """α_ind: 1 for independent targets (Eq. target_y), 0 for the shared minimum."""
    anchor_weight: NonNegative = 0.0
    """λ_anc, of ‖θ − θ_anchor‖²/n; the anchor is the policy at the best evaluation so far."""
    sigma_clip: Positive | None = None
    """In the actor's objective σ_ens is at most this fraction of |Q̄|; None for no limit."""
    normalise_lcb: bool = False
    """The actor ascends its bound over the batch's mean |Q̄|, which counts as a constant."""
    adaptive_beta: bool = False
    """β_lcb times σ̄/σ_ema, at most 3: σ̄ is the batch's mean σ_ens, σ_ema its slow average (decay 0.99)."""
    temperature_on: Literal["state", "next"] = "next"
    """Where the policy's entropy is compared with its target: at the batch's states or at the next ones."""
    departures: Departures = field(default_factory=Departures)

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        needing = ("lambda_epi", "beta_ood", "beta_lcb", "beta_lcb_end", "adaptive_beta")
        used = [name for name in needing if getattr(self, name)]
        if self.ensemble_size == 1 and used:
            raise InputError(
                f"ensemble_size = 1 with {', '.join(f'{name} = {getattr(self, name)}' for name in used)}: "
                f"the variance of one critic is undefined; take ensemble_size of at least 2, or set these to 0"
            )
        if self.departures.standardise_rewards and self.batch_size == 1:
            raise InputError("batch_size = 1 with standardise_rewards: one reward has no deviation; take at least 2")

    def idle(self) -> dict[str, Companion]:
        """See `DeepOptions`."""
        own: dict[str, Companion] = dict.fromkeys(("sigma_clip", "adaptive_beta"), ("beta_lcb", "beta_lcb below 0"))
        return {**super().idle(), **({} if self.beta_lcb or self.beta_lcb_end else own)}


def blended_values(heads: Tensor, independence: float) -> Tensor:
    """(K, B): ρ·Q̂_k + (1 − ρ)·min_j Q̂_j, ρ = α_ind; ρ = 1 is Eq. target_y, ρ = 0 the shared minimum."""
    if independence == 1.0:
        return heads
    least = heads.amin(0).expand_as(heads)
    return least if independence == 0.0 else least.lerp(heads, independence)


def penalised_value(
    heads: Tensor,
    log_prob: Tensor,
    kappa: Tensor,
    *,
    alpha: float,
    lambda_epi: float,
    lambda_ale: float,
    independence: float,
) -> Tensor:
    """The bracket of Eq. target_y (K, B): blended Q̂_k − λ_epi·Γ_epi − λ_ale·κ_k − α·log π.

    heads: Q̂_k(s′, a′) (K, B) of the frozen target critics; kappa: κ_k (K,) of the same; log_prob: (B,). lambda_ale < 0
    adds κ, as the published program does.
    """
    value = blended_values(heads, independence)
    if lambda_epi != 0.0:
        value = value - lambda_epi * ensemble_variance(heads)
    if lambda_ale != 0.0:
        value = value - lambda_ale * kappa[:, None]
    return value.sub(log_prob, alpha=alpha)


def lower_confidence_bound(heads: Tensor, beta_lcb: float, sigma_clip: float | None = None) -> Tensor:
    """Q̄ + β_lcb·σ_ens (B,), β_lcb ≤ 0: what the actor maximises. sigma_clip: see `RESACOptions`."""
    mean = heads.mean(0)
    if beta_lcb == 0.0:
        return mean
    sigma = ensemble_deviation(heads)
    return mean + beta_lcb * (sigma if sigma_clip is None else sigma.minimum(sigma_clip * mean.abs()))


class RESAC(Algorithm[RESACOptions]):
    """Independent targets with two frozen penalties, and an actor that ascends a lower confidence bound."""

    title: ClassVar[str] = "RE-SAC"
    options_type: ClassVar[type[DeepOptions]] = RESACOptions

    def __init__(self, options: RESACOptions) -> None:
        super().__init__(options)
        self.schedule = PessimismSchedule(options.beta_lcb, options.beta_lcb_end, options.beta_steps)
        self.sigma_ema: float | None = None
        """σ_ema of `adaptive_beta`, None before the actor's first step."""

    def target(self, after: TargetInputs) -> Tensor:
        """Eq. target_y, y_k (K, B): r + γ(1 − d)(Q̂_k − λ_epi·Γ_epi − λ_ale·κ_k − α·log π).

        The deep form of `RevOperator`. The penalties stand under the discount and vanish with the bootstrap.
        """
        options = self.options
        lambda_ale = -options.lambda_ale if options.departures.add_kappa else options.lambda_ale
        return after.backup(
            penalised_value(
                after.heads,
                after.log_prob,
                self.kappa(after.critic),
                alpha=after.alpha,
                lambda_epi=options.lambda_epi,
                lambda_ale=lambda_ale,
                independence=options.independence,
            )
        )

    def policy(self, log_volume: float, actions: int) -> Policy:
        """See `Algorithm`; the published program takes the whole range for the half."""
        more = actions * math.log(2.0) if self.options.departures.full_range_jacobian else 0.0
        return super().policy(log_volume + more, actions)

    def initial_critic(self, layout: NetworkLayout, generator: torch.Generator) -> Tensor:
        """See `Algorithm`."""
        return layout.initial(self.options.ensemble_size, generator, self.options.departures.fan_out_init)

    def scaled(self, reward: Tensor) -> Tensor:
        """See `Algorithm`."""
        if self.options.departures.standardise_rewards:
            return 10.0 * (reward - reward.mean()) / (reward.std() + 1e-6)
        return super().scaled(reward)

    def kept(self, found: Experience) -> Experience:
        """See `Algorithm`."""
        if not self.options.departures.skip_terminals:
            return found
        return found.where(~found.terminal)

    @property
    def values_have_a_unit(self) -> bool:
        """See `Algorithm`; rewards standardised batch by batch have none."""
        return not self.options.departures.standardise_rewards

    def kappa(self, critic: Network) -> Tensor:
        """κ_k (K,), section 4.2."""
        return critic.weight_norms(self.options.departures.kappa_biases)

    def critic_loss(self, heads: Tensor, target: Tensor) -> Tensor:
        """Σ_k E[(Q_k − y_k)²] + β_ood·E[σ_ens]; its slope in head k is that of L_Q(φ_k), whose last term all share."""
        squared = squared_error(heads, target)
        beta = self.options.beta_ood
        return squared if beta == 0.0 else squared + beta * ensemble_deviation(heads).mean()

    def actor_loss(self, now: ActorInputs) -> Tensor:
        """Eq. actor_loss: E[α·log π − (Q̄ + β_lcb·σ_ens)]."""
        bound = lower_confidence_bound(now.heads, self.beta_lcb(now.heads), self.options.sigma_clip)
        if self.options.normalise_lcb:
            bound = bound / now.heads.detach().mean(0).abs().mean().clamp(min=SMALLEST_VALUE)
        loss = (now.alpha * now.log_prob - bound).mean()
        cloning = self.options.departures.cloning
        return loss if cloning == 0.0 else loss + cloning * (now.unit - now.action).square().mean()

    def beta_lcb(self, heads: Tensor) -> float:
        """β_lcb for this step of the actor: the schedule's, scaled if `adaptive_beta` says so."""
        if not self.options.adaptive_beta:
            return self.schedule.beta
        sigma = ensemble_deviation(heads.detach()).mean().item()
        self.sigma_ema = sigma if self.sigma_ema is None else SIGMA_DECAY * self.sigma_ema + (1 - SIGMA_DECAY) * sigma
        return self.schedule.beta * (min(LARGEST_SCALE, sigma / self.sigma_ema) if self.sigma_ema > 0.0 else 1.0)

    @property
    def penalises_actor(self) -> bool:
        """See `Algorithm`."""
        return self.options.anchor_weight > 0.0

    def actor_penalty(self, parameters: Tensor, best: Tensor) -> Tensor:
        """λ_anc·‖θ − θ_anchor‖²/n, section 5.1."""
        return self.options.anchor_weight * (parameters - best).square().mean()

    def moved(self, step: int) -> None:
        """See `Algorithm`; β_lcb follows its schedule."""
        self.schedule.moved(step)

    def evaluated(self, mean_return: float, step: int) -> None:
        """See `Algorithm`; a fall moves β_lcb back."""
        self.schedule.evaluated(mean_return, step)

    def statistics(self, critic: Network, target: Network) -> dict[str, float]:
        """Mean κ of the target critics, and β_lcb now."""
        return {"kappa": float(self.kappa(target).mean()), "beta_lcb": self.schedule.beta}

    def state(self) -> dict[str, Any]:
        """The schedule, and σ_ema where it is used."""
        slow = {"sigma_ema": self.sigma_ema} if self.options.adaptive_beta else {}
        return {"schedule": self.schedule.state(), **slow}

    def load(self, state: Mapping[str, Any]) -> None:
        """See `Algorithm`."""
        self.schedule.load(state["schedule"])
        self.sigma_ema = state.get("sigma_ema")
