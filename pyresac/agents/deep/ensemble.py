"""K multilayer perceptrons in one autograd step, forward and backward written out.

Autograd over views of one parameter matrix would build a full-size gradient for every view; written out, each product
lands where it belongs, ReLU works in place, and nothing is computed that nobody uses: no gradient of the observation,
and none of the parameters where only the action's is asked for (the actor's step).

The first layer sees the same input in every head. Its embeddings are folded into it: with E_f the table and W_f the
rows of W₁ for feature f, the rows of E_f·W_f are what a code adds to the pre-activation, so a batch costs one sum of
rows instead of a product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from pyresac.agents.deep.parameters import Layout


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
        weights, biases, _ = layout.split(matrix)
        hidden = [_first_layer(matrix, layout, dense, codes).relu_()]
        keep = any(ctx.needs_input_grad[:2])
        for weight, bias in zip(weights[1:-1], biases[1:-1], strict=True):
            hidden.append(torch.baddbmm(bias[:, None], hidden[-1], weight).relu_())
            if not keep:
                del hidden[0]
        if keep:
            ctx.layout, ctx.codes = layout, codes
            ctx.save_for_backward(matrix, dense, *hidden)
        return torch.baddbmm(biases[-1][:, None], hidden[-1], weights[-1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        (gradient,) = gradients
        layout: Layout = ctx.layout
        matrix, dense, *hidden = ctx.saved_tensors
        wants_matrix, wants_dense = ctx.needs_input_grad[:2]
        weights, _, tables = layout.split(matrix)
        result = torch.empty_like(matrix) if wants_matrix else None
        parts = layout.split(result) if result is not None else None
        for layer in range(layout.layers - 1, 0, -1):
            if parts is not None:
                _products(hidden[layer - 1], gradient, parts[0][layer])
                torch.sum(gradient, 1, out=parts[1][layer])
            gradient = _input_gradient(gradient, weights[layer])
            torch.ops.aten.threshold_backward.grad_input(gradient, hidden[layer - 1], 0.0, grad_input=gradient)
        if parts is not None:
            torch.sum(gradient, 1, out=parts[1][0])
            _first_layer_gradient(gradient, layout, dense, ctx.codes, weights[0], tables, parts)
        inputs = None
        if wants_dense:
            # summed over heads, which share their input
            inputs = torch.einsum("kbh,kdh->bd", gradient, weights[0][:, : layout.dense])
        return result, inputs, None, None


def _first_layer(matrix: Tensor, layout: Layout, dense: Tensor, codes: Tensor | None) -> Tensor:
    """Pre-activations (K, B, H) of the first layer, strided as (B, K, H)."""
    weights, biases, tables = layout.split(matrix)
    heads, width = matrix.shape[0], layout.sizes[1]
    wide = weights[0][:, : layout.dense].transpose(0, 1).reshape(layout.dense, heads * width)
    result = torch.addmm(biases[0].reshape(-1), dense, wide)
    if codes is not None:
        folded = [table @ part for table, part in zip(tables, _parts(weights[0], layout), strict=True)]
        rows = torch.cat(folded, 1).transpose(0, 1).reshape(-1, heads * width)
        result += embedding_bag(codes, rows, mode="sum")
    return result.view(-1, heads, width).transpose(0, 1)


def _parts(weight: Tensor, layout: Layout) -> tuple[Tensor, ...]:
    """The rows of W₁ that each feature's embedding meets, (K, d_f, H)."""
    return weight[:, layout.dense :].split(layout.embeddings, 1)


def _first_layer_gradient(
    gradient: Tensor,
    layout: Layout,
    dense: Tensor,
    codes: Tensor | None,
    weight: Tensor,
    tables: list[Tensor],
    parts: tuple[list[Tensor], list[Tensor], list[Tensor]],
) -> None:
    if codes is None:
        _products(dense.expand(gradient.shape[0], -1, -1), gradient, parts[0][0])
        return
    # one product with [inputs, indicators of the codes] instead of a scatter
    indicators = dense.new_zeros(layout.dense + layout.code_offsets[-1], dense.shape[0])
    indicators[: layout.dense] = dense.t()
    indicators.scatter_(0, codes.t() + layout.dense, 1.0)
    found = torch.stack([torch.mm(indicators, head) for head in gradient])
    parts[0][0][:, : layout.dense] = found[:, : layout.dense]
    of_rows = found[:, layout.dense :].split(layout.categories, 1)
    into = _parts(parts[0][0], layout)
    features = zip(of_rows, tables, _parts(weight, layout), into, parts[2], strict=True)
    for of_row, table, part, to_weight, to_table in features:
        to_weight.copy_(table.transpose(1, 2) @ of_row)
        to_table.copy_(of_row @ part.transpose(1, 2))


def _products(inputs: Tensor, gradient: Tensor, out: Tensor) -> None:
    """inputsᵀ·gradient of every head into `out`; head by head, which keeps a head in cache."""
    for head in range(out.shape[0]):
        torch.mm(inputs[head].t(), gradient[head], out=out[head])


def _input_gradient(gradient: Tensor, weight: Tensor) -> Tensor:
    if weight.shape[2] == 1:
        return gradient * weight.transpose(1, 2)
    return torch.bmm(gradient, weight.transpose(1, 2))
