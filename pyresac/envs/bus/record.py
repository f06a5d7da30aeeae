"""What a day has left behind, and its visits as a table: one row a visit, for a CSV file or pandas."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus import state as at
from pyresac.envs.bus.corridor import DIRECTIONS, Array
from pyresac.envs.bus.layout import Layout
from pyresac.envs.bus.line import DIRECTION, Integers
from pyresac.errors import InputError

COLUMNS = {
    "arrival": at.ARRIVED,
    "dwell": at.DWELL,
    "held": at.HELD,
    "forward_headway": at.FORWARD,
    "backward_headway": at.BACKWARD,
    "lateness": at.LATENESS,
    "reward": at.REWARD,
    "load": at.ONBOARD,
    "boarded": at.BOARDED,
    "alighted": at.ALIGHTED,
    "left_behind": at.LEFT,
    "skipped": at.SKIPPED,
}
"""Columns of a visit, in s and passengers; empty where they do not apply."""


@dataclass(frozen=True)
class Record:
    """A day that has been run; T trips, S places, P passengers drawn (those of `passengers` before `end` did
    appear)."""

    layout: Layout
    seed: int
    end: float
    """s at which the last trip ended."""
    fleet: int
    """Buses used."""
    visits: Array
    """(T, S, VISIT_COLUMNS), see `state`."""
    buses: Integers
    """(T,) bus of each trip."""
    passengers: Array
    """(P, 3) times of appearance, boarding and alighting, NaN where it did not happen."""
    destination: NDArray[np.int32]
    """(P,) place along the direction."""
    queue: Integers
    """(P,) direction · S + place of origin."""

    def to_pandas(self) -> Any:
        """The visits as a pandas DataFrame, see `visits_table`. Raises InputError without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise InputError("to_pandas needs pandas: pip install 'pyresac[gtfs]', or pandas alone") from error
        return pandas.DataFrame(visits_table(self))


def visits_table(record: Record) -> dict[str, list[Any]]:
    """Columns by name, a row a visit in order of trip and place: seed, trip, bus, direction, place, stop, COLUMNS."""
    line, corridor = record.layout.line, record.layout.corridor
    trip, place = np.nonzero(np.isfinite(record.visits[..., at.ARRIVED]))
    way = line.plan[trip, DIRECTION]
    rows = record.visits[trip, place]
    return {
        "seed": [record.seed] * len(trip),
        "trip": trip.tolist(),
        "bus": record.buses[trip].tolist(),
        "direction": [DIRECTIONS[index] for index in way],
        "place": place.tolist(),
        "stop": [corridor.directions[index].stops[where] for index, where in zip(way, place, strict=True)],
        **{name: rows[:, column].tolist() for name, column in COLUMNS.items()},
    }


def visits_csv(records: dict[str, list[Record]]) -> str:
    """CSV text of many days, with a first column `controller`; numbers as Python writes them, empty for none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = False
    for name, days in records.items():
        for record in days:
            table = visits_table(record)
            if not header:
                writer.writerow(["controller", *table])
                header = True
            for row in zip(*table.values(), strict=True):
                writer.writerow([name, *("" if value != value else value for value in row)])
    return text.getvalue()
