"""Arrays as bytes for a digest that no machine's last digit of a cosine changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def rounded_bytes(array: ArrayLike) -> bytes:
    """Of seconds to 0.1 ms; what is absent is −1e9, and there is no negative zero."""
    return (np.nan_to_num(np.round(np.asarray(array, dtype=np.float64), 4), nan=-1e9) + 0.0).tobytes()
