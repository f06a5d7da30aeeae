"""Speeds that make a corridor take the times that a timetable or observations say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyresac.envs.bus.bounds import FASTEST
from pyresac.envs.bus.corridor import Array, Corridor
from pyresac.envs.bus.layout import dwell_times, headways, lay_out, running_times
from pyresac.envs.bus.line import Chances, Line
from pyresac.envs.bus.told_caller import warn_caller

SHORTEST_RUN = 0.3
"""Share of a link's time that is left for running where the mean dwell would take nearly all of it."""
ROUNDS = 30


def speeds_taking(line: Line, chances: Chances, wanted: Array, rounds: int = ROUNDS) -> Chances:
    """The chances with mean speeds for which a link's mean running time is `wanted` (2, L, H), in s, and a ceiling that
    lets them be drawn.

    By fixed-point rounds v ← v·(running time of v)/(wanted one), since time falls about as 1/v.
    """
    for _ in range(rounds):
        ratio = running_times(line, chances) / wanted
        speed = np.clip(chances.mean_speed * ratio, 0.5 * chances.speed_floor, FASTEST)
        chances = chances._replace(mean_speed=speed, speed_ceiling=max(chances.speed_ceiling, 1.3 * float(speed.max())))
        chances = chances._replace(speed_ceiling=min(chances.speed_ceiling, FASTEST))
    return chances


def timed(corridor: Corridor, times: tuple[Array, Array]) -> Corridor:
    """The corridor with mean speeds for which a link takes `times` (links, hours), up and down, in s.

    A link's time is from departure to departure, a mean dwell at its end included, and to the arrival on the last link;
    the first one's begins at the launch, with the boarding there.
    Warns where no allowed speed takes a link's time.
    """
    layout = lay_out(corridor)
    line, chances = layout.line, layout.chances
    headway = headways(corridor)
    dwell = dwell_times(line, chances, headway)
    wanted = np.ones_like(chances.mean_speed)
    for index, way in enumerate(corridor.directions):
        links = len(way.length)
        stand = dwell[index, 1 : links + 1].copy()
        stand[-1] = 0.0
        # a bus boards at its first stop after its launch
        stand[0] += line.boarding_time * chances.rate[index, 0] * headway[index, 0]
        wanted[index, :links] = np.maximum(times[index] - stand, SHORTEST_RUN * times[index])
    chances = speeds_taking(line, chances, wanted)
    off = np.abs(running_times(line, chances) / wanted - 1.0)
    ways = []
    for index, way in enumerate(corridor.directions):
        links = len(way.length)
        if off[index, :links].max() > 0.01:
            link = int(off[index, :links].max(axis=1).argmax())
            warn_caller(
                f"{corridor.name}: from {way.stops[link]!r} to {way.stops[link + 1]!r}, {way.length[link]:.0f} m, no "
                f"allowed speed takes {times[index][link].min():.0f} s with a mean dwell; it is off by "
                f"{off[index, link].max():.0%}"
            )
        ways.append(replace(way, speed=chances.mean_speed[index, :links]))
    return replace(corridor, up=ways[0], down=ways[1], speed_ceiling=chances.speed_ceiling)
