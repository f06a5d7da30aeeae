"""The family's algorithms on tables: one compiled loop of asynchronous updates, and one for critics of quantiles.

A policy is greedy in what its actor ascends, over the online tables; the target's value is that of the slower
tables at its action. So each algorithm is its target and its actor's objective, as in `pyresac.deep.algorithms`,
without networks and without entropy. Heads differ by their first values and by the half of the data that each takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.jit import compiled

Table = NDArray[Any]
FIRST, MEAN, LEAST, BOUND = 0, 1, 2, 3
"""What the actor ascends: the first head, the mean, the least, or mean + β·σ."""
OWN, SHARED_LEAST, RANDOM_LEAST = 0, 1, 2
"""Whose value a head's target has: its own head's, the least of all, or the least of a random pair."""


@compiled
def score(heads: Table, kind: int, beta: float) -> float:
    """What an actor sees in an action of values (K,)."""
    if kind == FIRST:
        return float(heads[0])
    if kind == LEAST:
        return float(heads.min())
    mean = heads.mean()
    if kind == MEAN or len(heads) < 2:
        return float(mean)
    return float(mean + beta * np.sqrt(((heads - mean) ** 2).sum() / (len(heads) - 1)))


@compiled
def best_action(tables: Table, state: int, kind: int, beta: float) -> int:
    """The action that the actor takes in a state, of tables (K, S, A); the first of equal ones."""
    best, found = -np.inf, 0
    for action in range(tables.shape[2]):
        value = score(tables[:, state, action], kind, beta)
        if value > best:
            best, found = value, action
    return found


@compiled
def transition(
    successors: Table, chances: Table, rewards: Table, pairs: Table, noise: float, generator: np.random.Generator
) -> tuple[int, int, float, int]:
    """State, action, noisy reward and next state (−1 for the end), drawn as `learn` describes its data."""
    state, action = pairs[generator.integers(0, len(pairs))]
    drawn, place = generator.random(), 0
    while place < chances.shape[2] - 1 and drawn >= chances[state, action, place]:
        place += 1
    reward = rewards[state, action, place] + noise * generator.standard_normal()
    return state, action, reward, successors[state, action, place]


@compiled
def learn(
    tables: Table,
    target: Table,
    expectile: Table,
    successors: Table,
    chances: Table,
    rewards: Table,
    pairs: Table,
    steps: int,
    discount: float,
    rate: float,
    follow: float,
    noise: float,
    actor: int,
    beta: float,
    bootstrap: int,
    lambda_epi: float,
    lambda_ale: float,
    blend: float,
    generator: np.random.Generator,
) -> None:
    """`steps` updates of tables, target (K, S, A), and of expectile (S,), in place.

    successors, chances (S, A, N): next states, −1 for the end, and cumulative probabilities; rewards (S, A, N); pairs
    (n, 2): the states and actions that data come from, uniformly. noise: deviation of Gaussian noise on rewards. blend:
    share of the exploiting value V(s′), an expectile (0.7) of the least target over the data's actions.
    """
    heads = tables.shape[0]
    for _ in range(steps):
        state, action, reward, after = transition(successors, chances, rewards, pairs, noise, generator)
        least, penalty, second = 0.0, 0.0, 0
        chosen = 0
        if after >= 0:
            chosen = best_action(tables, after, actor, beta)
            values = target[:, after, chosen]
            if bootstrap == SHARED_LEAST:
                least = values.min()
            elif bootstrap == RANDOM_LEAST:
                first = generator.integers(0, heads)
                second = (first + 1 + generator.integers(0, heads - 1)) % heads
                least = min(values[first], values[second])
            if lambda_epi > 0.0:
                penalty = lambda_epi * ((values - values.mean()) ** 2).sum() / (heads - 1)
        if blend > 0.0:
            away = target[:, state, action].min() - expectile[state]
            expectile[state] += rate * (0.7 if away > 0.0 else 0.3) * away
        for head in range(heads):
            if heads > 1 and generator.random() < 0.5:
                continue
            value = 0.0
            if after >= 0:
                value = target[head, after, chosen] if bootstrap == OWN else least
                value -= penalty
                if lambda_ale > 0.0:
                    value -= lambda_ale * np.abs(target[head]).sum()
                if blend > 0.0:
                    value = (1.0 - blend) * value + blend * expectile[after]
            own = tables[head, state, action]
            tables[head, state, action] = own + rate * (reward + discount * value - own)
            following = target[head, state, action]
            target[head, state, action] = following + follow * (tables[head, state, action] - following)


@compiled
def learn_quantiles(
    tables: Table,
    target: Table,
    successors: Table,
    chances: Table,
    rewards: Table,
    pairs: Table,
    steps: int,
    discount: float,
    rate: float,
    follow: float,
    noise: float,
    dropped: int,
    generator: np.random.Generator,
) -> None:
    """`learn` for quantile tables (K, S, A, M) by quantile regression, whose steps are of size `rate` at most.

    dropped ≥ 0: the pool of all heads' quantiles without the largest `dropped` of each head (TQC), whose mean the actor
    ascends; −1: the least of the heads, quantile by quantile (DSAC).
    """
    heads, _, actions, count = tables.shape
    for _ in range(steps):
        state, action, reward, after = transition(successors, chances, rewards, pairs, noise, generator)
        atoms = np.zeros(1)
        if after >= 0:
            best, chosen = -np.inf, 0
            for other in range(actions):
                total = 0.0
                if dropped >= 0:
                    total = tables[:, after, other].mean()
                else:
                    total = np.inf
                    for head in range(heads):
                        total = min(total, tables[head, after, other].mean())
                if total > best:
                    best, chosen = total, other
            if dropped >= 0:
                atoms = np.sort(target[:, after, chosen].copy().reshape(heads * count))
                atoms = atoms[: heads * (count - dropped)]
            else:
                atoms = np.empty(count)
                for m in range(count):
                    atoms[m] = target[:, after, chosen, m].min()
                atoms.sort()
        for head in range(heads):
            if generator.random() < 0.5:
                continue
            for m in range(count):
                level, own = (m + 0.5) / count, tables[head, state, action, m]
                below = np.searchsorted(atoms, (own - reward) / discount)
                tables[head, state, action, m] = own + rate * (level - below / len(atoms))
            tables[head, state, action].sort()
            for m in range(count):
                following = target[head, state, action, m]
                target[head, state, action, m] = following + follow * (tables[head, state, action, m] - following)
