"""Shapes of implicit quantile networks; `implicit_quantiles` says what they compute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

from pyresac.deep.networks.network_layout import NetworkLayout

EmbeddingActivation: TypeAlias = Literal["relu", "sigmoid"]


@dataclass(frozen=True)
class ImplicitLayout(NetworkLayout):
    """Shapes of an implicit quantile network: those of a perceptron of one output, and the embedding of τ.

    `outputs` is the number of fractions of a pass. Of the weights, biases and normalisations the embedding's is the
    last one.
    """

    cosines: int = 64
    """n, cosines cos(π·i·τ) with i = 1 … n."""
    embedding_activation: EmbeddingActivation = "sigmoid"
    """σ."""

    @cached_property
    def layer_shapes(self) -> tuple[tuple[int, int], ...]:
        """(in, out) of the layers, from the input to the one output, then of the embedding."""
        layers = pairwise((self.sizes[0], *self.hidden, 1))
        return (*layers, (self.cosines, self.hidden[-2]))

    @cached_property
    def normalised(self) -> tuple[int, ...]:
        """See `NetworkLayout`; the embedding's last."""
        return (*self.hidden, self.hidden[-2]) if self.normalisation == "layer" else ()

    @property
    def activations(self) -> int:
        """See `NetworkLayout`; all but ψ's once a fraction."""
        return sum(self.hidden[:-1]) + self.outputs * (self.cosines + 3 * self.hidden[-2] + 2 * self.hidden[-1] + 1)
