"""Leaf autograd: a loss over outputs of networks, and its slope in each of them.

Networks differentiate themselves, so autograd has to see only what a formula takes: the heads' values, log π, the
action. Each is detached, so nothing that is frozen can carry a gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def slopes(loss_of: Callable[..., Tensor], *leaves: Tensor) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """The loss of `leaves` without a graph, and its derivative in each leaf; None where the loss does not use one."""
    with torch.enable_grad():
        live = [leaf.detach().requires_grad_() for leaf in leaves]
        loss = loss_of(*live)
        found = torch.autograd.grad(loss, live, allow_unused=True)
    return loss.detach(), found
