"""Formulas over heads that algorithms share, against loops in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from deep_cases import ROUNDING, numbers
from hypothesis import given, settings
from hypothesis import strategies as st

from pyresac.deep.heads import ensemble_deviation, ensemble_variance, squared_error
from pyresac.deep.slopes import slopes

EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=60)


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5), st.booleans())
def test_squares_are_summed_over_heads_and_averaged_over_the_batch(
    seed: int, count: int, size: int, shared: bool
) -> None:
    heads, aim = numbers(count, size, seed=seed), numbers(*(() if shared else (count,)), size, seed=seed + 1)
    loss, (slope,) = slopes(lambda leaf: squared_error(leaf, aim), heads)
    own = aim if not shared else aim[None].expand(count, size)
    expected = sum(float(heads[k, b] - own[k, b]) ** 2 / size for k in range(count) for b in range(size))
    assert float(loss) == pytest.approx(expected, rel=1e-12, abs=0)
    torch.testing.assert_close(slope, 2.0 / size * (heads - own), **ROUNDING)


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 5))
def test_the_variance_is_unbiased_and_the_deviation_its_root(seed: int, count: int, size: int) -> None:
    heads = numbers(count, size, seed=seed)
    for b in range(size):
        column = [float(value) for value in heads[:, b]]
        mean = sum(column) / count
        variance = sum((q - mean) ** 2 for q in column) / (count - 1)
        assert float(ensemble_variance(heads)[b]) == pytest.approx(variance, rel=1e-12, abs=0)
        assert float(ensemble_deviation(heads)[b]) == pytest.approx(math.sqrt(variance), rel=1e-12, abs=0)


def test_the_deviations_gradient() -> None:
    heads = numbers(4, 7, seed=0).requires_grad_()
    assert torch.autograd.gradcheck(ensemble_deviation, (heads,))
    mixed = torch.tensor([[1.0, 1.0], [1.0, 2.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(ensemble_deviation(mixed).sum(), [mixed])
    assert gradient.numpy() == pytest.approx(np.array([[0.0, -1.0], [0.0, 1.0]]) / math.sqrt(2))


@pytest.mark.parametrize("count", [2, 3, 5, 7, 10])
def test_heads_that_agree_have_no_deviation_and_no_slope(count: int) -> None:
    """Whatever they agree on, a number whose mean is rounded included."""
    values = torch.cat([torch.tensor([7.0, 0.9, 0.1]), numbers(200, seed=3).float()])
    heads = values.expand(count, -1).clone()
    deviation, (slope,) = slopes(lambda leaf: ensemble_deviation(leaf).sum(), heads)
    assert deviation == 0.0
    assert slope is not None
    assert torch.equal(slope, torch.zeros_like(heads))


@pytest.mark.parametrize("size", [1e-18, 1.0, 1e15])
@pytest.mark.parametrize("off", [0.0, 1024.0])
def test_the_deviation_keeps_its_digits(size: float, off: float) -> None:
    """Also where the heads are far from 0 and near each other: squares of them must not be subtracted."""
    heads = (torch.tensor([[1.0, 3.0, -2.0], [4.0, 3.0, 5.0], [2.5, 6.0, 5.0]]) + off) * size
    expected = heads.double().std(0, correction=1).float()
    torch.testing.assert_close(ensemble_deviation(heads), expected, rtol=1e-4, atol=0.0)


def test_heads_that_are_no_numbers_have_no_deviation_either() -> None:
    """NaN must not become a slope of 0."""
    heads = torch.tensor([[1.0, math.nan], [2.0, 1.0]])
    deviation, (slope,) = slopes(lambda leaf: ensemble_deviation(leaf).sum(), heads)
    assert slope is not None
    assert math.isnan(deviation)
    assert slope[:, 1].isnan().all()
    assert slope[:, 0].isfinite().all()
