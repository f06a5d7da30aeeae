"""The Wasserstein-1 ball on a given metric: mass is moved where it loses most value for its way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyresac.errors import InputError
from pyresac.jit import compiled
from pyresac.tabular.checks import Floats, finite_array, owned
from pyresac.tabular.expectations.rows import Ball, Parameter, Sweep
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT


@compiled
def hulls(cost: Floats, order: Any, sign: float, v: Floats, path: Any, length: Any) -> None:
    """path[x, :length[x]] = the states of the lower convex hull of the points (cost[x, y], sign·v(y)), cheapest first.

    order[x]: the states by their cost from x.
    """
    for x in range(len(v)):
        n = 0
        for y in order[x]:
            while n > 0 and sign * v[y] < sign * v[path[x, n - 1]]:
                last = path[x, n - 1]
                if cost[x, y] > cost[x, last]:
                    if n == 1:
                        break
                    before = path[x, n - 2]
                    gained = sign * (v[before] - v[last]) * (cost[x, y] - cost[x, last])
                    if sign * (v[last] - v[y]) * (cost[x, last] - cost[x, before]) < gained:
                        break
                n -= 1
            if n == 0 or sign * v[y] < sign * v[path[x, n - 1]]:
                path[x, n] = y
                n += 1
        length[x] = n


@compiled
def over_plans(
    indptr: Any, indices: Any, data: Any, radius: Any, cost: Any, path: Any, length: Any, sign: Any, v: Any, pairs: Any,
    slots: Any, start: Any, stop: Any, out: Any, columns: Any, weights: Any,
) -> None:  # fmt: skip
    """out[i] = the worst expectation of v at pair pairs[i] (or i): a fractional knapsack over the hulls' segments."""
    for i in range(start, stop):
        pair = pairs[i] if pairs.size else i
        begin, end = indptr[pair], indptr[pair + 1]
        n = end - begin
        at = np.zeros(n, dtype=np.int64)
        left, split, split_mass = radius[pair], -1, 0.0
        while left > 0.0:
            best, most = -1, 0.0
            for k in range(n):
                x = indices[begin + k]
                if data[begin + k] > 0.0 and at[k] + 1 < length[x]:
                    here, there = path[x, at[k]], path[x, at[k] + 1]
                    slope = sign * (v[here] - v[there]) / (cost[x, there] - cost[x, here])
                    if slope > most:
                        best, most = k, slope
            if best < 0:
                break
            x = indices[begin + best]
            price = (cost[x, path[x, at[best] + 1]] - cost[x, path[x, at[best]]]) * data[begin + best]
            if price > left:
                split, split_mass = best, data[begin + best] * (left / price)
                break
            left -= price
            at[best] += 1
        total = 0.0
        slot = slots[i] if slots.size else 0
        for k in range(n):
            x = indices[begin + k]
            mass, here = data[begin + k], path[x, at[k]]
            if k == split:
                there = path[x, at[k] + 1]
                total += split_mass * v[there]
                mass -= split_mass
                if slots.size:
                    columns[slot], weights[slot] = there, split_mass
                    slot += 1
            total += mass * v[here]
            if slots.size:
                columns[slot], weights[slot] = here, mass
                slot += 1
        out[i] = total
        if slots.size:
            for k in range(slot, slots[i + 1]):
                columns[k], weights[k] = 0, 0.0


@dataclass(frozen=True, eq=False)
class WassersteinBall(Ball):
    """min over {q : W₁(q, P(·|s, a)) ≤ radius}: radius ≥ 0, a number or (S, A), in the unit of the metric.

    metric: (S, S), the distance (or any cost of at least 0) from state to state, 0 from a state to itself. All states
    may receive mass. The transport problem of each pair is a fractional knapsack, solved exactly; its dual is
    sup_λ Σ P(x)·min_y (v(y) + λ·metric(x, y)) − λ·radius (Mohajerin Esfahani and Kuhn 2018; see C04 and C31).
    Monetary: `RESAC.IsInfimum.monetary` (C03). optimistic: the best case instead. Memory and time grow with S².
    """

    radius: Parameter
    metric: ArrayLike
    optimistic: bool = False
    lean: ClassVar[str] = "RESAC.IsInfimum.monetary"
    sweep: ClassVar[Sweep] = staticmethod(over_plans)
    support: ClassVar[str] = "all"  # type: ignore[misc]
    allowed: ClassVar[str] = "a finite number of at least 0"
    _order: NDArray[np.int32] = field(init=False, repr=False, default_factory=lambda: np.empty((0, 0), dtype=np.int32))

    def __post_init__(self) -> None:
        super().__post_init__()
        cost = finite_array("metric", self.metric, ndim=2)
        n = len(cost)
        if cost.shape != (n, n) or n == 0:
            raise InputError(f"metric has shape {cost.shape}; expected (S, S)")
        if cost.min() < 0 or np.diagonal(cost).any():
            x, y = np.unravel_index(
                int(cost.argmin() if cost.min() < 0 else np.diagonal(cost).argmax() * (n + 1)), (n, n)
            )
            raise InputError(
                f"metric is {cost[x, y]} from s={x} to s={y}; distances are at least 0, and 0 from a state to itself"
            )
        object.__setattr__(self, "metric", owned(cost, self.metric))
        object.__setattr__(self, "_order", np.argsort(cost, axis=1, kind="stable").astype(np.int32))

    def inputs(self, mdp: FiniteMDP, v: Floats, warm: Floats) -> tuple[Any, ...]:
        """The arrays of the sweep, with the hulls of v."""
        cost = np.asarray(self.metric)
        if len(cost) != mdp.n_states:
            raise InputError(f"metric has shape {cost.shape}; the MDP asks for {(mdp.n_states, mdp.n_states)}")
        bound, sign = self.of(mdp), -1.0 if self.optimistic else 1.0
        path, length = np.empty(cost.shape, dtype=np.int32), np.empty(len(cost), dtype=np.int64)
        hulls(cost, self._order, sign, v, path, length)
        return (bound.indptr, bound.indices, bound.first, bound.parameter, cost, path, length, sign, v)

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """M((4nS + 8n + 64)u + 4·row_error).

        The least slope λ that is paid for obeys λ·radius ≤ the gain ≤ 2M, since all that was paid before gains more for
        its cost; nS steps leave the budget off by nS·u·radius, hence the value by 2nS·u·M. Slopes known to 4u exchange
        segments of equal worth; a slope that is off in a hull costs as little. The last sum is n + 1 products.
        """
        steps = mdp.longest_row * mdp.n_states
        return 1.01 * magnitude * ((4 * steps + 8 * mdp.longest_row + 64) * UNIT + 4 * mdp.row_error)
