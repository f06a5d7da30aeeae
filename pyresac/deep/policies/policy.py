"""What an algorithm needs of a form of policy, and the form's own formula differentiated by autograd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from pyresac.deep.random_source import Noise


class SampledAction(Protocol):
    """Actions of a policy at B states, with what their gradient needs."""

    @property
    def unit(self) -> Tensor:
        """(B, A) actions in units of the box [−1, 1]."""

    @property
    def log_prob(self) -> Tensor:
        """(B,) log π(a|s) in the box's own units; 0 for a deterministic policy."""

    def first(self, rows: int) -> SampledAction:
        """The actions at the first `rows` states."""

    def gradient(self, of_unit: Tensor, of_log_prob: Tensor | None) -> Tensor:
        """(B, outputs): of the network's outputs, given that of the units (B, A) and of log π (B,), None for 0."""


class Policy(Protocol):
    """A form of policy."""

    def outputs(self, actions: int) -> int:
        """Outputs of the policy's network for A coordinates of an action."""

    def sample(self, outputs: Tensor, noise: Noise) -> SampledAction:
        """Actions from a network's outputs (B, outputs)."""

    def mode(self, outputs: Tensor) -> Tensor:
        """(B, A) units of the deterministic policy that is evaluated."""


@dataclass(frozen=True)
class TracedAction:
    """A `SampledAction` whose gradient autograd finds through the policy's formula."""

    outputs: Tensor
    """(B, outputs), the leaf of the graph."""
    traced_unit: Tensor
    traced_log_prob: Tensor

    @property
    def unit(self) -> Tensor:
        """See `SampledAction`."""
        return self.traced_unit.detach()

    @property
    def log_prob(self) -> Tensor:
        """See `SampledAction`."""
        return self.traced_log_prob.detach()

    def first(self, rows: int) -> FirstActions:
        """See `SampledAction`."""
        return FirstActions(self, rows)

    def gradient(self, of_unit: Tensor, of_log_prob: Tensor | None) -> Tensor:
        """See `SampledAction`."""
        parts = [(self.traced_unit, of_unit)]
        if of_log_prob is not None and self.traced_log_prob.requires_grad:
            parts.append((self.traced_log_prob, of_log_prob))
        results, slopes = zip(*parts, strict=True)
        return torch.autograd.grad(results, self.outputs, slopes, retain_graph=True)[0]


@dataclass(frozen=True)
class FirstActions:
    """The first rows of a `TracedAction`."""

    of: TracedAction
    rows: int

    @property
    def unit(self) -> Tensor:
        """See `SampledAction`."""
        return self.of.unit[: self.rows]

    @property
    def log_prob(self) -> Tensor:
        """See `SampledAction`."""
        return self.of.log_prob[: self.rows]

    def first(self, rows: int) -> FirstActions:
        """See `SampledAction`."""
        return FirstActions(self.of, rows)

    def gradient(self, of_unit: Tensor, of_log_prob: Tensor | None) -> Tensor:
        """See `SampledAction`."""
        beyond = len(self.of.traced_unit) - self.rows
        padded = torch.nn.functional.pad(of_unit, (0, 0, 0, beyond))
        of_log = None if of_log_prob is None else torch.nn.functional.pad(of_log_prob, (0, beyond))
        return self.of.gradient(padded, of_log)[: self.rows]
