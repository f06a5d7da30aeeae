"""BAC: actor-critic with the blended exploitation and exploration (BEE) operator.

Ji et al. 2024, "Seizing Serendipity: Exploiting the Value of Past Success in Off-Policy Actor-Critic",
arXiv:2306.02865: B = λ·T_exploit + (1 − λ)·T_explore. T_explore is SAC's backup. T_exploit bootstraps from the best
action that the replay buffer has at s′, max Q(s′, ·) over the buffer's actions there; a network V(s′) learns it by
expectile regression of Q(s, a) on the buffer's pairs, as in IQL (Kostrikov et al. 2021, arXiv:2110.06169, Eq. 5). The
actor is SAC's. λ = 0 is SAC.

What others do differently: the update is missing in the code that the authors gave out; a third-party version puts
−α·log π inside the expectile error, the paper does not. The program published with RE-SAC learns no V: it takes the
largest of min_k Q̂_k over 10 uniformly random actions, which the buffer need not have (preset `published-bac`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from pyresac.deep.algorithms.algorithm import TargetInputs
from pyresac.deep.algorithms.deep_options import Companion, DeepOptions
from pyresac.deep.algorithms.sac import SAC, SACOptions
from pyresac.options import Count, Fraction, Positive

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class BACOptions(SACOptions):
    """BAC."""

    blend: Fraction = 0.5
    """λ, share of the exploitation backup; 0 is SAC."""
    exploitation: Literal["buffer", "uniform"] = "buffer"
    """Whose best action it bootstraps from: the replay buffer's, through V (the paper), or uniformly random ones."""
    expectile: Annotated[float, Meta(gt=0, lt=1)] = 0.7
    """τ of the expectile regression of V; ½ is the mean, towards 1 the maximum."""
    state_value_lr: Positive = 3e-4
    """Adam's rate for V."""
    uniform_actions: Count = 10
    """Random actions at each next state, for exploitation = uniform."""

    def idle(self) -> dict[str, Companion]:
        """See `DeepOptions`."""
        of_buffer, of_uniform = ("expectile", "state_value_lr"), ("uniform_actions",)
        if self.blend == 0.0:
            own = dict.fromkeys(("exploitation", *of_buffer, *of_uniform), ("blend", "blend above 0"))
        elif self.exploitation == "buffer":
            own = dict.fromkeys(of_uniform, ("exploitation", "exploitation = 'uniform'"))
        else:
            own = dict.fromkeys(of_buffer, ("exploitation", "exploitation = 'buffer'"))
        return {**super().idle(), **own}


def expectile_error(difference: Tensor, expectile: float) -> Tensor:
    """E[|τ − 1(u < 0)|·u²] of u (B,), Eq. 5 of IQL: differences above 0 weigh τ, those below 1 − τ."""
    weight = difference.new_full(difference.shape, expectile).masked_fill(difference < 0.0, 1.0 - expectile)
    return (weight * difference.square()).mean()


class BAC(SAC):
    """`SAC` whose target is blended with an exploitation backup."""

    title: ClassVar[str] = "BAC"
    options_type: ClassVar[type[DeepOptions]] = BACOptions
    options: BACOptions

    @property
    def state_value_lr(self) -> float | None:
        """See `Algorithm`; without an exploitation backup from the buffer there is no V."""
        needed = self.options.blend > 0.0 and self.options.exploitation == "buffer"
        return self.options.state_value_lr if needed else None

    def target(self, after: TargetInputs) -> Tensor:
        """y = λ·y_exploit + (1 − λ)·y_explore (B,), the BEE operator; y_explore is SAC's target."""
        explore, blend = super().target(after), self.options.blend
        return explore if blend == 0.0 else explore.lerp(self.exploitation_target(after), blend)

    def exploitation_target(self, after: TargetInputs) -> Tensor:
        """r + γ(1 − d)·V(s′) (B,); or the published program's, with max_j min_k Q̂_k(s′, a_j) for V."""
        if after.state_value is not None:
            return after.backup(after.state_value)
        shape = after.next_action.shape
        tried = [2.0 * after.noise.uniform(*shape) - 1.0 for _ in range(self.options.uniform_actions)]
        values = (after.heads_at(action).amin(0) for action in tried)
        return after.backup(reduce(lambda best, value: best.maximum(value), values))

    def state_value_loss(self, value: Tensor, heads: Tensor) -> Tensor:
        """E[|τ − 1(u < 0)|·u²], u = min_k Q̂_k(s, a) − V(s) on the buffer's pairs, with the target critics."""
        return expectile_error(heads.amin(0) - value, self.options.expectile)
