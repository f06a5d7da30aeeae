"""The χ² ball: its worst case is a mean less a standard deviation, over the successors that keep some mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations.gibbs import extremes, into_shares
from pyresac.tabular.expectations.rows import Ball, Parameter, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT


def chi2_row(
    p: Floats, upper: Floats, x: Floats, radius: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over Σ (q − p)²/p ≤ radius.

    The minimiser is q ∝ p·max(t − x, 0). With P, m and s² the mass, mean and variance of the successors with x < t, the
    constraint says s²/(t − m)² = P(1 + radius) − 1 =: c, and the value is m − s·√c. Successors are dropped from the
    highest value down until t and the successors kept agree. All in units of the spread, whose square may be too large
    or too small a number.
    """
    n, total = len(p), 0.0
    for i in range(n):
        total += p[i]
    lowest, highest = extremes(p, x)
    spread = highest - lowest if highest > lowest else 1.0
    into_shares(p, x, lowest, spread)
    cut, whole = np.inf, True
    mass, mean, deviation, excess = 1.0, 0.0, 0.0, radius
    for _ in range(n):
        mass, mean = 0.0, 0.0
        top = 0.0
        for i in range(n):
            if p[i] > 0.0 and x[i] < cut:
                mass += p[i] / total
                mean += p[i] / total * x[i]
                top = max(top, x[i])
        mean /= mass
        if top == 0.0:
            break
        variance = 0.0
        for i in range(n):
            if p[i] > 0.0 and x[i] < cut:
                variance += p[i] / total * (x[i] - mean) ** 2
        deviation = np.sqrt(variance / mass)
        excess = radius if whole else mass * (1.0 + radius) - 1.0
        # x < t for all that are kept, where t = m + s/√c
        if excess <= 0.0 or deviation == 0.0 or (top - mean) * np.sqrt(excess) < deviation:
            break
        cut, whole = top, False
    if top == 0.0:
        for i in range(n):
            w[i] = p[i] / (mass * total) if p[i] > 0.0 and x[i] < cut else 0.0
        return lowest, 0.0, warm
    root = np.sqrt(max(excess, 0.0))
    pull = root / deviation if deviation > 0.0 else 0.0
    for i in range(n):
        kept = p[i] > 0.0 and x[i] < cut
        w[i] = max(p[i] / (total * mass) * (1.0 - (x[i] - mean) * pull), 0.0) if kept else 0.0
    return lowest + spread * (mean - deviation * root), 0.0, warm


@dataclass(frozen=True, eq=False)
class Chi2Ball(Ball):
    """min over {q : Σ (q − p)²/p ≤ radius}, p = P(·|s, a): radius ≥ 0, a number or (S, A); q on the support of p.

    Where no successor loses all its mass, E_p v − √(radius·Var_p v): the set behind variance penalties (Iyengar 2005;
    Duchi and Namkoong 2019). Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the best case instead.
    """

    radius: Parameter
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(chi2_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "a finite number of at least 0"

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((24n + 100)u + 8·row_error).

        In units of the spread, at most 2M: the mean m is known to (n + 5)u, so each x − m, and with it s, to
        (2n + 10)u, √c ≤ (m less the value)/s turning this into no more; c is known to (n + 4)u·(1 + c), which moves
        s·√c by s·(n + 4)u·(1 + c)/(2√c) ≤ (n + 4)u, as s ≤ √c where a successor was dropped, and s·√c ≤ m.
        """
        return 1.01 * magnitude * ((24 * mdp.longest_row + 100) * UNIT + 8 * mdp.row_error)
