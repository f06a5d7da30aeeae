"""What the tabular learner draws: tables, bootstrap masks and actions have nothing to do with each other."""

from __future__ import annotations

import numpy as np
from independence import assert_apart, assert_apart_along_every_axis

from pyresac.tabular.tabular_learner import LearnerOptions, TabularLearner


def test_first_tables_are_apart_along_heads_states_and_actions() -> None:
    options = LearnerOptions(ensemble_size=5, initial_spread=1.0)
    assert_apart_along_every_axis(np.array([TabularLearner(3, 2, options, seed).q for seed in range(100)]))


def test_masks_of_heads_and_actions_are_apart() -> None:
    options = LearnerOptions(ensemble_size=4, bootstrap_probability=0.5, exploration=1.0, exploration_final=1.0)
    learner, found = TabularLearner(1, 2, options, 0), []
    for _ in range(1000):
        before, action = learner.counts.copy(), learner.act(0)
        learner.update(0, action, 0.0, 0, terminated=False)
        learned = (learner.counts - before)[:, 0, action]
        found.append([*learned, action])
    rows = np.array(found)
    assert_apart(rows)
    # nor do they depend on what was drawn a step before
    assert_apart(np.concatenate([rows[:-1], rows[1:]], axis=1))
