"""Compilation by Numba, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Result = TypeVar("Result")


def compiled(function: Callable[..., Result]) -> Callable[..., Result]:
    """Compile for the types of the first call; IEEE order of operations (no fast-math), without the GIL.

    The code is kept beside the source or in the user's cache folder, and made anew by each process where neither can be
    written.
    """
    return _compiled(function)


def compiled_sum(function: Callable[..., Result]) -> Callable[..., Result]:
    """`compiled`, but sums may be taken in another order, so that they are done in vectors; on one machine always the
    same order."""
    return _compiled(function, fastmath={"reassoc"})


def _compiled(function: Callable[..., Result], **options: Any) -> Callable[..., Result]:
    try:
        result: Callable[..., Result] = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # Numba's word for having found no such place
        result = numba.njit(nogil=True, **options)(function)
    return result


def inlined(function: Callable[..., Result]) -> Callable[..., Result]:
    """For a part of several kernels: its code is put into each of them, before compilation. A call would count the
    references of every array that it is given, which costs as much as a short loop does."""
    result: Callable[..., Result] = numba.njit(inline="always")(function)
    return result
