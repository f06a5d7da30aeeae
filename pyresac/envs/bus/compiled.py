"""Compilation and counter-based random numbers of the corridor: no generator state, so a draw depends on its key alone.

Every random number of a day is `uniform(seed, stream, a, b)`: a hash of the day's seed, of what is drawn (`stream`)
and of two counters (time and place). Two controllers on the same seed therefore face the same speeds and passengers,
in any order of events (common random numbers), and a day can be drawn again from its seed alone.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

from pyresac import jit

Function = TypeVar("Function", bound=Callable[..., Any])

SPEED_RADIUS, SPEED_ANGLE, ARRIVALS, HOLDING, EPISODE, DISPATCH, PATIENCE = 1, 2, 3, 4, 5, 6, 7
DESTINATION = 16
"""Streams. The i-th passenger of one draw takes stream DESTINATION + i, so this one must stay the last."""


IMPORT = re.compile(rb"^(?:from|import) .*$", re.MULTILINE)


def sources_digest(folder: Path) -> str:
    """16 hexadecimal digits of the Python sources in `folder` that compiled code is made of: files with a compiled
    function, and those that they import from, whose constants are compiled in."""
    texts = {path.stem: path.read_bytes() for path in folder.glob("*.py")}
    used = {name for name, text in texts.items() if re.search(rb"^@(compiled|borrowing)$", text, re.MULTILINE)}
    for name in tuple(used):
        words = set(re.findall(rb"[a-z_]+", b" ".join(IMPORT.findall(texts[name]))))
        used |= {other for other in texts if other.encode() in words}
    content = hashlib.sha256()
    for name in sorted(used):
        content.update(name.encode() + b"\0" + texts[name] + b"\0")
    return content.hexdigest()[:16]


OPTIONS: Any = numba.config
SOURCES = Path(__file__).parent
CACHE = Path(OPTIONS.CACHE_DIR or SOURCES / "__pycache__") / f"corridor-{sources_digest(SOURCES)}"
"""Numba renews a compiled function when its own file changes, not when one that it calls does: a folder for each state
of the sources keeps old code out of a new simulator."""


def compiled(function: Function) -> Function:
    """Compile for the types of the first call, kept on disk; IEEE order of operations (no fast-math)."""
    return cast(Function, _kept_here(jit.compiled, function))


def borrowing(function: Function) -> Function:
    """As `compiled`, see `jit.borrowing`: for what happens within a day, whose arrays all come from outside."""
    return cast(Function, _kept_here(jit.borrowing, function))


def _kept_here(compiler: Callable[..., Any], function: Callable[..., Any]) -> Any:
    chosen = OPTIONS.CACHE_DIR
    OPTIONS.CACHE_DIR = str(CACHE)
    try:
        return compiler(function)
    finally:
        OPTIONS.CACHE_DIR = chosen


@compiled
def _mix(bits: np.uint64) -> np.uint64:
    """The 64-bit finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection that spreads every input bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled
def hashed(seed: int, stream: int, a: int, b: int) -> np.uint64:
    """64 hashed bits of the key (seed, stream, a, b); all parts non-negative integers."""
    step = np.uint64(0x9E3779B97F4A7C15)
    bits = _mix(np.uint64(seed) + step * np.uint64(stream + 1))
    bits = _mix(bits + step * np.uint64(a + 1))
    return _mix(bits + step * np.uint64(b + 1))


@compiled
def uniform(seed: int, stream: int, a: int, b: int) -> float:
    """A number in the open interval (0, 1), on the grid (k + ½)/2⁵³."""
    return (float(hashed(seed, stream, a, b) >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@compiled
def normal(seed: int, a: int, b: int) -> float:
    """A standard normal number by Box and Muller's transform of two streams."""
    radius = math.sqrt(-2.0 * math.log(uniform(seed, SPEED_RADIUS, a, b)))
    return radius * math.cos(2.0 * math.pi * uniform(seed, SPEED_ANGLE, a, b))


@compiled
def poisson(mean: float, seed: int, a: int, b: int) -> int:
    """A Poisson number by inversion, in chunks of mean ≤ 16 so that exp(−mean) never underflows."""
    chunks = math.ceil(mean / 16.0)
    total = 0
    for chunk in range(chunks):
        share = mean / chunks
        level = uniform(seed, ARRIVALS, a, b * 65536 + chunk)
        probability = math.exp(-share)
        reached = probability
        count = 0
        while level > reached and probability > 0.0:
            count += 1
            probability *= share / count
            reached += probability
        total += count
    return total
