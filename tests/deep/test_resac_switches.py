"""RE-SAC's other switches: each formula in float64 against loops, and what a checkpoint keeps of them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from pyresac.deep.algorithms.algorithm import ActorInputs
from pyresac.deep.algorithms.resac import RESAC, RESACOptions
from pyresac.deep.slopes import slopes
from pyresac.errors import InputError

HEADS, SIZE, ALPHA, BETA = 4, 6, 0.2, -1.5
EXACT: dict[str, float] = {"rtol": 1e-12, "atol": 1e-12}


def numbers(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def resac(**options: Any) -> RESAC:
    return RESAC(RESACOptions(ensemble_size=HEADS, beta_lcb=BETA, **options))


def actor_loss(own: RESAC, heads: Tensor, log_prob: Tensor) -> tuple[Tensor, Tensor]:
    """The loss and its slope in the heads."""
    unit = torch.zeros(SIZE, 1, dtype=torch.double)
    loss, (slope,) = slopes(lambda q: own.actor_loss(ActorInputs(q, log_prob, unit, ALPHA, unit)), heads)
    assert slope is not None
    return loss, slope


def moments(heads: Tensor, i: int) -> tuple[Tensor, Tensor]:
    """Q̄ and σ_ens of transition i, written out."""
    mean = sum(heads[k, i] for k in range(HEADS)) / HEADS
    return mean, (sum((heads[k, i] - mean) ** 2 for k in range(HEADS)) / (HEADS - 1)).sqrt()


def reference(heads: Tensor, log_prob: Tensor, beta: float, clip: float = math.inf, over: float = 1.0) -> Any:
    """E[α·log π − (Q̄ + β·min(σ, clip·|Q̄|))/over] and its slope by autograd over loops."""
    leaf = heads.clone().requires_grad_()
    loss = torch.zeros((), dtype=torch.double)
    for i in range(SIZE):
        mean, sigma = moments(leaf, i)
        limit = clip * mean.abs() if clip < math.inf else sigma
        bound = mean + beta * (sigma if float(sigma.detach()) <= float(limit.detach()) else limit)
        loss = loss + (ALPHA * log_prob[i] - bound / over) / SIZE
    return loss.detach(), torch.autograd.grad(loss, leaf)[0]


def assert_same(found: tuple[Tensor, Tensor], expected: tuple[Tensor, Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, **EXACT)


def test_sigma_is_clipped_to_a_fraction_of_the_mean() -> None:
    side = torch.tensor([1.0, -1.0], dtype=torch.double).repeat(SIZE // 2)
    heads, log_prob, clip = numbers(9, HEADS, SIZE) + side, numbers(2, SIZE), 0.8
    found = [
        (float(mean), float(sigma) > clip * abs(float(mean)))
        for mean, sigma in (moments(heads, i) for i in range(SIZE))
    ]
    assert {(mean > 0.0, clipped) for mean, clipped in found} == {(a, b) for a in (True, False) for b in (True, False)}
    assert_same(actor_loss(resac(sigma_clip=clip), heads, log_prob), reference(heads, log_prob, BETA, clip=clip))


def test_the_bound_is_divided_by_the_mean_size_of_values() -> None:
    """Which is a constant: its own slope is not taken."""
    heads, log_prob = numbers(3, HEADS, SIZE), numbers(4, SIZE)
    size = sum(abs(float(moments(heads, i)[0])) for i in range(SIZE)) / SIZE
    found = actor_loss(resac(normalise_lcb=True), heads, log_prob)
    assert_same(found, reference(heads, log_prob, BETA, over=size))
    loss, slope = actor_loss(resac(normalise_lcb=True), torch.zeros_like(heads), log_prob)
    assert bool(torch.isfinite(loss))
    assert bool(torch.isfinite(slope).all())


def test_beta_follows_the_deviation() -> None:
    """σ̄/σ_ema: 1 at first, at most 3, and as the slow average has it after that."""
    own, log_prob, slow = resac(adaptive_beta=True), numbers(5, SIZE), None
    for step, scale in enumerate([1.0, 1.5, 0.25, 100.0, 1.0]):
        heads = scale * numbers(6 + step, HEADS, SIZE)
        sigma = sum(float(moments(heads, i)[1]) for i in range(SIZE)) / SIZE
        slow = sigma if slow is None else 0.99 * slow + 0.01 * sigma
        expected = BETA * min(3.0, sigma / slow)
        assert_same(actor_loss(own, heads, log_prob), reference(heads, log_prob, expected))
    assert expected != BETA
    assert own.sigma_ema == pytest.approx(slow, rel=1e-12, abs=0)


def test_heads_that_agree_leave_beta_as_it_is() -> None:
    own = resac(adaptive_beta=True)
    assert own.beta_lcb(torch.ones(HEADS, SIZE)) == BETA


def test_the_slow_average_is_saved() -> None:
    own, other = resac(adaptive_beta=True), resac(adaptive_beta=True)
    own.beta_lcb(numbers(20, HEADS, SIZE))
    other.load(json.loads(json.dumps(own.state())))
    assert other.sigma_ema == own.sigma_ema is not None
    heads = numbers(21, HEADS, SIZE)
    assert own.beta_lcb(heads) == other.beta_lcb(heads)


def test_all_are_off_by_default() -> None:
    own, heads, log_prob = resac(), numbers(30, HEADS, SIZE), numbers(31, SIZE)
    assert_same(actor_loss(own, heads, log_prob), reference(heads, log_prob, BETA))
    assert own.sigma_ema is None
    assert "sigma_ema" not in own.state()


def test_one_critic_has_no_deviation_to_adapt_to() -> None:
    with pytest.raises(InputError, match="ensemble_size = 1 with adaptive_beta = True"):
        RESACOptions(ensemble_size=1, lambda_epi=0.0, beta_ood=0.0, beta_lcb=0.0, adaptive_beta=True)
