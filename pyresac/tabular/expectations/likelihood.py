"""The likelihood ball: models under which what was seen is not much less likely than under its frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyresac.jit import inlined
from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations.rows import Ball, Parameter, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT

NEGLIGIBLE = 2.0**-106
"""A radius up to which the ball is its centre: by Pinsker its mean moves by √(radius/2) of the spread at most."""
ENOUGH = 16
"""The row is solved to a duality gap of so many roundings of the spread, and two more a successor."""


@inlined
def pulled(p: Floats, d: Floats, total: float, mean: float, mu: float) -> tuple[float, float, float, float]:
    """(s, f, slope, h) for 0 ≤ d ≤ 1 with the mean `mean` under p/total, and μ ≥ 0 (above 0 where some d is 0).

    s = E log((d + μ)/(mean + μ)); f = KL(p‖q) for q ∝ p/(d + μ); slope = df/dμ; h = 1/E 1/(d + μ).
    """
    centre, s, first, second = mean + mu, 0.0, 0.0, 0.0
    for i in range(len(p)):
        if p[i] > 0.0:
            share, e = p[i] / total, (d[i] - mean) / centre
            ratio = (d[i] + mu) / centre
            s += share * (np.log1p(e) if e > -0.5 else np.log(ratio))
            first -= share * (e / ratio)
            second += share / (ratio * ratio)
    inverse = 1.0 + first  # (mean + μ)·E 1/(d + μ)
    return s, s + np.log1p(first), (inverse - second / inverse) / centre, centre / inverse


def likelihood_row(
    p: Floats, upper: Floats, x: Floats, radius: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over KL(p‖q) ≤ radius. Returns (value, the mass on a state of value `lowest`, the μ found).

    With d = (x − lowest)/spread every μ ≥ 0 gives the dual value g(μ) = e^−radius·exp(E log(d + μ)) − μ, a lower bound
    in units of the spread; g is concave, and g' = exp(f − radius) − 1 with f as in `pulled`, which falls in μ. So a
    bracket of the μ with f = radius bounds what is missed; so does what the row q falls short of g, (exp(f − radius) −
    1)·h, where q is one of the set. 1/√f is nearly linear in μ: Newton's method on it takes a
    few steps. Where f(0) ≤ radius the rest of the radius puts mass on the lowest state, which p did not see.
    """
    n, total, mean, highest, least = len(p), 0.0, 0.0, -np.inf, np.inf
    for i in range(n):
        y, on = x[i], p[i] > 0.0
        total += p[i]
        highest = max(highest, y if on else -np.inf)
        least = min(least, y if on else np.inf)
    spread = highest - lowest
    if spread == 0.0 or radius <= NEGLIGIBLE:
        for i in range(n):
            w[i] = p[i]
            mean += p[i] * x[i]
        return mean / total, 0.0, warm
    for i in range(n):
        x[i] = (x[i] - lowest) / spread if p[i] > 0.0 else 1.0
        mean += p[i] * x[i]
    mean /= total
    enough = (ENOUGH + 2 * n) * UNIT
    mu, low, high = warm, 0.0, max(1.0, 1.0 / np.sqrt(2.0 * radius))
    s, f, slope, moved = 0.0, np.inf, 0.0, 0.0
    if least > lowest:
        s, f, slope, harmonic = pulled(p, x, total, mean, 0.0)
    if f <= radius:
        mu, best, moved = 0.0, mean * np.exp(s - radius), -np.expm1(f - radius)
    else:
        if not 0.0 < mu < high:
            mu = 0.5 * high
        best = -np.inf
        for step in range(200):
            s, f, slope, harmonic = pulled(p, x, total, mean, mu)
            best = max(best, mean + (mean + mu) * np.expm1(s - radius))
            if f > radius:
                low = mu
            else:
                high = mu
            excess = np.expm1(f - radius)
            if abs(excess) * harmonic <= enough and excess * (high - mu) <= enough:
                break
            proposal = mu + 2.0 * (np.sqrt(f / radius) - 1.0) * f / -slope if f > 0.0 and slope < 0.0 else np.nan
            if not low < proposal < high or step > 40:
                proposal = np.sqrt(low) * np.sqrt(high) if low > 0.0 else high / 16.0
            if proposal in (low, high, mu):
                break
            mu = proposal
    if wanted:
        total = 0.0
        for i in range(n):
            w[i] = p[i] / (x[i] + mu) if p[i] > 0.0 else 0.0
            total += w[i]
        for i in range(n):
            w[i] *= (1.0 - moved) / total
    return lowest + spread * best, moved, mu


@dataclass(frozen=True, eq=False)
class LikelihoodBall(Ball):
    """min over {q : KL(P(·|s, a)‖q) ≤ radius}: radius ≥ 0, a number or (S, A).

    The mirror image of `KLBall`, and a set of its own: where P holds frequencies of n draws, its rows are those under
    which the draws are at most e^(n·radius) times less likely (Nilim and El Ghaoui 2005, section 4; Filippi, Cappé and
    Garivier 2010). A row may go where P never went. Monetary: `RESAC.IsInfimum.monetary` (C03). support: "all" states,
    or the "nominal" successors only. optimistic: the best case instead.
    """

    radius: Parameter
    support: str = "all"
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(likelihood_row))
    allowed: ClassVar[str] = "a finite number of at least 0"

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((40n + 300)u + 8·row_error).

        In units of the spread, at most 2M, with c = mean + μ and e = (d − mean)/c: for e > −½ the terms of s are at
        most 2p|e| and known to 8u relatively, and c·E|e| ≤ 1; the others have c ≤ 2, and are known to 4u and to u of
        themselves, which exp(s − radius) outweighs as y·exp(−y) ≤ 1. Summing costs nu of as much, so c·expm1(s −
        radius) is known to (6n + 60)u, as c·radius ≤ 2 where radius ≤ 1; the gap left is (2n + 16)u as computed, and
        is known as well as s. Rows that miss 1 are divided by their sums here.
        """
        return 1.01 * magnitude * ((40 * mdp.longest_row + 300) * UNIT + 8 * mdp.row_error)
