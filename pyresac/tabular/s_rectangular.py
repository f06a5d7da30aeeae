"""s-rectangular sets: the adversary has one budget a state, so randomised policies may be best.

W v(s) = max over π of min over {q : Σ_a ‖q_a − P(·|s, a)‖ ≤ radius(s)} of Σ_a π(a)·(R(s, a) + γ·q_a·v)

in the l1 norm, with mass over all states, or in the L∞ norm, on the successors of each nominal row. By the minimax
theorem the adversary may move first: it spends the budget so that the best action is worth least. Let f_a(ξ) be the
robust value of action a with the budget ξ: convex, piecewise linear and falling. The value is the least level u at
which Σ_a min{ξ : f_a(ξ) ≤ u} ≤ radius, found by lowering u from breakpoint to breakpoint; the best policy weighs each
action on the level by 1/(the slope of f_a there) (Wiesemann, Kuhn and Rustem 2013; Ho, Petrik and Wiesemann 2018 for
l1; Behzadian, Petrik and Ho 2021 for L∞). W is monotone and W(v + c) = W v + γc, as an infimum of maxima of
expectations (C03, Lean `RESAC.IsInfimum.monetary`), hence the bounds of `solvers.certificate` hold for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pyresac.errors import InputError
from pyresac.jit import compiled
from pyresac.tabular.checks import Floats, check_number, check_whole, finite_array
from pyresac.tabular.expectations import L1Ball, LInfinityBall
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import solve
from pyresac.tabular.solvers.certificate import round_up, to_float, underflow_unit
from pyresac.tabular.solvers.progress import overflow
from pyresac.tabular.values import UNIT

NORMS: dict[str, tuple[Any, float]] = {"l1": (L1Ball, 2.0), "linf": (LInfinityBall, 1.0)}
"""The ball of each norm, and its radius from which on it holds every row."""


@compiled
def l1_falls(
    p: Floats, x: Floats, order: Any, lowest: float, discount: float, values: Floats, drops: Floats
) -> int:  # fmt: skip
    """values[1:m + 1] = f at its breakpoints after values[0] = f(0), drops[1:m + 1] = how far it falls for a unit of
    budget before each; returns m. Half the budget moves from the highest successors to the lowest state."""
    m = 0
    for i in range(len(x) - 1, -1, -1):
        k = order[i]
        gain = 0.5 * discount * (x[k] - lowest)
        if gain <= 0.0:
            break
        if p[k] > 0.0:
            m += 1
            drops[m] = gain
            values[m] = values[m - 1] - 2.0 * p[k] * gain
    return m


@compiled
def linf_falls(
    p: Floats, x: Floats, order: Any, lowest: float, discount: float, values: Floats, drops: Floats
) -> int:  # fmt: skip
    """As `l1_falls`: each successor above a pivot gives min(p, ξ), each below it takes ξ, the pivot takes the balance.

    A slope changes where a giver has no more to give, and where the pivot has given all it may: then the one below it
    takes over. The balance (givers − takers)·ξ + spent, less what the pivot may lose, only falls meanwhile.
    """
    n = 0
    for k in order:
        if p[k] > 0.0:
            order[n] = k
            n += 1
    pivot, xi, m = (n - 1) // 2, 0.0, 0
    while True:
        here = x[order[pivot]]
        takers, givers, spent, slope, full = pivot, 0, 0.0, 0.0, np.inf
        for i in range(n):
            k = order[i]
            if i < pivot:
                slope += here - x[k]
            elif i > pivot and p[k] > xi:
                givers += 1
                full = min(full, p[k])
                slope += x[k] - here
            elif i > pivot:
                spent += p[k]
        if slope <= 0.0:
            return m
        own, turn = p[order[pivot]], np.inf
        if takers - givers > 1:
            turn = spent / (takers - givers - 1)
        if turn > own:
            turn = (spent + own) / (takers - givers) if takers > givers else np.inf
        after = max(min(full, turn), xi)
        m += 1
        drops[m] = discount * slope
        values[m] = values[m - 1] - drops[m] * (after - xi)
        xi = after
        if turn <= full:
            pivot -= 1


@compiled
def levels(
    indptr: Any, indices: Any, data: Any, reward: Any, allowed: Any, radius: Any, discount: float, v: Any,
    lowest: float, linf: bool, image: Any, policy: Any,
) -> None:  # fmt: skip
    """image = W v, policy (S, A) = the randomised actions that attain it; linf: in the L∞ norm, else in l1."""
    n_states, n_actions = reward.shape
    longest = 0
    for pair in range(len(indptr) - 1):
        longest = max(longest, indptr[pair + 1] - indptr[pair])
    values = np.empty((n_actions, 2 * longest + 1))
    drops = np.empty((n_actions, 2 * longest + 1))
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
            values[a, 0] = reward[s, a] + discount * value
            p, order = data[begin:end], np.argsort(x)
            if linf:
                counts[a] = linf_falls(p, x, order, lowest, discount, values[a], drops[a])
            else:
                counts[a] = l1_falls(p, x, order, lowest, discount, values[a], drops[a])
            at[a], slope[a] = 0, 0.0
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
    mdp: FiniteMDP,
    radius: ArrayLike,
    *,
    norm: Literal["l1", "linf"] = "l1",
    optimistic: bool = False,
    tolerance: float = 1e-8,
    max_iterations: int = 100_000,
) -> RandomisedSolution:
    """The fixed point of the s-rectangular backup: radius ≥ 0 a state, a number or (S,).

    norm: "l1", with mass over all states, or "linf", on the nominal successors of each pair. optimistic: the best case
    instead; there one action gets all of the budget, so that it is the best case of an (s, a)-rectangular ball.

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
    if norm not in NORMS:
        raise InputError(f"norm is {norm!r}; it must be 'l1' or 'linf'")
    if not isinstance(optimistic, bool):
        raise InputError(f"optimistic is {optimistic!r}; it must be True or False")
    if optimistic:
        return _best_case(mdp, budgets, norm, goal, limit)
    allowed = np.empty((0, 0), dtype=np.bool_) if mdp.available is None else mdp.available
    v, image, policy = np.zeros(mdp.n_states), np.empty(mdp.n_states), np.empty(mdp.reward.shape)
    rate, best, idle = Fraction(mdp.discount) / (1 - Fraction(mdp.discount)), math.inf, 0
    patience = math.ceil(math.log(2.0 / (1.0 - mdp.discount)) / -math.log(max(mdp.discount, 0.5))) + 8
    iteration = 0
    while iteration < limit:
        iteration += 1
        levels(*mdp.csr(), mdp.reward, allowed, budgets, mdp.discount, v, float(v.min()), norm == "linf", image, policy)
        gap = image - v
        low, high = float(gap.min()), float(gap.max())
        size = float(np.abs(v).max() + np.abs(image).max() + np.abs(mdp.reward).max())
        if not math.isfinite(size):
            raise overflow()
        half = rate * (Fraction(math.nextafter(high, math.inf)) - Fraction(math.nextafter(low, -math.inf))) / 2
        # Of W v, of the differences, and of the shift by the middle of the interval.
        rounding = Fraction(level_rounding(mdp, size)) * (1 + rate)
        rounding += rate * Fraction(4 * UNIT) * (abs(Fraction(low)) + abs(Fraction(high)))
        shift = to_float(rate * (Fraction(low) + Fraction(high)) / 2)
        if not math.isfinite(shift):
            raise overflow()
        bound = round_up(half + rounding + Fraction(4 * UNIT) * (Fraction(size) + abs(Fraction(shift))))
        best, idle = (bound, 0) if bound < 0.99 * best else (best, idle + 1)
        v = image + shift
        if bound <= goal or idle >= patience:
            break
    if not math.isfinite(bound):
        raise overflow()
    met = bound <= goal
    message = "the tolerance is met" if met else "rounding, or max_iterations, has stopped all progress"
    return RandomisedSolution(v, policy, bound, iteration, met, f"{message}; the error is at most {bound:.3g}")


def _best_case(mdp: FiniteMDP, budgets: Floats, norm: str, goal: float, limit: int) -> RandomisedSolution:
    """max over π and over q of the state's set: the best of the balls with the whole budget at one action."""
    ball, most = NORMS[norm]
    sizes = np.broadcast_to(np.minimum(budgets, most)[:, None], mdp.reward.shape)
    operator = RevOperator(mdp, expectation=ball(sizes, optimistic=True))
    found = solve(operator, tolerance=goal, max_iterations=limit)
    policy = np.zeros(mdp.reward.shape)
    policy[np.arange(mdp.n_states), found.policy] = 1.0
    return RandomisedSolution(found.v, policy, found.error_bound, found.iterations, found.converged, found.message)


def level_rounding(mdp: FiniteMDP, size: float) -> float:
    """A bound on |fl(W v) − W v| for numbers up to `size`, in either norm.

    A row of n successors gives f_a at most b = 2n breakpoints. At ξ each slope is known to (n + 2)u relatively, and so
    is where the pivot changes; as Σ (slope before − slope after)·ξ over the breakpoints, like Σ slope·step, is how far
    f_a falls, at most 2·size, both cost (2n + 4)u·2·size, and b subtractions 2bu·size. Lowering the level spends the
    budget in at most A·b steps, each off by 2u of what is left, and the level falls by less than `size` for all of it.
    """
    n, actions = mdp.longest_row, mdp.n_actions
    return 1.01 * size * ((10 * n + 8 * n * actions + 64) * UNIT + 4 * mdp.row_error) + 128 * n * underflow_unit()
