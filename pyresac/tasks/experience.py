"""What an agent learns from: transitions in the features and units of a task."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]
LARGEST_CODE = 2**24
"""Integers below it are exact in float32, in which codes are kept."""


class Experience(NamedTuple):
    """m transitions in the features and units of a task."""

    action: Numbers
    """(m, A) in [−1, 1]."""
    dense: Numbers
    """(m, C)"""
    codes: NDArray[np.int64]
    """(m, F), offset; F may be 0."""
    reward: Numbers
    """(m,) in the environment's units."""
    terminal: NDArray[np.bool_]
    """(m,) true where s′ is terminal; a time limit is not."""
    next_dense: Numbers
    next_codes: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> Experience:
        """The transitions that are `chosen` (m,)."""
        return Experience._make(part[chosen] for part in self)
