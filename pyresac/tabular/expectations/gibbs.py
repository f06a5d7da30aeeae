"""The KL ball and the entropic risk: one family of minimisers, the Gibbs weights q ∝ p·exp(−θv)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyresac.jit import compiled
from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations.rows import Ball, Parameter, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT

NEGLIGIBLE = 2.0**-53
"""A tilt θ·d (with d at most 1) up to which the mean is as good as exp and log: they differ by θ/8 (Hoeffding)."""
ENOUGH = 16 * 2.0**-53
"""The duality gap, in units of the spread of the values, that the KL ball's row is solved to."""


@compiled
def tilt(p: Floats, d: Floats, theta: float, w: Floats) -> tuple[float, float, float]:
    """w = p·exp(−θd)/Σ for d ≥ 0. Returns (Σ w·d, Σ w·d² − (Σ w·d)², log Σ p·exp(−θd))."""
    total, slack, first, second = 0.0, 0.0, 0.0, 0.0
    for i in range(len(p)):
        shrunk = np.expm1(-theta * d[i])
        slack += p[i] * shrunk
        w[i] = p[i] * (1.0 + shrunk) if shrunk > -0.5 else p[i] * np.exp(-theta * d[i])
        total += w[i]
    for i in range(len(p)):
        w[i] /= total
        first += w[i] * d[i]
    for i in range(len(p)):
        second += w[i] * (d[i] - first) ** 2
    # Near 1 the sum itself has lost the digits that log needs; the sum of expm1 has not.
    return first, second, np.log1p(slack) if slack > -0.5 else np.log(total)


@compiled
def shares(p: Floats, x: Floats, d: Floats) -> tuple[float, float]:
    """d = (x − lowest)/spread over the support of p, 0 elsewhere. Returns (lowest, spread)."""
    lowest, highest = np.inf, -np.inf
    for i in range(len(p)):
        if p[i] > 0.0:
            lowest, highest = min(lowest, x[i]), max(highest, x[i])
    spread = highest - lowest
    for i in range(len(p)):
        d[i] = (x[i] - lowest) / spread if p[i] > 0.0 and spread > 0.0 else 0.0
    return lowest, spread


@compiled
def plain_mean(p: Floats, x: Floats, w: Floats) -> float:
    """Σ p·x/Σ p, and w = p."""
    total, mean = 0.0, 0.0
    for i in range(len(p)):
        w[i] = p[i]
        total += p[i]
        mean += p[i] * x[i]
    return mean / total


def kl_row(
    p: Floats, upper: Floats, x: Floats, radius: float, lowest: float, warm: float, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over KL(q‖p) ≤ radius. Returns (value, 0, the tilt found).

    With d = (x − min x)/spread the minimiser is the Gibbs row of the tilt θ at which KL = radius; KL grows with θ from
    0 to −log p(argmin). √(2·KL) is nearly linear in θ, so Newton's method on √(2·KL) = √(2·radius) takes a few steps;
    a bracket guards it. Each θ gives the dual value −(log Σ p·exp(−θd) + radius)/θ, a lower bound that misses the
    minimum by (radius − KL)/θ at most (by as much times θ/θ* − 1 where that is negative).
    """
    d = np.empty(len(p))
    lowest, spread = shares(p, x, d)
    # By Pinsker the ball's mean of d is within √(radius/2) of p's.
    if spread == 0.0 or radius <= 2.0 * NEGLIGIBLE * NEGLIGIBLE:
        return plain_mean(p, x, w), 0.0, warm
    at_lowest, total = 0.0, 0.0
    for i in range(len(p)):
        total += p[i]
        if p[i] > 0.0 and d[i] == 0.0:
            at_lowest += p[i]
    if radius >= -np.log(at_lowest / total):
        for i in range(len(p)):
            w[i] = p[i] / at_lowest if d[i] == 0.0 else 0.0
        return lowest, 0.0, warm
    # KL(q‖p) ≤ KL(q‖p) + KL(p‖q) = θ·(Σ p·d − Σ q·d) ≤ θ, so the tilt is at least the radius.
    low, high, grow, goal = 0.5 * radius, np.inf, 4.0, np.sqrt(2.0 * radius)
    theta = warm
    if not 0.0 < theta < np.inf:
        _, variance, _ = tilt(p, d, 0.0, w)
        theta = goal / np.sqrt(variance) if variance > 0.0 else 1.0
    best, best_theta = -np.inf, theta
    for step in range(200):
        mean, variance, log_total = tilt(p, d, theta, w)
        value = -(log_total + radius) / theta
        if value > best:
            best, best_theta = value, theta
        spent = -mean - log_total / theta  # KL/θ, in the units of d, so that a tiny radius loses no digits to it
        gap = radius / theta - spent
        if gap > 0.0:
            low = theta
        else:
            high = theta
        if abs(gap) <= ENOUGH and (gap >= 0.0 or theta <= 2.0 * low or step > 60):
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
    p: Floats, upper: Floats, x: Floats, beta: float, lowest: float, warm: float, w: Floats
) -> tuple[float, float, float]:
    """−(1/β)·log Σ p·exp(−βx); w receives the Gibbs weights, which attain the dual minimum (C26).

    In units of the spread, so that β·d is no subnormal number where it matters.
    """
    d = np.empty(len(p))
    lowest, spread = shares(p, x, d)
    theta = beta * spread
    if theta <= NEGLIGIBLE:
        return plain_mean(p, x, w), 0.0, warm
    if theta == np.inf:
        for i in range(len(p)):
            d[i] = x[i] - lowest if p[i] > 0.0 else 0.0
        _, _, log_total = tilt(p, d, beta, w)
        return lowest - log_total / beta, 0.0, warm
    slack, total = 0.0, 0.0
    for i in range(len(p)):
        shrunk = np.expm1(-theta * d[i])
        slack += p[i] * shrunk
        w[i] = p[i] * (1.0 + shrunk) if shrunk > -0.5 else p[i] * np.exp(-theta * d[i])
        total += w[i]
    for i in range(len(p)):
        w[i] /= total
    log_total = np.log1p(slack) if slack > -0.5 else np.log(total)
    return lowest - spread * (log_total / theta), 0.0, warm


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

        The solver stops at a duality gap of 16u·spread, spread ≤ 2M, which bounds what the dual value is off by. That
        is v's least value less two numbers of size at most 2M: λ·log Σ, known to (10n + 60)u relatively (see
        `EntropicRisk.rounding`), and λ·radius.
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

        With spread·d = v − min v, spread ≤ 2M and θ = β·spread: where Σ p·expm1(−θd) > −½, that sum is at most θ·E d
        and is known to (n + 6)u relatively, and log1p has slope at most 2. Elsewhere |log Σ| ≥ log 2, so 1/θ ≤ 3/2,
        and the sum is known to (n + 8)u + 2u·θ·E_q d relatively. For θ ≤ u the mean is off by θ·spread/8 at most.
        """
        return 1.01 * magnitude * ((12 * mdp.longest_row + 80) * UNIT + 4 * mdp.row_error)
