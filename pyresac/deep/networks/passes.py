"""A pass through networks: outputs, and the chain rule back to parameters and inputs."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class ForwardPass(Protocol):
    """A pass through K networks, with what its gradients need."""

    @property
    def output(self) -> Tensor:
        """(K, B, outputs), without a graph."""

    def first(self, rows: int) -> ForwardPass:
        """The pass of the first `rows` inputs alone."""

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """(K, P): of the parameters, given that of the output (K, B, outputs). out: where it is to be written."""

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """(B, D): of the continuous inputs, or of the first `columns` of them; heads share their input."""
