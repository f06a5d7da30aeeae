"""A solved table as a Lean file that the kernel checks: the arithmetic and the text.

The operator is that of `pyresac.tabular.RevOperator`: a maximum, minimum or policy's mean over actions, frozen
penalties of the pair or of the next pair, the nominal expectation or the worst of finitely many kernels. All of its
float64 numbers are read as the rationals that they are, each row (of a kernel, of the policy) divided by its exact sum;
the text is a `RESAC.Problem`, and Lean's kernel decides `Problem.check` (`RESAC.Problem.sound`, C47). How the table was
found plays no part.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import floor, lcm

import numpy as np
from numpy.typing import NDArray

from pyresac.formal.errors import FormalError
from pyresac.tabular import Max, Min, Nominal, PolicyMean, RevOperator, WorstOfKernels
from pyresac.tabular.checks import Floats
from pyresac.tabular.mdp import FiniteMDP

Row = tuple[tuple[int, int], ...]
"""(next state, weight), weights natural and not all 0."""
FINER = 2**20
"""How much finer than the table the bounds on the residual are written."""
DIGITS = 3
"""Significant decimal digits of a certified bound, rounded up."""
WIDTH = 100
FUNCTIONALS = {Max: "max", Min: "min", PolicyMean: "mean"}
"""The value functionals that Lean checks, by its names for them (`RESAC.Functional`)."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Entry:
    """A pair: numerators over the common denominator, the policy's weight, and a row for each kernel."""

    reward: int
    penalty: int
    offset: int
    value: int
    weight: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class LeanCertificate:
    """What Lean is given. functional: "max", "min" or "mean". scale: what the policy's weights sum to in each state,
    or 1. low, high: the range of T Q − Q, numerators over `den`. bound: what follows for ‖Q − Q*‖∞."""

    den: int
    gamma: Fraction
    functional: str
    scale: int
    states: tuple[tuple[Entry, ...], ...]
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
    rows = [_rows(model) for model in _models(operator)]
    gamma = Fraction(mdp.discount)
    pairs = [[_first(available[s], a) for a in range(mdp.n_actions)] for s in range(mdp.n_states)]
    exact = {
        (s, a): (Fraction(mdp.reward[s, a]), *_penalties(operator, s, a), Fraction(q[s, a]))
        for s in range(mdp.n_states)
        for a in pairs[s]
    }
    den = FINER * lcm(*(x.denominator for numbers in exact.values() for x in numbers))
    entries = {
        (s, a): _entry_of([int(x * den) for x in numbers], tuple(kernel[s * mdp.n_actions + a] for kernel in rows))
        for (s, a), numbers in exact.items()
    }
    weights, scale = _policy_weights(operator)
    states = tuple(
        tuple(replace(entries[s, first], weight=weights[s][a]) for a, first in enumerate(pairs[s]))
        for s in range(mdp.n_states)
    )
    functional = FUNCTIONALS[type(operator.value)]
    residuals = list(_residuals(states, gamma, functional, scale))
    return LeanCertificate(den, gamma, functional, scale, states, floor(min(residuals)), -floor(-max(residuals)))


def _entry_of(numbers: list[int], rows: tuple[Row, ...]) -> Entry:
    reward, penalty, offset, value = numbers
    return Entry(reward, penalty, offset, value, 0, rows)


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
    if not isinstance(operator.expectation, (Nominal, WorstOfKernels)):
        raise FormalError(
            f"the expectation is {type(operator.expectation).__name__}; Lean checks Nominal and WorstOfKernels"
        )
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


def _residuals(
    states: tuple[tuple[Entry, ...], ...], gamma: Fraction, functional: str, scale: int
) -> Iterator[Fraction]:
    """T Q − Q at every pair, times the common denominator."""
    if functional == "mean":
        v = [Fraction(sum(e.weight * (e.value - e.offset) for e in state), scale) for state in states]
    else:
        extremum = max if functional == "max" else min
        v = [Fraction(extremum(e.value - e.offset for e in state)) for state in states]
    for e in (e for state in states for e in state):
        worst = min(sum((w * v[i] for i, w in row), Fraction(0)) / sum(w for _, w in row) for row in e.rows)
        yield e.reward + gamma * (worst - e.penalty) - e.value


def rounded_up(x: Fraction) -> Fraction:
    """The least number of `DIGITS` significant decimal digits that is no less than x ≥ 0."""
    if x == 0:
        return x
    unit = Fraction(10) ** (_exponent(x) - DIGITS + 1)
    return -floor(-x / unit) * unit


def _exponent(x: Fraction) -> int:
    """The e with 10ᵉ ≤ x < 10ᵉ⁺¹."""
    e = len(str(x.numerator)) - len(str(x.denominator))
    return e if Fraction(10) ** e <= x else e - 1


# ---------------------------------------------------------------------------------------------- Lean text


def lean_text(found: LeanCertificate, name: str, title: str) -> str:
    """The Lean file: the problem, the check, and what follows for the table.

    name: the last part of the namespace. title: one line on what was solved.
    """
    if not NAME.fullmatch(name):
        raise FormalError(f"name is {name!r}; it must be a letter followed by letters, digits and _")
    rows = max(len(e.rows) for state in found.states for e in state)
    states = ",\n    ".join("[" + ",\n     ".join(_entry(e) for e in state) + "]" for state in found.states)
    bound = found.bound
    return TEXT.format(
        name=name,
        title=textwrap.fill(title, WIDTH),
        n=len(found.states) - 1,
        m=len(found.states[0]) - 1,
        k=rows - 1,
        den=found.den,
        gamma_num=found.gamma.numerator,
        gamma_den=found.gamma.denominator,
        functional=found.functional,
        scale=found.scale,
        states=states,
        low=found.low,
        high=found.high,
        bound=f"{bound.numerator} / {bound.denominator}" if bound.denominator > 1 else str(bound.numerator),
        about=decimal(bound),
    )


def decimal(x: Fraction) -> str:
    """A number of few digits, exactly, in scientific notation."""
    if x == 0:
        return "0"
    e = _exponent(x)
    digits = x / Fraction(10) ** e
    return f"{float(digits):g}e{e}"


def _entry(e: Entry) -> str:
    rows = ", ".join("[" + ", ".join(f"({i}, {w})" for i, w in row) + "]" for row in e.rows)
    text = f"⟨{e.reward}, {e.penalty}, {e.offset}, {e.value}, {e.weight}, [{rows}]⟩"
    return ("\n      ").join(textwrap.wrap(text, WIDTH - 6, break_long_words=False, break_on_hyphens=False))


TEXT = """\
module

public import RESAC.Certificate.Checker

public section

/-!
# A certified table: {name}

{title}

Written by `python -m pyresac.formal.certify`: do not edit. The table was computed in float64 by a
solver that nobody need trust; the kernel decides that it is within {about} of the fixed point.
-/

noncomputable section

namespace RESAC.Certificates.{name}

set_option maxRecDepth 100000

/-- The operator and the table: numerators over `den`, each row as (next state, weight). -/
@[expose] def problem : Problem where
  n := {n}
  m := {m}
  k := {k}
  den := {den}
  gammaNum := {gamma_num}
  gammaDen := {gamma_den}
  functional := .{functional}
  scale := {scale}
  states := [
    {states}]
  lo := {low}
  hi := {high}

/-- The kernel runs the checker. -/
theorem checked : problem.check = true := by decide +kernel

/-- **The fixed point exists, is unique, and is within {about} of the table, in the sup-norm.** -/
theorem certified : ∃ Qs, problem.backup Qs = Qs ∧ (∀ Q', problem.backup Q' = Q' → Q' = Qs) ∧
    supNorm (fun s a => problem.table s a - Qs s a) ≤ {bound} :=
  Problem.sound_supNorm checked (by decide +kernel)

end RESAC.Certificates.{name}
"""
