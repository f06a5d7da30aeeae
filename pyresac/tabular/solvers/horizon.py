"""Finite horizon: backward induction, with a bound on each stage's table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, check_whole, finite_array
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers.api import model_of
from pyresac.tabular.solvers.certificate import Rounding
from pyresac.tabular.solvers.progress import overflow
from pyresac.tabular.solvers.solution import policy_of


@dataclass(frozen=True)
class HorizonSolution:
    """The values of H stages, stage 0 first, each up to a guaranteed error.

    q: (H, S, A), −inf at unavailable pairs. v: (H + 1, S), v[H] the terminal values. policy: int64 (H, S), the greedy
    action of each stage. error_bound: (H,), ‖q[h] − Q_h*‖∞ over the available pairs is at most error_bound[h].
    """

    q: Floats
    v: Floats
    policy: NDArray[np.int64]
    error_bound: Floats


def solve_horizon(operator: RevOperator, horizon: int, *, terminal: ArrayLike | None = None) -> HorizonSolution:
    """Q_h = R + γ(E v_{h+1} − frozen), v_h = V(Q_h), for h = H − 1 … 0, from v_H = terminal (S,), 0 by default.

    Nothing needs to contract: the errors of the stages add up, e_h = rounding + γ·e_{h+1}, since E and V are
    non-expansive (`RESAC.Monetary`; C11). Raises InputError for a horizon below 1, other shapes, or values that
    overflow.
    """
    if not isinstance(operator, RevOperator):
        raise InputError(f"operator is a {type(operator).__name__}; solve_horizon takes a RevOperator")
    stages = check_whole("horizon", horizon, low=1)
    mdp = operator.mdp
    last = np.zeros(mdp.n_states) if terminal is None else finite_array("terminal", terminal, shape=(mdp.n_states,))
    q, v = np.empty((stages, *mdp.reward.shape)), np.empty((stages + 1, mdp.n_states))
    policy, bounds = np.empty((stages, mdp.n_states), dtype=np.int64), np.empty(stages)
    v[stages], error = last, 0.0
    with model_of(operator) as model, np.errstate(over="ignore", invalid="ignore"):
        rounding = Rounding(operator, fused=model.fused)
        for h in reversed(range(stages)):
            residual = model.sweep(v[h + 1])
            # The factor covers the rounding of this line; what remains of γ·0 is exact.
            error = 1.0000001 * (rounding.backup(residual.v_size, residual.q_size) + mdp.discount * error)
            bounds[h], q[h], v[h] = error, model.q, model.image
            policy[h], _ = policy_of(operator, q[h], error, residual.q_size)
            error += rounding.value(residual.q_size)
            if not math.isfinite(error + residual.q_size):
                raise overflow()
    return HorizonSolution(q, v, policy, bounds)
