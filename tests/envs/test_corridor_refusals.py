"""What a corridor and its controllers refuse, where no other test gives it to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, NoHolding
from pyresac.envs.bus.controller_files import LARGEST_FILE, load_controller, save_controller
from pyresac.envs.bus.controllers import Rule
from pyresac.envs.bus.parametric import LinearRule, NetworkRule
from pyresac.errors import InputError


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"operations": {"buses": 3}}, r"operations is \{'buses': 3\}; it must be an Operations"),
        ({"traffic": 0.1}, r"traffic is 0\.1; it must be a Traffic"),
        ({"demand": [[1.0], [1.0, 2.0]]}, "demand must be an array of numbers: "),
    ],
)
def test_a_corridor_of_other_parts(small: Corridor, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(small, **changed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearRule(0.0, (1.0, 2.0)), "weights are 2; expected 10, one for each of "),
        (
            lambda: NetworkRule([[1.0], [1.0, 2.0]]),
            r"numbers are \[\[1\.0\], .*; expected a list of numbers",
        ),
        (lambda: NetworkRule((1.0, np.nan)), "expected finite numbers"),
    ],
)
def test_a_rule_of_other_numbers(make: Callable[[], Rule], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


class Mine(Rule):
    """No rule that has a name."""


def test_a_controller_file_that_is_too_large_or_of_no_known_rule(tmp_path: Path) -> None:
    path = tmp_path / "rule.json"
    save_controller(NoHolding(), path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"a file can hold a rule of \['forward', "):
        save_controller(Mine(), path)
    assert path.read_bytes() == before
    path.write_bytes(before + b" " * LARGEST_FILE)
    with pytest.raises(InputError, match=rf"rule\.json: larger than {LARGEST_FILE:,} bytes"):
        load_controller(path)
