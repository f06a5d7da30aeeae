"""Passes by PyTorch's operations and autograd: the networks' formula, for other devices and where there is no kernel.

Tests hold the compiled kernels to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, pad

from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import LAYER_EPSILON, NetworkLayout

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "tanh": torch.tanh}


def perceptrons(matrix: Tensor, layout: NetworkLayout, inputs: Inputs) -> Tensor:
    """Outputs (K, B, outputs) of K perceptrons with embedded codes, for autograd."""
    weights, biases, tables = layout.split(matrix)
    activation = ACTIVATIONS[layout.activation]
    value = with_embeddings(tables, layout, inputs, len(matrix))
    scales, shifts = layout.affine(matrix)
    for layer, (weight, bias) in enumerate(zip(weights[:-1], biases[:-1], strict=True)):
        value = torch.baddbmm(bias[:, None], value, weight)
        if layout.normalisation == "layer":
            value = layer_norm(value, value.shape[2:], eps=LAYER_EPSILON)
            value = scales[layer][:, None] * value + shifts[layer][:, None]
        value = activation(value)
    return torch.baddbmm(biases[-1][:, None], value, weights[-1])


def with_embeddings(tables: list[Tensor], layout: NetworkLayout, inputs: Inputs, heads: int) -> Tensor:
    """(K, B, H_0): the continuous numbers, then each feature's embedding. Raises IndexError for an unknown code."""
    parts = [inputs.dense.expand(heads, *inputs.dense.shape)]
    if inputs.codes is not None:
        offsets = layout.code_offsets
        if inputs.codes.min() < 0 or inputs.codes.max() >= offsets[-1]:
            raise IndexError(
                f"codes from {inputs.codes.min()} to {inputs.codes.max()}; they must lie in 0 … {offsets[-1] - 1}"
            )
        parts += [table[:, inputs.codes[:, f] - offsets[f]] for f, table in enumerate(tables)]
    return torch.cat(parts, 2)


@dataclass(frozen=True)
class EagerPass:
    """A `ForwardPass` that keeps autograd's graph."""

    matrix: Tensor
    """(K, P), a leaf."""
    dense: Tensor
    """(B, D), a leaf."""
    traced: Tensor
    """(K, B, outputs) with the graph, or without one for a pass that was not kept."""
    rows: int
    """Rows of the output that count."""

    @property
    def output(self) -> Tensor:
        """See `ForwardPass`."""
        return self.traced.detach()[:, : self.rows]

    def first(self, rows: int) -> EagerPass:
        """See `ForwardPass`."""
        return EagerPass(self.matrix, self.dense, self.traced, rows)

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """See `ForwardPass`."""
        found = self._back(self.matrix, of_output)
        return found if out is None else out.copy_(found)

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """See `ForwardPass`."""
        return self._back(self.dense, of_output)[: self.rows, :columns]

    def _back(self, leaf: Tensor, of_output: Tensor) -> Tensor:
        if not self.traced.requires_grad:
            raise ValueError("this pass was run with keep=False; it has no gradient")
        slope = pad(of_output, (0, 0, 0, self.traced.shape[1] - self.rows))
        return torch.autograd.grad(self.traced, leaf, slope, retain_graph=True)[0]


def run_eager(formula: Callable[[Tensor, Inputs], Tensor], matrix: Tensor, inputs: Inputs, keep: bool) -> EagerPass:
    """A pass of `formula`, which gives outputs (K, B, outputs) from parameters (K, P) and inputs."""
    parameters, dense = matrix.detach(), inputs.dense.detach()
    if keep:
        parameters, dense = parameters.requires_grad_(), dense.requires_grad_()
    with torch.set_grad_enabled(keep):
        traced = formula(parameters, inputs._replace(dense=dense))
    return EagerPass(parameters, dense, traced, len(dense))
