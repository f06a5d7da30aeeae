"""Each step of the calibration from observed days, by hand or by slow sums."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from invented_days import LAUNCHES, way_of
from scipy.optimize import brentq, minimize
from scipy.stats import norm

from pyresac.envs.bus import Corridor, Traffic, Vehicle
from pyresac.envs.bus.avl.calibration import (
    _averaged,
    _check_speed,
    _dwells,
    _elasticity,
    _filled,
    _lateness,
    _own_variance,
    _ratio,
    _scaled,
    _timetable,
    _variances,
    _within,
    fit_traffic,
    persisting,
)
from pyresac.envs.bus.avl.moments import Covariances
from pyresac.envs.bus.corridor import Array, Direction
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.motion import running_time
from pyresac.errors import InputError


def test_a_traffic_beyond_its_limits_is_the_nearest_that_is_allowed() -> None:
    assert _within(-0.1, 1.7, -2.0, 1.0) == Traffic(0.0, 1.0, 0.0, 0.999)
    assert _within(2.0, -0.1, 1.0, -0.5) == Traffic(1.0, 0.0, 0.999, 0.0)
    assert _within(0.1, 0.2, 0.3, 0.4) == Traffic(0.1, 0.2, 0.3, 0.4)


def test_the_fit_weighs_each_covariance_by_its_pairs() -> None:
    """Beside another minimiser, where no traffic fits exactly and pairs of the two directions share the day alone."""
    noise = np.random.default_rng(3)
    links = np.append(np.tile(np.arange(4.0), 4), -1.0)
    seconds = np.append(np.repeat([0.0, 200.0, 500.0, 1300.0], 4), 0.0)
    weight = noise.uniform(1.0, 900.0, links.size)
    value = 0.004 + 0.03 * 0.6 ** np.maximum(links, 0.0) * 0.5 ** (seconds / 300.0) * (links >= 0.0)
    value *= noise.uniform(0.8, 1.2, links.size)

    def error(point: Array) -> float:
        day, local, along, persistence = np.abs(point)
        total = 0.0
        for apart, time, number, wanted in zip(links, seconds, weight, value, strict=True):
            shared = (
                local * along**apart * float(persisting(persistence, np.array(time), 300.0)) if apart >= 0.0 else 0.0
            )
            total += number * (math.exp(day + shared) - 1.0 - wanted) ** 2
        return 1e3 * total

    fit = fit_traffic(Covariances(value, links, seconds, weight), 300.0)
    found = np.array([fit.day**2, fit.local**2, fit.along, fit.persistence])
    best = minimize(
        error, [0.004, 0.03, 0.6, 0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
    )
    assert found == pytest.approx(np.abs(best.x), rel=2e-3, abs=0)
    assert error(found) <= error(best.x) * (1.0 + 1e-5)


def test_the_fit_stays_within_the_limits() -> None:
    links, seconds = np.array([0.0, 1.0, 2.0, 0.0, -1.0]), np.array([0.0, 0.0, 0.0, 300.0, 0.0])
    one = np.ones_like(links)
    assert fit_traffic(Covariances(9.0 * one, links, seconds, one), 300.0).day == pytest.approx(1.0, abs=1e-3)
    local = np.where(links >= 0.0, 9.0, 0.0)
    fit = fit_traffic(Covariances(local, links, seconds, one), 300.0)
    assert fit.local == pytest.approx(1.0, abs=1e-3)
    assert fit.along == pytest.approx(0.999, abs=2e-3)
    assert fit.persistence == pytest.approx(0.999, abs=2e-3)


def test_a_launch_that_half_of_the_days_have_is_in_the_timetable(small: Corridor) -> None:
    line = replace(small, up=replace(small.up, deviation=np.ones((4, 2))))
    up, down = way_of(np.full((4, 5, 4), 50.0)), way_of(np.full((4, 5, 4), 50.0), launches=LAUNCHES + 30.0)
    # seen on four, two, one and no days, and on two at one stop alone
    for trip, blind in ((1, [0, 2]), (2, [0, 1, 2]), (3, [0, 1, 2, 3])):
        up.arrive[blind, trip] = np.nan
    up.arrive[:2, 4], up.arrive[2:, 4, 1:] = np.nan, np.nan
    found = _timetable(line, (up, down))
    assert found.up.launches.tolist() == LAUNCHES[[0, 1, 4]].tolist()
    assert found.down.launches.tolist() == (LAUNCHES + 30.0).tolist()
    assert found.up.deviation is None
    assert (found.up.stops, found.down.stops) == (line.up.stops, line.down.stops)
    down.arrive[1:] = np.nan
    with pytest.raises(InputError, match="direction down: no launch was observed on half of the days or more"):
        _timetable(line, (up, down))


def test_hours_without_observations_take_the_nearest_hour_s(small: Corridor) -> None:
    """The earlier one of two that are as near."""
    line = replace(
        small,
        up=replace(small.up, speed=np.full((4, 6), 8.0)),
        down=replace(small.down, speed=np.full((4, 6), 8.0)),
        demand=np.zeros((6, 5, 5)),
    )
    # departures in hours 1, 3 and 4 only, of other times each
    launches = np.array([3600.0, 3 * 3600.0, 4 * 3600.0])
    running = np.broadcast_to(np.array([50.0, 70.0, 90.0])[None, :, None], (2, 3, 4)).copy()
    running[:, 1, 2] = np.nan
    way = way_of(np.nan_to_num(running, nan=70.0), launches=launches)
    way.arrive[:, 1, 3], way.arrive[:, 1, 2] = np.nan, way.arrive[:, 1, 2]
    means = _filled(line, 1, way)
    assert means[0] == pytest.approx([50.0, 50.0, 50.0, 70.0, 90.0, 90.0])
    # of the third link and the next one hour 3 is not known, and hours 2 and 3 are nearer to others
    assert means[2] == pytest.approx([50.0, 50.0, 50.0, 90.0, 90.0, 90.0])
    way.arrive[:, :, 2] = np.nan
    with pytest.raises(InputError, match="direction down: no running time from 'D' to 'C' was observed"):
        _filled(line, 1, way)


def test_speeds_that_no_bus_and_no_draw_has(small: Corridor) -> None:
    """50 m/s is allowed and 1 m/s is drawn; a moment beyond is refused, or warned of where the caller stands."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _check_speed(small, 0, 1, np.array([6.0, 300.0]))
    with pytest.raises(
        InputError, match=r"direction up, from 'B' to 'C': 300 m in 5\.9 s is 51 m/s; expected at most 50 m/s"
    ):
        _check_speed(small, 0, 1, np.array([300.0, 5.9]))
    told = r"direction down, from 'D' to 'C': 500 m in 501 s is slower than 1 m/s, the slowest speed of a corridor"
    with pytest.warns(UserWarning, match=told):
        _check_speed(small, 1, 1, np.array([501.0, 60.0]))


def test_elasticity_is_the_slope_of_the_time_in_the_speed(small: Corridor) -> None:
    """By differences of length/v + v·change/2, at the lower speed that takes the time; between 0.2 and 1."""
    line = replace(small, vehicle=Vehicle(acceleration=0.5, deceleration=0.8))
    change = 1.0 / 0.5 + 1.0 / 0.8
    wanted = np.array([[75.0, 140.0], [60.0, 90.0], [90.0, 400.0], [70.0, 80.0]])
    found = _elasticity(line, 1, wanted)
    assert found.shape == (4, 2)
    for (link, hour), time in np.ndenumerate(wanted):
        length = float(line.down.length[link])

        def taken(speed: float, length: float = length) -> float:
            return length / speed + 0.5 * speed * change

        fastest = math.sqrt(2.0 * length / change)
        speed = brentq(lambda v, taken=taken, time=time: taken(v) - time, 1e-3, fastest)
        step = 1e-5
        slope = -(math.log(taken(speed * (1 + step))) - math.log(taken(speed * (1 - step)))) / (2 * step)
        assert found[link, hour] == pytest.approx(max(slope, 0.2), rel=1e-5, abs=0)
    # no speed takes so little
    assert (_elasticity(line, 0, np.full((4, 1), 20.0)) == 0.2).all()
    assert _elasticity(
        replace(small, vehicle=Vehicle(acceleration=100.0, deceleration=100.0)), 0, np.full((4, 1), 900.0)
    ) == pytest.approx(1.0, abs=1e-4)


def test_variances_are_of_the_hour_where_it_has_thirty_observations() -> None:
    """Of all hours of the link where it has 29."""
    for few, links in ((29, 2), (30, 2), (30, 1)):
        noise = np.random.default_rng(few)
        launches = np.array([0.0, 4000.0])
        way = way_of(60.0 * noise.uniform(0.7, 1.3, (40, 2, links)), launches=launches)
        way.arrive[few:, 0, 1:] = np.nan
        found = _variances(way, 2)
        assert found.shape == (links, 2)
        for link in range(links):
            early, late = way.running[:few, 0, link], way.running[:, 1, link]
            x = [part / part.mean() - 1.0 for part in (early, late)]
            whole = float((np.sum(x[0] ** 2) + np.sum(x[1] ** 2)) / (few + 40))
            wanted = [whole if few < 30 else np.var(x[0], ddof=1), np.var(x[1], ddof=1)]
            assert found[link] == pytest.approx(wanted)


def test_what_is_drawn_anew_each_interval_averages_over_them() -> None:
    """The variance of the mean of a step function of independent steps of length 1, over windows of any phase."""
    share = np.array([0.25, 1.0, 1.5, 3.2])
    phases = (np.arange(20_000) + 0.5) / 20_000
    for length, found in zip(share, _averaged(share), strict=True):
        edges = np.arange(6)[None, :]
        overlap = np.minimum(edges + 1.0, (phases + length)[:, None]) - np.maximum(edges, phases[:, None])
        assert found == pytest.approx(np.square(overlap.clip(0.0) / length).sum(axis=1).mean(), rel=1e-6, abs=0)


def test_a_link_s_own_variance_is_that_of_the_times_at_its_drawn_speeds(small: Corridor) -> None:
    """At 256 equal shares of the normal distribution, cut at floor and ceiling; a short link's bus never gets so
    fast."""
    line = replace(
        small,
        speed_floor=6.0,
        speed_ceiling=12.0,
        up=replace(
            small.up,
            length=[400.0, 12.0, 60.0, 5.0],
            deviation=np.array([[1.0, 3.0], [2.0, 0.0], [0.5, 4.0], [1.0, 1.0]]),
        ),
    )
    layout = lay_out(line)
    found = _own_variance(layout.line, layout.chances)
    shares = norm.ppf((np.arange(256) + 0.5) / 256)
    for way, link, hour in np.ndindex(found.shape):
        mean, spread = layout.chances.mean_speed[way, link, hour], layout.chances.speed_deviation[way, link, hour]
        times = [running_time(layout.line, way, link, min(max(mean + spread * share, 6.0), 12.0)) for share in shares]
        assert found[way, link, hour] == pytest.approx(np.var(times) / np.mean(times) ** 2, rel=1e-9, abs=1e-18)


def test_lateness_is_exponential_beyond_half_a_second() -> None:
    def late(*seconds: float) -> tuple[float, float]:
        up = way_of(np.full((1, 3, 2), 50.0), launches=LAUNCHES[:3], late=np.array(seconds[:3]))
        down = way_of(np.full((1, 2, 2), 50.0), launches=LAUNCHES[:2], late=np.array(seconds[3:]))
        return _lateness((up, down))

    assert late(0.0, 0.5, 0.0, 0.2, 0.0) == (0.0, 0.0)
    share, mean = late(0.0, 0.5, 40.5, math.nan, 0.8)
    assert mean == pytest.approx((40.5 + 0.8) / 2 - 0.5)
    assert share == pytest.approx(2 / 4 * math.exp(0.5 / mean))
    assert late(2.0, 2.0, 0.6, 0.7, 0.7) == (1.0, pytest.approx(0.7))
    assert late(9000.0, 9000.0, 0.0, 0.0, 0.0)[1] == 3600.0


def test_a_correction_is_at_most_fourfold_and_nothing_where_nothing_compares() -> None:
    wanted = np.array([[6.0, 9.0, 1.0, math.nan, 2.0, 2.0, 0.0]])
    have = np.array([[3.0, 1.0, 9.0, 2.0, math.nan, 0.0, 2.0]])
    assert _ratio(wanted, have).tolist() == [[2.0, 4.0, 0.25, 1.0, 1.0, 1.0, 0.25]]


def test_dwells_are_beyond_the_clearance_time_by_stop_and_hour(small: Corridor) -> None:
    """4 s of clearance; the first stop has the mean of the others; an hour or a stop that nobody saw has none."""
    way = way_of(np.full((3, 5, 4), 50.0), dwell=np.array([99.0, 10.0, 2.0, 14.0]))
    way.depart[0, :3, 1] += 3.0
    way.depart[:, 3:, 3] = np.nan
    found = _dwells(way, small)
    early = [6.0 + 3.0 * 3 / 9, 0.0, 10.0]
    late = [6.0, 0.0, 0.0]
    assert pytest.approx(np.array([[np.mean(early), *early], [np.mean(late), *late]])) == found.T


def test_rates_are_scaled_by_the_stop_where_they_begin_and_once(small: Corridor) -> None:
    """Also where both directions visit a pair in its order: it rides up."""
    down = Direction(("E", "A", "C", "B"), np.full(3, 300.0), np.full((3, 2), 8.0), small.down.launches)
    demand = np.where(np.triu(np.ones((5, 5)), 1) > 0.0, 12.0, 0.0) * np.ones((2, 1, 1))
    demand[:, 4, 0], demand[:, 2, 1] = 5.0, 7.0
    line = replace(small, down=down, demand=demand)
    factors = [1.0 + np.arange(8.0).reshape(4, 2), 10.0 + np.arange(6.0).reshape(3, 2)]
    found = _scaled(line, factors)
    wanted = demand.copy()
    for hour in (0, 1):
        for origin in range(4):
            wanted[hour, origin, origin + 1 :] *= factors[0][origin, hour]
        wanted[hour, 4, 0] *= factors[1][0, hour]
        wanted[hour, 2, 1] *= factors[1][2, hour]
    assert found.tolist() == wanted.tolist()
    assert line.demand.tolist() == demand.tolist()
