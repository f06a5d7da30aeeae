"""What a reader hands over: a model in arrays, not yet checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Arrays:
    """The arguments of `FiniteMDP.from_arrays`; `continuation` and `terminal` only for a done-masked reading."""

    transition: ArrayLike | sparse.sparray | sparse.spmatrix
    reward: ArrayLike
    discount: float
    available: ArrayLike | None = None
    initial: ArrayLike | None = None
    renormalise: bool = False
    continuation: NDArray[np.float64] | None = None
    terminal: NDArray[np.bool_] | None = None
