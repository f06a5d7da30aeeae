"""The kernels of poisoning, an update at a time: every draw is given, and what must follow is worked out by hand."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from interpreted_kernels import interpret

from pyresac.experiments import poisoning_kernels as kernels

DISCOUNT, RATE, FOLLOW, NOISE = 0.5, 0.25, 0.5, 2.0


class Script:
    """Stands for a generator: the draws that it is given, one after the other, and no more."""

    def __init__(self, whole: Iterable[int], uniform: Iterable[float], normal: Iterable[float]) -> None:
        self.whole, self.uniform, self.normal = deque(whole), deque(uniform), deque(normal)
        self.ranges: list[tuple[int, int]] = []

    def integers(self, low: int, high: int) -> int:
        self.ranges.append((low, high))
        return self.whole.popleft()

    def random(self) -> float:
        return self.uniform.popleft()

    def standard_normal(self) -> float:
        return self.normal.popleft()

    @property
    def left(self) -> int:
        return len(self.whole) + len(self.uniform) + len(self.normal)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels as Python, which takes any generator."""
    interpret(monkeypatch, kernels, "score", "best_action", "transition", "learn", "learn_quantiles")


@pytest.mark.parametrize(
    ("heads", "kind", "seen"),
    [
        ([3.0, 1.0, 5.0], kernels.FIRST, 3.0),
        ([3.0, 1.0, 5.0], kernels.LEAST, 1.0),
        ([3.0, 1.0, 5.0], kernels.MEAN, 3.0),
        ([3.0, 1.0, 5.0], kernels.BOUND, 3.0 - 2.0 * 2.0),
        ([1.0, 3.0], kernels.BOUND, 2.0 - 2.0 * math.sqrt(2.0)),
        ([7.0], kernels.BOUND, 7.0),  # one head has no deviation
    ],
)
def test_an_actor_sees_its_own_score_whatever_beta_is(heads: list[float], kind: int, seen: float) -> None:
    assert kernels.score(np.array(heads), kind, -2.0) == pytest.approx(seen)


def test_the_best_action_is_the_first_of_equal_ones_in_its_state() -> None:
    tables = np.zeros((3, 4, 5))
    tables[:, 2, 3:] = -5.0 + np.array([1.0, 2.0, 3.0])[:, None]
    tables[:, 2, :3] = -9.0
    assert kernels.best_action(tables, 2, kernels.MEAN, 0.0) == 3
    tables[0, 2, 4] += 0.5
    assert kernels.best_action(tables, 2, kernels.MEAN, 0.0) == 4
    assert kernels.best_action(tables, 2, kernels.LEAST, 0.0) == 4
    tables[:, 1] = math.nan
    assert kernels.best_action(tables, 1, kernels.MEAN, 0.0) == 0, "of what has diverged"


@pytest.mark.parametrize(
    ("uniform", "place"), [(0.0, 0), (0.2499, 0), (0.25, 1), (0.5, 2), (0.75, 2), (0.9999, 2), (0.99999, 2)]
)
def test_a_transition_is_the_one_whose_share_of_the_chances_was_drawn(uniform: float, place: int) -> None:
    """Also where rounding leaves the sum of the chances below 1."""
    successors = np.array([[[-1, -1, -1]], [[4, -1, 6]]])
    chances = np.array([[[9.0, 9.0, 9.0]], [[0.25, 0.5, 0.9999]]])
    rewards = np.array([[[-7.0, -7.0, -7.0]], [[10.0, 20.0, 30.0]]])
    draws = Script([1], [uniform], [0.5])
    found = kernels.transition(successors, chances, rewards, np.array([[0, 0], [1, 0]]), NOISE, draws)
    assert found == (1, 0, 10.0 * (place + 1) + 1.0, (4, -1, 6)[place])
    assert (draws.ranges, draws.left) == ([(0, 2)], 0)


def learned(tables: Any, target: Any, expectile: Any, draws: Script, steps: int, after: int, **form: Any) -> None:
    """`learn` with data of one pair, (1, 0), which leads to `after` with a reward of 7."""
    successors, chances = np.full((3, 2, 2), -1), np.ones((3, 2, 2))
    rewards = np.full((3, 2, 2), -100.0)
    successors[1, 0], chances[1, 0], rewards[1, 0] = (0 if after != 0 else 2, after), (0.25, 1.0), (-50.0, 7.0)
    common = (successors, chances, rewards, np.array([[1, 0]]), steps, DISCOUNT, RATE, FOLLOW, NOISE)
    settings = {"actor": kernels.MEAN, "beta": 0.0, "bootstrap": kernels.OWN} | form
    none = dict.fromkeys(("lambda_epi", "lambda_ale", "blend"), 0.0)
    kernels.learn(tables, target, expectile, *common, **(none | settings), generator=draws)
    assert draws.left == 0


def three_heads() -> tuple[Any, Any]:
    """Tables whose mean head takes action 1 in the states 0 and 2, and targets to tell apart."""
    tables = np.zeros((3, 3, 2))
    tables[:, 0, 1] = tables[:, 2, 1] = 2.0, 3.0, 4.0
    tables[:, 1, 0] = 12.0, 16.0, 20.0
    target = np.zeros((3, 3, 2))
    target[:, 2, 1] = 4.0, 8.0, 6.0
    target[:, 0, 1] = 1.0, 3.0, 5.0
    target[:, 1, 0] = -1.0, 3.0, 2.0
    target[:, 2, 0] = -100.0
    return tables, target


def test_an_update_with_every_penalty_is_that_by_hand() -> None:
    """The second head has the other half of the data."""
    tables, target = three_heads()
    expectile = np.array([10.0, -1.5, 20.0])
    draws = Script([0], [0.25, 0.5, 0.4999, 0.75], [0.5])
    new, follow = tables.copy(), target.copy()
    learned(tables, target, expectile, draws, 1, 2, lambda_epi=0.5, lambda_ale=0.0625, blend=0.25)
    # the least target there, −1, is a half above −1.5
    assert expectile.tolist() == pytest.approx([10.0, -1.5 + RATE * 0.7 * 0.5, 20.0])
    variance = ((4.0 - 6.0) ** 2 + (8.0 - 6.0) ** 2 + 0.0) / 2.0
    for head, own, size in ((0, 4.0, 4.0 + 1.0 + 1.0 + 100.0), (2, 6.0, 6.0 + 5.0 + 2.0 + 100.0)):
        value = 0.75 * (own - 0.5 * variance - 0.0625 * size) + 0.25 * 20.0
        reward = 7.0 + NOISE * 0.5
        new[head, 1, 0] += RATE * (reward + DISCOUNT * value - new[head, 1, 0])
        follow[head, 1, 0] = (follow[head, 1, 0] + new[head, 1, 0]) / 2.0
    assert np.allclose(tables, new, rtol=1e-14, atol=0.0)
    assert np.allclose(target, follow, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("after", [0, 2])
def test_all_heads_have_the_shared_least_and_no_penalty_that_is_not_asked_for(after: int) -> None:
    """The expectile stays, even one that is no number; sizes are not asked for."""
    tables, target = three_heads()
    target[:, 1, 1] = math.inf
    expectile = np.array([math.nan, 5.0, math.nan])
    draws = Script([0], [0.9, 0.9, 0.9, 0.9], [0.0])
    learned(tables, target, expectile, draws, 1, after, bootstrap=kernels.SHARED_LEAST)
    least = 1.0 if after == 0 else 4.0
    expected = [own + RATE * (7.0 + DISCOUNT * least - own) for own in (12.0, 16.0, 20.0)]
    assert tables[:, 1, 0].tolist() == pytest.approx(expected)
    followed = [(one + before) / 2.0 for one, before in zip(expected, (-1.0, 3.0, 2.0), strict=True)]
    assert target[:, 1, 0].tolist() == pytest.approx(followed)
    assert expectile[1] == 5.0


@pytest.mark.parametrize(("first", "further", "least"), [(2, 1, 3.0), (2, 0, 1.0), (0, 0, 1.0), (1, 0, 3.0)])
def test_a_random_pair_is_of_two_heads(first: int, further: int, least: float) -> None:
    """Of targets 1, 3, 5: the other head is one of those after the first, round and round."""
    tables, target = three_heads()
    draws = Script([0, first, further], [0.9, 0.9, 0.2, 0.2], [0.0])
    learned(tables, target, np.zeros(3), draws, 1, 0, bootstrap=kernels.RANDOM_LEAST)
    assert draws.ranges == [(0, 1), (0, 3), (0, 2)]
    assert tables[:, 1, 0].tolist() == [12.0 + RATE * (7.0 + DISCOUNT * least - 12.0), 16.0, 20.0]


def test_one_head_has_all_data_and_an_end_is_worth_nothing() -> None:
    """Two updates, one after the other."""
    tables, target = np.full((1, 3, 2), 2.0), np.full((1, 3, 2), 4.0)
    learned(tables, target, np.zeros(3), Script([0, 0], [0.9, 0.9], [0.0, 1.0]), 2, -1)
    first = 2.0 + RATE * (7.0 - 2.0)
    second = first + RATE * (7.0 + NOISE - first)
    assert tables[0, 1, 0] == second
    assert target[0, 1, 0] == ((4.0 + first) / 2.0 + second) / 2.0
    assert (np.delete(tables.ravel(), 2) == 2.0).all()
    assert (np.delete(target.ravel(), 2) == 4.0).all()
    # before it, one without others to disagree with
    tables, target = np.full((1, 3, 2), 2.0), np.full((1, 3, 2), 4.0)
    learned(tables, target, np.zeros(3), Script([0], [0.9], [0.0]), 1, 2)
    assert tables[0, 1, 0] == 2.0 + RATE * (7.0 + DISCOUNT * 4.0 - 2.0)


def test_two_heads_share_their_data() -> None:
    tables, target = np.zeros((2, 3, 2)), np.zeros((2, 3, 2))
    learned(tables, target, np.zeros(3), Script([0], [0.9, 0.25, 0.5], [0.0]), 1, -1)
    assert tables[:, 1, 0].tolist() == [0.0, RATE * 7.0]


def test_the_exploiting_value_falls_more_slowly_than_it_rises() -> None:
    tables, target = np.zeros((1, 3, 2)), np.full((1, 3, 2), 4.0)
    expectile = np.array([0.0, 8.0, 0.0])
    learned(tables, target, expectile, Script([0], [0.9], [0.0]), 1, -1, blend=0.5)
    assert expectile.tolist() == [0.0, pytest.approx(8.0 - RATE * 0.3 * 4.0), 0.0]
    assert tables[0, 1, 0] == RATE * 7.0, "nothing of it at an end"


# --- quantiles


def moved(row: list[float], atoms: list[float], reward: float, rate: float) -> list[float]:
    """A quantile goes up by its level and down by the share of the target's atoms that are below it."""
    levels = [(2 * m + 1) / (2 * len(row)) for m in range(len(row))]
    below = [sum(reward + DISCOUNT * atom < own for atom in atoms) / len(atoms) for own in row]
    return sorted(own + rate * (level - share) for own, level, share in zip(row, levels, below, strict=True))


AT_END = [[3.0, 8.0, 5.0], [4.0, 1.0, 9.0], [6.0, 2.0, 7.0], [10.0, -1.0, 0.0]]
"""Targets of two heads after the step, by action: unsorted, as the first tables are."""


def quantile_tables() -> tuple[Any, Any]:
    """(K, S, A, M) = (2, 3, 4, 3). In state 2 the mean of all is largest for action 1, as large for 3; the least of the
    heads' means for action 2."""
    tables, target = np.zeros((2, 3, 4, 3)), np.zeros((2, 3, 4, 3))
    tables[:, 1, 0] = [[6.0, 8.0, 9.0], [9.0, 10.0, 11.0]]
    target[:, 1, 0] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    tables[0, 2] = np.array([1.0, 9.0, 4.0, 8.0])[:, None] + np.array([-1.0, 0.0, 1.0])
    tables[1, 2] = np.array([1.0, 2.0, 3.0, 3.0])[:, None] + np.array([-1.0, 0.0, 1.0])
    target[0, 2] = AT_END
    target[1, 2] = [[1.0, 0.5, 2.0] if action % 2 else [20.0, 30.0, 40.0] for action in range(4)]
    return tables, target


@pytest.mark.parametrize(
    ("after", "dropped", "atoms"),
    [
        (2, 0, [4.0, 1.0, 9.0, 1.0, 0.5, 2.0]),
        (2, 1, [2.0, 1.0, 1.0, 0.5]),
        (2, 2, [1.0, 0.5]),
        (2, -1, [6.0, 2.0, 7.0]),
        (-1, 1, [0.0]),
        (-1, -1, [0.0]),
        (0, 0, [5.0] * 6),
        (0, -1, [5.0] * 3),
    ],
)
@pytest.mark.parametrize("rate", [0.25, 8.0])
def test_quantiles_move_towards_the_targets_of_the_action_that_the_actor_takes(
    after: int, dropped: int, atoms: list[float], rate: float
) -> None:
    """By the mean of the pool, without the largest atoms; or by the least head, quantile by quantile.

    The first head has these data, the second the other half. A large step changes the order, and the table is in order
    afterwards.
    """
    tables, target = quantile_tables()
    if after == 0:
        target[:, 0] = 5.0
    successors, chances, rewards = np.full((3, 4, 1), -1), np.ones((3, 4, 1)), np.full((3, 4, 1), 5.5)
    successors[1, 0, 0] = after
    draws = Script([1, 1], [0.9, 0.5, 0.4999] * 2, [0.0, 0.25])
    pairs = np.array([[0, 0], [1, 0], [2, 0]])
    common = (successors, chances, rewards, pairs, 2, DISCOUNT, rate, 0.25, NOISE)
    before, followed = tables.copy(), target.copy()
    kernels.learn_quantiles(tables, target, *common, dropped, draws)
    assert draws.left == 0
    for reward in (5.5, 6.0):
        before[0, 1, 0] = moved(before[0, 1, 0].tolist(), atoms, reward, rate)
        followed[0, 1, 0] = 0.75 * followed[0, 1, 0] + 0.25 * before[0, 1, 0]
    assert np.allclose(tables, before, rtol=1e-13, atol=0.0)
    assert np.allclose(target, followed, rtol=1e-13, atol=0.0)
