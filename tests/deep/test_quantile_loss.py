"""The quantile loss: the kernel is the double sum, exactly on rationals and within a derived bound on floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pyresac.deep import quantile_kernel
from pyresac.deep.quantiles import (
    LEAST_WIDTH,
    ascending,
    even_fractions,
    pairwise_quantile_huber,
    quantile_huber,
    spaced_fractions,
    uniform_fractions,
)
from pyresac.deep.random_source import Noise

Objects = NDArray[np.object_]
UNIT64, UNIT32 = 2.0**-53, 2.0**-24


def double_sum(heads: Objects, target: Objects, fractions: Objects, weights: Objects) -> tuple[Objects, Objects]:
    """Losses (K,) and slopes (K, B, M) by the definition, pair by pair, in whatever arithmetic the arrays have."""
    losses, slopes = heads[:, 0, 0] * 0, heads * 0
    for k, b, j in np.ndindex(*heads.shape):
        for i in range(target.shape[1]):
            error = target[b, i] - heads[k, b, j]
            asymmetry = abs(fractions[b, j] - (1 if error < 0 else 0)) * weights[b, i]
            inside = abs(error) <= 1
            losses[k] += asymmetry * (error * error / 2 if inside else abs(error) - Fraction(1, 2))
            slopes[k, b, j] -= asymmetry * (error if inside else (1 if error > 0 else -1))
    return losses, slopes


def by_kernel(function: Any, *given: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Losses and slopes of the kernel's function, in the arithmetic of the arrays."""
    heads, target, count = given[0], given[1], given[1].shape[1]
    zero: Any = Fraction(0) if heads.dtype == object else 0.0
    values, sums, losses = (np.full(n, zero) for n in (2 ** count.bit_length() - 1, (3, count + 1), len(heads)))
    slopes = np.full(heads.shape, zero, dtype=heads.dtype)
    function(heads, target, *given[2:], values, sums, losses, slopes)
    return losses, slopes


@st.composite
def cases(draw: st.DrawFn, numbers: st.SearchStrategy[Any], weight: st.SearchStrategy[Any]) -> list[list[Any]]:
    """heads, target, fractions and weights, as nested lists."""
    heads, size, each, count = (draw(st.integers(1, most)) for most in (2, 2, 4, 7))

    def table(of: st.SearchStrategy[Any], *shape: int) -> Any:
        if not shape:
            return draw(of)
        return [table(of, *shape[1:]) for _ in range(shape[0])]

    share = st.fractions(0, 1, max_denominator=16)
    return [
        table(numbers, heads, size, each),
        table(numbers, size, count),
        table(share, size, each),
        table(weight, size, count),
    ]


# eighths, so that errors of exactly 0 and ±1 and equal targets are common
rationals = st.integers(-40, 40).map(lambda n: Fraction(n, 8))
shares = st.fractions(0, 1, max_denominator=16)


@given(cases(rationals, shares))
@settings(max_examples=200, deadline=None)
def test_on_rationals_the_kernel_is_the_double_sum(case: list[list[Any]]) -> None:
    given = [np.array(part, dtype=object) for part in case]
    losses, slopes = by_kernel(quantile_kernel.losses_and_slopes.py_func, *given)  # type: ignore[attr-defined]
    expected_losses, expected_slopes = double_sum(*given)
    assert list(losses) == list(expected_losses)
    assert slopes.tolist() == expected_slopes.tolist()
    assert all(isinstance(entry, Fraction) for entry in slopes.flat)


@given(cases(st.one_of(st.floats(-1e6, 1e6), st.floats(-3, 3)), st.floats(0, 1, width=32)))
@settings(max_examples=200, deadline=None)
def test_on_floats_its_error_is_bounded(case: list[list[Any]]) -> None:
    """Let T bound |y − c|, |θ − c| and 1 for the centre c, W the sum of the weights, and u = 2⁻⁵³.

    A prefix sum of N terms w·|y − c|^r, each with at most r + 1 roundings of its own, is within (N + r + 1)·u·W·Tʳ;
    c itself costs u·T in each y and θ. A loss is a sum of at most 8 differences of two such sums, times at most
    2·T^(2−r), with a few more roundings, so it is within 8·2·2·(N + 8)·u·W·T²; a slope within 8·2·2·(N + 8)·u·W·T.
    """
    given = [np.array(part, dtype=np.float64) for part in case]
    losses, slopes = by_kernel(quantile_kernel.losses_and_slopes, *given)
    exact = [np.array([Fraction(x) for x in part.flat], dtype=object).reshape(part.shape) for part in given]
    expected_losses, expected_slopes = double_sum(*exact)
    heads, target, _, weights = given
    count, each = target.shape[1], heads.shape[1] * heads.shape[2]
    total = max(float(weights.sum(1).max()), 1e-300)
    reach = 1.0 + 2.0 * max(np.abs(heads).max(), np.abs(target).max())
    unit = 32 * (count + 8) * UNIT64 * total
    assert max(abs(Fraction(x) - y) for x, y in zip(losses, expected_losses, strict=True)) <= each * unit * reach**2
    errors = [abs(Fraction(x) - y) for x, y in zip(slopes.flat, expected_slopes.flat, strict=True)]
    assert max(errors) <= unit * reach


def random_case(seed: int, scale: float, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    source = torch.Generator().manual_seed(seed)
    heads = scale * torch.randn(3, 8, 5, generator=source, dtype=torch.double)
    target = scale * torch.randn(8, 12, generator=source, dtype=torch.double)
    weights = torch.rand(8, 12, generator=source, dtype=torch.double) / 12
    fractions = torch.rand(8, 5, generator=source, dtype=torch.double)
    return tuple(part.to(dtype) for part in (heads, target, fractions, weights))


@pytest.mark.parametrize("scale", [0.3, 30.0])
@pytest.mark.parametrize("dtype", [torch.double, torch.float])
def test_both_forms_agree_with_their_slopes(scale: float, dtype: torch.dtype) -> None:
    heads, target, fractions, weights = random_case(0, scale, dtype)
    found = []
    for form in (quantile_huber, pairwise_quantile_huber):
        leaf = heads.clone().requires_grad_()
        loss = form(leaf, target, fractions, weights)
        (slope,) = torch.autograd.grad(3.0 * loss, leaf)  # with a slope of its own from above
        found.append((loss.detach(), slope))
    unit = UNIT64 if dtype == torch.double else UNIT32
    # sums of 12 targets, then of 40 entries, of numbers of at most 5·scale
    tolerance = 64 * unit * max(1.0, 5.0 * scale)
    assert abs(found[0][0] - found[1][0]) <= 3 * tolerance
    assert (found[0][1] - found[1][1]).abs().max() <= tolerance


def test_float32_values_far_from_zero_keep_their_slopes() -> None:
    """Prefix sums in float32, or of squares not seen from a centre, would lose every digit here."""
    heads, target, fractions, weights = random_case(1, 2.0, torch.double)
    far = [(part + 2.0**20).float() for part in (heads, target)]
    arrays = [part.numpy() for part in (*far, fractions.float(), weights.float())]
    losses, slopes = by_kernel(quantile_kernel.losses_and_slopes, *arrays)
    exact = [np.array([Fraction(float(x)) for x in part.flat], dtype=object).reshape(part.shape) for part in arrays]
    expected_losses, expected_slopes = double_sum(*exact)
    assert max(abs(slopes - expected_slopes.astype(float)).flat) <= 2 * UNIT32
    assert max(abs(losses - expected_losses.astype(float))) <= 1e-9


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("place", ["heads", "target"])
def test_what_is_not_finite_shows_in_the_loss(bad: float, place: str) -> None:
    heads, target, fractions, weights = random_case(2, 1.0, torch.float)
    (heads if place == "heads" else target)[0, 0] = bad
    assert not torch.isfinite(quantile_huber(heads, target, fractions, weights))


@given(st.integers(0, 2**31), st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_fractions_lie_apart_and_their_weights_sum_to_one(seed: int, count: int) -> None:
    noise = Noise(seed, torch.device("cpu"))
    for found in (even_fractions(count, noise.device), spaced_fractions(6, count, noise)):
        assert (found.at > 0).all()
        assert (found.at < 1).all()
        assert (found.weights.sum(1) - 1.0).abs().max() <= (count + 2) * UNIT32
        # a fraction is the middle of its own share
        ends = found.weights.cumsum(1)
        assert (found.at - 0.5 * (ends + ends - found.weights)).abs().max() <= (count + 4) * UNIT32
        assert (found.weights > 0.9 * LEAST_WIDTH / (count * (1 + LEAST_WIDTH))).all()
    drawn = uniform_fractions(6, count, noise)
    assert drawn.at.shape == (6, count)
    assert (drawn.weights == 1.0 / count).all()


def test_ascending_sorts_rows() -> None:
    atoms = torch.randn(4, 9, 11, generator=torch.Generator().manual_seed(0))
    assert torch.equal(ascending(atoms), atoms.sort(-1).values)
