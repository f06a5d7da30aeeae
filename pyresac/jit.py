"""Compilation by Numba, in one place."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar, TypeVar

import numba
from numba.core import caching
from numba.core.dispatcher import Dispatcher

Result = TypeVar("Result")
OfNumba: Any = caching.FunctionCache
"""Numba's own cache, which has no types."""


def compiled(function: Callable[..., Result]) -> Callable[..., Result]:
    """Compile for the types of the first call; IEEE order of operations (no fast-math), without the GIL.

    The code is kept beside the source or in the user's cache folder, and made anew by each process where neither can be
    written.
    """
    return _compiled(function)


def borrowing(function: Callable[..., Result]) -> Callable[..., Result]:
    """`compiled`, for code that only reads and writes the arrays that it is given: their references are not counted.

    Counting took three fifths of a corridor's day, which is thousands of short calls with dozens of arrays. Numba
    refuses such code where it makes or returns an array. It must not call what does: nobody would free the array.
    """
    return _compiled(function, _nrt=False)


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
    the function is compiled, and one warning a process says why.

    Numba makes the code anew when the function's own file changes. Here also when a compiled function that it calls
    does, or a constant that it reads, in whatever file: they are compiled into it.
    """

    _said: ClassVar[set[str]] = set()

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        with suppress(AttributeError):  # of another version of Numba: its own rule
            self._cache_file._source_stamp = (self._cache_file._source_stamp, made_of(function))

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


def made_of(function: FunctionType) -> str:
    """A digest of all compiled functions that a function calls, directly or not, how they are compiled, and of the
    constants they read."""
    content, seen, waiting = hashlib.sha256(), {function}, [function]
    while waiting:
        for name, value in _read(waiting.pop()):
            if isinstance(value, Dispatcher):
                inner = value.py_func
                how = sorted(value.targetoptions.items())
                content.update(f"{name} {inner.__qualname__} {_text(inner.__code__)} {how}\n".encode())
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
            elif isinstance(value, bool | int | float | str | tuple):
                content.update(f"{name} {value!r}\n".encode())
    return content.hexdigest()[:16]


def _read(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The globals of a function by name, and attributes of this package's modules among them."""
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        yield name, value
        if isinstance(value, ModuleType) and value.__name__.startswith("pyresac."):
            yield from ((f"{name}.{other}", getattr(value, other, None)) for other in names)


def _text(code: CodeType) -> str:
    """What a piece of code does, and not where it stands."""
    constants = [_text(x) if isinstance(x, CodeType) else repr(x) for x in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
