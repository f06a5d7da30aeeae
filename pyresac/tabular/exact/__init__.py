"""The exact twin: the operator of `pyresac.tabular` on `fractions.Fraction`, without any tolerance.

What the property tests state as equalities they state here, and the vectors that Lean's kernel checks come from here.
"""

from pyresac.tabular.exact import sets
from pyresac.tabular.exact.live import ExactLive
from pyresac.tabular.exact.mdp import ExactMDP, Table, shift, sup_distance, table
from pyresac.tabular.exact.operator import ExactRev

__all__ = ["ExactLive", "ExactMDP", "ExactRev", "Table", "sets", "shift", "sup_distance", "table"]
