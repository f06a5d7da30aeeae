"""TQC: truncated quantile critics.

Kuznetsov et al. 2020, "Controlling Overestimation Bias with Truncated Mixture of Continuous Distributional Quantile
Critics", arXiv:2005.04269, section 3.

What others do differently: Stable-Baselines3-contrib and SBX have 2 critics of 2 × 256 units (the paper 5 of 3 × 512)
and take the mean of the critics' losses, not their sum, which after Adam is the same but for its ε. The paper drops 0
quantiles a critic on HalfCheetah, 5 on Hopper and 2 else. The program published with RE-SAC has implicit critics that
are asked at random fractions, and drops the largest quantiles of each critic by itself (preset `published-tqc`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from pyresac.deep.algorithms.algorithm import ActorInputs, TargetInputs
from pyresac.deep.algorithms.deep_options import Companion, DeepOptions, LayerWidths
from pyresac.deep.algorithms.quantile_critics import QuantileAlgorithm, QuantileOptions, require_implicit
from pyresac.deep.quantiles import Fractions, ascending, even_fractions, quantile_huber, uniform_fractions
from pyresac.errors import InputError
from pyresac.options import Count

if TYPE_CHECKING:
    from torch import Tensor

    from pyresac.deep.random_source import Noise


@dataclass(frozen=True)
class TQCOptions(QuantileOptions):
    """Truncated quantile critics."""

    ensemble_size: Count = 5
    """Critics N."""
    hidden: LayerWidths = (512, 512, 512)
    """Widths of each critic's hidden layers."""
    dropped: Annotated[int, Meta(ge=0)] = 2
    """Quantiles that are dropped for each critic, d = M − k: less than `quantiles`."""
    drops_from: Literal["pool", "critic"] = "pool"
    """Where they are the largest of: of all critics' quantiles together (the paper), or of each critic's own."""
    critics: Literal["fixed", "implicit"] = "fixed"
    """fixed: the quantiles of (2m − 1)/2M (the paper). implicit: of fractions that are drawn for each pass."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        if self.dropped >= self.quantiles:
            raise InputError(f"dropped = {self.dropped}; it must be less than quantiles = {self.quantiles}")
        if self.critics == "implicit":
            require_implicit(self)

    def idle(self) -> dict[str, Companion]:
        """See `DeepOptions`."""
        own: dict[str, Companion] = {"drops_from": ("dropped", "dropped above 0")} if self.dropped == 0 else {}
        if self.critics == "fixed":
            own |= dict.fromkeys(("cosines", "embedding_activation"), ("critics", "critics = 'implicit'"))
        return {**super().idle(), **own}


def truncated_pool(quantiles: Tensor, dropped: int) -> Tensor:
    """z_(1) ≤ … ≤ z_(kN) (B, kN): all quantiles (N, B, M) in one pool, without the N·dropped largest."""
    heads, size, each = quantiles.shape
    pool = quantiles.transpose(0, 1).reshape(size, heads * each)
    return ascending(pool)[:, : heads * (each - dropped)]


def truncated_each(quantiles: Tensor, dropped: int) -> Tensor:
    """(B, kN): the quantiles (N, B, M) without the largest `dropped` of each critic."""
    kept = ascending(quantiles)[..., : quantiles.shape[2] - dropped]
    return kept.transpose(0, 1).flatten(1)


class TQC(QuantileAlgorithm[TQCOptions]):
    """Soft actor-critic whose critics' distributions are mixed, and cut off at the top."""

    title: ClassVar[str] = "TQC"
    options_type: ClassVar[type[DeepOptions]] = TQCOptions

    @property
    def implicit(self) -> bool:
        """See `QuantileAlgorithm`."""
        return self.options.critics == "implicit"

    def fractions(self, size: int, noise: Noise, evaluates: bool = False) -> Fractions:
        """τ_m = (2m − 1)/2M; uniform draws for implicit critics."""
        if self.implicit and not evaluates:
            return uniform_fractions(size, self.options.quantiles, noise)
        return even_fractions(self.options.quantiles, noise.device)

    def target(self, after: TargetInputs) -> Tensor:
        """y_i = r + γ(1 − d)(z_(i)(s′, a′) − α·log π(a′|s′)) (B, kN), Eq. 11: the atoms of Y, each of weight 1/kN."""
        truncated = truncated_pool if self.options.drops_from == "pool" else truncated_each
        atoms = truncated(after.heads, self.options.dropped)
        return after.backup(atoms - (after.alpha * after.log_prob)[:, None], batch_axis=0)

    def quantile_loss(self, heads: Tensor, target: Tensor, fractions: Fractions, of_target: Fractions) -> Tensor:
        """Σ_n J_Z(ψ_n) = Σ_n E[1/(kNM)·Σ_m Σ_i ρ_τm(y_i − θ^m_n(s, a))]."""
        even = target.new_full((1, target.shape[1]), 1.0 / target.shape[1])
        return quantile_huber(heads, target, fractions.at, even)

    def actor_loss(self, now: ActorInputs) -> Tensor:
        """J_π = E[α·log π(a_π|s) − 1/(NM)·Σ_n Σ_m θ^m_n(s, a_π)]: of all quantiles, none dropped."""
        return (now.alpha * now.log_prob - now.heads.mean((0, 2))).mean()
