"""s-rectangular l1 sets: the adversary has one budget a state, so randomised policies may be best.

W v(s) = max over π of min over {q : Σ_a ‖q_a − P(·|s, a)‖₁ ≤ radius(s)} of Σ_a π(a)·(R(s, a) + γ·q_a·v)

By the minimax theorem the adversary may move first: it spends the budget so that the best action is worth least. Let
f_a(ξ) be the l1-robust value of action a with the budget ξ: convex, piecewise linear and falling. The value is the
least level u at which Σ_a min{ξ : f_a(ξ) ≤ u} ≤ radius, found by lowering u from breakpoint to breakpoint; the best
policy weighs each action on the level by 1/(the slope of f_a there) (Ho, Petrik and Wiesemann 2018; Wiesemann, Kuhn and
Rustem 2013). W is monotone and W(v + c) = W v + γc, as an infimum of maxima of expectations (C03, Lean
`RESAC.IsInfimum.monetary`), hence the bounds of `solvers.certificate` hold for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pyresac.errors import InputError
from pyresac.jit import compiled
from pyresac.tabular.checks import Floats, check_number, check_whole, finite_array
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.solvers.certificate import round_up, underflow_unit
from pyresac.tabular.solvers.progress import overflow
from pyresac.tabular.values import UNIT


@compiled
def levels(
    indptr: Any, indices: Any, data: Any, reward: Any, allowed: Any, radius: Any, discount: float, v: Any,
    lowest: float, image: Any, policy: Any,
) -> None:  # fmt: skip
    """image = W v, policy (S, A) = the randomised actions that attain it."""
    n_states, n_actions = reward.shape
    longest = 0
    for pair in range(len(indptr) - 1):
        longest = max(longest, indptr[pair + 1] - indptr[pair])
    values = np.empty((n_actions, longest + 1))
    drops = np.empty((n_actions, longest + 1))
    counts, at, slope = np.empty(n_actions, np.int64), np.empty(n_actions, np.int64), np.empty(n_actions)
    for s in range(n_states):
        top = -np.inf
        for a in range(n_actions):
            counts[a] = -1
            policy[s, a] = 0.0
            if allowed.size and not allowed[s, a]:
                continue
            pair = s * n_actions + a
            begin, end = indptr[pair], indptr[pair + 1]
            n = end - begin
            x = np.empty(n)
            value = 0.0
            for k in range(n):
                x[k] = v[indices[begin + k]]
                value += data[begin + k] * x[k]
            # values[a]: f_a at its breakpoints; drops[a]: how far f_a falls for a unit of budget before each
            values[a, 0] = reward[s, a] + discount * value
            m = 0
            for k in np.argsort(-x):
                gain = 0.5 * discount * (x[k] - lowest)
                if gain <= 0.0:
                    break
                if data[begin + k] > 0.0:
                    m += 1
                    drops[a, m] = gain
                    values[a, m] = values[a, m - 1] - 2.0 * data[begin + k] * gain
            counts[a], at[a], slope[a] = m, 0, 0.0
            top = max(top, values[a, 0])
        level, left = top, radius[s]
        while True:
            below, rate, stuck = -np.inf, 0.0, -1
            for a in range(n_actions):
                if counts[a] < 0:
                    continue
                while at[a] < counts[a] and values[a, at[a] + 1] >= level:
                    at[a] += 1
                if values[a, at[a]] < level and at[a] == 0:
                    below = max(below, values[a, 0])
                elif at[a] == counts[a]:
                    stuck = a
                else:
                    slope[a] = drops[a, at[a] + 1]
                    rate += 1.0 / slope[a]
                    below = max(below, values[a, at[a] + 1])
            if stuck >= 0 or left <= 0.0 or (level - below) * rate >= left:
                break
            left -= (level - below) * rate
            level = below
        if stuck >= 0:
            policy[s, stuck] = 1.0
        else:
            for a in range(n_actions):
                if counts[a] >= 0 and at[a] < counts[a] and (at[a] > 0 or values[a, 0] >= level):
                    policy[s, a] = 1.0 / (slope[a] * rate)
            level -= max(left, 0.0) / rate
        image[s] = level


@dataclass(frozen=True)
class RandomisedSolution:
    """v (S,), up to error_bound in the sup-norm, rounding included; policy (S, A), a distribution for each state.

    iterations, converged, message: as in `Solution`.
    """

    v: Floats
    policy: Floats
    error_bound: float
    iterations: int
    converged: bool
    message: str


def solve_s_rectangular(
    mdp: FiniteMDP, radius: ArrayLike, *, tolerance: float = 1e-8, max_iterations: int = 100_000
) -> RandomisedSolution:
    """The fixed point of the s-rectangular l1 backup: radius ≥ 0 a state, a number or (S,), mass over all states.

    By value iteration with MacQueen's bounds. Stops at the tolerance, or where rounding ends all progress, and says so.
    Raises InputError for options out of range.
    """
    if not isinstance(mdp, FiniteMDP) or mdp.continuation is not None:
        raise InputError("mdp must be a FiniteMDP with full kernels")
    goal = check_number("tolerance", tolerance, "a finite number of at least 0", low=0.0)
    limit = check_whole("max_iterations", max_iterations, low=1)
    budget = finite_array("radius", radius)
    if budget.ndim != 0 and budget.shape != (mdp.n_states,):
        raise InputError(f"radius has shape {budget.shape}; expected a number or {(mdp.n_states,)}")
    check_number("radius", float(budget.min()), "a finite number of at least 0", low=0.0)
    budgets = np.ascontiguousarray(np.broadcast_to(budget, (mdp.n_states,)))
    allowed = np.empty((0, 0), dtype=np.bool_) if mdp.available is None else mdp.available
    v, image, policy = np.zeros(mdp.n_states), np.empty(mdp.n_states), np.empty(mdp.reward.shape)
    rate, best, idle = Fraction(mdp.discount) / (1 - Fraction(mdp.discount)), math.inf, 0
    patience = math.ceil(math.log(2.0 / (1.0 - mdp.discount)) / -math.log(max(mdp.discount, 0.5))) + 8
    iteration = 0
    while iteration < limit:
        iteration += 1
        levels(*mdp.csr(), mdp.reward, allowed, budgets, mdp.discount, v, float(v.min()), image, policy)
        gap = image - v
        low, high = float(gap.min()), float(gap.max())
        size = float(np.abs(v).max() + np.abs(image).max() + np.abs(mdp.reward).max())
        if not math.isfinite(size):
            raise overflow()
        half = rate * Fraction(math.nextafter(high, math.inf) - math.nextafter(low, -math.inf)) / 2
        # Of W v, of the differences, and of the shift by the middle of the interval.
        rounding = Fraction(level_rounding(mdp, size)) * (1 + rate) + rate * Fraction(4 * UNIT * (abs(low) + abs(high)))
        shift = float(rate * (Fraction(low) + Fraction(high)) / 2)
        bound = round_up(half + rounding + Fraction(4 * UNIT) * (Fraction(size) + abs(Fraction(shift))))
        idle = 0 if bound < 0.99 * best else idle + 1
        best = min(best, bound)
        v = image + shift
        if bound <= goal or idle >= patience:
            break
    met = bound <= goal
    message = "the tolerance is met" if met else "rounding, or max_iterations, has stopped all progress"
    return RandomisedSolution(v, policy, bound, iteration, met, f"{message}; the error is at most {bound:.3g}")


def level_rounding(mdp: FiniteMDP, size: float) -> float:
    """A bound on |fl(W v) − W v| for numbers up to `size`: as for `L1Ball` on each f_a, and as much for the level.

    f_a is known to (10n + 24)u·size at every breakpoint. Lowering the level spends the budget in at most A·n steps,
    each off by 2u of what is left, and the level falls by less than `size` for all of it.
    """
    n, actions = mdp.longest_row, mdp.n_actions
    return 1.01 * size * ((10 * n + 4 * n * actions + 64) * UNIT + 4 * mdp.row_error) + 64 * n * underflow_unit()
