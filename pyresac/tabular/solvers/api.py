"""`solve`: the fixed point of a frozen REV operator with a guaranteed error bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from pyresac.errors import InputError, NotAContractionError
from pyresac.tabular import affine_kernels
from pyresac.tabular.checks import Floats, check_number, finite_array
from pyresac.tabular.expectations import Nominal, RowSet
from pyresac.tabular.live import EnsembleDeviation, EnsembleVariance, LiveOperator, NormPenalty, ScaledPenalty
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.shares import Share, SharedModel, one_method_alone
from pyresac.tabular.solvers.anderson import anderson
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import ExtremeModel, GeneralModel, Model
from pyresac.tabular.solvers.policy_iteration import modified_policy_iteration, policy_iteration
from pyresac.tabular.solvers.progress import Progress, overflow
from pyresac.tabular.solvers.robust import RobustModel
from pyresac.tabular.solvers.solution import Solution, policy_of
from pyresac.tabular.solvers.systems import LARGEST_BAND, unsigned
from pyresac.tabular.solvers.value_iteration import gauss_seidel, value_iteration
from pyresac.tabular.values import Max, Min

LARGEST_CONTRACTION = math.nextafter(1.0, 0.0)
METHODS: dict[str, Callable[[Model, Floats, Progress], Residual]] = {
    "value_iteration": value_iteration,
    "gauss_seidel": gauss_seidel,
    "modified_policy_iteration": modified_policy_iteration,
    "policy_iteration": policy_iteration,
    "anderson": anderson,
}
SMALL = 300
"""States up to which dense policy evaluation takes a millisecond or so."""


def solve(
    operator: RevOperator,
    *,
    tolerance: float = 1e-8,
    method: str = "auto",
    max_iterations: int | None = None,
    initial: ArrayLike | None = None,
    follow: Callable[[int, float], None] | None = None,
) -> Solution:
    """Q* = T Q* of `operator`, unique by C11 (`RESAC.fixedPoint_unique`), with a bound on what it is off by.

    tolerance: what ‖q − Q*‖∞ may be, ≥ 0, in the reward's unit; 0 asks for the best that float64 can certify.
    method: "value_iteration", "gauss_seidel" (Max and Min with Nominal only), "modified_policy_iteration",
        "policy_iteration", "anderson", or "auto", which picks one by the size and the structure of the problem.
    max_iterations: at most so many iterations, each certified; None for what the contraction of the operator
        needs. initial: a table Q (S, A) to begin with; None for a constant below the fixed point.
    follow: called after each iteration with its number and about what the error bound is then.

    On a `Share` of a model every process calls it, by value iteration; what it returns are the rows of each.

    The bound holds however the solve ends. Where the tolerance is out of reach — float64 cannot certify it at this size
    and discount, or max_iterations is used up — `converged` is False and `message` says why.

    Raises InputError for bad options, and NotAContractionError for a live penalty.
    """
    started = time.perf_counter()
    _check_operator(operator)
    goal = check_number("tolerance", tolerance, "a finite number of at least 0", low=0.0)
    if not isinstance(method, str) or (method != "auto" and method not in METHODS):
        raise InputError(f"method is {method!r}; it must be one of {', '.join(map(repr, ['auto', *METHODS]))}")
    if max_iterations is not None and (
        isinstance(max_iterations, bool) or not isinstance(max_iterations, (int, np.integer)) or max_iterations < 1
    ):
        raise InputError(f"max_iterations is {max_iterations!r}; it must be a whole number of at least 1, or None")
    table = None if initial is None else _checked_table(operator, initial)
    with model_of(operator) as model, np.errstate(over="ignore", invalid="ignore"):
        name = _choose(model) if method == "auto" else method
        if isinstance(model, SharedModel) and name != "value_iteration":
            raise one_method_alone()
        progress = Progress(model.certificate, goal, _contraction(name, model.discount), max_iterations, follow)
        residual = METHODS[name](model, model.start(table), progress)
    shift, bound = model.certificate.bound(residual, goal)
    if not math.isfinite(bound):
        raise overflow()
    q = model.q
    if shift:
        q += shift
    policy, best = policy_of(operator, q, bound, residual.q_size)
    v = best if isinstance(operator.value, (Max, Min)) else operator.value_of(q)
    message = f"{progress.message}; the error is at most {bound:.3g}"
    seconds = time.perf_counter() - started
    return Solution(q, v, policy, bound, progress.iterations, seconds, bound <= goal, name, message, operator)


def _contraction(name: str, discount: float) -> float:
    """What each iteration of a method shrinks the residual by, at least: see the methods."""
    if name == "anderson":
        return min(math.sqrt((1.0 + discount) / 2), LARGEST_CONTRACTION)
    return max(discount, 0.5)


def model_of(operator: RevOperator) -> Model:
    """The compiled model where there is one, else the general one; over a share of a model, one that all share."""
    if isinstance(operator.mdp, Share):
        return operator.mdp.agreed(lambda: SharedModel(_own_model(operator)))
    return _own_model(operator)


def _own_model(operator: RevOperator) -> Model:
    if isinstance(operator.value, (Max, Min)):
        if isinstance(operator.expectation, Nominal):
            return ExtremeModel(operator)
        if isinstance(operator.expectation, RowSet):
            return RobustModel(operator)
    return GeneralModel(operator)


def _choose(model: Model) -> str:
    if isinstance(model, SharedModel):
        return "value_iteration"
    mdp, nominal = model.operator.mdp, isinstance(model.operator.expectation, Nominal)
    if mdp.n_states <= SMALL:
        return "policy_iteration"
    if not nominal:
        return "modified_policy_iteration" if isinstance(model, RobustModel) else "anderson"
    if mdp.is_sparse:
        indptr, indices, _ = unsigned(mdp.matrix)
        if affine_kernels.bandwidth(indptr, indices, mdp.n_actions, LARGEST_BAND) <= LARGEST_BAND:
            return "policy_iteration"
    return "modified_policy_iteration"


def _checked_table(operator: RevOperator, initial: ArrayLike) -> Floats:
    available = operator.mdp.available
    table = finite_array("initial", initial, shape=operator.mdp.reward.shape, allow_nonfinite=available is not None)
    if available is not None and not np.isfinite(table[available]).all():
        s, a = np.argwhere(available & ~np.isfinite(table))[0]
        raise InputError(f"initial is {table[s, a]} at (s={s}, a={a}); entries of available pairs must be finite")
    return table


def _check_operator(operator: object) -> None:
    if isinstance(operator, RevOperator):
        return
    if isinstance(operator, LiveOperator):
        claims = {
            ScaledPenalty: "its modulus is γ + λ (C13, RESAC.tBad_exactModulus)",
            NormPenalty: "its modulus is γ(1 + λ) (C14, RESAC.revLive_norm_exactModulus)",
            EnsembleVariance: "it has no modulus at all for γ, λ > 0 (C15, RESAC.variance_not_modulus)",
            EnsembleDeviation: "its modulus exceeds γ for per-head targets (C16, RESAC.gap_headTarget_exactModulus)",
        }
        why = claims[type(operator.penalty)]
        raise NotAContractionError(
            f"the {type(operator.penalty).__name__} looks at the Q being updated: {why}; solve takes a RevOperator, "
            "whose penalties are frozen, since that contracts whatever they are (C11, RESAC.rev_contraction)"
        )
    raise InputError(f"operator is a {type(operator).__name__}; solve takes a RevOperator")
