"""What an environment keeps where nothing is saved is found before a run, also where its effect comes late."""

from __future__ import annotations

import itertools
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tasks import restorable
from pyresac.tasks.restorable import require_restorable, tried

LATE = 300
"""Steps until an effect shows, more than are tried."""


class Slotted:
    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls = 0

    def call(self) -> int:
        self.calls += 1
        return self.calls


class SlottedBesides(SimpleNamespace):
    __slots__ = ("calls",)


class Plain:
    """Its attributes are saved."""

    def __init__(self) -> None:
        self.calls = 0


def counted(counts: Any) -> int:
    counts[0] += 1
    return int(counts[0])


def added(members: set[int]) -> int:
    members.add(len(members))
    return len(members)


def slot(holder: Any) -> int:
    holder.calls = getattr(holder, "calls", 0) + 1
    return int(holder.calls)


def longer(content: bytearray) -> int:
    content.append(1)
    return len(content)


HIDING: dict[str, tuple[Callable[[], Any], Callable[[Any], int], str]] = {
    "slots": (Slotted, lambda kept: kept.call(), ".calls"),
    "slots beside attributes": (SlottedBesides, slot, ".calls"),
    "slots in an object": (lambda: SimpleNamespace(inner=Slotted()), lambda kept: kept.inner.call(), ".inner.calls"),
    "dictionary by numbers": (lambda: {0: 0}, counted, ""),
    "default dictionary": (lambda: defaultdict(int), counted, ""),
    "Counter": (Counter, counted, ""),
    "set": (set, added, ""),
    "set in a list": (lambda: [set()], lambda kept: added(kept[0]), ""),
    "set in a deque": (lambda: deque([set()]), lambda kept: added(kept[0]), ""),
    "itertools.count": (itertools.count, next, ""),
    "bytearray": (bytearray, longer, ""),
    "list of objects": (lambda: [Plain()], lambda kept: slot(kept[0]), ""),
    "array of objects": (lambda: np.array([0], dtype=object), counted, ""),
}
"""How a wrapper may keep how often it was called; where the change is seen, within the attribute."""


class Counting(gym.Wrapper[Any, Any, Any, Any]):
    """Adds 1 to the reward from call LATE on; the calls are counted by `count` of `kept`."""

    def __init__(self, kept: Any, count: Callable[[Any], int], at_reset: bool = False) -> None:
        super().__init__(gym.make("Pendulum-v1"))
        self.kept, self._count, self._at_reset = kept, count, at_reset
        self.late = False

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not self._at_reset:
            self.late = self._count(self.kept) > LATE
        return observation, float(reward) + self.late, terminated, truncated, info

    def reset(self, **given: Any) -> Any:
        if self._at_reset:
            self.late = self._count(self.kept) > LATE
        return self.env.reset(**given)


@pytest.mark.filterwarnings("ignore:.*itertools:DeprecationWarning")
@pytest.mark.parametrize("at_reset", [False, True])
@pytest.mark.parametrize("kind", HIDING)
def test_what_is_not_saved_must_not_change(kind: str, at_reset: bool) -> None:
    make, count, place = HIDING[kind]
    env, twin = (Counting(make(), count, at_reset) for _ in range(2))
    message = (
        rf"^the task cannot be saved and resumed: Counting\.kept{place} changes, and is of a kind that is not saved; "
        r"give Counting state_dict\(\) and load_state_dict\(\) that cover all of its state$"
    )
    with pytest.raises(InputError, match=message):
        require_restorable(env, twin, "the task")


class Speaking(Counting):
    """The same, but it speaks for itself."""

    def state_dict(self) -> dict[str, Any]:
        return {"calls": self.kept.calls, "late": self.late}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.kept.calls, self.late = state["calls"], state["late"]


def test_a_wrapper_that_speaks_for_itself_keeps_what_it_wants() -> None:
    require_restorable(*(Speaking(Slotted(), lambda kept: kept.call()) for _ in range(2)), "the task")


def test_what_is_saved_may_change() -> None:
    require_restorable(*(Counting(Plain(), slot) for _ in range(2)), "the task")
    require_restorable(*(Counting({"calls": [0]}, lambda kept: counted(kept["calls"])) for _ in range(2)), "the task")


CONSTANT: dict[str, Callable[[], Any]] = {
    "set": lambda: {1, 2},
    "frozen set": lambda: frozenset({"a"}),
    "table by pairs": lambda: {(0, 1): np.arange(3)},
    "objects": lambda: [Slotted(), Plain()],
    "function": lambda: lambda: 0,
    "lock": threading.Lock,
    "array of objects": lambda: np.array([None, "a"], dtype=object),
    "generators in a table": lambda: {0: np.random.default_rng(0)},
    "class": lambda: Plain,
    "space": lambda: {0: gym.spaces.Discrete(2)},
}
"""Nothing of it can be saved, and nothing of it changes."""


@pytest.mark.parametrize("kind", CONSTANT)
def test_what_does_not_change_need_not_be_saved(kind: str) -> None:
    require_restorable(*(Counting(CONSTANT[kind](), lambda kept: 0) for _ in range(2)), "the task")


def test_an_object_that_holds_its_holder_is_no_endless_search() -> None:
    envs = [Counting(SimpleNamespace(), lambda kept: 0) for _ in range(2)]
    for env in envs:
        env.kept.holder = env
        env.kept.itself = env.kept
    require_restorable(*envs, "the task")


class Drawing(gym.Wrapper[Any, Any, Any, Any]):
    """What an episode begins with depends on how many ended, which is nowhere saved."""

    ended: Iterator[int]

    def __init__(self) -> None:
        super().__init__(gym.make("Pendulum-v1"))
        calls = itertools.count()
        self.number = lambda: next(calls)

    def reset(self, **given: Any) -> Any:
        observation, info = self.env.reset(**given)
        return observation + np.float32(self.number()), info


def test_a_reset_is_tried_as_well() -> None:
    """An episode of Pendulum is as long as what is tried, so without a reset in its middle none would be seen."""
    with pytest.raises(InputError, match="departs with its wrapper Drawing, and without it does not"):
        require_restorable(Drawing(), Drawing(), "the task", steps=100)


class Seeded(gym.Wrapper[Any, Any, Any, Any]):
    """Adds the seed of the first reset to each reward; it is kept where nothing is saved, and no search finds it."""

    def __init__(self) -> None:
        super().__init__(gym.make("Pendulum-v1"))
        seeds: list[int] = []
        self.keep, self.added = seeds.append, lambda: seeds[-1]

    def reset(self, *, seed: int | None = None, **given: Any) -> Any:
        if seed is not None:
            self.keep(seed)
        return self.env.reset(seed=seed, **given)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(reward) + self.added(), terminated, truncated, info


def test_the_twin_begins_from_another_seed() -> None:
    """With the same one, what depends on the seed and is not saved would go on alike."""
    with pytest.raises(InputError, match="departs with its wrapper Seeded, and without it does not"):
        require_restorable(Seeded(), Seeded(), "the task")


class Closed(gym.Env[Any, Any]):
    """Two actions; what it keeps stands in closures, where nobody looks. An episode has `length` steps.

    kind: "sum" earns its actions since the last reset, "resets" begins where it was begun so often; "strict" refuses a
    step after an episode's end, which is a time limit or, with `ends`, a true one.
    """

    observation_space = gym.spaces.Discrete(1000)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, kind: str, length: int = 1000, ends: bool = False) -> None:
        kept = {"sum": 0, "resets": 0}
        self.kept = lambda: kept
        self.kind, self.length, self.ends = kind, length, ends
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        self.kept().update(sum=0, resets=self.kept()["resets"] + 1)
        return self.kept()["resets"] if self.kind == "resets" else 0, {}

    def step(self, action: int) -> Any:
        if self.kind == "strict" and self.steps == self.length:
            raise RuntimeError("stepped after its end")
        self.steps += 1
        self.kept()["sum"] += action
        over = self.steps == self.length
        earned = float(self.kept()["sum"]) if self.kind == "sum" else 0.0
        return 0, earned, over and self.ends, over and not self.ends, {}


def test_a_state_is_saved_in_the_middle_of_an_episode() -> None:
    """Right after a reset there would be nothing to restore."""
    with pytest.raises(
        InputError, match=r"^the task cannot be saved .* a restored copy departs after 1 steps; give it"
    ):
        require_restorable(Closed("sum"), Closed("sum"), "the task")


@pytest.mark.parametrize(("steps", "after"), [(4, 3), (10, 6), (11, 6)])
def test_a_departure_at_a_reset_is_after_the_steps_before_it(steps: int, after: int) -> None:
    """Half of the steps and one more."""
    with pytest.raises(InputError, match=rf"a restored copy departs after {after} steps; give it state_dict"):
        require_restorable(Closed("resets"), Closed("resets"), "the task", steps)


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("length", [1, 5, 7])
def test_no_step_is_made_after_an_end(ends: bool, length: int) -> None:
    require_restorable(*(Closed("strict", length, ends) for _ in range(2)), "the task")


def test_an_error_is_placed_where_it_was_raised() -> None:
    """And not in whoever called that."""

    def deeper() -> None:
        raise IndexError("list index")  # here

    def deep() -> None:
        deeper()

    line = deeper.__code__.co_firstlineno + 1
    with (
        pytest.raises(InputError, match=rf"IndexError: list index \(.*test_restorable\.py, line {line}\)$"),
        tried("it"),
    ):
        deep()


NAN = float("nan")
DIFFERENT: list[tuple[Any, Any]] = [
    (1.0, 2.0),
    (1.0, np.float32(1.0)),
    (np.zeros(2), np.zeros((2, 1))),
    (np.zeros(2), np.zeros(2, dtype=np.int64)),
    (0.0, -0.0),
    ((1, 2), (1, 3)),
    ((1, 2), (1, 2, 3)),
    ([1, [2]], [1, [3]]),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 1, "b": 1}),
    ({"a": {"b": (1, np.zeros(2))}}, {"a": {"b": (1, np.ones(2))}}),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=repr)
def test_observations_are_the_same_bit_for_bit(one: Any, other: Any) -> None:
    assert restorable._same(one, one)
    assert restorable._same(other, other)
    assert not restorable._same(one, other)
    assert not restorable._same(other, one)
    assert restorable._same((NAN, {"a": np.array([NAN])}), [NAN, {"a": np.array([NAN])}])
