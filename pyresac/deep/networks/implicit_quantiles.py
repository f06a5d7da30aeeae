"""Implicit quantile networks: critics that are asked for Z_τ(s, a) at any fractions τ.

IQN, Dabney et al. 2018, "Implicit Quantile Networks for Distributional Reinforcement Learning", arXiv:1806.06923,
section 3.1: Z_τ(x) = f(ψ(x) ⊙ φ(τ)), where φ_j(τ) = σ(Σ_i cos(π·i·τ)·w_ij + b_j) (Eq. 4). Here ψ has all hidden
layers but the last, f has the last one and the output, and where layers are normalised φ is too. That paper counts i
from 0, whose cosine is a second bias; it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from pyresac.deep.networks.eager_passes import ACTIVATIONS, run_eager, with_embeddings
from pyresac.deep.networks.implicit_layout import EmbeddingActivation, ImplicitLayout
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import LAYER_EPSILON
from pyresac.deep.networks.passes import ForwardPass

EMBEDDING_ACTIVATIONS: dict[EmbeddingActivation, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
}


class ImplicitQuantiles(Network):
    """K implicit quantile networks; a pass takes `Inputs.fractions` (B, M) and gives quantiles (K, B, M)."""

    def run(self, inputs: Inputs, keep: bool = True) -> ForwardPass:
        """See `Network`; by PyTorch's operations on every device."""
        return self.run_eager(inputs, keep)

    def run_eager(self, inputs: Inputs, keep: bool = True) -> ForwardPass:
        """See `Network`. Raises TypeError for a layout of another network."""
        layout = self.layout
        if not isinstance(layout, ImplicitLayout):
            raise TypeError(f"implicit quantiles need an ImplicitLayout, not a {type(layout).__name__}")
        return run_eager(lambda matrix, given: quantiles(matrix, layout, given), self.matrix, inputs, keep)


def quantiles(matrix: Tensor, layout: ImplicitLayout, inputs: Inputs) -> Tensor:
    """Z_τ(s, a) (K, B, M) at `inputs.fractions`, for autograd. Raises ValueError without fractions."""
    if inputs.fractions is None:
        raise ValueError("implicit quantiles are asked at fractions; these inputs have none")
    weights, biases, tables = layout.split(matrix)
    scales, shifts = layout.affine(matrix)
    activation = ACTIVATIONS[layout.activation]

    def layer(value: Tensor, index: int, after: Callable[[Tensor], Tensor]) -> Tensor:
        """A hidden layer, or the embedding (−1), of values (K, rows, in)."""
        result = torch.baddbmm(biases[index][:, None], value, weights[index])
        if layout.normalisation == "layer":
            result = layer_norm(result, result.shape[2:], eps=LAYER_EPSILON)
            result = scales[index][:, None] * result + shifts[index][:, None]
        return after(result)

    heads, (size, count) = len(matrix), inputs.fractions.expand(len(inputs.dense), -1).shape
    of_input = with_embeddings(tables, layout, inputs, heads)
    for index in range(len(layout.hidden) - 1):
        of_input = layer(of_input, index, activation)
    # fractions of a single row are embedded once for all inputs
    orders = torch.arange(1, layout.cosines + 1, dtype=matrix.dtype, device=matrix.device)
    cosines = torch.cos(math.pi * inputs.fractions[..., None] * orders).flatten(0, 1)
    of_fraction = layer(cosines.expand(heads, -1, -1), -1, EMBEDDING_ACTIVATIONS[layout.embedding_activation])
    joint = of_input[:, :, None] * of_fraction.view(heads, len(inputs.fractions), count, -1)
    last = layer(joint.view(heads, size * count, -1), len(layout.hidden) - 1, activation)
    return torch.baddbmm(biases[-2][:, None], last, weights[-2]).view(heads, size, count)
