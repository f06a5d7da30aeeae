"""Time the deep agent's update and its training loop against plain PyTorch and Stable-Baselines3.

    pip install -e '.[bench]' && python benchmarks/agent.py [--threads 2] [--hopper-steps 60]

Peers take turns with ours in one process, and a row is the median over turns. `eager` is the same update with a
parameter a layer, batched products, autograd and foreach Adam; `products` are the matrix products alone that our
update cannot do without, in the shapes that it does them in. On Hopper-v5 every program does one update a step with
256 × 256 networks and batches of 256, the environment included.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from pyresac.deep.algorithms.resac import RESAC, RESACOptions, lower_confidence_bound, penalised_value
from pyresac.deep.algorithms.sac import SAC, SACOptions
from pyresac.deep.heads import ensemble_deviation, squared_error
from pyresac.deep.learner import Learner
from pyresac.deep.networks.compiled_passes import single_threaded_libraries
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import embedding_width
from pyresac.deep.policies.squashed_gaussian import squashed
from pyresac.deep.replay import Batch, ReplayBuffer, RowWidths
from pyresac.tasks.action_box import ActionBox
from pyresac.tasks.experience import Experience
from pyresac.training.presets import options_for

CATEGORIES = (51, 22, 2, 14)
"""Bus, stop, direction and period of the corridor."""
TURNS, CALLS = 15, 4
"""Turns that count, and timed calls of a turn."""
CORRIDOR = options_for("default", "resac", corridor=True)
assert isinstance(CORRIDOR, RESACOptions)
SETTINGS = {
    f"batch {options.batch_size}, K = {options.ensemble_size}, 3×64": options
    for options in (replace(CORRIDOR, batch_size=2048), CORRIDOR)
}


def interleaved(works: dict[str, Callable[[], object]], threads: int) -> dict[str, float]:
    """Median milliseconds a call of each, in turns of which the first two do not count.

    Ours shares heads out to threads, the others leave it to PyTorch; a turn begins with a call that is not timed, so
    that no thread of the one before is still looking for work.
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(TURNS + 2):
        for name, work in works.items():
            torch.set_num_threads(threads)
            with single_threaded_libraries() if name == "ours" else nullcontext():
                work()
                start = time.perf_counter()
                for _ in range(CALLS):
                    work()
                spent = time.perf_counter() - start
            if turn >= 2:
                found[name].append(1e3 * spent / CALLS)
    return {name: statistics.median(times) for name, times in found.items()}


def corridor_batch(size: int) -> Batch:
    """Random transitions in the shapes of the corridor's."""
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(CATEGORIES)[:-1]])
    buffer = ReplayBuffer(size, RowWidths(1, 3, 4))

    def numbers(width: int) -> np.ndarray:
        return rng.normal(size=(size, width)).astype(np.float32)

    def codes() -> np.ndarray:
        return rng.integers(0, CATEGORIES, (size, 4)) + offsets

    ended = rng.random(size) < 0.05
    buffer.add(Experience(np.tanh(numbers(1)), numbers(3), codes(), numbers(1)[:, 0], ended, numbers(3), codes()))
    return buffer.sample(size, rng, torch.device("cpu"))


class EagerNetworks(nn.Module):
    """K networks with a parameter tensor a layer and a table a feature."""

    def __init__(self, heads: int, dense: int, hidden: tuple[int, ...], outputs: int) -> None:
        super().__init__()
        widths = [embedding_width(count) for count in CATEGORIES]
        sizes = [dense + sum(widths), *hidden, outputs]
        uniform = [torch.rand(heads, n, m) for n, m in pairwise(sizes)]
        self.weights = nn.ParameterList((2.0 * weight - 1.0) / weight.shape[1] ** 0.5 for weight in uniform)
        self.biases = nn.ParameterList(torch.zeros(heads, 1, size) for size in sizes[1:])
        self.tables = nn.ParameterList(
            torch.randn(heads, count, width) for count, width in zip(CATEGORIES, widths, strict=True)
        )

    def forward(self, dense: Tensor, codes: Tensor) -> Tensor:
        """(K, B, outputs); codes without offsets."""
        heads = len(self.weights[0])
        embedded = [table[:, codes[:, feature]] for feature, table in enumerate(self.tables)]
        value = torch.cat([dense.expand(heads, -1, -1), *embedded], 2)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            value = torch.baddbmm(bias, value, weight).relu()
        return torch.baddbmm(self.biases[-1], value, self.weights[-1])


class Eager:
    """The same update as `Learner.update`, as one writes it first."""

    def __init__(self, options: RESACOptions) -> None:
        self.options, self.count = options, 0
        self.critic, self.target = (EagerNetworks(options.ensemble_size, 4, options.hidden, 1) for _ in range(2))
        self.target.load_state_dict(self.critic.state_dict())
        self.actor = EagerNetworks(1, 3, options.actor_hidden, 2)
        self.log_alpha = torch.zeros((), requires_grad=True)
        groups = (list(self.critic.parameters()), list(self.actor.parameters()), [self.log_alpha])
        self.adams = [torch.optim.Adam(group, lr=3e-4, foreach=True) for group in groups]
        self.offsets = torch.tensor([0, *np.cumsum(CATEGORIES)[:-1].tolist()])

    def sample(self, state: Inputs) -> tuple[Tensor, Tensor]:
        """Action and its log-probability."""
        assert state.codes is not None
        mean, log_std = self.actor(state.dense, state.codes - self.offsets)[0].chunk(2, 1)
        return squashed(mean, log_std.clamp(-20.0, 2.0), torch.randn_like(mean), 0.0)

    def values(self, networks: EagerNetworks, state: Inputs, action: Tensor) -> Tensor:
        """(K, B)"""
        assert state.codes is not None
        return networks(torch.cat([action, state.dense], 1), state.codes - self.offsets)[..., 0]

    def step(self, which: int, loss: Tensor, parameters: list[Tensor]) -> None:
        """One clipped step."""
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        if which < 2:
            nn.utils.clip_grad_norm_(parameters, 1.0)
        self.adams[which].step()

    def update(self, batch: Batch) -> None:
        """Critics, temperature, every second time the actor, targets."""
        options, alpha = self.options, float(self.log_alpha.detach().exp())
        with torch.no_grad():
            action, log_prob = self.sample(batch.next_state)
            kappa = torch.stack([weight.abs().sum((1, 2)) for weight in self.target.weights]).sum(0)
            value = penalised_value(
                self.values(self.target, batch.next_state, action),
                log_prob,
                kappa,
                alpha=alpha,
                lambda_epi=options.lambda_epi,
                lambda_ale=options.lambda_ale,
                independence=options.independence,
            )
            target = options.reward_scale * batch.reward + options.discount * (1.0 - batch.terminal) * value
        heads = self.values(self.critic, batch.state, batch.action)
        loss = squared_error(heads, target) + options.beta_ood * ensemble_deviation(heads).mean()
        self.step(0, loss, list(self.critic.parameters()))
        self.step(2, -self.log_alpha * (log_prob.mean() - 1.0), [self.log_alpha])
        self.count += 1
        if self.count % options.actor_every == 0:
            action, log_prob = self.sample(batch.state)
            bound = lower_confidence_bound(self.values(self.critic, batch.state, action), options.beta_lcb)
            self.step(1, (alpha * log_prob - bound).mean(), list(self.actor.parameters()))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.target.parameters()), list(self.critic.parameters()), options.tau)


def products(options: RESACOptions) -> Callable[[], None]:
    """The hidden layers' products of one update: two passes forward and one back with both gradients; every second
    time the actor's pass forward and back, and its own networks'."""
    heads, size, (width, *_) = options.ensemble_size, options.batch_size, options.hidden

    def layer(count: int) -> tuple[Tensor, Tensor]:
        return torch.randn(count, size, width), torch.randn(count, width, width)

    critic, actor = layer(heads), layer(1)
    turn = 0

    def forward(pair: tuple[Tensor, Tensor], times: int) -> None:
        for _ in range(times * (len(options.hidden) - 1)):
            torch.bmm(*pair)

    def of_weights(pair: tuple[Tensor, Tensor]) -> None:
        for _ in range(len(options.hidden) - 1):
            torch.bmm(pair[0].transpose(1, 2), pair[0])

    def work() -> None:
        nonlocal turn
        turn += 1
        forward(actor, 1)
        forward(critic, 3)
        of_weights(critic)
        if turn % options.actor_every == 0:
            forward(critic, 2)
            forward(actor, 2)
            of_weights(actor)

    return work


def updates(threads: int) -> None:
    """Print a row a setting and a number of threads."""
    print(f"{'one update, ms':28}{'threads':>8}{'ours':>9}{'eager':>9}{'products':>10}{'eager/ours':>12}")
    for name, options in SETTINGS.items():
        batch = corridor_batch(options.batch_size)
        for count in range(1, threads + 1):
            ours = Learner(
                RESAC(options),
                threads=count,
                actions=1,
                dense=3,
                categories=CATEGORIES,
                log_volume=0.0,
                seed=0,
                device=torch.device("cpu"),
            )
            eager = Eager(options)
            found = interleaved(
                {
                    "ours": lambda ours=ours, batch=batch: ours.update(batch),
                    "eager": lambda eager=eager, batch=batch: eager.update(batch),
                    "products": products(options),
                },
                count,
            )
            columns = f"{found['ours']:9.2f}{found['eager']:9.2f}{found['products']:10.2f}"
            print(f"{name:28}{count:8}{columns}{found['eager'] / found['ours']:12.2f}")


class Hopper:
    """Our learner on Hopper-v5, one update a step."""

    def __init__(self, heads: int) -> None:
        self.env = gym.make("Hopper-v5")
        self.box = ActionBox.of(self.env.action_space, "Hopper-v5")
        self.options = SACOptions(ensemble_size=heads)
        self.buffer = ReplayBuffer(100_000, RowWidths(3, 11, 0))
        self.learner = Learner(
            SAC(self.options),
            actions=3,
            dense=11,
            categories=(),
            log_volume=self.box.log_volume,
            seed=0,
            device=torch.device("cpu"),
        )
        self.rng = np.random.default_rng(0)
        self.state = self.env.reset(seed=0)[0].astype(np.float32)[None]

    def learn(self, steps: int) -> None:
        """Step, keep, update."""
        none = np.empty((1, 0), dtype=np.int64)
        for _ in range(steps):
            unit = self.learner.explore(Inputs(torch.from_numpy(self.state), None))
            following, reward, terminal, cut, _ = self.env.step(self.box.to_action(unit[0]))
            after = following.astype(np.float32)[None]
            rewards = np.array([reward], dtype=np.float32)
            self.buffer.add(Experience(unit, self.state, none, rewards, np.array([terminal]), after, none))
            self.state = self.env.reset()[0].astype(np.float32)[None] if terminal or cut else after
            self.learner.update(self.buffer.sample(self.options.batch_size, self.rng, self.learner.device))


def hopper(steps: int, turns: int = 25) -> None:
    """Print steps a second of ours, SAC and TQC on one thread.

    Short turns, because what else the machine does changes within seconds.
    """
    from sb3_contrib import TQC
    from stable_baselines3 import SAC as PEER

    works: dict[str, Callable[[], object]] = {}
    for heads in (2, 10):
        ours = Hopper(heads)
        works[f"ours, K = {heads}"] = lambda ours=ours: ours.learn(steps)
    for name, peer in (("Stable-Baselines3 SAC", PEER), ("sb3-contrib TQC", TQC)):
        model = peer("MlpPolicy", "Hopper-v5", learning_starts=0, buffer_size=100_000, device="cpu", seed=0)
        works[name] = lambda model=model: model.learn(steps, reset_num_timesteps=False)
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(turns):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            found[name].append(steps / (time.perf_counter() - start))
    reference = statistics.median(found["Stable-Baselines3 SAC"])
    print(f"\n{'Hopper-v5, one thread':28}{'steps/s':>9}{'over SAC':>10}")
    for name, rates in found.items():
        print(f"{name:28}{statistics.median(rates):9.1f}{statistics.median(rates) / reference:10.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="most threads of an update")
    parser.add_argument("--hopper-steps", type=int, default=60, help="steps of a turn; 0 leaves Hopper out")
    options = parser.parse_args()
    updates(options.threads)
    if options.hopper_steps:
        with single_threaded_libraries():
            hopper(options.hopper_steps)


if __name__ == "__main__":
    main()
