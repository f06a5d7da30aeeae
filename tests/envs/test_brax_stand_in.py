"""Brax's tasks without Brax: what it and JAX are asked for, and how physics are scaled, by stand-ins of both."""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from pyresac.envs import brax_tasks
from pyresac.errors import CheckpointError


class Part(SimpleNamespace):
    """A record of Brax's, which is never changed."""

    def replace(self, **changes: Any) -> Part:
        return type(self)(**{**vars(self), **changes})


class Nominal:
    """An environment of Brax's."""

    def __init__(self) -> None:
        self.sys, self.backend = system(), "spring"


def system() -> Part:
    """One link, whose numbers are primes."""
    return Part(
        gravity=2.0,
        link=Part(inertia=Part(mass=3.0, i=5.0, com=17.0)),
        geom_friction=7.0,
        actuator=Part(gear=11.0, ctrl=13.0),
        spring_mass_scale=np.float32(0.0),
        spring_inertia_scale=np.float32(1.0),
    )


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of which JAX is asked for a key; computing on its CPU alone."""
    asked: list[int] = []

    def key(seed: int) -> str:
        asked.append(seed)
        return f"the key of {seed}"

    jax: Any = ModuleType("jax")
    jax.random = SimpleNamespace(PRNGKey=key)
    jax.devices = lambda kind: [f"the first {kind}", "another"]
    jax.default_device = lambda device: nullcontext() if device == "the first cpu" else pytest.fail(device)
    jax.numpy = SimpleNamespace(asarray=np.asarray)
    jax.tree = SimpleNamespace(leaves=lambda state: [state.obs], unflatten=lambda _, own: SimpleNamespace(obs=own[0]))
    monkeypatch.setitem(sys.modules, "jax", jax)
    return asked


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch, keys: list[int]) -> brax_tasks.BraxTask:
    """A task whose state has what it was made from: a reset is never done, a step pays its action."""

    def reset(key: str, factors: Any) -> Any:
        return SimpleNamespace(obs=[1, 2, 3], key=key, factors=factors)

    def step(state: Any, action: Any, factors: Any) -> Any:
        obs = [*state.obs[1:], 4]
        return SimpleNamespace(obs=obs, reward=action[0], done=np.float32(action[0] < 0.0), factors=factors)

    nominal = SimpleNamespace(sys=system(), observation_size=3, action_size=2)
    made = SimpleNamespace(nominal=nominal, reset=reset, step=step, structure=SimpleNamespace(num_leaves=1))
    monkeypatch.setattr(brax_tasks, "compiled", lambda name: made)
    return brax_tasks.BraxTask("hopper")


def test_brax_is_asked_for_its_spring_simulator_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def made(name: str, backend: str) -> tuple[str, str]:
        print("a note of Brax's")
        warnings.warn("not developed on", stacklevel=1)
        return name, backend

    brax: Any = ModuleType("brax")
    brax.envs = SimpleNamespace(get_environment=made)
    monkeypatch.setitem(sys.modules, "brax", brax)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert brax_tasks._made("hopper") == ("hopper", "spring")
    assert caught == []
    assert capsys.readouterr().out == ""


def test_each_factor_scales_its_own_physics_and_leaves_the_nominal_ones() -> None:
    nominal = Nominal()
    factors = {"gravity": 10.0, "mass": 100.0, "inertia": 1e3, "friction": 1e4, "gear": 1e5}
    assert tuple(factors) == brax_tasks.FACTORS
    found = brax_tasks._scaled(nominal, factors)
    assert found.backend == "spring"
    inertia = Part(mass=300.0, i=5e3, com=17.0)
    wanted = {
        "gravity": 20.0,
        "link": Part(inertia=inertia),
        "geom_friction": 7e4,
        "actuator": Part(gear=11e5, ctrl=13.0),
    }
    assert found.sys == system().replace(**wanted)
    assert nominal.sys == system()
    assert brax_tasks._scaled(nominal, brax_tasks._ones()).sys == system()


def test_an_episode_begins_with_a_key_of_31_bits_from_the_task_s_own_numbers(
    task: brax_tasks.BraxTask, keys: list[int]
) -> None:
    with pytest.raises(gym.error.ResetNeeded):
        task.step(np.zeros(2, dtype=np.float32))
    task.scale_physics({"mass": 1.5})
    observation, _ = task.reset(seed=3)
    task.reset()
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(3)))
    assert keys == [generator.integers(2**31), generator.integers(2**31)]
    assert observation.tolist() == [1, 2, 3]
    assert task._state.key == f"the key of {keys[1]}"
    assert task._state.factors == {**brax_tasks._ones(), "mass": np.float32(1.5)}


def test_a_step_ends_where_brax_says_so_and_never_by_time(task: brax_tasks.BraxTask) -> None:
    assert task.observation_space.shape == (3,)
    assert (task.action_space.low.tolist(), task.action_space.high.tolist()) == ([-1.0, -1.0], [1.0, 1.0])
    task.reset(seed=0)
    first = task.step(np.array([0.5, 0.0], dtype=np.float32))
    assert (first[0].tolist(), *first[1:]) == ([2, 3, 4], 0.5, False, False, {})
    second = task.step(np.array([-0.5, 0.0], dtype=np.float32))
    assert (second[0].tolist(), *second[1:]) == ([3, 4, 4], -0.5, True, False, {})


def test_a_saved_state_has_the_arrays_and_the_factors(task: brax_tasks.BraxTask) -> None:
    ones = dict.fromkeys(brax_tasks.FACTORS, 1.0)
    empty = task.state_dict()
    assert empty == {"arrays": [], "factors": ones}
    task.reset(seed=0)
    task.scale_physics({"gear": 0.5})
    saved = task.state_dict()
    assert [array.tolist() for array in saved["arrays"]] == [[1, 2, 3]]
    assert saved["factors"] == {**ones, "gear": 0.5}
    task.load_state_dict(empty)
    assert task._state is None
    task.load_state_dict(saved)
    assert task._state.obs.tolist() == [1, 2, 3]
    assert task.state_dict()["factors"] == saved["factors"]
    with pytest.raises(CheckpointError, match="the saved state has 2 arrays; Brax's has 1"):
        task.load_state_dict({**saved, "arrays": saved["arrays"] * 2})


def test_physics_that_spring_does_not_read_are_named(task: brax_tasks.BraxTask) -> None:
    """Mass and inertia where their scale is 1; the joints' damping always."""
    assert task.ignored_physics() == {
        "damping": "Brax's spring simulator does not read the joints' damping",
        "inertia": "Brax's spring simulator takes inertia^(1 − x) with x = 1 here, so all are 1",
    }


@pytest.mark.parametrize("kept", [None, "/elsewhere"])
def test_a_task_is_compiled_once_and_its_code_kept_in_the_user_s_cache(
    monkeypatch: pytest.MonkeyPatch, keys: list[int], kept: str | None
) -> None:
    """Unless JAX has a folder already. What is compiled scales the physics and gives every leaf its own type."""
    jax: Any = sys.modules["jax"]
    asked: dict[str, str] = {}
    jax.config = SimpleNamespace(jax_compilation_cache_dir=kept, update=lambda name, value: asked.update({name: value}))
    jax.jit = lambda function: function
    jax.lax = SimpleNamespace(convert_element_type=lambda leaf, kind: (leaf, str(kind)))
    jax.tree.map = lambda change, tree: {name: change(leaf) for name, leaf in tree.items()}
    jax.tree.structure = lambda shapes: ("structure of", shapes)
    jax.eval_shape = lambda function, *given: ("shapes of", function(*given))

    class Task:
        """A state is what the system says."""

        def __init__(self) -> None:
            self.sys = system()

        def reset(self, key: Any) -> dict[str, Any]:
            return {"key": key, "gravity": self.sys.gravity, "flag": True}

        def step(self, state: Any, action: Any) -> dict[str, Any]:
            return {"state": state + action, "gear": self.sys.actuator.gear}

    made = Task()
    monkeypatch.setattr(brax_tasks, "_made", lambda name: made if name == "hopper" else pytest.fail(name))
    monkeypatch.setattr(brax_tasks, "user_cache", lambda name: f"/cache/{name}")
    brax_tasks.compiled.cache_clear()
    found = brax_tasks.compiled("hopper")
    assert brax_tasks.compiled("hopper") is found
    brax_tasks.compiled.cache_clear()
    assert asked == ({} if kept else {"jax_compilation_cache_dir": "/cache/pyresac-jax"})
    assert found.nominal is made
    factors = {**brax_tasks._ones(), "gravity": np.float32(1.5), "gear": np.float32(2.0)}
    assert found.reset(7, factors) == {"key": (7, "int64"), "gravity": (3.0, "float32"), "flag": (True, "bool")}
    assert found.step(1, 4, factors) == {"state": (5, "int64"), "gear": (22.0, "float32")}
    _, (_, shape) = found.structure
    assert keys == [0]
    assert shape["key"][0] == "the key of 0"
    assert shape["gravity"][0] == 2.0


def test_a_task_s_spaces_are_endless_observations_and_unit_actions(task: brax_tasks.BraxTask) -> None:
    assert task.observation_space == gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    assert task.action_space == gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    assert task.metadata == {"render_modes": []}


def test_tasks_have_names_and_a_thousand_steps() -> None:
    import pyresac.envs

    assert pyresac.envs
    for name in ("Hopper", "Walker2d", "HalfCheetah", "Ant"):
        spec = gym.spec(f"brax/{name}-v0")
        assert spec.max_episode_steps == 1_000
        assert spec.kwargs == {"task": name.lower()}
        assert spec.entry_point == "pyresac.envs.brax_tasks:BraxTask"
    corridor = gym.spec("pyresac/BusCorridor-v0")
    assert corridor.max_episode_steps is None
    assert corridor.vector_entry_point == "pyresac.envs.bus.vector:VectorBusCorridor"
