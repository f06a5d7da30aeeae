"""The penalties of RE-SAC's target, and the published program's departures, in a learner's update."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from deep_cases import PLAIN, learner_target, random_batch, small_algorithm, small_learner, stirred, watched_update

from pyresac.deep.algorithms.resac import Departures
from pyresac.errors import InputError
from pyresac.tasks.experience import Experience


@pytest.mark.parametrize("term", ["lambda_epi", "lambda_ale"])
def test_a_penalty_moves_the_target_and_not_the_slope(term: str) -> None:
    """The critics' gradient is 2(Q_k − y_k)·∇Q_k/B: a penalty enters by y alone, equally for all that follows."""
    plain, penalised = (stirred(small_learner(**{**PLAIN, term: size})) for size in (0.0, 0.5))
    batch = random_batch()
    y, lower = learner_target(plain, batch), learner_target(penalised, batch)
    going = batch.terminal == 0
    assert (lower < y)[:, going].all()
    gap = (y - lower)[:, going]
    if term == "lambda_ale":
        expected = (0.99 * 0.5 * plain.target.weight_norms())[:, None].expand_as(gap)
        torch.testing.assert_close(gap, expected, rtol=1e-4, atol=1e-4)
    else:
        torch.testing.assert_close(gap, gap[:1].expand_as(gap), rtol=1e-4, atol=1e-4)


def test_kappa_is_that_of_the_frozen_critics() -> None:
    learner = stirred(small_learner(**{**PLAIN, "lambda_ale": 1.0}))
    batch = random_batch()
    before = learner_target(learner, batch)
    found = learner.algorithm.statistics(learner.critic, learner.target)["kappa"]
    assert found == pytest.approx(float(learner.target.weight_norms().mean()), rel=1e-6, abs=0)
    learner.critic.matrix *= 3.0
    assert torch.equal(learner_target(learner, batch), before)


def test_kappa_may_be_added_and_count_biases() -> None:
    batch = random_batch()
    going = batch.terminal == 0

    def gap(departures: Departures) -> torch.Tensor:
        bare, changed = (
            stirred(small_learner(**{**PLAIN, "lambda_ale": size}, departures=departures)) for size in (0.0, 0.5)
        )
        return (learner_target(changed, batch) - learner_target(bare, batch))[:, going] / (0.99 * 0.5)

    learner = stirred(small_learner(**PLAIN))
    weights, all_of_it = learner.target.weight_norms(), learner.target.weight_norms(biases=True)
    for departures, kappa in (
        (Departures(), -weights),
        (Departures(add_kappa=True), weights),
        (Departures(kappa_biases=True), -all_of_it),
        (Departures(add_kappa=True, kappa_biases=True), all_of_it),
    ):
        found = gap(departures)
        torch.testing.assert_close(found, kappa[:, None].expand_as(found), rtol=1e-4, atol=1e-4)


def test_standardised_rewards_have_mean_0_and_deviation_10() -> None:
    learner = small_learner(departures=Departures(standardise_rewards=True))
    batch = random_batch()
    reward = batch.reward * 3.0 + 7.0
    found = watched_update(learner, batch._replace(reward=reward)).inputs.reward
    torch.testing.assert_close(found.mean(), torch.zeros(()), rtol=0.0, atol=1e-5)
    torch.testing.assert_close(found.std(), torch.tensor(10.0), rtol=1e-5, atol=0.0)
    assert (found.argsort() == reward.argsort()).all()
    assert not learner.algorithm.values_have_a_unit
    assert small_learner().algorithm.values_have_a_unit


def test_one_reward_cannot_be_standardised() -> None:
    with pytest.raises(InputError, match="batch_size = 1 with standardise_rewards: one reward has no deviation"):
        small_learner(departures=Departures(standardise_rewards=True), batch_size=1)


def test_the_whole_range_for_the_half() -> None:
    """log π is less by log 2 a coordinate."""
    plain, program = (small_learner(**PLAIN, departures=Departures(full_range_jacobian=full)) for full in (False, True))
    before, after = (watched_update(learner, random_batch()).inputs.log_prob for learner in (plain, program))
    torch.testing.assert_close(before - after, torch.full_like(before, 2.0 * math.log(2.0)), rtol=0.0, atol=1e-5)


def test_terminals_may_be_left_out() -> None:
    """Of the experience, before it goes into the buffer."""
    numbers = np.arange(4, dtype=np.float32)[:, None]
    codes, terminal = np.zeros((4, 0), dtype=np.int64), np.array([True, False, False, True])
    experience = Experience(numbers, numbers, codes, numbers[:, 0], terminal, numbers, codes)
    assert small_algorithm("resac").kept(experience) is experience
    kept = small_algorithm("resac", departures=Departures(skip_terminals=True)).kept(experience)
    assert kept.reward.tolist() == [1.0, 2.0]
    assert kept.action.tolist() == kept.next_dense.tolist() == [[1.0], [2.0]]
    assert not kept.terminal.any()


@pytest.mark.parametrize("fan_out", [False, True])
def test_the_critics_first_parameters(fan_out: bool) -> None:
    """By each layer's inputs, or as the program has it by its outputs: in the last layer ±1/√6 or ±1."""
    learner = small_learner(ensemble_size=200, departures=Departures(fan_out_init=fan_out))
    last = learner.critic.layout.split(learner.critic.matrix)[0][-1]
    bound = 1.0 if fan_out else 1.0 / math.sqrt(6.0)
    assert 0.98 * bound < float(last.abs().max()) <= bound
    assert torch.equal(learner.target.matrix, learner.critic.matrix), "φ′ ← φ"
