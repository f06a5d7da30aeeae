"""Families of MDPs for examples, tests and benchmarks: seeded, of any size, built without a Python loop over states."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import check_number, check_room, check_whole, finite_array
from pyresac.tabular.mdp import FiniteMDP


def random_dense(n_states: int, n_actions: int, discount: float, seed: int) -> FiniteMDP:
    """Rows uniform on the simplex (Dirichlet(1, …, 1)), rewards standard normal; dense (S, A, S)."""
    _positive(n_states=n_states, n_actions=n_actions)
    rng = _generator(seed)
    weights = rng.exponential(size=(n_states, n_actions, n_states))
    kernel = weights / weights.sum(axis=2, keepdims=True)
    return FiniteMDP.from_arrays(kernel, rng.normal(size=(n_states, n_actions)), discount, renormalise=True)


def random_sparse(n_states: int, n_actions: int, successors: int, discount: float, seed: int) -> FiniteMDP:
    """Each pair has `successors` successors drawn uniformly (repeats are added up), rewards standard normal."""
    _positive(n_states=n_states, n_actions=n_actions, successors=successors)
    rng = _generator(seed)
    pairs = n_states * n_actions
    _room(pairs * successors)
    columns = rng.integers(n_states, size=(pairs, successors), dtype=np.int32)
    weights = rng.exponential(size=(pairs, successors))
    weights /= weights.sum(axis=1, keepdims=True)
    indptr = np.arange(0, pairs * successors + 1, successors)
    kernel = sparse.csr_array((weights.ravel(), columns.ravel(), indptr), shape=(pairs, n_states))
    return FiniteMDP.from_arrays(kernel, rng.normal(size=(n_states, n_actions)), discount, renormalise=True)


def grid(side: int, discount: float, *, slip: float = 0.2) -> FiniteMDP:
    """A side × side grid, four actions (up, right, down, left): a move goes as meant with probability 1 − slip, else to
    one of the two sides; walls hold. The last cell is the goal, absorbing with reward 0; elsewhere a step costs 1."""
    _positive(side=side)
    _check_slip(slip)
    n = side * side
    _room(12 * n)
    row, col = np.divmod(np.arange(n), side)
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    landing = [
        (np.clip(row + dr, 0, side - 1) * side + np.clip(col + dc, 0, side - 1)).astype(np.int32) for dr, dc in moves
    ]
    columns = np.stack([np.stack([landing[a], landing[a - 1], landing[(a + 1) % 4]], axis=1) for a in range(4)], axis=1)
    data = np.broadcast_to(np.array([1.0 - slip, slip / 2, slip / 2]), columns.shape).copy()
    reward = np.full((n, 4), -1.0)
    columns[-1], reward[-1] = n - 1, 0.0
    indptr = np.arange(0, 12 * n + 1, 3)
    kernel = sparse.csr_array((data.ravel(), columns.ravel(), indptr), shape=(4 * n, n))
    kernel.sum_duplicates()
    kernel.eliminate_zeros()
    return FiniteMDP.from_arrays(kernel, reward, discount, initial=np.eye(1, n)[0])


def queue(
    capacity: int, discount: float, *, arrival: float = 0.45, speeds: tuple[float, ...] = (0.3, 0.5)
) -> FiniteMDP:
    """A single-server queue with states 0…capacity; action a serves with probability speeds[a] and costs its square.

    Each step: one arrival with probability `arrival` (lost when full), or one service with probability speeds[a], or
    nothing; arrival + speed ≤ 1. Holding costs the number waiting, scaled by the capacity.
    """
    _positive(capacity=capacity)
    service_rates = finite_array("speeds", speeds, ndim=1)
    arrival = check_number("arrival", arrival, "a number above 0", low=0.0, open_low=True)
    if not service_rates.size or service_rates.min() <= 0 or arrival + service_rates.max() > 1:
        raise InputError(
            f"arrival is {arrival} and speeds are {speeds}; each must be positive, and arrival + speed at most 1"
        )
    n, n_actions = capacity + 1, service_rates.size
    level = np.arange(n)[:, None]
    service = service_rates[None, :]
    down = np.broadcast_to(np.where(level > 0, service, 0.0), (n, n_actions))
    up = np.broadcast_to(np.where(level < capacity, arrival, 0.0), (n, n_actions))
    data = np.stack([down, 1.0 - down - up, up], axis=2)
    columns = np.broadcast_to(level[:, :, None] + np.array([-1, 0, 1]), data.shape).clip(0, capacity).astype(np.int32)
    indptr = np.arange(0, data.size + 1, 3)
    kernel = sparse.csr_array((data.ravel(), columns.ravel(), indptr), shape=(n * n_actions, n))
    kernel.sum_duplicates()
    kernel.eliminate_zeros()
    return FiniteMDP.from_arrays(kernel, -(level / capacity) - service**2, discount, initial=np.eye(1, n)[0])


def chain(n_states: int, discount: float, *, slip: float = 0.1) -> FiniteMDP:
    """The chain of Dearden, Friedman and Russell: action 0 walks right and earns 10 at the end, action 1 returns to the
    start and earns 2; with probability `slip` the other action's effect happens."""
    _positive(n_states=n_states)
    _check_slip(slip)
    right = np.minimum(np.arange(n_states) + 1, n_states - 1)
    forward, back = np.zeros((n_states, n_states)), np.zeros((n_states, n_states))
    forward[np.arange(n_states), right] = 1.0
    back[:, 0] = 1.0
    kernel = np.stack([(1 - slip) * forward + slip * back, (1 - slip) * back + slip * forward], axis=1)
    earned = np.where(np.arange(n_states) == n_states - 1, 10.0, 0.0)
    reward = np.stack([(1 - slip) * earned + slip * 2.0, (1 - slip) * 2.0 + slip * earned], axis=1)
    return FiniteMDP.from_arrays(kernel, reward, discount, initial=np.eye(1, n_states)[0], renormalise=True)


def _positive(**sizes: int) -> None:
    for name, size in sizes.items():
        check_whole(name, size, low=1)


def _room(entries: int) -> None:
    """InputError where so many entries do not fit: 12 bytes each, and 8 of a copy that checks make."""
    check_room(20 * entries, f"a model of {entries} transitions")


def _check_slip(slip: float) -> None:
    if check_number("slip", slip, "in [0, 1)", low=0.0) >= 1.0:
        raise InputError(f"slip is {slip}; it must be in [0, 1)")


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(check_whole("seed", seed, low=0))
