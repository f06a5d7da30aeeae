"""Passes where something is one, wide or wrong: one head, codes beyond theirs in any row, parts of a shared work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from deep_cases import CPU
from norm_cases import inputs_like, network_of

from pyresac.deep.critic_passes import of_outputs
from pyresac.deep.networks import compiled_passes
from pyresac.deep.networks.batch_passes import FoldedPass
from pyresac.deep.networks.implicit_layout import ImplicitLayout
from pyresac.deep.networks.implicit_quantiles import ImplicitQuantiles
from pyresac.deep.networks.inputs import Inputs, joined
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout, Normalisation
from pyresac.deep.networks.running_statistics import RunningStatistics

WIDE = NetworkLayout(1, (), (2,), 9)
"""Its last layer is the largest."""


@pytest.mark.parametrize("normalisation", ["none", "layer", "batch"])
@pytest.mark.parametrize("categories", [(), (3, 2)])
@pytest.mark.parametrize("outputs", [1, 9])
def test_one_head_has_the_gradients_that_it_has_among_others(
    normalisation: Normalisation, categories: tuple[int, ...], outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And they are written over what stood in their place, chunk after chunk."""
    monkeypatch.setattr(compiled_passes, "chunk_of", lambda _: 2)
    layout = NetworkLayout(2, categories, (3, 2), outputs, "relu", normalisation)
    network, inputs = network_of(layout, 2, dtype=torch.double), inputs_like(layout, 5)
    weights = torch.randn(2, 5, outputs, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    run = "run_batch" if normalisation == "batch" else "run"
    both = getattr(network, run)(inputs).gradient(weights)
    for index in range(2):
        alone = network.head(index)
        through = getattr(alone, run)(inputs)
        place = torch.full_like(alone.matrix, 7.0)
        assert through.gradient(weights[index : index + 1], place) is place
        torch.testing.assert_close(place, both[index : index + 1], rtol=1e-12, atol=1e-12)


def test_a_pass_by_running_statistics_writes_where_it_is_told() -> None:
    network = network_of(NetworkLayout(2, (3,), (3,), 1, "relu", "batch"), 2, dtype=torch.double)
    through = network.run(inputs_like(network.layout, 4))
    assert isinstance(through, FoldedPass)
    weights, place = torch.ones(2, 4, 1, dtype=torch.double), torch.full_like(network.matrix, 7.0)
    assert through.gradient(weights, place) is place
    assert torch.equal(place, through.gradient(weights))


def test_a_wide_last_layer_in_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    network, inputs = network_of(WIDE, 2, dtype=torch.double), inputs_like(WIDE, 7)
    weights = torch.randn(2, 7, 9, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    expected = network.run_eager(inputs).gradient(weights)
    monkeypatch.setattr(compiled_passes, "chunk_of", lambda _: 3)
    torch.testing.assert_close(network.run(inputs).gradient(weights), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("normalisation", ["none", "batch"])
@pytest.mark.parametrize("row", range(5))
@pytest.mark.parametrize("feature", [0, 1])
@pytest.mark.parametrize("code", [-1, 5])
def test_a_code_beyond_all_is_found_wherever_it_stands(
    normalisation: Normalisation, row: int, feature: int, code: int
) -> None:
    """Of five rows and two features, and of none where all codes lie in their ranges."""
    layout = NetworkLayout(1, (3, 2), (4,), 1, "relu", normalisation)
    network = network_of(layout, 2)
    codes = torch.tensor([[0, 3], [1, 4], [2, 3], [0, 4], [1, 3]])
    runs = [network.run, network.run_batch]
    for run in runs:
        run(Inputs(torch.zeros(5, 1), codes))
    codes[row, feature] = code
    least, most = int(codes.min()), int(codes.max())
    for run in runs:
        with pytest.raises(IndexError, match=f"^codes from {least} to {most}; they must lie in 0 … 4$"):
            run(Inputs(torch.zeros(5, 1), codes))


@pytest.mark.parametrize(
    ("hidden", "rows"),
    [
        ((1,), 1024),
        ((31,), 1024),
        ((32,), 976),
        ((64, 8), 244),
        ((8, 88), 129),
        ((89,), 736),
        ((256, 256), 256),
        ((1024,), 64),
        ((1000,), 65),
        ((5000, 7), 64),
    ],
)
def test_rows_taken_at_a_time(hidden: tuple[int, ...], rows: int) -> None:
    """Of w units 10⁶/w² where that is 128 or more, and at most 1,024; else 2¹⁶/w, and at least 64."""
    layout = NetworkLayout(3, (), hidden, 1)
    assert compiled_passes.chunk_of(layout) == rows


def test_activations_of_a_pass_for_one_input() -> None:
    """Of a perceptron what each layer gives; of an implicit one by hand, all but ψ's for each of two fractions."""
    assert NetworkLayout(3, (4,), (6, 5, 7), 2).activations == 6 + 5 + 7 + 2
    # ψ: 6 and 5; of a fraction: 3 cosines, 5 sums, activations and products, the last layer's 7 twice, an output
    assert ImplicitLayout(3, (4,), (6, 5, 7), 2, cosines=3).activations == (6 + 5) + 2 * (3 + 5 + 5 + 5 + 7 + 7 + 1)


# --- work that is shared


class Pool:
    """Notes what it is asked for, and does it when its result is."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.done: list[tuple[int, int]] = []

    def __call__(self, threads: int) -> Pool:
        self.asked.append(threads)
        return self

    def submit(self, work: Callable[..., Any], *part: int) -> Pool.Later:
        """See `ThreadPoolExecutor`."""
        return self.Later(work, part)

    class Later:
        """See `Future`."""

        def __init__(self, work: Callable[..., Any], part: tuple[int, ...]) -> None:
            self.work, self.part = work, part

        def result(self) -> None:
            """See `Future`."""
            self.work(*self.part)


@pytest.mark.parametrize(("heads", "threads", "others"), [(5, 3, [2, 2]), (2, 7, [1]), (6, 1, []), (1, 4, [])])
def test_the_caller_does_a_part_and_waits_for_the_others(
    heads: int, threads: int, others: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool has a thread for each other part; all parts are done when the work is."""
    pool, parts = Pool(), list[tuple[int, int]]()
    monkeypatch.setattr(compiled_passes, "_pool", pool)
    monkeypatch.setattr(compiled_passes, "WORTH_SHARING", 0)
    compiled_passes.share(heads, WIDE, 4, threads, lambda *part: parts.append(part))
    assert pool.asked == others
    assert [head for first, last in parts for head in range(first, last)] == list(range(heads))


def test_what_goes_wrong_in_another_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_passes, "WORTH_SHARING", 0)

    def work(first: int, last: int) -> None:
        if first > 0:
            raise KeyError(last)

    with pytest.raises(KeyError, match="2"):
        compiled_passes.share(2, WIDE, 4, 2, work)


# --- parts of passes


def test_codes_are_joined_where_both_batches_have_some() -> None:
    first, second = Inputs(torch.zeros(1, 2), None), Inputs(torch.ones(1, 2), torch.tensor([[3]]))
    for one, other in ((first, second), (second, first)):
        assert joined(one, other).codes is None


def test_a_formula_that_leaves_the_heads_out_is_refused() -> None:
    with pytest.raises(ValueError, match="does not depend on what it must depend on"):
        of_outputs(None)
    for shape in ((2, 3), (2, 3, 4)):
        slope = torch.rand(shape)
        assert torch.equal(of_outputs(slope).view(shape), slope)
        assert of_outputs(slope).ndim == 3


def test_implicit_quantiles_need_their_layout() -> None:
    network = ImplicitQuantiles(WIDE, WIDE.initial(1, torch.Generator()))
    with pytest.raises(TypeError, match="implicit quantiles need an ImplicitLayout, not a NetworkLayout"):
        network.run(Inputs(torch.zeros(1, 1), None, torch.full((1, 1), 0.5)))


def test_fresh_statistics_and_one_head_of_them() -> None:
    """Mean 0, variance 1, no batches; a head's share memory with all, and their count is the same one."""
    layout = NetworkLayout(2, (), (3, 4), 1, "relu", "batch")
    running = RunningStatistics.fresh(layout, 3, 5, CPU)
    assert torch.equal(running.mean, torch.zeros(3, 2 + 3 + 4))
    assert torch.equal(running.variance, torch.ones(3, 2 + 3 + 4))
    assert (running.batches.item(), running.batches.dtype, running.warmup) == (0, torch.int64, 5)
    for index in range(3):
        running.head(index).add(torch.full((1, 9), 100.0 * (index + 1)), torch.full((1, 9), 1.0))
    assert running.batches.item() == 3
    torch.testing.assert_close(running.mean, torch.tensor([[1.0], [2.0], [3.0]]).expand(3, 9))
    copied = running.clone()
    copied.follow(RunningStatistics.fresh(layout, 3, 5, CPU), 0.5)
    assert copied.batches.item() == 0
    torch.testing.assert_close(copied.mean, 0.5 * running.mean)
    assert Network(layout, layout.initial(3, torch.Generator()), 1, running).head(2).heads == 1
