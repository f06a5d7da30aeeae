"""The rounds of the calibration: speeds and spreads that have the observed moments, and what each round corrects."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from invented_days import LAUNCHES, noisy
from scipy.stats import norm

from pyresac.envs.bus import Corridor, NoHolding, Operations, Traffic
from pyresac.envs.bus.avl import calibration
from pyresac.envs.bus.avl.calibration import (
    _corrected,
    _dwells,
    _elasticity,
    _filled,
    _ratio,
    _running,
    _scaled,
    _timetable,
    _variances,
    calibrated,
)
from pyresac.envs.bus.avl.observed import Observed, ObservedWay
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.motion import running_time


@pytest.fixture(scope="module")
def seen() -> Observed:
    """Forty days of the small line, whose directions differ."""
    return noisy(1), noisy(2, mean=75.0, spread=0.15)


def test_speeds_have_the_observed_means_and_leave_traffic_its_variance(small: Corridor, seen: Observed) -> None:
    """The mean of the times at the drawn speeds is the observed one; the links' own draws have what the traffic's
    factor leaves, over the interval that they last."""
    traffic, elasticity = Traffic(day=0.03, local=0.04), 0.9
    line = replace(_timetable(small, seen), traffic=traffic, speed_interval=60.0)
    wanted = [_filled(line, index, way) for index, way in enumerate(seen)]
    found = _running(line, seen, wanted, elasticity)
    layout = lay_out(found)
    shares = norm.ppf((np.arange(512) + 0.5) / 512)
    for index, (way, of) in enumerate(zip(found.directions, seen, strict=True)):
        assert way.deviation is not None
        x2 = _variances(of, 2)
        for (link, hour), time in np.ndenumerate(wanted[index]):
            speeds = np.clip(
                way.speed[link, hour] + way.deviation[link, hour] * shares, found.speed_floor, found.speed_ceiling
            )
            times = np.array([running_time(layout.line, index, link, speed) for speed in speeds])
            assert times.mean() == pytest.approx(time, rel=2e-3, abs=0)
            left = (1.0 + x2[link, hour]) / math.exp((0.03**2 + 0.04**2) * 0.81) - 1.0
            ratio = time / 60.0
            averaged = 1.0 - ratio / 3.0 if ratio <= 1.0 else 1.0 / ratio - 1.0 / (3.0 * ratio**2)
            assert times.var() / times.mean() ** 2 == pytest.approx(left / averaged, rel=0.03, abs=0)
    assert (
        found.speed_ceiling
        >= 2.0
        * max(float((way.length[:, None] / time).max()) for way, time in zip(line.directions, wanted, strict=True))
        - 1e-9
    )
    still = _running(replace(line, traffic=Traffic(day=0.9)), seen, wanted, elasticity)
    assert (np.asarray(still.up.deviation) == 0.0).all(), "the traffic alone varies more than the observed times"
    assert still.up.speed.shape == (4, 2)


def test_a_round_corrects_speeds_deviations_and_rates(small: Corridor, seen: Observed) -> None:
    """Slower where simulated times are too short, wider where they vary too little; speeds at most the fastest, a
    deviation at most the speed; without demand the rates stay."""
    short = (noisy(3, mean=30.0, spread=0.08), noisy(4, mean=100.0, spread=0.3))
    short[1].depart[:, :, 1:-1] += 6.0
    line = replace(small, up=replace(small.up, deviation=np.full((4, 2), 0.7)))
    shared = 0.004
    for demand in (True, False):
        found = _corrected(line, seen, short, shared, demand)
        factors = []
        for index, (before, after) in enumerate(zip(line.directions, found.directions, strict=True)):
            means = [calibration.hourly_means(days[index], 2) for days in (seen, short)]
            speed = before.speed * means[1] / means[0]
            assert after.speed == pytest.approx(speed)
            own = [np.maximum((1.0 + _variances(days[index], 2)) / 1.004 - 1.0, 0.0) for days in (seen, short)]
            wider = np.sqrt(np.clip(own[0] / own[1], 0.25, 4.0))
            spread = before.deviation if before.deviation is not None else np.zeros((4, 2))
            assert after.deviation == pytest.approx(np.minimum(spread * wider, speed))
            factors.append(_ratio(_dwells(seen[index], line), _dwells(short[index], line)))
        assert found.demand.tolist() == (_scaled(line, factors) if demand else line.demand).tolist()
        assert (found.demand == line.demand).all() == (not demand)
    wide = replace(line, up=replace(line.up, speed=np.full((4, 2), 90.0), deviation=np.full((4, 2), 99.0)))
    slow = noisy(3, mean=240.0, spread=0.05)
    found = _corrected(wide, seen, (slow, short[1]), 0.0, False)
    assert (found.up.speed == 100.0).all()
    assert (np.asarray(found.up.deviation) == 100.0).all()


class Steps:
    """Stand-ins of the calibration's steps, which note what they are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, local: float = 0.1) -> None:
        self.fits = [Traffic(0.05, 0.2, 0.5, 0.4), *(Traffic(0.3, local, 0.6, 0.1) for _ in range(9))]
        self.given: list[Any] = []
        self.played: list[Any] = []

        def running(corridor: Corridor, observed: Observed, wanted: list[Array], elasticity: float) -> Corridor:
            self.running = corridor, observed, wanted, elasticity
            return corridor

        def corrected(corridor: Corridor, observed: Observed, simulated: Any, shared: float, demand: bool) -> Corridor:
            self.given.append((corridor.traffic, observed, simulated, shared, demand))
            return replace(corridor, headway=corridor.headway + 1.0)

        def days(corridor: Corridor, rule: Any, seeds: range) -> Any:
            self.played.append((corridor.traffic, rule, seeds))
            return "days"

        monkeypatch.setattr(calibration, "fit_traffic", lambda found, interval: self.fits.pop(0))
        monkeypatch.setattr(calibration, "covariances", lambda observed, hours, interval: SimpleNamespace())
        monkeypatch.setattr(calibration, "_running", running)
        monkeypatch.setattr(calibration, "_corrected", corrected)
        monkeypatch.setattr(calibration, "simulate_days", days)
        monkeypatch.setattr(calibration, "days_of", lambda records: f"seen {records}")


@pytest.mark.parametrize("local", [0.1, 0.0])
def test_the_rounds_move_the_traffic_by_what_simulated_days_lack(
    small: Corridor, seen: Observed, monkeypatch: pytest.MonkeyPatch, local: float
) -> None:
    """Five rounds of the same 96 days. The day's factor stays; where simulated days have no local one, that stays."""
    steps = Steps(monkeypatch, local)
    found = calibrated(small, seen)
    line, observed, wanted, elasticity = steps.running
    slopes = [_elasticity(line, index, wanted[index]) for index in (0, 1)]
    assert elasticity == pytest.approx((slopes[0].sum() + slopes[1].sum()) / 16.0)
    assert elasticity < 0.99
    assert observed is seen
    assert line.up.launches.tolist() == LAUNCHES.tolist()
    now = Traffic(0.05 / elasticity, 0.2 / elasticity, 0.5, 0.4)
    assert len(steps.given) == len(steps.played) == 5
    for (traffic, watched, simulated, shared, demand), (of, rule, seeds) in zip(steps.given, steps.played, strict=True):
        assert vars(traffic) == pytest.approx(vars(now))
        assert vars(of) == pytest.approx(vars(now))
        assert (rule, seeds) == (NoHolding(), range(96))
        assert (watched is seen, simulated, demand) == (True, "seen days", True)
        assert shared == pytest.approx(math.exp((now.day**2 + now.local**2) * elasticity**2) - 1.0)
        more = now.local * 2.0 if local else now.local
        now = Traffic(now.day, min(more, 1.0), max(now.along - 0.1, 0.0), min(now.persistence + 0.3, 0.999))
    assert vars(found.traffic) == pytest.approx(vars(now))
    assert found.headway == small.headway + 5.0


def test_a_line_of_few_buses_is_late_by_itself(
    small: Corridor, seen: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lateness is no draw; without a fleet it is what was observed. The demand is kept where that is asked for."""
    late = tuple(ObservedWay(way.launch, way.arrive + 30.0, way.depart + 30.0) for way in seen)
    for operations, demand in ((Operations(), False), (Operations(buses=3), True)):
        steps = Steps(monkeypatch)
        found = calibrated(replace(small, operations=operations), late, demand=demand)  # type: ignore[arg-type]
        assert [given[-1] for given in steps.given] == [demand] * 5
        if operations.buses:
            assert found.operations == operations
        else:
            assert (found.operations.late_share, found.operations.late_mean) == (1.0, pytest.approx(29.5))


def test_a_link_that_is_driven_at_a_walk_is_warned_of(
    small: Corridor, seen: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    Steps(monkeypatch)
    slow = replace(small, up=replace(small.up, length=np.array([400.0, 50.0, 500.0, 350.0])))
    with pytest.warns(UserWarning, match="from 'B' to 'C': 50 m in 61 s is slower") as caught:
        calibrated(slow, seen)
    assert [one.filename for one in caught] == [__file__]
