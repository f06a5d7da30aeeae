"""What a solver returns, and the one routine that reads a policy off a table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyresac.tabular import kernels
from pyresac.tabular.checks import Floats
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers.models import reading

TIE_SCALE = 2.0**-26
"""Ties are never widened beyond this fraction of max |Q|, about √(unit roundoff)."""


@dataclass(frozen=True)
class Solution:
    """The fixed point Q* of a frozen REV operator, up to a guaranteed error.

    q: float64 (S, A), −inf at unavailable pairs. v: (S,), `operator.value_of(q)`. policy: int64 (S,), see `policy_of`.
    error_bound: ‖q − Q*‖∞ over the available pairs is at most this, the rounding of every operation included (see
        `solvers.certificate`); hence ‖v − V(Q*)‖∞ is, too, up to the rounding of `value_of`.
    iterations: those of the method, each with one certified sweep over the whole table, whatever else it did.
    seconds: wall time of the solve. converged: error_bound ≤ tolerance. method: the method that ran.
    message: how it ended, in words; where it did not converge, why. operator: what was solved.
    """

    q: Floats
    v: Floats
    policy: NDArray[np.int64]
    error_bound: float
    iterations: int
    seconds: float
    converged: bool
    method: str
    message: str
    operator: RevOperator = field(repr=False)

    def worst_case(self) -> sparse.csr_array:
        """What the adversary does: the kernel at which E v is attained for this v, CSR (S·A, S).

        The nominal kernel for `Nominal`, the best one for an optimistic set, the Gibbs weights for the entropic risk.
        """
        return self.operator.expectation.worst_rows(self.operator.mdp, self.v)


def policy_of(operator: RevOperator, q: Floats, error_bound: float, q_size: float) -> tuple[NDArray[np.int64], Floats]:
    """The greedy policy (S,) of q, and the extremum (S,) that it attains: the one routine behind every solver.

    The policy takes the lowest action within 2·min(error_bound, 2⁻²⁶·max|q|) of the best (for Min, the least) of what
    V reads. Two solvers return tables that differ in the last bits, so the exact argmax would resolve a tie of Q* by
    the noise of each. While error_bound ≤ 2⁻²⁶·max|q|, every action that is optimal under Q* is within the margin,
    whichever solver ran; so all solvers return the same action wherever no other action is within four error bounds of
    optimal. The action returned is itself within that of optimal. q_size: max |q| over the available pairs.
    """
    sign, offset, allowed = reading(operator)
    margin = 2.0 * min(error_bound, TIE_SCALE * q_size)
    policy, best = np.empty(len(q), dtype=np.int64), np.empty(len(q))
    kernels.greedy_within(offset, allowed, sign, margin, q, policy, best)
    return policy, best
