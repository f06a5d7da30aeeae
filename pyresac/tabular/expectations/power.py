"""Balls of Cressie and Read's and of Rényi's divergences: E_p (q/p)^k ≤ c^k, one family with one dual.

With 1/k + 1/s = 1 the worst case is max over η of η − c·(E_p (η − v)₊^s)^(1/s) (Duchi and Namkoong 2021, Lemma 1), at
the row q ∝ p·(η − v)₊^(s−1). k = 2 is the χ² ball; k → 1 tends to the KL ball, k → ∞ to CVaR's q ≤ c·p.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pyresac.jit import inlined
from pyresac.tabular.checks import Floats, check_number
from pyresac.tabular.expectations.gibbs import extremes, into_shares, plain_mean
from pyresac.tabular.expectations.rows import Ball, Bound, Parameter, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT

NEGLIGIBLE = 2.0**-105
"""A value of s·log c up to which the ball is its centre: by Pinsker its mean moves by √(s·log c/2) of the spread at
most, since KL(q‖p) ≤ log(E (q/p)^k)/(k − 1) = s·log c."""
ENOUGH = 16
"""The row is solved to a duality gap of so many roundings of the spread, and two more a successor and a unit of s."""


@inlined
def moments(p: Floats, d: Floats, total: float, eta: float, s: float, w: Floats) -> tuple[float, float, float, float]:
    """Moments of the shares r = (1 − d/η)₊: log E r^s, log E r^(s−1), the slope's part
    E r^(s−1)/E r^s − E r^(s−2)/E r^(s−1), and E r^(s−1). Sets w = p·r^(s−1)."""
    whole, less, whole_lost, less_lost, least = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(p)):
        w[i] = 0.0
        if p[i] > 0.0:
            share, ratio = p[i] / total, d[i] / eta
            if ratio < 1.0:
                rest = (eta - d[i]) / eta
                exponent = (s - 1.0) * (np.log1p(-ratio) if ratio < 0.5 else np.log(rest))
                lost = np.expm1(exponent)
                power = 1.0 + lost if lost > -0.5 else np.exp(exponent)
                w[i] = share * power
                whole += w[i] * rest
                less += w[i]
                least += w[i] / rest
                less_lost += share * lost
                whole_lost += share * (lost * rest - ratio)
            else:
                whole_lost -= share
                less_lost -= share
    # Near 1 the sums themselves lose the digits that log needs; the sums of what is lost do not.
    log_whole = np.log1p(whole_lost) if whole_lost > -0.5 else np.log(whole)
    log_less = np.log1p(less_lost) if less_lost > -0.5 else np.log(less)
    return log_whole, log_less, less / whole - least / less, less


def power_row(
    p: Floats, upper: Floats, x: Floats, log_c: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over E_p (q/p)^k ≤ c^k; upper[0] is s = k/(k − 1). Returns (value, 0, the η found).

    With d = (x − min x)/spread every η gives the dual value g(η), a lower bound. Its row has E (q/p)^k = exp(k·ψ), with
    ψ = (s − 1)/s·log E r^s − log E r^(s−1), which falls in η and is log c at the best η. Where ψ ≤ log c the row is one
    of the ball, and what it exceeds g by bounds what is missed; elsewhere a mixture of it with p is one. 1/√ψ is nearly
    linear in η: Newton's method on it takes a few steps; a bracket guards it. For s near 1 the row may leap between two
    neighbouring floats η; there the best row is the mixture of theirs that attains the value.
    """
    n, s = len(p), upper[0]
    k = s / (s - 1.0)
    lowest, highest = extremes(p, x)
    spread = highest - lowest
    if spread == 0.0 or s * log_c <= NEGLIGIBLE:
        return plain_mean(p, x, w), 0.0, warm
    at_lowest, total, mean, second = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        total += p[i]
        at_lowest += p[i] if x[i] == lowest else 0.0
    if s * log_c >= np.log(total / at_lowest):
        for i in range(n):
            w[i] = p[i] / at_lowest if x[i] == lowest else 0.0
        return lowest, 0.0, warm
    into_shares(p, x, lowest, spread)
    low = 1.0
    for i in range(n):
        mean += p[i] * x[i] / total
        second += p[i] * x[i] ** 2 / total
        low = min(low, x[i] if p[i] > 0.0 and x[i] > 0.0 else 1.0)
    # ψ ≤ (s − 1)·log(1 − 1/η)²/8 (Hoeffding), and below the second least value ψ is −log p(argmin)/s, above log c
    high = 2.0 - 1.0 / np.expm1(-np.sqrt(8.0 * log_c / (s - 1.0)))
    enough = (ENOUGH + 2.0 * n + 2.0 * s) * UNIT
    eta = warm
    if not low < eta < high:
        eta = mean + np.sqrt(max(second - mean * mean, 0.0) * (s - 1.0) / (2.0 * log_c))
    if not low < eta < high:
        eta = np.sqrt(low) * np.sqrt(high)
    best, less, gap, centre = -np.inf, 1.0, 0.0, 0.0
    for step in range(200):
        log_whole, log_less, bend, less = moments(p, x, total, eta, s, w)
        psi = (s - 1.0) / s * log_whole - log_less
        above = log_c + log_whole / s
        value = -eta * np.expm1(above)
        best = max(best, value)
        if psi <= log_c:
            high, centre = eta, 0.0
            gap = -eta * np.exp(above) * np.expm1(psi - log_c)
        else:
            low = eta
            reached = -eta * np.expm1(log_whole - log_less)
            centre = np.expm1(-k * (psi - log_c)) / np.expm1(-k * psi)  # the share of p in the mixture
            gap = reached - value + (mean - reached) * centre
        if gap <= enough:
            break
        slope = (s - 1.0) / eta * bend
        proposal = eta + 2.0 * (np.sqrt(psi / log_c) - 1.0) * psi / -slope if psi > 0.0 and slope < 0.0 else np.nan
        if not low < proposal < high or step > 40:
            proposal = np.sqrt(low) * np.sqrt(high)
        if proposal in (low, high, eta):
            break
        eta = proposal
    if wanted and gap <= enough:
        for i in range(n):
            w[i] += centre * (less * p[i] / total - w[i])
            w[i] /= less
    elif wanted:
        _, _, _, less = moments(p, x, total, high, s, w)
        reached, mass, attained = 0.0, 0.0, 0.0
        for i in range(n):
            reached += w[i] / less * x[i]
            kept = p[i] * max((low - x[i]) / low, 0.0) ** (s - 1.0)
            mass += kept
            attained += kept * x[i]
        attained /= mass
        share = min(max((reached - best) / (reached - attained), 0.0), 1.0) if reached > attained else 0.0
        for i in range(n):
            kept = p[i] * max((low - x[i]) / low, 0.0) ** (s - 1.0)
            w[i] = (1.0 - share) * (w[i] / less) + share * (kept / mass)
    return lowest + spread * best, 0.0, eta


@dataclass(frozen=True, eq=False)
class _PowerBall(Ball):
    radius: Parameter
    order: float = 2.0
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(power_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "a finite number of at least 0"

    def __post_init__(self) -> None:
        super().__post_init__()
        order = check_number("order", self.order, "in [1.01, 100]", low=1.01, high=100.0)
        object.__setattr__(self, "order", order)

    def log_c(self, radius: Floats) -> Floats:
        """log c of the radii."""
        raise NotImplementedError

    def bind(self, mdp: FiniteMDP) -> Bound:
        """log c of each pair, and s at each successor. Raises InputError."""
        given = super().bind(mdp)
        exponents = np.full(len(given.first), self.order / (self.order - 1.0))
        return replace(given, second=exponents, parameter=self.log_c(given.parameter))

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((60n + 60s + 8·min(s·log c, 745) + 400)u + 8·row_error), s = k/(k − 1) for the order k.

        In units of the spread, at most 2M. Where E r^s ≥ ½, what it lacks of 1 is known to (n + s + 10)u relatively and
        is at most s·E d/η, so that η·log E r^s/s is known to 2(n + s + 10)u, as is η·log c ≤ 2; elsewhere η ≤ 2s, and
        E r^s is known to (n + s + 6)u relatively, hence η·e^−y of its log to 2(n + 2s + 8)u, where y = −log c −
        log(E r^s)/s and both logs are known to u of themselves: η·(log c + y)·e^−y ≤ 2s·log c + s, and s·log c ≤
        −log p(argmin). The gap, (2n + 2s + 16)u as computed, is known to (s − 1)/η times as much as both logs, (8n + 8s
        + 60)u. Rows that miss 1 are divided by their sums here.
        """
        exponent = self.order / (self.order - 1.0)
        logs = min(exponent * float(self.of(mdp).parameter.max()), 745.0)
        unit = (60 * mdp.longest_row + 60 * exponent + 8 * logs + 400) * UNIT
        return 1.01 * magnitude * (unit + 8 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class CressieReadBall(_PowerBall):
    """min over {q : E_p φ(q/p) ≤ radius}, φ(t) = (t^k − kt + k − 1)/(k(k − 1)), p = P(·|s, a), k the order.

    radius ≥ 0, a number or (S, A); order in [1.01, 100]. Order 2 is the χ² ball of twice the radius (`Chi2Ball`); for
    orders near 1 take `KLBall`. q lives on the support of the row (Cressie and Read 1984; Duchi and Namkoong 2021).
    Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the best case instead.
    """

    def log_c(self, radius: Floats) -> Floats:
        """log(1 + k(k − 1)·radius)/k."""
        k = self.order
        with np.errstate(over="ignore"):
            return np.asarray(np.log1p(k * (k - 1.0) * radius) / k, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class RenyiBall(_PowerBall):
    """min over {q : log(E_p (q/p)^α)/(α − 1) ≤ radius}, p = P(·|s, a): Rényi's divergence of q from p, α the order.

    radius ≥ 0, a number or (S, A); order in [1.01, 100]. As KL(q‖p) is at most that divergence, the ball is inside the
    KL ball of the same radius, and tends to it for α → 1. q lives on the support of the row (Rényi 1961; van Erven and
    Harremoës 2014). Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the best case instead.
    """

    def log_c(self, radius: Floats) -> Floats:
        """radius·(α − 1)/α."""
        return np.asarray(radius * ((self.order - 1.0) / self.order), dtype=np.float64)
