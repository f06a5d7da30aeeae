"""What holds of every algorithm in the registry, whatever it is: one line there, and it is tested here."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from deep_cases import (
    FLOAT32,
    REGULARISED,
    SIZE,
    RecordedNoise,
    every_algorithm,
    learner_target,
    numbers,
    random_batch,
    readable,
    small_algorithm,
    small_learner,
    snapshot,
    stirred,
    watched_update,
)
from msgspec import Meta
from torch import Tensor

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.deep.algorithms.algorithm import ActorInputs, Algorithm
from pyresac.deep.algorithms.deep_options import DeepOptions, EntropyOptions
from pyresac.deep.learner import Learner
from pyresac.deep.networks.eager_passes import perceptrons
from pyresac.deep.networks.inputs import Inputs, joined
from pyresac.deep.networks.network import Network
from pyresac.deep.policies.squashed_gaussian import SquashedGaussian
from pyresac.deep.replay import Batch, ReplayBuffer, RowWidths
from pyresac.deep.update_statistics import STATISTICS
from pyresac.errors import InputError
from pyresac.options import kinds_of
from pyresac.tasks.experience import Experience

OF_VALUES = [name for name in ALGORITHMS if algorithm_type(name).critic_loss is not Algorithm.critic_loss]
"""Algorithms whose critics give values; those of quantiles have a loss of other arguments, and tests of their own."""
RHYTHM = 2
"""Critic updates an actor update in the tests of the rhythm."""


def every_term(algorithm: str) -> dict[str, Any]:
    """Options under which all terms of the losses are there."""
    return readable(algorithm, REGULARISED)


# --- the registry


@every_algorithm
def test_an_entry_is_an_algorithm_and_its_options(algorithm: str) -> None:
    found = algorithm_type(algorithm)
    options = found.options_type()
    assert found(options).entropy == (algorithm != "td3")
    assert isinstance(options, EntropyOptions) == (algorithm != "td3")
    assert found.title
    assert found.__doc__
    assert "options_type" in vars(found), "options of its own, or two algorithms read one type"


def test_titles_and_options_name_one_algorithm_each() -> None:
    types = [algorithm_type(name) for name in ALGORITHMS]
    assert len({found.title for found in types}) == len({found.options_type for found in types}) == len(ALGORITHMS)


@every_algorithm
def test_an_algorithm_takes_its_own_options_alone(algorithm: str) -> None:
    """Another's would lack some of its own, or have some that nobody reads."""
    found = algorithm_type(algorithm)
    others = [algorithm_type(name).options_type for name in ALGORITHMS if name != algorithm]
    for kind in [*others, DeepOptions, EntropyOptions]:
        message = f"options of {found.title} are {kind.__name__}; it reads {found.options_type.__name__}"
        with pytest.raises(InputError, match=re.escape(message)):
            found(kind())
    with pytest.raises(InputError, match="are NoneType; it reads"):
        found(None)
    assert found(found.options_type()).options == found.options_type()


def test_what_is_no_algorithm() -> None:
    with pytest.raises(InputError, match=re.escape(f"algorithm 'ddpg9' is unknown; known are {', '.join(ALGORITHMS)}")):
        algorithm_type("ddpg9")


# --- leaf autograd is autograd


class Replayed(RecordedNoise):
    """What was drawn before, in float64."""

    def __init__(self, drawn: list[Tensor]) -> None:
        super().__init__()
        self.left = [tensor.double() for tensor in drawn]

    def normal(self, *shape: int) -> Tensor:
        """See `Noise`."""
        assert self.left[0].shape == shape
        return self.left.pop(0)


def wide(inputs: Inputs) -> Inputs:
    return inputs._replace(dense=inputs.dense.double())


def heads_of(network: Network, matrix: Tensor, inputs: Inputs) -> Tensor:
    output = perceptrons(matrix, network.layout, wide(inputs))
    return output[..., 0] if output.shape[2] == 1 else output


def whole_graph(learner: Learner, batch: Batch, target: Tensor, noise: list[Tensor]) -> dict[str, Tensor]:
    """Gradients of the algorithm's losses by autograd through the networks, in float64, y being a constant."""
    algorithm, size, alpha = learner.algorithm, len(batch.reward), learner.alpha
    critic = learner.critic.matrix.double().requires_grad_()
    heads = heads_of(learner.critic, critic, batch.state.with_action(batch.action))
    (of_critic,) = torch.autograd.grad(algorithm.critic_loss(heads, target.double()), [critic])
    actor, replayed = learner.actor.matrix.double().requires_grad_(), Replayed(noise)

    def policy(matrix: Tensor, state: Inputs) -> tuple[Tensor, Any]:
        outputs = perceptrons(matrix, learner.actor.layout, wide(state))[0]
        return outputs, learner.policy.sample(outputs.detach(), replayed)

    if learner.target_actor is None:
        outputs, sample = policy(actor, joined(batch.state, batch.next_state))
        sample = sample.first(size)
    else:
        policy(learner.target_actor.matrix.double(), batch.next_state)
        outputs, sample = policy(actor, batch.state)
    unit, log_prob = (part.detach().requires_grad_() for part in (sample.unit, sample.log_prob))
    ascended = algorithm.actor_heads(learner.critic)
    values = heads_of(ascended, ascended.matrix.detach().double(), batch.state.with_action(unit))
    loss = algorithm.actor_loss(ActorInputs(values, log_prob, unit, alpha, batch.action.double()))
    of_unit, of_log = torch.autograd.grad(loss, [unit, log_prob], allow_unused=True)
    (of_actor,) = torch.autograd.grad(outputs[:size], [actor], sample.gradient(of_unit, of_log))
    if algorithm.penalises_actor:
        penalty = algorithm.actor_penalty(actor, learner.best.matrix.double())
        of_actor = of_actor + torch.autograd.grad(penalty, [actor])[0]
    return {"critic": of_critic, "actor": of_actor}


SMALLEST: dict[str, Any] = {"actions": 1, "dense": 1, "categories": ()}
ONE_UNIT: dict[str, Any] = {"hidden": (1,), "actor_hidden": (1,), "activation": "tanh"}


@pytest.mark.parametrize("algorithm", OF_VALUES)
@pytest.mark.parametrize(
    ("options", "shape", "size"),
    [
        ({}, {}, SIZE),
        ({"activation": "tanh", "reward_scale": 0.01}, {}, SIZE),
        (ONE_UNIT, SMALLEST, SIZE),
        ({**ONE_UNIT, "ensemble_size": 2}, {**SMALLEST, "categories": (1,)}, 1),
        ({"hidden": (1, 3, 1), "actor_hidden": (2, 1)}, {"actions": 1, "dense": 0}, 2),
    ],
)
def test_the_slopes_at_the_heads_are_those_of_the_whole_graph(
    algorithm: str, options: dict[str, Any], shape: dict[str, Any], size: int
) -> None:
    """Autograd sees only the formulas; the networks' own chain rule must add up to the same gradients."""
    used = {**every_term(algorithm), **options, "actor_every": 1}
    learner = stirred(small_learner(algorithm, **used, **shape))
    batch = random_batch(3, size, **shape)
    seen = watched_update(learner, batch)
    other = stirred(small_learner(algorithm, **used, **shape))
    expected = whole_graph(other, batch, seen.target, seen.noise)
    for name, gradient in expected.items():
        bound = FLOAT32 * max(1.0, float(gradient.abs().max()))
        torch.testing.assert_close(seen.gradients[name].double(), gradient, rtol=0.0, atol=bound)
    assert seen.gradients["critic"].abs().max() > 0.0


@every_algorithm
@pytest.mark.parametrize("improves", [True, False])
def test_other_devices_have_the_same_update(algorithm: str, improves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By PyTorch's operations and autograd, as where there is no kernel."""
    used = {**every_term(algorithm), "actor_every": 1 if improves else 2}
    expected = watched_update(stirred(small_learner(algorithm, **used)), random_batch())
    monkeypatch.setattr(Network, "run", Network.run_eager)
    monkeypatch.setattr(SquashedGaussian, "sample_with", SquashedGaussian.traced)
    found = watched_update(stirred(small_learner(algorithm, **used)), random_batch())
    assert list(found.gradients) == list(expected.gradients)
    torch.testing.assert_close(found.target, expected.target, rtol=1e-4, atol=1e-4)
    for name, gradient in expected.gradients.items():
        bound = FLOAT32 * max(1.0, float(gradient.abs().max()))
        torch.testing.assert_close(found.gradients[name], gradient, rtol=0.0, atol=bound)


# --- one update


BASE = {"critic", "target", "actor", "averaged", "best", "target_actor", "log_alpha"}
"""Names of what every learner has or may have; an algorithm's own networks, as a V(s), have other ones."""


@every_algorithm
def test_an_update_changes_what_it_should_and_nothing_else(algorithm: str) -> None:
    learner = stirred(
        small_learner(algorithm, **{**every_term(algorithm), "actor_every": RHYTHM, "tau": 0.02, "ema_rate": 0.3})
    )
    own, options = learner.algorithm, learner.options
    for number in range(1, 2 * RHYTHM + 1):
        before, batch = snapshot(learner), random_batch(number)
        copies = [part.clone() for part in _tensors_of(batch)]
        learner.update(batch)
        after = snapshot(learner)
        improves = number % RHYTHM == 0
        moved = {"critic"}
        if improves or not own.targets_follow_actor:
            moved.add("target")
        if improves:
            moved |= {"actor", "averaged"} | ({"target_actor"} if own.target_policy else set())
        if learner.temperature is not None and (improves or learner.temperature.on_next):
            moved.add("log_alpha")
        assert {name for name in after if not torch.equal(after[name], before[name])} & BASE == moved
        for follower, leader, share in (
            ("target", "critic", options.tau),
            ("averaged", "actor", options.ema_rate),
            ("target_actor", "actor", options.tau),
        ):
            if follower in moved:
                torch.testing.assert_close(after[follower], torch.lerp(before[follower], after[leader], share))
        assert all(torch.equal(*pair) for pair in zip(copies, _tensors_of(batch), strict=True)), (
            "the batch is as it was"
        )
    assert learner.updates == 2 * RHYTHM
    assert learner.not_finite is None
    assert all(tensor.grad is None and not tensor.requires_grad for tensor in learner.networks().values())


def _tensors_of(batch: Batch) -> list[Tensor]:
    parts = (batch.action, batch.reward, batch.terminal, *batch.state, *batch.next_state)
    return [part for part in parts if part is not None]


@every_algorithm
@pytest.mark.parametrize("normalisation", ["none", "batch"])
def test_how_fast_the_averaged_policy_follows_changes_nothing_that_is_learned(
    algorithm: str, normalisation: str
) -> None:
    """So two rates can be compared on one training: they differ in what is evaluated alone."""
    if algorithm == "dsac" and normalisation == "batch":
        pytest.skip("implicit critics have no batch normalisation")
    rates = 1.0, 0.01
    learners = [small_learner(algorithm, actor_every=2, ema_rate=rate, normalisation=normalisation) for rate in rates]
    for number in range(6):
        for learner in learners:
            learner.update(random_batch(number))
    first, second = (snapshot(learner) for learner in learners)
    changed = {name for name in first if not torch.equal(first[name], second[name])}
    assert "averaged" in changed
    assert all(name.startswith("averaged") for name in changed), "the average, and its running statistics"
    state = random_batch(9).state
    assert np.array_equal(*(learner.explore(state) for learner in learners))
    assert not np.array_equal(*(learner.exploit(state) for learner in learners))


@every_algorithm
def test_the_actor_takes_part_every_so_often(algorithm: str) -> None:
    learner = small_learner(algorithm, actor_every=3)
    assert ["actor" in watched_update(learner, random_batch(i), move=True).gradients for i in range(6)] == [
        *(False, False, True, False, False, True)
    ]


@every_algorithm
def test_a_seed_decides_everything(algorithm: str) -> None:
    one, same, other = (small_learner(algorithm, seed) for seed in (0, 0, 1))
    for learner in (one, same, other):
        for index in range(3):
            learner.update(random_batch(index))
    for name, tensor in one.networks().items():
        assert torch.equal(tensor, same.networks()[name])
        if name != "log_alpha":
            assert not torch.equal(tensor, other.networks()[name])


@every_algorithm
def test_each_network_has_its_rate(algorithm: str) -> None:
    """Adam's first step is its rate along the sign of the slope."""
    rates = {"critic_lr": 1e-3, "actor_lr": 2e-3, "temperature_lr": 4e-3}
    learner = small_learner(algorithm, **readable(algorithm, rates), actor_every=1)
    before = snapshot(learner)
    learner.update(random_batch())
    expected = {"critic": 1e-3, "actor": 2e-3} | ({"log_alpha": 4e-3} if learner.temperature is not None else {})
    found = {name: float((learner.networks()[name] - before[name]).abs().max()) for name in expected}
    assert found == pytest.approx(expected, rel=1e-3, abs=0)


@every_algorithm
@pytest.mark.parametrize("share", [0.1, 10.0])
def test_a_gradient_is_clipped_to_its_norm_and_never_raised(algorithm: str, share: float) -> None:
    """Head by head, to `grad_clip`: a share of the smallest norm, or more than the largest."""
    batch = random_batch()
    plain = watched_update(small_learner(algorithm, actor_every=1), batch).gradients
    norms = {name: plain[name].norm(dim=1) for name in ("critic", "actor")}
    every = torch.cat(list(norms.values()))
    bound = share * float(every.min() if share < 1.0 else every.max())
    clipped = watched_update(small_learner(algorithm, actor_every=1, grad_clip=bound), batch).gradients
    for name, norm in norms.items():
        torch.testing.assert_close(clipped[name].norm(dim=1), norm.clamp(max=bound), rtol=1e-4, atol=1e-5)
        direction = plain[name] / norm[:, None]
        torch.testing.assert_close(clipped[name] / clipped[name].norm(dim=1)[:, None], direction, rtol=1e-4, atol=1e-5)


@every_algorithm
def test_rewards_are_scaled_once(algorithm: str) -> None:
    """Scaled by a power of two, which rounds nothing."""
    plain, scaled = small_learner(algorithm), small_learner(algorithm, reward_scale=0.25)
    batch = random_batch()
    plain.update(batch)
    scaled.update(batch._replace(reward=batch.reward * 4.0))
    assert torch.equal(plain.critic.matrix, scaled.critic.matrix)
    assert not torch.equal(plain.critic.matrix, small_learner(algorithm).critic.matrix)


@every_algorithm
def test_numbers_for_the_metrics(algorithm: str) -> None:
    """The shared ones are all there after an actor's noted update; an algorithm's own always have the same names."""
    learner = small_learner(algorithm, actor_every=1)
    own = learner.algorithm.statistics(learner.critic, learner.target)
    for index in range(16):
        learner.update(random_batch(index))
    means = learner.statistics.means()
    assert tuple(means)[: len(STATISTICS)] == STATISTICS
    assert learner.statistics.state()["counts"] == dict.fromkeys(means, 2)
    assert all(np.isfinite(value) for value in means.values())
    later = learner.algorithm.statistics(learner.critic, learner.target)
    assert list(later) == list(own)
    assert not set(later) & set(STATISTICS)
    learner.statistics.begin()
    assert all(np.isnan(value) for value in learner.statistics.means().values())


# --- the target


@pytest.mark.parametrize(("heads", "quantiles"), [(1, 1), (3, 5), (4, 4)])
def test_a_backup_knows_where_the_batch_is(heads: int, quantiles: int) -> None:
    """Of four transitions, as many as there are heads or quantiles."""
    after = watched_update(small_learner(), random_batch(size=4)).inputs
    reward, going = after.reward.tolist(), after.going.tolist()
    of_heads, of_quantiles = (numbers(*shape, seed=0).float() for shape in ((heads, 4), (4, quantiles)))
    expected = [[reward[b] + 0.99 * going[b] * float(row[b]) for b in range(4)] for row in of_heads]
    assert after.backup(of_heads).tolist() == [pytest.approx(row, abs=1e-6) for row in expected]
    assert after.backup(of_heads[0]).tolist() == pytest.approx(expected[0], abs=1e-6)
    columns = [[reward[b] + 0.99 * going[b] * float(value) for value in of_quantiles[b]] for b in range(4)]
    found = after.backup(of_quantiles, batch_axis=0)
    assert found.tolist() == [pytest.approx(row, abs=1e-6) for row in columns]


@every_algorithm
def test_the_target_reads_frozen_numbers_alone(algorithm: str) -> None:
    """It has no graph, and follows the target critics and the policy of a′, neither the online critics nor θ̄."""
    learner, batch = stirred(small_learner(algorithm, **every_term(algorithm))), random_batch()
    going = batch.terminal == 0
    seen = watched_update(learner, batch)
    assert not seen.target.requires_grad
    assert not any(part.requires_grad for part in (seen.inputs.heads, seen.inputs.log_prob, seen.inputs.critic.matrix))
    learner = stirred(small_learner(algorithm, **every_term(algorithm)))
    y = learner_target(learner, batch)
    for name in ("critic", "averaged", "best"):
        getattr(learner, name).matrix.add_(1.0)
        assert torch.equal(learner_target(learner, batch), y), name
    if learner.target_actor is not None:
        learner.actor.matrix.add_(1.0)
        assert torch.equal(learner_target(learner, batch), y), "a′ is of the slow policy"
    follows = learner.target_actor or learner.actor
    before = follows.matrix.clone()
    follows.matrix.add_(0.5)
    assert differs(learner_target(learner, batch), y, going)
    follows.matrix.copy_(before)
    learner.target.matrix.mul_(1.5)
    moved = learner_target(learner, batch)
    assert differs(moved, y, going)


def differs(found: Tensor, expected: Tensor, rows: Tensor) -> bool:
    """Whether each of these transitions' targets moved."""
    return bool(by_row(found != expected)[rows].all())


def by_row(changed: Tensor) -> Tensor:
    """(B,) whether any of a transition's numbers changed, of targets (B,), (K, B) or (B, N)."""
    if changed.ndim == 1:
        return changed
    return changed.any(1) if len(changed) == SIZE else changed.any(0)


@every_algorithm
def test_a_time_limit_bootstraps_and_a_terminal_does_not(algorithm: str) -> None:
    """From the experience of a task on: both episodes ended, only the first in a terminal state."""
    buffer, source = ReplayBuffer(SIZE, RowWidths(action=2, dense=3, codes=0)), np.random.default_rng(0)

    def some(*shape: int) -> Any:
        return source.uniform(-1.0, 1.0, shape).astype(np.float32)

    none = np.zeros((SIZE, 0), dtype=np.int64)
    terminal = np.arange(SIZE) % 2 == 0
    buffer.add(Experience(some(SIZE, 2), some(SIZE, 3), none, some(SIZE), terminal, some(SIZE, 3), none))
    batch = buffer.batch(torch.from_numpy(buffer.rows))
    learner = stirred(small_learner(algorithm, categories=(), **every_term(algorithm)))
    y = learner_target(learner, batch)
    learner.target.matrix.mul_(1.5)
    changed = by_row(learner_target(learner, batch) != y)
    assert changed.tolist() == (~terminal).tolist()
    ended = torch.from_numpy(terminal)
    reward = batch.reward[ended]
    at_end = y[ended].T if y.ndim == 2 and len(y) == SIZE else y[..., ended]
    assert torch.equal(at_end, reward.expand_as(at_end)), "nothing but the reward, no entropy and no penalty"


# --- heads


class Reordered(RecordedNoise):
    """The same noise for the same heads, where these stand in another order: new head i is old head order[i]."""

    def __init__(self, order: Tensor) -> None:
        super().__init__(7)
        self.order = order

    def subset(self, size: int, of: int) -> Tensor:
        """See `Noise`."""
        chosen = super().subset(size, of)
        return self.order.argsort()[chosen] if of == len(self.order) else chosen

    def _kept(self, tensor: Tensor) -> Tensor:
        return tensor[self.order] if len(tensor) == len(self.order) and tensor.ndim > 1 else tensor


@every_algorithm
@pytest.mark.parametrize("order", [[1, 0, 2], [2, 0, 1]])
def test_permuted_heads_have_a_permuted_outcome(algorithm: str, order: list[int]) -> None:
    """Of the critics always; of the actor unless it reads some of them only, as TD3's reads the first."""
    batch, permutation = random_batch(), torch.tensor(order)
    learner, other = (stirred(small_learner(algorithm, **{**every_term(algorithm), "actor_every": 1})) for _ in "12")
    for network in (other.critic, other.target):
        network.matrix.copy_(network.matrix[permutation])
    plain, permuted = watched_update(learner, batch), watched_update(other, batch, noise=Reordered(permutation))
    bound = FLOAT32 * max(1.0, float(plain.gradients["critic"].abs().max()))
    found, expected = permuted.gradients["critic"], plain.gradients["critic"][permutation]
    torch.testing.assert_close(found, expected, rtol=0.0, atol=bound)
    if learner.algorithm.actor_heads(learner.critic) is learner.critic:
        bound = FLOAT32 * max(1.0, float(plain.gradients["actor"].abs().max()))
        torch.testing.assert_close(permuted.gradients["actor"], plain.gradients["actor"], rtol=0.0, atol=bound)


# --- actions


@every_algorithm
def test_exploration_is_of_the_present_policy(algorithm: str) -> None:
    learner, state = small_learner(algorithm), random_batch().state
    learner.noise = RecordedNoise(5)
    found = learner.explore(state)
    assert found.dtype == np.float32
    assert found.shape == (SIZE, learner.actions)
    assert (np.abs(found) <= 1.0).all()
    assert not np.allclose(learner.explore(state), found), "each time anew"
    learner.averaged.matrix += 1.0
    learner.noise = RecordedNoise(5)
    assert np.array_equal(learner.explore(state), found), "not of the averaged policy"
    learner.actor.matrix += 1.0
    learner.noise = RecordedNoise(5)
    assert not np.allclose(learner.explore(state), found)
    drawn = learner.random_actions(4_000)
    assert (drawn.min(), drawn.max()) == pytest.approx((-1.0, 1.0), abs=0.01)
    # of 8,000 uniform numbers the mean errs by 0.58/√8,000
    assert abs(float(drawn.mean())) < 5 * 0.58 / np.sqrt(8_000)


@every_algorithm
def test_what_is_played_is_the_averaged_policy_without_noise(algorithm: str) -> None:
    learner, state = small_learner(algorithm), random_batch().state
    before = learner.exploit(state)
    learner.noise = RecordedNoise(5)
    learner.actor.matrix += 1.0
    assert np.array_equal(learner.exploit(state), before)
    assert learner.noise.drawn == []
    assert not np.allclose(learner.exploit(state, learner.actor), before)
    expected = learner.policy.mode(learner.averaged.run(state).output[0]).numpy()
    assert np.array_equal(before, expected)
    learner.averaged.matrix += 1.0
    assert not np.allclose(learner.exploit(state), before)


@every_algorithm
def test_values_are_those_of_the_online_critics(algorithm: str) -> None:
    learner, batch = stirred(small_learner(algorithm)), random_batch()
    found = learner.values(batch.state, batch.action)
    assert found.shape == (learner.critic.heads, SIZE)
    if algorithm in OF_VALUES:
        outputs = learner.critic.run(batch.state.with_action(batch.action)).output
        assert torch.equal(found, outputs[..., 0])
    learner.target.matrix += 1.0
    assert torch.equal(learner.values(batch.state, batch.action), found)
    learner.critic.matrix[0] *= 1.5
    changed = learner.values(batch.state, batch.action) != found
    assert changed[0].all()
    assert not changed[1:].any()


# --- ones


def ones_of(algorithm: str) -> list[str]:
    """Options that may be 1 and are whole numbers."""
    found = []
    for name, kind in kinds_of(algorithm_type(algorithm).options_type).items():
        metas = [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, Meta)]
        if getattr(kind, "__origin__", None) is int and any(meta.ge == 1 for meta in metas):
            found.append(name)
    return found


@pytest.mark.parametrize(
    ("algorithm", "name"), [(algorithm, name) for algorithm in ALGORITHMS for name in ones_of(algorithm)]
)
def test_a_count_of_one_works_or_is_refused_with_its_name(algorithm: str, name: str) -> None:
    try:
        learner = small_learner(algorithm, **{name: 1})
    except InputError as error:
        named = f"{name} = 1" in str(error)
        assert named, error  # noqa: PT017 - either outcome is right
        return
    for index in range(3):
        learner.update(random_batch(index, learner.options.batch_size))
    assert learner.not_finite is None
    assert all(torch.isfinite(tensor).all() for tensor in learner.networks().values())
    assert np.isfinite(learner.explore(random_batch().state)).all()


@every_algorithm
def test_an_algorithm_reads_its_own_options(algorithm: str) -> None:
    """And every one of them has a sentence of its own or its base's."""
    found = small_algorithm(algorithm)
    assert isinstance(found.options, found.options_type)
    assert {field.name for field in fields(DeepOptions)} <= {field.name for field in fields(found.options)}
