"""The s-rectangular backups over ℚ: one budget a state, in the l1 or the L∞ norm (see `pyresac.tabular.s_rectangular`).

The robust value of an action, as a function f of its budget, is convex and linear between finitely many candidates, at
which the inner problems of `exact.sets` give it. So is, from level to level, the budget that brings all actions down
to a level; the value of the state is the level at which it is used up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias

from pyresac.tabular.exact.mdp import ExactMDP, Number, rational
from pyresac.tabular.exact.sets import Row, l1, l_infinity

Norm: TypeAlias = Literal["l1", "linf"]
Curve: TypeAlias = list[tuple[Fraction, Fraction]]
"""(budget, value) from budget 0 on; the value falls, and stays at the last one for larger budgets."""


def backup(mdp: ExactMDP, v: Row, radius: Number, norm: Norm) -> list[Fraction]:
    """W v(s) = max over π of min over the rows that the budget `radius` of s reaches, of Σ_a π(a)·(R + γ·q_a·v)."""
    return [
        _level([_curve(mdp.transition[s][a], v, mdp.reward[s][a], mdp.discount, norm) for a in mdp.actions(s)], radius)
        for s in range(mdp.n_states)
    ]


def _curve(p: Row, v: Row, reward: Fraction, discount: Fraction, norm: Norm) -> Curve:
    curve: Curve = []
    for budget in sorted({Fraction(0), *(_turns_linf(p, v) if norm == "linf" else _turns_l1(p))}):
        q = l_infinity(budget)(p, v) if norm == "linf" else l1(budget)(p, v)
        value = reward + discount * sum((a * b for a, b in zip(q, v, strict=True)), Fraction(0))
        if not curve or value < curve[-1][1]:
            curve.append((budget, value))
    return curve


def _turns_l1(p: Row) -> set[Fraction]:
    """Twice the mass of any set of successors: among them are those that are emptied first."""
    sums = {Fraction(0)}
    for mass in p:
        sums |= {x + mass for x in sums}
    return {2 * x for x in sums}


def _turns_linf(p: Row, v: Row) -> set[Fraction]:
    """Budgets ξ in [0, 1] at which a probability is ξ, or a successor that balances givers and takers gives its all."""
    order = sorted((i for i in range(len(p)) if p[i] > 0), key=lambda i: v[i])
    found = {Fraction(1), *(p[i] for i in order)}
    for pivot, i in enumerate(order):
        for cut in {Fraction(0), *(p[j] for j in order)}:
            above = [p[j] for j in order[pivot + 1 :]]
            spent = sum((x for x in above if x <= cut), Fraction(0))
            more = pivot - sum(x > cut for x in above)
            found |= {spent / (more - 1)} if more > 1 else set()
            found |= {(spent + p[i]) / more} if more > 0 else set()
    return {x for x in found if x <= 1}


def _level(curves: Sequence[Curve], radius: Number) -> Fraction:
    """The least u with Σ_a min{ξ : f_a(ξ) ≤ u} ≤ radius."""
    budget = rational(radius)
    floor = max(curve[-1][1] for curve in curves)
    marks = sorted({value for curve in curves for _, value in curve if value >= floor}, reverse=True)
    top = max(curve[0][1] for curve in curves)
    marks = [u for u in marks if u <= top]
    for high, low in pairwise(marks):
        spent, more = (sum((_needed(curve, u) for curve in curves), Fraction(0)) for u in (high, low))
        if more > budget:
            return high - (high - low) * (budget - spent) / (more - spent)
    return marks[-1]


def _needed(curve: Curve, u: Fraction) -> Fraction:
    """min{ξ : f(ξ) ≤ u}."""
    if curve[0][1] <= u:
        return Fraction(0)
    return next(
        after - (after - before) * (u - low) / (high - low)
        for (before, high), (after, low) in pairwise(curve)
        if low <= u
    )
