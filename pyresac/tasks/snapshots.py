"""States of generators and of environments as JSON, so that a new process goes on bit for bit."""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from pyresac.errors import CheckpointError, DivergenceError, InputError
from pyresac.tasks import mujoco_state as physics
from pyresac.tasks.encoding import MISSING, decode, encode

Layer = Any
"""A wrapper, or the innermost environment."""
Generator = np.random.Generator | np.random.RandomState | random.Random
_NOT_STATE = frozenset(
    {
        # how it was made and is shown
        *("env", "fullpath", "render_mode", "_ezpickle_args", "_saved_kwargs", "_np_random_seed"),
        *("_metadata", "_cached_spec"),
        # clocks, of RecordEpisodeStatistics
        *("episode_start_time", "time_queue"),
    }
)
"""Attributes that are not saved: the generator in `_np_random` is, and its seed would add nothing."""
_NO_RECORD = (gym.Env, gym.Space, EnvSpec, type, Enum, ModuleType, FunctionType, MethodType)
"""Types of objects whose attributes are no part of an environment's state."""
_UNDER_WAY = 7
"""Steps after which a twin takes on an environment's state: some kinds of state are not there at an episode's start."""


def _is_generator(value: Any) -> bool:
    """Whether its state can be saved; that of the system's own source cannot."""
    return isinstance(value, Generator) and not isinstance(value, random.SystemRandom)


def _parts(container: Any) -> Iterable[tuple[Any, Any]]:
    """Key and part, none of what is no list, tuple or dictionary."""
    if isinstance(container, dict):
        return container.items()
    return enumerate(container) if isinstance(container, list | tuple) else ()


def generator_state(generator: Generator) -> dict[str, Any]:
    """State of a generator of NumPy or of Python's `random`, as JSON."""
    if isinstance(generator, random.Random):
        state: Any = {"random": generator.getstate()}
    elif isinstance(generator, np.random.RandomState):
        state = generator.get_state(legacy=False)
    else:
        state = dict(generator.bit_generator.state)
    encoded: dict[str, Any] = encode(state)["dict"]
    return encoded


def restore_generator(generator: Generator, state: Mapping[str, Any]) -> None:
    """Put back a state of `generator_state`. Raises CheckpointError if it is none, or one of another kind."""
    try:
        plain = {name: decode(value) for name, value in state.items()}
        if isinstance(generator, random.Random):
            generator.setstate(plain["random"])
        elif isinstance(generator, np.random.RandomState):
            generator.set_state(plain)
        else:
            generator.bit_generator.state = plain
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError(f"state of a random generator is unusable: {error}") from error


def environment_state(env: gym.Env[Any, Any]) -> dict[str, Any]:
    """State of a Gymnasium environment and of its wrappers, each a layer, the outermost first.

    A layer with `state_dict()` speaks for itself. Of any other, the attributes are its state: numbers, strings, arrays,
    generators, tuples, lists, deques and dictionaries of them, and the same of objects that it keeps, such as running
    statistics; with the physics of a MuJoCo environment. Raises InputError for a `state_dict()` of something else.
    """
    state: dict[str, Any] = {"layers": [_layer_state(layer) for layer in layers_of(env)]}
    if physics.present(env.unwrapped):
        state["physics"] = physics.save(env.unwrapped)
    return state


def restore_environment(env: gym.Env[Any, Any], state: Mapping[str, Any]) -> None:
    """Put a state of `environment_state` into an environment made and wrapped in the same way.

    Raises CheckpointError if the wrappers, the attributes or the physics are not those of the saved environment.
    """
    inner: Any = env.unwrapped
    restore_layers(layers_of(env), state["layers"])
    if physics.present(inner) != ("physics" in state):
        raise CheckpointError(f"the saved environment and {inner!r} are not both of MuJoCo")
    if "physics" in state:
        physics.restore(inner, state["physics"])


def restore_layers(layers: list[Layer], saved: list[dict[str, Any]]) -> None:
    """Put back states of layers. Raises CheckpointError if they are of others."""
    names, expected = [state["name"] for state in saved], [_name(layer) for layer in layers]
    if names != expected:
        raise CheckpointError(
            f"the saved environment is {' around '.join(names)}; this one is {' around '.join(expected)}"
        )
    for layer, state in zip(layers, saved, strict=True):
        if "own" in state:
            layer.load_state_dict(decode(state["own"]))
            _put(vars(layer), "_np_random", state["generator"])
        else:
            _restore_attributes(layer, state["attributes"])


def prepare_player(player: gym.Env[Any, Any], made: Mapping[str, Any], trained: gym.Env[Any, Any]) -> None:
    """Put an environment for evaluation back into `made`, its state when it was made, but with the running statistics
    of a training environment, under which the policy has learned.

    Those are wrappers with `update_running_mean`, as Gymnasium's have it; it is off while the policy is played.
    """
    layers = [
        _layer_state(layer) if _has_statistics(layer) else own
        for layer, own in zip(layers_of(trained), made["layers"], strict=True)
    ]
    restore_environment(player, {**made, "layers": layers})
    for layer in layers_of(player):
        if _has_statistics(layer):
            layer.update_running_mean = False


def _has_statistics(layer: Layer) -> bool:
    return isinstance(layer, gym.Wrapper) and hasattr(layer, "update_running_mean")


def restore_wrappers(env: gym.Env[Any, Any], state: Mapping[str, Any]) -> None:
    """Put back the wrappers of a state of `environment_state`, but not the environment inside them."""
    restore_layers(layers_of(env)[:-1], state["layers"][:-1])


def layers_of(env: gym.Env[Any, Any]) -> list[Layer]:
    """The wrappers from the outermost to the innermost, then the environment inside them."""
    found: list[Layer] = [env]
    while isinstance(found[-1], gym.Wrapper):
        found.append(found[-1].env)
    return found


def require_restorable(env: gym.Env[Any, Any], twin: gym.Env[Any, Any], where: str, steps: int = 200) -> None:
    """Check on a twin that the saved state is all of the state: both must go on alike for `steps` random actions.

    The actions are those of a Discrete space or of a bounded Box. Raises InputError naming the environment, or its
    innermost wrapper that is to blame, if they part. Both environments are left reset and mid-episode.
    """
    with tried(where):
        if _departure(env, twin, steps) is None:
            return
        for inner, other in zip(reversed(layers_of(env)), reversed(layers_of(twin)), strict=True):
            departed = _departure(inner, other, steps)
            if departed is not None:
                break
    what = f"{where} cannot be saved and resumed: a restored copy"
    if isinstance(inner, gym.Wrapper):
        what += f" departs with its wrapper {_name(inner)}, and without it does not; give that wrapper"
    else:
        what += f" departs after {departed} steps; give it"
    raise InputError(f"{what} state_dict() and load_state_dict() that cover all of its state")


@contextmanager
def tried(where: str) -> Iterator[None]:
    """Around an environment's first steps, before any work: what they raise becomes an InputError that says where."""
    try:
        yield
    except InputError:
        raise
    except DivergenceError as error:  # it names the environment already
        raise InputError(str(error)) from error
    except (Exception, SystemExit) as error:  # of another's code: any kind
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename}, line {frame.lineno}"
        raise InputError(f"{where} cannot be played: {type(error).__name__}: {error} ({place})") from error


def _departure(env: gym.Env[Any, Any], twin: gym.Env[Any, Any], steps: int) -> int | None:
    """The step after which a restored twin differs, None if it does not."""
    generator = np.random.Generator(np.random.PCG64(0))
    env.reset(seed=0)
    twin.reset(seed=1)
    for _ in range(_UNDER_WAY):
        _advance(env, _action(env.action_space, generator))
    restore_environment(twin, environment_state(env))
    for step in range(steps):
        action = _action(env.action_space, generator)
        if not _same(_advance(env, action), _advance(twin, action)):
            return step + 1
    return None


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


def _name(layer: Layer) -> str:
    return type(layer).__name__


def _layer_state(layer: Layer) -> dict[str, Any]:
    if not all(callable(getattr(layer, method, None)) for method in ("state_dict", "load_state_dict")):
        looks_on = isinstance(layer, gym.wrappers.PassiveEnvChecker)
        return {"name": _name(layer), "attributes": {} if looks_on else _attributes(layer, (id(layer),))}
    own = encode(layer.state_dict())
    if own is MISSING:
        raise InputError(
            f"state_dict() of {_name(layer)} gives a value that cannot be saved; it may hold None, numbers, strings, "
            f"NumPy arrays of numbers, and tuples, lists and dictionaries (by strings) of them"
        )
    generator = _saved(vars(layer).get("_np_random"), ())
    return {"name": _name(layer), "own": own, "generator": generator}


def _attributes(holder: Any, within: tuple[int, ...]) -> dict[str, Any]:
    """Attributes that can be saved. within: ids of the objects that hold this one."""
    found = {name: _saved(value, within) for name, value in vars(holder).items() if name not in _NOT_STATE}
    return {name: value for name, value in found.items() if value is not MISSING}


def _saved(value: Any, within: tuple[int, ...]) -> Any:
    if _is_generator(value):
        return {"generator": generator_state(value)}
    encoded = encode(value)
    if encoded is MISSING and isinstance(value, list | tuple | dict):
        # the generators among its parts; others may be many, and hold one another
        parts = {str(key): generator_state(part) for key, part in _parts(value) if _is_generator(part)}
        return {"generators": parts} if parts else MISSING
    if encoded is not MISSING or id(value) in within or isinstance(value, _NO_RECORD) or not hasattr(value, "__dict__"):
        return encoded
    parts = _attributes(value, (*within, id(value)))
    return {"object": parts} if parts else MISSING


def _restore_attributes(holder: Any, saved: Mapping[str, Any]) -> None:
    for name, value in saved.items():
        _put(vars(holder), name, value)


def _put(attributes: dict[str, Any], name: str, saved: Any) -> None:
    """Set an attribute. Generators and objects are changed where they are, because others may hold them too."""
    kind = next(iter(saved), None) if isinstance(saved, dict) else None
    if kind == "generator":
        if not _is_generator(attributes.get(name)):
            attributes[name] = np.random.Generator(np.random.PCG64(0))
        restore_generator(attributes[name], saved[kind])
    elif kind == "generators":
        present = {str(key): part for key, part in _parts(attributes.get(name)) if _is_generator(part)}
        for key, state in saved[kind].items():
            if key not in present:
                raise CheckpointError(f"the saved environment has a generator {key} in {name!r}, which this one lacks")
            restore_generator(present[key], state)
    elif kind == "object":
        if not hasattr(attributes.get(name), "__dict__"):
            raise CheckpointError(f"the saved environment has an object {name!r}, which this one lacks")
        _restore_attributes(attributes[name], saved[kind])
    else:
        attributes[name] = decode(saved)
