"""Speeds that make links take given times: by the time from stand to stand, and what is said where none does."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pyresac.envs.bus import Corridor
from pyresac.envs.bus.bounds import FASTEST
from pyresac.envs.bus.timing import timed


def stand_to_stand(length: float, speed: float) -> float:
    """Accelerate by 3 m/s², cruise, brake by 5 m/s²; whole seconds of change are a fifth of one at most."""
    return length / speed + speed * (1 / 3 + 1 / 5) / 2


def quiet(small: Corridor, **changes: float) -> Corridor:
    """No passengers and no deviation: a dwell is 4 s."""
    return replace(small, speed_deviation=0.0, demand=0.0 * small.demand, **changes)  # type: ignore[arg-type]


def test_every_link_takes_its_time(small: Corridor) -> None:
    """With the dwell at its end, but for the last link; the ceiling makes room for the fastest."""
    draw = np.random.default_rng(0)
    times = tuple(draw.uniform(30.0, 90.0, (4, 2)) for _ in range(2))
    found = timed(quiet(small, speed_ceiling=8.0), times)
    fastest = 0.0
    for way, wanted in zip(found.directions, times, strict=True):
        for link, length in enumerate(way.length):
            for hour in range(2):
                speed = way.speed[link, hour]
                stand = 4.0 if link < 3 else 0.0
                assert stand_to_stand(length, speed) == pytest.approx(wanted[link, hour] - stand, abs=0.2)
                fastest = max(fastest, speed)
    assert 1.3 * fastest <= found.speed_ceiling <= 2.0 * fastest
    assert timed(quiet(small, speed_ceiling=40.0), times).speed_ceiling == 40.0
    for one, other in zip(found.directions, small.directions, strict=True):
        assert (one.stops, one.launches.tolist()) == (other.stops, other.launches.tolist())


def test_a_part_of_a_link_s_time_is_left_for_running(small: Corridor) -> None:
    """0.3 of it, where the dwell would take more; on the first link boarding at the launch counts, too."""
    crowd = np.zeros_like(small.demand)
    crowd[:, 0, 4] = 216.0
    line = replace(quiet(small), demand=crowd)
    # 36 of them come in a headway of 600 s, and board in 72 s
    times = np.full((4, 2), 136.0)
    up = timed(line, (times, times)).up
    for link, running in enumerate((136.0 - 72.0 - 4.0, 132.0, 132.0, 136.0)):
        assert stand_to_stand(up.length[link], up.speed[link, 0]) == pytest.approx(running, abs=0.2)
    times[0] = 100.0
    up = timed(line, (times, times)).up
    assert stand_to_stand(up.length[0], up.speed[0, 1]) == pytest.approx(0.3 * 100.0, abs=0.2)


@pytest.mark.parametrize(("way", "link"), [(0, 2), (1, 0), (1, 3)])
def test_the_link_that_no_speed_fits_is_named(small: Corridor, way: int, link: int) -> None:
    """At the floor of 2 m/s a link takes its length over 2 and half a second more."""
    times = [np.full((4, 2), 70.0) for _ in range(2)]
    times[way][link] = [900.0, 600.0]
    line = quiet(small)
    direction = line.directions[way]
    length, stand = float(direction.length[link]), 4.0 if link < 3 else 0.0
    off = abs(stand_to_stand(length, 2.0) / (900.0 - stand) - 1.0)
    a, b = direction.stops[link], direction.stops[link + 1]
    where = f"small: from '{a}' to '{b}', {length:.0f} m"
    said = f"{where}, no allowed speed takes 600 s with a mean dwell; it is off by {off:.0%}"
    with pytest.warns(UserWarning, match=f"^{said}$") as caught:
        timed(line, (times[0], times[1]))
    (one,) = caught
    first = test_the_link_that_no_speed_fits_is_named.__code__.co_firstlineno
    assert one.filename == __file__
    assert first < one.lineno < first + 20


def test_a_hundredth_off_is_not_said(small: Corridor, recwarn: pytest.WarningsRecorder) -> None:
    """At the floor the last link takes 175.5 s."""
    slowest = stand_to_stand(350.0, 2.0)
    for share, said in ((1.009, 0), (1.012, 1)):
        times = np.full((4, 2), 70.0)
        times[3] = share * slowest
        timed(quiet(small), (times, np.full((4, 2), 70.0)))
        assert len(recwarn) == said


def test_no_speed_is_above_the_fastest(small: Corridor) -> None:
    times = np.full((4, 2), 70.0)
    times[2] = 1.0
    vehicle = replace(small.vehicle, acceleration=100.0, deceleration=100.0, clearance_time=0.0)
    with pytest.warns(UserWarning, match=r"from 'C' to 'D', 500 m, no allowed speed takes 1 s"):
        found = timed(replace(quiet(small), vehicle=vehicle), (times, np.full((4, 2), 70.0)))
    assert found.up.speed.max() == found.speed_ceiling == FASTEST
    assert math.isfinite(found.up.speed.min())
