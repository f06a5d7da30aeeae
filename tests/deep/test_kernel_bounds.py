"""The kernels as plain Python, on arrays that refuse what lies beyond them.

Compiled code checks no index: a read beyond an array gives what happens to stand there, a write may change another's
numbers, and neither needs to show in a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from interpreted_kernels import kernels_of, plain
from norm_cases import inputs_like, network_of
from torch import Tensor

from pyresac.deep.adam import Adam
from pyresac.deep.networks import (
    batch_norm_kernels,
    compiled_passes,
    layer_norm_kernels,
    pass_kernels,
    pointwise_kernels,
)
from pyresac.deep.networks.network_layout import Activation, NetworkLayout, Normalisation
from pyresac.deep.policies.squashed_gaussian import SquashedGaussian
from pyresac.deep.random_source import Noise

KERNELS = (pass_kernels, batch_norm_kernels, layer_norm_kernels, pointwise_kernels)
HEADS, SIZE, CHUNK = 2, 5, 2


class Bounded(np.ndarray[Any, Any]):
    """An array in which an index counts from the front, and a slice ends where the array ends. Only the last of a
    layout's whole numbers is asked for as −1."""

    def __getitem__(self, key: Any) -> Any:
        self._require_inside(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._require_inside(key)
        super().__setitem__(key, value)

    def _require_inside(self, key: Any) -> None:
        if isinstance(key, int) and key == -1 and self.dtype.kind == "i":
            return
        for part, length in zip(key if isinstance(key, tuple) else (key,), self.shape, strict=False):
            ends = (part.start, part.stop) if isinstance(part, slice) else (part, part + 1)
            if any(end is not None and not 0 <= end <= length for end in ends):
                raise IndexError(f"{part} of {length}")


def bounded(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that takes its arrays as `Bounded`."""

    def called(*given: Any) -> Any:
        return kernel(*(part.view(Bounded) if isinstance(part, np.ndarray) else part for part in given))

    return called


def interpret(patch: pytest.MonkeyPatch) -> None:
    """No kernel is compiled from here on, those that kernels call included."""
    for module in KERNELS:
        for name in kernels_of(module):
            patch.setattr(module, name, bounded(plain(getattr(module, name))))


def test_what_lies_beyond_is_refused() -> None:
    array = np.arange(6.0).reshape(2, 3).view(Bounded)
    assert (array[1, 2], array[1][2], array[:2, 1:].shape) == (5.0, 5.0, (2, 2))
    for outside in ((-1, 0), (0, 3), (2, 0), (slice(0, 3), 0), (0, slice(2, 4)), (0, slice(-1, None)), 2):
        with pytest.raises(IndexError):
            array[outside]
        with pytest.raises(IndexError):
            array[outside] = 0.0
    with pytest.raises(IndexError):
        array[0][3]


def passed(layout: NetworkLayout, batch: bool) -> list[Tensor]:
    """All that a pass through networks gives; batch: by the batch's statistics."""
    network = network_of(layout, HEADS, dtype=torch.double, correct=True)
    inputs = inputs_like(layout, SIZE)
    through = network.run_batch(inputs) if batch else network.run(inputs)
    weights = torch.randn(HEADS, SIZE, layout.outputs, dtype=torch.double, generator=torch.Generator().manual_seed(5))
    found = [through.output, through.gradient(weights), through.input_gradient(weights)]
    found += [through.input_gradient(weights, columns) for columns in range(layout.dense + 1)]
    some, fewer = through.first(3), weights[:, :3].contiguous()
    found += [some.output, some.gradient(fewer), some.input_gradient(fewer)]
    return [*found, network.run(inputs, keep=False).output]


@pytest.mark.parametrize(("dense", "categories"), [(2, ()), (2, (3, 4)), (0, (3, 2))])
@pytest.mark.parametrize("hidden", [(4,), (3, 4, 2)])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize(
    ("normalisation", "activation"),
    [("none", "relu"), ("none", "tanh"), ("layer", "relu"), ("layer", "tanh"), ("batch", "relu"), ("batch", "tanh")],
)
def test_a_pass_stays_in_its_arrays(
    dense: int,
    categories: tuple[int, ...],
    hidden: tuple[int, ...],
    outputs: int,
    normalisation: Normalisation,
    activation: Activation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And gives what the compiled one does."""
    monkeypatch.setattr(compiled_passes, "chunk_of", lambda layout: CHUNK)
    layout = NetworkLayout(dense, categories, hidden, outputs, activation, normalisation)
    expected = passed(layout, normalisation == "batch")
    interpret(monkeypatch)
    for one, other in zip(passed(layout, normalisation == "batch"), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def moved(averaged: bool, follow: bool) -> list[Tensor]:
    """What a step of Adam changes."""
    source = torch.Generator().manual_seed(0)
    own, gradient, average = (torch.randn(3, 2, generator=source) for _ in range(3))
    optimiser = Adam(own, 0.1, average, 0.3) if averaged else Adam(own, 0.1)
    optimiser.step(gradient, follow)
    return [own, average, *optimiser.moments.values()]


@pytest.mark.parametrize(("averaged", "follow"), [(False, True), (True, True), (True, False)])
def test_a_step_of_adam_stays_in_its_arrays(averaged: bool, follow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = moved(averaged, follow)
    interpret(monkeypatch)
    for one, other in zip(moved(averaged, follow), expected, strict=True):
        torch.testing.assert_close(one, other)


def drawn() -> list[Tensor]:
    """A policy's actions, their log-probabilities and gradients."""
    outputs = 9.0 * torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    sample = SquashedGaussian(0.5).sample(outputs, Noise(0, torch.device("cpu")))
    return [sample.unit, sample.log_prob, sample.gradient(outputs[:, :3], outputs[:, 3])]


def test_a_draw_stays_in_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = drawn()
    interpret(monkeypatch)
    for one, other in zip(drawn(), expected, strict=True):
        torch.testing.assert_close(one, other)
