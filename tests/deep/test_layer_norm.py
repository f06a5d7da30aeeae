"""LayerNorm of the critics: the formula by hand, the compiled kernels against autograd, κ and the parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from norm_cases import inputs_like, learner_of, network_of, random_batch
from torch import Tensor

from pyresac.deep.algorithms import ALGORITHMS
from pyresac.deep.algorithms.sac import SACOptions
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import LAYER_EPSILON, NetworkLayout, weight_norms
from pyresac.errors import InputError

EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=40)


def by_hand(network: Network, head: int, dense: list[float], codes: list[int]) -> list[float]:
    """The outputs of one head for one input: loops over units, Python's floats, from the definition alone."""
    layout = network.layout
    weights, biases, tables = ([part[head].tolist() for part in parts] for parts in layout.split(network.matrix))
    scales, shifts = ([part[head].tolist() for part in parts] for parts in layout.affine(network.matrix))
    value = list(dense)
    for table, code, offset in zip(tables, codes, layout.code_offsets, strict=False):
        value += table[code - offset]
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        before = [b + sum(v * weight[i][j] for i, v in enumerate(value)) for j, b in enumerate(bias)]
        if layer == len(weights) - 1:
            return before
        mean = sum(before) / len(before)
        deviation = math.sqrt(sum((x - mean) ** 2 for x in before) / len(before) + LAYER_EPSILON)
        normed = [(x - mean) / deviation for x in before]
        after = [scales[layer][j] * x + shifts[layer][j] for j, x in enumerate(normed)]
        value = [math.tanh(x) if layout.activation == "tanh" else max(0.0, x) for x in after]
    raise AssertionError("a network has layers")


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("categories", [(), (3, 5)])
def test_the_formula(activation: str, categories: tuple[int, ...]) -> None:
    network = network_of(NetworkLayout(3, categories, (5, 4), 2, activation, "layer"), heads=2, dtype=torch.float64)
    given_inputs = inputs_like(network.layout, 6)
    output = network.run_eager(given_inputs).output
    codes = given_inputs.codes.tolist() if given_inputs.codes is not None else [[]] * 6
    for head in range(2):
        for row, dense in enumerate(given_inputs.dense.tolist()):
            expected = by_hand(network, head, dense, codes[row])
            np.testing.assert_allclose(output[head, row].tolist(), expected, rtol=1e-12, atol=1e-12)


LAYOUTS = st.builds(
    NetworkLayout,
    dense=st.integers(1, 4),
    categories=st.sampled_from([(), (2,), (3, 6)]),
    hidden=st.lists(st.integers(2, 37), min_size=1, max_size=3).map(tuple),
    outputs=st.integers(1, 3),
    activation=st.sampled_from(["relu", "tanh"]),
    normalisation=st.just("layer"),
)


@EXAMPLES
@given(LAYOUTS, st.integers(1, 3), st.integers(1, 40), st.integers(0, 2**16))
def test_the_kernels_are_autograd_of_the_formula(layout: NetworkLayout, heads: int, size: int, seed: int) -> None:
    """In float64, where rounding is far below any wrong term."""
    network = network_of(layout, heads, seed, dtype=torch.float64)
    given_inputs = inputs_like(layout, size, seed)
    compiled, eager = network.run(given_inputs), network.run_eager(given_inputs)
    close(compiled.output, eager.output)
    slope = torch.randn(heads, size, layout.outputs, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    close(compiled.gradient(slope), eager.gradient(slope))
    close(compiled.input_gradient(slope), eager.input_gradient(slope))
    first = max(1, size // 2)
    close(compiled.first(first).gradient(slope[:, :first]), eager.first(first).gradient(slope[:, :first]))
    close(network.run(given_inputs, keep=False).output, eager.output)


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_a_batch_of_many_chunks_and_threads() -> None:
    """Chunks and threads change no more than the products do; threads change no bit."""
    layout = NetworkLayout(5, (4,), (256, 256), 1, "relu", "layer")
    network = network_of(layout, 3)
    given_inputs = inputs_like(layout, 700, dtype=torch.float32)
    alone = network.run(given_inputs)
    shared = Network(layout, network.matrix, threads=3).run(given_inputs)
    slope = torch.ones(3, 700, 1)
    assert torch.equal(alone.output, shared.output)
    assert torch.equal(alone.gradient(slope), shared.gradient(slope))
    eager = network.run_eager(given_inputs)
    torch.testing.assert_close(alone.output, eager.output, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(alone.gradient(slope), eager.gradient(slope), rtol=1e-3, atol=2e-3)
    assert torch.equal(network.run(given_inputs, keep=False).output, alone.output)


def test_kappa_counts_weights_alone() -> None:
    plain, normed = (NetworkLayout(3, (4,), (6, 5), 1, "relu", kind) for kind in ("none", "layer"))
    assert normed.length == plain.length + 2 * (6 + 5)
    matrix = network_of(normed, 2).matrix
    for biases in (False, True):
        expected = weight_norms(matrix[:, : plain.length].clone(), plain, biases)
        assert torch.equal(weight_norms(matrix, normed, biases), expected)


def test_a_fresh_network_has_scales_of_one_and_no_shift() -> None:
    layout = NetworkLayout(3, (), (6, 5), 1, "relu", "layer")
    scales, shifts = layout.affine(layout.initial(2, torch.Generator().manual_seed(0)))
    assert [tuple(scale.shape) for scale in scales] == [(2, 6), (2, 5)]
    assert all(bool((scale == 1.0).all()) for scale in scales)
    assert all(bool((shift == 0.0).all()) for shift in shifts)


def test_the_initial_weights_are_those_of_a_network_without() -> None:
    plain, normed = (NetworkLayout(3, (4,), (6, 5), 1, "relu", kind) for kind in ("none", "layer"))
    matrices = [layout.initial(2, torch.Generator().manual_seed(7)) for layout in (plain, normed)]
    assert torch.equal(matrices[1][:, : plain.length], matrices[0])


def test_a_shift_and_a_scale_of_the_pre_activations_change_nothing() -> None:
    """What LayerNorm is for: mean and size of a layer's sums are taken away, up to ε."""
    layout = NetworkLayout(3, (), (16,), 1, "relu", "layer")
    network = network_of(layout, 1, dtype=torch.float64)
    other = network.clone()
    weights, biases, _ = layout.split(other.matrix)
    weights[0] *= 1e4
    biases[0].mul_(1e4).add_(5e3)
    given_inputs = inputs_like(layout, 9)
    torch.testing.assert_close(
        other.run_eager(given_inputs).output, network.run_eager(given_inputs).output, rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("actions", "dense", "categories"), [(1, 1, ()), (2, 3, (4, 6)), (1, 0, (2,))])
def test_every_algorithm_learns_with_it(algorithm: str, actions: int, dense: int, categories: tuple[int, ...]) -> None:
    learner = learner_of(algorithm, actions, dense, categories, normalisation="layer")
    before = learner.critic.matrix.clone()
    for seed in range(6):
        learner.update(random_batch(actions, dense, categories, seed=seed))
    assert learner.not_finite is None
    assert bool(torch.isfinite(learner.critic.matrix).all())
    scales, shifts = learner.critic.layout.affine(learner.critic.matrix - before)
    assert all(bool((part != 0).any()) for part in (*scales, *shifts))
    assert learner.actor.layout.normalised == ()


def test_one_transition_and_one_action_are_enough() -> None:
    learner = learner_of("sac", 1, 1, (), normalisation="layer", batch_size=1)
    learner.update(random_batch(1, 1, (), size=1))
    assert bool(torch.isfinite(learner.critic.matrix).all())


def test_a_layer_of_one_unit_is_refused() -> None:
    with pytest.raises(InputError, match="a layer of one unit is 0 whatever it is given"):
        SACOptions(hidden=(8, 1), normalisation="layer")


def test_an_unknown_code_is_named() -> None:
    network = network_of(NetworkLayout(1, (3,), (4,), 1, "relu", "layer"), 1)
    with pytest.raises(IndexError, match="they must lie in 0 … 2"):
        network.run(Inputs(torch.zeros(1, 1), torch.tensor([[3]])))
