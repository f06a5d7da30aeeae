"""UMB, the unified Markov binary of the probabilistic model checkers (https://github.com/pmc-tools/umb), by `umbi`.

Read are MDPs and Markov chains in discrete time whose probabilities are numbers; rational ones are rounded to float64.
Games, observations, rates and intervals are refused by name. Rewards of states, of choices and of branches are earned
at each step; of several reward structures one must be named. Actions are the choices of a state in the file's order.
"""

from __future__ import annotations

from numbers import Real
from pathlib import Path
from typing import Any

from pyresac.errors import InputError
from pyresac.tabular.readers.arrays import Arrays
from pyresac.tabular.readers.model_rows import Rows, rewards_named


def load(path: Path, discount: float, rewards: str | None = None) -> Arrays:
    """The model of a .umb file. rewards: the name of a reward structure; by default the only one, or none at all.

    Raises InputError without the package umbi, and for a file that cannot be read or holds no such model.
    """
    if not path.is_file():
        raise InputError(f"{path} is not a file")
    try:
        import umbi
    except ImportError as error:
        raise InputError(f"{path}: reading UMB needs umbi: pip install 'pyresac[umb]'") from error
    try:
        content = umbi.umb.read(path)
        model = umbi.ats.explicit_umb_to_explicit_ats(content)
        model.validate()
    except Exception as error:  # of a damaged archive: any kind
        raise InputError(f"{path} is no readable UMB file: {type(error).__name__}: {error}") from error
    where = str(path)
    _require_mdp(model, where)
    # of the content: umbi 0.2.5 keeps only the last of several reward structures in the model
    known = (content.annotations or {}).get("rewards", {})
    name = rewards_named(known, rewards, where)
    earned = {} if name is None else known[name]
    of_states, of_choices, of_branches = (earned.get(kind, ()) for kind in ("states", "choices", "branches"))
    rows, branches = Rows(where), 0
    for state in model.states:
        if of_states:
            rows.state_reward[state] = _number(of_states[state], where, "reward")
        for action, choice in enumerate(model.get_state_choices(state)):
            total = _number(of_choices[choice.index], where, "reward") if of_choices else 0.0
            for branch in choice.branches:
                sure = branch.prob is None and len(choice.branches) == 1
                chance = 1.0 if sure else _number(branch.prob, where, "probability")
                rows.add(state, action, branch.target, chance)
                total += chance * _number(of_branches[branches], where, "reward") if of_branches else 0.0
                branches += 1
            rows.pair_reward[state, action] = total
    rows.first = list(model.initial_states)
    return rows.arrays(discount, model.num_states)


def _require_mdp(model: Any, where: str) -> None:
    if model.time.value != "discrete":
        raise InputError(f"{where} has time {model.time.value!r}; it must be discrete")
    if model.num_players > 1:
        raise InputError(f"{where} is a game of {model.num_players} players; it must have one, or none")
    if model.has_observations:
        raise InputError(f"{where} has observations; its states must be seen")


def _number(value: Any, where: str, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{where} has the {what} {value}; it must be a number")
    return float(value)
