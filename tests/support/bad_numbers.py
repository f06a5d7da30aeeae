"""What is no real number and no array of real numbers: one table for the float operators and for their exact twin."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS: dict[str, object] = {
    "text": "0.5",
    "boolean": True,
    "none": None,
    "complex": 0.5j,
    "array": np.array([0.5]),
}
"""In the place of a number."""
FLOATS: dict[str, object] = {
    "float": 0.5,
    "whole float": 1.0,
    "numpy's float": np.float64(0.5),
    "short float": np.float32(0.5),
    "not a number": float("nan"),
    "infinity": float("inf"),
    "decimal": Decimal("0.5"),
}
"""In the place of an exact number: each is rounded, or no rational at all."""
ARRAYS: dict[str, Callable[[NDArray[np.float64]], Any]] = {
    "complex": lambda x: x + 0.1j,
    "text": lambda x: x.astype(str),
    "none": lambda x: np.array([None, *x.ravel()[1:]], dtype=object).reshape(x.shape),
    "ragged": lambda x: [[[1.0], [1.0, 2.0]]],
}
"""What becomes of a good array."""
