"""Tabular RE-SAC: the paper's target, critic step, soft policy and LCB on K tables.

The equations, with Q̂ the frozen target tables, Q the online ones, σ the standard deviation over heads (divisor K − 1):

* Γ_epi(s, a) = Var_k Q̂_k(s, a), divisor K − 1                                (Eq. gamma_epi)
* κ_k = mean |Q̂_k|: the l1 norm of head k's frozen weights divided by their number. A table is one linear
  layer over one-hot pairs, so its weights are its entries; the mean keeps λ_ale independent of S·A.
* π(a|s) ∝ exp((Q̄(s, a) + β_lcb·σ(s, a)) / α): the minimiser of the actor's objective  (Eq. actor_loss)
* y_k = r + γ·(1 − terminated)·(E_{a'~π}[Q̂_k − λ_epi·Γ_epi − α·log π](s', a') − λ_ale·κ_k)   (Eq. target_y)
* loss of head k: (Q_k(s, a) − y_k)² + β_ood·σ(s, a), the step taken being half its gradient times the rate.

With penalties, policy and target tables held, the target is an unbiased sample of a monetary backup in its next-pair
form, hence of a γ-contraction (claim C11). Two remarks follow from claims C10 and C22(d). The mask (1 − terminated)
pins terminals to zero: T(Q + c) ≤ TQ + γc for c ≥ 0 replaces the equality of the discounting lemma, the contraction
survives, but even a constant κ is then no uniform shift (a pair that may end the episode escapes part of it), so
λ_ale > 0 can change which action is best. And the penalties are refreshed with the target tables, so the outer
iteration is that of a live penalty: it may diverge for a large λ_ale (C36) and for every λ_epi > 0 from far enough
away (C15).

A time limit is not a terminal: callers pass `terminated` alone, and a truncated episode bootstraps from its last state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.errors import InputError
from pyresac.memory import require_memory
from pyresac.options import Checked, Count, Discount, Fraction, NonNegative, NonPositive, Positive, Share
from pyresac.tabular import learner_kernels as kernels
from pyresac.tabular.checks import check_whole

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LearnerOptions(Checked):
    """What the tabular learner optimises, and how fast."""

    discount: Discount = 0.99
    """Discount γ, in [0, 1)."""
    ensemble_size: Count = 5
    """Number K of Q-tables; at least 2 where a variance or deviation is used."""
    bootstrap_probability: Share = 0.8
    """Each transition updates each head with this probability, in (0, 1]."""
    lambda_epi: NonNegative = 0.1
    """Weight of the ensemble variance in the target, at least 0."""
    lambda_ale: NonNegative = 0.0001
    """Weight of the frozen table's mean absolute entry in the target, at least 0."""
    beta_lcb: NonPositive = -0.5
    """Weight of the ensemble deviation in the policy; never positive (pessimism)."""
    beta_ood: NonNegative = 0.01
    """Weight of the ensemble deviation in the critic's loss, at least 0."""
    temperature: Positive = 0.002
    """Entropy temperature α at the first step, positive, in units of reward."""
    temperature_final: Positive = 0.0002
    """α after `anneal_steps` (geometric schedule), positive."""
    exploration: Fraction = 0.5
    """Probability of a uniformly random action at the first step, in [0, 1]."""
    exploration_final: Fraction = 0.3
    """The same probability after `anneal_steps` (linear schedule)."""
    anneal_steps: Count = 200_000
    """Steps over which temperature and exploration move, at least 1."""
    learning_rate: Share = 0.5
    """Rate η of a pair's first update, in (0, 1]."""
    learning_rate_power: Fraction = 0.5
    """ω: the n-th update of a head's pair uses η·n^(−ω); in [0, 1]; 0 is a constant rate."""
    learning_rate_min: NonNegative = 0.002
    """Floor of the learning rate, in [0, learning_rate]."""
    target_period: Count = 20
    """Steps between refreshes of the frozen tables, at least 1."""
    target_rate: Share = 0.5
    """Polyak rate τ of a refresh, in (0, 1]; 1 copies the online tables."""
    initial_value: float = 0.0
    """Mean of the first Q-values."""
    initial_spread: NonNegative = 0.01
    """Standard deviation of the first Q-values, at least 0: the heads' diversity before data."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        if self.learning_rate_min > self.learning_rate:
            raise InputError(
                f"learning_rate_min = {self.learning_rate_min}; it must lie in "
                f"[0, learning_rate = {self.learning_rate}]"
            )
        for name in ("lambda_epi", "beta_lcb", "beta_ood"):
            if self.ensemble_size == 1 and getattr(self, name) != 0.0:
                raise InputError(
                    f"ensemble_size = 1 with {name} = {getattr(self, name)}; the variance of one head is "
                    f"undefined: take ensemble_size ≥ 2 or {name} = 0"
                )


class TabularLearner:
    """K online tables, K frozen ones, the counts of updates, and the generator that draws masks and actions.

    Args:
        n_states: S ≥ 1. n_actions: A ≥ 1.
        options: see `LearnerOptions`.
        seed: seeds the learner's own PCG64 generator; equal seeds give bit-identical learners.

    Attributes: `q`, `target` (K, S, A); `counts` (K, S, A) int64; `kappa` (K,) the penalties λ_ale·κ_k.
    """

    def __init__(self, n_states: int, n_actions: int, options: LearnerOptions, seed: int) -> None:
        self.options = options
        check_whole("n_states", n_states, low=1)
        check_whole("n_actions", n_actions, low=1)
        self.rng = np.random.Generator(np.random.PCG64(check_whole("seed", seed, low=0)))
        shape = (options.ensemble_size, n_states, n_actions)
        require_memory(4 * 8 * math.prod(map(int, shape)), f"a learner of {shape} heads, states and actions")
        self.q: Array = options.initial_value + options.initial_spread * self.rng.standard_normal(shape)
        self.target: Array = self.q.copy()
        self.counts: NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        self.kappa: Array = options.lambda_ale * np.abs(self.target).mean(axis=(1, 2))
        self.step = 0
        self._action_noise = np.empty(2)
        self._mask_noise = np.empty(options.ensemble_size)
        self._scalars = np.array(
            [
                options.discount,
                options.lambda_epi,
                options.beta_lcb,
                options.beta_ood,
                options.bootstrap_probability,
                options.learning_rate,
                options.learning_rate_power,
                options.learning_rate_min,
            ]
        )

    @property
    def temperature(self) -> float:
        """α at the present step: geometric from `temperature` to `temperature_final`."""
        first, last = self.options.temperature, self.options.temperature_final
        return float(first * (last / first) ** self._progress)

    @property
    def exploration(self) -> float:
        """Probability of a uniformly random action at the present step: linear between its two options."""
        first, last = self.options.exploration, self.options.exploration_final
        return first + (last - first) * self._progress

    @property
    def _progress(self) -> float:
        return min(1.0, self.step / self.options.anneal_steps)

    @staticmethod
    def _require(name: str, given: int, count: int) -> None:
        """The compiled kernels trust their indices."""
        if not 0 <= given < count:
            raise InputError(f"{name} = {given}; this learner has 0…{count - 1}")

    def act(self, state: int) -> int:
        """Sample the behaviour: π(·|s) from the online tables, mixed with a uniform action (off-policy)."""
        self._require("state", state, self.q.shape[1])
        self.rng.random(out=self._action_noise)
        return int(
            kernels.sample_action(
                self.q, state, self.temperature, self.options.beta_lcb, self.exploration, self._action_noise
            )
        )

    def update(self, state: int, action: int, reward: float, next_state: int, *, terminated: bool) -> float:
        """Take one critic step (and refresh the frozen tables when due); return the mean |y_k − Q_k(s, a)|.

        `terminated` is the true end of the problem, not a time limit.
        """
        self._require("state", state, self.q.shape[1])
        self._require("next_state", next_state, self.q.shape[1])
        self._require("action", action, self.q.shape[2])
        self.rng.random(out=self._mask_noise)
        error = kernels.update(
            self.q, self.target, self.counts, self.kappa, self._scalars, self.temperature, self._mask_noise,
            state, action, reward, next_state, terminated,
        )  # fmt: skip
        self.step += 1
        if self.step % self.options.target_period == 0:
            kernels.refresh(self.q, self.target, self.kappa, self.options.target_rate, self.options.lambda_ale)
        return float(error)

    def targets(self, reward: float, next_state: int, *, terminated: bool) -> Array:
        """The targets y_k (K,) of one transition, from the frozen tables (Eq. target_y)."""
        y = np.empty(self.options.ensemble_size)
        kernels.head_targets(
            self.q, self.target, self.kappa, self._scalars, self.temperature, reward, next_state, terminated, y
        )
        return y

    def deviation(self) -> Array:
        """σ(s, a) (S, A) over the online heads, divisor K − 1; zero for one head."""
        if self.options.ensemble_size == 1:
            return np.zeros(self.q.shape[1:])
        return np.asarray(self.q.std(axis=0, ddof=1))

    def lower_confidence_bound(self) -> Array:
        """Q̄ + β_lcb·σ (S, A) of the online heads."""
        return np.asarray(self.q.mean(axis=0) + self.options.beta_lcb * self.deviation())

    def policy(self) -> Array:
        """π (S, A), the soft policy of the online heads, without the exploration mixture."""
        scaled = self.lower_confidence_bound() / self.temperature
        weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def greedy_policy(self) -> NDArray[np.int64]:
        """The action of largest LCB in each state (S,); the lowest index among equals."""
        return np.asarray(self.lower_confidence_bound().argmax(axis=1), dtype=np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that learning changed, for a checkpoint (views, not copies)."""
        return {"q": self.q, "target": self.target, "counts": self.counts, "kappa": self.kappa}

    def load_arrays(self, arrays: dict[str, NDArray[Any]], step: int) -> None:
        """Put back what `arrays` gave. Raises InputError on another shape or type."""
        for name, own in self.arrays().items():
            given = arrays.get(name)
            if given is None or given.shape != own.shape or given.dtype != own.dtype:
                found = "nothing" if given is None else f"{given.dtype}{list(given.shape)}"
                raise InputError(f"table {name!r}: found {found}; expected {own.dtype}{list(own.shape)}")
            own[...] = given
        self.step = step
