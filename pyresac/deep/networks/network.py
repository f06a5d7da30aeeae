"""K equal networks as one matrix of parameters, and their passes."""

from __future__ import annotations

from torch import Tensor

from pyresac.deep.networks import batch_passes
from pyresac.deep.networks.compiled_passes import run_compiled
from pyresac.deep.networks.eager_passes import perceptrons, run_eager
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import NetworkLayout, weight_norms
from pyresac.deep.networks.passes import ForwardPass
from pyresac.deep.networks.running_statistics import RunningStatistics


class Network:
    """K networks of one layout, independent in every parameter, embeddings included."""

    def __init__(
        self, layout: NetworkLayout, matrix: Tensor, threads: int = 1, running: RunningStatistics | None = None
    ) -> None:
        """matrix: (K, P) parameters. threads: over which the heads are shared out on the CPU; they change no bit.

        running: the statistics of batch normalisation, for a layout that has it.
        """
        self.layout, self.matrix, self.threads, self.running = layout, matrix, threads, running

    @property
    def heads(self) -> int:
        """K."""
        return len(self.matrix)

    def clone(self) -> Network:
        """A network with a copy of the parameters and statistics."""
        running = None if self.running is None else self.running.clone()
        return type(self)(self.layout, self.matrix.clone(), self.threads, running)

    def head(self, index: int) -> Network:
        """Head `index` alone, (1, P), sharing memory."""
        running = None if self.running is None else self.running.head(index)
        return type(self)(self.layout, self.matrix[index : index + 1], self.threads, running)

    def copy(self, other: Network) -> None:
        """Take on the parameters and statistics of another."""
        self.matrix.copy_(other.matrix)
        if self.running is not None and other.running is not None:
            self.running.follow(other.running, 1.0)

    def run(self, inputs: Inputs, keep: bool = True) -> ForwardPass:
        """Outputs (K, B, outputs), batch normalisation by the running statistics.

        The parameters must stay as they are until the last gradient is taken. keep: what gradients need. Codes of
        `inputs` are offset by `NetworkLayout.code_offsets`. Raises IndexError for an unknown code.
        """
        if self.running is not None:
            matrix = batch_passes.folded_now(self.matrix, self.layout, self.running)
            of_plain = Network(batch_passes.plain(self.layout), matrix, self.threads).run(inputs, keep)
            return batch_passes.FoldedPass(self.matrix, self.layout, self.running, of_plain)
        if self.matrix.device.type == "cpu":
            return run_compiled(self.matrix, self.layout, inputs, keep, self.threads)
        return self.run_eager(inputs, keep)

    def run_batch(self, inputs: Inputs) -> ForwardPass:
        """`run` for learning: batch normalisation by the batch's statistics, which the running ones then follow.

        Without batch normalisation it is `run`. Raises ValueError for a batch of one, whose variance is undefined.
        """
        if self.running is None:
            return self.run(inputs)
        if len(inputs.dense) < 2:
            raise ValueError("batch normalisation of a batch of one: its variance is undefined")
        arguments = (self.matrix, self.layout, inputs, self.running)
        if self.matrix.device.type == "cpu":
            through, mean, variance = batch_passes.run_batch_compiled(*arguments, self.threads)
        else:
            through, mean, variance = batch_passes.run_batch_eager(*arguments)
        self.running.add(mean, variance)
        return through

    def run_eager(self, inputs: Inputs, keep: bool = True) -> ForwardPass:
        """`run` of networks without batch normalisation, by PyTorch's operations."""
        return run_eager(lambda matrix, given: perceptrons(matrix, self.layout, given), self.matrix, inputs, keep)

    def weight_norms(self, biases: bool = False) -> Tensor:
        """κ_k (K,), see `layout.weight_norms`."""
        return weight_norms(self.matrix, self.layout, biases)
