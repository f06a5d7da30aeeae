"""Compiled kernels as the Python they are written in, where an index beyond an array is refused."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

Kernel = Callable[..., Any]


def plain(kernel: Kernel) -> Kernel:
    """Without Numba, which may be switched off already."""
    return getattr(kernel, "py_func", kernel)


def kernels_of(module: ModuleType) -> list[str]:
    """The names of the compiled functions in a module, imported ones included."""
    return [name for name, value in vars(module).items() if isinstance(value, Dispatcher)]


def interpret(patch: pytest.MonkeyPatch, module: ModuleType, *names: str) -> None:
    """These functions of a module are not compiled from here on, all of them if none is named."""
    for name in names or kernels_of(module):
        patch.setattr(module, name, plain(getattr(module, name)))
