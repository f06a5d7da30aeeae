"""Extreme numbers: each is refused with its bound and its reason, or makes a day that ends, soon, in finite figures."""

from __future__ import annotations

import errno
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, HeadwayEqualising, Simulator, day_metrics, load_corridor, save_corridor, simulate
from pyresac.envs.bus.bounds import BOUNDS
from pyresac.errors import InputError

EXTREMES = [0.0, 5e-324, 1e-300, 1e-9, 0.01, 1.0, 100.0, 1e3, 86_399.0, 1e6, 1e9, 1e16, 1e300, 1.7e308, -1.0, math.inf]


def changed(corridor: Corridor, name: str, value: float) -> Corridor:
    """The corridor with one number changed: of itself, its vehicle, a link, a speed, a launch or a rate."""
    kind, _, rest = name.partition(".")
    if kind == "vehicle":
        return replace(corridor, vehicle=replace(corridor.vehicle, **{rest: value}))
    if kind == "up":
        array = getattr(corridor.up, rest).copy()
        array[(-1,) * array.ndim] = value
        return replace(corridor, up=replace(corridor.up, **{rest: array}))
    if kind == "demand":
        demand = corridor.demand.copy()
        demand[1, 0, 3] = value
        return replace(corridor, demand=demand)
    return replace(corridor, **{name: value})


@pytest.mark.timeout(300)
@pytest.mark.parametrize("value", EXTREMES)
@pytest.mark.parametrize("name", [*BOUNDS, "up.length", "up.speed", "up.launches", "demand"])
def test_one_extreme_number(small: Corridor, name: str, value: float) -> None:
    refused = ""
    try:
        corridor = changed(small, name, value)
        record = simulate(corridor, HeadwayEqualising(), 1)
    except InputError as error:
        refused = str(error)
    if refused:
        assert name in refused or "a day of corridor" in refused
        return
    found = day_metrics(record)
    assert math.isfinite(record.end)
    assert not math.isnan(found.reward)
    assert not math.isnan(found.vehicle_hours)
    assert np.isfinite(record.visits[:, :, 0]).all()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("holding_limit", 1e9, "holding_limit is 1000000000.0; .* at most 3600 .an hour"),
        ("vehicle.clearance_time", 1e9, r"vehicle.clearance_time is .* at most 3600"),
        ("vehicle.boarding_time", 1e9, r"at most 600 .ten minutes a passenger"),
        ("up.launches", 1e9, "a launch must be in the first week"),
        ("demand", 1e9, "rates must be finite and not negative, at most 1,000,000 an hour"),
        ("up.length", 1e9, "at most 200000"),
        ("vehicle.acceleration", 1e-9, "at least 0.01"),
        ("speed_interval", 5e-324, "at least 1, at most 3600"),
        ("headway", 1e308, "at most 86400 .a day"),
    ],
)
def test_bounds_say_why(small: Corridor, name: str, value: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        changed(small, name, value)


def test_numbers_that_are_too_large_together(small: Corridor) -> None:
    """Each is inside its bounds."""
    busy = replace(small, demand=np.triu(np.full((2, 5, 5), 1e6), 1))
    with pytest.raises(
        InputError, match=r"has .* passengers; at most 20,000,000 are allowed; every trip has surely ended"
    ):
        simulate(replace(busy, vehicle=replace(busy.vehicle, capacity=10_000)), HeadwayEqualising(), 0)
    slow = replace(small, holding_limit=3600.0, vehicle=replace(small.vehicle, capacity=10_000, boarding_time=600.0))
    with pytest.raises(InputError, match="speeds, one a link and speed_interval; at most"):
        simulate(replace(slow, speed_interval=1.0), HeadwayEqualising(), 0)


def test_days_that_no_memory_holds(small: Corridor) -> None:
    with pytest.raises(InputError, match=r"10,000,000 days side by side need [\d,]+ GB, .* at most [\d,]+ days"):
        Simulator(small, 10_000_000)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyresac import atomic

    path = tmp_path / "line.json"
    save_corridor(small, path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_corridor(replace(small, name="other"), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["line.json"]


def test_a_corridor_file_cut_anywhere_is_refused(tmp_path: Path, small: Corridor) -> None:
    path = tmp_path / "line.json"
    save_corridor(small, path)
    whole = path.read_bytes()
    assert json.loads(whole)
    for end in range(0, len(whole) - 2, 97):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError):
            load_corridor(path)
