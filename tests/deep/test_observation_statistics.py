"""Running statistics of observations against the whole sample, and what networks see of a state."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from norm_cases import learner_of, random_batch

from pyresac.deep.algorithms import ALGORITHMS
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.observation_statistics import EPSILON, LARGEST, ObservationStatistics

EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=60)
UNIT = 2.0**-52
"""The least relative step of float64."""

rows = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40)


@EXAMPLES
@given(rows, st.lists(st.integers(1, 7), max_size=10))
def test_blocks_of_any_size_are_the_whole_sample(values: list[float], sizes: list[int]) -> None:
    """Against exact rationals. A merge rounds a few numbers of the sample's size, so the bound grows with merges."""
    statistics, left = ObservationStatistics(1), np.array(values, dtype=np.float32)[:, None]
    for size in (*sizes, len(values)):
        statistics.add(left[:size])
        left = left[size:]
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / len(exact)
    largest = max(abs(value) for value in values)
    steps = 8.0 * (len(values) + len(sizes) + 1) * UNIT
    assert statistics.tensors["observation_count"].item() == len(values)
    assert abs(Fraction(statistics.mean.item()) - mean) <= steps * largest
    assert abs(Fraction(statistics.variance.item()) - variance) <= steps * largest * max(
        largest, float(variance) ** 0.5
    )


def test_a_large_mean_does_not_drown_the_variance() -> None:
    """A sum of squares would have lost it: 1e9² needs all of float64's digits."""
    statistics = ObservationStatistics(1)
    for value in (1e9, 1e9 + 64, 1e9 + 128):
        statistics.add(np.array([[value]], dtype=np.float32))
    assert statistics.mean.item() == 1e9 + 64
    assert statistics.variance.item() == pytest.approx(2 * 64**2 / 3, rel=1e-9, abs=0)


def test_features_are_apart_and_an_empty_block_is_none() -> None:
    statistics = ObservationStatistics(2)
    statistics.add(np.empty((0, 2), np.float32))
    assert statistics.tensors["observation_count"].item() == 0
    statistics.add(np.array([[1, 10], [3, 10]], np.float32))
    assert statistics.mean.tolist() == [2.0, 10.0]
    assert statistics.variance.tolist() == [1.0, 0.0]


def test_what_networks_see() -> None:
    statistics, state = ObservationStatistics(2), Inputs(torch.tensor([[3.0, -1.0], [1e9, 5.0]]), None)
    raw = Inputs(torch.tensor([[3.0, -1.0]]), None)
    assert torch.equal(statistics.normalised(raw).dense, raw.dense), "as it is before the first state"
    statistics.add(np.array([[1, -1], [5, -1], [3, -1]], np.float32))
    seen = statistics.normalised(state).dense
    deviation = (8 / 3 + EPSILON) ** 0.5
    torch.testing.assert_close(seen[0], torch.tensor([0.0, 0.0]))
    assert seen[1].tolist() == [LARGEST, LARGEST], "clipped, a feature that never moved too"
    torch.testing.assert_close(
        statistics.normalised(Inputs(torch.tensor([[5.0, -1.0]]), None)).dense, torch.tensor([[2 / deviation, 0.0]])
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("actions", "dense", "categories"), [(1, 1, ()), (2, 3, (4, 6)), (1, 0, (2,))])
def test_learning_on_raw_states_is_learning_on_normalised_ones(
    algorithm: str, actions: int, dense: int, categories: tuple[int, ...]
) -> None:
    """Bit for bit, in the update, the actions and the values; and none of them moves the statistics."""
    sizes = (actions, dense, categories)
    learner = learner_of(algorithm, *sizes, normalise_observations=True)
    plain = learner_of(algorithm, *sizes)
    assert learner.observations is not None
    learner.observe((3.0 + 2.0 * np.random.default_rng(0).normal(size=(50, dense))).astype(np.float32))
    frozen = {name: tensor.clone() for name, tensor in learner.observations.tensors.items()}
    see = learner.observations.normalised
    for seed in range(3):
        batch = random_batch(*sizes, seed=seed)
        learner.update(batch)
        plain.update(batch._replace(state=see(batch.state), next_state=see(batch.next_state)))
    state, unit = random_batch(*sizes, seed=9).state, random_batch(*sizes, seed=9).action
    assert np.array_equal(learner.explore(state), plain.explore(see(state)))
    assert np.array_equal(learner.exploit(state), plain.exploit(see(state)))
    assert torch.equal(learner.values(state, unit), plain.values(see(state), unit))
    for name, tensor in plain.networks().items():
        assert torch.equal(learner.networks()[name], tensor), name
    for name, tensor in frozen.items():
        assert torch.equal(learner.networks()[name], tensor), name


def test_a_learner_without_them_keeps_none() -> None:
    learner = learner_of("sac")
    learner.observe(np.ones((2, 3), np.float32))
    assert not any(name.startswith("observation") for name in learner.arrays())
