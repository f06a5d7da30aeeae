"""Compiled sweeps over raw CSR and dense arrays: what the solvers spend their time in.

Row s·A + a of the CSR arrays (indptr, indices, data) belongs to the pair (s, a). indptr and indices are unsigned, which
spares a test for negative indices at each access, a third of the time. All kernels release the GIL, so that disjoint
ranges of states can be swept by several threads; no kernel reassociates sums, so that each result obeys the bounds in
`solvers.certificate`, however many threads there were.

Shared arguments: reward (S, A) is R − γ·frozen; offset (S, A) is what V subtracts from Q before it looks (λ_epi·Γ in
the next-pair form), of shape (0, 0) where nothing is subtracted; allowed bool (S, A), of shape (0, 0) where every
action is available; sign +1 for a maximum, −1 for a minimum; choice (S,) the greedy actions, −1 where there is none
yet: an action that was chosen before stays while it is as good as the best up to rounding, so that ties do not churn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.jit import compiled

Floats = NDArray[np.float64]
Actions = NDArray[np.int32]
Unsigned = NDArray[np.unsignedinteger[Any]]
Bools = NDArray[np.bool_]
Range = tuple[float, float, float, int]

TIE = 2.0**-50
"""What two values may differ by, relatively, and still tie: a few roundings."""
Scan = tuple[float, int, float]
"""How far a greedy scan of one state has come: the best that V reads, its action (−1: none yet), what the action that
was chosen before is worth. Scans take numbers only: an array that is handed on costs its reference count each time."""


@compiled
def look(scan: Scan, seen: float, a: int, before: int) -> Scan:
    """The scan after action a, which V reads as `seen` (times −1 for a minimum)."""
    best, arg, kept = scan
    if arg < 0 or seen > best:
        best, arg = seen, a
    if a == before:
        kept = seen
    return best, arg, kept


@compiled
def settled(scan: Scan, before: int) -> int:
    """The action to take at the end of a scan: the one chosen before while it ties with the best."""
    best, arg, kept = scan
    return arg if arg != before and kept < best - TIE * abs(best) else before


@compiled
def alone(x: float, stay: float, discount: float) -> float:
    """The solution y of y = x + γ·stay·y: a pair's value with its own loop solved for."""
    return x / (1.0 - discount * stay) if stay > 0.0 else x


@compiled
def csr_sweep(
    indptr: Unsigned, indices: Unsigned, data: Floats, reward: Floats, offset: Floats, allowed: Bools, discount: float,
    sign: float, v: Floats, start: int, stop: int, q: Floats, image: Floats, choice: Actions,
) -> Range:  # fmt: skip
    """q = reward + γ·P v, image = the extremum of q − offset and choice its action, for the states start…stop − 1.

    Returns (min, max) of image − v, max |q|, and how many entries of `choice` changed.
    """
    n_actions = reward.shape[1]
    low, high, magnitude, changed = np.inf, -np.inf, 0.0, 0
    pair = np.uint64(start * n_actions)
    first = indptr[pair]
    for s in range(start, stop):
        scan, before = (-np.inf, -1, -np.inf), np.int64(choice[s])
        for a in range(n_actions):
            pair += np.uint64(1)
            last = indptr[pair]
            if allowed.size and not allowed[s, a]:
                q[s, a] = -np.inf
                first = last
                continue
            total = 0.0
            for k in range(first, last):
                total += data[k] * v[indices[k]]
            first = last
            x = reward[s, a] + discount * total
            q[s, a] = x
            magnitude = max(magnitude, abs(x))
            scan = look(scan, sign * (x - offset[s, a]) if offset.size else sign * x, a, before)
        image[s] = sign * scan[0]
        choice[s] = settled(scan, before)
        changed += choice[s] != before
        gap = image[s] - v[s]
        low, high = min(low, gap), max(high, gap)
    return low, high, magnitude, changed


@compiled
def reduce_sweep(
    offset: Floats, allowed: Bools, sign: float, v: Floats, q: Floats, image: Floats, choice: Actions
) -> Range:
    """As `csr_sweep`, for a q that is already there; unavailable pairs are overwritten with −inf."""
    n_states, n_actions = q.shape
    low, high, magnitude, changed = np.inf, -np.inf, 0.0, 0
    for s in range(n_states):
        scan, before = (-np.inf, -1, -np.inf), np.int64(choice[s])
        for a in range(n_actions):
            if allowed.size and not allowed[s, a]:
                q[s, a] = -np.inf
                continue
            x = q[s, a]
            magnitude = max(magnitude, abs(x))
            scan = look(scan, sign * (x - offset[s, a]) if offset.size else sign * x, a, before)
        image[s] = sign * scan[0]
        choice[s] = settled(scan, before)
        changed += choice[s] != before
        gap = image[s] - v[s]
        low, high = min(low, gap), max(high, gap)
    return low, high, magnitude, changed


@compiled
def greedy_within(
    offset: Floats, allowed: Bools, sign: float, margin: float, q: Floats, policy: NDArray[np.int64], best: Floats
) -> None:
    """policy = the lowest action within `margin` of the extremum of q − offset, best = that extremum."""
    n_states, n_actions = q.shape
    for s in range(n_states):
        scan = (-np.inf, -1, -np.inf)
        for a in range(n_actions):
            if not allowed.size or allowed[s, a]:
                scan = look(scan, sign * (q[s, a] - offset[s, a]) if offset.size else sign * q[s, a], a, -1)
        best[s] = sign * scan[0]
        for a in range(n_actions):
            if allowed.size and not allowed[s, a]:
                continue
            seen = sign * (q[s, a] - offset[s, a]) if offset.size else sign * q[s, a]
            if seen >= scan[0] - margin:
                policy[s] = a
                break


@compiled
def csr_in_place(
    indptr: Unsigned, indices: Unsigned, data: Floats, reward: Floats, offset: Floats, allowed: Bools, discount: float,
    sign: float, v: Floats, backward: bool, choice: Actions,
) -> tuple[float, int]:  # fmt: skip
    """One Gauss–Seidel sweep of value iteration over v, each pair's self-loop solved for.

    Solving x = b + γ·p_ss·x for x keeps the fixed point, since q(s, a) at the optimum depends on v(s) = v*(s).
    Returns the largest change of v and how many entries of `choice` changed.
    """
    n_states, n_actions = reward.shape
    largest, changed = 0.0, 0
    for i in range(n_states):
        s = n_states - 1 - i if backward else i
        scan, before = (-np.inf, -1, -np.inf), np.int64(choice[s])
        pair = np.uint64(s * n_actions)
        for a in range(n_actions):
            first = indptr[pair]
            pair += np.uint64(1)
            if allowed.size and not allowed[s, a]:
                continue
            total, stay = 0.0, 0.0
            for k in range(first, indptr[pair]):
                if indices[k] == s:
                    stay += data[k]
                else:
                    total += data[k] * v[indices[k]]
            x = reward[s, a] + discount * total
            if offset.size:
                x -= offset[s, a]
            scan = look(scan, sign * alone(x, stay, discount), a, before)
        choice[s] = settled(scan, before)
        changed += choice[s] != before
        largest = max(largest, abs(sign * scan[0] - v[s]))
        v[s] = sign * scan[0]
    return largest, changed


@compiled
def dense_in_place(
    transition: Floats, reward: Floats, offset: Floats, allowed: Bools, discount: float, sign: float, v: Floats,
    backward: bool, choice: Actions,
) -> tuple[float, int]:  # fmt: skip
    """As `csr_in_place` for a dense kernel (S, A, S)."""
    n_states, n_actions = reward.shape
    largest, changed = 0.0, 0
    for i in range(n_states):
        s = n_states - 1 - i if backward else i
        scan, before = (-np.inf, -1, -np.inf), np.int64(choice[s])
        for a in range(n_actions):
            if allowed.size and not allowed[s, a]:
                continue
            total = 0.0
            for t in range(n_states):
                total += transition[s, a, t] * v[t]
            stay = transition[s, a, s]
            x = reward[s, a] + discount * (total - stay * v[s])
            if offset.size:
                x -= offset[s, a]
            scan = look(scan, sign * alone(x, stay, discount), a, before)
        choice[s] = settled(scan, before)
        changed += choice[s] != before
        largest = max(largest, abs(sign * scan[0] - v[s]))
        v[s] = sign * scan[0]
    return largest, changed


@compiled
def policy_rows(
    indptr: Unsigned, indices: Unsigned, data: Floats, reward: Floats, offset: Floats, discount: float,
    choice: Actions, written: Actions, solve_loops: bool,
    slots: Unsigned, out_indices: Unsigned, out_data: Floats, out_rhs: Floats,
) -> None:  # fmt: skip
    """The affine system v = rhs + D v of the policy `choice`, D = γ·P_π, row s in the slots slots[s]…slots[s + 1] − 1.

    Only rows whose action is not the one `written` are touched; unused slots hold zeros at s.
    solve_loops: divide each row by 1 − γ·p_ss and drop its diagonal, which leaves the solution as it is.
    """
    n_states, n_actions = reward.shape
    for s in range(n_states):
        a = choice[s]
        if written[s] == a:
            continue
        written[s] = a
        pair = np.uint64(s * n_actions + a)
        first, last = indptr[pair], indptr[pair + np.uint64(1)]
        stay = 0.0
        if solve_loops:
            for k in range(first, last):
                if indices[k] == s:
                    stay += data[k]
        scale = 1.0 / (1.0 - discount * stay)
        out = slots[s]
        for k in range(first, last):
            if not (solve_loops and indices[k] == s):
                out_indices[out] = indices[k]
                out_data[out] = data[k] * (discount * scale)
                out += np.uint64(1)
        for k in range(out, slots[s + 1]):
            out_indices[k] = s
            out_data[k] = 0.0
        out_rhs[s] = (reward[s, a] - offset[s, a] if offset.size else reward[s, a]) * scale
