"""Days as they have always been: whatever is added to the corridor, a day without it stays what it was."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, Record, controller_named, default_corridor, simulate

FIRST_COLUMNS = 19
"""Columns of a visit that the first simulator had."""
FROZEN = {
    "small none exact": "b30c0f3dd19c34f3",
    "small none published": "342a62d27dcea6d5",
    "small headway exact": "a45925ba90fb566a",
    "small headway published": "ef76faaa0ba7cae9",
    "small target:slack=50 exact": "b9bc452c5a07b71e",
    "small target:slack=50 published": "c73d2b8754af159a",
    "small forward exact": "db8baca8b061e18d",
    "small forward published": "6b175db8a6bf9d40",
    "small robust exact": "aa8a6636820ac890",
    "small robust published": "c0a761529a8547b8",
    "small random exact": "eaf0596472aa56e5",
    "small random published": "774dd62aa850741a",
    "default none exact": "aa6735aaba11f6c6",
    "default none published": "c05aef14a403bd43",
    "default headway exact": "9c66ffac6af69326",
    "default headway published": "04b5c52c6ebfca87",
    "default target:slack=50 exact": "4a616ffda474dccd",
    "default target:slack=50 published": "699e0bf931b0e140",
    "default forward exact": "219940feb42d9306",
    "default forward published": "adf5bfb31946b002",
    "default robust exact": "4c92f83ed7d759bf",
    "default robust published": "802cccb15aa2358a",
    "default random exact": "904521682cb7e3ff",
    "default random published": "5ed3570fc40cb219",
}


def digest(record: Record) -> str:
    """Of all that happened, to 0.1 ms: a last digit of the machine's cosine changes no digest."""
    content = hashlib.sha256()
    for array in (record.visits[..., :FIRST_COLUMNS], record.passengers):
        # + 0.0: no negative zero
        content.update((np.nan_to_num(np.round(array, 4), nan=-1e9) + 0.0).tobytes())
    for whole in (record.buses, record.destination.astype(np.int64), record.queue):
        content.update(whole.tobytes())
    content.update(f"{record.end:.4f} {record.fleet}".encode())
    return content.hexdigest()[:16]


@pytest.mark.parametrize("name", sorted(FROZEN))
def test_a_day_stays_what_it_was(small: Corridor, name: str) -> None:
    line, rule, published = name.split()
    corridor = small if line == "small" else default_corridor()
    assert digest(simulate(corridor, controller_named(rule), 7, published == "published")) == FROZEN[name]
