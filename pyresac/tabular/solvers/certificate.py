"""The guarantee on ‖Q − Q*‖∞, rounding included.

Let W v = V(B v), with B v = R + γ(E v − frozen), be the backup seen from the states, so that T Q = B(V(Q)). It is
monotone and W(v + c) = W v + γc (`RESAC.stateBackup_blackwell`, C10). If low ≤ W v − v ≤ high, then
v + low/(1 − γ) is a subsolution and v + high/(1 − γ) a supersolution of W, so that, with no norm taken,

    v + low/(1 − γ) ≤ v* ≤ v + high/(1 − γ),     B v + γ·low/(1 − γ) ≤ Q* ≤ B v + γ·high/(1 − γ)

(MacQueen 1966; Porteus 1971; `RESAC.span_bounds`, C47). The middle of the second interval is off by
γ(high − low)/(2(1 − γ)) at most: the span of the residual counts and not its size.

In float64 one has q with |q − B v| ≤ e_B, and image with |image − W v| ≤ e_W = e_B + e_V. The interval for W v − v is
widened by e_W, that for Q* by e_B (`RESAC.solver_bound`, C48), and the addition of the middle costs u·max|q|. All of
this arithmetic is done in rationals and rounded up once, at the end. T is the exact operator of the stored numbers with
the rows of the kernel divided by their exact sums; how far they miss 1, `row_error`, is part of e_B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pyresac.tabular.operator import RevOperator
from pyresac.tabular.values import UNIT

LEAST_NORMAL = 2.0**-1022


def underflow_unit() -> float:
    """What an operation of this thread may lose to underflow: 2⁻¹⁰⁷⁴, or 2⁻¹⁰²² where subnormal numbers are flushed
    to 0 (as `torch.set_flush_denormal` asks of the processor)."""
    halved = np.multiply(LEAST_NORMAL, 0.5)
    return 2.0**-1074 if halved > 0.0 and halved + LEAST_NORMAL > LEAST_NORMAL else LEAST_NORMAL


@dataclass(frozen=True)
class Residual:
    """One application of the backup to v (S,): q = fl(B v) and image = fl(W v) were computed from it.

    low, high: the range of fl(image − v). v_size, q_size: max |v| and max |q| over the available pairs.
    changed: how many greedy actions are not those of the sweep before.
    """

    low: float
    high: float
    v_size: float
    q_size: float
    changed: int

    @property
    def size(self) -> float:
        """max |image − v|."""
        return max(self.high, -self.low)

    @property
    def half_span(self) -> float:
        """Half the span of image − v: what is left of it after the best shift."""
        return (self.high - self.low) / 2


class Rounding:
    """What float64 does to one backup of `operator`: bounds on e_B and e_V by the sizes of v and q.

    fused: whether q comes from the compiled sweep, whose operations are known one by one, or from `operator.backup`.
    """

    def __init__(self, operator: RevOperator, *, fused: bool) -> None:
        mdp = operator.mdp
        self._operator = operator
        self._fused = fused
        self._row = mdp.longest_row
        self._row_error = mdp.row_error
        self._actions = mdp.n_actions
        self._underflow = 4.0 * (self._row + self._actions + 8) * underflow_unit()
        # The rounding of R − γ·frozen itself; none where nothing is frozen, since R − γ·0 is R.
        self._constant = operator.rounding(0.0) if operator.frozen.any() else 0.0
        self._offset = 0.0
        if operator.penalty_at == "next":
            self._offset = float(np.abs(operator.seen(np.zeros(mdp.reward.shape))).max())

    def backup(self, v_size: float, q_size: float) -> float:
        """e_B ≥ |fl(B v) − B v|.

        Fused: n products summed, times γ, plus the reward. With fl(x) = x(1 + δ) = x/(1 + δ'), |δ|, |δ'| ≤ u, the
        last sum costs u·|q|, all before it γ·(n + 1)u/(1 − (n + 1)u)·Σ p|v|, and rows that miss 1 cost row_error·|v|.
        The factor 1.02 covers the quadratic terms and this line's own rounding: proved, for (n + 1)u ≤ 1/100 and
        row_error ≤ 1/1000, which every row that `FiniteMDP` accepts obeys (`RESAC.backup_formula`,
        `RESAC.formula_covers`, C48).
        """
        if not self._fused:
            return self._operator.rounding(v_size) + self._underflow
        products = self._operator.mdp.discount * v_size * ((self._row + 1) * UNIT + self._row_error)
        return 1.02 * (products + UNIT * q_size) + self._constant + self._underflow

    def value(self, q_size: float) -> float:
        """e_V ≥ |fl(V(seen q)) − V(seen q)| for the computed q: 3 roundings of λ_epi·Γ and the difference, then V's."""
        seen = 1.01 * (q_size + self._offset)
        reading = 3 * UNIT * seen if self._offset else 0.0
        return reading + self._operator.value.rounding(seen, self._actions) + self._underflow


class Certificate:
    """Bounds on Q* from one residual."""

    def __init__(self, operator: RevOperator, *, fused: bool) -> None:
        self._discount = Fraction(operator.mdp.discount)
        self._rate = operator.mdp.discount / (1.0 - operator.mdp.discount)
        self._rounding = Rounding(operator, fused=fused)

    def estimate(self, residual: Residual) -> float:
        """About what `bound` will say, in plain float64: for deciding whether to ask it."""
        return self._rate * residual.half_span + self.floor(residual)

    def floor(self, residual: Residual) -> float:
        """The bound if image were v exactly: no table of this size can be certified much below it."""
        e_b = self._rounding.backup(residual.v_size, residual.q_size)
        return e_b + self._rate * (e_b + self._rounding.value(residual.q_size)) + UNIT * residual.q_size

    def interval(self, residual: Residual) -> tuple[Fraction, Fraction]:
        """(low, high) with low ≤ Q* − q ≤ high on every available pair."""
        e_b = Fraction(self._rounding.backup(residual.v_size, residual.q_size))
        e_w = e_b + Fraction(self._rounding.value(residual.q_size))
        low = Fraction(math.nextafter(residual.low, -math.inf)) - e_w
        high = Fraction(math.nextafter(residual.high, math.inf)) + e_w
        rate = self._discount / (1 - self._discount)
        return rate * low - e_b, rate * high + e_b

    def bound(self, residual: Residual, tolerance: float) -> tuple[float, float]:
        """(shift, bound): ‖q + shift − Q*‖∞ ≤ bound, guaranteed.

        The shift is 0 where q as it stands meets the tolerance, or is no worse: an exact q is left alone.
        """
        low, high = self.interval(residual)
        plain = max(-low, high, Fraction(0))
        middle = to_float((low + high) / 2)
        if math.isinf(middle):
            return 0.0, round_up(plain)
        size = Fraction(residual.q_size) + abs(Fraction(middle))
        shifted = max(high - Fraction(middle), Fraction(middle) - low) + 2 * Fraction(UNIT) * size
        if plain <= Fraction(tolerance) or plain <= shifted:
            return 0.0, round_up(plain)
        return middle, round_up(shifted)


def to_float(value: Fraction) -> float:
    """The nearest float64, infinite beyond its range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def round_up(value: Fraction) -> float:
    """The least float64 that is certainly no less than `value`."""
    nearest = to_float(value)
    if math.isinf(nearest) or Fraction(nearest) >= value:
        return nearest
    return math.nextafter(nearest, math.inf)
