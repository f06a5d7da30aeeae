"""A corridor that varies as observed days do: running times, their spread, traffic, late dispatches, demand.

Given a corridor with the stops, lengths, vehicle and pattern of demand, everything else comes from the observations:

1. Timetable: launches that at least half of the days have.
2. Traffic (`traffic.Traffic`): weighted least squares of cov(x, x′) = exp(σ_D² + σ_T²·ρ^k·c(t)) − 1 over pairs of
   running times k links and t seconds apart, c the share that a speed interval's persistence leaves after t.
3. Speeds and their deviations, link by link and hour by hour, by fixed-point rounds: the mean running time is the
   observed one, and the link's own variance what the traffic leaves of the observed one.
4. Late dispatches: an exponential time for a share of the trips, by its first moment beyond half a second.
5. Rounds of simulated days, the same ones each time, since launches keep step with the speed intervals and boarding
   depends on headways: mean running times, own variances, mean dwells and the numbers of step 2 are compared with
   the observed ones, and speeds, deviations, the stops' rates and the traffic corrected by what they lack (indirect
   inference: C. Gourieroux, A. Monfort and E. Renault, Indirect inference, Journal of Applied Econometrics 8 (1993)
   S85–S118). The day's factor is left as step 2 has it, since few simulated days would add their own noise.

The observed line is taken to hold no buses: a hold cannot be told from a dwell.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from pyresac.envs.bus.avl.moments import Covariances, covariances, hour_of, hourly_means, relative
from pyresac.envs.bus.avl.observed import Observed, ObservedWay, days_of
from pyresac.envs.bus.bounds import FASTEST
from pyresac.envs.bus.controllers import NoHolding
from pyresac.envs.bus.corridor import DIRECTIONS, Array, Corridor
from pyresac.envs.bus.layout import lay_out, slices
from pyresac.envs.bus.line import Chances, Line
from pyresac.envs.bus.simulator import simulate_days
from pyresac.envs.bus.timing import speeds_taking
from pyresac.envs.bus.told_caller import warn_caller
from pyresac.envs.bus.traffic import LIMITS, Traffic
from pyresac.errors import InputError

ENOUGH = 30
"""Observations of a link and hour below which its variance is taken from all hours of the link."""
SLICES = 256
ROUNDS = 8
CORRECTIONS = 5
SIMULATED = 96
"""Rounds of simulated days, and days of each."""
LARGEST_CORRECTION = 4.0
FASTEST_OBSERVED, SLOWEST_DRAWN = 50.0, 1.0
"""m/s, of the mean of an hour."""
NOTICED = 0.5
"""s: half of the file's resolution; a shorter lateness is none."""


def calibrated(corridor: Corridor, observed: Observed, *, demand: bool = True) -> Corridor:
    """The corridor as observed; `demand=False` keeps its demand. Raises InputError where a link was not observed."""
    corridor = _timetable(corridor, observed)
    wanted = [_filled(corridor, index, way) for index, way in enumerate(observed)]
    found = _fitted(corridor, observed)
    elasticity = float(np.concatenate([_elasticity(corridor, i, wanted[i]).ravel() for i in (0, 1)]).mean())
    traffic = _within(found.day / elasticity, found.local / elasticity, found.along, found.persistence)
    corridor = _running(replace(corridor, traffic=traffic), observed, wanted, elasticity)
    if not corridor.operations.buses:
        share, mean = _lateness(observed)
        corridor = replace(corridor, operations=replace(corridor.operations, late_share=share, late_mean=mean))
    for _ in range(CORRECTIONS):
        simulated = days_of(simulate_days(corridor, NoHolding(), range(SIMULATED)))
        now, mine = corridor.traffic, _fitted(corridor, simulated)
        shared = math.expm1((now.spread * elasticity) ** 2)
        corridor = _corrected(corridor, observed, simulated, shared, demand)
        traffic = _within(
            now.day,
            now.local * found.local / mine.local if mine.local > 0.0 else now.local,
            now.along + found.along - mine.along,
            now.persistence + found.persistence - mine.persistence,
        )
        corridor = replace(corridor, traffic=traffic)
    return corridor


def _fitted(corridor: Corridor, observed: Observed) -> Traffic:
    """What step 2 finds."""
    return fit_traffic(covariances(observed, corridor.hours, corridor.speed_interval), corridor.speed_interval)


def _within(day: float, local: float, along: float, persistence: float) -> Traffic:
    """The nearest traffic that is allowed."""
    given = {"day": day, "local": local, "along": along, "persistence": persistence}
    return Traffic(**{name: float(min(max(value, LIMITS[name][0]), LIMITS[name][1])) for name, value in given.items()})


def persisting(persistence: float, seconds: Array, interval: float) -> Array:
    """Mean correlation of what is drawn anew each interval with persistence π, at times so far apart, whatever the
    first one's phase: linear between π^m at m intervals."""
    whole = np.floor(seconds / interval)
    part = seconds / interval - whole
    return np.asarray((1.0 - part) * persistence**whole + part * persistence ** (whole + 1.0))


def fit_traffic(observed: Covariances, interval: float) -> Traffic:
    """Least squares of the model's covariances, as shares of running times."""
    together = observed.links >= 0.0
    apart, root = np.where(together, observed.links, 0.0), np.sqrt(observed.weight / observed.weight.sum())

    def errors(point: Array) -> Array:
        day, local, along, persistence = point
        shared = local * along**apart * persisting(persistence, observed.seconds, interval)
        return np.asarray(root * (np.expm1(day + np.where(together, shared, 0.0)) - observed.value))

    top = [LIMITS["day"][1] ** 2, LIMITS["local"][1] ** 2, LIMITS["along"][1], LIMITS["persistence"][1]]
    starts = [(0.01, 0.01, along, persistence) for along in (0.3, 0.8) for persistence in (0.3, 0.8)]
    fits = [least_squares(errors, start, bounds=(0.0, top), x_scale=(0.01, 0.01, 0.3, 0.3)) for start in starts]
    day, local, along, persistence = (float(value) for value in min(fits, key=lambda fit: float(fit.cost)).x)
    return Traffic(math.sqrt(day), math.sqrt(local), along, persistence)


def _timetable(corridor: Corridor, observed: Observed) -> Corridor:
    ways = []
    for name, way, of in zip(DIRECTIONS, observed, corridor.directions, strict=True):
        usual = np.isfinite(way.arrive).any(axis=2).mean(axis=0) >= 0.5
        if not usual.any():
            raise InputError(f"direction {name}: no launch was observed on half of the days or more")
        ways.append(replace(of, launches=way.launch[usual], deviation=None))
    return replace(corridor, up=ways[0], down=ways[1])


def _filled(corridor: Corridor, index: int, way: ObservedWay) -> Array:
    """(links, hours) observed mean running times; hours without any take the nearest hour's."""
    means, stops = hourly_means(way, corridor.hours), corridor.directions[index].stops
    for link, row in enumerate(means):
        known = np.flatnonzero(np.isfinite(row))
        if not known.size:
            ends = f"{stops[link]!r} to {stops[link + 1]!r}"
            raise InputError(f"direction {DIRECTIONS[index]}: no running time from {ends} was observed")
        means[link] = row[known[np.abs(np.arange(row.size)[:, None] - known).argmin(axis=1)]]
        _check_speed(corridor, index, link, means[link])
    return means


def _check_speed(corridor: Corridor, index: int, link: int, times: Array) -> None:
    """InputError where a link is driven faster than by any bus, a warning where no drawn speed is as slow."""
    way = corridor.directions[index]
    speeds, ends = way.length[link] / times, f"from {way.stops[link]!r} to {way.stops[link + 1]!r}"
    told = f"direction {DIRECTIONS[index]}, {ends}: {way.length[link]:,.0f} m in"
    if speeds.max() > FASTEST_OBSERVED:
        raise InputError(
            f"{told} {times.min():.1f} s is {speeds.max():,.0f} m/s; expected at most {FASTEST_OBSERVED:g} m/s: see "
            f"the length and the times"
        )
    if speeds.min() < SLOWEST_DRAWN:
        warn_caller(
            f"{told} {times.max():,.0f} s is slower than {SLOWEST_DRAWN:g} m/s, the slowest speed of a corridor; the "
            f"calibrated line is faster there"
        )


def _elasticity(corridor: Corridor, index: int, wanted: Array) -> Array:
    """(links, hours) −d log(running time)/d log(speed) at the speed that takes the wanted time."""
    change = 1.0 / corridor.vehicle.acceleration + 1.0 / corridor.vehicle.deceleration
    length = corridor.directions[index].length[:, None]
    # the slower root of length/v + v·change/2 = wanted
    speed = (wanted - np.sqrt(np.maximum(wanted**2 - 2.0 * length * change, 0.0))) / change
    return np.asarray((wanted - speed * change) / wanted).clip(0.2, 1.0)


def _running(corridor: Corridor, observed: Observed, wanted: list[Array], elasticity: float) -> Corridor:
    """Speeds and deviations for which running times have the observed means and variances."""
    lowest = min(
        float((way.length[:, None] / time).min()) for way, time in zip(corridor.directions, wanted, strict=True)
    )
    highest = max(
        float((way.length[:, None] / time).max()) for way, time in zip(corridor.directions, wanted, strict=True)
    )
    corridor = replace(
        corridor,
        speed_floor=max(1.0, min(corridor.speed_floor, 0.5 * lowest)),
        speed_ceiling=min(FASTEST, max(corridor.speed_ceiling, 2.0 * highest)),
    )
    layout = lay_out(corridor)
    line, chances = layout.line, layout.chances
    time, own = np.ones_like(chances.mean_speed), np.zeros_like(chances.mean_speed)
    shared = math.expm1((corridor.traffic.spread * elasticity) ** 2)
    for index, way in enumerate(observed):
        links = wanted[index].shape[0]
        time[index, :links] = wanted[index]
        left = (1.0 + _variances(way, corridor.hours)) / (1.0 + shared) - 1.0
        own[index, :links] = np.maximum(left, 0.0) / _averaged(wanted[index] / corridor.speed_interval)
    deviation = np.sqrt(own) * layout.line.length[:, :, None] / time
    for _ in range(ROUNDS):
        chances = speeds_taking(line, chances._replace(speed_deviation=deviation), time, rounds=1)
        have = _own_variance(line, chances)
        ratio = np.divide(own, have, out=np.ones_like(own), where=(own > 0.0) & (have > 0.0))
        deviation = np.minimum(deviation * np.sqrt(ratio), chances.mean_speed)
    chances = speeds_taking(line, chances._replace(speed_deviation=deviation), time, rounds=2)
    ways = [
        replace(way, speed=chances.mean_speed[index, : len(way.length)], deviation=deviation[index, : len(way.length)])
        for index, way in enumerate(corridor.directions)
    ]
    return replace(corridor, up=ways[0], down=ways[1], speed_ceiling=chances.speed_ceiling)


def _variances(way: ObservedWay, hours: int) -> Array:
    """(links, hours) variances of x; of all hours of the link where there are few observations."""
    x, hour = relative(way, hours), hour_of(way.depart[:, :, :-1], hours)
    found = np.empty((x.shape[2], hours))
    for link in range(x.shape[2]):
        known = np.isfinite(x[:, :, link])
        found[link] = np.square(x[:, :, link][known]).mean()
        for index in range(hours):
            mine = x[:, :, link][known & (hour[:, :, link] == index)]
            if mine.size >= ENOUGH:
                found[link, index] = np.square(mine).sum() / (mine.size - 1)
    return found


def _averaged(share: Array) -> Array:
    """Variance of the mean over `share` speed intervals, in time, of what is drawn anew each interval, over the draw's
    own, whatever the phase."""
    return np.where(share <= 1.0, 1.0 - share / 3.0, 1.0 / share - 1.0 / (3.0 * share**2))


def _own_variance(line: Line, chances: Chances) -> Array:
    """(2, L, H) variance over squared mean of the running time at a steady speed, by the link's own draw alone."""
    normal = np.array(slices(SLICES))[:, None, None, None]
    speed = (chances.mean_speed + chances.speed_deviation * normal).clip(chances.speed_floor, chances.speed_ceiling)
    change, length = 1.0 / line.acceleration + 1.0 / line.deceleration, line.length[None, :, :, None]
    reached = 0.5 * speed**2 * change <= length
    time = np.where(reached, length / speed + 0.5 * speed * change, np.sqrt(2.0 * length * change))
    return np.asarray(time.var(axis=0) / time.mean(axis=0) ** 2)


def _lateness(observed: Observed) -> tuple[float, float]:
    """Share and mean of late dispatches."""
    late = np.concatenate([(way.arrive[:, :, 0] - way.launch).ravel() for way in observed])
    late = late[np.isfinite(late)]
    noticed = late[late > NOTICED]
    if not noticed.size:
        return 0.0, 0.0
    # beyond any threshold an exponential time is the threshold and itself
    mean = min(float(noticed.mean()) - NOTICED, 3600.0)
    return min(1.0, noticed.size / late.size * math.exp(NOTICED / mean)), mean


def _corrected(corridor: Corridor, observed: Observed, simulated: Observed, shared: float, demand: bool) -> Corridor:
    """Speeds, deviations and, with `demand`, rates changed by what simulated days lack against the observed ones."""
    ways, factors = [], []
    for way, seen, mine in zip(corridor.directions, observed, simulated, strict=True):
        slower = _ratio(hourly_means(seen, corridor.hours), hourly_means(mine, corridor.hours))
        own = [np.maximum((1.0 + _variances(of, corridor.hours)) / (1.0 + shared) - 1.0, 0.0) for of in (seen, mine)]
        speed = np.minimum(way.speed / slower, FASTEST)
        deviation = np.zeros_like(speed) if way.deviation is None else way.deviation
        ways.append(replace(way, speed=speed, deviation=np.minimum(deviation * np.sqrt(_ratio(*own)), speed)))
        factors.append(_ratio(_dwells(seen, corridor), _dwells(mine, corridor)))
    corridor = replace(corridor, up=ways[0], down=ways[1])
    return replace(corridor, demand=_scaled(corridor, factors)) if demand else corridor


def _ratio(wanted: Array, have: Array) -> Array:
    """wanted/have, 1 where there is nothing to compare, no more than LARGEST_CORRECTION either way."""
    known = np.isfinite(wanted) & np.isfinite(have) & (have > 0.0)
    ratio = np.divide(wanted, have, out=np.ones_like(wanted), where=known)
    return np.asarray(ratio.clip(1.0 / LARGEST_CORRECTION, LARGEST_CORRECTION))


def _dwells(way: ObservedWay, corridor: Corridor) -> Array:
    """(S − 1, H) mean dwell beyond the clearance time, s, 0 where none was observed; at the first stop, where a bus
    also waits for its launch, the mean of the others."""
    dwell, hour = way.depart - way.arrive, hour_of(way.arrive, corridor.hours)
    found = np.zeros((dwell.shape[2] - 1, corridor.hours))
    for place in range(1, dwell.shape[2] - 1):
        for index in range(corridor.hours):
            mine = dwell[:, :, place][(hour[:, :, place] == index) & np.isfinite(dwell[:, :, place])]
            if mine.size:
                found[place, index] = max(float(mine.mean()) - corridor.vehicle.clearance_time, 0.0)
    found[0] = found[1:].mean(axis=0)
    return found


def _scaled(corridor: Corridor, factors: list[Array]) -> Array:
    """The demand with the rates of the stop at each place of each direction multiplied by its factor (S − 1, H)."""
    demand, taken = corridor.demand.copy(), np.zeros(corridor.demand.shape[1:], dtype=bool)
    for way, factor in zip(corridor.directions, factors, strict=True):
        order = [corridor.stops.index(stop) for stop in way.stops]
        for place, origin in enumerate(order[:-1]):
            later = np.array([stop for stop in order[place + 1 :] if not taken[origin, stop]], dtype=np.int64)
            demand[:, origin, later] *= factor[place][:, None]
            taken[origin, later] = True
    return demand
