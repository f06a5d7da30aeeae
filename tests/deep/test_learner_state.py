"""A learner's state: all that its updates depend on, and nothing that does not fit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from deep_cases import random_batch, small_learner
from pyresac.deep.deep_learner import Learner

from pyresac.errors import CheckpointError

OPTIONS: dict[str, Any] = {"beta_lcb_end": -0.1, "beta_steps": 100, "anchor_weight": 0.5, "actor_every": 2}


def busy(seed: int, updates: int) -> Learner:
    """A learner with a history: moments, a schedule under way, an anchor, open statistics."""
    learner = small_learner(seed, **OPTIONS)
    for index in range(updates):
        learner.update(random_batch(index))
        learner.schedule.moved(10 * index)
    learner.evaluated(-3.0, 10 * updates)
    learner.update(random_batch(updates))
    return learner


def arrays(learner: Learner) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in learner.arrays().items()}


@pytest.mark.parametrize("updates", [0, 1, 12])
def test_a_restored_learner_goes_on_bit_for_bit(updates: int) -> None:
    one, other = busy(0, updates), busy(1, 5)
    state = json.loads(json.dumps(one.state(), allow_nan=False))
    saved = {name: array.copy() for name, array in one.arrays().items()}
    other.load(state, saved)
    assert arrays(one) == arrays(other)
    for index in range(30, 50):
        for learner in (one, other):
            learner.update(random_batch(index))
            learner.schedule.moved(10 * index)
    assert [learner.evaluated(-2.0, 500) for learner in (one, other)] == [True, True]
    assert arrays(one) == arrays(other)
    assert one.state() == other.state()
    assert one.statistics.means() == other.statistics.means()
    state_of = random_batch(3).state
    assert (one.explore(state_of) == other.explore(state_of)).all()


def test_every_array_matters() -> None:
    """Each of them, left at its start, would make another run: none is saved for nothing, none is left out."""
    one = busy(0, 8)
    fresh, saved = small_learner(1, **OPTIONS).arrays(), one.arrays()
    assert {name for name in saved if (fresh[name] == saved[name]).all()} == set()
    parameters = {"critic", "actor", "log_alpha", "target", "averaged", "best", "generator"}
    moments = {
        f"{name}.{part}" for name in ("critic", "actor", "temperature") for part in ("step", "exp_avg", "exp_avg_sq")
    }
    assert saved.keys() == parameters | moments


@pytest.mark.parametrize("name", ["critic", "actor.exp_avg", "log_alpha", "best", "generator"])
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    learner = busy(0, 3)
    before, state = arrays(learner), learner.state()
    saved = {key: array + array.dtype.type(1) for key, array in learner.arrays().items()}
    saved["generator"] = learner.arrays()["generator"]
    for bad, given in [
        ({key: array for key, array in saved.items() if key != name}, "missing"),
        ({**saved, name: saved[name].astype(np.int16)}, "int16"),
        ({**saved, name: saved[name][None]}, r"\w+\(1,.*\)"),
    ]:
        with pytest.raises(CheckpointError, match=rf"the checkpoint's {name} is {given}.*; expected "):
            learner.load(state, bad)
        assert arrays(learner) == before, "nothing is taken from a state that is refused"
