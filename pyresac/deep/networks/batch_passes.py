"""Passes of networks with batch normalisation before each linear layer: by the batch's statistics, or by running ones.

By running statistics a network is a plain one with other weights, x̂ = a·x + c being linear, so the passes of plain
networks serve. By the batch's own, the compiled pass is `batch_norm_kernels`, and the formula is here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyresac.deep.networks import batch_norm_kernels as kernels
from pyresac.deep.networks.compiled_passes import chunk_of, share
from pyresac.deep.networks.eager_passes import ACTIVATIONS, run_eager, with_embeddings
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import Integers, NetworkLayout
from pyresac.deep.networks.passes import ForwardPass
from pyresac.deep.networks.running_statistics import BATCH_EPSILON, RunningStatistics, renormalised


def folded(matrix: Tensor, layout: NetworkLayout, running: RunningStatistics) -> Tensor:
    """(K, P′) parameters of the plain networks that these are by their running statistics, for autograd.

    With a = scale/√(var + ε) and c = shift − mean·a, W·(a·x + c) + b has the weights a·W and the biases b + c·W.
    """
    weights, biases, tables = layout.split(matrix)
    scales, shifts = layout.affine(matrix)
    plain_weights, plain_biases = [], []
    for layer, (mean, variance) in enumerate(running.by_layer(layout)):
        weight, bias = weights[layer], biases[layer]
        factor = scales[layer] * (variance + BATCH_EPSILON).rsqrt()
        constant = shifts[layer] - mean * factor
        plain_weights.append(factor[:, :, None] * weight)
        plain_biases.append(torch.baddbmm(bias[:, None], constant[:, None], weight))
    return torch.cat([part.flatten(1) for part in (*plain_weights, *plain_biases, *tables)], 1)


def plain(layout: NetworkLayout) -> NetworkLayout:
    """The layout of `folded`."""
    return replace(layout, normalisation="none")


@dataclass(frozen=True)
class FoldedPass:
    """A pass by running statistics; the chain rule of `folded` is autograd's."""

    matrix: Tensor
    """(K, P)"""
    layout: NetworkLayout
    running: RunningStatistics
    of_plain: ForwardPass

    @property
    def output(self) -> Tensor:
        """See `ForwardPass`."""
        return self.of_plain.output

    def first(self, rows: int) -> FoldedPass:
        """See `ForwardPass`."""
        return replace(self, of_plain=self.of_plain.first(rows))

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """See `ForwardPass`; running statistics are constants."""
        slope = self.of_plain.gradient(of_output)
        with torch.enable_grad():
            leaf = self.matrix.detach().requires_grad_()
            found = torch.autograd.grad(folded(leaf, self.layout, self.running), leaf, slope)[0]
        return found if out is None else out.copy_(found)

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """See `ForwardPass`."""
        return self.of_plain.input_gradient(of_output, columns)


def folded_now(matrix: Tensor, layout: NetworkLayout, running: RunningStatistics) -> Tensor:
    """`folded` without a graph, on the CPU by a compiled kernel."""
    if matrix.device.type != "cpu":
        with torch.no_grad():
            return folded(matrix, layout, running)
    places, result = layout.arrays, matrix.new_empty(len(matrix), plain(layout).length)
    kernels.fold_running(
        *(
            matrix.detach().numpy(),
            places.sizes,
            places.weights,
            places.biases,
            places.tables,
            places.scales,
            places.shifts,
        ),
        *(running.mean.numpy(), running.variance.numpy(), result.numpy()),
    )
    return result


def batch_perceptrons(
    matrix: Tensor, layout: NetworkLayout, inputs: Inputs, running: RunningStatistics
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs (K, B, outputs) by the batch's statistics, and these: means and variances over B − 1, (K, S)."""
    weights, biases, tables = layout.split(matrix)
    scales, shifts = layout.affine(matrix)
    usual = running.by_layer(layout)
    value, means, variances = with_embeddings(tables, layout, inputs, len(matrix)), [], []
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        if layer > 0:
            value = ACTIVATIONS[layout.activation](value)
        variance, mean = torch.var_mean(value, 1, correction=1)
        value = renormalised(value, mean, variance, usual[layer] if running.correct else None)
        value = scales[layer][:, None] * value + shifts[layer][:, None]
        value = torch.baddbmm(bias[:, None], value, weight)
        means.append(mean.detach())
        variances.append(variance.detach())
    return value, torch.cat(means, 1), torch.cat(variances, 1)


def run_batch_eager(
    matrix: Tensor, layout: NetworkLayout, inputs: Inputs, running: RunningStatistics
) -> tuple[ForwardPass, Tensor, Tensor]:
    """A pass by `batch_perceptrons`, and the batch's statistics."""
    found: list[Tensor] = []

    def formula(parameters: Tensor, given: Inputs) -> Tensor:
        output, *statistics = batch_perceptrons(parameters, layout, given, running)
        found.extend(statistics)
        return output

    through = run_eager(formula, matrix, inputs, keep=True)
    return through, found[0], found[1]


class CompiledBatchPass(NamedTuple):
    """A pass by the batch's statistics, see `ForwardPass`."""

    layout: NetworkLayout
    matrix: Tensor
    """(K, P)"""
    codes: Integers
    """(B, F)"""
    hidden: NDArray[Any]
    """(K, B·ΣH_l), see `kernels`, as the next two."""
    normed: NDArray[Any]
    statistics: NDArray[Any]
    threads: int
    whole: Tensor
    """(K, B, outputs)"""
    rows: int
    """Rows of the output that count."""

    @property
    def output(self) -> Tensor:
        """See `ForwardPass`."""
        return self.whole[:, : self.rows]

    def first(self, rows: int) -> CompiledBatchPass:
        """See `ForwardPass`. The other rows still have their part in the batch's statistics."""
        return self._replace(rows=rows)

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """See `ForwardPass`."""
        result = torch.empty_like(self.matrix) if out is None else out
        self._backward(of_output, result.numpy(), 0)
        return result

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """See `ForwardPass`."""
        wanted = self.layout.dense if columns is None else columns
        of_inputs = self._backward(of_output, np.empty_like(self.matrix.numpy()), wanted)
        return torch.from_numpy(of_inputs).sum(0)[: self.rows]

    def _backward(self, of_output: Tensor, gradient: NDArray[Any], columns: int) -> NDArray[Any]:
        """Fills `gradient`; returns (K, B, columns)."""
        size = self.whole.shape[1]
        slope = of_output.new_zeros(self.whole.shape)
        slope[:, : self.rows] = of_output
        matrix, slopes = self.matrix.numpy(), slope.numpy()
        of_inputs = np.empty((len(matrix), size, columns), matrix.dtype)

        def work_on(first: int, last: int) -> None:
            kernels.backward(
                *(matrix, first, last, *self.layout.arrays, self.codes, self.hidden, self.normed, self.statistics),
                *(slopes, gradient, of_inputs),
            )

        share(len(matrix), self.layout, size, self.threads, work_on)
        return of_inputs


def run_batch_compiled(
    matrix: Tensor, layout: NetworkLayout, inputs: Inputs, running: RunningStatistics, threads: int
) -> tuple[ForwardPass, Tensor, Tensor]:
    """`run_batch_eager` by compiled kernels. Raises IndexError for a code beyond all features' categories."""
    parameters, dense = matrix.detach(), inputs.dense.detach().contiguous().numpy()
    heads, size = len(parameters), len(dense)
    codes = np.empty((size, 0), np.int64) if inputs.codes is None else inputs.codes.contiguous().numpy()
    if codes.size and not 0 <= codes.min() <= codes.max() < layout.code_offsets[-1]:
        raise IndexError(
            f"codes from {codes.min()} to {codes.max()}; they must lie in 0 … {layout.code_offsets[-1] - 1}"
        )
    hidden = np.empty((heads, size * sum(layout.hidden)), dense.dtype)
    normed = np.empty((heads, size * layout.sizes[0]), dense.dtype)
    statistics = np.empty((heads, 5, sum(layout.normalised)), dense.dtype)
    output = np.empty((heads, size, layout.outputs), dense.dtype)
    numbers, usual = parameters.numpy(), (running.mean.numpy(), running.variance.numpy())
    chunk, correct = max(1, min(chunk_of(layout), size)), running.correct

    def work_on(first: int, last: int) -> None:
        kernels.forward(
            *(numbers, first, last, *layout.arrays, dense, codes, *usual, correct),
            *(hidden, normed, statistics, output, chunk),
        )

    share(heads, layout, size, threads, work_on)
    whole = torch.from_numpy(output)
    through = CompiledBatchPass(layout, parameters, codes, hidden, normed, statistics, threads, whole, size)
    return through, torch.from_numpy(statistics[:, kernels.MEAN]), torch.from_numpy(statistics[:, kernels.VARIANCE])
