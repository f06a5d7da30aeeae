"""A whole update of REDQ and of BAC beside a reference in float64 that is written from the papers, loops and all.

Nothing of `pyresac.deep.algorithms` is in the reference: networks, log π, targets, losses, Adam's first step and the
target networks are written out here, and autograd differentiates the losses as they stand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from given_noise import GivenNoise
from one_update import assert_close, assert_moved_alike, first_step
from registry import algorithm_of
from torch import Tensor

from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.replay import Batch

STATE, ACTIONS, CODES, SIZE = 3, 2, (4, 6), 24
RATE, TAU, DISCOUNT, ALPHA, LOG_VOLUME = 3e-4, 0.02, 0.9, 0.3, 0.7
VALUE_RATE = 1e-3
"""Of V, unlike that of all others."""
EVERY = 20
"""Critic updates an actor update, of REDQ."""


def parts(row: Tensor, layout: NetworkLayout) -> list[Tensor]:
    """A network's tensors in the order of a row: weights (in, out), biases, tables of codes."""
    found = []
    for shape in layout.shapes:
        length = math.prod(shape)
        found.append(row[:length].view(shape))
        row = row[length:]
    return found


def network(row: Tensor, layout: NetworkLayout, numbers: Tensor, codes: Tensor) -> Tensor:
    """Outputs of one network at one input: ReLU after each layer but the last; codes are looked up in tables."""
    own, layers = parts(row, layout), len(layout.hidden) + 1
    offsets = [sum(CODES[:f]) for f in range(len(CODES))]
    looked_up = [own[2 * layers + f][codes[f] - offsets[f]] for f in range(len(CODES))]
    value = torch.cat([numbers, *looked_up])
    for layer in range(layers):
        value = value @ own[layer] + own[layers + layer]
        if layer < layers - 1:
            value = value * (value > 0)
    return value


def policy(row: Tensor, layout: NetworkLayout, state: tuple[Tensor, Tensor], noise: Tensor) -> tuple[Tensor, Tensor]:
    """a = tanh(μ + s·ε) in units, and log of its density in the box's own units."""
    output = network(row, layout, *state)
    log_prob = torch.tensor(-LOG_VOLUME, dtype=torch.double)
    action = []
    for j in range(ACTIONS):
        mean, deviation = output[j], output[ACTIONS + j].exp()
        u = mean + deviation * noise[j]
        gaussian = -0.5 * ((u - mean) / deviation) ** 2 - deviation.log() - 0.5 * math.log(2.0 * math.pi)
        log_prob = log_prob + gaussian - torch.log(1.0 - torch.tanh(u) ** 2)
        action.append(torch.tanh(u))
    return torch.stack(action), log_prob


@dataclass
class Reference:
    """The learner's numbers before an update, in float64, and the batch."""

    learner: Learner
    batch: Batch

    def __post_init__(self) -> None:
        own = self.learner.networks()
        self.before = {name: own[name].double().clone() for name in own}
        self.layouts = {"critic": self.learner.critic.layout, "actor": self.learner.actor.layout}
        if self.learner.state_value is not None:
            self.layouts["state_value"] = self.learner.state_value.layout

    def state(self, i: int, after: bool = False) -> tuple[Tensor, Tensor]:
        """s_i or s′_i: numbers and codes."""
        found = self.batch.next_state if after else self.batch.state
        assert found.codes is not None
        return found.dense[i].double(), found.codes[i]

    def q(self, matrix: Tensor, k: int, state: tuple[Tensor, Tensor], action: Tensor) -> Tensor:
        """Q_k(s, a)."""
        return network(matrix[k], self.layouts["critic"], torch.cat([action, state[0]]), state[1])[0]

    def v(self, matrix: Tensor, state: tuple[Tensor, Tensor]) -> Tensor:
        """V(s)."""
        return network(matrix[0], self.layouts["state_value"], *state)[0]

    def heads(self) -> range:
        """Indices of the critics."""
        return range(len(self.before["critic"]))

    def going(self, i: int) -> float:
        """0 where s′ is terminal."""
        return 1.0 - float(self.batch.terminal[i])


def derivative(loss: Tensor, parameters: Tensor) -> Tensor:
    return torch.autograd.grad(loss, parameters)[0]


def leaf(tensor: Tensor) -> Tensor:
    return tensor.clone().requires_grad_()


def make(name: str, critics: int, **options: Any) -> Learner:
    """A learner whose target critics are not its critics."""
    shared = {"hidden": (9, 8), "actor_hidden": (7,), "tau": TAU, "discount": DISCOUNT, "alpha_init": ALPHA}
    algorithm = algorithm_of(
        algorithm_type(name).options_type(ensemble_size=critics, batch_size=SIZE, **shared, **options)
    )
    learner = Learner(
        algorithm, actions=ACTIONS, dense=STATE, categories=CODES, log_volume=LOG_VOLUME, seed=3,
        device=torch.device("cpu"),
    )  # fmt: skip
    learner.target.matrix += 0.2 * torch.randn(learner.target.matrix.shape, generator=torch.Generator().manual_seed(8))
    return learner


def batch() -> Batch:
    """A third of it ends."""
    source = torch.Generator().manual_seed(4)

    def state() -> Inputs:
        codes = [torch.randint(4, (SIZE,), generator=source), 4 + torch.randint(6, (SIZE,), generator=source)]
        return Inputs(torch.randn(SIZE, STATE, generator=source), torch.stack(codes, 1))

    return Batch(
        action=2.0 * torch.rand(SIZE, ACTIONS, generator=source) - 1.0,
        state=state(),
        reward=torch.randn(SIZE, generator=source),
        terminal=(torch.arange(SIZE) % 3 == 0).float(),
        next_state=state(),
    )


def normal(rows: int) -> Tensor:
    return torch.randn(rows, ACTIONS, generator=torch.Generator().manual_seed(5))


def hold(reference: Reference, gradients: dict[str, Tensor], after: dict[str, Tensor], learner: Learner) -> None:
    """The learner has these gradients and parameters; what is not named has not moved."""
    own = learner.networks()
    for name, gradient in gradients.items():
        assert_close(learner._gradients[name].double(), gradient, f"gradient of the {name}")
    for name, expected in after.items():
        kind = "critic" if name == "target" else name
        pair = learner._gradients[kind].double(), gradients[kind]
        size = reference.before[name].abs() + reference.before[kind].abs()
        rate = VALUE_RATE if name == "state_value" else RATE
        assert_moved_alike(own[name].double(), expected, pair, rate, size, name)
        assert not torch.equal(own[name].double(), reference.before[name])
    still = set(own) - set(after) - {"averaged", "best", "log_alpha"}
    for name in still:
        assert torch.equal(own[name].double(), reference.before[name])


def log_alpha_after(reference: Reference, log_prob: Tensor) -> Tensor:
    """After a step on J(α) = −log α·E[log π + H], H = −dim(A) in [−1, 1], which is log_volume more in the box."""
    slope = -(log_prob.mean() + LOG_VOLUME - ACTIONS)
    return reference.before["log_alpha"] - first_step(slope, RATE)


@pytest.mark.parametrize("actor_moves", [True, False])
def test_redq(actor_moves: bool) -> None:
    """Algorithm 1 of Chen et al. 2021: five critics, the minimum of two; the actor in the twentieth update only."""
    subset = [3, 1]
    learner, data = make("redq", 5), batch()
    assert learner.options.actor_every == EVERY == learner.options.updates
    learner.updates = EVERY - 1 if actor_moves else EVERY
    reference, noise = Reference(learner, data), normal(2 * SIZE if actor_moves else SIZE)
    learner.noise = GivenNoise(noise, torch.tensor(subset))
    learner.update(data)

    before, layouts, wide = reference.before, reference.layouts, noise.double()
    critic = leaf(before["critic"])
    loss = torch.zeros((), dtype=torch.double)
    for i in range(SIZE):
        action, log_prob = policy(before["actor"][0], layouts["actor"], reference.state(i, True), wide[i - SIZE])
        least = min(float(reference.q(before["target"], k, reference.state(i, True), action)) for k in subset)
        y = float(data.reward[i]) + DISCOUNT * reference.going(i) * (least - ALPHA * float(log_prob))
        for k in reference.heads():
            loss = loss + (reference.q(critic, k, reference.state(i), data.action[i].double()) - y) ** 2 / SIZE
    gradients = {"critic": derivative(loss, critic)}
    after = {"critic": before["critic"] - first_step(gradients["critic"], RATE)}
    after["target"] = (1.0 - TAU) * before["target"] + TAU * after["critic"]
    if actor_moves:
        actor, log_probs = leaf(before["actor"]), []
        loss = torch.zeros((), dtype=torch.double)
        for i in range(SIZE):
            action, log_prob = policy(actor[0], layouts["actor"], reference.state(i), wide[i])
            values = [reference.q(after["critic"], k, reference.state(i), action) for k in reference.heads()]
            loss = loss + (ALPHA * log_prob - sum(values) / len(values)) / SIZE
            log_probs.append(log_prob.detach())
        gradients["actor"] = derivative(loss, actor)
        after["actor"] = before["actor"] - first_step(gradients["actor"], RATE)
        log_alpha = log_alpha_after(reference, torch.stack(log_probs))
        assert learner.networks()["log_alpha"].item() == pytest.approx(float(log_alpha), abs=1e-6)
    else:
        assert learner.networks()["log_alpha"].item() == pytest.approx(float(before["log_alpha"]), abs=0)
    hold(reference, gradients, after, learner)


@pytest.mark.parametrize("exploitation", ["buffer", "uniform"])
def test_bac(exploitation: str) -> None:
    """The BEE operator of Ji et al. 2024 with V by expectile regression; or the published program's random actions."""
    share, tau, tried = 0.3, 0.7, 4
    learner, data = (
        make(
            "bac",
            3,
            blend=share,
            expectile=tau,
            exploitation=exploitation,
            uniform_actions=tried,
            state_value_lr=VALUE_RATE,
        ),
        batch(),
    )
    noise = normal(2 * SIZE)
    uniform = [torch.rand(SIZE, ACTIONS, generator=torch.Generator().manual_seed(20 + j)) for j in range(tried)]
    reference = Reference(learner, data)
    learner.noise = GivenNoise(noise, *(uniform if exploitation == "uniform" else ()))
    learner.update(data)
    assert learner.noise.left == 0

    before, layouts, wide = reference.before, reference.layouts, noise.double()
    critic = leaf(before["critic"])
    loss = torch.zeros((), dtype=torch.double)
    for i in range(SIZE):
        following = reference.state(i, True)
        action, log_prob = policy(before["actor"][0], layouts["actor"], following, wide[SIZE + i])
        least = min(float(reference.q(before["target"], k, following, action)) for k in reference.heads())
        if exploitation == "buffer":
            best = float(reference.v(before["state_value"], following))
        else:
            actions = [2.0 * uniform[j][i].double() - 1.0 for j in range(tried)]
            best = max(
                min(float(reference.q(before["target"], k, following, other)) for k in reference.heads())
                for other in actions
            )
        exploit = float(data.reward[i]) + DISCOUNT * reference.going(i) * best
        explore = float(data.reward[i]) + DISCOUNT * reference.going(i) * (least - ALPHA * float(log_prob))
        y = share * exploit + (1.0 - share) * explore
        for k in reference.heads():
            q = reference.q(critic, k, reference.state(i), data.action[i].double())
            loss = loss + 0.5 * (q - y) ** 2 / SIZE
    gradients = {"critic": derivative(loss, critic)}
    after = {"critic": before["critic"] - first_step(gradients["critic"], RATE)}
    after["target"] = (1.0 - TAU) * before["target"] + TAU * after["critic"]

    if exploitation == "buffer":
        value = leaf(before["state_value"])
        loss, above = torch.zeros((), dtype=torch.double), 0
        for i in range(SIZE):
            here = reference.state(i)
            least = min(
                float(reference.q(before["target"], k, here, data.action[i].double())) for k in reference.heads()
            )
            error = least - reference.v(value, here)
            positive = float(error.detach()) > 0.0
            weight, above = tau if positive else 1.0 - tau, above + positive
            loss = loss + weight * error**2 / SIZE
        assert 0 < above < SIZE, "both sides of the expectile must be there"
        gradients["state_value"] = derivative(loss, value)
        after["state_value"] = before["state_value"] - first_step(gradients["state_value"], VALUE_RATE)

    actor, log_probs = leaf(before["actor"]), []
    loss = torch.zeros((), dtype=torch.double)
    for i in range(SIZE):
        action, log_prob = policy(actor[0], layouts["actor"], reference.state(i), wide[i])
        values = [reference.q(after["critic"], k, reference.state(i), action) for k in reference.heads()]
        loss = loss + (ALPHA * log_prob - min(values, key=lambda q: float(q.detach()))) / SIZE
        log_probs.append(log_prob.detach())
    gradients["actor"] = derivative(loss, actor)
    after["actor"] = before["actor"] - first_step(gradients["actor"], RATE)
    log_alpha = log_alpha_after(reference, torch.stack(log_probs))
    assert learner.networks()["log_alpha"].item() == pytest.approx(float(log_alpha), abs=1e-6)
    hold(reference, gradients, after, learner)


@pytest.mark.parametrize(
    ("name", "options"), [("sac-n", {}), ("bac", {"blend": 0.0}), ("bac", {"blend": 0.0, "exploitation": "uniform"})]
)
def test_some_members_are_sac_bit_for_bit(name: str, options: dict[str, Any]) -> None:
    """SAC-N with two heads and BAC with λ = 0, over five updates with their own noise."""
    data = batch()
    first, second = make("sac", 2), make(name, 2, **options)
    for learner in (first, second):
        for _ in range(5):
            learner.update(data)
    ours, theirs = first.arrays(), second.arrays()
    assert ours.keys() == theirs.keys()
    for key, found in ours.items():
        assert found.tobytes() == theirs[key].tobytes(), key
