"""States of generators and of environments as JSON, so that a new process goes on bit for bit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from pyresac.errors import CheckpointError, InputError

_SCALARS = (bool, int, float, str, type(None))
_WRAPPER_STATE = ("_elapsed_steps", "_has_reset")


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

    An environment with `state_dict()` speaks for itself. For any other, the scalar attributes of the innermost
    environment are its state (for toy-text: state, last action), with its generator and the wrappers' step counter.
    """
    inner: Any = env.unwrapped
    own = inner.state_dict() if hasattr(inner, "state_dict") else _scalars(inner)
    wrappers = [{name: _plain(vars(w)[name]) for name in _WRAPPER_STATE if name in vars(w)} for w in _wrappers(env)]
    return {"own": own, "generator": generator_state(inner.np_random), "wrappers": wrappers}


def restore_environment(env: gym.Env[Any, Any], state: dict[str, Any]) -> None:
    """Put a state of `environment_state` into an environment made and wrapped in the same way.

    Raises CheckpointError if the wrappers or attributes are not those of the saved environment.
    """
    inner: Any = env.unwrapped
    wrappers = _wrappers(env)
    if len(wrappers) != len(state["wrappers"]):
        raise CheckpointError(f"saved environment has {len(state['wrappers'])} wrappers, this one {len(wrappers)}")
    if hasattr(inner, "load_state_dict"):
        inner.load_state_dict(state["own"])
    else:
        for name, value in state["own"].items():
            setattr(inner, name, value)
    restore_generator(inner.np_random, state["generator"])
    for wrapper, values in zip(wrappers, state["wrappers"], strict=True):
        for name, value in values.items():
            setattr(wrapper, name, value)


def require_restorable(env: gym.Env[Any, Any], twin: gym.Env[Any, Any], steps: int = 200) -> None:
    """Check on a twin that the saved state is all of the state: both must go on alike for `steps` random actions.

    Raises InputError naming the environment if they part. Both environments are left reset and mid-episode.
    """
    actions = np.random.Generator(np.random.PCG64(0))
    space: Any = env.action_space
    env.reset(seed=0)
    twin.reset(seed=1)
    for _ in range(7):
        _advance(env, int(actions.integers(space.n)))
    restore_environment(twin, environment_state(env))
    for step in range(steps):
        action = int(actions.integers(space.n))
        if _advance(env, action) != _advance(twin, action):
            raise InputError(
                f"environment {env.unwrapped!r} cannot be saved and resumed: a restored copy departs after "
                f"{step + 1} steps; give it state_dict() and load_state_dict() that cover all of its state"
            )


def _advance(env: gym.Env[Any, Any], action: int) -> tuple[Any, ...]:
    observation, reward, terminated, truncated, _ = env.step(action)
    first = env.reset()[0] if terminated or truncated else observation
    return observation, reward, terminated, truncated, first


def _wrappers(env: gym.Env[Any, Any]) -> list[gym.Env[Any, Any]]:
    found: list[gym.Env[Any, Any]] = []
    while isinstance(env, gym.Wrapper):
        found.append(env)
        env = env.env
    return found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _scalars(inner: Any) -> dict[str, Any]:
    plain = {name: _plain(value) for name, value in vars(inner).items()}
    return {name: value for name, value in plain.items() if isinstance(value, _SCALARS) and not name.startswith("_")}
