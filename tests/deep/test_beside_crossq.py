"""One update beside sb3-contrib's CrossQ, from the same parameters, running statistics, batch and noise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium as gym
import pytest
import torch
from torch import Tensor, nn

from pyresac.deep.algorithms.sac import SAC, SACOptions
from pyresac.deep.learner import Learner
from pyresac.deep.networks import batch_passes, running_statistics
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.replay import Batch

pytest.importorskip("sb3_contrib", reason="sb3-contrib is in the extra `test`")

SIZE, DENSE, ACTIONS, WIDTH = 64, 3, 1, 32
ALPHA, UPDATE = 0.3, 24
"""Of an update in which the actor takes part and statistics are noted."""
NEAR: dict[str, float] = {"rtol": 1e-4, "atol": 3e-6}
"""Float32 through three layers, forward and back."""


class Step(NamedTuple):
    """What an update leads to, in one layout for both programs."""

    critic: Tensor
    critic_gradient: Tensor
    critic_statistics: Tensor
    actor: Tensor
    actor_gradient: Tensor
    actor_statistics: Tensor
    log_alpha: Tensor
    critic_loss: Tensor
    actor_loss: Tensor


class Queue:
    """Noise in a given order, for both programs."""

    def __init__(self, *parts: Tensor) -> None:
        self.parts = list(parts)

    def normal(self, *shape: int) -> Tensor:
        """The next part."""
        part = self.parts.pop(0)
        assert tuple(part.shape) == shape
        return part


def row_of(norms: list[Any], linears: list[tuple[Tensor, Tensor]], first: list[int], what: str) -> Tensor:
    """Parameters (or gradients) of one network of sb3-contrib as our row; first: its inputs in our order."""

    def part(tensor: Tensor) -> Tensor:
        taken = tensor if what == "value" else tensor.grad
        assert taken is not None
        return taken.detach()

    weights = [part(weight).t() for weight, _ in linears]
    scales, shifts = [part(norm.scale) for norm in norms], [part(norm.bias) for norm in norms]
    weights[0], scales[0], shifts[0] = weights[0][first], scales[0][first], shifts[0][first]
    biases = [part(bias) for _, bias in linears]
    return torch.cat([tensor.reshape(-1) for tensor in (*weights, *biases, *scales, *shifts)])


def statistics_of(norms: list[Any], first: list[int]) -> Tensor:
    """(2, S) running means and variances."""
    means, variances = [norm.ra_mean for norm in norms], [norm.ra_var for norm in norms]
    means[0], variances[0] = means[0][first], variances[0][first]
    return torch.stack([torch.cat(means), torch.cat(variances)]).clone()


class Peer:
    """sb3-contrib's CrossQ with random parameters, scales and running statistics."""

    def __init__(self, activation: type[nn.Module], epsilon: float, past_warmup: bool) -> None:
        from sb3_contrib import CrossQ
        from stable_baselines3.common.logger import Logger

        torch.manual_seed(0)
        self.model = CrossQ(
            "MlpPolicy",
            gym.make("Pendulum-v1"),
            device="cpu",
            seed=0,
            ent_coef=f"auto_{ALPHA}",
            policy_kwargs={"net_arch": [WIDTH, WIDTH], "activation_fn": activation, "batch_norm_eps": epsilon},
        )
        self.model.set_logger(Logger(None, []))
        self.model._n_updates = UPDATE - 1
        for norm in (module for module in self.model.policy.modules() if hasattr(module, "ra_mean")):
            norm.scale.data += 0.3 * torch.randn_like(norm.scale)
            norm.bias.data += 0.3 * torch.randn_like(norm.bias)
            norm.ra_mean += 0.2 * torch.randn_like(norm.ra_mean)
            norm.ra_var *= 0.5 + torch.rand_like(norm.ra_var)
            norm.steps += norm.warmup_steps + 1 if past_warmup else 0
        # actions away from the ends of their range, and no 1e-6 in log(1 − a²), which ours has not
        self.model.actor.log_std.bias.data -= 1.0
        self.model.actor.action_dist.epsilon = 0.0

    @staticmethod
    def parts(network: nn.Sequential) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """Normalisations, and weights and biases, of a network."""
        norms = [module for module in network if hasattr(module, "ra_mean")]
        return norms, [(module.weight, module.bias) for module in network if isinstance(module, nn.Linear)]

    def critic(self, what: str) -> Tensor:
        """(K, P), or "statistics" (2, K, S)."""
        first = [DENSE, *range(DENSE)]
        found = [self.parts(network) for network in self.model.critic.q_networks]  # type: ignore[arg-type]
        if what == "statistics":
            return torch.stack([statistics_of(norms, first) for norms, _ in found], 1)
        return torch.stack([row_of(norms, linears, first, what) for norms, linears in found])

    def actor(self, what: str) -> Tensor:
        """(1, P), or "statistics" (2, 1, S)."""
        actor, first = self.model.actor, list(range(DENSE))
        norms, linears = self.parts(actor.latent_pi)
        if what == "statistics":
            return statistics_of(norms, first)[:, None]
        both = []
        for one, other in ((actor.mu.weight, actor.log_std.weight), (actor.mu.bias, actor.log_std.bias)):
            head = torch.cat([one, other]).detach()
            if what == "gradient":
                head.grad = torch.cat([one.grad, other.grad])
            both.append(head)
        return row_of(norms, [*linears, (both[0], both[1])], first, what)[None]

    def update(self, batch: Batch, noise: tuple[Tensor, Tensor], monkeypatch: pytest.MonkeyPatch) -> Step:
        """One update."""
        data = SimpleNamespace(
            observations=batch.state.dense,
            actions=batch.action,
            next_observations=batch.next_state.dense,
            rewards=batch.reward[:, None],
            dones=batch.terminal[:, None],
            discounts=None,
        )
        queue = Queue(*noise)
        monkeypatch.setattr(
            torch.distributions.normal, "_standard_normal", lambda shape, dtype, device: queue.normal(*shape)
        )
        gradients: list[Tensor] = []
        # what the critics step by; later the actor's loss adds to it
        self.model.critic.optimizer.register_step_pre_hook(lambda *_: gradients.append(self.critic("gradient")))
        self.model.replay_buffer = SimpleNamespace(sample=lambda *_, **__: data)  # type: ignore[assignment]
        self.model.train(1, batch_size=SIZE)
        assert not queue.parts
        values = self.model.logger.name_to_value
        assert self.model.log_ent_coef is not None
        return Step(
            *(self.critic("value"), *gradients, self.critic("statistics")),
            *(self.actor(what) for what in ("value", "gradient", "statistics")),
            self.model.log_ent_coef.detach()[0],
            torch.tensor(float(values["train/critic_loss"])),
            torch.tensor(float(values["train/actor_loss"])),
        )


def copied(network: Network, matrix: Tensor, statistics: Tensor, batches: int) -> None:
    """Take on the peer's parameters and statistics."""
    assert network.running is not None
    network.matrix.copy_(matrix)
    network.running.mean.copy_(statistics[0])
    network.running.variance.copy_(statistics[1])
    network.running.batches.fill_(batches)


def our_update(peer: Peer, batch: Batch, noise: tuple[Tensor, Tensor], activation: Any, past_warmup: bool) -> Step:
    """The same by ours."""
    options = SACOptions(
        hidden=(WIDTH, WIDTH),
        actor_hidden=(WIDTH, WIDTH),
        activation=activation,
        batch_size=SIZE,
        normalisation="batch",
        actor_every=3,
        adam_beta1=0.5,
        critic_lr=1e-3,
        actor_lr=1e-3,
        temperature_lr=1e-3,
        alpha_init=ALPHA,
    )
    device = torch.device("cpu")
    learner = Learner(SAC(options), actions=ACTIONS, dense=DENSE, categories=(), log_volume=0.0, seed=0, device=device)
    batches = options.renorm_warmup + 1 if past_warmup else 0
    copied(learner.critic, peer.critic("value"), peer.critic("statistics"), batches)
    copied(learner.actor, peer.actor("value"), peer.actor("statistics"), batches)
    learner.noise = Queue(*noise)  # type: ignore[assignment]
    learner.updates = UPDATE - 1
    learner.update(batch)
    critic, actor, means = learner.critic.running, learner.actor.running, learner.statistics.means()
    assert critic is not None
    assert actor is not None
    assert learner.temperature is not None
    return Step(
        learner.critic.matrix,
        learner._gradients["critic"],
        torch.stack([critic.mean, critic.variance]),
        learner.actor.matrix,
        learner._gradients["actor"],
        torch.stack([actor.mean, actor.variance]),
        learner.temperature.log_alpha,
        torch.tensor(2.0 * means["critic_loss"]),  # ours is the mean over the two critics
        torch.tensor(means["actor_loss"]),
    )


def batch_and_noise() -> tuple[Batch, tuple[Tensor, Tensor]]:
    """Random transitions of Pendulum's shapes; noise of the next actions, then of the actor's."""
    source = torch.Generator().manual_seed(3)

    def numbers(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=source)

    batch = Batch(
        action=2.0 * torch.rand(SIZE, ACTIONS, generator=source) - 1.0,
        state=Inputs(1.0 + 2.0 * numbers(SIZE, DENSE), None),
        reward=numbers(SIZE),
        terminal=(torch.rand(SIZE, generator=source) < 0.2).float(),
        next_state=Inputs(1.0 + 2.0 * numbers(SIZE, DENSE), None),
    )
    return batch, (numbers(SIZE, ACTIONS), numbers(SIZE, ACTIONS))


def assert_same_step(found: Step, expected: Step) -> None:
    for name in Step._fields:
        one, other = getattr(found, name), getattr(expected, name)
        assert one.shape == other.shape, name
        torch.testing.assert_close(one, other, **NEAR, msg=lambda text, name=name: f"{name}: {text}")


def test_one_update(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, noise = batch_and_noise()
    peer = Peer(nn.ReLU, running_statistics.BATCH_EPSILON, past_warmup=False)
    ours = our_update(peer, batch, noise, "relu", past_warmup=False)
    before = peer.critic("value")
    theirs = peer.update(batch, noise, monkeypatch)
    assert_same_step(ours, theirs)
    assert not torch.allclose(before, theirs.critic, atol=5e-4), "the step is larger than what counts as near"


def test_one_update_past_the_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an ε that float32 does not see, because sb3-contrib adds it elsewhere than Algorithm 1, and with tanh,
    because there a unit that is constant in a batch has no finite gradient. The eager pass, to which the kernels are
    held elsewhere."""
    epsilon = 1e-10
    monkeypatch.setattr(running_statistics, "BATCH_EPSILON", epsilon)
    monkeypatch.setattr(batch_passes, "BATCH_EPSILON", epsilon)
    monkeypatch.setattr(batch_passes, "run_batch_compiled", lambda *given: batch_passes.run_batch_eager(*given[:-1]))
    # kernels are compiled with the usual ε
    monkeypatch.setattr(batch_passes, "folded_now", lambda *given: batch_passes.folded(*given).detach())
    batch, noise = batch_and_noise()
    peer = Peer(nn.Tanh, epsilon, past_warmup=True)
    ours = our_update(peer, batch, noise, "tanh", past_warmup=True)
    assert_same_step(ours, peer.update(batch, noise, monkeypatch))
