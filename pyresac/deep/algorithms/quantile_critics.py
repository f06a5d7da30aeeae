"""What algorithms with critics of quantiles share: the number of quantiles, and critics that are asked at fractions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pyresac.deep.algorithms.algorithm import Algorithm
from pyresac.deep.algorithms.deep_options import EntropyOptions
from pyresac.deep.networks.implicit_layout import EmbeddingActivation, ImplicitLayout
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.errors import InputError
from pyresac.options import Count

if TYPE_CHECKING:
    from pyresac.deep.networks.network import Network


@dataclass(frozen=True)
class QuantileOptions(EntropyOptions):
    """Options of algorithms with critics of quantiles."""

    quantiles: Count = 25
    """Quantiles M of each critic."""
    cosines: Count = 64
    """Cosines that embed a fraction, in implicit critics."""
    embedding_activation: EmbeddingActivation = "sigmoid"
    """Activation after a fraction's embedding, in implicit critics: relu (IQN's paper) or sigmoid (DSAC)."""


Options = TypeVar("Options", bound=QuantileOptions)


class QuantileAlgorithm(Algorithm[Options]):
    """Maximum entropy with critics of quantiles."""

    def critic_layout(self, inputs: int, categories: tuple[int, ...]) -> NetworkLayout:
        """See `Algorithm`; as many outputs as quantiles."""
        options = self.options
        shapes: dict[str, Any] = {
            "dense": inputs,
            "categories": categories,
            "hidden": options.hidden,
            "outputs": options.quantiles,
            "activation": options.activation,
            "normalisation": options.normalisation,
        }
        if not self.implicit:
            return NetworkLayout(**shapes)
        return ImplicitLayout(**shapes, cosines=options.cosines, embedding_activation=options.embedding_activation)

    @property
    def critic_type(self) -> type[Network]:
        """See `Algorithm`."""
        from pyresac.deep.networks.implicit_quantiles import ImplicitQuantiles

        return ImplicitQuantiles if self.implicit else super().critic_type

    @property
    def implicit(self) -> bool:
        """Whether critics are asked at any fractions, and do not give quantiles of fixed ones."""
        return True


def require_implicit(options: QuantileOptions) -> None:
    """Raise InputError for options that implicit critics cannot have."""
    if options.normalisation == "batch":
        raise InputError("normalisation = 'batch'; implicit quantile critics have none or 'layer'")
    if len(options.hidden) < 2:
        raise InputError(
            f"hidden = {list(options.hidden)}; implicit quantile critics need two layers: the embedding of a fraction "
            f"multiplies the last but one"
        )
