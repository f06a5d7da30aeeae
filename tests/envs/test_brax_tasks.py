"""Brax's tasks: exact snapshots, one compilation whatever the physics, and which physics act."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

import pyresac.envs  # registers them
from pyresac.errors import CheckpointError, InputError
from pyresac.tasks.encoding import decode, encode
from pyresac.tasks.environments import make_environment
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.tasks.physics import ChangingPhysics
from pyresac.tasks.schedules import parse_schedule
from pyresac.tasks.variation import Variation
from pyresac.train import main

assert pyresac.envs


@pytest.fixture(scope="module")
def brax_tasks() -> Any:
    if importlib.util.find_spec("brax") is None:
        pytest.skip("Brax's tasks need it: pip install 'pyresac[brax]'")
    from pyresac.envs import brax_tasks

    return brax_tasks


def actions(env: gym.Env[Any, Any], steps: int, seed: int = 0) -> NDArray[np.float32]:
    assert env.action_space.shape is not None
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, *env.action_space.shape)).astype(np.float32)


def trace(env: gym.Env[Any, Any], steps: NDArray[np.float32], seed: int | None = None) -> list[bytes]:
    """What an episode, begun anew where it ends, shows; from the present state on without a seed."""
    found = [] if seed is None else [env.reset(seed=seed)[0].tobytes()]
    for action in steps:
        observation, reward, terminated, truncated, _ = env.step(action)
        found += [observation.tobytes(), np.float64(reward).tobytes(), bytes([terminated, truncated])]
        if terminated or truncated:
            found.append(env.reset()[0].tobytes())
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("brax_tasks")
def test_a_restored_environment_goes_on_bit_for_bit_with_one_compilation(brax_tasks: Any) -> None:
    env, twin = gym.make("brax/Hopper-v0"), gym.make("brax/Hopper-v0")
    steps = actions(env, 200)
    trace(env, steps[:90], seed=3)
    inner: Any = env.unwrapped
    inner.scale_physics({"gravity": 1.5, "gear": 0.5})
    saved = json.loads(json.dumps(encode(inner.state_dict())))
    generator = inner.np_random.bit_generator.state
    expected = trace(env, steps[90:])
    trace(twin, steps[:7], seed=8)
    other: Any = twin.unwrapped
    other.load_state_dict(decode(saved))
    other.np_random.bit_generator.state = generator
    assert trace(twin, steps[90:]) == expected
    compiled = brax_tasks.compiled("hopper")
    assert (compiled.step._cache_size(), compiled.reset._cache_size()) == (1, 1)
    with pytest.raises(CheckpointError, match="the saved state has 1 arrays"):
        other.load_state_dict({"arrays": [np.zeros(3)], "factors": {}})


@pytest.mark.slow
@pytest.mark.parametrize("task", ["Hopper", "Walker2d"])  # all kinds of refusals; each takes a minute to compile
def test_physics_act_or_are_refused_with_the_reason(task: str, brax_tasks: Any) -> None:
    env = gym.make(f"brax/{task}-v0")
    inner: Any = env.unwrapped
    steps = actions(env, 30)
    nominal = trace(env, steps, seed=1)
    ignored = inner.ignored_physics()
    assert sorted(ignored) == {"Hopper": ["damping", "inertia", "mass"], "Walker2d": ["damping", "inertia"]}[task]
    for name in brax_tasks.FACTORS:
        inner.scale_physics({name: 2.0})
        assert (trace(env, steps, seed=1) == nominal) == (name in ignored), name
        inner.scale_physics({name: 1.0})
    assert trace(env, steps, seed=1) == nominal
    for name, reason in ignored.items():
        with pytest.raises(InputError, match=rf"{name} cannot be changed in brax/{task}-v0: Brax's spring simulator"):
            ChangingPhysics(env, {name: parse_schedule("2", name)}, 0)
        assert reason.startswith("Brax's spring simulator")


@pytest.mark.slow
@pytest.mark.usefixtures("brax_tasks")
def test_a_task_with_changing_gravity_is_saved_and_resumed() -> None:
    """The constructor holds a restored twin to the environment for 200 steps."""
    task = BoxTask("brax/Hopper-v0", {}, 1, 0, Variation(gravity="uniform 0.5 2 every 7"))
    unit = np.full((1, 3), 0.2, dtype=np.float32)
    for _ in range(20):
        task.step(unit)
    other = BoxTask("brax/Hopper-v0", {}, 1, 1, Variation(gravity="uniform 0.5 2 every 7"))
    other.load(json.loads(json.dumps(task.state())), task.arrays())
    for _ in range(60):
        assert task.step(unit).next_dense.tobytes() == other.step(unit).next_dense.tobytes()


@pytest.mark.slow
@pytest.mark.usefixtures("brax_tasks")
def test_a_training_run_of_a_few_steps(tmp_path: Path) -> None:
    sizes = ["--steps", "40", "--learning-starts", "16", "--batch-size", "8", "--buffer-size", "64"]
    nets = ["--hidden", "8", "8", "--eval-every", "40", "--eval-episodes", "1", "--final-episodes", "2"]
    where = ["--run-dir", str(tmp_path / "run"), "--no-tensorboard", "--checkpoint-every", "40"]
    assert main(["--env", "brax/Hopper-v0", "--algorithm", "sac", *sizes, *nets, *where]) == 0
    assert (tmp_path / "run" / "result.json").is_file()


def test_without_brax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "brax" else real(name, *rest))
    monkeypatch.setitem(sys.modules, "brax", None)
    monkeypatch.delitem(sys.modules, "pyresac.envs.brax_tasks", raising=False)
    with pytest.raises(InputError, match=r"pip install 'pyresac\[brax\]'"):
        make_environment("brax/Walker2d-v0", {})
