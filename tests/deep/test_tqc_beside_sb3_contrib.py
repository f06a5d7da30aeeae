"""One update of TQC beside sb3-contrib's, from the same parameters, batch and noise, to float32's accuracy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from given_noise import GivenNoise
from one_update import assert_close, assert_moved_alike
from quantile_cases import ACTIONS, STATE, learner_of, random_batch
from torch import Tensor, nn

from pyresac.deep.algorithms.tqc import TQCOptions
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.update_statistics import STATISTICS_EVERY

sb3_contrib = pytest.importorskip("sb3_contrib", reason="needs sb3-contrib, of the extra `test`")
from stable_baselines3.common.logger import Logger  # noqa: E402

SIZE, WIDTH = 32, 16
RATE, EPSILON = 3e-4, 1e-8
"""Of Adam."""


class Spaces(gym.Env[Any, Any]):
    """A task of which only the spaces are looked at."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (STATE,))
    action_space = gym.spaces.Box(-1.0, 1.0, (ACTIONS,))


def linear(module: nn.Module) -> list[nn.Linear]:
    return [part for part in module.modules() if isinstance(part, nn.Linear)]


def rows(layout: NetworkLayout, networks: list[list[list[nn.Linear]]], gradient: bool = False) -> Tensor:
    """(K, P) of theirs in our order: weights (in, out), the action before the state. Layers can stand side by side."""
    matrix = torch.empty(len(networks), layout.length)
    weights, biases, _ = layout.split(matrix)
    for k, layers in enumerate(networks):
        for depth, parts in enumerate(layers):
            weight, bias = (
                torch.cat([part.grad if gradient else part.detach() for part in found])
                for found in ([part.weight for part in parts], [part.bias for part in parts])
            )
            if depth == 0 and weight.shape[1] > STATE:
                weight = torch.cat([weight[:, STATE:], weight[:, :STATE]], 1)
            weights[depth][k], biases[depth][k] = weight.T, bias
    return matrix


@pytest.mark.parametrize("critics", [2, 5])
def test_one_update(critics: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    kwargs = {"net_arch": [WIDTH, WIDTH], "n_critics": critics, "n_quantiles": 25, "activation_fn": nn.ReLU}
    model = sb3_contrib.TQC(
        *("MlpPolicy", Spaces()), learning_rate=RATE, ent_coef="auto_0.2", policy_kwargs=kwargs, device="cpu", seed=0
    )
    model.set_logger(Logger(None, []))
    # they take the mean of the critics' losses, we the sum: their gradients are ours over K, and so must Adam's ε be
    model.critic.optimizer.param_groups[0]["eps"] = EPSILON / critics
    model.actor.action_dist.epsilon = 0.0  # inside the logarithm of their Jacobian
    with torch.no_grad():
        model.actor.log_std.bias -= 1.5  # rarely near the box's edge, where that logarithm loses its digits
        for parameter in model.critic_target.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    actor = model.actor

    def theirs(name: str) -> list[list[list[nn.Linear]]]:
        if name == "actor":
            return [[*([layer] for layer in linear(actor.latent_pi)), [actor.mu, actor.log_std]]]
        networks = (model.critic_target if name == "target" else model.critic).q_networks
        return [[[layer] for layer in linear(network)] for network in networks]

    options = TQCOptions(ensemble_size=critics, hidden=(WIDTH, WIDTH), actor_hidden=(WIDTH, WIDTH))
    learner = learner_of(options)
    learner.critic.matrix.copy_(rows(learner.critic.layout, theirs("critic")))
    learner.target.matrix.copy_(rows(learner.critic.layout, theirs("target")))
    learner.actor.matrix.copy_(rows(learner.actor.layout, theirs("actor")))
    learner.updates = STATISTICS_EVERY - 1  # so that the statistics of the next update are noted
    batch = random_batch(SIZE)
    assert options.quantiles == 25
    given = SimpleNamespace(
        observations=batch.state.dense, actions=batch.action, next_observations=batch.next_state.dense,
        rewards=batch.reward[:, None], dones=batch.terminal[:, None], discounts=None,
    )  # fmt: skip
    model.replay_buffer = SimpleNamespace(sample=lambda *_, **__: given)
    now, after = torch.randn(SIZE, ACTIONS), torch.randn(SIZE, ACTIONS)
    queue = [now, after]
    monkeypatch.setattr(torch.distributions.normal, "_standard_normal", lambda shape, dtype, device: queue.pop(0))
    learner.noise = GivenNoise(torch.cat([now, after]))
    before = {name: matrix.clone() for name, matrix in learner.networks().items()}
    found: dict[str, Tensor] = {}

    def watch(name: str, layout: NetworkLayout) -> Any:
        return lambda *_: found.update({name: rows(layout, theirs(name), gradient=True)})

    model.critic.optimizer.register_step_pre_hook(watch("critic", learner.critic.layout))
    actor.optimizer.register_step_pre_hook(watch("actor", learner.actor.layout))
    model.train(1, batch_size=SIZE)
    learner.update(batch)

    ours = learner._gradients
    assert_close(ours["critic"], critics * found["critic"], "gradient of the critics")
    assert_close(ours["actor"], found["actor"], "gradient of the actor")
    steps = {"critic": (ours["critic"], critics * found["critic"]), "actor": (ours["actor"], found["actor"])}
    steps["target"] = steps["critic"]
    for name in ("critic", "target", "actor"):
        layout = learner.actor.layout if name == "actor" else learner.critic.layout
        size = before[name].abs() + before["actor" if name == "actor" else "critic"].abs()
        assert_moved_alike(learner.networks()[name], rows(layout, theirs(name)), steps[name], RATE, size, name)
    means = learner.statistics.means()
    for name in ("critic_loss", "actor_loss"):
        assert means[name] == pytest.approx(float(model.logger.name_to_value[f"train/{name}"]), rel=1e-5, abs=0)
    assert learner.alpha == pytest.approx(float(model.log_ent_coef.detach().exp()), rel=1e-6, abs=0)
