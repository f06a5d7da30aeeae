"""SAC-N: soft actor-critic with the minimum over N critics.

An et al. 2021, "Uncertainty-Based Offline Reinforcement Learning with Diversified Q-Ensemble", arXiv:2110.01548,
section 3: SAC's formulas over N heads, in the target and in the actor. The paper has it for offline learning, where N
is 10 to 500; here it learns online, as RE-SAC's comparison has it.

What others do differently: Stable-Baselines3's SAC with `policy_kwargs={"n_critics": N}` is it. EDAC's code forms all
losses before any network moves; CORL steps α, actor and critics in this order. In the program published with RE-SAC
the actor ascends Q̄ + 1·σ, which is optimistic where the paper is pessimistic (preset `published-sac-n`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pyresac.deep.algorithms.deep_options import Companion, DeepOptions
from pyresac.deep.algorithms.sac import SAC, SACOptions
from pyresac.deep.heads import ensemble_deviation
from pyresac.errors import InputError
from pyresac.options import Count, NonNegative

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class SACNOptions(SACOptions):
    """SAC-N."""

    ensemble_size: Count = 10
    """Critics N."""
    actor_optimism: NonNegative | None = None
    """The actor ascends Q̄ + actor_optimism·σ_ens of the heads instead, σ_ens unbiased; None for `actor_ascends`."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        if self.actor_optimism and self.ensemble_size == 1:
            raise InputError(
                f"ensemble_size = 1 with actor_optimism = {self.actor_optimism}: "
                f"one critic has no deviation; take ensemble_size of at least 2"
            )

    def idle(self) -> dict[str, Companion]:
        """See `DeepOptions`."""
        own: dict[str, Companion] = {"actor_ascends": ("actor_optimism", "actor_optimism = None")}
        return {**super().idle(), **({} if self.actor_optimism is None else own)}


class SACN(SAC):
    """`SAC` over N heads: its target and its actor take the minimum of all."""

    title: ClassVar[str] = "SAC-N"
    options_type: ClassVar[type[DeepOptions]] = SACNOptions
    options: SACNOptions

    def ascended(self, heads: Tensor) -> Tensor:
        """min_k Q_k (B,), section 3; or Q̄ + actor_optimism·σ_ens."""
        optimism = self.options.actor_optimism
        return super().ascended(heads) if optimism is None else heads.mean(0) + optimism * ensemble_deviation(heads)
