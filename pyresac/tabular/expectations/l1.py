"""Balls in the l1 norm and in total variation, which are the same up to a factor of two, and contaminations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations.filling import fill_level
from pyresac.tabular.expectations.rows import Ball, Parameter, Sweep, over_rows
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT


def l1_row(
    p: Floats, upper: Floats, x: Floats, radius: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """min of Σ q·x over ‖q − p‖₁ ≤ radius: half the radius moves from the highest values to the lowest state."""
    value = 0.0
    for i in range(len(p)):
        x[i] = -max(x[i], lowest)  # what has no mass may lie lower
    level, above, part, warm = fill_level(len(p), p, x, 0.5 * radius, warm)
    if level == -lowest:
        part = 0.0
    moved = above + part
    for i in range(len(p)):
        y, mass = x[i], p[i]
        value -= (mass if y >= level else 0.0) * y
    value += part * level
    if wanted:
        for i in range(len(p)):
            lost = min(part, p[i]) if x[i] == level else 0.0
            part -= lost
            w[i] = p[i] - lost if x[i] >= level else 0.0
    return value + moved * lowest if moved > 0.0 else value, moved, warm


def contaminated_row(
    p: Floats, upper: Floats, x: Floats, share: float, lowest: float, warm: float, wanted: bool, w: Floats
) -> tuple[float, float, float]:
    """(1 − share)·Σ p·x + share·lowest."""
    value = share * lowest
    for i in range(len(p)):
        value += (1.0 - share) * p[i] * x[i]
        if wanted:
            w[i] = (1.0 - share) * p[i]
    return value, share, warm


@dataclass(frozen=True, eq=False)
class L1Ball(Ball):
    """min over {q : ‖q − P(·|s, a)‖₁ ≤ radius}: radius in [0, 2], a number or (S, A).

    Greedy: half the radius moves from the successors of highest value to the lowest state (Strehl and Littman 2008).
    Monetary: `RESAC.IsInfimum.monetary` (C03). support: "all" states, or the "nominal" successors only. optimistic: the
    best case instead.
    """

    radius: Parameter
    support: str = "all"
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(l1_row))
    allowed: ClassVar[str] = "in [0, 2] (‖q − p‖₁ is at most 2)"
    high: ClassVar[float] = 2.0

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((8n + 16)u + 2·row_error).

        The mass above the level is known to (n + 1)u, hence what is lost on it to (2n + 2)u, at a price of at most 2M a
        unit; n + 2 products are summed.
        """
        return 1.01 * magnitude * ((8 * mdp.longest_row + 16) * UNIT + 2 * mdp.row_error)


@dataclass(frozen=True, eq=False)
class TotalVariation(L1Ball):
    """min over {q : ½·‖q − P(·|s, a)‖₁ ≤ radius}: radius in [0, 1], a number or (S, A). Half an `L1Ball`'s radius."""

    allowed: ClassVar[str] = "in [0, 1] (a total variation is at most 1)"
    high: ClassVar[float] = 1.0
    scale: ClassVar[float] = 2.0


@dataclass(frozen=True, eq=False)
class Contamination(Ball):
    """(1 − share)·E_P v + share·min v: with probability `share` anything may happen (Huber; Wang and Zou 2021).

    share in [0, 1], a number or (S, A): the set {(1 − share)·P + share·q : q any row}. A mixture of the nominal kernel
    with the worst one. Monetary: `RESAC.IsInfimum.monetary` (C03). support, optimistic: as for `L1Ball`.
    """

    share: Parameter
    support: str = "all"
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_rows(contaminated_row))
    allowed: ClassVar[str] = "in [0, 1]"
    high: ClassVar[float] = 1.0

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((n + 6)u + 2·row_error): 1 − share, n products of three factors, n + 1 of them summed."""
        return 1.01 * magnitude * ((mdp.longest_row + 6) * UNIT + 2 * mdp.row_error)
