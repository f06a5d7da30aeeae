"""Both engines' passes against networks that autograd differentiates head by head."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import pytest
import threadpoolctl
import torch
from deep_cases import plain_outputs
from torch import Tensor

from pyresac.deep.networks import compiled_passes as compiled
from pyresac.deep.networks.compiled_passes import run_compiled
from pyresac.deep.networks.eager_passes import perceptrons
from pyresac.deep.networks.implicit_layout import ImplicitLayout
from pyresac.deep.networks.implicit_quantiles import ImplicitQuantiles
from pyresac.deep.networks.inputs import Inputs, joined
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout, embedding_width, weight_norms
from pyresac.deep.networks.passes import ForwardPass

HEADS, BATCH = 3, 11
ROUNDING = 1e-12
"""Well above the rounding of sums of at most 100 float64 terms of size 1, well below any wrong term."""

Engine = Callable[..., ForwardPass]


def run_eager(matrix: Tensor, layout: NetworkLayout, inputs: Inputs, keep: bool = True) -> ForwardPass:
    return Network(layout, matrix).run_eager(inputs, keep)


def run_kernels(matrix: Tensor, layout: NetworkLayout, inputs: Inputs, keep: bool = True) -> ForwardPass:
    return run_compiled(matrix, layout, inputs, keep, 1)


def case(layout: NetworkLayout) -> tuple[Tensor, Inputs, Tensor]:
    """Parameters, inputs at random, and weights (K, B, outputs) of the outputs in a loss."""
    generator = torch.Generator().manual_seed(0)
    matrix = layout.initial(HEADS, generator).double().requires_grad_()
    dense = torch.randn(BATCH, layout.dense, generator=generator, dtype=torch.double, requires_grad=True)
    columns = [
        torch.randint(count, (BATCH,), generator=generator) + start
        for count, start in zip(layout.categories, layout.code_offsets, strict=False)
    ]
    loss = torch.randn(HEADS, BATCH, layout.outputs, generator=generator, dtype=torch.double)
    return matrix, Inputs(dense, torch.stack(columns, 1) if columns else None), loss


LAYOUTS = [
    *(
        NetworkLayout(inputs, categories, hidden, outputs)
        for inputs, categories in [(3, ()), (3, (7,)), (3, (7, 2, 5)), (0, (7, 2))]
        for hidden in [(8,), (8, 6), (8, 6, 5), (8, 6, 5, 7)]
        for outputs in (1, 4)
    ),
    *(
        NetworkLayout(inputs, categories, (8, 6), outputs, "tanh")
        for inputs, categories in [(3, ()), (3, (7, 2)), (0, (7,))]
        for outputs in (1, 4)
    ),
    # of one number wherever one number can be
    *(
        NetworkLayout(*one, activation)
        for one in [(1, (), (1,), 1), (1, (1,), (1, 1), 1), (0, (1,), (1,), 1), (0, (2, 1), (1, 3, 1), 2)]
        for activation in ("relu", "tanh")
    ),
]


def layout_name(layout: NetworkLayout) -> str:
    return f"{layout.dense}-{layout.categories}-{layout.hidden}-{layout.outputs}-{layout.activation}"


every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=layout_name)


def near(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0.0, atol=ROUNDING)


@pytest.fixture(params=[run_kernels, run_eager])
def engine(request: pytest.FixtureRequest) -> Engine:
    """The passes of the CPU and of other devices."""
    found: Engine = request.param
    return found


@every_layout
def test_values_and_gradients(layout: NetworkLayout, engine: Engine) -> None:
    matrix, inputs, loss = case(layout)
    expected = plain_outputs(matrix, layout, inputs.dense, inputs.codes)
    found = engine(matrix.detach(), layout, Inputs(inputs.dense.detach(), inputs.codes))
    near(found.output, expected.detach())
    assert not found.output.requires_grad
    of_matrix, of_dense = torch.autograd.grad((expected * loss).sum(), [matrix, inputs.dense])
    near(found.gradient(loss), of_matrix)
    place = torch.full_like(matrix.detach(), 7.0)
    near(found.gradient(loss, place), of_matrix)
    near(place, of_matrix)
    near(found.input_gradient(loss), of_dense)
    for columns in range(layout.dense + 1):
        near(found.input_gradient(loss, columns), of_dense[:, :columns])
    near(engine(matrix.detach(), layout, inputs, False).output, expected.detach())


@every_layout
def test_the_eager_formula_is_the_plain_one(layout: NetworkLayout) -> None:
    """`perceptrons` for autograd, as an algorithm's loss over whole networks would use it."""
    matrix, inputs, loss = case(layout)
    expected, found = plain_outputs(matrix, layout, inputs.dense, inputs.codes), perceptrons(matrix, layout, inputs)
    near(found, expected)
    wanted = torch.autograd.grad((expected * loss).sum(), [matrix, inputs.dense])
    torch.testing.assert_close(
        torch.autograd.grad((found * loss).sum(), [matrix, inputs.dense]), wanted, rtol=0.0, atol=ROUNDING
    )


@every_layout
@pytest.mark.parametrize("rows", [1, 4, BATCH])
def test_the_first_rows_of_a_pass(layout: NetworkLayout, rows: int, engine: Engine) -> None:
    """What they give alone."""
    matrix, inputs, loss = case(layout)
    some = engine(matrix.detach(), layout, inputs).first(rows)
    codes = None if inputs.codes is None else inputs.codes[:rows]
    alone = engine(matrix.detach(), layout, Inputs(inputs.dense.detach()[:rows], codes))
    near(some.output, alone.output)
    of_output = loss[:, :rows].contiguous()
    near(some.gradient(of_output), alone.gradient(of_output))
    near(some.input_gradient(of_output), alone.input_gradient(of_output))


@every_layout
@pytest.mark.parametrize("chunk", [1, 4, 10])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_chunks_and_threads(layout: NetworkLayout, chunk: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the rows that a kernel takes at a time nor the threads that share the heads make a difference."""
    matrix, inputs, loss = case(layout)
    whole = run_kernels(matrix, layout, inputs)
    assert compiled.chunk_of(layout) > BATCH
    monkeypatch.setattr(compiled, "chunk_of", lambda _: chunk)
    monkeypatch.setattr(compiled, "WORTH_SHARING", 0)
    for keep in (True, False):
        near(run_compiled(matrix, layout, inputs, keep, threads).output, whole.output)
    kept = run_compiled(matrix, layout, inputs, True, threads)
    near(kept.gradient(loss), whole.gradient(loss))
    near(kept.input_gradient(loss), whole.input_gradient(loss))
    again = run_kernels(matrix, layout, inputs)
    assert torch.equal(again.output, kept.output), "threads change no bit"
    assert torch.equal(again.gradient(loss), kept.gradient(loss))
    assert torch.equal(again.input_gradient(loss), kept.input_gradient(loss))


def test_a_networks_pass_is_the_kernels_with_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = NetworkLayout(3, (7,), (8, 6), 2)
    matrix, inputs, loss = case(layout)
    used: list[int] = []
    share = compiled.share
    monkeypatch.setattr(compiled, "share", lambda *of: (used.append(of[3]), share(*of))[1])
    found = Network(layout, matrix.detach(), 2).run(inputs)
    near(found.output, run_kernels(matrix, layout, inputs).output)
    near(found.gradient(loss), run_eager(matrix, layout, inputs).gradient(loss))
    assert used == [2, 1, 2]


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("threads", [1, 2, 3, 4, 9])
def test_every_head_is_the_work_of_one_thread(heads: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many threads as there are, at most one a head, and none has two heads more than another."""
    layout, ranges = NetworkLayout(2, (), (4,), 1), list[tuple[int, int]]()
    needed = compiled.WORTH_SHARING // (heads * layout.weight_count)
    compiled.share(heads, layout, needed - 1, threads, lambda *part: ranges.append(part))
    assert ranges == [(0, heads)], "little work is not shared"
    ranges.clear()
    monkeypatch.setattr(compiled, "WORTH_SHARING", heads * needed * layout.weight_count)
    compiled.share(heads, layout, needed, threads, lambda *part: ranges.append(part))
    ranges.sort()
    assert len(ranges) == min(heads, threads)
    assert [head for first, last in ranges for head in range(first, last)] == list(range(heads))
    sizes = [last - first for first, last in ranges]
    assert max(sizes) - min(sizes) <= 1


def test_networks_share_or_copy_as_they_say() -> None:
    network = Network(NetworkLayout(2, (), (4,), 1), torch.ones(3, 17), 2)
    clone, head = network.clone(), network.head(1)
    assert (network.heads, head.heads, clone.threads, head.threads) == (3, 1, 2, 2)
    network.matrix[1] += 1.0
    assert head.matrix.tolist() == [[2.0] * 17]
    assert (clone.matrix == 1.0).all()


def test_what_is_no_number_stays_so(engine: Engine) -> None:
    """ReLU must not make 0 of it, or nobody would see that training has diverged."""
    layout = NetworkLayout(2, (), (4, 4), 1)
    matrix = layout.initial(2, torch.Generator().manual_seed(0))
    matrix[1, 0] = float("nan")
    output = engine(matrix, layout, Inputs(torch.ones(3, 2), None)).output
    assert torch.isfinite(output[0]).all()
    assert torch.isnan(output[1]).all()


def test_what_was_not_kept_has_no_gradient(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "chunk_of", lambda _: 2)
    layout = NetworkLayout(2, (), (4, 3), 1)
    through = engine(layout.initial(2, torch.Generator()), layout, Inputs(torch.ones(3, 2), None), False)
    for some, rows in ((through, 3), (through.first(1), 1)):
        for gradient in (some.gradient, some.input_gradient):
            with pytest.raises(ValueError, match="keep=False"):
                gradient(torch.ones(2, rows, 1))


@pytest.mark.parametrize("way", ["run", "run_eager"])
@pytest.mark.parametrize("implicit", [False, True])
def test_what_gradients_need_is_kept_unless_it_is_said(
    implicit: bool, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "chunk_of", lambda _: 2)
    layout = ImplicitLayout(2, (), (4, 3), 1) if implicit else NetworkLayout(2, (), (4, 3), 1)
    network = (ImplicitQuantiles if implicit else Network)(layout, layout.initial(2, torch.Generator()))
    inputs = Inputs(torch.ones(3, 2), None, torch.full((3, 1), 0.5) if implicit else None)
    weights = torch.ones(2, 3, 1)
    assert getattr(network, way)(inputs).gradient(weights).shape == network.matrix.shape
    with pytest.raises(ValueError, match="keep=False"):
        getattr(network, way)(inputs, keep=False).gradient(weights)


def test_other_networks_at_the_same_address(engine: Engine) -> None:
    """The memory does not say which network it is: fewer heads of it, or another layout, are others."""
    small, large = NetworkLayout(2, (), (4,), 1), NetworkLayout(2, (), (11,), 1)
    memory = torch.rand(2 * large.length)
    inputs = Inputs(torch.ones(3, 2), None)
    for layout, heads in ((small, 2), (large, 2), (small, 1), (small, 2)):
        matrix = memory[: heads * layout.length].view(heads, layout.length)
        found = engine(matrix, layout, inputs).output
        torch.testing.assert_close(found, plain_outputs(matrix, layout, inputs.dense, inputs.codes))


@pytest.mark.parametrize("code", [-1, 9])
def test_a_code_that_is_none(code: int, engine: Engine) -> None:
    layout = NetworkLayout(1, (7, 2), (4,), 1)
    codes = torch.tensor([[0, 7], [6, code]])
    with pytest.raises(IndexError, match=r"codes from .* to .*; they must lie in 0 … 8"):
        engine(layout.initial(2, torch.Generator()), layout, Inputs(torch.ones(2, 1), codes))


def test_a_pass_follows_its_matrix(engine: Engine) -> None:
    """A change in place counts, and another matrix of the same layout is another network."""
    layout = NetworkLayout(3, (4,), (8, 6), 1)
    matrix, inputs, _ = case(layout)
    engine(matrix, layout, inputs)
    with torch.no_grad():
        matrix.mul_(2.0)
    for _ in range(20):
        for other in (matrix, torch.rand_like(matrix)):
            found = engine(other, layout, inputs).output
            expected = plain_outputs(other, layout, inputs.dense, inputs.codes).detach()
            torch.testing.assert_close(found, expected, rtol=ROUNDING, atol=ROUNDING)


def test_inputs_are_joined_in_order() -> None:
    """Actions before the state's numbers; one batch after the other, codes too."""
    first = Inputs(torch.tensor([[1.0, 2.0]]), torch.tensor([[3]]))
    second = Inputs(torch.tensor([[4.0, 5.0]]), torch.tensor([[6]]))
    both = joined(first, second)
    assert both.codes is not None
    assert (both.dense.tolist(), both.codes.tolist()) == ([[1.0, 2.0], [4.0, 5.0]], [[3], [6]])
    assert first.with_action(torch.tensor([[7.0]])).dense.tolist() == [[7.0, 1.0, 2.0]]
    assert joined(first._replace(codes=None), second._replace(codes=None)).codes is None


# --- the layout


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
    matrix = case(layout)[0].detach()
    weights, biases, tables = layout.split(matrix)
    of_weights = sum(weight.abs().sum((1, 2)) for weight in weights)
    of_biases = sum(bias.abs().sum(1) for bias in biases)
    network = Network(layout, matrix)
    torch.testing.assert_close(network.weight_norms(), of_weights, rtol=ROUNDING, atol=0.0)
    torch.testing.assert_close(network.weight_norms(biases=True), of_weights + of_biases, rtol=ROUNDING, atol=0.0)
    before = weight_norms(matrix, layout)
    for part in (*biases, *tables):
        part += 1.0
    assert weight_norms(matrix, layout).tolist() == before.tolist()
    assert (weight_norms(matrix, layout, biases=True) > before).all()


@pytest.mark.parametrize(("categories", "width"), [(1, 1), (2, 1), (3, 1), (14, 7), (51, 25), (100, 50), (999, 50)])
def test_embedding_widths(categories: int, width: int) -> None:
    assert embedding_width(categories) == width == max(1, min(50, categories // 2))


@pytest.mark.parametrize("threads", [2, 3])
def test_libraries_have_one_thread_and_get_theirs_back(threads: int) -> None:
    """Also where the work in between fails."""

    def of_blas() -> list[int]:
        return [found["num_threads"] for found in threadpoolctl.threadpool_info() if found["user_api"] == "blas"]

    before, blas = torch.get_num_threads(), of_blas()
    torch.set_num_threads(threads)
    try:
        with suppress(KeyError), compiled.single_threaded_libraries():
            assert torch.get_num_threads() == 1
            assert of_blas() == [1] * len(blas)
            raise KeyError
        assert torch.get_num_threads() == threads
        assert of_blas() == blas
    finally:
        torch.set_num_threads(before)
