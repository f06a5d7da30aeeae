"""Passes through heads of equal perceptrons in batched products: for accelerators, and the other opinion of tests.

The first layer sees the same input in every head, so its pre-activations are one product, (B, D)·(D, K·H). Its
embeddings are folded into it: with E_f the table and W_f the rows of W₁ for feature f, the rows of E_f·W_f are what a
code adds to the pre-activation, so a batch costs one sum of rows instead of a product, and its gradient one scatter.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from pyresac.deep.networks.layout import NetworkLayout, Parts


class BatchedPass(NamedTuple):
    """A pass, see `ensemble.ForwardPass`."""

    layout: NetworkLayout
    matrix: Tensor
    """(K, P)"""
    dense: Tensor
    """(B, D)"""
    codes: Tensor | None
    """(B, F)"""
    hidden: list[Tensor]
    """(K, B, H_l), activations of every hidden layer; of the last one alone if they were not to be kept."""
    output: Tensor
    """(K, B, outputs)"""

    def first(self, rows: int) -> BatchedPass:
        """See `ensemble.ForwardPass`."""
        codes = None if self.codes is None else self.codes[:rows]
        hidden = [layer[:, :rows] for layer in self.hidden]
        return self._replace(dense=self.dense[:rows], codes=codes, hidden=hidden, output=self.output[:, :rows])

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """See `ensemble.ForwardPass`."""
        result = torch.empty_like(self.matrix) if out is None else out
        parts, into = self.layout.parts(self.matrix), self.layout.parts(result)
        _first_layer_gradient(self._through(of_output, parts, into), self.layout, self.dense, self.codes, parts, into)
        return result

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """See `ensemble.ForwardPass`."""
        parts = self.layout.parts(self.matrix)
        return self._through(of_output, parts, None) @ _side_by_side(parts.dense[:, :columns]).t()

    def _through(self, gradient: Tensor, parts: Parts, into: Parts | None) -> Tensor:
        """(B, K·H): of the first layer's pre-activations; those of later parameters go `into`."""
        if len(self.hidden) < len(self.layout.hidden):
            raise ValueError("this pass was run with keep=False; it has no gradient")
        for layer in range(self.layout.layers - 1, 0, -1):
            below = self.hidden[layer - 1]
            if into is not None:
                _products(below, gradient, into.weights[layer], into.transposed[layer])
                torch.sum(gradient, 1, keepdim=True, out=into.biases[layer])
            # strided as the activations below, whose first layer lies side by side, (B, K, H)
            through = torch.empty_like(below)
            if gradient.shape[2] == 1:
                torch.mul(gradient, parts.transposed[layer], out=through)
            else:
                torch.bmm(gradient, parts.transposed[layer], out=through)
            gradient = torch.ops.aten.threshold_backward.grad_input(through, below, 0.0, grad_input=through)
        return gradient.transpose(0, 1).reshape(len(self.dense), -1)


@torch.no_grad()
def run_batched(
    matrix: Tensor, layout: NetworkLayout, dense: Tensor, codes: Tensor | None, keep: bool = True
) -> BatchedPass:
    """See `ensemble.run`."""
    parts = layout.parts(matrix)
    hidden = [_first_layer(parts, layout, dense, codes).relu_()]
    for weight, bias in zip(parts.weights[1:-1], parts.biases[1:-1], strict=True):
        hidden.append(torch.baddbmm(bias, hidden[-1], weight).relu_())
        if not keep:
            del hidden[0]
    if layout.outputs == 1:
        # transposed, because a product with a single column is slow
        column = torch.baddbmm(parts.biases[-1], parts.transposed[-1], hidden[-1].transpose(1, 2))
        return BatchedPass(layout, matrix, dense, codes, hidden, column.transpose(1, 2))
    output = torch.baddbmm(parts.biases[-1], hidden[-1], parts.weights[-1])
    return BatchedPass(layout, matrix, dense, codes, hidden, output)


def _side_by_side(rows: Tensor) -> Tensor:
    """(n, K·H) of (K, n, H)."""
    heads, count, width = rows.shape
    return rows.transpose(0, 1).reshape(count, heads * width)


def _first_layer(parts: Parts, layout: NetworkLayout, dense: Tensor, codes: Tensor | None) -> Tensor:
    """Pre-activations (K, B, H) of the first layer, strided as (B, K, H)."""
    heads, _, width = parts.dense.shape
    wide, bias = _side_by_side(parts.dense), parts.biases[0].reshape(-1)
    if codes is None:
        result = torch.addmm(bias, dense, wide)
    else:
        rows = dense.new_empty(layout.code_offsets[-1], heads, width)
        for table, part, into in zip(parts.tables, parts.embedded, _by_feature(rows, layout), strict=True):
            torch.bmm(table, part, out=into)
        result = embedding_bag(codes, rows.view(-1, heads * width), mode="sum")
        result += bias
        result.addmm_(dense, wide)
    return result.view(-1, heads, width).transpose(0, 1)


def _by_feature(rows: Tensor, layout: NetworkLayout) -> list[Tensor]:
    """Each feature's part (K, N_f, H) of (N, K, H)."""
    return [part.transpose(0, 1) for part in torch.split(rows, list(layout.categories))]


def _first_layer_gradient(
    wide: Tensor, layout: NetworkLayout, dense: Tensor, codes: Tensor | None, parts: Parts, into: Parts
) -> None:
    """wide: (B, K·H) gradient of the pre-activations."""
    heads, inputs, width = parts.dense.shape
    into.dense.copy_((dense.t() @ wide).view(inputs, heads, width).transpose(0, 1))
    into.biases[0].copy_(wide.sum(0).view(heads, 1, width))
    if codes is None:
        return
    rows = wide.new_zeros(layout.code_offsets[-1], heads * width)
    for code in codes.t():
        rows.index_add_(0, code, wide)
    features = zip(
        _by_feature(rows.view(-1, heads, width), layout),
        *(parts.tables, parts.embedded, into.embedded, into.tables),
        strict=True,
    )
    for of_row, table, part, to_weight, to_table in features:
        torch.bmm(table.transpose(1, 2), of_row, out=to_weight)
        torch.bmm(of_row, part.transpose(1, 2), out=to_table)


def _products(inputs: Tensor, gradient: Tensor, out: Tensor, transposed_out: Tensor) -> None:
    """inputsᵀ·gradient of every head into `out`."""
    if gradient.shape[2] == 1:
        torch.bmm(gradient.transpose(1, 2), inputs, out=transposed_out)
    else:
        torch.bmm(inputs.transpose(1, 2), gradient, out=out)
