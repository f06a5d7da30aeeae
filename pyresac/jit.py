"""Compilation by Numba, in one place."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

import numba
from numba.core import caching

Result = TypeVar("Result")
OfNumba: Any = caching.FunctionCache
"""Numba's own cache, which has no types."""


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
    result: Callable[..., Result] = numba.njit(nogil=True, **options)(function)
    with suppress(RuntimeError):  # Numba's word for having found no such place
        # where `cache=True` puts its own
        result._cache = Cache(function)  # type: ignore[attr-defined]
    return result


class Cache(OfNumba):  # type: ignore[misc]
    """Numba's cache of a function, of which nothing is lost but time when its files are damaged or the disk is full:
    the function is compiled, and one warning a process says why."""

    _said: ClassVar[set[str]] = set()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kept code, None where there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # unpickling raises anything
            self._say(
                "damaged", f"what was kept of compiled code in {self.cache_path} is damaged, and is made anew", error
            )
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code if that can be."""
        try:
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # of an index that cannot be read
                self.flush()
                super().save_overload(sig, data)
        except OSError as error:
            self._say("full", f"compiled code cannot be kept in {self.cache_path}: each process compiles again", error)

    def _say(self, kind: str, what: str, error: Exception) -> None:
        if kind not in Cache._said:
            Cache._said.add(kind)
            warnings.warn(f"{what} ({type(error).__name__}: {error})", RuntimeWarning, stacklevel=2)


def inlined(function: Callable[..., Result]) -> Callable[..., Result]:
    """For a part of several kernels: its code is put into each of them, before compilation. A call would count the
    references of every array that it is given, which costs as much as a short loop does."""
    result: Callable[..., Result] = numba.njit(inline="always")(function)
    return result
