"""The model of a Gymnasium toy-text environment, read from its transition table `P`.

How an episode's end becomes part of a full kernel, so that the theorems hold: a transition marked *done* leads to an
absorbing state with reward 0. Where no state that ends an episode can also be reached by going on, from a possible
start, those states are made absorbing themselves; otherwise one more state, the last, is added for the end. What a
table says of states that cannot be reached plays no part in this: Taxi's, say, where some unreachable state may well
"go on" into a goal.

The *done-masked* reading is offered apart: its backup r + γ(1 − done)(V − penalty) drops the frozen penalty together
with the bootstrap. Written on the full kernel, that is a penalty times the probability that the episode goes on. It
still contracts; but with the terminal value pinned to 0 the discounting lemma fails (C10), and even a constant κ can
change the ranking of actions, since it taxes going on and not ending (C22 d).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.readers.arrays import Arrays

Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]


def from_gymnasium(
    env: str | gymnasium.Env[Any, Any], discount: float, *, done_masked: bool = False, **make_options: Any
) -> Arrays:
    """An MDP (S or S + 1 states, sparse) from the `P` table of a toy-text environment or its id.

    Probabilities of duplicate successors are added. `initial` is the environment's own start distribution, or all
    states alike where it names none. Time limits are no part of the model (a truncation is not a terminal).
    done_masked: see the module's text.

    Raises InputError for an unknown id, spaces that are not Discrete, or an environment without a table `P`.
    """
    given = _make(env, make_options)
    table, n_states, n_actions = _table_of(given)
    initial = _initial_of(given, n_states)
    src, act, dst, prob, rew, done = _columns(table)
    for name, ids, limit in (("state", src, n_states), ("action", act, n_actions), ("successor", dst, n_states)):
        if ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= limit:
            raise InputError(f"the table `P` names a {name} outside 0…{limit - 1}, the range of its Discrete space")
    ends = np.unique(dst[done])
    extra = bool(np.isin(ends, _reachable(initial, src, dst, done)).any())
    if extra:
        dst = np.where(done, n_states, dst)
        ends = np.array([n_states])
        initial = np.append(initial, 0.0)
        n_states += 1
    live = ~np.isin(src, ends)
    reward = np.zeros((n_states, n_actions))
    np.add.at(reward, (src[live], act[live]), (prob * rew)[live])
    rows = np.concatenate([(src * n_actions + act)[live], (ends[:, None] * n_actions + np.arange(n_actions)).ravel()])
    cols = np.concatenate([dst[live], np.repeat(ends, n_actions)])
    data = np.concatenate([prob[live], np.ones(len(ends) * n_actions)])
    kernel = sparse.csr_array((data, (rows, cols)), shape=(n_states * n_actions, n_states))
    model = Arrays(kernel, reward, discount, initial=initial, renormalise=True)
    if not done_masked:
        return model
    goes_on = np.ones((n_states, n_actions))
    np.subtract.at(goes_on, (src[live & done], act[live & done]), prob[live & done])
    goes_on[ends] = 0.0
    terminal = np.zeros(n_states, dtype=np.bool_)
    terminal[ends] = True
    return replace(model, continuation=np.clip(goes_on, 0.0, 1.0), terminal=terminal)


def _make(env: str | gymnasium.Env[Any, Any], make_options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    if not isinstance(env, (str, gymnasium.Env)):
        raise InputError(f"env is a {type(env).__name__}; it must be an id or an environment of Gymnasium")
    if not isinstance(env, str):
        if make_options:
            raise InputError(f"options {sorted(make_options)} were given for an environment that is already made")
        return env
    try:
        return gymnasium.make(env, **make_options)
    except (gymnasium.error.Error, TypeError, ValueError, KeyError, ImportError) as error:
        raise InputError(f"environment {env!r} cannot be made: {type(error).__name__}: {error}") from error


def _table_of(env: gymnasium.Env[Any, Any]) -> tuple[Table, int, int]:
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    for role, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InputError(f"{name} has the {role} space {space}; a finite MDP needs Discrete spaces")
    table = getattr(env.unwrapped, "P", None)
    if table is None:
        raise InputError(f"{name} has no transition table `P`; toy-text environments such as FrozenLake-v1 have one")
    assert isinstance(env.observation_space, gymnasium.spaces.Discrete)
    assert isinstance(env.action_space, gymnasium.spaces.Discrete)
    return table, int(env.observation_space.n), int(env.action_space.n)


def _initial_of(env: gymnasium.Env[Any, Any], n_states: int) -> NDArray[np.float64]:
    initial = getattr(env.unwrapped, "initial_state_distrib", None)
    if initial is None:
        return np.full(n_states, 1.0 / n_states)
    weights = np.asarray(initial, dtype=np.float64)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _columns(table: Table) -> tuple[NDArray[Any], ...]:
    try:
        entries = [(s, a, t, p, r, d) for s, by in table.items() for a, rows in by.items() for p, t, r, d in rows]
        src, act, dst, prob, rew, done = (np.array(column) for column in zip(*entries, strict=True))
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"the table `P` is not of the form P[s][a] = [(probability, next state, reward, done), …]: {error}"
        ) from error
    return src, act, dst, prob.astype(np.float64), rew.astype(np.float64), done.astype(np.bool_)


def _reachable(
    initial: NDArray[np.float64], src: NDArray[Any], dst: NDArray[Any], done: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The states entered at the start or by a transition that does not end the episode, from such states."""
    n = len(initial)
    steps = sparse.csr_array((np.ones((~done).sum()), (src[~done], dst[~done])), shape=(n, n))
    seen = initial > 0
    while True:
        grown = seen | (steps.T @ seen > 0)
        if (grown == seen).all():
            return np.flatnonzero(seen)
        seen = grown
