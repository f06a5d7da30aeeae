"""K multilayer perceptrons as one, forward and backward written out.

Autograd over views of one parameter matrix would build a full-size gradient for every view; written out, each product
lands where it belongs, ReLU works in place, and nothing is computed that nobody uses: no gradient of the observation,
and none of the parameters where only the action's is asked for (the actor's step). Without a graph to build, small
batches do not wait for Python either.

The first layer sees the same input in every head, so its pre-activations are one product, (B, D)·(D, K·H). Its
embeddings are folded into it: with E_f the table and W_f the rows of W₁ for feature f, the rows of E_f·W_f are what a
code adds to the pre-activation, so a batch costs one sum of rows instead of a product, and its gradient one scatter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from pyresac.agents.deep.parameters import Layout, Parts

CACHED = 400 * 1024
"""Bytes of a layer's activations that a core keeps at hand, with the weights that they meet, in a cache of 1 MiB."""


class Block(NamedTuple):
    """A pass of some of the heads."""

    heads: slice
    hidden: list[Tensor]
    """(k, B, H_l), activations of every hidden layer; of the last one alone if they were not to be kept."""


class Pass(NamedTuple):
    """A pass through the networks in `matrix`, with what its gradients need. Holds no autograd graph."""

    layout: Layout
    matrix: Tensor
    """(K, P)"""
    dense: Tensor
    """(B, D)"""
    codes: Tensor | None
    """(B, F)"""
    blocks: list[Block]
    output: Tensor
    """(K, B, outputs)"""

    def first(self, rows: int) -> Pass:
        """The pass of the first `rows` inputs alone."""
        codes = None if self.codes is None else self.codes[:rows]
        blocks = [Block(heads, [layer[:, :rows] for layer in hidden]) for heads, hidden in self.blocks]
        return Pass(self.layout, self.matrix, self.dense[:rows], codes, blocks, self.output[:, :rows])

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """(K, P): of the parameters, given that of the output (K, B, outputs). out: where it is to be written."""
        result = torch.empty_like(self.matrix) if out is None else out
        whole, whole_into = self.layout.parts(self.matrix), self.layout.parts(result)
        for block in self.blocks:
            parts, into = whole.of_heads(block.heads), whole_into.of_heads(block.heads)
            wide = _through(self.layout, block.hidden, of_output[block.heads], parts, into)
            _first_layer_gradient(wide, self.layout, self.dense, self.codes, parts, into)
        return result

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """(B, D): of the continuous inputs, or of the first `columns` of them; heads share their input."""
        whole, result = self.layout.parts(self.matrix), None
        for block in self.blocks:
            parts = whole.of_heads(block.heads)
            wide = _through(self.layout, block.hidden, of_output[block.heads], parts, None)
            weights = _side_by_side(parts.dense[:, :columns]).t()
            result = wide @ weights if result is None else result.addmm_(wide, weights)
        assert result is not None
        return result


@torch.no_grad()
def run(matrix: Tensor, layout: Layout, dense: Tensor, codes: Tensor | None, keep: bool = True) -> Pass:
    """Through the networks in `matrix` (K, P). keep: what `Pass.gradient` and `Pass.input_gradient` need.

    dense: (B, D) continuous inputs. codes: (B, F) int64, each code below its feature's number of categories and offset
    by `layout.code_offsets`; None without categorical features.
    """
    whole, heads, size = layout.parts(matrix), len(matrix), len(dense)
    output = dense.new_empty(heads, layout.outputs, size) if layout.outputs == 1 else None
    output = dense.new_empty(heads, size, layout.outputs) if output is None else output.transpose(1, 2)
    blocks = []
    for block in _blocks(layout, matrix, size):
        parts = whole.of_heads(block)
        hidden = [_first_layer(parts, layout, dense, codes).relu_()]
        for weight, bias in zip(parts.weights[1:-1], parts.biases[1:-1], strict=True):
            hidden.append(torch.baddbmm(bias, hidden[-1], weight).relu_())
            if not keep:
                del hidden[0]
        if layout.outputs == 1:
            # transposed, because a product with a single column is slow
            values, column = hidden[-1].transpose(1, 2), output[block].transpose(1, 2)
            torch.baddbmm(parts.biases[-1], parts.transposed[-1], values, out=column)
        else:
            torch.baddbmm(parts.biases[-1], hidden[-1], parts.weights[-1], out=output[block])
        blocks.append(Block(block, hidden))
    return Pass(layout, matrix, dense, codes, blocks, output)


def _blocks(layout: Layout, matrix: Tensor, size: int) -> list[slice]:
    """Heads whose activations stay in a core's cache from layer to layer; all of them on other devices."""
    heads = len(matrix)
    at_once = heads
    if matrix.device.type == "cpu":
        at_once = min(heads, torch.get_num_threads() * max(1, CACHED // (4 * size * max(layout.hidden))))
    return [slice(first, min(first + at_once, heads)) for first in range(0, heads, at_once)]


def _through(layout: Layout, hidden: list[Tensor], gradient: Tensor, parts: Parts, into: Parts | None) -> Tensor:
    """(B, k·H): of the first layer's pre-activations, given that of the output; those of later parameters go `into`."""
    for layer in range(layout.layers - 1, 0, -1):
        below = hidden[layer - 1]
        if into is not None:
            _products(below, gradient, into.weights[layer], into.transposed[layer])
            torch.sum(gradient, 1, keepdim=True, out=into.biases[layer])
        # strided as the activations below, whose first layer lies side by side, (B, k, H)
        through = torch.empty_like(below)
        if gradient.shape[2] == 1:
            torch.mul(gradient, parts.transposed[layer], out=through)
        else:
            torch.bmm(gradient, parts.transposed[layer], out=through)
        gradient = torch.ops.aten.threshold_backward.grad_input(through, below, 0.0, grad_input=through)
    return gradient.transpose(0, 1).reshape(gradient.shape[1], -1)


def ensemble_forward(matrix: Tensor, layout: Layout, dense: Tensor, codes: Tensor | None) -> Tensor:
    """Outputs (K, B, outputs), as `run` gives them, for autograd: the gradient flows to `matrix` and to `dense`."""
    result: Tensor = _Ensemble.apply(matrix, dense, codes, layout)  # type: ignore[no-untyped-call]
    return result


class _Ensemble(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, dense: Tensor, codes: Tensor | None, layout: Layout) -> Tensor:
        through = run(matrix.detach(), layout, dense.detach(), codes, keep=any(ctx.needs_input_grad[:2]))
        ctx.through = through
        return through.output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        (of_output,) = gradients
        wants_matrix, wants_dense = ctx.needs_input_grad[:2]
        of_matrix = ctx.through.gradient(of_output) if wants_matrix else None
        return of_matrix, ctx.through.input_gradient(of_output) if wants_dense else None, None, None


def _side_by_side(rows: Tensor) -> Tensor:
    """(n, K·H) of (K, n, H)."""
    heads, count, width = rows.shape
    return rows.transpose(0, 1).reshape(count, heads * width)


def _first_layer(parts: Parts, layout: Layout, dense: Tensor, codes: Tensor | None) -> Tensor:
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


def _by_feature(rows: Tensor, layout: Layout) -> list[Tensor]:
    """Each feature's part (K, N_f, H) of (N, K, H)."""
    return [part.transpose(0, 1) for part in torch.split(rows, list(layout.categories))]


def _first_layer_gradient(
    wide: Tensor, layout: Layout, dense: Tensor, codes: Tensor | None, parts: Parts, into: Parts
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
