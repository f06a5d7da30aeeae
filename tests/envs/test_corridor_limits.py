"""Every limit of a corridor's numbers: the last number that is allowed is accepted, the next one is refused."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, Vehicle, default_corridor
from pyresac.envs.bus.bounds import BOUNDS, FASTEST, LATEST
from pyresac.envs.bus.corridor import BUSIEST, LONGEST_LINK, SHORTEST_LINK
from pyresac.envs.bus.operations import LIMITS, MOST_BUSES, Operations
from pyresac.envs.bus.traffic import LIMITS as TRAFFIC_LIMITS
from pyresac.envs.bus.traffic import Traffic
from pyresac.envs.bus.vehicle import LARGEST_BUS
from pyresac.errors import InputError

CORRIDOR = default_corridor()
REAL = {
    **{f"corridor.{name}": bound[:2] for name, bound in BOUNDS.items() if "." not in name},
    **{name: bound[:2] for name, bound in BOUNDS.items() if "." in name},
    **{f"operations.{name}": bound for name, bound in LIMITS.items()},
    **{f"traffic.{name}": bound for name, bound in TRAFFIC_LIMITS.items()},
}
WHOLE = {
    "vehicle.capacity": (1, LARGEST_BUS),
    **{f"operations.{name}": (0, MOST_BUSES) for name in ("buses", "seats", "berths")},
}
CLASSES: dict[str, type[Any]] = {
    "corridor": Corridor, "vehicle": Vehicle, "operations": Operations, "traffic": Traffic,
}  # fmt: skip


def refusal(name: str, value: Any) -> str | None:
    """What the corridor's part is refused with, None where it is accepted."""
    part, _, field = name.partition(".")
    values = {field: value}
    if field == "speed_floor":  # the ceiling goes with it
        values["speed_ceiling"] = FASTEST
    if field == "speed_ceiling":
        values["speed_floor"] = 1.0
    try:
        replace(CORRIDOR, **values) if part == "corridor" else CLASSES[part](**values)
    except InputError as error:
        return str(error)
    return None


def test_every_number_has_a_limit() -> None:
    for part, cls in CLASSES.items():
        for field in dataclasses.fields(cls):
            kinds = {"float": REAL, "int": WHOLE}
            if field.type in kinds:
                assert f"{part}.{field.name}" in kinds[str(field.type)]


@pytest.mark.parametrize("name", REAL)
def test_the_limit_of_a_number_is_accepted_and_the_next_number_is_not(name: str) -> None:
    least, most = REAL[name]
    said = name.removeprefix("corridor.")
    for inside, outside in ((least, math.nextafter(least, -math.inf)), (most, math.nextafter(most, math.inf))):
        assert refusal(name, inside) is None
        assert (refusal(name, outside) or "").startswith(f"{said} is {outside!r}; it must be a ")
    for wrong in (math.nan, math.inf, -math.inf, True, "1", None):
        assert (refusal(name, wrong) or "").startswith(f"{said} is {wrong!r}; it must be a ")


@pytest.mark.parametrize("name", WHOLE)
def test_the_limit_of_a_count_is_accepted_and_the_next_number_is_not(name: str) -> None:
    least, most = WHOLE[name]
    assert refusal(name, least) is None
    assert refusal(name, most) is None
    for wrong in (least - 1, most + 1, 1.0, True, "1", None):
        assert (refusal(name, wrong) or "").startswith(f"{name} is {wrong!r}; it must be an integer")


ENTRIES = {
    "length": (SHORTEST_LINK, LONGEST_LINK),
    "speed": (math.nextafter(0.0, 1.0), FASTEST),
    "deviation": (0.0, FASTEST),
}


@pytest.mark.parametrize("way", ["up", "down"])
@pytest.mark.parametrize("name", ENTRIES)
def test_the_limit_of_every_entry_of_a_direction(way: str, name: str) -> None:
    direction = getattr(CORRIDOR, way)
    whole = direction.length if name == "length" else direction.speed
    least, most = ENTRIES[name]
    for place in ((0,) * whole.ndim, tuple(np.array(whole.shape) - 1)):
        for inside, outside in ((least, math.nextafter(least, -math.inf)), (most, math.nextafter(most, math.inf))):
            for value, accepted in ((inside, True), (outside, False), (math.nan, False)):
                table = np.ones(whole.shape)
                table[place] = value
                changed = {way: replace(direction, **{name: table})}
                if accepted:
                    replace(CORRIDOR, **changed)
                    continue
                with pytest.raises(InputError, match=rf"^{way}\.{name}\[.*{place[0]}.* must be "):
                    replace(CORRIDOR, **changed)


@pytest.mark.parametrize("way", ["up", "down"])
def test_the_limits_of_launches_and_of_demand(way: str) -> None:
    direction = getattr(CORRIDOR, way)
    replace(CORRIDOR, **{way: replace(direction, launches=[0.0, LATEST])})
    for launches in ([0.0, math.nextafter(LATEST, math.inf)], [-5e-324, 1.0], [1.0, 1.0], [1.0, math.nan]):
        with pytest.raises(InputError, match=rf"{way}.launches"):
            replace(CORRIDOR, **{way: replace(direction, launches=launches)})
    origin, destination = (CORRIDOR.stops.index(direction.stops[place]) for place in (0, -1))
    for rate, accepted in ((BUSIEST, True), (math.nextafter(BUSIEST, math.inf), False), (-5e-324, False)):
        demand = np.zeros(CORRIDOR.demand.shape)
        demand[-1, origin, destination] = rate
        if accepted:
            assert replace(CORRIDOR, demand=demand).demand.max() == rate
            continue
        with pytest.raises(InputError, match=rf"demand\[hour {CORRIDOR.hours - 1}, .* rates must be"):
            replace(CORRIDOR, demand=demand)
