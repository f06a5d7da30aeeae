"""A small script of the shape of lean.js, and the installed checker."""

from __future__ import annotations

import pytest

from pyresac.formal.home import cache_folder
from pyresac.formal.install import Checker, installed
from pyresac.formal.patch import ASSIGN, EXIT, HEAD, HOME, LOOKUP, POOL, RETURN, RUN, WORKER

FAKE = (
    HEAD
    + "var find=(lib,symbol)=>{"
    + LOOKUP
    + "return newSymIndex};"
    + POOL
    + "var options=()=>("
    + WORKER
    + ");"
    + RUN
    + RETURN
    + EXIT
    + HOME
    + "var other=1;var _main,_used,_unused,wasmTable;"
    + ASSIGN
    + '_main=Module["_main"]=wasmExports["main"];_used=wasmExports["used"];_unused=Module["_unused"]=wasmExports["u"]}'
    + "_main();_used(wasmTable);run();"
)


@pytest.fixture
def fake_script() -> str:
    """A lean.js of a few lines that the patch fits."""
    return FAKE


@pytest.fixture
def checker() -> Checker:
    """The Lean checker of this machine; a test that needs it is skipped where it isn't set up."""
    found = installed(cache_folder(None))
    if found is None:
        pytest.skip("the Lean checker is not set up: python -m pyresac.formal.check --setup-only")
    return found
