"""Value functionals V: (S, A) → (S,). Each is monetary — monotone, and V(q + c) = V(q) + c — hence non-expansive.

That is all the contraction theorem asks of them (Lean: `RESAC.Monetary`, `RESAC.rev_contraction`; C02, C11).
`rounding` bounds what float64 does to them, with u = 2⁻⁵³ and exp and log taken as correct to 2 units in the last
place.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, check_number, check_policy

UNIT = 2.0**-53
Mask = NDArray[np.bool_] | None


class ValueFunctional(ABC):
    """V, state by state. `lean` names the theorem that it is monetary."""

    lean: ClassVar[str]
    linear: ClassVar[bool] = False
    """Whether V(q₁) − V(q₂) depends on q₁ − q₂ alone: then a next-pair penalty cancels, too (C08)."""

    @abstractmethod
    def __call__(self, q: Floats, available: Mask = None) -> Floats:
        """V(q): q (S, A) to (S,). Entries of unavailable pairs are ignored, whatever they hold."""

    @abstractmethod
    def rounding(self, magnitude: float, n_actions: int) -> float:
        """A bound on |fl(V(q)) − V(q)| whenever |q| ≤ magnitude."""

    def magnitude(self, magnitude: float, n_actions: int) -> float:
        """A bound on |V(q)| whenever |q| ≤ magnitude."""
        return magnitude

    def check(self, n_states: int, n_actions: int) -> None:  # noqa: B027
        """InputError if this functional does not fit an MDP of that size. Most fit any."""


@dataclass(frozen=True)
class Max(ValueFunctional):
    """max_a q(s, a): the paper's V^Q. Monetary: `RESAC.fmax_monetary`."""

    lean: ClassVar[str] = "RESAC.fmax_monetary"

    def __call__(self, q: Floats, available: Mask = None) -> Floats:
        return np.asarray(_filled(q, available, -np.inf).max(axis=1), dtype=np.float64)

    def greedy(self, q: Floats, available: Mask = None) -> NDArray[np.int64]:
        """The maximising action of each state, the lowest among equals."""
        return np.asarray(_filled(q, available, -np.inf).argmax(axis=1), dtype=np.int64)

    def rounding(self, magnitude: float, n_actions: int) -> float:
        """0: a maximum is one of its arguments."""
        return 0.0


@dataclass(frozen=True)
class Min(ValueFunctional):
    """min_a q(s, a). Monetary: `RESAC.fmin_monetary`."""

    lean: ClassVar[str] = "RESAC.fmin_monetary"

    def __call__(self, q: Floats, available: Mask = None) -> Floats:
        return np.asarray(_filled(q, available, np.inf).min(axis=1), dtype=np.float64)

    def greedy(self, q: Floats, available: Mask = None) -> NDArray[np.int64]:
        """The minimising action of each state, the lowest among equals."""
        return np.asarray(_filled(q, available, np.inf).argmin(axis=1), dtype=np.int64)

    def rounding(self, magnitude: float, n_actions: int) -> float:
        """0: a minimum is one of its arguments."""
        return 0.0


@dataclass(frozen=True)
class Soft(ValueFunctional):
    """α·log Σ_a exp(q(s, a)/α), the soft value at temperature α > 0. Monetary: `RESAC.lse_monetary` (C02)."""

    temperature: float
    lean: ClassVar[str] = "RESAC.lse_monetary"

    def __post_init__(self) -> None:
        alpha = check_number("temperature", self.temperature, "a finite number above 0", low=0.0, open_low=True)
        object.__setattr__(self, "temperature", alpha)

    def __call__(self, q: Floats, available: Mask = None) -> Floats:
        shifted, top = _from_top(q, available)
        total = np.exp(shifted / self.temperature).sum(axis=1)
        return np.asarray(top + self.temperature * np.log(total), dtype=np.float64)

    def policy(self, q: Floats, available: Mask = None) -> Floats:
        """The maximising policy of the entropy-regularised mean, π ∝ exp(q/α), shape (S, A) (C29)."""
        shifted, _ = _from_top(q, available)
        weights = np.exp(shifted / self.temperature)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)

    def rounding(self, magnitude: float, n_actions: int) -> float:
        """u·(M + α(2A + 8 + 6·log A)).

        With m the maximum and d = (q − m)/α ≤ 0, exp(d) is off by at most |d|eᵈ·2u + 4u·eᵈ; the A terms sum to at least
        1, so the sum is off by (2A + 4)u relatively, which the logarithm turns into as much absolutely.
        """
        alpha = self.temperature
        return 1.01 * (UNIT * magnitude + UNIT * alpha * (2 * n_actions + 8 + 6 * math.log(n_actions)))

    def magnitude(self, magnitude: float, n_actions: int) -> float:
        """M + α·log A (the soft value lies between max and max + α·log A)."""
        return magnitude + 1.01 * self.temperature * math.log(n_actions)


@dataclass(frozen=True)
class Mellowmax(ValueFunctional):
    """(1/ω)·log of the mean of exp(ω·q(s, a)) over the available actions, ω > 0 (Asadi and Littman).

    Monetary: the soft value at α = 1/ω less the constant α·log n (`RESAC.mellowmax_monetary`). Computed by expm1 and
    log1p where ω times the spread of q is small, so that the limit ω → 0, the mean, is reached without loss.
    """

    omega: float
    lean: ClassVar[str] = "RESAC.mellowmax_monetary"

    def __post_init__(self) -> None:
        omega = check_number("omega", self.omega, "a finite number above 0", low=0.0, open_low=True)
        object.__setattr__(self, "omega", omega)

    def __call__(self, q: Floats, available: Mask = None) -> Floats:
        shifted, top = _from_top(q, available)
        present = np.ones(q.shape, dtype=np.bool_) if available is None else available
        count = present.sum(axis=1)
        d = np.where(present, shifted, 0.0)
        with np.errstate(over="ignore"):
            scaled = self.omega * d
        shrunk = np.where(present, np.expm1(scaled), 0.0).sum(axis=1) / count
        mean = np.where(present, np.exp(scaled), 0.0).sum(axis=1) / count
        log_mean = np.where(shrunk > -0.5, np.log1p(np.maximum(shrunk, -0.5)), np.log(mean))
        # By Hoeffding the mean of q is within ω·spread²/8: below rounding here, where ω·d may be subnormal.
        flat = scaled.min(axis=1) >= -UNIT
        below = np.where(flat, d.sum(axis=1) / count, log_mean / self.omega)
        return np.asarray(top + below, dtype=np.float64)

    def policy(self, q: Floats, available: Mask = None) -> Floats:
        """π ∝ exp(ω·q), the slope of V, shape (S, A)."""
        weights = np.exp(self.omega * _from_top(q, available)[0])
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)

    def rounding(self, magnitude: float, n_actions: int) -> float:
        """M(10A + 60)u, for every ω: with d = max q − q ≤ 2M, exactly the entropic risk's argument at equal weights.

        Where the mean of expm1(−ωd) is above −½ it is at most ω·(mean of d), known to (A + 6)u relatively, and log1p
        has slope at most 2. Elsewhere 1/ω ≤ 3M, and the mean of exp(−ωd) ≥ 1/A is known to (A + 8)u relatively.
        """
        return 1.01 * UNIT * magnitude * (10 * n_actions + 60 + 6 * math.log(n_actions))


class _OfPolicy(ValueFunctional):
    linear: ClassVar[bool] = True
    policy: Floats

    def check(self, n_states: int, n_actions: int) -> None:
        """InputError unless the policy is (S, A)."""
        if self.policy.shape != (n_states, n_actions):
            raise InputError(f"policy has shape {self.policy.shape}; the MDP asks for {(n_states, n_actions)}")

    def _mean(self, q: Floats, available: Mask) -> Floats:
        if available is not None and (self.policy[~available] > 0).any():
            s, a = np.argwhere(~available & (self.policy > 0))[0]
            raise InputError(f"policy takes the unavailable action a={a} at s={s}")
        return np.asarray(np.einsum("sa,sa->s", self.policy, _filled(q, available, 0.0)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PolicyMean(_OfPolicy):
    """Σ_a π(a|s)·q(s, a) for a policy (S, A). Monetary and linear: `RESAC.policyV_monetary`."""

    policy: Floats
    lean: ClassVar[str] = "RESAC.policyV_monetary"

    def __init__(self, policy: ArrayLike) -> None:
        object.__setattr__(self, "policy", check_policy("policy", policy))

    def __call__(self, q: Floats, available: Mask = None) -> Floats:
        return self._mean(q, available)

    def rounding(self, magnitude: float, n_actions: int) -> float:
        """2(A + 2)u·M: the products and sums, and the rows of π missing 1 by (A + 2)u."""
        return 1.01 * 2 * (n_actions + 2) * UNIT * magnitude


@dataclass(frozen=True, eq=False)
class PolicyEntropy(_OfPolicy):
    """Σ_a π(a|s)·(q(s, a) − α·log π(a|s)), α > 0: the paper's V^π of the maximum-entropy MDP.

    Monetary: the policy's mean plus a constant per state (`RESAC.softValue_monetary`). Its backup converges to the soft
    value of *this* policy, not to the optimal soft value (C02).
    """

    policy: Floats
    temperature: float
    lean: ClassVar[str] = "RESAC.softValue_monetary"

    def __init__(self, policy: ArrayLike, temperature: float) -> None:
        object.__setattr__(self, "policy", check_policy("policy", policy))
        alpha = check_number("temperature", temperature, "a finite number above 0", low=0.0, open_low=True)
        object.__setattr__(self, "temperature", alpha)

    def __call__(self, q: Floats, available: Mask = None) -> Floats:
        safe = np.where(self.policy > 0, self.policy, 1.0)
        entropy = -np.einsum("sa,sa->s", self.policy, np.log(safe))
        return np.asarray(self._mean(q, available) + self.temperature * entropy, dtype=np.float64)

    def rounding(self, magnitude: float, n_actions: int) -> float:
        """The mean's bound, plus α(2A + 12)(1 + log A)u for the entropy."""
        entropy = self.temperature * (2 * n_actions + 12) * (1 + math.log(n_actions))
        return 1.01 * UNIT * ((2 * n_actions + 5) * magnitude + entropy)

    def magnitude(self, magnitude: float, n_actions: int) -> float:
        """M + α·log A."""
        return magnitude + 1.01 * self.temperature * math.log(n_actions)


def _filled(q: Floats, available: Mask, value: float) -> Floats:
    return q if available is None else np.where(available, q, value)


def _from_top(q: Floats, available: Mask) -> tuple[Floats, Floats]:
    """(q − top, top): what log-sum-exp exponentiates without overflow."""
    filled = _filled(q, available, -np.inf)
    top = filled.max(axis=1)
    return filled - top[:, None], top
