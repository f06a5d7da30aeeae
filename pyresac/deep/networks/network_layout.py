"""All parameters of K equal networks as one matrix (K, P), a row a head; where each tensor lies in a row.

One matrix instead of a list of tensors: the optimiser, the target update, the gradient norm and κ are one operation
each, whatever the number of layers and heads. A row holds the weights first (so κ is the l1 norm of a leading block),
then the biases, then the embedding tables, then the scales and the shifts of normalisation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Integers = NDArray[np.int64]
Activation: TypeAlias = Literal["relu", "tanh"]
"""Each is known from its own output, which is what a pass keeps."""

Normalisation: TypeAlias = Literal["none", "layer", "batch"]

LARGEST_EMBEDDING = 50
LAYER_EPSILON = 1e-5
"""Added to the variance in layer normalisation."""


def embedding_width(categories: int) -> int:
    """min(50, ⌊N/2⌋), section 5.2, and at least 1."""
    return max(1, min(LARGEST_EMBEDDING, categories // 2))


@dataclass(frozen=True)
class NetworkLayout:
    """Shapes of one network: `dense` numbers and one embedded code a categorical feature, hidden layers, outputs."""

    dense: int
    """Continuous inputs."""
    categories: tuple[int, ...]
    """N_i of each categorical feature; () without any."""
    hidden: tuple[int, ...]
    """Widths of the hidden layers, at least one."""
    outputs: int
    activation: Activation = "relu"
    """After each hidden layer."""
    normalisation: Normalisation = "none"
    """layer: of each hidden layer's numbers before its activation, over the layer's units. batch: of each linear
    layer's inputs, over the batch."""

    @cached_property
    def embeddings(self) -> tuple[int, ...]:
        """Width of each feature's embedding."""
        return tuple(embedding_width(count) for count in self.categories)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Width of the input (continuous numbers, then embeddings), of the hidden layers and of the output."""
        return (self.dense + sum(self.embeddings), *self.hidden, self.outputs)

    @cached_property
    def layer_shapes(self) -> tuple[tuple[int, int], ...]:
        """(in, out) of each weight matrix, in the order of a row."""
        return tuple(pairwise(self.sizes))

    @cached_property
    def normalised(self) -> tuple[int, ...]:
        """Widths of what is normalised, each with a scale and a shift a unit; () without normalisation."""
        return {"none": (), "layer": self.hidden, "batch": self.sizes[:-1]}[self.normalisation]

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes in the order of a row: weights (in, out), biases (out,), tables (N_i, d_i), scales and shifts (n,)."""
        layers = self.layer_shapes
        tables = zip(self.categories, self.embeddings, strict=True)
        affine = [(size,) for size in self.normalised]
        return (*layers, *((size,) for _, size in layers), *tables, *affine, *affine)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each tensor begins, and the length P of a row at the end."""
        return tuple(accumulate((math.prod(shape) for shape in self.shapes), initial=0))

    @property
    def layers(self) -> int:
        """Number of weight matrices, L."""
        return len(self.layer_shapes)

    @property
    def activations(self) -> int:
        """Numbers that a pass keeps for each input."""
        return sum(self.hidden) + self.outputs

    @property
    def weight_count(self) -> int:
        """Entries of all weight matrices together: the leading block of a row."""
        return self.offsets[self.layers]

    @property
    def length(self) -> int:
        """P."""
        return self.offsets[-1]

    @cached_property
    def code_offsets(self) -> tuple[int, ...]:
        """First row of each feature in the concatenation of all tables, and their number of rows at the end."""
        return tuple(accumulate(self.categories, initial=0))

    @cached_property
    def arrays(self) -> LayoutArrays:
        """The layout as arrays."""
        offsets = np.array(self.offsets[:-1], dtype=np.int64)
        return LayoutArrays(
            tanh=self.activation == "tanh",
            sizes=np.array(self.sizes, dtype=np.int64),
            weights=offsets[: self.layers],
            biases=offsets[self.layers : 2 * self.layers],
            tables=offsets[2 * self.layers : self._plain],
            widths=np.array(self.embeddings, dtype=np.int64),
            starts=np.array(self.code_offsets, dtype=np.int64),
            scales=offsets[self._plain : self._plain + len(self.normalised)],
            shifts=offsets[self._plain + len(self.normalised) :],
        )

    @property
    def _plain(self) -> int:
        """Number of tensors before the scales."""
        return 2 * self.layers + len(self.categories)

    def views(self, matrix: Tensor) -> list[Tensor]:
        """The tensors in `shapes`, each (K, *shape), as views of `matrix` (K, P)."""
        heads = matrix.shape[0]
        blocks = matrix.split_with_sizes([math.prod(shape) for shape in self.shapes], 1)
        return [block.view(heads, *shape) for block, shape in zip(blocks, self.shapes, strict=True)]

    def split(self, matrix: Tensor) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Weights, biases, tables."""
        views = self.views(matrix)
        return views[: self.layers], views[self.layers : 2 * self.layers], views[2 * self.layers : self._plain]

    def affine(self, matrix: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Scales and shifts of normalisation, each (K, n); none without it."""
        views = self.views(matrix)[self._plain :]
        return views[: len(self.normalised)], views[len(self.normalised) :]

    def initial(self, heads: int, generator: torch.Generator, fan_out: bool = False) -> Tensor:
        """(K, P) fresh parameters: weights and biases uniform in ±1/√fan_in, embeddings in ±1/√d, scales 1, shifts 0.

        fan_out: the published program's slip, which reads a layer's outputs for its inputs.
        """
        import torch

        matrix = torch.empty(heads, self.length)
        weights, biases, tables = self.split(matrix)
        for weight, bias in zip(weights, biases, strict=True):
            bound = 1.0 / math.sqrt(weight.shape[2] if fan_out else weight.shape[1])
            weight.uniform_(-bound, bound, generator=generator)
            bias.uniform_(-bound, bound, generator=generator)
        for table in tables:
            bound = 1.0 / math.sqrt(table.shape[2])
            table.uniform_(-bound, bound, generator=generator)
        for scale, shift in zip(*self.affine(matrix), strict=True):
            scale.fill_(1.0)
            shift.zero_()
        return matrix


class LayoutArrays(NamedTuple):
    """A layout as compiled kernels take it."""

    tanh: bool
    """Whether the activation is tanh, and not ReLU."""
    sizes: Integers
    """(L + 1,) widths of the continuous inputs with the embeddings, of the hidden layers, of the output."""
    weights: Integers
    """(L,) where each layer's weights begin in a row."""
    biases: Integers
    """(L,) and its biases."""
    tables: Integers
    """(F,) and each table."""
    widths: Integers
    """(F,) of the embeddings."""
    starts: Integers
    """(F + 1,) `NetworkLayout.code_offsets`."""
    scales: Integers
    """Where the scales of each normalised layer begin in a row: (L − 1,), (L,) of batches, () without normalisation."""
    shifts: Integers
    """And its shifts."""


def weight_norms(matrix: Tensor, layout: NetworkLayout, biases: bool = False) -> Tensor:
    """κ_k = Σ_l ‖W_l‖₁ (K,) of every head, section 4.2: weights of the layers, no biases, tables or scales.

    biases: count biases as well, as the published program does.
    """
    end = layout.offsets[2 * layout.layers] if biases else layout.weight_count
    return matrix[:, :end].abs().sum(1)
