"""Finite MDPs: the REV operator in float64 and in exact rationals, certified solvers, a tabular learner.

>>> from pyresac.tabular import FiniteMDP, RevOperator, Soft
>>> mdp = FiniteMDP.from_arrays([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]], [[1.0, 0.0], [0.0, 2.0]], 0.9)
>>> backup = RevOperator(mdp, kappa=0.1, value=Soft(temperature=0.5))
>>> backup.modulus
0.9
"""

from pyresac.tabular import families
from pyresac.tabular.confidence import RobustMDP
from pyresac.tabular.expectations import (
    Chi2Ball,
    Contamination,
    CressieReadBall,
    CVaR,
    EntropicRisk,
    ExpectationFunctional,
    IntervalSet,
    KLBall,
    L1Ball,
    LikelihoodBall,
    LInfinityBall,
    Nominal,
    RenyiBall,
    TotalVariation,
    WassersteinBall,
    WorstOfKernels,
)
from pyresac.tabular.live import (
    EnsembleDeviation,
    EnsembleVariance,
    LiveOperator,
    NormPenalty,
    ScaledPenalty,
    empirical_modulus,
    ensemble_variance,
)
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.s_rectangular import RandomisedSolution, solve_s_rectangular
from pyresac.tabular.solvers import HorizonSolution, Solution, solve, solve_horizon
from pyresac.tabular.values import Max, Mellowmax, Min, PolicyEntropy, PolicyMean, Soft, ValueFunctional

__all__ = [
    "CVaR",
    "Chi2Ball",
    "Contamination",
    "CressieReadBall",
    "EnsembleDeviation",
    "EnsembleVariance",
    "EntropicRisk",
    "ExpectationFunctional",
    "FiniteMDP",
    "HorizonSolution",
    "IntervalSet",
    "KLBall",
    "L1Ball",
    "LInfinityBall",
    "LikelihoodBall",
    "LiveOperator",
    "Max",
    "Mellowmax",
    "Min",
    "Nominal",
    "NormPenalty",
    "PolicyEntropy",
    "PolicyMean",
    "RandomisedSolution",
    "RenyiBall",
    "RevOperator",
    "RobustMDP",
    "ScaledPenalty",
    "Soft",
    "Solution",
    "TotalVariation",
    "ValueFunctional",
    "WassersteinBall",
    "WorstOfKernels",
    "empirical_modulus",
    "ensemble_variance",
    "families",
    "solve",
    "solve_horizon",
    "solve_s_rectangular",
]
