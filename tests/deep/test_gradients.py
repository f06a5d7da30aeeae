"""Slopes written out against autograd of the losses that they belong to, in float64."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from deep_cases import REGULARISED, ROUNDING, numbers, random_batch, small_learner
from hypothesis import given, settings
from hypothesis import strategies as st
from pyresac.deep.algorithms.resac_options import Departures
from pyresac.deep.deep_learner import Learner
from pyresac.deep.networks.modules import Features, critic_values
from pyresac.deep.networks.squashed_gaussian import SquashedGaussian
from torch import Tensor

from pyresac.deep.adam import Adam
from pyresac.deep.algorithms import gradients
from pyresac.deep.algorithms import objectives as eq
from pyresac.deep.networks.layout import weight_norms
from pyresac.deep.networks.passes import ensemble_forward
from pyresac.deep.replay import Batch
from pyresac.deep.update_statistics import STATISTICS_EVERY

EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=60)


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5), st.sampled_from([0.0, 0.01, 3.0]))
def test_the_critics(seed: int, count: int, size: int, beta: float) -> None:
    beta = beta if count > 1 else 0.0
    heads, aim = numbers(count, size, seed=seed).requires_grad_(), numbers(count, size, seed=seed + 1)
    expected, _ = eq.critic_loss(heads, aim, beta)
    loss, slope = gradients.critic_loss(heads.detach(), aim, beta)
    torch.testing.assert_close(loss, expected.detach(), **ROUNDING)
    torch.testing.assert_close(slope, torch.autograd.grad(expected, heads)[0], **ROUNDING)


@EXAMPLES
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 6),
    st.integers(1, 5),
    st.sampled_from([0.0, -0.5, -2.0]),
    st.floats(0.0, 1.0),
)
def test_the_actor(seed: int, count: int, size: int, beta: float, alpha: float) -> None:
    heads, log_prob = numbers(count, size, seed=seed).requires_grad_(), numbers(size, seed=seed + 1).requires_grad_()
    expected = eq.actor_loss(log_prob, heads, alpha, beta)
    loss, of_log_prob, slope = gradients.actor_loss(log_prob.detach(), heads.detach(), alpha, beta)
    wanted = torch.autograd.grad(expected, [heads, log_prob])
    torch.testing.assert_close(loss, expected.detach(), **ROUNDING)
    torch.testing.assert_close(slope, wanted[0], **ROUNDING)
    torch.testing.assert_close(torch.full_like(log_prob, of_log_prob).detach(), wanted[1], **ROUNDING)


@pytest.mark.parametrize("count", [2, 3, 5, 7, 10])
def test_heads_that_agree_have_no_slope_of_their_deviation(count: int) -> None:
    """Whatever they agree on, a number whose mean is rounded included."""
    values = torch.cat([torch.tensor([7.0, 0.9, 0.1]), numbers(200, seed=3).float()])
    heads = values.expand(count, -1).clone()
    spread = gradients.Spread.of(heads)
    assert not spread.slope(1.0).any()
    assert not spread.deviation.any()
    assert torch.equal(spread.mean, values)
    squares = 2.0 / len(values) * (heads - (heads - 1.0))
    assert torch.equal(gradients.critic_loss(heads, heads - 1.0, 5.0)[1], squares)
    slope = gradients.actor_loss(torch.zeros(len(values)), heads, 0.1, -2.0)[2]
    assert torch.equal(slope, torch.full_like(heads, -1 / (len(values) * count)))


@pytest.mark.parametrize("size", [1e-18, 1.0, 1e15])
@pytest.mark.parametrize("off", [0.0, 1024.0])
def test_the_spread_keeps_its_digits(size: float, off: float) -> None:
    """Also where the heads are far from 0 and near each other: squares of them must not be subtracted."""
    heads = (torch.tensor([[1.0, 3.0, -2.0], [4.0, 3.0, 5.0], [2.5, 6.0, 5.0]]) + off) * size
    spread = gradients.Spread.of(heads)
    torch.testing.assert_close(spread.deviation, heads.double().std(0, correction=1).float(), rtol=1e-4, atol=0.0)


def test_penalties_of_squares() -> None:
    here, there = numbers(2, 5, seed=0).requires_grad_(), numbers(2, 5, seed=1)
    expected = eq.anchor_penalty(here, there, 0.3)
    loss, slope = gradients.square_penalty(here.detach(), there, 0.3)
    torch.testing.assert_close(loss, expected.detach(), **ROUNDING)
    torch.testing.assert_close(slope, torch.autograd.grad(expected, here)[0], **ROUNDING)


def test_the_temperature() -> None:
    log_alpha, log_prob = torch.tensor(-1.0, dtype=torch.double, requires_grad=True), numbers(7, seed=0)
    (expected,) = torch.autograd.grad(eq.temperature_loss(log_alpha, log_prob, -1.5), log_alpha)
    assert_close = torch.testing.assert_close
    assert_close(gradients.temperature_slope(log_prob, torch.ones_like(log_prob), -1.5), expected, **ROUNDING)
    # states in which no action is taken do not count, wherever they stand
    going = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], dtype=torch.double)
    (expected,) = torch.autograd.grad(eq.temperature_loss(log_alpha, log_prob[going == 1.0], -1.5), log_alpha)
    assert_close(gradients.temperature_slope(log_prob, going, -1.5), expected, **ROUNDING)
    assert gradients.temperature_slope(log_prob, torch.zeros_like(log_prob), -1.5) == 0.0
    alone = torch.eye(7, dtype=torch.double)[3]
    assert_close(gradients.temperature_slope(log_prob, alone, -1.5), -(log_prob[3] - 1.5), **ROUNDING)


# --- the whole update


FLOAT32 = 400 * 2.0**-24
"""Of gradients of size 1 through four layers of at most 8 units, 16 transitions and three heads: fewer roundings."""


UNCLIPPED = {**REGULARISED, "grad_clip": None}
PLAIN = {**UNCLIPPED, "lambda_epi": 0.0, "beta_ood": 0.0, "beta_lcb": 0.0, "independence": 1.0, "anchor_weight": 0.0}


def applied(learner: Learner, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The gradients of one update in the order of its steps: critics, temperature, actor."""
    record: list[Tensor] = []

    def watched(_: Adam, gradient: Tensor) -> None:
        record.append(gradient.clone())
        if len(record) == 2:
            # no network moves, so every gradient is one at the networks before the update; α does, after its use
            learner.log_alpha += 0.5

    with monkeypatch.context() as patch:
        patch.setattr(Adam, "step", watched)
        learner.update(batch)
    return record


class SectionFour(NamedTuple):
    gradients: list[Tensor]
    """Of critics, temperature, actor."""
    statistics: dict[str, float]
    """What a noted update is to tell."""


def of_section_four(learner: Learner, batch: Batch, frozen: bool = True) -> SectionFour:
    """An update by autograd of the losses, everything asking for its gradient. frozen: detach y, as the paper does.

    Otherwise targets are the online critics themselves, which y then reaches.
    """
    options, layout = learner.options, learner.critic.layout
    critic, actor, target = (
        matrix.detach().clone().requires_grad_()
        for matrix in (learner.critic.matrix, learner.actor.matrix, learner.target)
    )
    if not frozen:
        assert torch.equal(target, critic)
        target = critic
    size, alpha = len(batch.reward), learner.alpha
    noise = torch.randn(2 * size, learner.actions, generator=learner.generator)

    def sample(state: Features, own: Tensor) -> tuple[Tensor, Tensor]:
        outputs = ensemble_forward(actor, learner.actor.layout, state.dense, state.codes)[0]
        return SquashedGaussian(*outputs.chunk(2, 1)).sample(own, learner.log_volume)

    action, log_prob = sample(batch.state, noise[:size])
    next_action, next_log_prob = sample(batch.next_state, noise[size:])
    y = eq.resac_target(
        batch.reward * options.reward_scale,
        batch.terminal,
        critic_values(target, layout, batch.next_state, next_action),
        next_log_prob,
        weight_norms(target, layout),
        discount=options.discount,
        lambda_epi=options.lambda_epi,
        lambda_ale=options.lambda_ale,
        alpha=alpha,
        independence=options.independence,
    )
    y = y.detach() if frozen else y
    heads = critic_values(critic, layout, batch.state, batch.action)
    critic_loss, sigma = eq.critic_loss(heads, y, options.beta_ood)
    of_critic = torch.autograd.grad(critic_loss, critic)[0]
    log_alpha = learner.log_alpha.detach().clone().requires_grad_()
    going = next_log_prob.detach()[batch.terminal == 0]
    of_alpha = torch.autograd.grad(eq.temperature_loss(log_alpha, going, learner.target_entropy), log_alpha)[0]
    loss = eq.actor_loss(log_prob, critic_values(critic, layout, batch.state, action), alpha, options.beta_lcb)
    loss = loss + eq.anchor_penalty(actor, learner.best, options.anchor_weight)
    loss = loss + options.departures.cloning * (action - batch.action).square().mean()
    of_actor = torch.autograd.grad(loss, actor)[0]
    statistics = {
        "critic_loss": critic_loss / len(heads),
        "actor_loss": loss,
        "q_mean": heads.mean(),
        "target_mean": y.mean(),
        "sigma_mean": sigma,
        "log_prob": next_log_prob.mean(),
        "critic_grad": of_critic.norm(dim=1).max(),
        "actor_grad": of_actor.norm(),
    }
    return SectionFour([of_critic, of_alpha, of_actor], {name: value.item() for name, value in statistics.items()})


@pytest.mark.parametrize("options", [UNCLIPPED, PLAIN, {**PLAIN, "departures": Departures(cloning=0.7)}])
@pytest.mark.parametrize("rescaled", [1.0, 0.01])
def test_an_update_follows_the_losses_of_section_four(
    options: dict[str, Any], rescaled: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, other = (small_learner(**options, reward_scale=rescaled) for _ in range(2))
    for one in (learner, other):
        with torch.no_grad():
            one.actor.matrix += 0.1  # away from the anchor
            one.target *= 1.1  # and the targets from the critics
    batch = random_batch()
    found, wanted = applied(learner, batch, monkeypatch), of_section_four(other, batch).gradients
    assert len(found) == len(wanted) == 3
    for gradient, expected in zip(found, wanted, strict=True):
        size = float(expected.abs().max())
        assert size > 0.0
        torch.testing.assert_close(gradient, expected, rtol=0.0, atol=FLOAT32 * max(1.0, size))


@pytest.mark.parametrize("term", ["value", "lambda_epi", "lambda_ale"])
def test_no_gradient_reaches_what_is_frozen(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q̂, Γ_epi and κ, each on top of what comes before: live, it would be far from the update's gradient."""
    weights = {"lambda_epi": 0.0, "lambda_ale": 0.0} | ({} if term == "value" else {term: 1.0})
    learner, other, live = (small_learner(**{**PLAIN, **weights}) for _ in range(3))
    batch = random_batch()
    found = applied(learner, batch, monkeypatch)[0]
    frozen = of_section_four(other, batch).gradients[0]
    reached = of_section_four(live, batch, frozen=False).gradients[0]
    bound = FLOAT32 * max(1.0, float(frozen.abs().max()))
    assert float((found - frozen).abs().max()) <= bound
    assert float((found - reached).abs().max()) > 100 * bound


@pytest.mark.parametrize("share", [0.1, 10.0])
def test_a_gradient_is_clipped_to_its_norm_and_never_raised(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Head by head, to `grad_clip`: a share of the smallest norm, or more than the largest."""
    batch = random_batch()
    plain = applied(small_learner(**PLAIN), batch, monkeypatch)
    norms = [gradient.norm(dim=1) for gradient in (plain[0], plain[2])]
    bound = share * float(torch.cat(norms).min() if share < 1.0 else torch.cat(norms).max())
    clipped = applied(small_learner(**{**PLAIN, "grad_clip": bound}), batch, monkeypatch)
    for norm, gradient in zip(norms, (clipped[0], clipped[2]), strict=True):
        torch.testing.assert_close(gradient.norm(dim=1), norm.clamp(max=bound), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [REGULARISED, {**PLAIN, "departures": Departures(cloning=0.7)}])
def test_statistics_are_those_of_the_losses(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Norms before they are clipped, the largest one of the critics."""
    learner, other = (small_learner(**options) for _ in range(2))
    for one in (learner, other):
        one.updates = STATISTICS_EVERY - 1
        with torch.no_grad():
            one.actor.matrix += 0.1
            one.target *= 1.1
    batch = random_batch()
    applied(learner, batch, monkeypatch)
    assert learner.statistics.means() == pytest.approx(of_section_four(other, batch).statistics, rel=1e-4, abs=1e-5)


def test_statistics_are_noted() -> None:
    """Every eighth update, and the actor's where it takes part in that one."""
    learner = small_learner(actor_every=3)
    for _ in range(48):
        learner.update(random_batch())
    counts = learner.statistics.state()["counts"]
    assert counts["critic_loss"] == counts["q_mean"] == counts["log_prob"] == counts["target_mean"] == 6
    assert counts["actor_loss"] == counts["actor_grad"] == 2
    assert all(learner.statistics.means()[name] != 0.0 for name in counts)
