"""The corridor that comes with the package: an invented line through a town, of the published one's scale.

22 stops over 10.8 km, 06:00–19:00, a bus every 360 s from both ends, 21,000 passengers a day. Everything follows from
the few formulas below: links are slower in the middle of town and in the rush hours; people ride towards the middle
in the morning and back in the afternoon, and seldom far.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyresac.envs.bus.corridor import Array, Corridor, Direction
from pyresac.envs.bus.operations import Operations

STOPS = (
    "Harbour",
    "Shipyard",
    "Mill Lane",
    "Gasworks",
    "Orchard",
    "Elm Park",
    "Library",
    "Museum",
    "Old Bridge",
    "Town Hall",
    "Market",
    "Central",
    "Theatre",
    "Law Courts",
    "University",
    "Stadium",
    "Brewery",
    "Canal",
    "Garden City",
    "Hospital",
    "Meadows",
    "Airfield",
)
HOURS = 14
PASSENGERS = 21_000
"""Expected over the 13 hours of service."""
SERVICE = 13 * 3600
HEADWAY = 360
OFFSET = 180
"""Seconds by which the down direction starts later."""
CENTRE = 10.5
"""Place of the middle of town along the line."""
MEAN_SPEED = 8.4
"""m/s, outside town and outside the rush hours."""


def default_corridor() -> Corridor:
    """The package's own corridor."""
    links = len(STOPS) - 1
    # block lengths repeat every three links: 460, 520 and 570 m
    length = np.array([460.0 + 60.0 * (link % 3) - 10.0 * (link % 3 == 2) for link in range(links)])
    speed = _speed(np.arange(links, dtype=np.float64) + 0.5)
    up = np.arange(0, SERVICE + 1, HEADWAY, dtype=np.float64)
    return Corridor(
        name="default",
        stops=STOPS,
        up=Direction(STOPS, length, speed, up),
        down=Direction(STOPS[::-1], length[::-1], speed[::-1], up + OFFSET),
        demand=_demand(np.concatenate([[0.0], np.cumsum(length)])),
        headway=HEADWAY,
    )


def disturbed_corridor() -> Corridor:
    """The same line on bad days, where control helps passengers: three trips of ten leave late, by two minutes on
    average; links vary more and boarding takes longer; doors stay open; and there is room for passengers to catch up.

    On the default corridor headways are so even that no holding rule gives back in waiting what it takes in riding.
    """
    calm = default_corridor()
    return replace(
        calm,
        name="disturbed",
        demand=0.8 * calm.demand,
        speed_deviation=2.5,
        vehicle=replace(calm.vehicle, boarding_time=3.0),
        operations=Operations(late_share=0.3, late_mean=120.0, open_doors=True),
    )


def _rush() -> tuple[Array, Array]:
    """(morning, afternoon), each (HOURS,): how much of a rush the hour is, at most 1."""
    clock = 6.5 + np.arange(HOURS)
    return np.exp(-(((clock - 8.2) / 1.3) ** 2)), np.exp(-(((clock - 17.3) / 1.6) ** 2))


def _speed(place: Array) -> Array:
    """(links, HOURS) mean speeds, to a tenth of a m/s."""
    morning, afternoon = _rush()
    town = np.exp(-(((place - CENTRE) / 5.0) ** 2))
    return np.round(
        MEAN_SPEED * (1.0 - 0.30 * town[:, None]) * (1.0 - 0.22 * np.maximum(morning, afternoon)[None, :]), 1
    )


def _demand(position: Array) -> Array:
    """(HOURS, N, N) passengers per hour, to a hundredth: a gravity model whose ends change roles during the day."""
    morning, afternoon = _rush()
    place = np.arange(len(position))
    town = np.exp(-(((place - CENTRE) / 4.0) ** 2))
    homes, jobs = 0.5 + 0.5 * (1.0 - town), 0.25 + town
    distance = np.abs(position[:, None] - position[None, :]) / 1000.0
    # rises to trips of 2 km and falls off beyond: nobody takes a bus for one block
    near = distance * np.exp(-distance / 2.0)
    out, back = near * np.outer(homes, jobs), near * np.outer(jobs, homes)
    plain = near * np.outer(homes + jobs, homes + jobs) / 4.0
    table = morning[:, None, None] * out + afternoon[:, None, None] * back + 2.5 * plain[None, :, :]
    return np.asarray(np.round(table * (PASSENGERS / table[: SERVICE // 3600].sum()), 2), dtype=np.float64)
