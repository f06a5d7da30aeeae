"""A user's own handler of MuJoCo's warnings is there again afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from pyresac.mujoco_warnings import once_each

Handler = Callable[[str], None] | None


@pytest.mark.parametrize("tells", [True, False], ids=["MuJoCo 4", "before it"])
@pytest.mark.parametrize("fails", [True, False])
def test_the_handler_is_exchanged_and_put_back(tells: bool, fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def own(text: str) -> None: ...

    handlers: list[Handler] = [own]
    library = SimpleNamespace(set_mju_user_warning=handlers.append)
    if tells:
        library.get_mju_user_warning = lambda: handlers[-1]
    monkeypatch.setitem(sys.modules, "mujoco", library)
    seen = pytest.raises(OSError, match="no model") if fails else pytest.warns(UserWarning, match=r"^MuJoCo: a word$")
    with seen, once_each():
        assert handlers[-1] is not None
        assert handlers[-1] is not own
        if fails:
            raise OSError("no model")
        handlers[-1](" a word\n")
    # earlier versions do not tell whose handler it was: theirs is the library's own again
    assert handlers[-1] is (own if tells else None)
    assert len(handlers) == 3
