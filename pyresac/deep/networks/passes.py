"""K multilayer perceptrons as one, forward and backward written out.

Autograd over views of one parameter matrix would build a full-size gradient for every view; written out, each product
lands where it belongs, and nothing is computed that nobody uses: no gradient of the observation, and none of the
parameters where only the action's is asked for (the actor's step). On the CPU a pass is one call of a compiled kernel
(`compiled`), elsewhere a few batched products (`batched`).
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from pyresac.deep.networks.batched_passes import run_batched
from pyresac.deep.networks.compiled_passes import run_compiled
from pyresac.deep.networks.layout import NetworkLayout


class ForwardPass(Protocol):
    """A pass through networks, with what its gradients need. Holds no autograd graph."""

    @property
    def output(self) -> Tensor:
        """(K, B, outputs)"""

    def first(self, rows: int) -> ForwardPass:
        """The pass of the first `rows` inputs alone."""

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """(K, P): of the parameters, given that of the output (K, B, outputs). out: where it is to be written."""

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """(B, D): of the continuous inputs, or of the first `columns` of them; heads share their input."""


def run(matrix: Tensor, layout: NetworkLayout, dense: Tensor, codes: Tensor | None, keep: bool = True) -> ForwardPass:
    """Through the networks in `matrix` (K, P), which must stay as it is until the last gradient is taken.

    dense: (B, D) continuous inputs. codes: (B, F) int64, each code below its feature's number of categories and offset
    by `layout.code_offsets`; None without categorical features. keep: what gradients need.
    """
    through: ForwardPass = (run_compiled if matrix.device.type == "cpu" else run_batched)(
        matrix, layout, dense, codes, keep
    )
    return through


def ensemble_forward(matrix: Tensor, layout: NetworkLayout, dense: Tensor, codes: Tensor | None) -> Tensor:
    """Outputs (K, B, outputs), as `run` gives them, for autograd: the gradient flows to `matrix` and to `dense`."""
    result: Tensor = _Ensemble.apply(matrix, dense, codes, layout)  # type: ignore[no-untyped-call]
    return result


class _Ensemble(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, dense: Tensor, codes: Tensor | None, layout: NetworkLayout) -> Tensor:
        through = run(matrix.detach(), layout, dense.detach(), codes, keep=any(ctx.needs_input_grad[:2]))
        ctx.through = through
        return through.output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        (of_output,) = gradients
        wants_matrix, wants_dense = ctx.needs_input_grad[:2]
        of_matrix = ctx.through.gradient(of_output) if wants_matrix else None
        return of_matrix, ctx.through.input_gradient(of_output) if wants_dense else None, None, None
