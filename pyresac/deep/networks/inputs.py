"""What networks see: continuous numbers and categorical codes of a state, and an action beside them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Inputs(NamedTuple):
    """A batch of B inputs to a network: the features of a state alone, or an action and a state."""

    dense: Tensor
    """(B, C) float32 continuous numbers; an action's coordinates come first."""
    codes: Tensor | None
    """(B, F) int64 categorical features, offset by `NetworkLayout.code_offsets`; None without any."""
    fractions: Tensor | None = None
    """(B, M), or (1, M) for all: what implicit quantile critics are asked at; other networks do not look at it."""

    def with_action(self, unit: Tensor, fractions: Tensor | None = None) -> Inputs:
        """These states with actions (B, A) before their continuous numbers."""
        return Inputs(torch.cat([unit, self.dense], 1), self.codes, fractions)


def joined(first: Inputs, second: Inputs) -> Inputs:
    """Both batches as one."""
    codes = None if first.codes is None or second.codes is None else torch.cat([first.codes, second.codes])
    return Inputs(torch.cat([first.dense, second.dense]), codes)
