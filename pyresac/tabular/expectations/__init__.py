"""Expectation functionals E: one number a pair from v (S,). Each is monetary in v, hence non-expansive (C03, C11).

A worst case over a set of kernels is a greatest lower bound of expectations, and those are monetary
(Lean: `RESAC.IsInfimum.monetary`); so is the entropic risk. Each inner problem is solved by its own method, in
`robust_kernels`. `rounding` bounds |fl(E v) − E v| with u = 2⁻⁵³, n the longest row, and M ≥ ‖v‖∞; where the stored
rows miss 1, E is the expectation under the rows divided by their exact sums, and the difference is in the bound.
"""

from pyresac.tabular.expectations.balls import EntropicRisk, KLBall, L1Ball
from pyresac.tabular.expectations.base import ExpectationFunctional, Nominal, WorstOfKernels
from pyresac.tabular.expectations.intervals import IntervalSet

__all__ = [
    "EntropicRisk",
    "ExpectationFunctional",
    "IntervalSet",
    "KLBall",
    "L1Ball",
    "Nominal",
    "WorstOfKernels",
]
