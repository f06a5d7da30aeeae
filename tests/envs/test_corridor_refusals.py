"""What a corridor and its controllers refuse, where no other test gives it to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, NoHolding, Simulator, controllers, layout
from pyresac.envs.bus.controller_files import LARGEST_FILE, load_controller, save_controller
from pyresac.envs.bus.controllers import (
    ForwardHeadway,
    PredictionBased,
    Rule,
    ScheduleHolding,
    SelfEqualising,
    SimpleRobust,
    SkippingRule,
    TargetHeadway,
    TwoWayLooking,
)
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.parametric import LinearRule, NetworkRule
from pyresac.envs.bus.simulator import numbers
from pyresac.errors import InputError


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"vehicle": 3}, r"vehicle is 3; it must be a Vehicle"),
        ({"vehicle": None}, r"vehicle is None; it must be a Vehicle"),
        ({"up": 3}, r"up is 3; it must be a Direction"),
        ({"down": "a"}, r"down is 'a'; it must be a Direction"),
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


def started(small: Corridor, days: int) -> Simulator:
    found = Simulator(small, days)
    found.start(range(days))
    return found


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (lambda small: Simulator(small, 2).start([1, 2, 3]), "3 seeds for 2 days"),
        (
            lambda small: Simulator(small, 2).step(0.0, np.array([0, 1])),
            r"days \[0, 1\] have no bus that must decide",
        ),
        (lambda small: started(small, 2).step([0.0, "x"]), "holding is .* it must be seconds in"),
        (lambda small: started(small, 2).step([0.0]), "holding has 1 entries for 2 buses"),
        (lambda small: started(small, 2).step([True, False]), "holding is .* it must be seconds in"),
        (lambda small: numbers(["5"]), "found <U1; expected real numbers"),
        (lambda small: numbers([1j]), "found complex128; expected real numbers"),
    ],
)
def test_days_that_cannot_go_on(small: Corridor, do: Callable[[Corridor], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        do(small)


def test_a_day_that_has_ended_takes_no_hold_and_the_others_go_on(small: Corridor) -> None:
    """Who asks for days by their rows is told which of them have no bus that waits."""
    days = started(small, 2)
    while days.pending[1]:
        days.step([0.0], np.array([1]))
    with pytest.raises(InputError, match=r"days \[1\] have no bus that must decide; start them first"):
        days.step([0.0, 0.0], np.array([0, 1]))
    assert days.pending.tolist() == [1, 0]
    days.step(0.0)
    assert days.pending[0]


def test_a_timetable_that_no_machine_has_room_for(small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    """16 trips of 5 stops: 80 stops are allowed, 79 are not enough."""
    monkeypatch.setattr(layout, "LARGEST_TIMETABLE", 80)
    lay_out(small)
    monkeypatch.setattr(layout, "LARGEST_TIMETABLE", 79)
    with pytest.raises(InputError, match="corridor 'small' has 16 trips of 5 stops; a day may have 79 stops in all"):
        lay_out(small)


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


NUMBERS: dict[tuple[type[Rule], str], tuple[float, float]] = {
    (TargetHeadway, "slack"): (-math.inf, math.inf),
    (TargetHeadway, "gain"): (0.0, math.inf),
    (ForwardHeadway, "slack"): (0.0, math.inf),
    (ForwardHeadway, "gain"): (0.0, 1.0),
    (SimpleRobust, "slack"): (0.0, math.inf),
    (SimpleRobust, "memory"): (0.0, 1.0),
    (ScheduleHolding, "slack"): (0.0, math.inf),
    (ScheduleHolding, "gain"): (0.0, 2.0),
    (ScheduleHolding, "foresight"): (0.0, 1.0),
    (SelfEqualising, "share"): (0.0, 1.0),
    (PredictionBased, "share"): (0.0, 1.0),
    (TwoWayLooking, "slack"): (-math.inf, math.inf),
    (TwoWayLooking, "forward"): (0.0, 2.0),
    (TwoWayLooking, "backward"): (0.0, 2.0),
    (SkippingRule, "gain"): (0.0, 2.0),
    (SkippingRule, "threshold"): (0.0, math.inf),
}
"""The least and the largest of each number of a classical rule."""


def test_every_number_of_a_classical_rule_has_its_limits() -> None:
    classical = {kind for kind in vars(controllers).values() if isinstance(kind, type) and issubclass(kind, Rule)}
    assert {(kind, field.name) for kind in classical - {Rule} for field in fields(kind)} == NUMBERS.keys()


@pytest.mark.parametrize(("kind", "name"), NUMBERS, ids=lambda part: getattr(part, "__name__", part))
def test_the_limit_of_a_rule_s_number_is_accepted_and_the_next_number_is_not(kind: type[Rule], name: str) -> None:
    least, most = NUMBERS[kind, name]
    for limit, beyond in ((least, -math.inf), (most, math.inf)):
        if math.isfinite(limit):
            assert getattr(kind(**{name: limit}), name) == limit
        else:
            assert getattr(kind(**{name: math.copysign(1e300, limit)}), name) == math.copysign(1e300, limit)
        outside = math.nextafter(limit, beyond)
        with pytest.raises(InputError) as caught:
            kind(**{name: outside})
        assert str(caught.value) == f"{name} is {outside}; it must be finite and in [{least:g}, {most:g}]"
    with pytest.raises(InputError, match=f"{name} is nan"):
        kind(**{name: math.nan})
