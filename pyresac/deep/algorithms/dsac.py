"""DSAC: distributional soft actor-critic, with risk-neutral policies.

Ma et al. 2020, "DSAC: Distributional Soft Actor-Critic for Risk-Sensitive Reinforcement Learning", arXiv:2004.14547;
JAIR 83, 2025. Not the algorithm of the same name by Duan et al., whose critics are Gaussian.

What others do differently: the authors' program keeps α = 0.2 on Hopper (`--temperature-lr 0`) and steps α before the
critics, which see the new one. The program published with RE-SAC has 8 quantiles (preset `published-dsac`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pyresac.deep.algorithms.algorithm import ActorInputs, TargetInputs
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.algorithms.quantile_critics import QuantileAlgorithm, QuantileOptions, require_implicit
from pyresac.deep.networks.network_layout import Normalisation
from pyresac.deep.quantiles import Fractions, even_fractions, quantile_huber, spaced_fractions
from pyresac.options import Count

if TYPE_CHECKING:
    from torch import Tensor

    from pyresac.deep.random_source import Noise


@dataclass(frozen=True)
class DSACOptions(QuantileOptions):
    """Distributional soft actor-critic. `--temperature-lr 0` keeps α at `--alpha-init`."""

    quantiles: Count = 32
    """Quantiles N of each critic, at fractions that are drawn for each pass."""
    normalisation: Normalisation = "layer"
    """layer: LayerNorm of each hidden layer of the critics before its activation. none: no normalisation."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        require_implicit(self)


class DSAC(QuantileAlgorithm[DSACOptions]):
    """Soft actor-critic with twin implicit quantile critics."""

    title: ClassVar[str] = "DSAC"
    options_type: ClassVar[type[DeepOptions]] = DSACOptions
    target_policy: ClassVar[bool] = True

    def fractions(self, size: int, noise: Noise, evaluates: bool = False) -> Fractions:
        """τ̂_i and τ_{i+1} − τ_i, of widths drawn uniformly and normalised."""
        if evaluates:
            return even_fractions(self.options.quantiles, noise.device)
        return spaced_fractions(size, self.options.quantiles, noise)

    def target(self, after: TargetInputs) -> Tensor:
        """y_i = r + γ(1 − d)(min_k Ẑ_τ̂i,k(s′, a′) − α·log π̄(a′|s′)) (B, N), with a′ ~ π̄, the target policy."""
        atoms = after.heads.amin(0)
        return after.backup(atoms - (after.alpha * after.log_prob)[:, None], batch_axis=0)

    def quantile_loss(self, heads: Tensor, target: Tensor, fractions: Fractions, of_target: Fractions) -> Tensor:
        """Σ_k J_Z(θ_k) = Σ_k E[1/N·Σ_j Σ_i (τ_{i+1} − τ_i)·ρ_τ̂j(y_i − Z_τ̂j,k(s, a))]; τ_i are the target's own."""
        return quantile_huber(heads, target, fractions.at, of_target.weights)

    def actor_loss(self, now: ActorInputs) -> Tensor:
        """E[α·log π(a_π|s) − min_k Q_k(s, a_π)], Q_k = Σ_i (τ_{i+1} − τ_i)·Z_τ̂i,k(s, a_π)."""
        return (now.alpha * now.log_prob - self.values(now.heads, now.fractions).amin(0)).mean()
