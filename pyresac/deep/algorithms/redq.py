"""REDQ: randomised ensembled double Q-learning.

Chen et al. 2021, "Randomized Ensembled Double Q-Learning: Learning Fast Without a Model", arXiv:2101.05982,
Algorithm 1: SAC with N critics, a target that is the minimum of M of them drawn anew for each update, an actor that
ascends the mean of all, and G updates of the critics an environment step with one of the actor.

What others do differently: the author's code takes MBPO's target entropies (−1 on Hopper, −3 on HalfCheetah and
Walker2d, −4 on Ant, −2 on Humanoid) for −dim(A), and the gradient of the last of the G actor's losses before the
critics' step of the same update; here, as in Algorithm 1, the actor comes after the critics. The program published
with RE-SAC makes one update every 16 steps, the actor's among them, not 20 a step (preset `published-redq`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from pyresac.deep.algorithms.algorithm import TargetInputs
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.algorithms.sac import SAC, SACOptions
from pyresac.deep.heads import squared_error
from pyresac.errors import InputError
from pyresac.options import Count, Positive

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class REDQOptions(SACOptions):
    """REDQ."""

    ensemble_size: Count = 10
    """Critics N."""
    subset_size: Count = 2
    """M, critics of a target."""
    updates: Count = 20
    """G, updates after each `update_every` steps."""
    actor_every: Count = 20
    """Updates of the critics for each of the actor."""
    random_steps: Annotated[int, Meta(ge=0)] = 5_000
    """Environment steps at the start whose actions are uniform in the action box."""
    learning_starts: Annotated[int, Meta(ge=0)] = 5_000
    """Environment steps before the first update."""
    alpha_init: Positive = 1.0
    """Temperature α at the start."""
    actor_ascends: Literal["min", "mean"] = "mean"
    """What of the heads the actor ascends: their mean (the paper) or their minimum."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        if self.subset_size > self.ensemble_size:
            raise InputError(
                f"subset_size = {self.subset_size}; it must be at most ensemble_size = {self.ensemble_size}"
            )


class REDQ(SAC):
    """`SAC` with the minimum of a random subset of heads in the target; `SAC.actor_loss` with the mean of the heads."""

    title: ClassVar[str] = "REDQ"
    options_type: ClassVar[type[DeepOptions]] = REDQOptions
    options: REDQOptions

    def target(self, after: TargetInputs) -> Tensor:
        """y = r + γ(1 − d)(min_{k ∈ M} Q̂_k(s′, a′) − α·log π(a′|s′)) (B,), Algorithm 1; one subset M for the batch."""
        subset = after.noise.subset(self.options.subset_size, self.options.ensemble_size)
        return after.backup(after.heads[subset].amin(0) - after.alpha * after.log_prob)

    def critic_loss(self, heads: Tensor, target: Tensor) -> Tensor:
        """Σ_k E[(Q_k − y)²], Algorithm 1."""
        return squared_error(heads, target)
