"""Models of other Python packages: Storm's, QuantEcon's `DiscreteDP`, the (P, R) of pymdptoolbox."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.readers.arrays import Arrays
from pyresac.tabular.readers.model_rows import Rows, rewards_named


def from_storm(model: Any, discount: float, rewards: str | None = None) -> Arrays:
    """A stormpy MDP or DTMC. rewards: the name of the reward model; by default the only one, or none at all.

    Raises InputError for another kind of model, parameters or intervals, or a reward model that is not there.
    """
    kind = str(getattr(model, "model_type", "")).rsplit(".", 1)[-1]
    if kind not in ("MDP", "DTMC"):
        raise InputError(f"the model is {kind or type(model).__name__}; it must be a stormpy MDP or DTMC")
    if getattr(model, "has_parameters", False) or getattr(model, "supports_uncertainty", False):
        raise InputError("the model has parameters or intervals; it must have numbers")
    rows = Rows("the stormpy model")
    name = rewards_named(list(model.reward_models), rewards, "the model")
    earned = None if name is None else model.reward_models[name]
    if earned is not None and earned.has_transition_rewards:
        raise InputError("the model has rewards of transitions; turn them into rewards of actions first")
    pairs = 0  # seen so far: rewards of actions are numbered through
    for state in model.states:
        for action, choice in enumerate(state.actions):
            for entry in choice.transitions:
                rows.add(state.id, action, entry.column, _number(entry.value))
            if earned is not None and earned.has_state_action_rewards:
                rows.pair_reward[state.id, action] = float(earned.get_state_action_reward(pairs))
            pairs += 1
        if earned is not None and earned.has_state_rewards:
            rows.state_reward[state.id] = float(earned.get_state_reward(state.id))
    rows.first = list(model.initial_states)
    return rows.arrays(discount, model.nr_states)


def _number(value: Any) -> float:
    """A probability, which older versions of stormpy give by a method. Raises InputError for an interval."""
    try:
        return float(value() if callable(value) else value)
    except (TypeError, ValueError) as error:
        raise InputError(f"the model has the probability {value}; it must have numbers") from error


def from_quantecon(problem: Any, discount: float | None = None) -> Arrays:
    """A `DiscreteDP`, in its product form or its form of state-action pairs; a reward of −∞ marks what is unavailable.

    Raises InputError if it has not the attributes R, Q and beta.
    """
    missing = [name for name in ("R", "Q", "beta") if not hasattr(problem, name)]
    if missing:
        raise InputError(f"a DiscreteDP has R, Q and beta; this {type(problem).__name__} lacks {', '.join(missing)}")
    gamma = float(problem.beta) if discount is None else discount
    reward, kernel = np.asarray(problem.R, dtype=np.float64), problem.Q
    if reward.ndim == 1:
        states, actions = np.asarray(problem.s_indices), np.asarray(problem.a_indices)
        count, choices = kernel.shape[1], int(actions.max()) + 1
        rows = sparse.coo_array(kernel)
        pair = states[rows.coords[0]] * choices + actions[rows.coords[0]]
        whole = sparse.csr_array((rows.data, (pair, rows.coords[1])), shape=(count * choices, count))
        table = np.full((count, choices), -np.inf)
        table[states, actions] = reward
    else:
        whole, table = np.asarray(kernel, dtype=np.float64), reward
    available = table > -np.inf
    return Arrays(whole, np.where(available, table, 0.0), gamma, available=available)


def from_pr(transition: Any, reward: Any, discount: float) -> Arrays:
    """The (P, R) of pymdptoolbox: P (A, S, S) or a sequence of A matrices, sparse ones too; R (S,), (S, A), (A, S, S)
    or a sequence of A matrices. Raises InputError for other shapes."""
    matrices = [sparse.csr_array(matrix) for matrix in transition]
    if not matrices or any(matrix.shape != (matrices[0].shape[0],) * 2 for matrix in matrices):
        raise InputError(f"P has matrices of shapes {[m.shape for m in matrices]}; expected A of one shape (S, S)")
    count, actions = matrices[0].shape[0], len(matrices)
    stacked = sparse.vstack(matrices, format="csr")
    order = (np.arange(count)[:, None] + count * np.arange(actions)).ravel()
    earned = _earned(matrices, reward, count)
    return Arrays(sparse.csr_array(stacked[order]), earned, discount)


def _earned(matrices: list[Any], reward: Any, count: int) -> Any:
    if isinstance(reward, list | tuple) and len(reward) == len(matrices) and np.ndim(reward[0]) == 2:
        by_action = [sparse.csr_array(part) for part in reward]
        return np.stack([np.asarray((m * r).sum(1)).ravel() for m, r in zip(matrices, by_action, strict=True)], 1)
    table = np.asarray(reward, dtype=np.float64)
    if table.shape == (count,):
        return np.repeat(table[:, None], len(matrices), 1)
    if table.shape == (count, len(matrices)):
        return table
    if table.shape == (len(matrices), count, count):
        return np.stack([np.asarray(m.multiply(r).sum(1)).ravel() for m, r in zip(matrices, table, strict=True)], 1)
    sizes = f"S = {count}, A = {len(matrices)}"
    raise InputError(f"R has shape {table.shape}; expected (S,), (S, A) or (A, S, S) with {sizes}")
