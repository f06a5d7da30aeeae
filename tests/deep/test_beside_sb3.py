"""One update beside Stable-Baselines3's, from the same parameters, batch and noise.

Losses, gradients, temperature and all new parameters (critics, actor, target networks) agree to float32's accuracy:
SAC with two critics and with ten (which is SAC-N), and TD3 with and without its delayed step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from given_noise import GivenNoise
from one_update import ACCURACY, UNIT32, assert_close, assert_moved_alike
from registry import algorithm_of
from torch import Tensor, nn

from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.replay import Batch
from pyresac.deep.update_statistics import STATISTICS_EVERY

sb3 = pytest.importorskip("stable_baselines3", reason="needs stable_baselines3, of the extra `test`")
from stable_baselines3.common.logger import Logger  # noqa: E402

STATE, ACTIONS, SIZE, WIDTH = 3, 2, 64, 32
RATE, TAU, DISCOUNT, ALPHA = 3e-4, 0.005, 0.99, 0.2
SB3_EPSILON = 1e-6
"""Inside the logarithm of SB3's Jacobian, log(1 − a² + ε)."""


class Task(gym.Env[Any, Any]):
    """Only its spaces are looked at."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (STATE,))
    action_space = gym.spaces.Box(-1.0, 1.0, (ACTIONS,))


@dataclass
class Theirs:
    """SB3's algorithm, and the gradients that its optimisers were given."""

    model: Any
    gradients: dict[str, Tensor] = field(default_factory=dict)

    @property
    def stochastic(self) -> bool:
        """Whether it is SAC."""
        return hasattr(self.model.actor, "log_std")

    def critic(self, target: bool = False) -> list[list[nn.Linear]]:
        """Layers of each critic."""
        found = self.model.critic_target if target else self.model.critic
        return [linear_layers(head) for head in found.q_networks]

    def actor(self, target: bool = False) -> list[list[nn.Linear]]:
        """Layers of the actor; SAC's last ones give μ and log s."""
        found = self.model.actor_target if target else self.model.actor
        if not self.stochastic:
            return [linear_layers(found.mu)]
        return [[*linear_layers(found.latent_pi), SimpleNamespace(**stacked(found.mu, found.log_std))]]

    def rows(self, layout: NetworkLayout, layers: list[list[Any]], gradient: bool = False) -> Tensor:
        """(K, P) parameters, or their gradients, in our order: weights (in, out), the action before the state."""
        matrix = torch.empty(len(layers), layout.length)
        weights, biases, _ = layout.split(matrix)
        for k, head in enumerate(layers):
            for depth, layer in enumerate(head):
                weight, bias = (
                    (part.grad if gradient else part).detach().clone() for part in (layer.weight, layer.bias)
                )
                if depth == 0 and weight.shape[1] > STATE:
                    weight = torch.cat([weight[:, STATE:], weight[:, :STATE]], 1)
                weights[depth][k], biases[depth][k] = weight.T, bias
        return matrix


def linear_layers(modules: nn.Module) -> list[nn.Linear]:
    return [module for module in modules.modules() if isinstance(module, nn.Linear)]


def stacked(first: nn.Linear, second: nn.Linear) -> dict[str, Tensor]:
    """Two layers over the same inputs as one, gradients included."""
    found = {}
    for name in ("weight", "bias"):
        parts = [getattr(layer, name) for layer in (first, second)]
        found[name] = torch.cat([part.detach() for part in parts])
        if all(part.grad is not None for part in parts):
            found[name].grad = torch.cat([part.grad for part in parts])
    return found


def their_learner(name: str, critics: int) -> Theirs:
    """SB3's algorithm whose target networks are not its networks, and whose actor is rarely near the box's edge."""
    torch.manual_seed(1)
    options: dict[str, Any] = {"learning_rate": RATE, "gamma": DISCOUNT, "tau": TAU, "device": "cpu", "seed": 0}
    kwargs: dict[str, Any] = {"net_arch": [WIDTH, WIDTH], "n_critics": critics, "activation_fn": nn.ReLU}
    if name == "td3":
        model = sb3.TD3("MlpPolicy", Task(), policy_kwargs=kwargs, **options)
        moved = [model.critic_target, model.actor_target]
        with torch.no_grad():
            # so that noise takes some actions over the box's edge
            linear_layers(model.actor_target.mu)[-1].weight *= 20.0
    else:
        model = sb3.SAC("MlpPolicy", Task(), policy_kwargs=kwargs, ent_coef=f"auto_{ALPHA}", **options)
        moved = [model.critic_target]
        with torch.no_grad():
            model.actor.log_std.bias -= 1.5
    with torch.no_grad():
        for network in moved:
            for parameter in network.parameters():
                parameter += 0.05 * torch.randn_like(parameter)
    model.set_logger(Logger(None, []))
    return Theirs(model)


def our_learner(name: str, theirs: Theirs, critics: int, **options: Any) -> Learner:
    """A learner with their parameters; its next update's statistics are noted."""
    shared = {"hidden": (WIDTH, WIDTH), "actor_hidden": (WIDTH, WIDTH), "ensemble_size": critics, "tau": TAU}
    algorithm = algorithm_of(algorithm_type(name).options_type(**shared, discount=DISCOUNT, **options))
    learner = Learner(
        algorithm, actions=ACTIONS, dense=STATE, categories=(), log_volume=0.0, seed=5, device=torch.device("cpu")
    )
    learner.critic.matrix.copy_(theirs.rows(learner.critic.layout, theirs.critic()))
    learner.target.matrix.copy_(theirs.rows(learner.critic.layout, theirs.critic(target=True)))
    learner.actor.matrix.copy_(theirs.rows(learner.actor.layout, theirs.actor()))
    if learner.target_actor is not None:
        learner.target_actor.matrix.copy_(theirs.rows(learner.actor.layout, theirs.actor(target=True)))
    learner.updates = STATISTICS_EVERY - 1
    return learner


def batches() -> tuple[Batch, SimpleNamespace]:
    """The same transitions as each side has them, a fifth of them terminal."""
    source = torch.Generator().manual_seed(2)
    state, after = (torch.randn(SIZE, STATE, generator=source) for _ in range(2))
    action = 2.0 * torch.rand(SIZE, ACTIONS, generator=source) - 1.0
    reward = torch.randn(SIZE, generator=source)
    terminal = (torch.arange(SIZE) % 5 == 0).float()
    own = Batch(action, Inputs(state, None), reward, terminal, Inputs(after, None))
    return own, SimpleNamespace(
        observations=state, actions=action, next_observations=after, rewards=reward[:, None], dones=terminal[:, None],
        discounts=None,
    )  # fmt: skip


def watch(theirs: Theirs, learner: Learner) -> None:
    """Note the gradient of each of their steps."""

    def noted(name: str, layout: NetworkLayout) -> Any:
        def hook(*_: Any) -> None:
            layers = theirs.critic() if name == "critic" else theirs.actor()
            theirs.gradients[name] = theirs.rows(layout, layers, gradient=True)

        return hook

    theirs.model.critic.optimizer.register_step_pre_hook(noted("critic", learner.critic.layout))
    theirs.model.actor.optimizer.register_step_pre_hook(noted("actor", learner.actor.layout))


def compare(theirs: Theirs, learner: Learner, before: dict[str, Tensor], actor_moves: bool) -> None:
    """Gradients and all new parameters; before: our parameters before the update."""
    own, layouts = learner._gradients, {"critic": learner.critic.layout, "actor": learner.actor.layout}
    for name in ("critic", "actor") if actor_moves else ("critic",):
        assert_close(own[name], theirs.gradients[name], f"gradient of the {name}")
    found = {"critic": theirs.critic(), "target": theirs.critic(target=True)}
    if actor_moves:
        found["actor"] = theirs.actor()
    if learner.target_actor is not None:
        found["target_actor"] = theirs.actor(target=True)
    for name, layers in found.items():
        kind = "critic" if name in ("critic", "target") else "actor"
        steps = own[kind], theirs.gradients.get(kind, own[kind])
        size = before[name].abs() + before[kind].abs()
        assert_moved_alike(learner.networks()[name], theirs.rows(layouts[kind], layers), steps, RATE, size, name)


def parameters(learner: Learner) -> dict[str, Tensor]:
    """Copies of all, by name."""
    return {name: matrix.clone() for name, matrix in learner.networks().items()}


def their_loss(theirs: Theirs, name: str) -> float:
    return float(theirs.model.logger.name_to_value[f"train/{name}"])


def queued_normal(monkeypatch: pytest.MonkeyPatch, drawn: Iterable[Tensor]) -> None:
    """Their Gaussian policy draws these."""
    queue = iter(drawn)
    monkeypatch.setattr(torch.distributions.normal, "_standard_normal", lambda shape, dtype, device: next(queue))


@dataclass
class Pair:
    """Both after one update."""

    theirs: Theirs
    learner: Learner
    before: dict[str, Tensor]
    """Our parameters before the update."""
    noise: tuple[Tensor, Tensor]


def sac_update(name: str, critics: int, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """One update of SAC on each side; epsilon: inside their logarithm."""
    theirs = their_learner("sac", critics)
    theirs.model.actor.action_dist.epsilon = epsilon
    learner = our_learner(name, theirs, critics, alpha_init=ALPHA)
    watch(theirs, learner)
    own, other = batches()
    theirs.model.replay_buffer = SimpleNamespace(sample=lambda *_, **__: other)
    source = torch.Generator().manual_seed(3)
    noise = torch.randn(SIZE, ACTIONS, generator=source), torch.randn(SIZE, ACTIONS, generator=source)
    queued_normal(monkeypatch, noise)
    learner.noise = GivenNoise(torch.cat(noise))
    before = parameters(learner)
    theirs.model.train(1, batch_size=SIZE)
    learner.update(own)
    return Pair(theirs, learner, before, noise)


@pytest.mark.parametrize(("name", "critics"), [("sac", 2), ("sac-n", 10), ("sac-n", 2)])
def test_sac(name: str, critics: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ε = 0 in their logarithm both compute the same numbers."""
    pair = sac_update(name, critics, 0.0, monkeypatch)
    theirs, learner = pair.theirs, pair.learner
    compare(theirs, learner, pair.before, actor_moves=True)
    noted = learner.statistics.means()
    assert noted["critic_loss"] * critics == pytest.approx(their_loss(theirs, "critic_loss"), rel=ACCURACY, abs=0)
    assert noted["actor_loss"] == pytest.approx(their_loss(theirs, "actor_loss"), rel=ACCURACY, abs=0)
    assert learner.temperature is not None
    # the first step of Adam is the sign of the gradient times the rate
    assert learner.temperature.log_alpha.item() == pytest.approx(theirs.model.log_ent_coef.item(), abs=4 * UNIT32)
    assert learner.temperature.log_alpha.item() != pytest.approx(np.log(ALPHA), abs=0.5 * RATE)
    assert theirs.model.target_entropy == learner.temperature.target_entropy == -ACTIONS


def test_what_the_epsilon_in_their_logarithm_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 ≤ log(1 − a² + ε) − log(1 − a²) ≤ ε/(1 − a²), so their log π is less than ours by no more than the sum of that
    over the coordinates, and a target is off by no more than γ·α times it."""
    theirs = their_learner("sac", 2)
    learner = our_learner("sac", theirs, 2)
    own, other = batches()
    noise = torch.randn(SIZE, ACTIONS, generator=torch.Generator().manual_seed(6))
    queued_normal(monkeypatch, [noise])
    with torch.no_grad():
        action, log_prob = theirs.model.actor.action_log_prob(other.observations)
    sample = learner.policy.sample_with(learner.actor.run(own.state).output[0], noise)
    bound = (SB3_EPSILON / (1.0 - sample.unit.square())).sum(1)
    assert_close(sample.unit, action, "actions")
    # they take the logarithm of 1 − a², which keeps fewer digits the nearer a is to 1
    rounding = ACCURACY * (1.0 + 1.0 / (1.0 - sample.unit.square())).sum(1)
    difference = sample.log_prob - log_prob
    assert bool((difference >= -rounding).all())
    assert bool((difference <= bound + rounding).all())

    pair = sac_update("sac", 2, SB3_EPSILON, monkeypatch)
    unmoved = Network(learner.actor.layout, pair.before["actor"])
    after = learner.policy.sample_with(unmoved.run(own.next_state).output[0], pair.noise[1])
    apart = DISCOUNT * ALPHA * float((SB3_EPSILON / (1.0 - after.unit.square())).sum(1).square().mean().sqrt())
    ours = 2.0 * pair.learner.statistics.means()["critic_loss"]
    # Σ_k ½·E[(e_k + d)²] with e of mean square 2·loss_k: within 2·√loss·apart + apart² of ½·Σ_k E[e_k²]
    allowed = 2.0 * ours**0.5 * apart + apart**2
    assert abs(ours - their_loss(pair.theirs, "critic_loss")) <= allowed + ACCURACY * ours


@pytest.mark.parametrize("actor_moves", [True, False])
def test_td3(actor_moves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step with the delayed actor, and the one without, in which no target network moves."""
    theirs = their_learner("td3", 2)
    learner = our_learner("td3", theirs, 2, critic_lr=RATE, actor_lr=RATE)
    learner.updates = STATISTICS_EVERY - 1 if actor_moves else STATISTICS_EVERY
    theirs.model._n_updates = learner.updates
    watch(theirs, learner)
    own, other = batches()
    theirs.model.replay_buffer = SimpleNamespace(sample=lambda *_, **__: other)
    torch.manual_seed(4)
    smoothing = torch.empty(SIZE, ACTIONS).normal_(0, 0.2)
    assert bool((smoothing.abs() > 0.5).any()), "no noise is clipped"
    torch.manual_seed(4)
    learner.noise = GivenNoise(smoothing / 0.2)
    before = parameters(learner)
    theirs.model.train(1, batch_size=SIZE)
    learner.update(own)
    compare(theirs, learner, before, actor_moves)
    for name in ("target", "target_actor", "actor"):
        assert torch.equal(learner.networks()[name], before[name]) != actor_moves
    noted = learner.statistics.means()
    if actor_moves:
        assert noted["critic_loss"] * 2 == pytest.approx(their_loss(theirs, "critic_loss"), rel=ACCURACY, abs=0)
        assert noted["actor_loss"] == pytest.approx(their_loss(theirs, "actor_loss"), rel=ACCURACY, abs=0)
