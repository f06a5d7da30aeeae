"""Between the exact world and float64: conversions, and strategies for the float operator's functionals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from property_tests.rational import Q
from property_tests.strategies import Penalties, kernels, policies, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev
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
    WorstOfKernels,
)
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.values import Max, Mellowmax, Min, PolicyEntropy, PolicyMean, Soft, ValueFunctional

Floats = NDArray[np.float64]

SETS: dict[str, Callable[[float], ExpectationFunctional]] = {
    "l1": L1Ball,
    "l1 on the successors": lambda radius: L1Ball(radius, support="nominal"),
    "total variation": TotalVariation,
    "contamination": Contamination,
    "contamination of the successors": lambda share: Contamination(share, support="nominal"),
    "kl": KLBall,
    "likelihood": LikelihoodBall,
    "likelihood on the successors": lambda radius: LikelihoodBall(radius, support="nominal"),
    "chi2": Chi2Ball,
    "cressie-read of order 3": lambda radius: CressieReadBall(radius, 3.0),
    "cressie-read of order 1.2": lambda radius: CressieReadBall(radius, 1.2),
    "renyi": RenyiBall,
    "l infinity": LInfinityBall,
    "cvar": CVaR,
    "entropic": EntropicRisk,
}
"""The sets with one parameter, by what the tests call them."""
PARAMETERS: dict[str, list[float]] = {
    "l1": [0.5, 0.0, 0.1, 1.0, 2.0],
    "l1 on the successors": [0.5, 0.1, 2.0],
    "total variation": [0.25, 0.1, 1.0],
    "contamination": [0.25, 0.0, 0.1, 1.0],
    "contamination of the successors": [0.25, 0.1, 1.0],
    "kl": [0.1, 0.0, 1e-6, 0.7, 5.0, 1e-200],
    "likelihood": [0.1, 0.0, 1e-6, 0.7, 5.0, 1e-200],
    "likelihood on the successors": [0.1, 1e-3, 2.0],
    "chi2": [0.5, 0.0, 1e-6, 0.1, 2.0, 30.0],
    "cressie-read of order 3": [0.1, 0.0, 1e-6, 0.7, 30.0],
    "cressie-read of order 1.2": [0.1, 1e-9, 0.7],
    "renyi": [0.1, 0.0, 1e-6, 0.7, 5.0, 1e-200],
    "l infinity": [0.25, 0.0, 0.1, 1.0],
    "cvar": [0.5, 1.0, 0.1, 1e-3],
    "entropic": [1.0, 1e-6, 0.1, 30.0, 1e-300],
}
"""What is drawn for each."""
EXPECTATIONS = ("nominal", "kernels", "interval", *SETS)
CROSSED = ("nominal", "kernels", "interval", "l1", "kl", "entropic")
"""One of each kind of set, for the tests that cross them with every value functional."""
VALUES = ("max", "min", "soft", "mellowmax", "policy", "entropy")


def array(q: Q) -> Floats:
    """A table as float64; exact for dyadic entries."""
    return np.array([[float(x) for x in row] for row in q])


def kernel_array(kernel: tuple[Q, ...]) -> Floats:
    """A kernel [s][a][s'] as float64."""
    return np.array([[[float(x) for x in row] for row in state] for state in kernel])


def exact(q: Floats) -> Q:
    """The table of the rationals that the floats are."""
    return tuple(tuple(Fraction(float(x)) for x in row) for row in q)


def sparse_copy(mdp: FiniteMDP) -> FiniteMDP:
    """The same MDP with its kernel in CSR."""
    rows = sparse.csr_array(mdp.dense().reshape(mdp.n_states * mdp.n_actions, mdp.n_states))
    return FiniteMDP.from_arrays(rows, mdp.reward, mdp.discount, available=mdp.available)


@st.composite
def value_functionals(draw: st.DrawFn, mdp: ExactMDP, name: str) -> ValueFunctional:
    """The value functional called `name`, its options drawn."""
    scale = st.sampled_from([1.0, 0.125, 8.0, 1e-3])
    if name in ("max", "min"):
        return Max() if name == "max" else Min()
    if name == "soft":
        return Soft(draw(scale))
    if name == "mellowmax":
        return Mellowmax(draw(scale))
    policy = array(draw(policies(mdp, dyadic=True)))
    return PolicyMean(policy) if name == "policy" else PolicyEntropy(policy, draw(scale))


@st.composite
def expectation_functionals(
    draw: st.DrawFn, mdp: ExactMDP, name: str, *, optimistic: bool = False
) -> ExpectationFunctional:
    """The expectation functional called `name`, its options drawn; `optimistic` where the set knows that."""
    if name == "kernels":
        others = draw(st.lists(kernels(mdp.n_states, mdp.n_actions, dyadic=True), min_size=1, max_size=2))
        return WorstOfKernels(tuple(kernel_array(k) for k in (mdp.transition, *others)))
    if name == "interval":
        radius = draw(st.sampled_from([0.25, 0.0, 0.1, 1.0]))
        nominal = kernel_array(mdp.transition)
        return IntervalSet(np.maximum(nominal - radius, 0.0), np.minimum(nominal + radius, 1.0), optimistic)
    if name == "nominal":
        return Nominal()
    functional = SETS[name](draw(st.sampled_from(PARAMETERS[name])))
    return replace(functional, optimistic=True) if optimistic else functional


def float_tables(mdp: ExactMDP) -> st.SearchStrategy[Floats]:
    """Q-functions as floats that are exact dyadic rationals."""
    return tables_like(mdp, dyadic=True).map(array)


def magnitude(*tables: Floats) -> float:
    """The largest |q| of the tables given."""
    return max(float(np.abs(q).max()) for q in tables)


def float_options(frozen: Penalties) -> dict[str, Any]:
    """The penalties as keyword arguments of `RevOperator`."""
    options = frozen.options()
    return {
        "epistemic": array(frozen.epistemic),
        "lambda_epi": float(frozen.lambda_epi),
        "kappa": float(frozen.kappa),
        "penalty_at": options["penalty_at"],
    }


def float_copy(operator: ExactRev, mdp: FiniteMDP) -> RevOperator:
    """The float operator with the options of an exact one, on `mdp`."""
    value: ValueFunctional
    if isinstance(operator.value, tuple):
        value = PolicyMean(array(operator.value))
    else:
        value = {"max": Max(), "min": Min()}[operator.value]
    kernels = operator.kernels
    return RevOperator(
        mdp,
        epistemic=array(operator.epistemic),
        lambda_epi=float(operator.lambda_epi),
        kappa=float(operator.kappa),
        value=value,
        expectation=Nominal() if kernels is None else WorstOfKernels([kernel_array(k) for k in kernels]),
        penalty_at=operator.penalty_at,
    )


def stored_operator(operator: ExactRev, mdp: FiniteMDP) -> ExactRev:
    """The exact operator of what float64 holds of `operator`."""

    def rounded(x: Fraction) -> Fraction:
        return Fraction(float(x))

    def rows(table: Q) -> Q:
        """Each entry as stored, each row divided by its sum."""
        stored = [[rounded(x) for x in row] for row in table]
        return tuple(tuple(x / sum(row) for x in row) for row in stored)

    kernels = operator.kernels
    return ExactRev(
        mdp.to_exact(),
        epistemic=tuple(tuple(rounded(x) for x in row) for row in operator.epistemic),
        lambda_epi=rounded(operator.lambda_epi),
        kappa=rounded(operator.kappa),
        value=rows(operator.value) if isinstance(operator.value, tuple) else operator.value,
        kernels=None if kernels is None else [tuple(rows(state) for state in k) for k in kernels],
        penalty_at=operator.penalty_at,
    )
