"""Solvers of the frozen REV operator; every answer carries a guaranteed error bound (see `certificate`)."""

from pyresac.tabular.solvers.api import METHODS, solve
from pyresac.tabular.solvers.horizon import HorizonSolution, solve_horizon
from pyresac.tabular.solvers.solution import Solution

__all__ = ["METHODS", "HorizonSolution", "Solution", "solve", "solve_horizon"]
