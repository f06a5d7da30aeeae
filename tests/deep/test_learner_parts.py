"""What a learner begins with, weights of one, values of one head, and what is told of V(s)."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from deep_cases import CPU, SIZE, numbers, random_batch, readable, small_algorithm, small_learner, watched_update
from torch import Tensor

from pyresac.deep.algorithms import ALGORITHMS
from pyresac.deep.algorithms.algorithm import ActorInputs, Algorithm
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.algorithms.resac import Departures, RESACOptions, lower_confidence_bound, penalised_value
from pyresac.deep.random_source import Noise
from pyresac.deep.update_statistics import STATISTICS_EVERY, UpdateStatistics

# --- the beginning


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", [0, 5])
def test_networks_are_drawn_in_order_and_noise_of_the_next_seed(algorithm: str, seed: int) -> None:
    """Critics, actor and V of one generator of the seed; what is drawn later of one of the seed after it."""
    learner = small_learner(algorithm, seed)
    source = torch.Generator().manual_seed(seed)
    critic = learner.algorithm.initial_critic(learner.critic.layout, source)
    assert torch.equal(learner.critic.matrix, critic)
    assert torch.equal(learner.actor.matrix, learner.actor.layout.initial(1, source))
    assert (learner.state_value is None) == (algorithm != "bac")
    if learner.state_value is not None:
        assert torch.equal(learner.state_value.matrix, learner.state_value.layout.initial(1, source))
    later = torch.Generator().manual_seed(seed + 1)
    assert torch.equal(learner.noise.normal(7), torch.randn(7, generator=later))
    assert torch.equal(learner.noise.uniform(2, 3), torch.rand(2, 3, generator=later))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_initial_mean_is_in_the_last_layer(layers: int) -> None:
    """Of an actor of however many; of coordinates' means alone."""
    plain, moved = (small_learner(actor_hidden=(5,) * layers, initial_mean=mean) for mean in (0.0, -1.5))
    outputs, shifted = (one.actor.run(random_batch().state).output[0] for one in (plain, moved))
    torch.testing.assert_close(shifted, outputs + torch.tensor([-1.5, -1.5, 0.0, 0.0]))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_subset_has_its_size_and_no_index_twice(count: int) -> None:
    noise = Noise(0, CPU)
    drawn = [sorted(noise.subset(count, 4).tolist()) for _ in range(100)]
    assert all(len(set(one)) == count and set(one) <= set(range(4)) for one in drawn)
    assert len({tuple(one) for one in drawn}) == math.comb(4, count)


# --- weights of one are weights


def lerped(at: Any) -> None:
    """What a weight in front of a term gives at 1 is half-way between 0 and 2."""
    none, one, two = at(0.0), at(1.0), at(2.0)
    assert not torch.equal(none, two)
    torch.testing.assert_close(one, (none + two) / 2, rtol=1e-12, atol=1e-12)


def test_a_weight_of_one_counts() -> None:
    """No number but 0 is a switch."""
    heads, log_prob, kappa = numbers(3, 5, seed=0), numbers(5, seed=1), numbers(3, seed=2).abs()
    unit, action = numbers(5, 2, seed=3), numbers(5, 2, seed=4)

    def value(**given: float) -> Tensor:
        terms = {"alpha": 0.3, "lambda_epi": 0.0, "lambda_ale": 0.0, "independence": 1.0, **given}
        return penalised_value(heads, log_prob, kappa, **terms)

    lerped(lambda weight: value(lambda_epi=weight))
    lerped(lambda weight: value(lambda_ale=weight))
    lerped(lambda weight: value(alpha=weight))
    lerped(lambda weight: lower_confidence_bound(heads, -weight))
    lerped(lambda weight: small_algorithm(beta_ood=weight).critic_loss(heads, heads + 1.0))
    now = ActorInputs(heads, log_prob, unit, 0.3, action)
    lerped(lambda weight: small_algorithm(departures=Departures(cloning=weight)).actor_loss(now))
    penalty = [small_algorithm(anchor_weight=weight).actor_penalty(unit, action) for weight in (1.0, 2.0)]
    torch.testing.assert_close(2.0 * penalty[0], penalty[1])
    assert [small_algorithm(anchor_weight=w).penalises_actor for w in (0.0, 1e-9, 1.0)] == [False, True, True]


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 3.0])
def test_rewards_are_times_their_scale(scale: float) -> None:
    reward = numbers(5, seed=0)
    assert torch.equal(small_algorithm("sac", reward_scale=scale).scaled(reward), scale * reward)


def test_rewards_that_hardly_differ_are_not_divided_by_nothing() -> None:
    """A millionth is added to their deviation, which is that of one less than their number."""
    algorithm = small_algorithm(departures=Departures(standardise_rewards=True))
    for size in (0.0, 1e-9, 1e-6, 1.0):
        reward = torch.tensor([5.0 + size, 5.0, 5.0 - size], dtype=torch.double)
        expected = 10.0 * size / (size + 1e-6)
        assert algorithm.scaled(reward).tolist() == pytest.approx([expected, 0.0, -expected], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("optimism", [0.0, 0.5, 1.0, 2.0])
def test_optimism_is_times_the_deviation(optimism: float) -> None:
    """Of heads 1, 2 and 6, whose mean is 3 and whose unbiased variance 7."""
    heads = torch.tensor([[1.0], [2.0], [6.0]], dtype=torch.double)
    algorithm = small_algorithm("sac-n", actor_optimism=optimism)
    zero = torch.zeros(1, dtype=torch.double)
    loss = algorithm.actor_loss(ActorInputs(heads, zero, zero[:, None], 0.2, zero[:, None]))
    assert float(loss) == pytest.approx(-(3.0 + optimism * math.sqrt(7.0)), rel=1e-12, abs=0)


@pytest.mark.parametrize("exploitation", ["buffer", "uniform"])
def test_a_blend_of_one_only_exploits(exploitation: str) -> None:
    learner = small_learner("bac", blend=1.0, exploitation=exploitation, uniform_actions=1)
    batch, algorithm = random_batch(), learner.algorithm
    assert (algorithm.state_value_lr is None) == (exploitation == "uniform")
    seen = watched_update(learner, batch)
    if exploitation == "buffer":
        assert learner.state_value is not None
        best = learner.state_value.run(batch.next_state).output[0, :, 0]
    else:
        best = seen.inputs.heads_at(2.0 * seen.noise[-1] - 1.0).amin(0)
    expected = [float(batch.reward[i]) + 0.99 * (1.0 - float(batch.terminal[i])) * float(best[i]) for i in range(SIZE)]
    assert seen.target.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_a_bound_that_is_yet_to_come_is_no_idle_one() -> None:
    """With β_lcb at 0 its switches do nothing, unless it goes to somewhere else."""
    switches = {"sigma_clip", "adaptive_beta"}
    for start, end, idle in ((0.0, None, True), (0.0, 0.0, True), (0.0, -1.0, False), (-1.0, None, False)):
        found = RESACOptions(beta_lcb=start, beta_lcb_end=end).idle()
        assert (switches <= found.keys(), bool(switches & found.keys())) == (idle, idle)


def test_a_gradient_that_is_almost_nothing_is_not_turned_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """A millionth is added to the norm that it is clipped by, head by head: each number is c/(‖g‖ + 1e-6) of itself."""
    learner, given = small_learner(ensemble_size=4, grad_clip=1e-6), list[Tensor]()
    monkeypatch.setattr(learner._optimisers["critic"], "step", lambda gradient, follow: given.append(gradient))
    gradient = torch.zeros_like(learner.critic.matrix)
    norms = [0.0, 1e-8, 1e-6, 3.0]
    for head, norm in enumerate(norms):
        gradient[head, head] = -norm
    before = gradient.clone()
    learner._descend("critic", gradient)
    expected = [1.0, 1e-6 / 1.01e-6, 0.5, 1e-6 / (3.0 + 1e-6)]
    for head, share in enumerate(expected):
        torch.testing.assert_close(given[0][head], share * before[head], rtol=1e-5, atol=0.0)


# --- what an algorithm must have


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("target", 1),
        ("critic_loss", 2),
        ("quantile_loss", 4),
        ("actor_loss", 1),
        ("state_value_loss", 2),
        ("actor_penalty", 2),
    ],
)
def test_a_formula_that_an_algorithm_does_not_have_is_an_error(name: str, count: int) -> None:
    class Bare(Algorithm[DeepOptions]):
        title, options_type = "bare", DeepOptions

    with pytest.raises(NotImplementedError):
        getattr(Bare(DeepOptions()), name)(*[None] * count)


# --- what is told


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_head_has_no_deviation_to_tell(algorithm: str) -> None:
    """And all else is told of it."""
    none = {"lambda_epi": 0.0, "beta_ood": 0.0, "beta_lcb": 0.0, "subset_size": 1, "actor_every": 1}
    learner = small_learner(algorithm, ensemble_size=1, **readable(algorithm, none))
    for index in range(STATISTICS_EVERY):
        assert learner.statistics.state()["counts"] == dict.fromkeys(learner.statistics.names, 0), index
        learner.update(random_batch(index))
    assert learner.statistics.state()["counts"] == dict.fromkeys(learner.statistics.names, 1)
    means = learner.statistics.means()
    assert means.pop("sigma_mean") == 0.0
    assert all(math.isfinite(value) and value != 0.0 for name, value in means.items() if name != "log_prob")


def test_sums_are_kept_by_name_and_begin_anew() -> None:
    found = UpdateStatistics(("a", "b"))
    for value in (1.5, 2.5):
        found.note(a=torch.tensor(value))
    assert found.state() == {"sums": {"a": 4.0, "b": 0.0}, "counts": {"a": 2, "b": 0}}
    assert found.means() == pytest.approx({"a": 2.0, "b": math.nan}, nan_ok=True)
    other = UpdateStatistics(("a", "b"))
    other.load(found.state())
    other.note(b=torch.tensor(7.0))
    assert other.state() == {"sums": {"a": 4.0, "b": 7.0}, "counts": {"a": 2, "b": 1}}
    assert found.state()["sums"]["b"] == 0.0, "what was loaded is a copy"
    found.begin()
    assert found.state() == {"sums": {"a": 0.0, "b": 0.0}, "counts": {"a": 0, "b": 0}}


def test_a_value_of_states_that_is_not_finite_is_named() -> None:
    """Before the critics, whose target it enters."""
    learner = small_learner("bac")
    assert learner.state_value is not None
    learner.state_value.matrix.fill_(math.inf)
    learner.update(random_batch())
    assert learner.not_finite is not None
    assert learner.not_finite.startswith("state_value_loss is ")
    assert learner.not_finite.endswith(" at update 1")


def test_statistics_of_v_are_those_of_its_loss() -> None:
    """Of expectile regression on the frozen least head, before V moves."""
    learner, batch = small_learner("bac", expectile=0.8), random_batch()
    assert learner.state_value is not None
    learner.updates = STATISTICS_EVERY - 1
    value = learner.state_value.run(batch.state).output[0, :, 0].tolist()
    heads = learner.target.run(batch.state.with_action(batch.action)).output[..., 0].tolist()
    errors = [min(head[i] for head in heads) - value[i] for i in range(SIZE)]
    learner.update(batch)
    means = learner.statistics.means()
    expected = sum((0.8 if error > 0.0 else 0.2) * error**2 for error in errors) / SIZE
    assert means["state_value_loss"] == pytest.approx(expected, rel=1e-4, abs=0)
    assert means["state_value_mean"] == pytest.approx(sum(value) / SIZE, rel=1e-4, abs=1e-6)
    assert means["state_value_grad"] > 0.0
