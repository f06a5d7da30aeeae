"""One update of DSAC beside a float64 reference, written from its paper alone: sample by sample, pair by pair."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from given_noise import GivenNoise
from one_update import assert_close, assert_moved_alike, first_step
from quantile_cases import ACTIONS, learner_of, random_batch
from torch import Tensor

from pyresac.deep.algorithms.dsac import DSACOptions
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.update_statistics import STATISTICS_EVERY

SIZE, QUANTILES, HIDDEN, COSINES = 6, 4, (6, 5), 3
DISCOUNT, ALPHA, TAU, RATE = 0.9, 0.3, 0.005, 3e-4


def tensors(row: Tensor, layout: NetworkLayout) -> list[Tensor]:
    """The tensors of one network, (P,), in the order that `NetworkLayout.shapes` states."""
    sizes = [int(np.prod(shape)) for shape in layout.shapes]
    return [part.view(shape) for part, shape in zip(row.split(sizes), layout.shapes, strict=True)]


def layer_norm(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    return scale * (x - x.mean()) / torch.sqrt(((x - x.mean()) ** 2).mean() + 1e-5) + shift


def quantile(parts: list[Tensor], state: Tensor, action: Tensor, tau: Tensor) -> Tensor:
    """Z_τ(s, a) of one critic: relu layers with LayerNorm, the sigmoid embedding times the first, the second, a sum."""
    w1, w2, w3, we, b1, b2, b3, be, g1, g2, ge, c1, c2, ce = parts
    x = torch.relu(layer_norm(torch.cat([action, state]) @ w1 + b1, g1, c1))
    cosines = torch.stack([torch.cos(math.pi * i * tau) for i in range(1, COSINES + 1)])
    x = x * torch.sigmoid(layer_norm(cosines @ we + be, ge, ce))
    return (torch.relu(layer_norm(x @ w2 + b2, g2, c2)) @ w3 + b3)[0]


def sample(parts: list[Tensor], state: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """a = tanh(μ + s·ε) and log π(a|s), of one state."""
    w1, w2, b1, b2 = parts
    mean, log_std = (torch.relu(state @ w1 + b1) @ w2 + b2).split(ACTIONS)
    before = mean + log_std.exp() * noise
    density = [-0.5 * noise[i] ** 2 - log_std[i] - 0.5 * math.log(2 * math.pi) for i in range(ACTIONS)]
    action = torch.tanh(before)
    return action, sum(density[i] - torch.log(1 - action[i] ** 2) for i in range(ACTIONS))  # type: ignore[return-value]


def intervals(drawn: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Midpoints τ̂_i and widths τ_{i+1} − τ_i of uniform draws, 0.1 added, normalised."""
    widths = [(x + 0.1) / (drawn + 0.1).sum() for x in drawn]
    ends = [sum(widths[:i], torch.zeros(())) for i in range(len(widths) + 1)]
    return [(low + high) / 2 for low, high in pairwise(ends)], widths


def rho(error: Tensor, tau: Tensor) -> Tensor:
    huber = 0.5 * error**2 if abs(error) <= 1 else abs(error) - 0.5
    return abs(tau - (1.0 if error < 0 else 0.0)) * huber


@pytest.mark.parametrize("learns_alpha", [True, False])
def test_one_update(learns_alpha: bool) -> None:
    options = DSACOptions(
        quantiles=QUANTILES, hidden=HIDDEN, actor_hidden=(7,), cosines=COSINES, discount=DISCOUNT, alpha_init=ALPHA,
        temperature_lr=RATE if learns_alpha else 0.0,
    )  # fmt: skip
    learner, batch = learner_of(options), random_batch(SIZE)
    with torch.no_grad():
        # scales and shifts that are not 1 and 0, and returns that spread further than Huber's threshold
        learner.critic.matrix += 0.1 * torch.randn(learner.critic.matrix.shape)
        learner.actor.matrix *= 0.5
    batch = batch._replace(reward=3.0 * batch.reward)
    source = torch.Generator().manual_seed(5)
    noise = [torch.randn(SIZE, ACTIONS, generator=source) for _ in range(2)]
    uniform = [torch.rand(SIZE, QUANTILES, generator=source) for _ in range(3)]
    learner.noise = GivenNoise(*noise, *uniform)
    learner.updates = STATISTICS_EVERY - 1
    critic_layout, actor_layout = learner.critic.layout, learner.actor.layout

    def wide(tensor: Tensor) -> Tensor:
        return tensor.double().clone()

    critics, targets, actor = wide(learner.critic.matrix), wide(learner.target.matrix), wide(learner.actor.matrix)
    assert learner.target_actor is not None
    target_actor = wide(learner.target_actor.matrix)
    eps_next, eps_now, u_target, u_critic, u_actor = (wide(part) for part in (*noise, *uniform))
    state, after, action = (wide(part) for part in (batch.state.dense, batch.next_state.dense, batch.action))

    # y_i = r + γ(1 − d)(min_k Z_τ̂i(s′, a′; θ̄_k) − α·log π(a′|s′; φ̄))
    target, weights = [], []
    for b in range(SIZE):
        chosen, log_prob = sample(tensors(target_actor[0], actor_layout), after[b], eps_next[b])
        midpoints, widths = intervals(u_target[b])
        row = []
        for tau in midpoints:
            values = [quantile(tensors(targets[k], critic_layout), after[b], chosen, tau) for k in range(2)]
            going = 1.0 - batch.terminal[b].double()
            row.append(batch.reward[b].double() + DISCOUNT * going * (min(values) - ALPHA * log_prob))
        target.append(row)
        weights.append(widths)

    # J_Z(θ_k) = E[1/N·Σ_j Σ_i (τ_{i+1} − τ_i)·ρ_τ̂j(y_i − Z_τ̂j(s, a; θ_k))]
    critics.requires_grad_()
    losses = []
    for k in range(2):
        loss: Any = 0.0
        for b in range(SIZE):
            for tau in intervals(u_critic[b])[0]:
                z = quantile(tensors(critics[k], critic_layout), state[b], action[b], tau)
                for y, weight in zip(target[b], weights[b], strict=True):
                    loss = loss + weight * rho(y - z, tau) / QUANTILES / SIZE
        losses.append(loss)
    (of_critics,) = torch.autograd.grad(sum(losses), critics)
    new_critics = critics.detach() - first_step(of_critics, RATE)

    # J_π = E[α·log π(a|s) − min_k Σ_i (τ_{i+1} − τ_i)·Z_τ̂i(s, a; θ_k)]
    actor.requires_grad_()
    actor_loss: Any = 0.0
    log_probs = []
    for b in range(SIZE):
        chosen, log_prob = sample(tensors(actor[0], actor_layout), state[b], eps_now[b])
        midpoints, widths = intervals(u_actor[b])
        values = []
        for k in range(2):
            parts = tensors(new_critics[k], critic_layout)
            values.append(sum(w * quantile(parts, state[b], chosen, t) for t, w in zip(midpoints, widths, strict=True)))
        actor_loss = actor_loss + (ALPHA * log_prob - min(values)) / SIZE
        log_probs.append(float(log_prob.detach()))
    (of_actor,) = torch.autograd.grad(actor_loss, actor)
    new_actor = actor.detach() - first_step(of_actor, RATE)

    learner.update(batch)

    assert learner.noise.left == 0
    means, own = learner.statistics.means(), learner._gradients
    assert means["critic_loss"] == pytest.approx(float(sum(losses).detach()) / 2, rel=1e-5, abs=0)
    assert means["actor_loss"] == pytest.approx(float(actor_loss.detach()), rel=1e-5, abs=1e-6)
    assert means["target_mean"] == pytest.approx(float(sum(map(sum, target))) / SIZE / QUANTILES, rel=1e-5, abs=1e-6)
    assert_close(own["critic"], of_critics, "gradient of the critics")
    assert_close(own["actor"], of_actor, "gradient of the actor")
    steps = {"critic": (own["critic"], of_critics), "actor": (own["actor"], of_actor)}
    found = learner.networks()
    sizes = {"critic": critics.detach().abs() + targets.abs(), "actor": actor.detach().abs() + target_actor.abs()}
    for name, kind, new in (
        ("critic", "critic", new_critics),
        ("actor", "actor", new_actor),
        ("target", "critic", torch.lerp(targets, new_critics, TAU)),
        ("target_actor", "actor", torch.lerp(target_actor, new_actor, TAU)),
    ):
        assert_moved_alike(found[name], new, steps[kind], RATE, sizes[kind], name)
    # log α moves against −(E[log π] + H), H = −dim(A)
    sign = math.copysign(1.0, sum(log_probs) / SIZE - ACTIONS) if learns_alpha else 0.0
    assert learner.alpha == pytest.approx(ALPHA * math.exp(sign * RATE), rel=1e-6, abs=0)
