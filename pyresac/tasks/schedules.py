"""How a factor changes while an agent learns: drawn anew for each episode or every so many steps, or from given tasks.

In words, as on the command line:

    2.0                                     always 2
    list 0.5 1 2 per-episode                the values in turn from a drawn one on, a new one each episode
    uniform 0.5 1.5 every 1000              drawn uniformly, a new one every 1,000 steps
    log-uniform 0.33 3 per-episode          the logarithm is uniform
    log-uniform 0.05 20 every 20000 tasks 40    40 values drawn once, taken in turn
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pyresac.errors import InputError

FORMS = (
    "NUMBER, 'list A B …', 'uniform LOW HIGH' or 'log-uniform LOW HIGH', then 'per-episode' or 'every STEPS', "
    "then 'tasks N'"
)
LARGEST = 1e6
"""The largest factor, and the largest number of steps; beyond it a simulator gives no usable number."""


@dataclass(frozen=True)
class Schedule:
    """A factor's values and when it changes."""

    kind: Literal["constant", "list", "uniform", "log-uniform"]
    values: tuple[float, ...]
    """The constant, the list, or low and high."""
    every: int | None = None
    """Steps between changes; None for a change at each episode's start."""
    tasks: int | None = None
    """How many values are drawn once and taken in turn; None for a fresh draw at each change."""

    def drawn(self, generator: np.random.Generator) -> float:
        """One value of a uniform or log-uniform schedule."""
        low, high = self.values
        if self.kind == "log-uniform":
            return float(math.exp(generator.uniform(math.log(low), math.log(high))))
        return float(generator.uniform(low, high))


def parse_schedule(text: str, name: str) -> Schedule:
    """A schedule from words. Raises InputError naming the option, what was given and the forms that are allowed."""

    def refused(why: str) -> InputError:
        return InputError(f"{name} = {text!r}: {why}; it must be {FORMS}")

    words = text.split()
    if not words:
        raise refused("it is empty")
    tasks = _taken(words, "tasks", refused)
    every = _taken(words, "every", refused)
    per_episode = words[-1:] == ["per-episode"]
    if per_episode:
        words.pop()
    if per_episode and every is not None:
        raise refused("it changes per episode and every so many steps")
    kind = words[0] if words and words[0] in ("list", "uniform", "log-uniform") else "constant"
    numbers = [_number(word, refused) for word in (words if kind == "constant" else words[1:])]
    if kind == "constant":
        if len(numbers) != 1 or per_episode or every is not None or tasks is not None:
            raise refused("a constant is one number alone")
        return Schedule("constant", (numbers[0],))
    if kind == "list":
        if not numbers or tasks is not None:
            raise refused("a list holds at least one number, and all of them are its tasks")
        return Schedule("list", tuple(numbers), every)
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise refused("a range is two numbers, the lower one first")
    if kind == "uniform":
        return Schedule("uniform", (numbers[0], numbers[1]), every, tasks)
    return Schedule("log-uniform", (numbers[0], numbers[1]), every, tasks)


def _taken(words: list[str], key: str, refused: Any) -> int | None:
    """The whole number after `key`, both taken out of `words`."""
    if key not in words:
        return None
    place = words.index(key)
    if place + 1 >= len(words) or not words[place + 1].isdecimal() or not 1 <= int(words[place + 1]) <= LARGEST:
        raise refused(f"after {key!r} stands a whole number from 1 to {LARGEST:,.0f}")
    value = int(words[place + 1])
    del words[place : place + 2]
    return value


def _number(word: str, refused: Any) -> float:
    try:
        value = float(word)
    except ValueError:
        raise refused(f"{word!r} is no number") from None
    if not 0.0 < value <= LARGEST:
        raise refused(f"{word} must be above 0 and at most {LARGEST:,.0f}")
    return value


class ScheduledFactor:
    """A schedule under way. Two with equal seeds give equal values; its state is JSON."""

    def __init__(self, schedule: Schedule, seed: np.random.SeedSequence) -> None:
        """seed: of the tasks that are drawn once, and of the draws until `begin_anew`."""
        self._schedule = schedule
        task_seed, draw_seed = seed.spawn(2)
        source = np.random.Generator(np.random.PCG64(task_seed))
        self._given: tuple[float, ...] = schedule.values if schedule.kind in ("constant", "list") else ()
        if schedule.tasks is not None:
            self._given = tuple(schedule.drawn(source) for _ in range(schedule.tasks))
        self._generator = np.random.Generator(np.random.PCG64(draw_seed))
        self._changes, self._steps = 0, 0
        self.value = self._next()

    def _next(self) -> float:
        taken = self._given[self._changes % len(self._given)] if self._given else self._schedule.drawn(self._generator)
        self._changes += 1
        return taken

    def begin_anew(self, seed: np.random.SeedSequence) -> None:
        """Draw from this seed on; the tasks stay, and are taken in turn from a drawn one on."""
        self._generator = np.random.Generator(np.random.PCG64(seed))
        self._changes, self._steps = 0, 0
        if len(self._given) > 1:
            self._changes = int(self._generator.integers(len(self._given)))
        self.value = self._next()

    def episode_begins(self) -> bool:
        """Tell that an episode begins; whether the value may have changed."""
        if self._schedule.every is not None or self._schedule.kind == "constant" or self._steps == 0:
            return False
        self.value, self._steps = self._next(), 0
        return True

    def step(self) -> bool:
        """Tell that a step was made; whether the value may have changed."""
        self._steps += 1
        if self._schedule.every is None or self._steps % self._schedule.every:
            return False
        self.value = self._next()
        return True

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "value": self.value,
            "changes": self._changes,
            "steps": self._steps,
            "generator": dict(self._generator.bit_generator.state),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.value, self._changes, self._steps = state["value"], state["changes"], state["steps"]
        self._generator.bit_generator.state = state["generator"]
