"""Live penalties: they look at the Q being updated, so that freezing does not protect the backup.

They can be applied and measured; no solver takes them (`solve` raises NotAContractionError). With a penalty of
Lipschitz constant L the backup R + γ(E[V(Q)] − penalty(Q)) has modulus at most γ(1 + L) (C37), and freezing it for N
backups before each refresh does not move the threshold L < 1/γ − 1 (C36).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, check_number, check_whole, finite_array, real_array
from pyresac.tabular.expectations import ExpectationFunctional
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.values import ValueFunctional


def ensemble_variance(heads: Floats) -> Floats:
    """Var over the first axis, unbiased (divisor K − 1), for K ≥ 2 heads (Eq. gamma_epi); InputError at K = 1."""
    tables = real_array("heads", heads)
    _check_heads(tables.shape[0] if tables.ndim else 1)
    return np.asarray(tables.var(axis=0, ddof=1), dtype=np.float64)


def _check_heads(heads: int) -> None:
    if check_whole("heads", heads, low=0) < 2:
        raise InputError(f"the ensemble has K = {heads} heads; a variance with divisor K − 1 needs at least 2")


def _check_lambda(penalty: ScaledPenalty | NormPenalty | EnsembleVariance | EnsembleDeviation) -> None:
    """λ as a float: any real number may be given, and a fraction times a table is no table of floats."""
    lam = check_number("lam", penalty.lam, "a finite number of at least 0", low=0.0)
    object.__setattr__(penalty, "lam", lam)


@dataclass(frozen=True)
class ScaledPenalty:
    """R + γE[V(Q)] + λ·Q(s, a): T_bad of the paper on every pair.

    Exact modulus γ + λ (C13, `RESAC.tBad_exactModulus`).
    """

    lam: float
    heads: int | None = None

    def __post_init__(self) -> None:
        _check_lambda(self)

    def exact_modulus(self, gamma: float) -> float | None:
        """γ + λ, attained on constants."""
        return gamma + self.lam


@dataclass(frozen=True)
class NormPenalty:
    """R + γ(E[V(Q)] − λ·|Q(s, a)|). Exact modulus γ(1 + λ), attained on q ≤ 0: a contraction iff λ < 1/γ − 1 (C14)."""

    lam: float
    heads: int | None = None

    def __post_init__(self) -> None:
        _check_lambda(self)

    def exact_modulus(self, gamma: float) -> float | None:
        """γ(1 + λ)."""
        return gamma * (1 + self.lam)


@dataclass(frozen=True)
class EnsembleVariance:
    """Head k becomes R + γ(E[V(q_k)] − λ·Var(q)) (target="head"), or every head R + γ(E[V(q̄)] − λ·Var(q)) ("mean").

    Var is unbiased over K = heads ≥ 2 live heads. No modulus at all for γ, λ > 0 (C15, `RESAC.variance_not_modulus`).
    """

    lam: float
    heads: int = 2
    target: Literal["head", "mean"] = "head"

    def __post_init__(self) -> None:
        _check_lambda(self)
        _check_heads(self.heads)
        _check_target(self.target)

    def exact_modulus(self, gamma: float) -> float | None:
        """inf where γ, λ > 0."""
        return np.inf if gamma * self.lam > 0 else gamma

    def of(self, q: Floats) -> Floats:
        """λ·Var over heads, (S, A)."""
        return self.lam * ensemble_variance(q)


@dataclass(frozen=True)
class EnsembleDeviation:
    """As EnsembleVariance with the standard deviation, divisor K − ddof: the live LCB penalty (C16).

    Its Lipschitz constant over heads in the sup-norm is at most λ·√(K/(K − 1)) for ddof = 1 and λ for ddof = 0. For
    K = 2 and per-head targets the modulus is exactly γ(1 + 2β), with β = λ/√2 for ddof = 1 and λ/2 for ddof = 0.
    """

    lam: float
    heads: int = 2
    ddof: Literal[0, 1] = 1
    target: Literal["head", "mean"] = "head"

    def __post_init__(self) -> None:
        _check_lambda(self)
        _check_heads(self.heads)
        _check_target(self.target)
        if isinstance(self.ddof, bool) or self.ddof not in (0, 1):
            raise InputError(f"ddof is {self.ddof!r}; it must be 0 (population) or 1 (unbiased)")

    @property
    def gap_weight(self) -> float:
        """β: for two heads the penalty is β·|q₁ − q₂|."""
        return self.lam / np.sqrt(2) if self.ddof else self.lam / 2

    def exact_modulus(self, gamma: float) -> float | None:
        """γ(1 + 2β) for two heads and per-head targets, γ without a penalty; None where only a bound is known."""
        if self.lam == 0.0:
            return gamma
        return gamma * (1 + 2 * self.gap_weight) if self.heads == 2 and self.target == "head" else None

    def of(self, q: Floats) -> Floats:
        """λ·standard deviation over heads, (S, A)."""
        return np.asarray(self.lam * q.std(axis=0, ddof=self.ddof), dtype=np.float64)


def _check_target(target: str) -> None:
    if target not in ("head", "mean"):
        raise InputError(f"target is {target!r}; it must be 'head' or 'mean'")


LivePenalty: TypeAlias = ScaledPenalty | NormPenalty | EnsembleVariance | EnsembleDeviation


def _check_penalty(penalty: object) -> None:
    if not isinstance(penalty, LivePenalty):
        what = f"the class {penalty.__name__}" if isinstance(penalty, type) else f"a {type(penalty).__name__}"
        raise InputError(
            f"penalty is {what}; it must be a ScaledPenalty, NormPenalty, EnsembleVariance or EnsembleDeviation"
        )


class LiveOperator:
    """The backup under a live penalty: Q (S, A) for the scaled and norm penalties, K heads (K, S, A) for the others."""

    def __init__(
        self,
        mdp: FiniteMDP,
        penalty: LivePenalty,
        *,
        value: ValueFunctional | None = None,
        expectation: ExpectationFunctional | None = None,
    ) -> None:
        self.mdp = mdp
        _check_penalty(penalty)
        self.penalty = penalty
        self.plain = RevOperator(mdp, value=value, expectation=expectation)

    def __call__(self, q: Floats) -> Floats:
        """T Q, of the shape of Q. Raises InputError for another shape than the penalty acts on."""
        penalty, gamma, shape = self.penalty, self.mdp.discount, self.mdp.reward.shape
        expected = shape if penalty.heads is None else (penalty.heads, *shape)
        q = real_array("Q", q)
        if q.shape != expected:
            raise InputError(f"Q has shape {q.shape}; {type(penalty).__name__} acts on {expected}")
        if isinstance(penalty, ScaledPenalty):
            return self.plain(q) + penalty.lam * q
        if isinstance(penalty, NormPenalty):
            return self.plain(q) - gamma * penalty.lam * np.abs(q)
        spread = gamma * penalty.of(q)
        if penalty.target == "mean":
            return np.stack([self.plain(q.mean(axis=0)) - spread] * penalty.heads)
        return np.stack([self.plain(head) - spread for head in q])

    def exact_modulus(self) -> float | None:
        """The least Lipschitz constant of T in the sup-norm (over heads, too), inf, or None where none is known.

        For two heads and the mean target it is known on one state and one action: γ·max(1, 2β) (C16).
        """
        penalty = self.penalty
        alone = self.mdp.reward.shape == (1, 1)
        if isinstance(penalty, EnsembleDeviation) and penalty.heads == 2 and penalty.target == "mean" and alone:
            return self.mdp.discount * max(1.0, 2 * penalty.gap_weight)
        return penalty.exact_modulus(self.mdp.discount)


def empirical_modulus(operator: LiveOperator | RevOperator, first: Floats, second: Floats) -> float:
    """‖T Q₁ − T Q₂‖∞ / ‖Q₁ − Q₂‖∞ for two tables (or ensembles) that differ; every modulus is at least this.

    Both norms are over the available pairs. Raises InputError for equal tables, or entries there that are not finite.
    """
    if not isinstance(operator, (LiveOperator, RevOperator)):
        raise InputError(f"operator is a {type(operator).__name__}; it must be a LiveOperator or a RevOperator")
    images = operator(first), operator(second)
    mask = operator.mdp.available
    available = np.ones(operator.mdp.reward.shape, dtype=np.bool_) if mask is None else mask
    before = [finite_array(name, np.asarray(q)[..., available]) for name, q in (("first", first), ("second", second))]
    apart = float(np.abs(before[0] - before[1]).max())
    if apart == 0.0:
        raise InputError("the two tables are equal; a ratio of distances needs two that differ")
    return float(np.abs(images[0][..., available] - images[1][..., available]).max()) / apart
