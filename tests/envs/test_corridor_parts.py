"""Corridors and controllers as values and as files: what is frozen, what is written, and refusals at their limits."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, Direction, NoHolding, Operations, Simulator, TargetHeadway, Traffic, Vehicle
from pyresac.envs.bus.controller_files import LARGEST_FILE, load_controller, python_controller, save_controller
from pyresac.envs.bus.controllers import RandomHolding, Rule
from pyresac.envs.bus.corridor import LARGEST_PLACE
from pyresac.envs.bus.corridor_files import corridor_text, load_corridor, save_corridor
from pyresac.envs.bus.observation import single
from pyresac.envs.bus.parametric import LinearRule
from pyresac.errors import InputError


def up(line: Corridor, **changes: Any) -> Corridor:
    return replace(line, up=replace(line.up, **changes))


def test_numbers_of_a_line_are_copies_that_nobody_changes(small: Corridor) -> None:
    length, first = np.array([400.0, 300.0, 500.0, 350.0]), np.array([0, 0, 2])
    way = replace(small.up, length=length, launches=[0.0, 1.0, 2.0], first=first, deviation=np.ones((4, 2)))
    demand = small.demand.copy()
    line = replace(small, up=way, demand=demand)
    length[0], first[2], demand[0, 0, 1] = 1.0, 1, 99.0
    assert (way.length[0], line.demand[0, 0, 1]) == (400.0, 12.0)
    arrays = {"length": way.length, "speed": way.speed, "launches": way.launches, "demand": line.demand}
    arrays |= {"deviation": way.deviation, "first": way.first}  # type: ignore[dict-item]
    for name, array in arrays.items():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        assert array.dtype == (np.int64 if name == "first" else np.float64), name
    assert [ends.tolist() for ends in way.ends] == [[0, 0, 2], [4, 4, 4]]
    assert all(ends.dtype == np.int64 for ends in small.up.ends)
    assert way.whole.tolist() == [True, True, False]
    assert replace(way, first=None, last=[4, 3, 4]).whole.tolist() == [True, False, True]
    assert (line.trips, line.short_turns, small.short_turns, line.hours) == (11, 1, 0, 2)
    assert replace(way, stops=np.array(small.stops)).stops == small.stops


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: replace(c, demand=np.zeros((5, 5))), r"up\.speed has shape \(4, 2\); it must be .* = \(4, 0\)"),
        (lambda c: replace(c, stops=("A", "B", "C", "D", "")), "each of its stops need a name that is a non-empty"),
        (lambda c: replace(c, stops=("A", "B", "C", "D", 5)), "each of its stops need a name that is a non-empty"),
        (lambda c: up(c, stops=("A", "B", "A", "D", "E")), r"up\.stops has 5 entries .*; at least 3 are needed, each"),
        (lambda c: up(c, launches=[[0.0, 1.0]]), "the timetable of direction up is empty"),
        (lambda c: replace(c, speed_interval=7.0), "speed_interval 7 and demand_interval 20 s: each must divide an"),
        (
            lambda c: up(c, launches=[0.0, 5.0, 5.0, 5.0, 9.0], first=[2, 0, 2, 0, 0]),
            r"up\.launches\[1\] and \[3\] are both 5 s from 'A'; trips that begin at one stop must leave it one after",
        ),
        (lambda c: up(c, launches=[0.0, 9.0, 8.0], first=[0, 1, 2]), r"launches\[1\] and \[2\] are 9 s then 8 s"),
        (lambda c: up(c, first=[LARGEST_PLACE] * 8), "up: launch 0 is from place 1000000 to place 4; places are 0 to"),
        (lambda c: up(c, first=[LARGEST_PLACE + 1] * 8), "first must be places along the direction, whole numbers"),
        (lambda c: up(c, first=[0] * 7 + [4]), "up: launch 7 is from place 4 to place 4"),
        (lambda c: up(c, last=[[4] * 8]), r"up\.last has shape \(1, 8\); it must be \(8,\), a place a launch"),
        (lambda c: replace(c, demand=np.zeros((0, 5, 5)), **flat(c)), r"demand has shape \(0, 5, 5\); it must be \(ho"),
    ],
)
def test_refusals(small: Corridor, change: Callable[[Corridor], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        change(small)


def flat(line: Corridor) -> dict[str, Direction]:
    """Directions without an hour."""
    return {name: replace(getattr(line, name), speed=np.zeros((4, 0))) for name in ("up", "down")}


def test_trips_that_begin_at_different_stops_may_leave_them_at_once(small: Corridor) -> None:
    assert up(small, launches=[0.0, 5.0, 5.0, 9.0], first=[0, 0, 2, 0]).trips == 12


def test_a_day_may_end_at_a_pair_that_both_directions_miss(small: Corridor) -> None:
    """A rate of one passenger is checked as any other."""
    down = Direction(("E", "C", "A"), np.array([850.0, 700.0]), np.full((2, 2), 8.0), small.down.launches)
    demand = np.triu(small.demand)
    line = replace(small, down=down, demand=demand)
    demand[1, 3, 0] = 1.0
    with pytest.raises(InputError, match=r"demand\[hour 1, 'D' → 'A'\] is 1\.0; no direction visits 'D' before 'A'"):
        replace(line, demand=demand)


def test_the_text_of_a_corridor(small: Corridor) -> None:
    """A row of numbers a line; what is as in most corridors is left out."""
    down = Direction(("C", "B", "A"), [300.0, 250.0], [[7.0], [6.5]], [10.0])
    deviation, first = [[0.5], [1.0]], [0, 1]
    way = Direction(("A", "B", "C"), [250.0, 300.0], [[8.0], [8.25]], [0.0, 60.0], deviation, first)  # type: ignore[arg-type]
    demand = np.zeros((1, 3, 3))
    demand[0, 0, 2], demand[0, 2, 1] = 4.0, 0.125
    line = Corridor("Tram “7”", ("A", "B", "C"), way, down, demand, headway=60.0)
    plain = """{
  "format": "pyresac bus corridor 1",
  "name": "Tram “7”",
  "hours": 1,
  "headway": 60.0,
  "holding_limit": 60.0,
  "speed_deviation": 1.5,
  "speed_floor": 2.0,
  "speed_ceiling": 15.0,
  "speed_interval": 300.0,
  "demand_interval": 20.0,
  "service_start": 21600.0,
  "vehicle": VEHICLE,
  "stops": ["A", "B", "C"],
  "up": {
    "stops": ["A", "B", "C"],
    "length": [250.0, 300.0],
    "speed": [
      [8.0],
      [8.25]
    ],
    "launches": [0.0, 60.0],
    "deviation": [
      [0.5],
      [1.0]
    ],
    "first": [0, 1]
  },
  "down": {
    "stops": ["C", "B", "A"],
    "length": [300.0, 250.0],
    "speed": [
      [7.0],
      [6.5]
    ],
    "launches": [10.0]
  },
MORE  "demand": [
    {"from": "A", "to": "C", "rates": [4.0]},
    {"from": "C", "to": "B", "rates": [0.125]}
  ]
}
""".replace("VEHICLE", json.dumps(vars(Vehicle())))
    assert corridor_text(line) == plain.replace("MORE", "")
    run = replace(line, operations=Operations(buses=2, control_stops=("B",)), traffic=Traffic(day=0.1))
    options = {**vars(run.operations), "control_stops": ["B"]}
    rows = ",\n".join(f'    "{name}": {json.dumps(value)}' for name, value in options.items())
    more = f'  "operations": {{\n{rows}\n  }},\n  "traffic": {json.dumps(vars(run.traffic))},\n'
    assert corridor_text(run) == plain.replace("MORE", more)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c.update(up=3), r": up: found int; expected an object with the keys \['stops', 'length', "),
        (lambda c: c["up"].update(wide=3), r": up: missing keys \[\], unknown keys \['wide'\]; expected"),
        (lambda c: c["up"].update(first=[0] * 7), r": up\.first has shape \(7,\)"),
        (lambda c: c["down"].update(length="long"), ": down: length must be an array of numbers, got"),
        (lambda c: c["demand"][1].update({"from": "Z"}), r": demand\[1\]\.from is 'Z', which is not among the stops"),
        (lambda c: c["demand"][0].update(rates="ab"), r": demand\[0\]\.rates is 'ab'; expected 2 numbers, one an hour"),
        (
            lambda c: c["demand"][0].update(rates=[1.0, True]),
            r": demand\[0\]\.rates is \[1\.0, True\]; expected numbers",
        ),
        (
            lambda c: c["demand"][0].update(rates=[1.0, math.inf]),
            r": demand\[0\]\.rates is \[1\.0, inf\]; expected num",
        ),
        (lambda c: c["demand"][0].update(rates=[sys.float_info.max, 1]), r": demand\[hour 0, .*; rates must be finite"),
        (lambda c: c["demand"].append(3), r": demand\[20\]: found int; expected an object with the keys \['from'"),
        (lambda c: c.update(hours=2.0), r": hours is 2\.0; it must be an integer of at least 1"),
        (lambda c: c.update(hours=1), ": hours is 1, but up.speed has 2 columns"),
        (lambda c: c.update(traffic=[]), r": traffic is \[\]; expected an object with some of the keys"),
        (lambda c: c.update(operations={"buses": 1, "wheels": 2}), ": operations is .*; expected an object with some"),
        (lambda c: c.pop("format"), ": format is None; expected 'pyresac bus corridor 1'"),
    ],
)
def test_files_of_a_line_that_are_wrong_in_one_place(
    tmp_path: Path, small: Corridor, edit: Callable[[dict[str, Any]], Any], message: str
) -> None:
    """Their name is said once."""
    path = tmp_path / "line.json"
    save_corridor(small, path)
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message) as caught:
        load_corridor(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


def test_a_file_that_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "line.json"
    path.write_text("[1]")
    with pytest.raises(InputError, match=r"line\.json: format is 'list'; expected 'pyresac bus corridor 1'"):
        load_corridor(path)


def test_a_controller_s_file_has_its_numbers_and_how_they_were_found(tmp_path: Path) -> None:
    """Up to ten million bytes of it."""
    path = tmp_path / "rule.json"
    save_controller(TargetHeadway(5.0, 0.5), path, {"by": "hand, “so”"})
    assert path.read_text() == (
        '{\n "format": "pyresac bus controller 1",\n "rule": "target",\n "parameters": {\n  "slack": 5.0,\n'
        '  "gain": 0.5\n },\n "found": {\n  "by": "hand, “so”"\n }\n}\n'
    )
    save_controller(NoHolding(), path)
    text = path.read_text()
    assert json.loads(text)["found"] == {}
    path.write_text(text + " " * (LARGEST_FILE - len(text)))
    assert load_controller(path) == NoHolding()
    save_controller(LinearRule(), path)
    content = json.loads(path.read_text())
    assert next(iter(content["parameters"])) == "bias"
    path.write_text(json.dumps(content | {"parameters": content["parameters"] | {"bias": True}}))
    with pytest.raises(InputError, match=r"rule\.json: bias is True; expected a number"):
        load_controller(path)
    for file in (tmp_path, tmp_path / "null\0.json"):
        with pytest.raises(InputError, match="cannot read "):
            load_controller(file)


DEEP = """\
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass
class Kind:
    batched: ClassVar[bool] = False
    seconds: float = 5.0

    def __call__(self, observation):
        return self.seconds


def outer(observation):
    return middle(observation)


def middle(observation):
    return inner(observation)


def inner(observation):
    raise ValueError("too deep")


nothing = None
"""


def test_a_python_file_s_function_and_where_it_fails(tmp_path: Path) -> None:
    """The innermost line of the file itself; classes of it are made, dataclasses too."""
    path = tmp_path / "deep.py"
    path.write_text(DEEP)
    outer = python_controller(path, "outer")
    with pytest.raises(InputError, match=r"deep\.py:outer failed, line 25: ValueError: too deep"):
        outer(None)  # type: ignore[arg-type]
    kind = python_controller(path, "Kind")
    assert (kind(None), kind.batched, outer.batched) == (5.0, False, False)  # type: ignore[arg-type]
    path.write_text(DEEP + "Kind.batched = True\n")
    assert python_controller(path, "Kind").batched
    with pytest.raises(InputError, match=r"no controller 'nothing' in it; it has \['ClassVar', 'Kind', 'dataclass', "):
        python_controller(path, "nothing")
    (tmp_path / "text.txt").write_text(DEEP)
    with pytest.raises(InputError, match=r"text\.txt: not a Python file"):
        python_controller(tmp_path / "text.txt", "outer")


def test_a_broken_file_that_another_imports_is_blamed_on_the_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_inner.py").write_text("\n\n\nb = ?\n")
    (tmp_path / "whole.py").write_text("a = 1\nimport broken_inner\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"whole\.py cannot be imported, line 2: SyntaxError"):
        python_controller(tmp_path / "whole.py", "a")


@pytest.mark.parametrize("rule", [NoHolding(), TargetHeadway(slack=12.0), RandomHolding()])
def test_a_rule_answers_in_the_form_of_the_question(small: Corridor, rule: Rule) -> None:
    """A float for one observation, an array for many, each of its own row."""
    days = Simulator(small, 3)
    days.start([1, 2, 3])
    many = days.observe()
    together = rule(many)
    assert together.shape == (3,)
    alone = [rule(single(days.observe(np.array([row])))) for row in range(3)]
    assert all(isinstance(seconds, float) for seconds in alone)
    assert together.tolist() == alone
    one = rule(days.observe(np.array([1])))
    assert one.tolist() == [alone[1]]
