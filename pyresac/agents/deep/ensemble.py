"""K multilayer perceptrons in one autograd step, forward and backward written out.

Autograd over views of one parameter matrix would build a full-size gradient for every view; written out, each product
lands where it belongs, ReLU works in place, and nothing is computed that nobody uses: no gradient of the observation,
and none of the parameters where only the action's is asked for (the actor's step).

The first layer sees the same input in every head, so its pre-activations are one product, (B, D)·(D, K·H). Its
embeddings are folded into it: with E_f the table and W_f the rows of W₁ for feature f, the rows of E_f·W_f are what a
code adds to the pre-activation, so a batch costs one sum of rows instead of a product, and its gradient one scatter.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from pyresac.agents.deep.parameters import Layout, Parts


def ensemble_forward(matrix: Tensor, layout: Layout, dense: Tensor, codes: Tensor | None) -> Tensor:
    """Outputs (K, B, outputs) of the networks in `matrix` (K, P).

    dense: (B, D) continuous inputs. codes: (B, F) int64, each code below its feature's number of categories and offset
    by `layout.code_offsets`; None without categorical features. The gradient flows to `matrix` and to `dense`.
    """
    result: Tensor = _Ensemble.apply(matrix, dense, codes, layout)  # type: ignore[no-untyped-call]
    return result


class _Ensemble(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, dense: Tensor, codes: Tensor | None, layout: Layout) -> Tensor:
        parts = layout.parts(matrix)
        hidden = [_first_layer(parts, layout, dense, codes).relu_()]
        keep = any(ctx.needs_input_grad[:2])
        for weight, bias in zip(parts.weights[1:-1], parts.biases[1:-1], strict=True):
            hidden.append(torch.baddbmm(bias, hidden[-1], weight).relu_())
            if not keep:
                del hidden[0]
        if keep:
            ctx.layout, ctx.codes, ctx.parts = layout, codes, parts
            ctx.save_for_backward(matrix, dense, *hidden)
        if layout.outputs == 1:
            # transposed, because a product with a single column is slow
            return torch.baddbmm(parts.biases[-1], parts.transposed[-1], hidden[-1].transpose(1, 2)).transpose(1, 2)
        return torch.baddbmm(parts.biases[-1], hidden[-1], parts.weights[-1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        (gradient,) = gradients
        layout: Layout = ctx.layout
        parts: Parts = ctx.parts
        matrix, dense, *hidden = ctx.saved_tensors
        wants_matrix, wants_dense = ctx.needs_input_grad[:2]
        result = torch.empty_like(matrix) if wants_matrix else None
        into = None if result is None else Parts.of(result, layout)
        for layer in range(layout.layers - 1, 0, -1):
            below = hidden[layer - 1]
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
        wide = gradient.transpose(0, 1).reshape(len(dense), -1)
        if into is not None:
            _first_layer_gradient(wide, layout, dense, ctx.codes, parts, into)
        # summed over heads, which share their input
        return result, wide @ _side_by_side(parts.dense).t() if wants_dense else None, None, None


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
