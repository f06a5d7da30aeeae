"""The KL ball and the entropic risk: one family of minimisers, the Gibbs weights q ∝ p·exp(−θv)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyresac.jit import inlined
from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations.rows import Ball, Parameter, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT

NEGLIGIBLE = 2.0**-53
"""A tilt θ·d (with d at most 1) up to which the mean is as good as exp and log: they differ by θ/8 (Hoeffding)."""
MODERATE = 0.5
"""A tilt from which on log Σ p·exp(−θd) may be off by rounding of 1, as θ divides it."""
ENOUGH = 16
"""The KL ball's row is solved to a duality gap of so many roundings of the spread, and two more a successor."""


@inlined
def tilt(p: Floats, d: Floats, theta: float, w: Floats) -> tuple[float, float, float]:
    """w = p·exp(−θd)/Σ for 0 ≤ d ≤ 1. Returns (Σ w·d, Σ w·(d − Σ w·d)², log Σ p·exp(−θd))."""
    total, slack, first, second = 0.0, 0.0, 0.0, 0.0
    if theta >= MODERATE:
        for i in range(len(p)):
            w[i] = p[i] * np.exp(-theta * d[i])
            total += w[i]
    else:
        # Near 1 the sum itself loses the digits that log needs; the sum of expm1 does not.
        for i in range(len(p)):
            shrunk = np.expm1(-theta * d[i])
            slack += p[i] * shrunk
            w[i] = p[i] * (1.0 + shrunk)
            total += w[i]
    scale = 1.0 / total
    for i in range(len(p)):
        w[i] *= scale
        first += w[i] * d[i]
    for i in range(len(p)):
        second += w[i] * (d[i] - first) ** 2
    return first, second, np.log(total) if theta >= MODERATE else np.log1p(slack)


@inlined
def extremes(p: Floats, x: Floats) -> tuple[float, float]:
    """(least, greatest) x over the support of p."""
    lowest, highest = np.inf, -np.inf
    for i in range(len(p)):
        y, on = x[i], p[i] > 0.0
        lowest = min(lowest, y if on else np.inf)
        highest = max(highest, y if on else -np.inf)
    return lowest, highest


@inlined
def into_shares(p: Floats, x: Floats, lowest: float, spread: float) -> None:
    """x ← (x − lowest)/spread, in [0, 1], over the support of p, 0 elsewhere."""
    for i in range(len(p)):
        x[i] = (x[i] - lowest) / spread if p[i] > 0.0 else 0.0


@inlined
def plain_mean(p: Floats, x: Floats, w: Floats) -> float:
    """Σ p·x/Σ p, and w = p."""
    total, mean = 0.0, 0.0
    for i in range(len(p)):
        w[i] = p[i]
        total += p[i]
        mean += p[i] * x[i]
    return mean / total


def kl_row(
    p: Floats, upper: Floats, x: Floats, radius: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over KL(q‖p) ≤ radius. Returns (value, 0, the tilt found).

    With d = (x − min x)/spread the minimiser is the Gibbs row of the tilt θ at which KL = radius; KL grows with θ from
    0 to −log p(argmin). √(2·KL) is nearly linear in θ, so Newton's method on √(2·KL) = √(2·radius) takes a few steps;
    a bracket guards it. Each θ gives the dual value −(log Σ p·exp(−θd) + radius)/θ, a lower bound that misses the
    minimum by (radius − KL)/θ at most (by as much times θ/θ* − 1 where that is negative).
    """
    n = len(p)
    lowest, highest = extremes(p, x)
    spread = highest - lowest
    # By Pinsker the ball's mean of d is within √(radius/2) of p's.
    if spread == 0.0 or radius <= 2.0 * NEGLIGIBLE * NEGLIGIBLE:
        return plain_mean(p, x, w), 0.0, warm
    at_lowest, total = 0.0, 0.0
    for i in range(n):
        total += p[i]
        mass = p[i]
        at_lowest += mass if x[i] == lowest else 0.0
    if radius >= np.log(total / at_lowest):
        for i in range(n):
            w[i] = p[i] / at_lowest if x[i] == lowest else 0.0
        return lowest, 0.0, warm
    into_shares(p, x, lowest, spread)
    # KL(q‖p) ≤ KL(q‖p) + KL(p‖q) = θ·(Σ p·d − Σ q·d) ≤ θ, so the tilt is at least the radius.
    low, high, grow, goal = 0.5 * radius, np.inf, 4.0, np.sqrt(2.0 * radius)
    enough = (ENOUGH + 2 * n) * UNIT
    theta = warm
    if not 0.0 < theta < np.inf:
        _, variance, _ = tilt(p, x, 0.0, w)
        theta = goal / np.sqrt(variance) if variance > 0.0 else 1.0
    best, best_theta = -np.inf, theta
    for step in range(200):
        mean, variance, log_total = tilt(p, x, theta, w)
        value = -(log_total + radius) / theta
        if value > best:
            best, best_theta = value, theta
        spent = -mean - log_total / theta  # KL/θ, in the units of d, so that a tiny radius loses no digits to it
        gap = radius / theta - spent
        if gap > 0.0:
            low = theta
        else:
            high = theta
        if abs(gap) <= enough and (gap >= 0.0 or theta <= 2.0 * low or step > 60):
            break
        slope = theta * variance  # the derivative of KL
        reached = np.sqrt(2.0 * max(theta * spent, 0.0))
        proposal = theta + (goal - reached) * reached / slope if slope > 0.0 else np.nan
        if not low < proposal < high or step > 40:
            # Halfway by orders of magnitude: values that differ by 1e-200 need tilts of 1e200.
            proposal = grow * theta if high == np.inf else np.sqrt(low) * np.sqrt(high)
            grow = min(grow * grow, 1e100)
        if proposal in (low, high, theta):
            break
        theta = proposal
    return lowest + spread * best, 0.0, best_theta


def entropic_row(
    p: Floats, upper: Floats, x: Floats, beta: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """−(1/β)·log Σ p·exp(−βx); w receives the Gibbs weights, which attain the dual minimum (C26).

    A small tilt is taken in units of the spread, so that β·d is no subnormal number where it matters.
    """
    n = len(p)
    lowest, highest = extremes(p, x)
    spread, total, slack = highest - lowest, 0.0, 0.0
    theta = beta * spread
    if theta <= NEGLIGIBLE:
        return plain_mean(p, x, w), 0.0, warm
    if theta >= MODERATE:
        for i in range(n):
            w[i] = p[i] * np.exp(-beta * (x[i] - lowest)) if p[i] > 0.0 else 0.0
            total += w[i]
        value = lowest - np.log(total) / beta
    else:
        into_shares(p, x, lowest, spread)
        for i in range(n):
            shrunk = np.expm1(-theta * x[i])
            slack += p[i] * shrunk
            w[i] = p[i] * (1.0 + shrunk)
            total += w[i]
        value = lowest - spread * (np.log1p(slack) / theta)
    if wanted:
        for i in range(n):
            w[i] /= total
    return value, 0.0, warm


@dataclass(frozen=True, eq=False)
class KLBall(Ball):
    """min over {q : KL(q‖P(·|s, a)) ≤ radius}: radius ≥ 0, a number or (S, A); q lives on the support of the row.

    By its one-dimensional dual sup_λ −λ·log E exp(−v/λ) − λ·radius (Nilim and El Ghaoui 2005).
    Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the best case instead.
    """

    radius: Parameter
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(kl_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "a finite number of at least 0"

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((40n + 200)u + 8·row_error).

        In units of the spread, at most 2M: log Σ/θ is known to (2n + 20)u, as in `EntropicRisk.rounding`, the mean
        under the tilt and radius/θ ≤ 2 to (2n + 20)u more, so that the gap at which the solver stops, (2n + 16)u as
        computed, is (6n + 56)u at most. It bounds what the dual value, itself off by (2n + 30)u, misses.
        """
        return 1.01 * magnitude * ((40 * mdp.longest_row + 200) * UNIT + 8 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class EntropicRisk(Ball):
    """ρ_β(v) = −(1/β)·log Σ_s' P(s'|s, a)·exp(−β·v(s')), β > 0, a number or (S, A): the paper's iterated risk (C26).

    Equal to min_q E_q v + KL(q‖P)/β. Monetary: `RESAC.entropicRisk_monetary`.
    optimistic: (1/β)·log Σ P·exp(β·v), which seeks risk.
    """

    beta: Parameter
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.entropicRisk_monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(entropic_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "a finite number above 0"
    open_low: ClassVar[bool] = True

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((12n + 80)u + 4·row_error), for every β.

        With spread·d = v − min v, spread ≤ 2M and θ = β·spread. From θ = ½ on, Σ p·exp(−θd) is known to
        (n + 6)u + 2u·θ·E_q d relatively, hence its logarithm, divided by β, to (2n + 12)u·spread + 2u·spread, and rows
        that miss 1 cost twice their error. Below, 1 + Σ p·expm1(−θd) ≥ e^−½: that sum is at most θ·E d and is known to
        (n + 6)u relatively, and log1p has slope at most 2. For θ ≤ u the mean is off by θ·spread/8 at most.
        """
        return 1.01 * magnitude * ((12 * mdp.longest_row + 80) * UNIT + 4 * mdp.row_error)
