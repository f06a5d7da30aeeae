"""Compilation where a cache can be written and where none can."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numba
import pytest

from pyresac.jit import compiled


def twice(x: int) -> int:
    return 2 * x


def test_without_a_place_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def refusing(**options: Any) -> Callable[[Callable[..., Any]], Any]:
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'twice': no locator available")
        made: Callable[[Callable[..., Any]], Any] = numba.njit(**options)
        return made

    monkeypatch.setattr("pyresac.jit.numba", SimpleNamespace(njit=refusing))
    assert compiled(twice)(21) == 42
    assert [options.get("cache", False) for options in asked] == [True, False]
