"""Families of models are what their docstrings say: every probability, reward and start, by plain loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, families

Rows = dict[tuple[int, int], dict[int, float]]


def assert_is(mdp: FiniteMDP, rows: Rows, reward: dict[tuple[int, int], float]) -> None:
    """The model has these rows and rewards, a run begins in state 0, and nothing else is stored."""
    kernel = np.zeros((*mdp.reward.shape, mdp.n_states))
    for (s, a), row in rows.items():
        for t, p in row.items():
            kernel[s, a, t] = p
    np.testing.assert_allclose(mdp.dense(), kernel, rtol=0, atol=1e-15)
    assert {pair: float(mdp.reward[pair]) for pair in np.ndindex(mdp.reward.shape)} == pytest.approx(reward, abs=1e-15)
    np.testing.assert_array_equal(mdp.initial, np.eye(mdp.n_states)[0])
    assert mdp.available is None
    if mdp.is_sparse:
        assert mdp.matrix.nnz == np.count_nonzero(kernel), "no zeros are stored"


@pytest.mark.parametrize("slip", [0.0, 0.1, 0.25])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_chain(n: int, slip: float) -> None:
    rows: Rows = {}
    reward = {}
    for s in range(n):
        effects = [(min(s + 1, n - 1), 10.0 if s == n - 1 else 0.0), (0, 2.0)]
        for a in (0, 1):
            (meant, earned), (other, instead) = effects[a], effects[1 - a]
            row: dict[int, float] = defaultdict(float)
            row[meant] += 1 - slip
            row[other] += slip
            rows[s, a] = row
            reward[s, a] = (1 - slip) * earned + slip * instead
    assert_is(families.chain(n, 0.9, slip=slip), rows, reward)


@pytest.mark.parametrize("slip", [0.0, 0.25])
@pytest.mark.parametrize("side", [1, 2, 3])
def test_the_grid(side: int, slip: float) -> None:
    """Row by row from the top left; the last cell is the goal."""
    up, right, down, left = (-1, 0), (0, 1), (1, 0), (0, -1)
    sides = {up: (left, right), right: (up, down), down: (left, right), left: (up, down)}
    rows: Rows = {}
    reward = {}

    def landing(s: int, move: tuple[int, int]) -> int:
        row, column = s // side + move[0], s % side + move[1]
        return row * side + column if 0 <= row < side and 0 <= column < side else s

    goal = side * side - 1
    for s in range(side * side):
        for a, meant in enumerate((up, right, down, left)):
            found: dict[int, float] = defaultdict(float)
            if s == goal:
                found[s] = 1.0
            else:
                found[landing(s, meant)] += 1 - slip
                for move in sides[meant]:
                    found[landing(s, move)] += slip / 2
            rows[s, a], reward[s, a] = found, 0.0 if s == goal else -1.0
    assert_is(families.grid(side, 0.9, slip=slip), rows, reward)


@pytest.mark.parametrize(("arrival", "speeds"), [(0.25, (0.25, 0.5, 0.75)), (0.45, (0.3,))])
@pytest.mark.parametrize("capacity", [1, 2, 4])
def test_the_queue(capacity: int, arrival: float, speeds: tuple[float, ...]) -> None:
    """An arrival that finds it full is lost, an empty one serves nobody; arrival and speed may fill all of a row."""
    rows: Rows = {}
    reward = {}
    for s in range(capacity + 1):
        for a, speed in enumerate(speeds):
            row: dict[int, float] = defaultdict(float)
            if s < capacity:
                row[s + 1] = arrival
            if s > 0:
                row[s - 1] = speed
            row[s] = 1.0 - row.get(s + 1, 0.0) - row.get(s - 1, 0.0)
            rows[s, a], reward[s, a] = row, -s / capacity - speed**2
    assert_is(families.queue(capacity, 0.9, arrival=arrival, speeds=speeds), rows, reward)


@pytest.mark.parametrize(
    "make",
    [lambda seed: families.random_dense(40, 3, 0.9, seed), lambda seed: families.random_sparse(40, 3, 4, 0.9, seed)],
    ids=["dense", "sparse"],
)
def test_random_families_are_their_seed(make: Callable[[int], FiniteMDP]) -> None:
    """Equal seeds give equal models, others other rows and other rewards; rewards are as far from 0 as normal ones."""
    one, again, other = make(0), make(0), make(1)
    np.testing.assert_array_equal(one.dense(), again.dense())
    np.testing.assert_array_equal(one.reward, again.reward)
    assert (one.dense() != other.dense()).any(axis=2).all()
    assert (one.reward != other.reward).all()
    # six standard errors of 120 squares and of 120 numbers
    assert abs((one.reward**2).mean() - 1) <= 6 * np.sqrt(2 / 120)
    assert abs(one.reward.mean()) <= 6 / np.sqrt(120)
    assert one.initial is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: families.random_dense(2, 0, 0.9, 0), "n_actions is 0; it must be a whole number"),
        (lambda: families.random_dense(2, 2, 0.9, -1), "seed is -1; it must be a whole number"),
        (lambda: families.random_sparse(0, 2, 1, 0.9, 0), "n_states is 0; it must be a whole number"),
        (lambda: families.random_sparse(2, 2, 1, 0.9, -1), "seed is -1; it must be a whole number"),
        (lambda: families.grid(0, 0.9), "side is 0; it must be a whole number"),
        (lambda: families.grid(2, 0.9, slip=-0.1), r"slip is -0\.1"),
        (lambda: families.chain(0, 0.9), "n_states is 0; it must be a whole number"),
        (lambda: families.chain(2, 0.9, slip=1.0), r"slip is 1\.0; it must be in \[0, 1\)"),
        (lambda: families.queue(0, 0.9), "capacity is 0; it must be a whole number"),
        (lambda: families.queue(2, 0.9, arrival=0.0), r"arrival is 0\.0"),
        (lambda: families.queue(2, 0.9, speeds=()), "speeds are"),
        (lambda: families.queue(2, 0.9, speeds=(0.1, 0.0)), "speeds are"),
        (lambda: families.queue(2, 0.9, arrival=0.5, speeds=(0.1, 0.51)), "and arrival [+] speed at most 1"),
    ],
)
def test_sizes_and_shares_out_of_range_are_refused(make: Callable[[], FiniteMDP], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_grid_asks_for_its_memory_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three entries for each of four actions of nine cells."""
    asked: list[tuple[int, str]] = []
    monkeypatch.setattr(families, "check_room", lambda needed, what: asked.append((needed, what)))
    families.grid(3, 0.9)
    assert asked == [(20 * 108, "a model of 108 transitions")]


def test_random_rows_are_as_long_as_asked_for() -> None:
    mdp = families.random_sparse(1000, 2, 7, 0.9, seed=0)
    lengths = np.diff(mdp.matrix.indptr)
    # a successor that is drawn twice is one: seven of a thousand seldom meet
    assert (lengths.max(), (lengths == 7).mean() > 0.95) == (7, True)
    # uniform: each state is a successor of 14 pairs, give or take six standard deviations
    assert np.abs(np.bincount(mdp.matrix.indices, minlength=1000) - 14).max() <= 6 * np.sqrt(14)
    assert families.random_dense(5, 2, 0.9, 0).dense().min() > 0.0


def test_random_rows_are_divided_by_their_sums_twice() -> None:
    """Once as they are drawn, and once more by the model: what rounding has left is shared out."""
    n, actions, successors, seed = 300, 2, 150, 3
    found = families.random_sparse(n, actions, successors, 0.9, seed)
    rng = np.random.default_rng(seed)
    columns = rng.integers(n, size=(n * actions, successors), dtype=np.int32)
    drawn = rng.exponential(size=(n * actions, successors))
    drawn /= drawn.sum(axis=1, keepdims=True)
    shape, first = (n * actions, n), np.arange(0, drawn.size + 1, successors)
    kernel = sparse.csr_array((drawn.ravel(), columns.ravel(), first), shape=shape)
    once = FiniteMDP.from_arrays(kernel, found.reward, 0.9)
    twice = FiniteMDP.from_arrays(kernel, found.reward, 0.9, renormalise=True)
    assert (once.dense() != twice.dense()).any()
    np.testing.assert_array_equal(found.dense(), twice.dense())
