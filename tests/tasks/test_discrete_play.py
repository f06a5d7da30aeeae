"""Discrete environments: what is refused, and a greedy policy's episodes beside a hand's reckoning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tasks.discrete import EnvOptions, make_discrete, make_resumable, play


class Road(gym.Env[int, int]):
    """Begins at a drawn place of 0, 1, 2, 3; action 1 goes on by one and earns 1, 2, 4, … in turn; terminated at 4.

    Action 0 stays and earns 8. Truncated after `patience` steps.
    """

    def __init__(self, patience: int = 100, first_state: int = 0, first_action: int = 0) -> None:
        self.patience = patience
        self.observation_space = gym.spaces.Discrete(5, start=first_state)
        self.action_space = gym.spaces.Discrete(2, start=first_action)
        self.place = self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.steps = int(self.np_random.integers(4)), 0
        return self.place, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.place += action
        reward = 2.0 ** (self.steps - 1) if action else 8.0
        return self.place, reward, self.place == 4, self.steps >= self.patience, {}


@pytest.fixture(autouse=True)
def road() -> Iterator[None]:
    gym.register("test/Road-v0", entry_point=Road)
    yield
    del gym.registry["test/Road-v0"]


def starts(seed: int, count: int) -> list[int]:
    """Where the episodes begin: the first is seeded, and the others go on with its generator."""
    generator = np.random.default_rng(seed)
    return [int(generator.integers(4)) for _ in range(count)]


ON = np.ones(5, dtype=np.int64)
EPISODES = 25


def test_returns_lengths_and_discounts_are_those_by_hand() -> None:
    found = play(Road(), ON, EPISODES, 3, 0.25, 50)
    begun = starts(3, EPISODES)
    assert len(set(begun)) == 4
    # from place p there are 4 − p steps, which earn 1, 2, 4, … and, with a discount of a quarter, 1, ½, ¼, …
    assert found.lengths.tolist() == [4 - place for place in begun]
    assert found.returns.tolist() == [2 ** (4 - place) - 1 for place in begun]
    assert found.discounted.tolist() == [2.0 - 2.0 ** (1 - (4 - place)) for place in begun]
    assert found.cut == 0
    again, other = (play(Road(), ON, EPISODES, seed, 0.25, 50) for seed in (3, 4))
    np.testing.assert_array_equal(again.returns, found.returns)
    assert other.lengths.tolist() == [4 - place for place in starts(4, EPISODES)] != found.lengths.tolist()


@pytest.mark.parametrize(("patience", "limit"), [(2, 50), (100, 2), (2, 2), (4, 4)])
def test_an_episode_that_a_limit_ends_is_cut(patience: int, limit: int) -> None:
    """The environment's own limit or ours, but not one that is met with the end of the road."""
    found, begun = play(Road(patience), ON, EPISODES, 3, 1.0, limit), starts(3, EPISODES)
    most = min(patience, limit)
    assert found.lengths.tolist() == [min(4 - place, most) for place in begun]
    assert found.cut == sum(4 - place > most for place in begun)
    assert (found.cut > 0) == (most < 4)


def test_a_policy_is_asked_about_the_state_that_it_is_in() -> None:
    stay_at_two = np.array([1, 1, 0, 1, 1])
    found, begun = play(Road(), stay_at_two, EPISODES, 3, 0.5, 5), starts(3, EPISODES)
    assert found.lengths.tolist() == [1 if place == 3 else 5 for place in begun]
    earned = {0: 1 + 2 + 3 * 8, 1: 1 + 4 * 8, 2: 5 * 8, 3: 1}
    assert found.returns.tolist() == [earned[place] for place in begun]
    assert found.cut == sum(place != 3 for place in begun)


@pytest.mark.parametrize(("option", "role"), [("first_state", "observation"), ("first_action", "action")])
@pytest.mark.parametrize("start", [1, -1])
def test_spaces_that_do_not_begin_at_0_are_refused(option: str, role: str, start: int) -> None:
    message = (
        rf"^environment 'test/Road-v0' has the {role} space Discrete\(\d, start={start}\); "
        r"the tabular agent needs Discrete\(n\) from 0$"
    )
    with pytest.raises(InputError, match=message):
        make_discrete(EnvOptions("test/Road-v0", f'{{"{option}": {start}}}'))
    make_resumable(EnvOptions("test/Road-v0", f'{{"{option}": 0}}'))


@pytest.mark.parametrize("text", ["{", "[1]", "3"])
def test_keywords_are_read_when_the_options_are_made(text: str) -> None:
    with pytest.raises(InputError, match=r"^env_options = "):
        EnvOptions(env_options=text)
