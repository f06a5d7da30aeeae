"""TD3: twin delayed deep deterministic policy gradient.

Fujimoto et al. 2018, "Addressing Function Approximation Error in Actor-Critic Methods", arXiv:1802.09477.

What others do differently: the author's later code has rates of 3e-4 (the paper 1e-3), 256 × 256 units (400 × 300) and
25,000 random steps (1,000 on Hopper and Walker2d, 10,000 else); target networks move only when the actor does, here
too. Stable-Baselines3's defaults have no exploration noise. The program published with RE-SAC lets the actor ascend the
mean of the two heads, not the first (preset `published-td3`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from pyresac.deep.algorithms.algorithm import ActorInputs, Algorithm, TargetInputs
from pyresac.deep.algorithms.deep_options import Companion, DeepOptions
from pyresac.deep.heads import squared_error
from pyresac.options import NonNegative

if TYPE_CHECKING:
    from torch import Tensor

    from pyresac.deep.networks.network import Network
    from pyresac.deep.policies.policy import SampledAction
    from pyresac.deep.random_source import Noise


@dataclass(frozen=True)
class TD3Options(DeepOptions):
    """TD3. Noise is in units of the action box [−1, 1]."""

    actor_every: Annotated[int, Meta(ge=1)] = 2
    """Updates of the critics for each of the actor, d."""
    exploration_noise: NonNegative = 0.1
    """Standard deviation of the noise on actions that collect experience."""
    smoothing_noise: NonNegative = 0.2
    """σ̃, standard deviation of the noise on target actions."""
    smoothing_clip: NonNegative = 0.5
    """c, where that noise is clipped."""
    actor_ascends: Literal["first", "mean"] = "first"
    """What of the heads the actor ascends: the first one (the paper) or their mean."""

    def idle(self) -> dict[str, Companion]:
        """See `DeepOptions`."""
        own: dict[str, Companion] = {"smoothing_clip": ("smoothing_noise", "smoothing_noise above 0")}
        return {**super().idle(), **(own if self.smoothing_noise == 0.0 else {})}


class TD3(Algorithm[TD3Options]):
    """Clipped double critics, delayed updates of the policy, smoothing of its target."""

    title: ClassVar[str] = "TD3"
    options_type: ClassVar[type[DeepOptions]] = TD3Options
    target_policy: ClassVar[bool] = True
    targets_follow_actor: ClassVar[bool] = True

    def next_action(self, sample: SampledAction, noise: Noise) -> Tensor:
        """a′ = clip(μ′(s′) + clip(ε, −c, c), −1, 1), ε ~ N(0, σ̃²), Eqs. 14, 15."""
        clip = self.options.smoothing_clip
        smoothing = (self.options.smoothing_noise * noise.normal(*sample.unit.shape)).clamp(-clip, clip)
        return (sample.unit + smoothing).clamp(-1.0, 1.0)

    def explore(self, sample: SampledAction, noise: Noise) -> Tensor:
        """a = clip(μ(s) + ε, −1, 1), ε ~ N(0, σ²), Algorithm 1."""
        return (sample.unit + self.options.exploration_noise * noise.normal(*sample.unit.shape)).clamp(-1.0, 1.0)

    def target(self, after: TargetInputs) -> Tensor:
        """y = r + γ(1 − d)·min_k Q̂_k(s′, a′) (B,), Eq. 10."""
        return after.backup(after.heads.amin(0))

    def critic_loss(self, heads: Tensor, target: Tensor) -> Tensor:
        """Σ_k E[(Q_k − y)²], Algorithm 1."""
        return squared_error(heads, target)

    def actor_heads(self, critic: Network) -> Network:
        """The first critic alone, if the actor ascends it."""
        return critic.head(0) if self.options.actor_ascends == "first" else critic

    def actor_loss(self, now: ActorInputs) -> Tensor:
        """−E[Q_1(s, μ(s))], Algorithm 1."""
        return -now.heads.mean(0).mean()
