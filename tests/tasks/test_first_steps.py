"""What a task is refused for before any work, with the whole message, and what it allows."""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from pyresac.errors import CheckpointError, DivergenceError, InputError
from pyresac.tasks import environments
from pyresac.tasks.encoding import decode, encode
from pyresac.tasks.environments import make_environment
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.tasks.variation import Variation


class Counting(gym.Env[Any, Any]):
    """Sees its seed (0 before there is one) and its steps; gives what is no number where and when it is told."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, broken: str = "", limit: int = 3, reward: Any = 1.0) -> None:
        self.broken, self.limit, self.reward = broken, limit, reward
        self.number, self.steps, self.episodes = 0, 0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps, self.episodes = 0, 0 if seed is not None else self.episodes + 1
        self.number = self.number if seed is None else seed
        broken = {"first": self.number == 0, "drawn": self.number > 1, "second": self.episodes == 3}.get(
            self.broken, False
        )
        return np.array([math.nan if broken else self.number, 0.0]), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.steps += 1
        reward = math.inf if self.broken == "reward" else self.reward
        return np.array([self.number, self.steps]), reward, self.steps == self.limit, False, {}


class Made(Counting):
    """Has an object with a number only from its first reset on."""

    class Kept:
        """An object of another's."""

        number = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if not hasattr(self, "kept"):
            self.kept = self.Kept()
            self.kept.number = 5
        return super().reset(seed=seed, options=options)


@pytest.fixture(autouse=True)
def ids() -> Iterator[None]:
    for kind in (Counting, Made):
        gym.register(f"test/{kind.__name__}-v0", entry_point=kind, disable_env_checker=True)
    yield
    for kind in (Counting, Made):
        del gym.registry[f"test/{kind.__name__}-v0"]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        # the seeds of the trial are 0 and 1, those of training are hashed
        ("first", r"a first observation that is not finite in float32: \[nan, 0.0\] in copy 0"),
        ("drawn", r"a first observation that is not finite in float32: \[nan, 0.0\] in copy 0"),
        ("reward", "a reward that is not finite in float32: inf in copy 0"),
    ],
)
def test_a_task_whose_first_numbers_are_not_finite_is_refused(broken: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^environment 'test/Counting-v0' gave {said}$"):
        BoxTask("test/Counting-v0", {"broken": broken}, 2, 0)


def test_a_later_episode_that_begins_with_what_is_no_number_stops_the_run() -> None:
    task = BoxTask("test/Counting-v0", {"broken": "second"}, 2, 0)
    unit = np.zeros((2, 1), dtype=np.float32)
    for _ in range(8):
        task.step(unit)
    said = r"gave a first observation that is not finite in float32: \[nan, 0.0\] in copy 0"
    with pytest.raises(DivergenceError, match=rf"^environment 'test/Counting-v0' {said}$"):
        task.step(unit)


@pytest.mark.parametrize("reward", [2, True, np.float32(2.0), np.int64(2), np.array(2.0)], ids=repr)
def test_whatever_is_a_number_is_a_reward(reward: Any) -> None:
    task = BoxTask("test/Counting-v0", {"reward": reward}, 1, 0)
    assert task.step(np.zeros((1, 1), dtype=np.float32)).reward.tolist() == [float(reward)]
    assert task.play(lambda dense, codes: np.zeros((len(dense), 1), np.float32), 1, 0, 0.5).returns == [3 * reward]


def test_episodes_side_by_side_have_all_that_a_first_reset_makes() -> None:
    """Two environments are tried before any work; the third and later ones are made when they are played in."""
    played = BoxTask("test/Made-v0", {}, 1, 0).play(lambda dense, codes: np.zeros((len(dense), 1), np.float32), 5, 0, 0)
    assert played.returns.tolist() == [3.0] * 5


def test_a_task_that_changes_is_named_with_what_changes() -> None:
    noise = Variation(observation_noise="gaussian 0.1", action_noise="shift 1")
    task = BoxTask("Pendulum-v1", {}, 1, 0, noise)
    assert task.title == "Pendulum-v1; observation noise gaussian 0.1, action noise shift 1"
    assert Variation(mass="2", gear="list 1 2", reward_noise="uniform 1").words == (
        "mass 2, gear list 1 2, reward noise uniform 1"
    )
    assert Variation().words == ""


FINE = {"observation_noise": "gaussian 1", "gravity": "uniform 1 2 tasks 3"}


@pytest.mark.parametrize(
    ("given", "needed", "message"),
    [
        (
            {"noise_in": "training"},
            "observation_noise",
            "noise_in = 'training', but there is no noise; give observation_noise, say",
        ),
        (
            {"test_tasks": "nominal"},
            "gravity",
            "test_tasks = 'nominal', but no physics changes; give a schedule, of gravity say",
        ),
        ({"task_seed": 1}, "gravity", "task_seed = 1, but no schedule has 'tasks N', which it is the seed of"),
    ],
)
def test_what_needs_a_schedule_or_noise_is_refused_without_it(given: Any, needed: str, message: str) -> None:
    Variation(**given, **{needed: FINE[needed]})
    others = {name: text for name, text in FINE.items() if name != needed}
    for more in ({}, others):
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            Variation(**given, **more)
    if "task_seed" in given:
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            Variation(**given, gravity="uniform 1 2", mass="2")


# --- environments that cannot be made


@pytest.mark.parametrize("lacking", [(), ("mujoco",), ("brax",), ("brax", "mujoco"), ("jax",)])
@pytest.mark.parametrize("words", ["no MuJoCo here", "jax is needed", "Brax is needed", "the disk is full"])
def test_an_extra_is_advised_where_it_is_named_and_lacks(
    words: str, lacking: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*given: Any, **more: Any) -> Any:
        raise ImportError(words)

    monkeypatch.setattr(gym, "make", failing)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in lacking else "found")
    of = {"no MuJoCo here": "mujoco", "jax is needed": "brax", "Brax is needed": "brax"}.get(words)
    advice = f"; install it: pip install 'pyresac[{of}]'" if of in lacking else ""
    with pytest.raises(InputError) as caught:
        make_environment("Some-v0", {})
    assert str(caught.value) == f"cannot make environment 'Some-v0': {words}{advice}"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("colour"), "it knows no 'colour'"),
        (ValueError("of colours"), "of colours"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    ],
)
def test_what_a_constructor_raises_is_one_sentence(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*given: Any, **more: Any) -> Any:
        raise error

    monkeypatch.setattr(gym, "make", failing)
    with pytest.raises(InputError, match=f"^cannot make environment 'Some-v0': {re.escape(said)}$"):
        make_environment("Some-v0", {})


@pytest.mark.parametrize(("text", "said"), [("[1]", "; it must be a JSON object"), ("{", " is not JSON: ")])
def test_keywords_are_a_json_object(text: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'env_options = {text!r}{said}')}"):
        environments.keywords_in(text)
    assert environments.keywords_in('{"g": 1}') == {"g": 1}


def test_the_packages_own_ids_are_known_without_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    own = [name for name in gym.registry if name.split("/")[0] in ("pyresac", "brax")]
    for name in own:
        monkeypatch.delitem(gym.registry, name)
    package = sys.modules.get("pyresac.envs")
    monkeypatch.delitem(sys.modules, "pyresac.envs", raising=False)
    monkeypatch.setattr(gym, "make", lambda env_id: gym.registry[env_id])
    try:
        assert make_environment("pyresac/BusCorridor-v0", {}).id == "pyresac/BusCorridor-v0"  # type: ignore[attr-defined]
    finally:
        if package is not None:
            sys.modules["pyresac.envs"] = package
            monkeypatch.setattr(sys.modules["pyresac"], "envs", package)


# --- values of another's hand


@pytest.mark.parametrize(
    "content",
    [
        {"dtype": "<c8", "shape": [1], "bytes": "AAAAAAAAAAA="},
        {"dtype": "<U2", "shape": [1], "bytes": "AAAAAAAAAAA="},
        {"dtype": "<f8", "shape": [1], "bytes": "AAAA*AAAAAAA="},
        {"dtype": "<f8", "shape": [1], "bytes": "AAAAAAAAAAA=\n"},
    ],
    ids=["complex", "text", "a foreign letter", "a line's end"],
)
def test_arrays_of_other_kinds_and_letters_are_refused(content: Any) -> None:
    good = {"dtype": "<f8", "shape": [1], "bytes": "AAAAAAAAAAA="}
    assert decode({"array": good}) == np.zeros(1)
    assert encode(np.zeros(1)) == {"array": good}
    with pytest.raises(CheckpointError, match="a saved value is unusable"):
        decode({"array": content})
