"""What is of the wrong kind altogether is refused in one sentence, as a wrong number is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import (
    Simulator,
    controller_named,
    default_corridor,
    save_corridor,
    simulate_days,
)
from pyresac.envs.bus.controllers import NoHolding, PredictionBased, SkippingRule, TargetHeadway
from pyresac.errors import InputError

LINE = default_corridor()


def stepped(rows: Any) -> None:
    simulator = Simulator(LINE, 1)
    simulator.start([1])
    simulator.step([1.0], rows)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: simulate_days(LINE, NoHolding(), 3), "seeds are 3; they must be a sequence of integers, one a day"),  # type: ignore[arg-type]
        (lambda: stepped([5]), r"rows are \[5\]; they must be integers in \[0, 0\]"),
        (lambda: stepped([0.0]), r"rows are \[0.0\]; they must be integers in \[0, 0\]"),
        (lambda: controller_named(3), "controller is 3; it must be named by a string"),  # type: ignore[arg-type]
        (lambda: controller_named(None), "controller is None; it must be named by a string"),  # type: ignore[arg-type]
        (lambda: TargetHeadway(slack="a"), "slack is 'a'; it must be finite and in"),  # type: ignore[arg-type]
        (lambda: TargetHeadway(gain=None), "gain is None; it must be finite and in"),  # type: ignore[arg-type]
        (lambda: TargetHeadway(slack=True), "slack is True; it must be finite and in"),
        (lambda: PredictionBased(share="x"), "share is 'x'; it must be finite and in"),  # type: ignore[arg-type]
        (lambda: SkippingRule(gain=[1.0]), r"gain is \[1.0\]; it must be finite and in"),  # type: ignore[arg-type]
        (lambda: save_corridor(3, "x.json"), "corridor is a int; save_corridor writes a Corridor"),  # type: ignore[arg-type]
        (lambda: replace(LINE, name="a\ud800"), r"the name 'a\\ud800' of a corridor or a stop has half a character"),
        (lambda: replace(LINE, name="\udfff"), r"the name '\\udfff' of a corridor or a stop has half a character"),
    ],
)  # fmt: skip
def test_the_wrong_kind_is_refused(work: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        work()


def test_numbers_of_numpy_are_numbers() -> None:
    assert TargetHeadway(slack=np.float64(20.0)).parameters == TargetHeadway(slack=20.0).parameters
    assert TargetHeadway(slack=np.int64(20)).parameters == TargetHeadway(slack=20.0).parameters


def test_a_corridor_is_saved_where_a_file_can_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"path is .*none/x\.json; there is no folder"):
        save_corridor(LINE, tmp_path / "none" / "x.json")
    with pytest.raises(InputError, match=r"path is .*, which is a folder; name a file in it"):
        save_corridor(LINE, tmp_path)
    assert list(tmp_path.iterdir()) == []
