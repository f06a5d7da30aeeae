"""Environments in wrappers and with generators of every kind: saved and restored bit for bit, or refused by name."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import wrapped_tasks
from tiny_run import TINY
from train_command import same_run

from pyresac.errors import CheckpointError, DivergenceError, InputError
from pyresac.tasks.discrete import EnvOptions, make_resumable
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.tasks.restorable import tried
from pyresac.tasks.snapshots import environment_state, restore_environment
from pyresac.train import main
from pyresac.training.restored import restore_run


def same_steps(task: BoxTask, twin: BoxTask, steps: int) -> None:
    generator = np.random.default_rng(4)
    for _ in range(steps):
        unit = generator.uniform(-1.0, 1.0, (task.copies, len(task.box.half))).astype(np.float32)
        assert [part.tobytes() for part in task.step(unit)] == [part.tobytes() for part in twin.step(unit)]
    assert task.finished() == twin.finished()


def walk(task: BoxTask, steps: int) -> None:
    for _ in range(steps):
        task.step(np.full((task.copies, len(task.box.half)), 0.3, dtype=np.float32))


def load(twin: BoxTask, task: BoxTask) -> None:
    twin.load(json.loads(json.dumps(task.state(), allow_nan=False)), {k: v.copy() for k, v in task.arrays().items()})


@pytest.mark.parametrize("name", [*wrapped_tasks.WRAPPERS, "Everything"])
def test_every_wrapper_is_restored_bit_for_bit(name: str) -> None:
    env_id = f"wrapped_tasks/{name}-v0"
    task, twin = BoxTask(env_id, {}, 2, 0), BoxTask(env_id, {}, 2, 9)
    walk(task, 37)
    load(twin, task)
    assert json.dumps(twin.state()) == json.dumps(task.state())
    same_steps(task, twin, 400)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Silent",
            "environment 'wrapped_tasks:wrapped_tasks/Silent-v0' cannot be saved and resumed: a restored copy "
            "departs with its wrapper Silent, and without it does not; give that wrapper state_dict()",
        ),
        ("Mumbling", "state_dict() of Mumbling gives a value that cannot be saved; it may hold None, numbers"),
    ],
)
def test_a_wrapper_that_cannot_be_saved_is_refused_by_name(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--env", f"wrapped_tasks:wrapped_tasks/{name}-v0", "--run-dir", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_innermost_environment_is_blamed_for_its_own_state() -> None:
    class Keeping(gym.Env[Any, Any]):
        observation_space = gym.spaces.Discrete(1)
        action_space = gym.spaces.Discrete(1)

        def __init__(self) -> None:
            self.hidden = {0: 0.0}

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            return 0, {}

        def step(self, action: Any) -> Any:
            self.hidden[0] += 1.0
            return 0, self.hidden[0], False, False, {}

    gym.register("test/Keeping-v0", entry_point=lambda: gym.wrappers.NormalizeReward(Keeping()))
    try:
        with pytest.raises(
            InputError, match=r"'test/Keeping-v0' cannot be .* departs after 1 steps; give it state_dict"
        ):
            make_resumable(EnvOptions(env="test/Keeping-v0"))
    finally:
        del gym.registry["test/Keeping-v0"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("gravity is refused"), r"gravity is refused"),
        (DivergenceError("this task gave inf"), r"this task gave inf"),
        (
            IndexError("list index"),
            r"this task cannot be played: IndexError: list index \(.*test_snapshots\.py, line \d+\)",
        ),
        (SystemExit(3), r"this task cannot be played: SystemExit: 3 \(.*test_snapshots\.py, line \d+\)"),
    ],
)
def test_what_an_environments_first_steps_raise_is_bad_input(error: BaseException, message: str) -> None:
    """In one sentence, that names the environment once; an interrupt is none."""
    with pytest.raises(InputError, match=f"^{message}$") as caught, tried("this task"):
        raise error
    assert error in (caught.value, caught.value.__cause__)
    with pytest.raises(KeyboardInterrupt), tried("this task"):
        raise KeyboardInterrupt


class Drawing(gym.Env[Any, Any]):
    """Observes what its generator draws."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def made(self, seed: int | None) -> Any:
        if self.kind == "python":
            return random.Random(seed)
        if self.kind == "RandomState":
            return np.random.RandomState(seed)
        return np.random.Generator(getattr(np.random, self.kind)(seed))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.np_random = self.made(seed)
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        return self.seen(), 0.0, False, False, {}

    def seen(self) -> Any:
        draw: Any = self.np_random
        return np.array([draw.gauss(0.0, 1.0) if self.kind == "python" else draw.normal()])


@pytest.fixture
def drawing() -> Iterator[None]:
    gym.register("test/Drawing-v0", entry_point=Drawing, max_episode_steps=30)
    yield
    del gym.registry["test/Drawing-v0"]


KINDS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "RandomState", "python"]


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_every_generator_is_restored(kind: str) -> None:
    task, twin = (BoxTask("test/Drawing-v0", {"kind": kind}, 2, seed) for seed in (0, 9))
    walk(task, 37)
    load(twin, task)
    same_steps(task, twin, 100)
    first = task.play(lambda dense, codes: dense, 2, 0, 0.5)
    assert first.dense.tobytes() == twin.play(lambda dense, codes: dense, 2, 0, 0.5).dense.tobytes()


@pytest.mark.usefixtures("drawing")
@pytest.mark.filterwarnings("ignore")
def test_a_generator_of_another_kind_is_refused() -> None:
    one, other = (BoxTask("test/Drawing-v0", {"kind": kind}, 1, 0) for kind in ("PCG64", "MT19937"))
    state = json.loads(json.dumps(one.state()))
    for layer in state["environments"][0]["layers"]:
        layer["attributes"].pop("kind", None)
    with pytest.raises(CheckpointError, match="state of a random generator is unusable"):
        other.load(state, one.arrays())


def test_another_wrapping_is_refused() -> None:
    plain = gym.make("Pendulum-v1")
    wrapped = gym.make("wrapped_tasks/Sticky-v0")
    for env in (plain, wrapped):
        env.reset(seed=0)
    with pytest.raises(
        CheckpointError, match=r"the saved environment is .*StickyAction around .*; this one is TimeLimit"
    ):
        restore_environment(plain, environment_state(wrapped))


def test_generators_of_one_object_stay_one_object() -> None:
    env = gym.make("wrapped_tasks/Noisy-v0")
    env.reset(seed=0)
    noisy: Any = env
    while not isinstance(noisy, wrapped_tasks.Noisy):
        noisy = noisy.env
    noisy.second = noisy.first
    restore_environment(env, json.loads(json.dumps(environment_state(env))))
    assert noisy.second is noisy.first


class Held:
    """An object that an environment keeps, with a number."""

    def __init__(self) -> None:
        self.number = 0.5


class Keeper(gym.Env[Any, Any]):
    """Keeps what it is given."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept


@pytest.mark.parametrize(
    ("saved", "own", "lacking"),
    [
        (Held(), None, "an object 'kept'"),
        (Held(), 0.5, "an object 'kept'"),
        ({"of wind": random.Random(0)}, {}, "a generator of wind in 'kept'"),
        ([random.Random(0), random.Random(1)], [random.Random(0)], "a generator 1 in 'kept'"),
        ((np.random.RandomState(0),), None, "a generator 0 in 'kept'"),
    ],
)
def test_what_this_environment_does_not_keep_cannot_be_restored(saved: Any, own: Any, lacking: str) -> None:
    """Nobody else would know of an object that was made for it."""
    state = json.loads(json.dumps(environment_state(Keeper(saved))))
    with pytest.raises(CheckpointError, match=f"^the saved environment has {lacking}, which this one lacks$"):
        restore_environment(Keeper(own), state)


def test_evaluation_sees_the_statistics_of_training_and_changes_none() -> None:
    task = BoxTask("wrapped_tasks/NormalObservation-v0", {}, 1, 0)
    policy = lambda dense, codes: np.zeros((len(dense), 1), dtype=np.float32)  # noqa: E731
    before = task.play(policy, 2, 0, 0.5)
    walk(task, 300)
    state = json.dumps(task.state())
    after = task.play(policy, 2, 0, 0.5)
    assert before.dense.tobytes() != after.dense.tobytes()
    assert after.dense.tobytes() == task.play(policy, 2, 0, 0.5).dense.tobytes()
    assert json.dumps(task.state()) == state
    statistics: Any = task._envs[0]
    while not isinstance(statistics, gym.wrappers.NormalizeObservation):
        statistics = statistics.env
    env = gym.make("Pendulum-v1")
    first, _ = env.reset(seed=int(np.random.SeedSequence([0, 1, 0]).generate_state(1)[0]))
    expected = (first - statistics.obs_rms.mean) / np.sqrt(statistics.obs_rms.var + statistics.epsilon)
    np.testing.assert_allclose(after.dense[0], expected, rtol=1e-5, atol=1e-6)


class Raising(gym.Env[Any, Any]):
    """Cannot be made."""

    def __init__(self, what: str) -> None:
        raise {"runtime": RuntimeError, "zero": ZeroDivisionError, "attribute": AttributeError, "index": IndexError}[
            what
        ]("no simulator")


@pytest.mark.parametrize("agent", ["deep", "tabular"])
@pytest.mark.parametrize(("what", "kind"), [("runtime", "RuntimeError"), ("index", "IndexError"), ("zero", "ZeroDiv")])
def test_a_constructor_that_raises_is_one_sentence(
    what: str, kind: str, agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gym.register("test/Raising-v0", entry_point=Raising)
    try:
        options = ["--agent", agent, "--env", "test/Raising-v0", "--env-options", json.dumps({"what": what})]
        assert main([*options, "--run-dir", str(tmp_path / "run")]) == 2
    finally:
        del gym.registry["test/Raising-v0"]
    error = capsys.readouterr().err
    assert "cannot make environment 'test/Raising-v0'" in error
    assert "no simulator" in error
    assert kind in error
    assert not (tmp_path / "run").exists()


def test_additional_wrappers_of_a_registered_id_are_there(tmp_path: Path) -> None:
    gym.register(
        "test/Additional-v0",
        entry_point="gymnasium.envs.classic_control.pendulum:PendulumEnv",
        max_episode_steps=50,
        additional_wrappers=(gym.wrappers.NormalizeObservation.wrapper_spec(),),
    )
    try:
        task, twin = (BoxTask("test/Additional-v0", {}, 1, seed) for seed in (0, 1))
    finally:
        del gym.registry["test/Additional-v0"]
    walk(task, 60)
    assert "NormalizeObservation" in [layer["name"] for layer in task.state()["environments"][0]["layers"]]
    load(twin, task)
    same_steps(task, twin, 100)


@pytest.mark.parametrize("agent", ["deep", "tabular"])
def test_wrapped_tasks_killed_and_resumed_are_one_run(agent: str, tmp_path: Path) -> None:
    """By their module's name, in processes of their own, one of which is killed; then evaluated."""
    if agent == "deep":
        env, last = ["--env", "wrapped_tasks:wrapped_tasks/Everything-v0"], 300
        common = [*env, *TINY, "--steps", "300", "--no-tensorboard"]
    else:
        env, last = ["--agent", "tabular", "--env", "wrapped_tasks:wrapped_tasks/Lake-v0"], 3000
        common = [*env, "--steps", "3000", "--eval-every", "1000", "--checkpoint-every", "1000", "--no-tensorboard"]
        common += ["--eval-episodes", "3", "--final-episodes", "3"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main([*common, "--run-dir", str(whole)]) == 0
    program = (
        "import os, signal, sys\n"
        "from pyresac.training.folder import RunFolder\n"
        "plain, count = RunFolder.save, [0]\n"
        "def save(*given, **more):\n"
        "    plain(*given, **more); count[0] += 1\n"
        "    if count[0] == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "RunFolder.save = save\n"
        "from pyresac.train import main\n"
        "main(sys.argv[1:])\n"
    )
    paths = os.pathsep.join([str(Path(wrapped_tasks.__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program, *common, "--run-dir", str(killed)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert main(["--run-dir", str(killed), "--resume"]) == 0
    same_run(whole, killed, last)
    if agent == "deep":
        result = json.loads((whole / "result.json").read_text())
        assert restore_run(whole).play(2, 5_000).returns.mean() == result["return"]
