"""The patch of lean.js, on a small file of the same shape."""

from __future__ import annotations

import pytest

from pyresac.formal.errors import FormalError
from pyresac.formal.patch import ASSIGN, EXIT, HEAD, HOME, LOOKUP, POOL, PRELUDE, RETURN, RUN, patch_digest, patched


def test_patched_keeps_what_is_used_and_nothing_else(fake_script: str) -> None:
    script = patched(fake_script)
    assert script.startswith(PRELUDE)
    assert HEAD not in script
    assert LOOKUP not in script
    assert "var Module=globalThis.Module||{};" in script
    assert "var pthreadPoolSize=1;" in script
    assert "var _main,_used,wasmTable;" in script
    assert '_main=Module["_main"]=wasmExports["main"];_used=wasmExports["used"]}' in script
    assert "_unused" not in script
    assert "leanServer.serve(callMain)" in script
    assert "exitRuntime" not in script
    assert '"/tmp"' not in script
    assert script.endswith("_main();_used(wasmTable);run();")


@pytest.mark.parametrize("text", [HEAD, LOOKUP, POOL, RUN, RETURN, EXIT, HOME, ASSIGN])
def test_a_changed_script_is_refused(text: str, fake_script: str) -> None:
    with pytest.raises(FormalError, match="not the file that the patch was written for"):
        patched(fake_script.replace(text, "changed();"))
    with pytest.raises(FormalError, match="2 times, expected once"):
        patched(fake_script + text)


def test_a_script_without_the_list_of_names_is_refused(fake_script: str) -> None:
    with pytest.raises(FormalError, match="no list of names"):
        patched(fake_script.replace("var _main,_used,_unused,wasmTable;", "f();"))


def test_the_digest_names_the_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    before = patch_digest()
    assert before == patch_digest()
    monkeypatch.setattr("pyresac.formal.patch.PRELUDE", PRELUDE + " ")
    assert patch_digest() != before
