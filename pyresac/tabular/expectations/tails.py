"""Sets with a bound on each probability, filled from the lowest value up: CVaR and the L∞ ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations.rows import Ball, Parameter, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT


def tail_row(
    p: Floats, upper: Floats, x: Floats, alpha: float, lowest: float, warm: float, w: Floats
) -> tuple[float, float, float]:
    """The mean of the lowest share alpha of p: fill w = p/alpha from the lowest value up to mass 1."""
    total, value = 0.0, 0.0
    for i in range(len(p)):
        total += p[i]
        w[i] = 0.0
    left = alpha * total
    share = left
    for i in np.argsort(x):
        if left <= 0.0:
            break
        step = min(left, p[i])
        w[i] = step / share
        value += step * x[i]
        left -= step
    return value / share, 0.0, warm


def box_row(
    p: Floats, upper: Floats, x: Floats, radius: float, lowest: float, warm: float, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over |q − p| ≤ radius on the support of p: fill up from the lowest value."""
    left, value = 0.0, 0.0
    for i in range(len(p)):
        w[i] = max(p[i] - radius, 0.0)
        left += p[i] - w[i]
    for i in np.argsort(x):
        if p[i] > 0.0:
            step = min(left, p[i] + radius - w[i])
            w[i] += step
            left -= step
        value += w[i] * x[i]
    return value, 0.0, warm


@dataclass(frozen=True, eq=False)
class CVaR(Ball):
    """The mean of v over the worst share alpha of P(·|s, a): alpha in (0, 1], a number or (S, A).

    min over {q : q ≤ P/alpha} (Rockafellar and Uryasev; iterated, as in Chow and Ghavamzadeh 2014): alpha = 1 is the
    nominal expectation. Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the mean of the best share.
    """

    alpha: Parameter
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(tail_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "in (0, 1]"
    high: ClassVar[float] = 1.0
    open_low: ClassVar[bool] = True

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((6n + 16)u + 2·row_error).

        The share left is off by (n + 1)u·alpha at its start and by u·alpha at each step; an error of δ·alpha in where
        the tail ends moves the mean by at most 2Mδ. The sum of n products, and the division, cost (n + 2)u·M.
        """
        return 1.01 * magnitude * ((6 * mdp.longest_row + 16) * UNIT + 2 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class LInfinityBall(Ball):
    """min over {q : |q(s') − P(s'|s, a)| ≤ radius for each successor s'}: radius in [0, 1], a number or (S, A).

    On the support of the nominal row: on all states a ball of this norm would let the adversary send `radius` to every
    state of the model at once, so that its size would depend on how many states there are. Filled from the lowest
    value. Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the best case instead.
    """

    radius: Parameter
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(box_row))
    support: ClassVar[str] = "nominal"  # type: ignore[misc]
    allowed: ClassVar[str] = "in [0, 1]"
    high: ClassVar[float] = 1.0

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((12n + 32)u + 2·row_error): the free mass is off by 2nu, and so is each filling step; see `L1Ball`."""
        return 1.01 * magnitude * ((12 * mdp.longest_row + 32) * UNIT + 2 * mdp.row_error)
