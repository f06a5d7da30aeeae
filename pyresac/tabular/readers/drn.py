"""Storm's DRN files, interval models too: https://www.stormchecker.org/documentation/background/languages.html

Read are MDPs and DTMCs with numbers; parameters, rates and observations are refused by name. Of several reward models
the first one is taken, unless another is named. Rewards of states are earned at each step from there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.readers.arrays import Arrays
from pyresac.tabular.readers.model_rows import MOST_STATES, Rows, TextLine, lines_of, require_count

Kernel: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"
TYPES = ("MDP", "DTMC")
STATE = re.compile(r"state\s+(\d+)\s*(!?[\d.eE+-]*)\s*(?:\{[^}]*\})?\s*(?:\[([^\]]*)\])?\s*(.*)")
ACTION = re.compile(r"action\s+(\S+)\s*(?:\[([^\]]*)\])?")
OUTCOME = re.compile(r"(\d+)\s*:\s*(.+)")
INTERVAL = re.compile(r"\[\s*([^,\]]+),\s*([^\]]+)\]")


@dataclass
class DrnModel:
    """What a file says; for an interval model `rows` has the lower ends and `upper` the upper ones."""

    rows: Rows
    upper: list[float] = field(default_factory=list)
    states: int = 0
    """As the file says; 0 where it does not."""

    @property
    def is_interval(self) -> bool:
        """Whether any probability is an interval."""
        return any(high != low for low, high in zip(self.rows.probability, self.upper, strict=True))


class IntervalModelError(InputError):
    """A file holds a set of models where one is wanted."""


def load(path: Path, discount: float, rewards: str | None = None) -> Arrays:
    """The model of a .drn file. Raises InputError naming file and line, and IntervalModelError."""
    model = read(path, rewards)
    if model.is_interval:
        raise IntervalModelError(
            f"{path} is an interval model; read it with IntervalSet.load, which gives the set as well"
        )
    return model.rows.arrays(discount, model.states)


def intervals(path: Path, discount: float, rewards: str | None = None) -> tuple[Arrays, Kernel, Kernel]:
    """An interval model with a kernel inside its intervals, and their lower and upper ends, CSR (S·A, S).

    Raises InputError naming file and line, and the state and action whose intervals hold no distribution.
    """
    model = read(path, rewards)
    pairs = list(zip(model.rows.source, model.rows.action, strict=True))
    low, high = dict.fromkeys(pairs, 0.0), dict.fromkeys(pairs, 0.0)
    for pair, least, most in zip(pairs, model.rows.probability, model.upper, strict=True):
        low[pair] += least
        high[pair] += most
    for (state, action), least in low.items():
        if not least <= 1.0 <= high[state, action]:
            raise InputError(
                f"{path}: the intervals of state {state}, action {action} have lower ends that sum to {least:g} and "
                f"upper ones that sum to {high[state, action]:g}; 1 must lie between"
            )
    inside = [
        least + (1.0 - low[pair]) / (high[pair] - low[pair]) * (most - least) if high[pair] > low[pair] else least
        for pair, least, most in zip(pairs, model.rows.probability, model.upper, strict=True)
    ]
    nominal, lower, upper = (
        replace(model.rows, probability=part).arrays(discount, model.states)
        for part in (inside, model.rows.probability, model.upper)
    )
    return nominal, sparse.csr_array(lower.transition), sparse.csr_array(upper.transition)


def read(path: Path, rewards: str | None = None) -> DrnModel:
    """What a .drn file says. rewards: the reward model's name; by default the first."""
    model, section, chosen = DrnModel(Rows(str(path))), "", 0
    state, action = -1, -1
    choices = listed = taken = 0  # choices that the file says, states and actions that have a line
    for line in lines_of(path, "//"):
        text = line.text.strip()
        if text.startswith("@"):
            section, _, rest = text[1:].partition(":")
            section = section.strip().lower()
            if section == "type" and rest.strip() not in TYPES:
                raise line.refused(f"the type must be one of {', '.join(TYPES)}")
        elif section == "parameters":
            raise line.refused("a model with parameters has no numbers; give them values first")
        elif section == "reward_models":
            names = text.split()
            if rewards is not None and rewards not in names:
                raise line.refused(f"there is no reward model {rewards!r}")
            chosen = 0 if rewards is None else names.index(rewards)
        elif section == "nr_states":
            model.states = int(text) if text.isdecimal() else 0
            if model.states >= MOST_STATES:
                raise line.refused("states are numbered below 2³¹")
        elif section == "nr_choices":
            choices = int(text) if text.isdecimal() else 0
        elif section == "model" and (match := STATE.fullmatch(text)):
            state, action = int(match[1]), -1
            listed += 1
            if match[2]:
                raise line.refused("a state with a rate is not of an MDP")
            value = _reward(line, match[3], chosen)
            if value:
                model.rows.state_reward[state] = value
            if "init" in match[4].split():
                model.rows.first.append(state)
        elif section == "model" and (match := ACTION.fullmatch(text)):
            if state < 0:
                raise line.refused("an action comes after its state")
            action += 1
            taken += 1
            value = _reward(line, match[2], chosen)
            if value:
                model.rows.pair_reward[state, action] = value
        elif section == "model" and (match := OUTCOME.fullmatch(text)):
            if action < 0:
                raise line.refused("an outcome comes after its action")
            low, high = _interval(line, match[2].strip())
            model.rows.add(state, action, int(match[1]), low)
            model.upper.append(high)
        elif section in ("model", "type"):
            raise line.refused("expected a state, an action or an outcome")
    if model.states:
        require_count(path, "states", model.states, listed)
    if choices:
        require_count(path, "choices", choices, taken)
    return model


def _reward(line: TextLine, text: str | None, chosen: int) -> float:
    values = [part for part in (text or "").split(",") if part.strip()]
    return _number(line, values[chosen]) if chosen < len(values) else 0.0


def _interval(line: TextLine, text: str) -> tuple[float, float]:
    match = INTERVAL.fullmatch(text)
    if match is None:
        value = _number(line, text)
        return value, value
    low, high = _number(line, match[1]), _number(line, match[2])
    if not 0.0 <= low <= high <= 1.0:
        raise line.refused("an interval of probabilities lies in [0, 1], its lower end first")
    return low, high


def _number(line: TextLine, text: str) -> float:
    """A decimal or a fraction such as 1/3."""
    try:
        return float(Fraction(text.strip()))
    except (ValueError, ZeroDivisionError):
        raise line.refused(f"{text.strip()!r} is no number") from None
