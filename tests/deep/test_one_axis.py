"""No axis is left out: draws of heads, rows and coordinates are apart, rows do not mix, and every input matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from deep_cases import (
    CPU,
    SIZE,
    every_algorithm,
    learner_target,
    random_batch,
    small_algorithm,
    small_learner,
    watched_update,
)
from independence import assert_apart, assert_apart_along_every_axis

from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.random_source import Noise
from pyresac.deep.replay import Batch, ReplayBuffer, RowWidths
from pyresac.tasks.experience import Experience

REPEATS = 10
"""Among 4,800 numbers of 24 bits about one pair is equal."""
DIMENSIONS: list[dict[str, Any]] = [
    {"actions": 2, "dense": 3, "categories": (4, 6)},
    {"actions": 1, "dense": 1, "categories": ()},
    {"actions": 1, "dense": 0, "categories": (2,)},
    {"actions": 3, "dense": 1, "categories": (1, 2)},
]
every_dimension = pytest.mark.parametrize(
    "sizes", DIMENSIONS, ids=lambda sizes: "-".join(str(size) for size in sizes.values())
)


# --- draws


@every_algorithm
def test_first_parameters_of_critics_are_apart(algorithm: str) -> None:
    """Of two heads, and of two places in a head."""
    found = small_algorithm(algorithm, ensemble_size=80, hidden=(5, 4), normalisation="none")
    matrix = found.initial_critic(found.critic_layout(3, (2, 6)), torch.Generator().manual_seed(0)).numpy()
    assert_apart(matrix)
    # each number on its own scale, so that those of a wide range do not stand for all
    assert_apart((matrix / np.abs(matrix).max(axis=0)).T)


def test_first_parameters_of_one_unit_are_apart() -> None:
    assert_apart(NetworkLayout(1, (1,), (1, 1), 1).initial(400, torch.Generator().manual_seed(0)).numpy())


@every_algorithm
@pytest.mark.parametrize("actions", [1, 3])
def test_actions_that_explore_are_apart(algorithm: str, actions: int) -> None:
    """Of calls, rows of a batch and coordinates, in one and the same state."""
    learner = small_learner(algorithm, actions=actions, dense=1, categories=())
    state = Inputs(torch.zeros(8, 1), None)
    for draw in (lambda: learner.explore(state), lambda: learner.random_actions(8)):
        drawn = np.array([draw() for _ in range(200)])
        assert_apart_along_every_axis(drawn - drawn.mean(axis=0), REPEATS)


@every_algorithm
@pytest.mark.parametrize("actions", [1, 3])
def test_actions_of_targets_are_apart(algorithm: str, actions: int) -> None:
    found, noise = small_algorithm(algorithm), Noise(0, CPU)
    policy = found.policy(0.0, actions)
    outputs = torch.zeros(8, policy.outputs(actions))
    drawn = [found.next_action(policy.sample(outputs, noise), noise).numpy() for _ in range(200)]
    assert_apart(np.array(drawn).reshape(200, -1))


@pytest.mark.parametrize("algorithm", ["tqc", "dsac"])
def test_fractions_are_apart(algorithm: str) -> None:
    """Those of two calls and of two rows; in one row they may depend on each other, since they ascend."""
    found, noise = small_algorithm(algorithm, quantiles=4), Noise(0, CPU)
    drawn = [found.fractions(8, noise) for _ in range(200)]
    if drawn[0] is None or len(drawn[0].at) == 1:
        return
    at = np.array([fractions.at.numpy() for fractions in drawn])
    for quantile in range(4):
        assert_apart(at[:, :, quantile])
        assert_apart(at[:, :, quantile].T.reshape(4, -1).T)


def test_rows_of_batches_are_apart() -> None:
    """Each transition is as likely in each row, whatever stands in the others."""
    buffer = ReplayBuffer(50, RowWidths(1, 1, 0))
    number = np.arange(50.0, dtype=np.float32)[:, None]
    none = np.empty((50, 0), dtype=np.int64)
    buffer.add(Experience(number, none, number, number[:, 0], np.zeros(50, dtype=bool), number, none))
    generator = np.random.default_rng(0)
    rows = np.array([buffer.sample(8, generator, CPU).action[:, 0].numpy() for _ in range(2000)])
    assert_apart(rows)
    counts = np.apply_along_axis(np.bincount, 0, rows.astype(int), minlength=50)
    # 2,000 draws of 50 numbers: 40 of each, within seven standard deviations
    assert (np.abs(counts - 40.0) < 7 * np.sqrt(40.0)).all()


# --- what depends on what


def spoiled(batch: Batch, row: int) -> Batch:
    """The batch with another transition in a row."""
    other = random_batch(1)

    def mixed(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        result = first.clone()
        result[row] = second[row]
        return result

    def features(first: Inputs, second: Inputs) -> Inputs:
        assert first.codes is not None
        assert second.codes is not None
        return Inputs(mixed(first.dense, second.dense), mixed(first.codes, second.codes))

    return Batch(
        mixed(batch.action, other.action), features(batch.state, other.state), mixed(batch.reward, other.reward),
        mixed(batch.terminal, other.terminal), features(batch.next_state, other.next_state),
    )  # fmt: skip


@every_algorithm
def test_the_target_of_a_transition_is_its_own(algorithm: str) -> None:
    learner, batch = small_learner(algorithm), random_batch()
    before = learner_target(learner, batch)
    for row in (0, 5, SIZE - 1):
        after = learner_target(learner, spoiled(batch, row))
        rows = list(before.shape).index(SIZE)
        same = (after == before).movedim(rows, 0).reshape(SIZE, -1).all(1)
        assert same.sum() == SIZE - 1
        assert not same[row]


def places(batch: Batch, categories: tuple[int, ...]) -> list[tuple[str, Batch]]:
    """Each number that an update reads, and the batch with another one there, in all rows."""
    found = []
    for place in range(batch.action.shape[1]):
        action = batch.action.clone()
        action[:, place] = -action[:, place] + 0.1
        found.append((f"action {place}", batch._replace(action=action)))
    for name in ("state", "next_state"):
        state: Inputs = getattr(batch, name)
        for place in range(state.dense.shape[1]):
            dense = state.dense.clone()
            dense[:, place] += 0.5
            found.append((f"{name} {place}", batch._replace(**{name: state._replace(dense=dense)})))
        first = 0
        for feature, count in enumerate(categories):
            if count > 1:
                assert state.codes is not None
                codes = state.codes.clone()
                codes[:, feature] = first + (codes[:, feature] - first + 1) % count
                found.append((f"{name} code {feature}", batch._replace(**{name: state._replace(codes=codes)})))
            first += count
    return found


@every_algorithm
@every_dimension
def test_every_number_of_a_transition_matters(algorithm: str, sizes: dict[str, Any]) -> None:
    """For the critics always, for the actor those of the state."""
    # of tanh: a unit of ReLU may be off for a whole batch
    learner = small_learner(algorithm, **sizes, activation="tanh", actor_every=1)
    batch = random_batch(**sizes)._replace(terminal=torch.zeros(16))
    before = watched_update(learner, batch).gradients
    for name, other in places(batch, sizes["categories"]):
        learner.updates = 0
        after = watched_update(learner, other).gradients
        assert not torch.equal(after["critic"], before["critic"]), name
        if name.startswith("state"):
            assert not torch.equal(after["actor"], before["actor"]), name


@every_algorithm
@every_dimension
def test_every_number_of_a_state_and_an_action_has_its_value(algorithm: str, sizes: dict[str, Any]) -> None:
    """An action depends on every number of its state, and a head's value on these and on every coordinate."""
    learner = small_learner(algorithm, **sizes, activation="tanh")
    batch = random_batch(**sizes)

    def seen(of: Batch) -> tuple[np.ndarray, np.ndarray]:
        learner.noise = Noise(0, CPU)
        return learner.exploit(of.state), learner.values(of.state, of.action).numpy()

    action, values = seen(batch)
    for name, other in places(batch, sizes["categories"]):
        if name.startswith("next"):
            continue
        changed_action, changed_values = seen(other)
        assert (changed_values != values).all(), name
        assert (changed_action != action).all() == name.startswith("state"), name
