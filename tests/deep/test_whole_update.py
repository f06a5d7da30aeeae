"""Whole updates against the papers' equations, written out here in float64 and differentiated by autograd alone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import pytest
import torch
from deep_cases import (
    FLOAT32,
    PLAIN,
    REGULARISED,
    plain_outputs,
    random_batch,
    small_learner,
    stirred,
    watched_update,
)
from torch import Tensor

from pyresac.deep.algorithms.resac import Departures
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.replay import Batch
from pyresac.deep.update_statistics import STATISTICS_EVERY

LOG_VOLUME = 0.3
"""Of the small learners' action box."""


class Paper(Protocol):
    """What the papers differ in, over heads (K, B) in float64."""

    def value(self, heads: Tensor, log_prob: Tensor, kappa: Tensor, alpha: float, options: Any) -> Tensor:
        """(K, B) what is bootstrapped."""

    def critic_loss(self, heads: Tensor, y: Tensor, options: Any) -> Tensor:
        """A number."""

    def actor_loss(self, heads: Tensor, log_prob: Tensor, unit: Tensor, action: Tensor, alpha: float, o: Any) -> Tensor:
        """A number."""


def variance(heads: Tensor) -> Tensor:
    mean = sum(head for head in heads) / len(heads)
    return torch.stack([(head - mean) ** 2 for head in heads]).sum(0) / (len(heads) - 1)


class SectionFour:
    """RE-SAC's paper, section 4, and section 5.1 where it says more."""

    def value(self, heads: Tensor, log_prob: Tensor, kappa: Tensor, alpha: float, options: Any) -> Tensor:
        least, rho, rows = heads.min(0).values, options.independence, []
        for k, head in enumerate(heads):
            penalised = rho * head + (1.0 - rho) * least
            if options.lambda_epi:
                penalised = penalised - options.lambda_epi * variance(heads)
            rows.append(penalised - options.lambda_ale * kappa[k] - alpha * log_prob)
        return torch.stack(rows)

    def critic_loss(self, heads: Tensor, y: Tensor, options: Any) -> Tensor:
        squares = sum(((heads[k] - y[k]) ** 2).mean() for k in range(len(heads)))
        return squares + (options.beta_ood * variance(heads).sqrt().mean() if options.beta_ood else 0.0)

    def actor_loss(self, heads: Tensor, log_prob: Tensor, unit: Tensor, action: Tensor, alpha: float, o: Any) -> Tensor:
        bound = sum(head for head in heads) / len(heads)
        if o.beta_lcb:
            bound = bound + o.beta_lcb * variance(heads).sqrt()
        return (alpha * log_prob - bound).mean() + o.departures.cloning * ((unit - action) ** 2).mean()


class Haarnoja:
    """SAC: the least head in target and actor."""

    def value(self, heads: Tensor, log_prob: Tensor, kappa: Tensor, alpha: float, options: Any) -> Tensor:
        return (heads.min(0).values - alpha * log_prob).expand_as(heads)

    def critic_loss(self, heads: Tensor, y: Tensor, options: Any) -> Tensor:
        return sum((0.5 * (heads[k] - y[k]) ** 2).mean() for k in range(len(heads)))

    def actor_loss(self, heads: Tensor, log_prob: Tensor, unit: Tensor, action: Tensor, alpha: float, o: Any) -> Tensor:
        value = heads.min(0).values if o.actor_ascends == "min" else heads.sum(0) / len(heads)
        return (alpha * log_prob - value).mean()


class Fujimoto:
    """TD3: the least head in the target, the first one for the actor."""

    def value(self, heads: Tensor, log_prob: Tensor, kappa: Tensor, alpha: float, options: Any) -> Tensor:
        return heads.min(0).values.expand_as(heads)

    def critic_loss(self, heads: Tensor, y: Tensor, options: Any) -> Tensor:
        return sum(((heads[k] - y[k]) ** 2).mean() for k in range(len(heads)))

    def actor_loss(self, heads: Tensor, log_prob: Tensor, unit: Tensor, action: Tensor, alpha: float, o: Any) -> Tensor:
        return -(heads[0] if o.actor_ascends == "first" else heads.sum(0) / len(heads)).mean()


PAPERS: dict[str, Paper] = {"resac": SectionFour(), "sac": Haarnoja(), "td3": Fujimoto()}


class Reference(NamedTuple):
    gradients: dict[str, Tensor]
    statistics: dict[str, float]
    """What a noted update is to tell."""


def squashed(outputs: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """The squashed Gaussian's actions and log π in the box's units."""
    mean, log_std = outputs.chunk(2, 1)
    log_std = log_std.clamp(-20.0, 2.0)
    before = mean + log_std.exp() * noise
    gaussian = -0.5 * noise**2 - log_std - 0.5 * math.log(2.0 * math.pi)
    return torch.tanh(before), (gaussian + 2.0 * torch.log(torch.cosh(before))).sum(1) - LOG_VOLUME


def reference(name: str, learner: Learner, batch: Batch, noise: list[Tensor], live: bool = False) -> Reference:
    """An update by the paper, everything asking for its gradient. live: the targets are the online critics themselves,
    and the gradient goes through y, which the papers do not do."""
    paper, options, size, alpha = PAPERS[name], learner.options, len(batch.reward), learner.alpha

    def leaf(matrix: Tensor) -> Tensor:
        return matrix.detach().double().requires_grad_()

    critic, actor, target = leaf(learner.critic.matrix), leaf(learner.actor.matrix), leaf(learner.target.matrix)
    if live:
        assert torch.equal(target, critic)
        target = critic

    def outputs(matrix: Tensor, state: Inputs) -> Tensor:
        return plain_outputs(matrix, learner.actor.layout, state.dense.double(), state.codes)[0]

    def heads_of(matrix: Tensor, state: Inputs, unit: Tensor) -> Tensor:
        dense = torch.cat([unit, state.dense.double()], 1)
        return plain_outputs(matrix, learner.critic.layout, dense, state.codes)[..., 0]

    (drawn,) = (tensor.double() for tensor in noise)
    if name == "td3":
        assert learner.target_actor is not None
        o: Any = options
        unit, log_prob = torch.tanh(outputs(actor, batch.state)), torch.zeros(size).double()
        smoothing = (o.smoothing_noise * drawn).clamp(-o.smoothing_clip, o.smoothing_clip)
        following = torch.tanh(outputs(leaf(learner.target_actor.matrix), batch.next_state))
        next_unit, next_log_prob = (following + smoothing).clamp(-1.0, 1.0), log_prob
    else:
        unit, log_prob = squashed(outputs(actor, batch.state), drawn[:size])
        next_unit, next_log_prob = squashed(outputs(actor, batch.next_state), drawn[size:])
    weights, _, _ = learner.critic.layout.split(target)
    kappa = torch.stack([sum(weight[k].abs().sum() for weight in weights) for k in range(len(target))])
    bracket = paper.value(heads_of(target, batch.next_state, next_unit), next_log_prob, kappa, alpha, options)
    going = 1.0 - batch.terminal.double()
    y = options.reward_scale * batch.reward.double() + options.discount * going * bracket
    y = y if live else y.detach()
    heads = heads_of(critic, batch.state, batch.action.double())
    critic_loss = paper.critic_loss(heads, y, options)
    (of_critic,) = torch.autograd.grad(critic_loss, [critic], retain_graph=True)
    found = {"critic": of_critic}
    if learner.temperature is not None:
        counted = next_log_prob[batch.terminal == 0] if learner.temperature.on_next else log_prob
        found["temperature"] = -(counted.detach().mean() + learner.temperature.target_entropy)
    ascended = heads_of(critic.detach(), batch.state, unit)
    loss = paper.actor_loss(ascended, log_prob, unit, batch.action.double(), alpha, options)
    anchor = getattr(options, "anchor_weight", 0.0)
    if anchor:
        loss = loss + anchor * ((actor - learner.best.matrix.double()) ** 2).mean()
    (found["actor"],) = torch.autograd.grad(loss, [actor])
    statistics = {
        "critic_loss": critic_loss / len(heads),
        "actor_loss": loss,
        "q_mean": heads.mean(),
        "target_mean": y.mean(),
        "sigma_mean": variance(heads).sqrt().mean(),
        "log_prob": next_log_prob.mean(),
        "critic_grad": of_critic.norm(dim=1).max(),
        "actor_grad": found["actor"].norm(),
    }
    return Reference(found, {name: float(value.detach()) for name, value in statistics.items()})


CASES: list[tuple[str, dict[str, Any]]] = [
    ("resac", {**REGULARISED}),
    ("resac", {**REGULARISED, "ensemble_size": 2, "independence": 0.0, "reward_scale": 0.01}),
    ("resac", {**PLAIN, "activation": "tanh"}),
    ("resac", {**PLAIN, "departures": Departures(cloning=0.7)}),
    ("resac", {**REGULARISED, "temperature_on": "state"}),
    ("sac", {}),
    ("sac", {"temperature_on": "next", "ensemble_size": 2, "activation": "tanh"}),
    ("sac", {"actor_ascends": "mean", "reward_scale": 0.01}),
    ("sac", {"ensemble_size": 2, "hidden": (5,), "actor_hidden": (4, 3)}),
    ("td3", {"actor_every": 1}),
    ("td3", {"actor_every": 1, "ensemble_size": 2, "actor_ascends": "mean", "smoothing_noise": 1.0}),
    ("td3", {"actor_every": 1, "smoothing_noise": 5.0, "smoothing_clip": 3.0, "activation": "tanh"}),
]

cases = pytest.mark.parametrize(("name", "options"), CASES)


def close(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert list(found) == list(expected), "critics, then temperature, then actor"
    for name, gradient in found.items():
        size = float(expected[name].abs().max())
        assert size > 0.0
        torch.testing.assert_close(gradient.double(), expected[name], rtol=0.0, atol=FLOAT32 * max(1.0, size))


@cases
def test_an_update_follows_its_paper(name: str, options: dict[str, Any]) -> None:
    learner, batch = stirred(small_learner(name, **options)), random_batch()
    other = stirred(small_learner(name, **options))
    seen = watched_update(learner, batch)
    close(seen.gradients, reference(name, other, batch, seen.noise).gradients)
    assert not seen.target.requires_grad


@cases
def test_statistics_are_those_of_the_losses(name: str, options: dict[str, Any]) -> None:
    """Norms before they are clipped, the largest one of the critics."""
    learner, batch = stirred(small_learner(name, **options, grad_clip=1e-3)), random_batch()
    other = stirred(small_learner(name, **options))
    learner.updates = other.updates = STATISTICS_EVERY - options.get("actor_every", 1)
    for _ in range(options.get("actor_every", 1)):
        seen = watched_update(learner, batch)
    expected = reference(name, other, batch, seen.noise).statistics
    assert learner.statistics.means() == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "term", "options"),
    [
        ("resac", "value", PLAIN),
        ("resac", "lambda_epi", {**PLAIN, "lambda_epi": 1.0}),
        ("resac", "lambda_ale", {**PLAIN, "lambda_ale": 1.0}),
        ("sac", "value", {}),
        ("td3", "value", {"actor_every": 1}),
    ],
)
def test_no_gradient_reaches_what_is_frozen(name: str, term: str, options: dict[str, Any]) -> None:
    """Q̂, Γ_epi and κ, each on top of what comes before: live, it would be far from the update's gradient."""
    learner, other, batch = small_learner(name, **options), small_learner(name, **options), random_batch()
    seen = watched_update(learner, batch)
    frozen = reference(name, other, batch, seen.noise).gradients["critic"]
    reached = reference(name, other, batch, seen.noise, live=True).gradients["critic"]
    if term != "value":
        # what the penalty adds, apart from the value itself
        bare = small_learner(name, **{**options, term: 0.0})
        without = reference(name, bare, batch, seen.noise, live=True).gradients["critic"]
        assert float((reached - without).abs().max()) > 0.01
    bound = FLOAT32 * max(1.0, float(frozen.abs().max()))
    found = seen.gradients["critic"].double()
    assert float((found - frozen).abs().max()) <= bound
    assert float((found - reached).abs().max()) > 100 * bound


def test_the_smoothing_of_td3_is_clipped_twice() -> None:
    """At c, and where the box ends."""
    learner = small_learner("td3", smoothing_noise=100.0, smoothing_clip=0.25)
    assert learner.target_actor is not None
    batch = random_batch()
    mean = learner.policy.mode(learner.target_actor.run(batch.next_state).output[0])
    seen: list[Tensor] = []
    plain = learner.algorithm.next_action

    def watched(sample: Any, noise: Any) -> Tensor:
        seen.append(plain(sample, noise))
        return seen[-1]

    learner.algorithm.next_action = watched  # type: ignore[method-assign]
    learner.update(batch)
    away = (seen[0] - mean).abs()
    inside = seen[0].abs() < 1.0
    assert inside.any()
    torch.testing.assert_close(away[inside], torch.full_like(away[inside], 0.25))
    with torch.no_grad():
        learner.target_actor.matrix += 30.0
    learner.update(batch)
    assert seen[1].abs().max() == 1.0


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_exploration_of_td3(noise: float) -> None:
    """The present policy's action and noise of this size, in the box."""
    learner, batch = small_learner("td3", exploration_noise=noise), random_batch(size=4_000)
    with torch.no_grad():
        learner.actor.matrix *= 0.1
    found = torch.from_numpy(learner.explore(batch.state))
    away = found - learner.policy.mode(learner.actor.run(batch.state).output[0])
    if noise == 0.0:
        assert not away.any()
    else:
        # a deviation of 8,000 draws errs by 0.1/√16,000; 5 of them
        assert float(away.std()) == pytest.approx(noise, abs=5 * noise / math.sqrt(16_000))
        assert abs(float(away.mean())) < 5 * noise / math.sqrt(8_000)
    learner.actor.matrix *= 1e3
    assert torch.from_numpy(learner.explore(batch.state)).abs().max() == 1.0
