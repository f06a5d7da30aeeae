"""The ensemble written out against networks that autograd differentiates head by head."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from pyresac.agents.deep import objectives as eq
from pyresac.agents.deep.distribution import SquashedGaussian
from pyresac.agents.deep.ensemble import ensemble_forward
from pyresac.agents.deep.parameters import Layout, embedding_width, weight_norms

HEADS, BATCH = 3, 11
ROUNDING = 1e-12
"""Well above the rounding of sums of at most 100 float64 terms of size 1, well below any wrong term."""


def plain(matrix: Tensor, layout: Layout, dense: Tensor, codes: Tensor | None) -> Tensor:
    """The same networks, one head and one layer after the other."""
    weights, biases, tables = layout.split(matrix)
    outputs = []
    for head in range(matrix.shape[0]):
        value = dense
        for feature, table in enumerate(tables):
            assert codes is not None
            value = torch.cat([value, table[head][codes[:, feature] - layout.code_offsets[feature]]], 1)
        for layer in range(layout.layers):
            value = value @ weights[layer][head] + biases[layer][head]
            if layer < layout.layers - 1:
                value = value.relu()
        outputs.append(value)
    return torch.stack(outputs)


def case(layout: Layout) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    """Parameters, inputs and codes at random, and weights (K, B, outputs) of the outputs in a loss."""
    generator = torch.Generator().manual_seed(0)
    matrix = layout.initial(HEADS, generator).double().requires_grad_()
    dense = torch.randn(BATCH, layout.dense, generator=generator, dtype=torch.double, requires_grad=True)
    columns = [
        torch.randint(count, (BATCH,), generator=generator) + start
        for count, start in zip(layout.categories, layout.code_offsets, strict=False)
    ]
    loss = torch.randn(HEADS, BATCH, layout.outputs, generator=generator, dtype=torch.double)
    return matrix, dense, torch.stack(columns, 1) if columns else None, loss


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("hidden", [(8,), (8, 6), (8, 6, 5), (8, 6, 5, 7)])
@pytest.mark.parametrize(("inputs", "categories"), [(3, ()), (3, (7,)), (3, (7, 2, 5)), (0, (7, 2))])
def test_values_and_gradients(inputs: int, categories: tuple[int, ...], hidden: tuple[int, ...], outputs: int) -> None:
    layout = Layout(inputs, categories, hidden, outputs)
    matrix, dense, codes, loss = case(layout)
    expected, found = (forward(matrix, layout, dense, codes) for forward in (plain, ensemble_forward))
    torch.testing.assert_close(found, expected, rtol=0.0, atol=ROUNDING)
    wanted = torch.autograd.grad((expected * loss).sum(), [matrix, dense])
    both = torch.autograd.grad((found * loss).sum(), [matrix, dense])
    torch.testing.assert_close(both, wanted, rtol=0.0, atol=ROUNDING)
    of_inputs = ensemble_forward(matrix.detach(), layout, dense, codes)
    torch.testing.assert_close(
        torch.autograd.grad((of_inputs * loss).sum(), [dense])[0], wanted[1], rtol=0.0, atol=ROUNDING
    )
    of_matrix = ensemble_forward(matrix, layout, dense.detach(), codes)
    torch.testing.assert_close(
        torch.autograd.grad((of_matrix * loss).sum(), [matrix])[0], wanted[0], rtol=0.0, atol=ROUNDING
    )
    with torch.no_grad():
        torch.testing.assert_close(
            ensemble_forward(matrix, layout, dense, codes), expected.detach(), rtol=0.0, atol=ROUNDING
        )


def test_views_follow_their_matrix() -> None:
    """A change in place counts, and another matrix of the same layout is another network."""
    layout = Layout(3, (4,), (8, 6), 1)
    matrix, dense, codes, _ = case(layout)
    ensemble_forward(matrix, layout, dense, codes)
    with torch.no_grad():
        matrix.mul_(2.0)
    for _ in range(20):
        for other in (matrix, torch.rand_like(matrix)):
            found = ensemble_forward(other, layout, dense, codes)
            torch.testing.assert_close(found, plain(other, layout, dense, codes), rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("fan_out", [False, True])
def test_initial_bounds_of_every_layer(fan_out: bool) -> None:
    layout = Layout(4, (20,), (64, 32), 1)
    matrix = layout.initial(40, torch.Generator().manual_seed(0), fan_out)
    weights, biases, tables = layout.split(matrix)
    for weight, bias in zip(weights, biases, strict=True):
        bound = 1.0 / math.sqrt(weight.shape[2] if fan_out else weight.shape[1])
        # each of more than 1,000 draws is below 0.98 of the bound with probability 0.98
        assert 0.98 * bound < float(weight.abs().max()) <= bound
        assert float(bias.abs().max()) <= bound
    assert float(tables[0].abs().max()) <= 1.0 / math.sqrt(layout.embeddings[0])


def test_heads_begin_apart() -> None:
    matrix = Layout(4, (20,), (8,), 1).initial(5, torch.Generator().manual_seed(0))
    assert len(torch.unique(matrix[:, 0])) == 5


def test_kappa_counts_weights_alone() -> None:
    layout = Layout(3, (7, 5), (8, 6), 2)
    matrix, *_ = case(layout)
    weights, biases, _ = layout.split(matrix.detach())
    of_weights = sum(weight.abs().sum((1, 2)) for weight in weights)
    of_biases = sum(bias.abs().sum(1) for bias in biases)
    found = weight_norms(matrix.detach(), layout)
    torch.testing.assert_close(found, of_weights, rtol=ROUNDING, atol=0.0)
    torch.testing.assert_close(
        weight_norms(matrix.detach(), layout, biases=True), of_weights + of_biases, rtol=ROUNDING, atol=0.0
    )


@pytest.mark.parametrize(("categories", "width"), [(2, 1), (3, 1), (14, 7), (51, 25), (100, 50), (999, 50)])
def test_embedding_widths(categories: int, width: int) -> None:
    assert embedding_width(categories) == width == min(50, categories // 2)


def test_deviation_and_its_gradient() -> None:
    heads = torch.randn(4, 7, generator=torch.Generator().manual_seed(0), dtype=torch.double, requires_grad=True)
    torch.testing.assert_close(eq.ensemble_deviation(heads), eq.ensemble_variance(heads).sqrt())
    assert torch.autograd.gradcheck(eq.ensemble_deviation, (heads,))
    equal = torch.ones(3, 5, requires_grad=True)
    eq.ensemble_deviation(equal).sum().backward()
    assert equal.grad is not None
    assert not equal.grad.any()


def test_sample_and_its_gradient() -> None:
    generator = torch.Generator().manual_seed(0)
    mean, log_std, noise = (0.5 * torch.randn(5, 3, generator=generator, dtype=torch.double) for _ in range(3))
    mean.requires_grad_()
    log_std.requires_grad_()
    unit, log_prob = SquashedGaussian(mean, log_std).sample(noise, 0.7)
    before = mean + log_std.exp() * noise
    gaussian = torch.distributions.Normal(mean, log_std.exp()).log_prob(before)
    torch.testing.assert_close(unit, torch.tanh(before))
    torch.testing.assert_close(log_prob, (gaussian - torch.log1p(-unit.square())).sum(1) - 0.7)
    assert torch.autograd.gradcheck(lambda *of: SquashedGaussian(*of).sample(noise, 0.7), (mean, log_std))
