"""A bus of the corridor."""

from __future__ import annotations

from dataclasses import dataclass

from pyresac.envs.bus.bounds import check_number
from pyresac.envs.bus.number_checks import is_whole
from pyresac.errors import InputError

LARGEST_BUS = 10_000
"""Passengers; the longest possible dwell, and with it the longest possible day, follow from the capacity."""


@dataclass(frozen=True)
class Vehicle:
    """A bus. Dwell = max(alighting_time · alighting, boarding_time · boarding) + clearance_time."""

    capacity: int = 50
    """Passengers, 1 to LARGEST_BUS."""
    acceleration: float = 3.0
    """m/s², above 0."""
    deceleration: float = 5.0
    """m/s², above 0."""
    boarding_time: float = 2.0
    """Seconds a boarding passenger."""
    alighting_time: float = 1.0
    """Seconds an alighting passenger."""
    clearance_time: float = 4.0
    """Seconds of every stop, passengers or not: doors, pulling in and out."""

    def __post_init__(self) -> None:
        if not is_whole(self.capacity) or not 1 <= self.capacity <= LARGEST_BUS:
            raise InputError(
                f"vehicle.capacity is {self.capacity!r}; it must be an integer of at least 1, at most {LARGEST_BUS}"
            )
        for name in ("acceleration", "deceleration", "boarding_time", "alighting_time", "clearance_time"):
            check_number(f"vehicle.{name}", getattr(self, name))
