"""SAC: soft actor-critic.

Haarnoja et al. 2018, "Soft Actor-Critic Algorithms and Applications", arXiv:1812.05905.

What others do differently: Stable-Baselines3 starts α at 1, starts learning after 100 steps and steps α before the
actor, whose loss keeps the old α, as here. CleanRL has a rate of 1e-3 for the critics and takes two actor steps every
second update. The program published with RE-SAC lets the actor ascend the mean of the two heads, not their minimum
(preset `published-sac`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pyresac.deep.algorithms.algorithm import ActorInputs, Algorithm, TargetInputs
from pyresac.deep.algorithms.deep_options import DeepOptions, EntropyOptions
from pyresac.deep.heads import squared_error

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class SACOptions(EntropyOptions):
    """Soft actor-critic."""

    actor_ascends: Literal["min", "mean"] = "min"
    """What of the heads the actor ascends: their minimum (the paper) or their mean."""


class SAC(Algorithm[SACOptions]):
    """Soft actor-critic with clipped double critics."""

    title: ClassVar[str] = "SAC"
    options_type: ClassVar[type[DeepOptions]] = SACOptions

    def target(self, after: TargetInputs) -> Tensor:
        """y = r + γ(1 − d)(min_k Q̂_k(s′, a′) − α·log π(a′|s′)) (B,), Eqs. 2, 3 and section 6."""
        return after.backup(after.heads.amin(0) - after.alpha * after.log_prob)

    def critic_loss(self, heads: Tensor, target: Tensor) -> Tensor:
        """Σ_k E[½(Q_k − y)²], Eq. 5."""
        return 0.5 * squared_error(heads, target)

    def actor_loss(self, now: ActorInputs) -> Tensor:
        """E[α·log π(a_π|s) − min_k Q_k(s, a_π)], Eq. 9 with the minimum of section 6."""
        return (now.alpha * now.log_prob - self.ascended(now.heads)).mean()

    def ascended(self, heads: Tensor) -> Tensor:
        """(B,) What of the heads (K, B) the actor ascends."""
        return heads.amin(0) if self.options.actor_ascends == "min" else heads.mean(0)
