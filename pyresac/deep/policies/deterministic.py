"""A deterministic policy on a box: the action is tanh of the network's outputs."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from pyresac.deep.random_source import Noise


class DeterministicAction(NamedTuple):
    """A `SampledAction` of a deterministic policy."""

    unit: Tensor
    """(B, A) tanh of the outputs."""

    @property
    def log_prob(self) -> Tensor:
        """(B,) zeros: a deterministic policy has no density."""
        return self.unit.new_zeros(len(self.unit))

    def first(self, rows: int) -> DeterministicAction:
        """See `SampledAction`."""
        return DeterministicAction(self.unit[:rows])

    def gradient(self, of_unit: Tensor, of_log_prob: Tensor | None) -> Tensor:
        """See `SampledAction`; d tanh u/du = 1 − tanh² u."""
        return of_unit * (1.0 - self.unit.square())


class Deterministic:
    """a = tanh(outputs)."""

    def outputs(self, actions: int) -> int:
        """See `Policy`."""
        return actions

    def sample(self, outputs: Tensor, noise: Noise) -> DeterministicAction:
        """See `Policy`; the noise is not used."""
        return DeterministicAction(torch.tanh(outputs))

    def mode(self, outputs: Tensor) -> Tensor:
        """tanh of the outputs."""
        return torch.tanh(outputs)
