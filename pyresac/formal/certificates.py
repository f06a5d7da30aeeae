"""A solved table as a problem that Lean's kernel checks: the arithmetic.

The operator is that of `pyresac.tabular.RevOperator`: a maximum, minimum or policy's mean over actions, frozen
penalties of the pair or of the next pair, the nominal expectation, the worst of finitely many kernels or of an
interval set. All of its float64 numbers are read as the rationals that they are, each row (of a kernel, of the
policy) divided by its exact sum. Lean's kernel decides the text of `certificate_text` (`RESAC.Problem.sound`,
`RESAC.IntervalProblem.sound`, C47). How the table was found plays no part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import floor, lcm

import numpy as np
from numpy.typing import NDArray

from pyresac.formal.errors import FormalError
from pyresac.formal.interval_rows import Box, Row, worst_members
from pyresac.tabular import IntervalSet, Max, Min, Nominal, PolicyMean, RevOperator, WorstOfKernels
from pyresac.tabular.checks import Floats
from pyresac.tabular.mdp import FiniteMDP

FINER = 2**20
"""How much finer than the table the bounds on the residual are written."""
DIGITS = 3
"""Significant decimal digits of a certified bound, rounded up."""
FUNCTIONALS = {Max: "max", Min: "min", PolicyMean: "mean"}
"""The value functionals that Lean checks, by its names for them (`RESAC.Functional`)."""


@dataclass(frozen=True)
class LeanEntry:
    """A pair: numerators over the common denominator, the policy's weight, and a row for each kernel; for an interval
    set the worst member of it, and the set."""

    reward: int
    penalty: int
    offset: int
    value: int
    weight: int
    rows: tuple[Row, ...] = ()
    box: Box | None = None


@dataclass(frozen=True)
class LeanCertificate:
    """What Lean is given. functional: "max", "min" or "mean". scale: what the policy's weights sum to in each state,
    or 1. low, high: the range of T Q − Q, numerators over `den`. bound: what follows for ‖Q − Q*‖∞."""

    den: int
    gamma: Fraction
    functional: str
    scale: int
    states: tuple[tuple[LeanEntry, ...], ...]
    low: int
    high: int

    @property
    def exact_bound(self) -> Fraction:
        """max(−low, high)/(1 − γ): ‖Q − Q*‖∞ is at most this."""
        return Fraction(max(-self.low, self.high, 0), self.den) / (1 - self.gamma)

    @property
    def bound(self) -> Fraction:
        """The same, rounded up to a few decimal digits."""
        return rounded_up(self.exact_bound)


def certificate(operator: RevOperator, q: Floats) -> LeanCertificate:
    """The certificate of a table q (S, A) for the operator's fixed point.

    Raises FormalError where the operator has no finite rational form (a soft value, a ball of kernels), where it is
    none of ours (a live penalty), or where the table holds a NaN or has another shape.
    """
    _check(operator, q)
    mdp = operator.mdp
    available = np.ones(mdp.reward.shape, dtype=bool) if mdp.available is None else mdp.available
    gamma = Fraction(mdp.discount)
    pairs = [[_first(available[s], a) for a in range(mdp.n_actions)] for s in range(mdp.n_states)]
    exact = {
        (s, a): (Fraction(mdp.reward[s, a]), *_penalties(operator, s, a), Fraction(q[s, a]))
        for s in range(mdp.n_states)
        for a in pairs[s]
    }
    den = FINER * lcm(*(x.denominator for numbers in exact.values() for x in numbers))
    weights, scale = _policy_weights(operator)
    bare = tuple(
        tuple(_entry_of([int(x * den) for x in exact[s, first]], weights[s][a]) for a, first in enumerate(pairs[s]))
        for s in range(mdp.n_states)
    )
    functional = FUNCTIONALS[type(operator.value)]
    v = _state_values(bare, functional, scale)
    sets = _sets(operator, v)
    states = tuple(
        tuple(replace(e, rows=sets[s, first][0], box=sets[s, first][1]) for e, first in zip(row, pairs[s], strict=True))
        for s, row in enumerate(bare)
    )
    residuals = list(_residuals(states, v, gamma))
    return LeanCertificate(den, gamma, functional, scale, states, floor(min(residuals)), -floor(-max(residuals)))


def _entry_of(numbers: list[int], weight: int) -> LeanEntry:
    reward, penalty, offset, value = numbers
    return LeanEntry(reward, penalty, offset, value, weight)


def _sets(operator: RevOperator, v: list[Fraction]) -> dict[tuple[int, int], tuple[tuple[Row, ...], Box | None]]:
    """The rows of every available pair: one for each kernel, or the worst member of an interval set, and the set."""
    mdp = operator.mdp
    pairs = [divmod(i, mdp.n_actions) for i in range(mdp.reward.size)]
    kept = [(s, a) for s, a in pairs if mdp.available is None or mdp.available[s, a]]
    if isinstance(operator.expectation, IntervalSet):
        return {pair: ((row,), box) for pair, (row, box) in worst_members(operator.expectation, mdp, kept, v).items()}
    kernels = [_rows(model) for model in _models(operator)]
    return {(s, a): (tuple(kernel[s * mdp.n_actions + a] for kernel in kernels), None) for s, a in kept}


def _policy_weights(operator: RevOperator) -> tuple[list[list[int]], int]:
    """[s][a] natural weights with the same sum in every state, proportional to the policy's rows, and that sum; zeros
    and 1 where the value functional is no policy's."""
    n_states, n_actions = operator.mdp.reward.shape
    if not isinstance(operator.value, PolicyMean):
        return [[0] * n_actions] * n_states, 1
    rows = [[Fraction(p) for p in row] for row in operator.value.policy.tolist()]
    shares = [[p / sum(row) for p in row] for row in rows]
    scale = lcm(*(p.denominator for row in shares for p in row))
    return [[int(p * scale) for p in row] for row in shares], scale


def _check(operator: object, q: Floats) -> None:
    if not isinstance(operator, RevOperator):
        raise FormalError(
            f"operator is a {type(operator).__name__}; a certificate is for a RevOperator, whose penalties are frozen: "
            "a live penalty looks at the Q being updated, and its fixed point need not exist (C14, C15)"
        )
    if type(operator.value) not in FUNCTIONALS:
        raise FormalError(
            f"the value functional is {type(operator.value).__name__}; Lean checks Max, Min and PolicyMean (ℚ has no "
            "exponential)"
        )
    if not isinstance(operator.expectation, (Nominal, WorstOfKernels, IntervalSet)):
        raise FormalError(
            f"the expectation is {type(operator.expectation).__name__}; Lean checks Nominal, WorstOfKernels and "
            "IntervalSet"
        )
    if isinstance(operator.expectation, IntervalSet) and operator.expectation.optimistic:
        raise FormalError("the interval set is optimistic; Lean checks the worst case over it")
    if operator.mdp.continuation is not None:
        raise FormalError("the MDP is a done-masked reading; certify the full-kernel MDP")
    if q.shape != operator.mdp.reward.shape:
        raise FormalError(f"the table has shape {q.shape}; the MDP asks for {operator.mdp.reward.shape}")
    available = operator.mdp.available
    if available is not None and isinstance(operator.value, PolicyMean) and operator.value.policy[~available].any():
        s, a = np.argwhere(~available & (operator.value.policy > 0))[0]
        raise FormalError(f"the policy takes the unavailable action a={a} at s={s}")
    wrong = ~np.isfinite(q) if available is None else available & ~np.isfinite(q)
    if wrong.any():
        s, a = np.argwhere(wrong)[0]
        raise FormalError(f"the table holds {q[s, a]} at (s={s}, a={a}); a value to certify must be finite")


def _models(operator: RevOperator) -> list[FiniteMDP]:
    if isinstance(operator.expectation, WorstOfKernels):
        return [checked.model for checked in operator.expectation.kernels]
    return [operator.mdp]


def _rows(mdp: FiniteMDP) -> list[Row]:
    """Every row as natural weights: its float64 entries times a power of two."""
    indptr, indices, data = mdp.csr()
    found = []
    for start, stop in pairwise(indptr):
        weights = [(int(i), Fraction(p)) for i, p in zip(indices[start:stop], data[start:stop], strict=True) if p > 0]
        scale = lcm(*(p.denominator for _, p in weights)) if weights else 1
        found.append(tuple((i, int(p * scale)) for i, p in weights))
    return found


def _penalties(operator: RevOperator, s: int, a: int) -> tuple[Fraction, Fraction]:
    """The penalty of the pair and that of the pair as a next pair, as the float operator holds them."""
    scaled = Fraction(float(operator.scaled[s, a]))
    kappa = Fraction(operator.kappa)
    return (Fraction(float(operator.frozen[s, a])), Fraction(0)) if operator.penalty_at == "pair" else (kappa, scaled)


def _first(available: NDArray[np.bool_], a: int) -> int:
    """The action whose entry stands at `a`: an unavailable one repeats the state's first available one, which
    changes neither the maximum nor the minimum."""
    return a if available[a] else int(np.flatnonzero(available)[0])


def _state_values(states: tuple[tuple[LeanEntry, ...], ...], functional: str, scale: int) -> list[Fraction]:
    """The values of the states, times the common denominator."""
    if functional == "mean":
        return [Fraction(sum(e.weight * (e.value - e.offset) for e in state), scale) for state in states]
    extremum = max if functional == "max" else min
    return [Fraction(extremum(e.value - e.offset for e in state)) for state in states]


def _residuals(states: tuple[tuple[LeanEntry, ...], ...], v: list[Fraction], gamma: Fraction) -> Iterator[Fraction]:
    """T Q − Q at every pair, times the common denominator."""
    for e in (e for state in states for e in state):
        worst = min(sum((w * v[i] for i, w in row), Fraction(0)) / sum(w for _, w in row) for row in e.rows)
        yield e.reward + gamma * (worst - e.penalty) - e.value


def rounded_up(x: Fraction) -> Fraction:
    """The least number of `DIGITS` significant decimal digits that is no less than x ≥ 0."""
    if x == 0:
        return x
    unit = Fraction(10) ** (exponent(x) - DIGITS + 1)
    return -floor(-x / unit) * unit


def exponent(x: Fraction) -> int:
    """The e with 10ᵉ ≤ x < 10ᵉ⁺¹."""
    e = len(str(x.numerator)) - len(str(x.denominator))
    return e if Fraction(10) ** e <= x else e - 1
