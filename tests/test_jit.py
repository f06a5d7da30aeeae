"""Compilation where a cache can be written, where none can, and where its files are damaged."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from pyresac import jit
from pyresac.envs import bus
from pyresac.envs.bus import Simulator, controller_named, default_corridor
from pyresac.jit import borrowing, compiled


def twice(x: int) -> int:
    return 2 * x


def test_without_a_place_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(function: Any) -> None:
        raise RuntimeError("cannot cache function 'twice': no locator available")

    monkeypatch.setattr(jit, "Cache", refusing)
    assert compiled(twice)(21) == 42


MODULE = """
import sys
from pyresac.jit import compiled

@compiled
def twice(x):
    return 2 * x

@compiled
def thrice(x):
    return 3 * x

assert (twice(21), thrice(7)) == (42, 21)
print([sum(f.stats.cache_hits.values()) for f in (twice, thrice)])
"""
FULL = """
import errno, io, os
from numba.core import caching

def full(self, path):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

caching.IndexDataCacheFile._open_for_write = full
"""


def ran(folder: Path, before: str = "", module: str = "mine") -> tuple[str, str]:
    """Output and errors of a process that imports two compiled functions and calls them, or another module."""
    path = folder / "mine.py"
    if not path.exists():  # older versions of Numba take a file that was written again for another one
        path.write_text(MODULE)
    # without bytecode, which Python renews by the second only
    command = [sys.executable, "-B", "-c", f"{before}\nimport {module}"]
    env = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": f"{folder}:{Path(__file__).parents[1]}",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=240, check=True)
    return done.stdout.strip(), done.stderr


@pytest.mark.parametrize(("ending", "left"), [(".nbi", "nothing"), (".nbi", "half"), (".nbc", "half")])
def test_damaged_files_are_a_miss_said_once_and_mended(tmp_path: Path, ending: str, left: str) -> None:
    assert ran(tmp_path) == ("[0, 0]", "")
    kept = list((tmp_path / "cache").rglob(f"*{ending}"))
    assert len(kept) == 2
    for path in kept:
        whole = path.read_bytes()
        path.write_bytes(b"" if left == "nothing" else whole[: len(whole) // 2])
    out, error = ran(tmp_path)
    assert out == "[0, 0]"
    assert error.count("RuntimeWarning") == 1
    assert f"what was kept of compiled code in {tmp_path / 'cache'}" in error
    assert ran(tmp_path) == ("[1, 1]", "")


def test_a_full_disk_costs_the_cache_alone(tmp_path: Path) -> None:
    out, error = ran(tmp_path, FULL)
    assert out == "[0, 0]"
    assert error.count("RuntimeWarning") == 1
    assert "each process compiles again (OSError: [Errno 28] No space left on device)" in error
    assert ran(tmp_path) == ("[0, 0]", "")


CALLER = """
import parts
from parts import FACTOR, inner
from pyresac.jit import compiled

@compiled
def outer(x):
    return inner(x) + FACTOR

print(outer(5), sum(outer.stats.cache_hits.values()))
"""
PARTS = """
from pyresac.jit import borrowing, compiled, inlined
from leaf import deepest

FACTOR = 100

@{how}
def inner(x):
    return 2 * deepest(x)
"""
LEAF = """
from pyresac.jit import inlined

@inlined
def deepest(x):
    return x + 1
"""


@pytest.mark.parametrize("how", ["compiled", "inlined"])
def test_what_a_kernel_is_made_of_renews_it(tmp_path: Path, how: str) -> None:
    """A callee, how it is compiled, its own callee and a constant in other files: the caller is never what it was
    before a change."""

    def said(**files: str) -> str:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        return ran(tmp_path, module="caller")[0]

    parts = PARTS.format(how=how)
    assert said(caller=CALLER, parts=parts, leaf=LEAF) == "112 0"
    assert said() == "112 1"
    assert said(leaf=LEAF.replace("x + 1", "x + 4")) == "118 0"
    assert said(parts=parts.replace("2 *", "3 *")) == "127 0"
    assert said(parts=parts.replace("2 *", "3 *").replace("100", "1000")) == "1027 0"
    assert said() == "1027 1"
    assert said(parts=PARTS.format(how="borrowing")) == "118 0"
    assert said() == "118 1"


def test_borrowing_code_can_neither_make_nor_return_an_array() -> None:
    def filled(values: np.ndarray) -> float:
        return float(np.ones(values.size).sum())

    def half(values: np.ndarray) -> np.ndarray:
        return values[: values.size // 2]

    for function in (filled, half):
        with pytest.raises(NumbaError, match=r"NRT required|Only accept returning of array"):
            borrowing(function)(np.ones(4))


def borrowers() -> Iterator[tuple[str, Dispatcher, ModuleType]]:
    for found in pkgutil.walk_packages(bus.__path__, f"{bus.__name__}."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.targetoptions.get("_nrt") is False:
                yield name, value, module


def returns_an_array(function: Dispatcher) -> bool:
    return function.py_func.__annotations__["return"] not in ("None", "bool", "int", "float", "np.uint64", "np.int64")


def test_nobody_owns_an_array_that_borrowing_code_has_seen() -> None:
    """It returns none, and calls nothing that does, but for what is put into it."""
    found = list(borrowers())
    assert len({name for name, _, _ in found}) >= 40
    for name, function, module in found:
        assert not returns_an_array(function), name
        for word in function.py_func.__code__.co_names:
            callee = vars(module).get(word)
            if isinstance(callee, Dispatcher) and callee.targetoptions.get("inline") != "always":
                assert not returns_an_array(callee), f"{name} calls {word}"


@pytest.mark.parametrize("rule", ["none", "headway", "linear", "self"])
def test_a_day_gives_its_arrays_back(rule: str) -> None:
    """A reference that compiled code counts once too often keeps an array for ever; once too seldom frees it in use."""
    simulator, controller = Simulator(default_corridor(), days=2), controller_named(rule)
    held: list[list[int]] = []
    for _ in range(3):
        simulator.start([1, 2])
        simulator.run(controller)
        arrays = [part for part in (*simulator.state, *simulator.layout.line) if isinstance(part, np.ndarray)]
        held.append([sys.getrefcount(array) for array in arrays])
    assert held[0] == held[1] == held[2]
