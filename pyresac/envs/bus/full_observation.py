"""The numbers of the full observation: headways and speed, as the paper has them, and what else a control room knows.

Lateness is measured against the corridor's schedule: the mean running and dwell times, without any holding. Each
feature stands here once; the environments' `observation="full"`, and the linear and network rules read the same ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import borrowing
from pyresac.envs.bus.corridor import Array


class Feature(NamedTuple):
    """A number that a bus sees at the end of dwell; `scale` is a typical deviation, in its unit."""

    name: str
    unit: str
    scale: float
    meaning: str


FEATURES = (
    Feature("forward_headway", "s", 60.0, "hf: the leader's and the own end of dwell"),
    Feature("backward_headway", "s", 60.0, "hb: the follower's latest hf"),
    Feature("link_speed", "m/s", 2.0, "speed of the next link now"),
    Feature("lateness", "s", 60.0, "end of dwell minus the scheduled departure"),
    Feature("leader_lateness", "s", 60.0, "the leader's arrival at this stop minus its schedule"),
    Feature("follower_lateness", "s", 60.0, "the follower's latest arrival minus its schedule"),
    Feature("link_delay", "s", 15.0, "time on the next link at its speed now, minus the scheduled one"),
    Feature("load", "passengers", 15.0, "passengers on board"),
    Feature("waiting_next", "passengers", 5.0, "passengers for this trip waiting at the next stop"),
    Feature("stops_behind", "stops", 6.0, "stops made on this trip"),
)
NAMES = tuple(feature.name for feature in FEATURES)
SCALES: Array = np.array([feature.scale for feature in FEATURES])
COUNT = len(FEATURES)


@borrowing
def fill_features(x: Array, made: int, ends: bool, values: Array) -> None:
    """FEATURES of a visit's row, `made` stops after the first, into values (COUNT,); at a trip's end there is no next
    link, and its numbers are 0."""
    values[0] = x[at.FORWARD]
    values[1] = x[at.BACKWARD]
    values[2] = 0.0 if ends else x[at.NEXT_SPEED]
    values[3] = x[at.LATE]
    values[4] = x[at.LEADER_LATENESS]
    values[5] = x[at.FOLLOWER_LATENESS]
    values[6] = 0.0 if ends else x[at.LINK_DELAY]
    values[7] = x[at.ONBOARD]
    values[8] = 0.0 if ends else x[at.NEXT_WAITING]
    values[9] = made
