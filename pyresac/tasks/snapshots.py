"""States of generators and of environments as JSON, so that a new process goes on bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from pyresac.errors import CheckpointError, InputError
from pyresac.tasks import mujoco_state as physics
from pyresac.tasks.encoding import MISSING, decode, encode

_WRAPPER_STATE = ("_elapsed_steps", "_has_reset")
_NOT_STATE = ("fullpath", "render_mode", "_ezpickle_args", "_np_random", "_np_random_seed")
"""Attributes that say where and how the environment was made, and its generator, which is saved by itself."""


def generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """State of a PCG64 generator, a JSON object with integers of 128 bits."""
    state = dict(generator.bit_generator.state)
    if state["bit_generator"] != "PCG64":
        raise TypeError(f"generator of type {state['bit_generator']}; only PCG64 can be saved")
    return state


def restore_generator(generator: np.random.Generator, state: dict[str, Any]) -> None:
    """Put back a state of `generator_state`. Raises CheckpointError if it is none."""
    try:
        generator.bit_generator.state = state
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"state of a random generator is unusable: {error}") from error


def environment_state(env: gym.Env[Any, Any]) -> dict[str, Any]:
    """State of a Gymnasium environment and of its wrappers.

    An environment with `state_dict()` speaks for itself. For any other, the attributes of the innermost environment
    that are numbers, strings, arrays, or tuples and lists of them, are its state, with the physics of a MuJoCo
    environment, its generator and the wrappers' step counter.
    """
    inner: Any = env.unwrapped
    own = inner.state_dict() if hasattr(inner, "state_dict") else _attributes(inner)
    wrappers = [{name: _plain(vars(w)[name]) for name in _WRAPPER_STATE if name in vars(w)} for w in _wrappers(env)]
    state = {"own": own, "generator": generator_state(inner.np_random), "wrappers": wrappers}
    if physics.present(inner):
        state["physics"] = physics.save(inner)
    return state


def restore_environment(env: gym.Env[Any, Any], state: Mapping[str, Any]) -> None:
    """Put a state of `environment_state` into an environment made and wrapped in the same way.

    Raises CheckpointError if the wrappers, the attributes or the physics are not those of the saved environment.
    """
    inner: Any = env.unwrapped
    wrappers = _wrappers(env)
    if len(wrappers) != len(state["wrappers"]):
        raise CheckpointError(f"saved environment has {len(state['wrappers'])} wrappers, this one {len(wrappers)}")
    if physics.present(inner) != ("physics" in state):
        raise CheckpointError(f"the saved environment and {inner!r} are not both of MuJoCo")
    if hasattr(inner, "load_state_dict"):
        inner.load_state_dict(state["own"])
    else:
        for name, value in state["own"].items():
            setattr(inner, name, decode(value))
    if "physics" in state:
        physics.restore(inner, state["physics"])
    restore_generator(inner.np_random, state["generator"])
    for wrapper, values in zip(wrappers, state["wrappers"], strict=True):
        for name, value in values.items():
            setattr(wrapper, name, value)


def require_restorable(env: gym.Env[Any, Any], twin: gym.Env[Any, Any], steps: int = 200) -> None:
    """Check on a twin that the saved state is all of the state: both must go on alike for `steps` random actions.

    The actions are those of a Discrete space or of a bounded Box. Raises InputError naming the environment if they
    part. Both environments are left reset and mid-episode.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    env.reset(seed=0)
    twin.reset(seed=1)
    for _ in range(7):
        _advance(env, _action(env.action_space, generator))
    restore_environment(twin, environment_state(env))
    for step in range(steps):
        action = _action(env.action_space, generator)
        if not _same(_advance(env, action), _advance(twin, action)):
            raise InputError(
                f"environment {env.unwrapped!r} cannot be saved and resumed: a restored copy departs after "
                f"{step + 1} steps; give it state_dict() and load_state_dict() that cover all of its state"
            )


def _action(space: Any, generator: np.random.Generator) -> Any:
    if isinstance(space, gym.spaces.Box):
        return np.asarray(generator.uniform(space.low, space.high), dtype=space.dtype)
    return int(generator.integers(space.n))


def _advance(env: gym.Env[Any, Any], action: Any) -> tuple[Any, ...]:
    # a copy, because an environment may keep the array, or change it
    observation, reward, terminated, truncated, _ = env.step(
        action.copy() if isinstance(action, np.ndarray) else action
    )
    first = env.reset()[0] if terminated or truncated else observation
    return observation, reward, terminated, truncated, first


def _same(one: Any, other: Any) -> bool:
    """Equal bit for bit, NaN equal to NaN."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(_same(*pair) for pair in zip(one, other, strict=True))
    first, second = np.asarray(one), np.asarray(other)
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


def _wrappers(env: gym.Env[Any, Any]) -> list[gym.Env[Any, Any]]:
    found: list[gym.Env[Any, Any]] = []
    while isinstance(env, gym.Wrapper):
        found.append(env)
        env = env.env
    return found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _attributes(inner: Any) -> dict[str, Any]:
    encoded = {name: encode(value) for name, value in vars(inner).items() if name not in _NOT_STATE}
    return {name: value for name, value in encoded.items() if value is not MISSING}
