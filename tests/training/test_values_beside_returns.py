"""The columns of metrics.csv that show poisoning: what the critics say at evaluated decisions, beside what they earned.

In the task's rewards, whatever the rewards are scaled by.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from pyresac.training.deep_agent import build, preset_config
from pyresac.training.deep_trainee import DeepTrainee

SCALE, DISCOUNT = 0.25, 0.9


@pytest.fixture
def trainee() -> DeepTrainee:
    """Three critics on Pendulum, whose horizon is short enough for most returns to be known."""
    config = preset_config(None, "sac-n", "Pendulum-v1")
    small = {"hidden": (5,), "actor_hidden": (4,), "ensemble_size": 3, "buffer_size": 300}
    options = replace(config.options, **small, discount=DISCOUNT, reward_scale=SCALE)
    found = build(replace(config, options=options, run=replace(config.run, eval_episodes=2)))
    found.advance(5)
    # as after many updates, the critics are not their slow copies
    found.learner.critic.matrix += 0.3 * torch.randn(found.learner.critic.matrix.shape)
    return found


def test_values_are_those_of_every_head_over_the_scale(trainee: DeepTrainee) -> None:
    played = trainee.play(2, 0)
    assert len(played.discounted) > 200
    state = trainee.features(played.dense, played.codes)
    with torch.no_grad():
        outputs = trainee.learner.critic.run(state.with_action(torch.from_numpy(played.action)), keep=False).output
    heads = outputs[..., 0].double().numpy() / SCALE
    middle = sum(heads) / 3.0
    spread = np.sqrt(sum((head - middle) ** 2 for head in heads) / 2.0)
    row = trainee.measure()
    assert row["q_eval"] == pytest.approx(middle.mean(), rel=1e-5, abs=0)
    assert row["sigma_eval"] == pytest.approx(spread.mean(), rel=1e-5, abs=0)
    assert row["earned_eval"] == pytest.approx(played.discounted.mean(), rel=1e-12, abs=0)
    # rewards of Pendulum lie in [−16.3, 0]
    assert -16.3 / (1.0 - DISCOUNT) < row["earned_eval"] < -1.0


def test_values_of_batches_are_over_the_scale_and_losses_are_not(trainee: DeepTrainee) -> None:
    names = ("q_mean", "target_mean", "sigma_mean", "critic_loss", "actor_loss", "log_prob")
    trainee.learner.statistics.begin()
    trainee.learner.statistics.note(**{name: torch.tensor(3.0) for name in names})
    row = trainee.measure()
    assert [row[name] for name in names] == [12.0, 12.0, 12.0, 3.0, 3.0, 3.0]
