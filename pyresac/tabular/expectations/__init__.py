"""Expectation functionals E: one number a pair from v (S,). Each is monetary in v, hence non-expansive (C03, C11).

A worst case over a set of kernels is a greatest lower bound of expectations, and those are monetary
(Lean: `RESAC.IsInfimum.monetary`); so is the entropic risk. One file holds one kind of set: its options, the compiled
solution of its inner problem, and `rounding`, a bound on |fl(E v) − E v| with u = 2⁻⁵³, n the longest row, M ≥ ‖v‖∞;
where the stored rows miss 1, E is the expectation under the rows divided by their exact sums, and the difference is in
the bound.
"""

from pyresac.tabular.expectations.base import ExpectationFunctional, Nominal, WorstOfKernels
from pyresac.tabular.expectations.chi2 import Chi2Ball
from pyresac.tabular.expectations.gibbs import EntropicRisk, KLBall
from pyresac.tabular.expectations.intervals import CVaR, IntervalSet, LInfinityBall
from pyresac.tabular.expectations.l1 import Contamination, L1Ball, TotalVariation
from pyresac.tabular.expectations.likelihood import LikelihoodBall
from pyresac.tabular.expectations.power import CressieReadBall, RenyiBall
from pyresac.tabular.expectations.rows import RowSet
from pyresac.tabular.expectations.wasserstein import WassersteinBall

__all__ = [
    "CVaR",
    "Chi2Ball",
    "Contamination",
    "CressieReadBall",
    "EntropicRisk",
    "ExpectationFunctional",
    "IntervalSet",
    "KLBall",
    "L1Ball",
    "LInfinityBall",
    "LikelihoodBall",
    "Nominal",
    "RenyiBall",
    "RowSet",
    "TotalVariation",
    "WassersteinBall",
    "WorstOfKernels",
]
