"""A learner's noise in the hands of a test."""

from __future__ import annotations

import torch
from torch import Tensor

from pyresac.deep.random_source import Noise


class GivenNoise(Noise):
    """Gives tensors out in the order in which they were given; raises AssertionError for one of another shape."""

    def __init__(self, *given: Tensor) -> None:
        super().__init__(0, torch.device("cpu"))
        self._given = list(given)

    @property
    def left(self) -> int:
        """Tensors that nobody has asked for."""
        return len(self._given)

    def normal(self, *shape: int) -> Tensor:
        """The next tensor."""
        return self._next(shape)

    def uniform(self, *shape: int) -> Tensor:
        """The next tensor."""
        return self._next(shape)

    def subset(self, size: int, of: int) -> Tensor:
        """The next tensor: `size` indices."""
        return self._next((size,))

    def _next(self, shape: tuple[int, ...]) -> Tensor:
        assert self._given, f"noise of shape {shape} was asked for; none is left"
        found = self._given.pop(0)
        assert tuple(found.shape) == shape, f"noise of shape {shape} was asked for; {tuple(found.shape)} is next"
        return found
