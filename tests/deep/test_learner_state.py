"""A learner's state, of every algorithm: all that its updates depend on, and nothing that does not fit."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from deep_cases import every_algorithm, random_batch, readable, small_learner

from pyresac.deep.learner import Learner
from pyresac.errors import CheckpointError

OPTIONS: dict[str, Any] = {"beta_lcb_end": -0.1, "beta_steps": 100, "anchor_weight": 0.5, "actor_every": 2}
"""As far as an algorithm reads them: a schedule under way, an anchor, a rhythm."""


def fresh(algorithm: str, seed: int) -> Learner:
    return small_learner(algorithm, seed, **readable(algorithm, OPTIONS))


def busy(algorithm: str, seed: int, updates: int) -> Learner:
    """A learner with a history: moments, a schedule under way, an anchor, open statistics."""
    learner = fresh(algorithm, seed)
    for index in range(updates):
        learner.update(random_batch(index))
        learner.algorithm.moved(10 * index)
    learner.evaluated(-3.0, 10 * updates)
    learner.update(random_batch(updates))
    return learner


def arrays(learner: Learner) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in learner.arrays().items()}


@every_algorithm
@pytest.mark.parametrize("updates", [0, 1, 12])
def test_a_restored_learner_goes_on_bit_for_bit(algorithm: str, updates: int) -> None:
    one, other = busy(algorithm, 0, updates), busy(algorithm, 1, 5)
    state = json.loads(json.dumps(one.state(), allow_nan=False))
    saved = {name: array.copy() for name, array in one.arrays().items()}
    other.load(state, saved)
    assert arrays(one) == arrays(other)
    for index in range(30, 50):
        for learner in (one, other):
            learner.update(random_batch(index))
            learner.algorithm.moved(10 * index)
    for learner in (one, other):
        learner.evaluated(-2.0, 500)
    assert arrays(one) == arrays(other)
    assert one.state() == other.state()
    assert one.statistics.means() == pytest.approx(other.statistics.means(), abs=0.0, nan_ok=True)
    own = [learner.algorithm.statistics(learner.critic, learner.target) for learner in (one, other)]
    assert own[0] == own[1]
    state_of = random_batch(3).state
    assert np.array_equal(one.explore(state_of), other.explore(state_of))


@every_algorithm
def test_a_learner_that_was_never_evaluated_comes_back_as_one(algorithm: str) -> None:
    one, other = fresh(algorithm, 0), busy(algorithm, 1, 3)
    assert other.best_return == -3.0
    other.load(json.loads(json.dumps(one.state(), allow_nan=False)), one.arrays())
    assert other.best_return == -math.inf
    assert arrays(one) == arrays(other)


@every_algorithm
def test_every_array_matters(algorithm: str) -> None:
    """Each of them, left at its start, would make another run: none is saved for nothing, none is left out."""
    one = busy(algorithm, 0, 8)
    begun, saved = fresh(algorithm, 1).arrays(), one.arrays()
    assert {name for name in saved if np.array_equal(begun[name], saved[name])} == set()
    assert saved.keys() >= {"critic", "actor", "target", "averaged", "best", "generator", *one.networks()}
    entropy, slow = one.algorithm.entropy, one.algorithm.target_policy
    assert ("log_alpha" in saved, "target_actor" in saved) == (entropy, slow)
    optimised = ("critic", "actor", *(["temperature"] if entropy else []))
    assert saved.keys() >= {f"{name}.{part}" for name in optimised for part in ("step", "exp_avg", "exp_avg_sq")}


@every_algorithm
def test_arrays_that_do_not_fit_are_refused(algorithm: str) -> None:
    learner = busy(algorithm, 0, 3)
    before, state = arrays(learner), learner.state()
    saved = {key: array + array.dtype.type(1) for key, array in learner.arrays().items()}
    saved["generator"] = learner.arrays()["generator"]
    # two more are not what they were before the one that does not fit is found
    for name in sorted({"critic", "actor.exp_avg", "best", *learner.networks()}):
        for bad, given in [
            ({key: array for key, array in saved.items() if key != name}, "missing"),
            ({**saved, name: saved[name].astype(np.int16)}, "int16"),
            ({**saved, name: saved[name][None]}, r"\w+\(1,.*\)"),
        ]:
            with pytest.raises(CheckpointError, match=rf"the {name} of the checkpoint is {given}.*; expected "):
                learner.load(state, bad)
            assert arrays(learner) == before, "nothing is taken from a state that is refused"


def test_a_generator_that_does_not_fit_is_refused() -> None:
    learner = busy("resac", 0, 3)
    before, state, saved = arrays(learner), learner.state(), fresh("resac", 1).arrays()
    for bad, given in [
        ({key: array for key, array in saved.items() if key != "generator"}, "missing"),
        ({**saved, "generator": saved["generator"].astype(np.int16)}, "int16"),
        ({**saved, "generator": saved["generator"][:-1]}, r"uint8\(\d+,\)"),
    ]:
        with pytest.raises(CheckpointError, match=rf"the generator of the checkpoint is {given}.*; expected "):
            learner.load(state, bad)
        assert arrays(learner) == before
