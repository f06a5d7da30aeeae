"""Every algorithm on a Gymnasium task and on the corridor, with its four codes: it runs, and resumes bit for bit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.training.deep_agent import CommandOptions, ProblemOptions, build, config_type
from pyresac.training.deep_trainee import DeepTrainee
from pyresac.training.run_options import RunOptions

STEPS = 60
SMALL: dict[str, Any] = {
    "hidden": (8, 8),
    "actor_hidden": (8,),
    "batch_size": 16,
    "buffer_size": 70,
    "random_steps": 10,
    "learning_starts": 20,
}
MORE = (
    ("sac-n", {"actor_optimism": 1.0}),
    ("bac", {"exploitation": "uniform"}),
    ("redq", {"updates": 3, "actor_every": 2}),
)
"""The published forms of some, and REDQ with an actor that takes part on both sides of the cut."""
CASES = [(name, {}) for name in ALGORITHMS] + list(MORE)


def trainee(name: str, env: str, options: dict[str, Any]) -> DeepTrainee:
    """At step 0."""
    kind = algorithm_type(name).options_type
    problem = ProblemOptions(env=env, num_envs=2 if env == "corridor" else 1)
    run = RunOptions(
        steps=2 * STEPS, eval_every=STEPS, checkpoint_every=STEPS, eval_episodes=1, final_episodes=2, seed=3
    )
    return build(
        config_type(kind)(
            command=CommandOptions(), algorithm=name, run=run, problem=problem, options=kind(**{**SMALL, **options})
        )
    )


def bits(of: DeepTrainee) -> dict[str, bytes]:
    """All that a checkpoint keeps."""
    arrays = {key: np.ascontiguousarray(array).tobytes() for key, array in of.arrays().items()}
    return {**arrays, "state": json.dumps(of.state(), sort_keys=True).encode()}


@pytest.mark.parametrize("env", ["Pendulum-v1", "corridor"])
@pytest.mark.parametrize(
    ("name", "options"), CASES, ids=[name + "".join(f"-{v}" for v in o.values()) for name, o in CASES]
)
def test_it_runs_and_resumes_bit_for_bit(name: str, options: dict[str, Any], env: str) -> None:
    """Updates have been made before the cut, after it, and every network has moved."""
    whole = trainee(name, env, options)
    start = {key: matrix.clone() for key, matrix in whole.learner.networks().items()}
    whole.advance(STEPS)
    saved = json.loads(json.dumps(whole.state())), {key: array.copy() for key, array in whole.arrays().items()}
    updates = whole.learner.updates
    assert updates > 0
    if env == "corridor":
        assert len(whole.task.categories) == 4
    resumed = trainee(name, env, options)
    resumed.restore(*saved)
    assert bits(resumed) == bits(whole)
    whole.advance(STEPS)
    resumed.advance(STEPS)
    assert whole.learner.updates > updates
    assert bits(resumed) == bits(whole)
    assert whole.diverged() is None
    for key, matrix in whole.learner.networks().items():
        if key != "best":
            assert not bool((matrix == start[key]).all()), key
