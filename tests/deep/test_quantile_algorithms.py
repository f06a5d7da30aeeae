"""TQC and DSAC: identities of their formulas, their targets beside a tabular operator, and bad options."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from quantile_cases import CPU, STATE, UNIT32, learner_of, random_batch, target_inputs
from registry import algorithm_of
from torch import Tensor

from pyresac.deep.algorithms.algorithm import ActorInputs
from pyresac.deep.algorithms.dsac import DSACOptions
from pyresac.deep.algorithms.tqc import TQCOptions, truncated_each, truncated_pool
from pyresac.deep.networks.implicit_layout import ImplicitLayout
from pyresac.deep.networks.implicit_quantiles import ImplicitQuantiles
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.quantiles import Fractions, even_fractions, spaced_fractions
from pyresac.deep.random_source import Noise
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, PolicyEntropy, RevOperator

ROUNDING = {"rtol": 1e-12, "atol": 1e-12}
SMALL: dict[str, Any] = {"hidden": (6, 5), "actor_hidden": (7,), "quantiles": 4}
seeds = st.integers(0, 2**31)


def drawn(seed: int, *shape: int) -> Tensor:
    """Standard normal, float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def fractions_of(seed: int, size: int, count: int) -> Fractions:
    """Drawn ones, whose weights sum to 1 in float64."""
    widths = spaced_fractions(size, count, Noise(seed, CPU)).weights.double()
    widths = widths / widths.sum(1, keepdim=True)
    return Fractions(widths.cumsum(1) - 0.5 * widths, widths)


# --- truncation


@given(seeds, st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.data())
@settings(max_examples=40, deadline=None)
def test_truncation_keeps_the_smallest_atoms(seed: int, heads: int, size: int, each: int, data: st.DataObject) -> None:
    dropped = data.draw(st.integers(0, each - 1))
    quantiles = drawn(seed, heads, size, each)
    pool, own = truncated_pool(quantiles, dropped), truncated_each(quantiles, dropped)
    for b in range(size):
        atoms = sorted(float(quantiles[k, b, m]) for k in range(heads) for m in range(each))
        assert pool[b].tolist() == atoms[: heads * (each - dropped)]
        kept = [x for k in range(heads) for x in sorted(quantiles[k, b].tolist())[: each - dropped]]
        assert sorted(own[b].tolist()) == sorted(kept)


@given(seeds, st.integers(1, 4), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_with_nothing_dropped_the_target_is_the_mean_of_quantiles(seed: int, heads: int, each: int) -> None:
    quantiles, log_prob, reward = drawn(seed, heads, 3, each), drawn(seed + 1, 3), drawn(seed + 2, 3)
    tqc = algorithm_of(TQCOptions(quantiles=each, dropped=0))
    after = target_inputs(
        quantiles, log_prob, even_fractions(each, CPU), reward=reward, alpha=0.3, discount=0.9, going=drawn(0, 3).sign()
    )
    expected = reward + 0.9 * after.going * (quantiles.mean((0, 2)) - 0.3 * log_prob)
    torch.testing.assert_close(tqc.target(after).mean(1), expected, **ROUNDING)


@given(seeds, st.integers(2, 4), st.integers(2, 5), st.sampled_from(["pool", "critic"]))
@settings(max_examples=40, deadline=None)
def test_the_order_of_critics_changes_nothing(seed: int, heads: int, each: int, where: str) -> None:
    quantiles, log_prob = drawn(seed, heads, 3, each), drawn(seed + 1, 3)
    order = torch.randperm(heads, generator=torch.Generator().manual_seed(seed))
    tqc = algorithm_of(TQCOptions(quantiles=each, dropped=1, drops_from=where))
    dsac = algorithm_of(DSACOptions(quantiles=each))
    fractions = fractions_of(seed, 3, each)
    for algorithm in (tqc, dsac):
        targets = [
            algorithm.target(target_inputs(one, log_prob, fractions, alpha=0.2))
            for one in (quantiles, quantiles[order])
        ]
        assert torch.equal(targets[0].sort(1).values, targets[1].sort(1).values)
        losses = [
            algorithm.quantile_loss(one, targets[0], fractions, fractions) for one in (quantiles, quantiles[order])
        ]
        torch.testing.assert_close(*losses, **ROUNDING)
        actors = [
            algorithm.actor_loss(ActorInputs(one, log_prob, log_prob[:, None], 0.2, log_prob[:, None], fractions))
            for one in (quantiles, quantiles[order])
        ]
        torch.testing.assert_close(*actors, **ROUNDING)


@given(seeds, st.integers(1, 3), st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_dropping_more_lowers_the_value(seed: int, heads: int, each: int) -> None:
    quantiles = drawn(seed, heads, 4, each)
    for truncated in (truncated_pool, truncated_each):
        values = [truncated(quantiles, dropped).mean(1) for dropped in range(each)]
        assert all((less <= more + 1e-12).all() for more, less in pairwise(values))
    assert (truncated_pool(quantiles, 1).mean(1) <= truncated_each(quantiles, 1).mean(1) + 1e-12).all()


def test_tqc_drops_from_the_pool_and_its_loss_weighs_every_atom_alike() -> None:
    """By hand: two critics of two quantiles, one dropped each."""
    quantiles = torch.tensor([[[0.0, 1.0]], [[5.0, 6.0]]], dtype=torch.double)
    tqc = algorithm_of(TQCOptions(quantiles=2, dropped=1))
    y = tqc.target(target_inputs(quantiles, torch.zeros(1).double(), even_fractions(2, CPU)))
    assert y.tolist() == [[0.0, 1.0]]
    own = algorithm_of(TQCOptions(quantiles=2, dropped=1, drops_from="critic"))
    assert own.target(target_inputs(quantiles, torch.zeros(1).double(), even_fractions(2, CPU))).tolist() == [
        [0.0, 5.0]
    ]
    # θ = 0 at τ = 1/4, 3/4: errors 0 and 1, Huber 0 and ½; θ = 3: errors −3 and −2, Huber 2½ and 1½, both × (1 − τ)
    heads = torch.tensor([[[0.0, 3.0]]], dtype=torch.double)
    loss = tqc.quantile_loss(heads, y, even_fractions(2, CPU), even_fractions(4, CPU))
    assert float(loss) == pytest.approx((0.25 * 0.5 + 0.25 * (2.5 + 1.5)) / 4, abs=1e-7)


def test_dsac_by_hand() -> None:
    fractions = Fractions(*(torch.tensor([row], dtype=torch.double) for row in ([0.1, 0.6], [0.2, 0.8])))
    dsac = algorithm_of(DSACOptions(quantiles=2))
    quantiles = torch.tensor([[[0.0, 4.0]], [[1.0, 2.0]]], dtype=torch.double)
    y = dsac.target(target_inputs(quantiles, torch.ones(1).double(), fractions, alpha=0.5))
    assert y.tolist() == [[-0.5, 1.5]]
    now = ActorInputs(quantiles, torch.ones(1).double(), torch.zeros(1, 1), 0.5, torch.zeros(1, 1), fractions)
    # of 3.2 and 1.8 the least; no minimum per quantile here
    assert float(dsac.actor_loss(now)) == pytest.approx(0.5 - 1.8)
    asked = Fractions(torch.tensor([[0.5]], dtype=torch.double), torch.ones(1, 1).double())
    loss = dsac.quantile_loss(torch.zeros(1, 1, 1).double(), y, asked, fractions)
    assert float(loss) == pytest.approx(0.5 * (0.2 * 0.125 + 0.8 * 1.0))


# --- beside the tabular operator

STATES, CHOICES = 4, 3


@given(seeds, st.sampled_from(["tqc", "dsac"]), st.integers(0, 2), st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_mean_of_a_target_is_the_tabular_backup(seed: int, name: str, dropped: int, ends: bool) -> None:
    """On tables Z (K, S, A, M): of the tabular operator on what the algorithm takes for Q, averaged over s′ and a′."""
    heads, each = 2, 3
    generator = np.random.default_rng(seed)
    transition = generator.dirichlet(np.ones(STATES), size=(STATES, CHOICES))
    reward = generator.normal(size=(STATES, CHOICES))
    policy = generator.dirichlet(np.full(CHOICES, 5.0), size=STATES)
    tables = torch.from_numpy(generator.normal(size=(heads, STATES, CHOICES, each)))
    final = np.zeros(STATES, dtype=bool)
    final[-1] = ends
    fractions = fractions_of(seed, 1, each)
    # what the algorithm takes for Q
    flat = tables.flatten(1, 2)
    if name == "tqc":
        algorithm: Any = algorithm_of(TQCOptions(quantiles=each, dropped=dropped))
        q = flat.transpose(0, 1).flatten(1).sort(1).values[:, : heads * (each - dropped)].mean(1)
        weights = torch.full((1, heads * (each - dropped)), 1.0 / (heads * (each - dropped)), dtype=torch.double)
    else:
        algorithm, weights = algorithm_of(DSACOptions(quantiles=each)), fractions.weights
        q = (flat.amin(0) * weights).sum(1)
    mdp = FiniteMDP.from_arrays(transition, reward, 0.9)
    value = PolicyEntropy(policy, 0.4)
    rev = RevOperator(mdp, value=value)
    expected = rev.backup(np.where(final, 0.0, rev.value_of(q.reshape(STATES, CHOICES).numpy())))
    s, a, after, choice = (index.reshape(-1) for index in np.indices((STATES, CHOICES, STATES, CHOICES)))
    inputs = target_inputs(
        tables[:, after, choice],
        torch.from_numpy(np.log(policy)[after, choice]),
        fractions,
        reward=torch.from_numpy(reward[s, a]),
        going=torch.from_numpy(1.0 - final[after]),
        discount=0.9,
        alpha=0.4,
    )
    mean = (algorithm.target(inputs) * weights).sum(1).numpy()
    chance = (transition[:, :, :, None] * policy[None, None]).reshape(-1)
    found = (mean * chance).reshape(STATES, CHOICES, -1).sum(2)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * (1 + np.abs(np.log(policy)).max()))


def test_as_many_atoms_as_transitions_are_no_matter() -> None:
    """(B, N) with N = B: the reward belongs to the rows."""
    tqc = algorithm_of(TQCOptions(quantiles=2, dropped=0))
    quantiles, reward = torch.zeros(2, 4, 2).double(), torch.arange(4.0).double()
    y = tqc.target(target_inputs(quantiles, torch.zeros(4).double(), even_fractions(2, CPU), reward=reward))
    assert torch.equal(y, reward[:, None].expand(4, 4))


# --- implicit networks


@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
@pytest.mark.parametrize("normalisation", ["none", "layer"])
def test_an_implicit_network_is_its_formula(activation: Any, normalisation: Any) -> None:
    """Written for one row, one fraction and one head, in float64, from the order of a row of parameters."""
    layout = ImplicitLayout(
        3, (4,), (6, 5, 7), 2, normalisation=normalisation, cosines=3, embedding_activation=activation
    )
    source = torch.Generator().manual_seed(0)
    matrix = torch.randn(2, layout.length, generator=source)
    network = ImplicitQuantiles(layout, matrix)
    inputs = Inputs(
        torch.randn(4, 3, generator=source), torch.tensor([[0], [3], [1], [2]]), torch.rand(4, 2, generator=source)
    )
    found = network.run(inputs).output
    for k, b, j in np.ndindex(2, 4, 2):
        row, parts = matrix[k].double().numpy(), []
        for shape in layout.shapes:
            parts.append(row[: int(np.prod(shape))].reshape(shape))
            row = row[int(np.prod(shape)) :]
        assert not row.size
        (w1, w2, w3, w4, we), (b1, b2, b3, b4, be), table, affine = parts[:5], parts[5:10], parts[10], parts[11:]

        def layer(x: Any, w: Any, c: Any, place: int, after: Any, affine: Any = affine) -> Any:
            x = x @ w + c
            if normalisation == "layer":
                x = affine[place] * (x - x.mean()) / np.sqrt(x.var() + 1e-5) + affine[4 + place]
            return after(x)

        def relu(x: Any) -> Any:
            return np.maximum(x, 0.0)

        x = np.concatenate([inputs.dense[b].double().numpy(), table[int(inputs.codes[b, 0])]])
        x = layer(layer(x, w1, b1, 0, relu), w2, b2, 1, relu)
        cosines = np.cos(np.pi * np.arange(1, 4) * float(inputs.fractions[b, j]))
        x = x * layer(cosines, we, be, 3, relu if activation == "relu" else lambda v: 1 / (1 + np.exp(-v)))
        x = layer(x, w3, b3, 2, relu) @ w4 + b4
        assert abs(float(found[k, b, j]) - x[0]) <= 2000 * UNIT32 * (1 + abs(x[0]))


def test_one_row_of_fractions_is_for_all() -> None:
    layout = ImplicitLayout(STATE, (), (6, 5), 3)
    network = ImplicitQuantiles(layout, layout.initial(2, torch.Generator().manual_seed(0)))
    dense = torch.randn(4, STATE)
    one = network.run(Inputs(dense, None, torch.tensor([[0.2, 0.5, 0.9]]))).output
    all_rows = network.run(Inputs(dense, None, torch.tensor([[0.2, 0.5, 0.9]]).expand(4, 3).contiguous())).output
    torch.testing.assert_close(one, all_rows, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="these inputs have none"):
        network.run(Inputs(dense, None))


# --- learners


OPTIONS = {
    "tqc": TQCOptions(ensemble_size=2, dropped=1, **SMALL),
    "one quantile": TQCOptions(ensemble_size=2, dropped=0, **{**SMALL, "quantiles": 1}),
    "implicit tqc": TQCOptions(ensemble_size=2, dropped=1, critics="implicit", drops_from="critic", **SMALL),
    "dsac": DSACOptions(**SMALL),
    "dsac without layer norm": DSACOptions(normalisation="none", **SMALL),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_saved_learner_goes_on_bit_for_bit(name: str) -> None:
    categories = (3, 4)
    first, second = learner_of(OPTIONS[name], categories), learner_of(OPTIONS[name], categories, seed=7)
    batches = [random_batch(8, seed, categories) for seed in range(6)]
    for batch in batches[:3]:
        first.update(batch)
    second.load(first.state(), first.arrays())
    for batch in batches[3:]:
        for learner in (first, second):
            learner.values(batch.state, batch.action)  # an evaluation between, of the one or the other, changes nothing
            learner.update(batch)
        first.values(batch.state, batch.action)
    assert first.not_finite is None
    for array, other in zip(first.arrays().values(), second.arrays().values(), strict=True):
        assert array.tobytes() == other.tobytes()
    assert first.values(batches[0].state, batches[0].action).shape == (2, 8)


def test_a_fixed_temperature_stays() -> None:
    learner = learner_of(DSACOptions(alpha_init=0.2, temperature_lr=0.0, **SMALL))
    learner.update(random_batch(8))
    assert learner.alpha == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dropped": 25}, "dropped = 25; it must be less than quantiles = 25"),
        ({"dropped": -1}, "dropped = -1; it must be at least 0"),
        ({"critics": "implicit", "hidden": (8,)}, "hidden = \\[8\\]; implicit quantile critics need two layers"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TQCOptions(**options)


def test_dsac_needs_two_layers() -> None:
    with pytest.raises(InputError, match="need two layers"):
        DSACOptions(hidden=(8,))
