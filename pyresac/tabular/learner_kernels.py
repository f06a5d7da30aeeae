"""Compiled inner loops of the tabular learner. One call serves one transition; nothing here allocates more than (A,).

IEEE order of operations (no fast-math): equal inputs give equal bits.

`scalars` holds, in this order: discount, lambda_epi, beta_lcb, beta_ood, bootstrap probability, learning rate, its
power, its floor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyresac.jit import compiled

Array = NDArray[np.float64]


@compiled
def mean_and_deviation(q: Array, state: int, action: int) -> tuple[float, float]:
    """Mean and standard deviation (divisor K − 1; zero for one head) over the heads of q (K, S, A) at one pair."""
    heads: int = q.shape[0]
    mean = 0.0
    for k in range(heads):
        mean += q[k, state, action]
    mean /= heads
    if heads == 1:
        return mean, 0.0
    squares = 0.0
    for k in range(heads):
        squares += (q[k, state, action] - mean) ** 2
    return mean, np.sqrt(squares / (heads - 1))


@compiled
def log_policy(q: Array, state: int, temperature: float, beta_lcb: float) -> Array:
    """log π(·|s) (A,) of π ∝ exp((Q̄ + β_lcb·σ)/α), by a shifted log-sum-exp: finite for every α > 0."""
    actions: int = q.shape[2]
    logits = np.empty(actions)
    for a in range(actions):
        mean, deviation = mean_and_deviation(q, state, a)
        logits[a] = (mean + beta_lcb * deviation) / temperature
    largest = logits.max()
    total = 0.0
    for a in range(actions):
        total += np.exp(logits[a] - largest)
    logits -= largest + np.log(total)
    return logits


@compiled
def sample_action(q: Array, state: int, temperature: float, beta_lcb: float, exploration: float, noise: Array) -> int:
    """With probability `exploration` a uniform action, else one of π(·|s); `noise` holds two uniforms in [0, 1)."""
    actions: int = q.shape[2]
    if noise[0] < exploration:
        uniform: int = min(int(noise[1] * actions), actions - 1)
        return uniform
    log_pi = log_policy(q, state, temperature, beta_lcb)
    cumulative = 0.0
    for a in range(actions):
        cumulative += np.exp(log_pi[a])
        if noise[1] < cumulative:
            return a
    return actions - 1


@compiled
def head_targets(
    q: Array, target: Array, kappa: Array, scalars: Array, temperature: float,
    reward: float, next_state: int, terminated: bool, y: Array,
) -> None:  # fmt: skip
    """Write y_k = r + γ(1 − terminated)(E_π[Q̂_k − λ_epi·Γ_epi − α·log π](s') − λ_ale·κ_k) into y (K,)."""
    heads, actions = y.shape[0], q.shape[2]
    y[:] = reward
    if terminated:
        return
    discount, lambda_epi = scalars[0], scalars[1]
    log_pi = log_policy(q, next_state, temperature, scalars[2])
    shared = 0.0
    for a in range(actions):
        _, deviation = mean_and_deviation(target, next_state, a)
        gamma_epi = deviation * deviation
        shared -= np.exp(log_pi[a]) * (lambda_epi * gamma_epi + temperature * log_pi[a])
    for k in range(heads):
        value = 0.0
        for a in range(actions):
            value += np.exp(log_pi[a]) * target[k, next_state, a]
        y[k] += discount * (value + shared - kappa[k])


@compiled
def update(
    q: Array, target: Array, counts: NDArray[np.int64], kappa: Array, scalars: Array, temperature: float, noise: Array,
    state: int, action: int, reward: float, next_state: int, terminated: bool,
) -> float:  # fmt: skip
    """Step every head whose uniform in `noise` (K,) is below the bootstrap probability; return the mean |y_k − Q_k|.

    Half the gradient of (Q_k − y_k)² + β_ood·σ is (Q_k − y_k) + β_ood·(Q_k − Q̄)/(2(K − 1)σ), its last term 0 at σ = 0.
    """
    heads: int = q.shape[0]
    beta_ood, probability = scalars[3], scalars[4]
    rate, power, floor = scalars[5], scalars[6], scalars[7]
    y = np.empty(heads)
    head_targets(q, target, kappa, scalars, temperature, reward, next_state, terminated, y)
    mean, deviation = mean_and_deviation(q, state, action)
    slope = beta_ood / (2.0 * (heads - 1) * deviation) if deviation > 0.0 else 0.0
    error = 0.0
    for k in range(heads):
        old = q[k, state, action]
        error += abs(y[k] - old)
        if noise[k] < probability:
            counts[k, state, action] += 1
            step = max(floor, rate * float(counts[k, state, action]) ** (-power))
            q[k, state, action] = old + step * (y[k] - old - slope * (old - mean))
    return error / heads


@compiled
def refresh(q: Array, target: Array, kappa: Array, rate: float, lambda_ale: float) -> None:
    """Q̂_k ← τ·Q_k + (1 − τ)·Q̂_k, and the penalties λ_ale·κ_k of the new frozen tables into kappa (K,)."""
    heads, states, actions = q.shape
    for k in range(heads):
        norm = 0.0
        for s in range(states):
            for a in range(actions):
                frozen = rate * q[k, s, a] + (1.0 - rate) * target[k, s, a]
                target[k, s, a] = frozen
                norm += abs(frozen)
        kappa[k] = lambda_ale * norm / (states * actions)
