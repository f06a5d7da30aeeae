"""What the single numbers of a corridor may be."""

from __future__ import annotations

from typing import Any

from pyresac.envs.bus.number_checks import is_number
from pyresac.errors import InputError

FASTEST = 100.0
"""m/s: faster than any bus or train in a town."""
LATEST = 7 * 24 * 3600.0
"""s: a week."""
HOUR = 3600.0
BOUNDS = {
    "headway": (1.0, 24 * HOUR, "a day"),
    "holding_limit": (0.0, HOUR, "an hour"),
    "speed_deviation": (0.0, FASTEST, "no bus is so fast"),
    "speed_floor": (1.0, FASTEST, "no bus is so fast"),
    "speed_ceiling": (1.0, FASTEST, "no bus is so fast"),
    "speed_interval": (1.0, HOUR, "a draw lies in one hour of the tables"),
    "demand_interval": (1.0, HOUR, "a draw lies in one hour of the tables"),
    "service_start": (0.0, LATEST, "a week"),
    "vehicle.acceleration": (0.01, 100.0, "ten times gravity"),
    "vehicle.deceleration": (0.01, 100.0, "ten times gravity"),
    "vehicle.boarding_time": (0.0, 600.0, "ten minutes a passenger"),
    "vehicle.alighting_time": (0.0, 600.0, "ten minutes a passenger"),
    "vehicle.clearance_time": (0.0, HOUR, "an hour"),
}
"""(least, most, what the most stands for) of every single number of a corridor."""


def check_number(name: str, value: Any) -> None:
    """InputError unless the value is a number inside the BOUNDS of `name`."""
    least, most, reason = BOUNDS[name]
    if not is_number(value) or not least <= value <= most:
        raise InputError(
            f"{name} is {value!r}; it must be a finite number of at least {least:g}, at most {most:g} ({reason})"
        )
