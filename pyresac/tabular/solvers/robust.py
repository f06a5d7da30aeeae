"""Robust modified policy iteration: between full backups, sweeps with the policy fixed, and with the kernel fixed, too.

A full backup solves an inner problem a pair. With the policy fixed there is one a state; with the adversary's answer
fixed as well, a sweep is a nominal one (Kaufman and Schaefer 2013; Ho, Petrik and Wiesemann 2021). What these sweeps
find is judged by the next full backup alone, and undone where its residual did not shrink: alternating best answers of
the two players may cycle, so nothing here relies on them.
"""

from __future__ import annotations

import numpy as np

from pyresac.tabular import kernels
from pyresac.tabular.checks import Floats, largest_of
from pyresac.tabular.expectations.base import WorstRows
from pyresac.tabular.expectations.rows import RowSet
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import Model, no_in_place_sweep, reading
from pyresac.tabular.solvers.systems import AffineSystem
from pyresac.tabular.solvers.value_iteration import centre, take_image

ANSWERS = 6
"""How often the adversary may answer anew to one policy."""
FROZEN_SWEEPS = 12
"""Sweeps against one answer: each costs a tenth of an answer."""
RELAXATIONS = 60
"""Gauss–Seidel sweeps against one answer, where the chain mixes slowly."""
GAIN = 0.1
"""An evaluation of a passing policy stops at this share of the residual that it started from."""
SETTLED_GAIN = 0.02
"""The share of an answer's residual at which sweeps against it stop once the policy has settled, as it hardly changes.
"""
SETTLED = 1e-4
"""Share of states whose action changed, below which a policy is evaluated to the end."""


class RobustModel(Model):
    """V = Max or Min under a set that is solved row by row."""

    fused = False
    tables = 3
    work = 10

    def __init__(self, operator: RevOperator) -> None:
        super().__init__(operator)
        mdp = operator.mdp
        assert isinstance(operator.expectation, RowSet)
        self._set = operator.expectation
        self._sign, self._offset, self._allowed = reading(operator)
        self._warm = np.full(mdp.reward.size, np.nan)
        self._expected = np.empty(mdp.reward.size)
        self._choice = np.full(mdp.n_states, -1, dtype=np.int32)
        self._rows: WorstRows | None = None

    def sweep(self, v: Floats) -> Residual:
        self._set.expect(self.operator.mdp, v, warm=self._warm, workers=self.workers, out=self._expected)
        np.multiply(self._expected.reshape(self.q.shape), self.discount, out=self.q)
        self.q += self.operator.shifted_reward
        found = kernels.reduce_sweep(self._offset, self._allowed, self._sign, v, self.q, self.image, self._choice)
        low, high, size, changed = found
        return Residual(low, high, largest_of(v), size, changed)

    def in_place_sweep(self, v: Floats, *, backward: bool) -> tuple[float, int]:
        raise no_in_place_sweep(self.operator)

    def policy_sweep(self, v: Floats, out: Floats) -> AffineSystem:
        """out = W_π v for the policy π that the last full sweep chose; the affine system that touches W_π at v."""
        mdp = self.operator.mdp
        if self._rows is None:
            room = self._set.room(mdp).reshape(self.q.shape).max(axis=1)
            self._rows = WorstRows.for_pairs(room)
        rows, states = self._rows, np.arange(mdp.n_states)
        pairs = states * mdp.n_actions + self._choice
        self._set.expect(mdp, v, pairs=pairs, rows=rows, warm=self._warm, workers=self.workers, out=out)
        out *= self.discount
        out += self.operator.shifted_reward.ravel()[pairs]
        if self._offset.size:
            out -= self._offset.ravel()[pairs]
        np.multiply(rows.weights, self.discount, out=rows.weights)
        slots, columns = rows.slots.view(np.uint64), rows.columns.view(np.uint32)
        system = AffineSystem(slots, columns, rows.weights, np.zeros(mdp.n_states), self.workers)
        touched = np.empty(mdp.n_states)
        system.apply(v, touched)
        np.subtract(out, touched, out=system.rhs)
        return system

    def system(self, v: Floats, *, solve_loops: bool) -> AffineSystem:
        system = self.policy_sweep(v, np.empty(len(v)))
        return system.without_loops() if solve_loops else system


def answers(model: RobustModel, v: Floats, residual: Residual, aim: float, *, fast: bool) -> Floats:
    """The value of the policy that the last full sweep chose, as far as it is worth while, from that sweep's image.

    aim: the residual that the solve aims at. fast: whether plain sweeps, with a shift, shrink the span of the residual
    fast; elsewhere Gauss–Seidel sweeps shrink its norm.
    """
    settled = residual.changed <= SETTLED * len(v)
    start = residual.half_span if fast else residual.size
    stop = aim if settled else max(aim, GAIN * start)
    x, y = take_image(model, v, centre(model, residual)), model.image
    for _ in range(ANSWERS):
        system = model.policy_sweep(x, y)
        gap = y - x
        low, high = float(gap.min()), float(gap.max())
        x, y = y, x
        left = (high - low) / 2 if fast else max(high, -low)
        if fast:
            x += model.rate * (low + high) / 2
        if left <= stop:
            break
        target = max(stop, (SETTLED_GAIN if settled else GAIN) * left)
        if not fast:
            system.without_loops().relax(x, target, RELAXATIONS, backward=True)
            continue
        for _ in range(FROZEN_SWEEPS):
            low, high = system.apply(x, y)
            x, y = y, x
            x += model.rate * (low + high) / 2
            if (high - low) / 2 <= target:
                break
        if not settled:
            break
    model.image = y
    return x
