"""The ensemble written out against networks that autograd differentiates head by head."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from deep_cases import numbers
from pyresac.deep.networks.batched_passes import run_batched
from pyresac.deep.networks.squashed_gaussian import SquashedGaussian
from torch import Tensor

from pyresac.deep.algorithms import objectives as eq
from pyresac.deep.networks import compiled_passes as compiled
from pyresac.deep.networks.compiled_passes import run_compiled
from pyresac.deep.networks.layout import NetworkLayout, embedding_width, weight_norms
from pyresac.deep.networks.passes import ForwardPass, ensemble_forward

HEADS, BATCH = 3, 11
ROUNDING = 1e-12
"""Well above the rounding of sums of at most 100 float64 terms of size 1, well below any wrong term."""


def plain(matrix: Tensor, layout: NetworkLayout, dense: Tensor, codes: Tensor | None) -> Tensor:
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


def case(layout: NetworkLayout) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
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


LAYOUTS = [
    NetworkLayout(inputs, categories, hidden, outputs)
    for inputs, categories in [(3, ()), (3, (7,)), (3, (7, 2, 5)), (0, (7, 2))]
    for hidden in [(8,), (8, 6), (8, 6, 5), (8, 6, 5, 7)]
    for outputs in (1, 4)
]


def layout_name(layout: NetworkLayout) -> str:
    return f"{layout.dense}-{layout.categories}-{layout.hidden}-{layout.outputs}"


@pytest.fixture(params=[run_compiled, run_batched])
def engine(request: pytest.FixtureRequest) -> Callable[..., ForwardPass]:
    """The passes of the CPU and of other devices."""
    found: Callable[..., ForwardPass] = request.param
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=layout_name)
def test_values_and_gradients(layout: NetworkLayout, engine: Callable[..., ForwardPass]) -> None:
    matrix, dense, codes, loss = case(layout)
    expected, found = plain(matrix, layout, dense, codes), engine(matrix.detach(), layout, dense.detach(), codes)
    torch.testing.assert_close(found.output, expected.detach(), rtol=0.0, atol=ROUNDING)
    of_matrix, of_dense = torch.autograd.grad((expected * loss).sum(), [matrix, dense])
    torch.testing.assert_close(found.gradient(loss), of_matrix, rtol=0.0, atol=ROUNDING)
    place = torch.full_like(matrix.detach(), 7.0)
    torch.testing.assert_close(found.gradient(loss, place), of_matrix, rtol=0.0, atol=ROUNDING)
    torch.testing.assert_close(place, of_matrix, rtol=0.0, atol=ROUNDING)
    torch.testing.assert_close(found.input_gradient(loss), of_dense, rtol=0.0, atol=ROUNDING)
    for columns in range(layout.dense + 1):
        torch.testing.assert_close(found.input_gradient(loss, columns), of_dense[:, :columns], rtol=0.0, atol=ROUNDING)
    alone = engine(matrix.detach(), layout, dense.detach(), codes, keep=False)
    torch.testing.assert_close(alone.output, expected.detach(), rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("layout", LAYOUTS, ids=layout_name)
@pytest.mark.parametrize("rows", [1, 4, BATCH])
def test_the_first_rows_of_a_pass(layout: NetworkLayout, rows: int, engine: Callable[..., ForwardPass]) -> None:
    """What they give alone."""
    matrix, dense, codes, loss = case(layout)
    some = engine(matrix.detach(), layout, dense.detach(), codes).first(rows)
    alone = engine(matrix.detach(), layout, dense.detach()[:rows], None if codes is None else codes[:rows])
    torch.testing.assert_close(some.output, alone.output, rtol=0.0, atol=ROUNDING)
    of_output = loss[:, :rows].contiguous()
    torch.testing.assert_close(some.gradient(of_output), alone.gradient(of_output), rtol=0.0, atol=ROUNDING)
    torch.testing.assert_close(some.input_gradient(of_output), alone.input_gradient(of_output), rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("layout", LAYOUTS, ids=layout_name)
@pytest.mark.parametrize("chunk", [1, 4, 10])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_chunks_and_threads(layout: NetworkLayout, chunk: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the rows that a kernel takes at a time nor the threads that share the heads make a difference."""
    matrix, dense, codes, loss = case(layout)
    whole = run_compiled(matrix, layout, dense, codes)
    assert compiled.chunk_of(layout) > BATCH
    expected = [whole.output, whole.gradient(loss), whole.input_gradient(loss)]
    monkeypatch.setattr(compiled, "chunk_of", lambda _: chunk)
    monkeypatch.setattr(compiled, "_threads", threads)
    monkeypatch.setattr(compiled, "WORTH_SHARING", 0)
    for keep in (True, False):
        some = run_compiled(matrix, layout, dense, codes, keep)
        torch.testing.assert_close(some.output, expected[0], rtol=0.0, atol=ROUNDING)
    kept = run_compiled(matrix, layout, dense, codes)
    torch.testing.assert_close(kept.gradient(loss), expected[1], rtol=0.0, atol=ROUNDING)
    torch.testing.assert_close(kept.input_gradient(loss), expected[2], rtol=0.0, atol=ROUNDING)
    monkeypatch.setattr(compiled, "_threads", 1)
    again = run_compiled(matrix, layout, dense, codes)
    assert torch.equal(again.output, kept.output), "threads change no bit"
    assert torch.equal(again.gradient(loss), kept.gradient(loss))


@pytest.mark.parametrize("layout", LAYOUTS[::5], ids=layout_name)
def test_for_autograd(layout: NetworkLayout) -> None:
    matrix, dense, codes, loss = case(layout)
    expected, found = (forward(matrix, layout, dense, codes) for forward in (plain, ensemble_forward))
    torch.testing.assert_close(found, expected, rtol=0.0, atol=ROUNDING)
    wanted = torch.autograd.grad((expected * loss).sum(), [matrix, dense])
    both = torch.autograd.grad((found * loss).sum(), [matrix, dense])
    torch.testing.assert_close(both, wanted, rtol=0.0, atol=ROUNDING)
    of_inputs = ensemble_forward(matrix.detach(), layout, dense, codes)
    (alone,) = torch.autograd.grad((of_inputs * loss).sum(), [dense])
    torch.testing.assert_close(alone, wanted[1], rtol=0.0, atol=ROUNDING)


def test_what_is_no_number_stays_so(engine: Callable[..., ForwardPass]) -> None:
    """ReLU must not make 0 of it, or nobody would see that training has diverged."""
    layout = NetworkLayout(2, (), (4, 4), 1)
    matrix = layout.initial(2, torch.Generator().manual_seed(0))
    matrix[1, 0] = float("nan")
    output = engine(matrix, layout, torch.ones(3, 2), None).output
    assert torch.isfinite(output[0]).all()
    assert torch.isnan(output[1]).all()


def test_what_was_not_kept_has_no_gradient(engine: Callable[..., ForwardPass], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "chunk_of", lambda _: 2)
    layout = NetworkLayout(2, (), (4, 3), 1)
    through = engine(layout.initial(2, torch.Generator()), layout, torch.ones(3, 2), None, keep=False)
    for some, rows in ((through, 3), (through.first(1), 1)):
        for gradient in (some.gradient, some.input_gradient):
            with pytest.raises(ValueError, match="keep=False"):
                gradient(torch.ones(2, rows, 1))


def test_other_views_at_the_same_address_are_other_networks() -> None:
    layout = NetworkLayout(2, (), (4,), 1)
    wide = torch.rand(2, 2 * layout.length)
    one, other = wide.as_strided((2, layout.length), (layout.length, 1)), wide[:, : layout.length]
    for matrix in (one, other, one[:1], one):
        found = run_batched(matrix, layout, torch.ones(3, 2), None).output
        torch.testing.assert_close(found, run_batched(matrix.clone(), layout, torch.ones(3, 2), None).output)


@pytest.mark.parametrize("code", [-1, 9])
def test_a_code_that_is_none(code: int) -> None:
    layout = NetworkLayout(1, (7, 2), (4,), 1)
    codes = torch.tensor([[0, 7], [6, code]])
    with pytest.raises(IndexError, match=r"codes from .* to .*; they must lie in 0 … 8"):
        run_compiled(layout.initial(2, torch.Generator()), layout, torch.ones(2, 1), codes)


def test_views_follow_their_matrix(engine: Callable[..., ForwardPass]) -> None:
    """A change in place counts, and another matrix of the same layout is another network."""
    layout = NetworkLayout(3, (4,), (8, 6), 1)
    matrix, dense, codes, _ = case(layout)
    engine(matrix, layout, dense, codes)
    with torch.no_grad():
        matrix.mul_(2.0)
    for _ in range(20):
        for other in (matrix, torch.rand_like(matrix)):
            found = engine(other, layout, dense, codes).output
            torch.testing.assert_close(found, plain(other, layout, dense, codes).detach(), rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("fan_out", [False, True])
def test_initial_bounds_of_every_layer(fan_out: bool) -> None:
    layout = NetworkLayout(4, (20,), (64, 32), 1)
    matrix = layout.initial(40, torch.Generator().manual_seed(0), fan_out)
    weights, biases, tables = layout.split(matrix)
    for weight, bias in zip(weights, biases, strict=True):
        bound = 1.0 / math.sqrt(weight.shape[2] if fan_out else weight.shape[1])
        # each of more than 1,000 draws is below 0.98 of the bound with probability 0.98
        assert 0.98 * bound < float(weight.abs().max()) <= bound
        assert float(bias.abs().max()) <= bound
    assert float(tables[0].abs().max()) <= 1.0 / math.sqrt(layout.embeddings[0])


def test_heads_begin_apart() -> None:
    matrix = NetworkLayout(4, (20,), (8,), 1).initial(5, torch.Generator().manual_seed(0))
    assert len(torch.unique(matrix[:, 0])) == 5


def test_kappa_counts_weights_alone() -> None:
    layout = NetworkLayout(3, (7, 5), (8, 6), 2)
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
    heads = numbers(4, 7, seed=0).requires_grad_()
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
