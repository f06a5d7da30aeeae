"""What a learner draws at random, from one generator of PyTorch that a checkpoint keeps."""

from __future__ import annotations

import torch
from torch import Tensor


class Noise:
    """A source of random tensors on one device."""

    def __init__(self, seed: int, device: torch.device) -> None:
        self.generator = torch.Generator(device=device).manual_seed(seed)
        self.device = device

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers."""
        return torch.randn(*shape, generator=self.generator, device=self.device)

    def uniform(self, *shape: int) -> Tensor:
        """Numbers uniform in [0, 1)."""
        return torch.rand(*shape, generator=self.generator, device=self.device)

    def subset(self, size: int, of: int) -> Tensor:
        """`size` different indices below `of`, each subset equally likely."""
        return torch.randperm(of, generator=self.generator, device=self.device)[:size]
