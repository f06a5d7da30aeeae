"""K equal networks as one matrix of parameters, and their passes."""

from __future__ import annotations

from torch import Tensor

from pyresac.deep.networks.compiled_passes import run_compiled
from pyresac.deep.networks.eager_passes import perceptrons, run_eager
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.layout import NetworkLayout, weight_norms
from pyresac.deep.networks.passes import ForwardPass


class Network:
    """K networks of one layout, independent in every parameter, embeddings included."""

    def __init__(self, layout: NetworkLayout, matrix: Tensor, threads: int = 1) -> None:
        """matrix: (K, P) parameters. threads: over which the heads are shared out on the CPU; they change no bit."""
        self.layout, self.matrix, self.threads = layout, matrix, threads

    @property
    def heads(self) -> int:
        """K."""
        return len(self.matrix)

    def clone(self) -> Network:
        """A network with a copy of the parameters."""
        return Network(self.layout, self.matrix.clone(), self.threads)

    def head(self, index: int) -> Network:
        """Head `index` alone, (1, P), sharing memory."""
        return Network(self.layout, self.matrix[index : index + 1], self.threads)

    def run(self, inputs: Inputs, keep: bool = True) -> ForwardPass:
        """Outputs (K, B, outputs). The parameters must stay as they are until the last gradient is taken.

        keep: what gradients need. Codes of `inputs` are offset by `NetworkLayout.code_offsets`. Raises IndexError for a
        code that is none.
        """
        if self.matrix.device.type == "cpu":
            return run_compiled(self.matrix, self.layout, inputs, keep, self.threads)
        return self.run_eager(inputs, keep)

    def run_eager(self, inputs: Inputs, keep: bool = True) -> ForwardPass:
        """`run` by PyTorch's operations."""
        return run_eager(lambda matrix, given: perceptrons(matrix, self.layout, given), self.matrix, inputs, keep)

    def weight_norms(self, biases: bool = False) -> Tensor:
        """κ_k (K,), see `layout.weight_norms`."""
        return weight_norms(self.matrix, self.layout, biases)
