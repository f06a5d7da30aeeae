"""Modern options in whole runs: resumed bit for bit, played from a checkpoint, and the ratio of updates to steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from norm_cases import options_of

from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.options import to_plain
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.train import main
from pyresac.training.checkpoint import load_checkpoint
from pyresac.training.deep_agent import preset_config
from pyresac.training.deep_trainee import DeepTrainee
from pyresac.training.restored import restore_run
from pyresac.training.run_options import RunOptions

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "layer": {"normalisation": "layer"},
    "observations": {"normalise_observations": True},
    "batch": {"normalisation": "batch", "renorm_warmup": 20, "adam_beta1": 0.5},
}
SHORT = {"buffer_size": 50, "random_steps": 10, "learning_starts": 12, "ema_rate": 0.1, "actor_every": 2}


def trainee_of(algorithm: str, **given: Any) -> DeepTrainee:
    """On Pendulum, two copies."""
    options: DeepOptions = options_of(algorithm, **{**SHORT, **given})
    kind = algorithm_type(algorithm)
    return DeepTrainee(
        BoxTask("Pendulum-v1", {}, 2, 0), kind(options), RunOptions(eval_episodes=1), torch.device("cpu")
    )


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("algorithm", ["sac", "td3", "resac"])
@pytest.mark.parametrize("half", [6, 30])
def test_two_halves_equal_the_whole(name: str, algorithm: str, half: int) -> None:
    """Before the first update, and between two of the actor's."""
    whole, first, second = (trainee_of(algorithm, **OPTIONS[name]) for _ in range(3))
    whole.advance(60)
    first.advance(half)
    second.restore(first.state(), first.arrays())
    second.advance(60 - half)
    expected, found = whole.arrays(), second.arrays()
    assert expected.keys() == found.keys()
    for key, array in expected.items():
        assert array.dtype == found[key].dtype
        assert array.tobytes() == found[key].tobytes(), key
    assert whole.state() == second.state()


def test_statistics_are_of_all_steps_and_the_buffer_stays_raw() -> None:
    trainee, plain = trainee_of("sac", normalise_observations=True), trainee_of("sac")
    for one in (trainee, plain):
        one.advance(10)  # of random actions, so that both see the same
    statistics = trainee.learner.observations
    assert statistics is not None
    assert statistics.tensors["observation_count"].item() == 10
    assert np.array_equal(trainee.buffer.rows[:10], plain.buffer.rows[:10])
    states = trainee.buffer.batch(torch.from_numpy(trainee.buffer.rows[:10])).state.dense.double()
    torch.testing.assert_close(statistics.mean, states.mean(0))
    torch.testing.assert_close(statistics.variance, states.var(0, correction=0))


def test_evaluation_moves_no_statistics() -> None:
    trainee = trainee_of("sac", normalise_observations=True)
    trainee.advance(20)
    before = {name: array.copy() for name, array in trainee.learner.arrays().items()}
    trainee.measure()
    for name, array in trainee.learner.arrays().items():
        assert np.array_equal(before[name], array) or name.startswith("best"), name


@pytest.mark.parametrize("name", OPTIONS)
def test_a_run_played_from_its_checkpoint_acts_as_it_did(name: str, tmp_path: Path) -> None:
    flags = {
        "layer": ["--normalisation", "layer"],
        "observations": ["--normalise-observations"],
        "batch": ["--normalisation", "batch"],
    }[name]
    small = ["--hidden", "8", "--actor-hidden", "8", "--batch-size", "16", "--buffer-size", "300", "--no-tensorboard"]
    rhythm = ["--steps", "60", "--random-steps", "20", "--learning-starts", "20", "--eval-every", "60"]
    short = ["--eval-episodes", "1", "--final-episodes", "2", "--checkpoint-every", "60"]
    run = tmp_path / "run"
    arguments = ["--algorithm", "sac", "--env", "Pendulum-v1", *small, *rhythm, *short, *flags, "--run-dir", str(run)]
    assert main(arguments) == 0
    restored = restore_run(run)
    saved = load_checkpoint(run / "checkpoints" / f"step-{60:012d}.ckpt")
    for key, tensor in restored.trainee.learner.networks().items():
        assert tensor.numpy().tobytes() == saved.arrays[f"learner/{key}"].tobytes(), key
    assert restored.trainee.learner.updates == saved.state["trainee"]["learner"]["updates"] > 0
    assert (restored.trainee.step, restored.trainee.task.copies, len(restored.trainee.buffer.rows)) == (60, 1, 1)
    returns = restored.play(1, 0).returns
    with open(run / "metrics.csv", encoding="utf-8") as lines:
        header, row = (line.strip().split(",") for line in lines)
    assert float(row[header.index("eval_return")]) == returns[0]


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
@pytest.mark.parametrize(("every", "updates", "delay"), [(1, 1, 1), (2, 5, 20), (2, 20, 20), (4, 3, 2), (8, 1, 3)])
def test_the_ratio_of_updates_and_the_actors_delay(algorithm: str, every: int, updates: int, delay: int) -> None:
    """`updates` after each `update_every` steps; the actor takes part in each `actor_every`-th, counted through."""
    trainee = trainee_of(
        algorithm, update_every=every, updates=updates, actor_every=delay, learning_starts=4, batch_size=4
    )
    trainee.advance(20)
    due = (20 - 4) // every * updates
    assert trainee.learner.updates == due
    assert trainee.learner._optimisers["critic"].moments["step"].item() == due
    assert trainee.learner._optimisers["actor"].moments["step"].item() == due // delay


@pytest.mark.parametrize("env", ["corridor", "Hopper-v5"])
def test_the_preset_of_crossq(env: str) -> None:
    config = preset_config("crossq", None, env)
    options = config.options  # type: ignore[attr-defined]
    assert config.algorithm == "sac"
    assert (options.normalisation, options.actor_every, options.adam_beta1) == ("batch", 3, 0.5)
    assert (options.critic_lr, options.actor_lr, options.temperature_lr) == (1e-3, 1e-3, 1e-3)
    if env != "corridor":
        assert options.hidden == (256, 256)
        assert (options.alpha_init, options.learning_starts) == (1.0, 5_000)


def test_fast_is_crossq_with_the_averaged_policy() -> None:
    crossq, fast = (to_plain(preset_config(name, None, "Hopper-v5").options) for name in ("crossq", "fast"))
    assert {name: (crossq[name], fast[name]) for name in fast if crossq[name] != fast[name]} == {
        "ema_rate": (1.0, 0.001)
    }
    assert crossq.keys() == fast.keys()
