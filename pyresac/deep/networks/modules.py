"""The ensemble of critics and the policy, over features of a state: continuous numbers and categorical codes."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from pyresac.deep.networks.layout import NetworkLayout, weight_norms
from pyresac.deep.networks.passes import ForwardPass, ensemble_forward, run
from pyresac.deep.networks.squashed_gaussian import SquashedGaussian


class Features(NamedTuple):
    """A batch of states as networks see them."""

    dense: Tensor
    """(B, C) float32 continuous features."""
    codes: Tensor | None
    """(B, F) int64 categorical features, offset by `NetworkLayout.code_offsets`; None without any."""


def joined(first: Features, second: Features) -> Features:
    """Both batches as one."""
    codes = None if first.codes is None or second.codes is None else torch.cat([first.codes, second.codes])
    return Features(torch.cat([first.dense, second.dense]), codes)


class VectorizedCritic(nn.Module):
    """K critics Q_k(s, a), independent in every parameter, embeddings included."""

    def __init__(self, layout: NetworkLayout, heads: int, generator: torch.Generator, fan_out: bool = False) -> None:
        """layout.dense counts the action's coordinates first, then the continuous features."""
        super().__init__()
        self.layout = layout
        self.matrix = nn.Parameter(layout.initial(heads, generator, fan_out))
        """(K, P), see `parameters`."""

    def forward(self, state: Features, action: Tensor) -> Tensor:
        """(K, B) values of `action` (B, A), in units of the box [−1, 1]."""
        return critic_values(self.matrix, self.layout, state, action)

    def kappa(self) -> Tensor:
        """κ_k (K,) of the present weights, no gradient."""
        return weight_norms(self.matrix.detach(), self.layout)


def critic_values(matrix: Tensor, layout: NetworkLayout, state: Features, action: Tensor) -> Tensor:
    """(K, B) values under the parameters `matrix`, for autograd."""
    return ensemble_forward(matrix, layout, torch.cat([action, state.dense], 1), state.codes)[..., 0]


def action_pass(
    matrix: Tensor, layout: NetworkLayout, state: Features, action: Tensor, keep: bool = True
) -> ForwardPass:
    """Through the critics in `matrix` at `action` (B, A); output (K, B, 1). Without a graph, see `ensemble.run`."""
    return run(matrix, layout, torch.cat([action, state.dense], 1), state.codes, keep)


class Actor(nn.Module):
    """π(·|s): a squashed Gaussian whose mean and logarithm of the deviation a network gives."""

    def __init__(self, layout: NetworkLayout, generator: torch.Generator, initial_mean: float = 0.0) -> None:
        """layout.outputs is twice the number of the action's coordinates; initial_mean: of μ, about."""
        super().__init__()
        self.layout = layout
        matrix = layout.initial(1, generator)
        _, biases, _ = layout.split(matrix)
        biases[-1][:, : layout.outputs // 2] += initial_mean
        self.matrix = nn.Parameter(matrix)
        """(1, P)."""

    def forward(self, state: Features) -> SquashedGaussian:
        """The policy's distribution at each of B states, for autograd."""
        outputs = ensemble_forward(self.matrix, self.layout, state.dense, state.codes)
        return SquashedGaussian(*outputs[0].chunk(2, 1))


def state_pass(matrix: Tensor, layout: NetworkLayout, state: Features, keep: bool = True) -> ForwardPass:
    """Through the policy in `matrix` (1, P); output (1, B, 2A). Without a graph, see `ensemble.run`."""
    return run(matrix, layout, state.dense, state.codes, keep)


def policy(matrix: Tensor, layout: NetworkLayout, state: Features) -> SquashedGaussian:
    """The distribution under the parameters `matrix` (1, P), without a graph."""
    return SquashedGaussian(*state_pass(matrix, layout, state, keep=False).output[0].chunk(2, 1))
