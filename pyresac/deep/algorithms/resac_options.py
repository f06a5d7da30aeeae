"""Hyperparameters of deep RE-SAC, each checked before any work."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pyresac.errors import InputError


@dataclass(frozen=True)
class Departures:
    """Where the published program leaves the paper's equations; all off but in the preset `published-code`.

    Its missing λ_epi term is `lambda_epi = 0`; κ in its actor's objective does not depend on θ and changes nothing.
    """

    add_kappa: bool = False
    """Add λ_ale·κ to the target instead of subtracting it."""
    kappa_biases: bool = False
    """Count biases in κ."""
    standardise_rewards: bool = False
    """Replace the rewards of each batch by 10·(r − mean)/deviation."""
    cloning: float = 0.0
    """Weight of E[(a_π − a)²] in the actor's loss, at least 0."""
    full_range_jacobian: bool = False
    """Subtract the logarithm of the action range from log π, where the Jacobian is half the range."""
    fan_out_init: bool = False
    """Initialise the critic by each layer's outputs instead of its inputs."""
    skip_terminals: bool = False
    """Never learn from a transition into a terminal state."""

    def __post_init__(self) -> None:
        """Raise InputError for a negative weight."""
        _require(self, "cloning", 0.0, math.inf)


@dataclass(frozen=True)
class AlgorithmOptions:
    """RE-SAC. Penalties and temperature act in units of scaled rewards, reward_scale·r."""

    ensemble_size: int = 5
    """Critics K; at least 2 where a variance is used (lambda_epi, beta_lcb, beta_ood)."""
    hidden: tuple[int, ...] = (64, 64, 64)
    """Widths of each critic's hidden layers."""
    actor_hidden: tuple[int, ...] = (64, 64, 64)
    """Widths of the actor's hidden layers."""
    discount: float = 0.99
    """γ, in [0, 1)."""
    lambda_epi: float = 0.01
    """λ_epi ≥ 0, of the frozen target variance (Eq. target_y)."""
    lambda_ale: float = 0.0001
    """λ_ale ≥ 0, of κ_k, the l1 norm of frozen head k's weights (Eq. target_y)."""
    beta_ood: float = 0.01
    """β_ood ≥ 0, of σ_ens in the critic's loss."""
    beta_lcb: float = -0.5
    """β_lcb ≤ 0, of σ_ens in the actor's objective (Eq. actor_loss)."""
    beta_lcb_end: float | None = None
    """Where β_lcb goes linearly after a fifth of beta_steps, ≤ 0; None keeps it. It moves half-way back to beta_lcb
    when the mean of three evaluations falls by a tenth below that of the three before."""
    beta_steps: int = 1_000_000
    """Environment steps of that schedule."""
    independence: float = 1.0
    """α_ind in [0, 1]: 1 for independent targets (Eq. target_y), 0 for the shared minimum."""
    reward_scale: float = 1.0
    """Rewards are multiplied by it before learning; positive."""
    critic_lr: float = 3e-4
    """Adam's rate for the critics."""
    actor_lr: float = 3e-4
    """Adam's rate for the actor."""
    temperature_lr: float = 3e-4
    """Adam's rate for log α."""
    tau: float = 0.005
    """Target networks move by this share an update, in (0, 1]."""
    batch_size: int = 256
    """Transitions an update."""
    buffer_size: int = 1_000_000
    """Transitions kept."""
    learning_starts: int = 5_000
    """Environment steps of the initial policy before the first update."""
    initial_mean: float = 0.0
    """Mean of the initial policy's Gaussian before squashing: 0 is the middle of the action's range."""
    update_every: int = 1
    """Environment steps between updates."""
    updates: int = 1
    """Updates each time."""
    actor_every: int = 2
    """Critic updates an actor update."""
    alpha_init: float = 0.2
    """Temperature α at the start, in (0, alpha_max]."""
    alpha_max: float = 0.6
    """Cap of α."""
    target_entropy: float | None = None
    """Of log π in the action's units; None for −dim(A) in units of [−1, 1]."""
    grad_clip: float | None = 1.0
    """Largest gradient norm of a network (of each critic by itself); None for no limit."""
    ema_rate: float = 0.005
    """τ_ema in (0, 1] of the averaged policy, which is the one evaluated; 1 evaluates the actor itself."""
    anchor_weight: float = 0.0
    """λ_anc ≥ 0, of ‖θ − θ_anchor‖²/n; the anchor is the policy at the best evaluation so far."""
    departures: Departures = field(default_factory=Departures)

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        for name in ("ensemble_size", "batch_size", "buffer_size", "update_every", "updates", "actor_every"):
            _require(self, name, 1, math.inf)
        _require(self, "beta_steps", 1, math.inf)
        for name in ("lambda_epi", "lambda_ale", "beta_ood", "anchor_weight", "learning_starts"):
            _require(self, name, 0, math.inf)
        for name in ("critic_lr", "actor_lr", "temperature_lr", "reward_scale", "alpha_max"):
            _require(self, name, 0, math.inf, open_low=True)
        for name in ("tau", "ema_rate"):
            _require(self, name, 0, 1, open_low=True)
        _require(self, "discount", 0, 1, open_high=True)
        _require(self, "independence", 0, 1)
        _require(self, "beta_lcb", -math.inf, 0)
        _require(self, "alpha_init", 0, self.alpha_max, open_low=True)
        for name, low in (("beta_lcb_end", -math.inf), ("grad_clip", 0.0)):
            if getattr(self, name) is not None:
                _require(self, name, low, 0 if name == "beta_lcb_end" else math.inf, open_low=name == "grad_clip")
        _require(self, "initial_mean", -3, 3)
        if self.target_entropy is not None and not math.isfinite(self.target_entropy):
            raise InputError(f"target_entropy = {self.target_entropy}; it must be finite")
        for name in ("hidden", "actor_hidden"):
            widths = getattr(self, name)
            if not widths or min(widths) < 1:
                raise InputError(f"{name} = {list(widths)}; it needs at least one layer, each of width 1 or more")
        used = [name for name in ("lambda_epi", "beta_ood", "beta_lcb", "beta_lcb_end") if getattr(self, name)]
        if self.ensemble_size == 1 and used:
            raise InputError(
                f"ensemble_size = 1 with {', '.join(f'{name} = {getattr(self, name)}' for name in used)}: "
                f"the variance of one critic is undefined; take ensemble_size of at least 2, or set these to 0"
            )
        if self.departures.standardise_rewards and self.batch_size == 1:
            raise InputError("batch_size = 1 with standardise_rewards: one reward has no deviation; take at least 2")

    def penalty_scale(self) -> float:
        """λ_ale with the sign that the target subtracts it with."""
        return -self.lambda_ale if self.departures.add_kappa else self.lambda_ale


def _require(
    options: object, name: str, low: float, high: float, *, open_low: bool = False, open_high: bool = False
) -> None:
    value = getattr(options, name)
    inside = (low < value if open_low else low <= value) and (value < high if open_high else value <= high)
    if not inside or not math.isfinite(value):
        left, right = "(" if open_low or low == -math.inf else "[", ")" if open_high or high == math.inf else "]"
        raise InputError(f"{name} = {value}; it must lie in {left}{low:g}, {high:g}{right}")
