"""States of generators and of environments as JSON, so that a new process goes on bit for bit."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from pyresac.errors import CheckpointError, InputError
from pyresac.tasks import mujoco_state as physics
from pyresac.tasks.encoding import MISSING, decode, encode

Layer = Any
"""A wrapper, or the innermost environment."""
Generator = np.random.Generator | np.random.RandomState | random.Random
NOT_STATE = frozenset(
    {
        # how it was made and is shown
        *("env", "fullpath", "render_mode", "_ezpickle_args", "_saved_kwargs", "_np_random_seed"),
        *("_metadata", "_cached_spec"),
        # clocks, of RecordEpisodeStatistics
        *("episode_start_time", "time_queue"),
    }
)
"""Attributes that are not saved: the generator in `_np_random` is, and its seed would add nothing."""
NO_RECORD = (gym.Env, gym.Space, EnvSpec, type, Enum, ModuleType, FunctionType, MethodType)
"""Types of objects whose attributes are no part of an environment's state."""


def is_generator(value: Any) -> bool:
    """Whether its state can be saved; that of the system's own source cannot."""
    return isinstance(value, Generator) and not isinstance(value, random.SystemRandom)


def _parts(container: Any) -> Iterable[tuple[Any, Any]]:
    """Keys and parts of a list, tuple or dictionary; nothing of any other object."""
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
    names, expected = [state["name"] for state in saved], [name_of(layer) for layer in layers]
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


def name_of(layer: Layer) -> str:
    """The class of a layer."""
    return type(layer).__name__


def speaks(layer: Layer) -> bool:
    """Whether a layer gives and takes its state itself."""
    return all(callable(getattr(layer, method, None)) for method in ("state_dict", "load_state_dict"))


def looks_on(layer: Layer) -> bool:
    """Whether a layer has no state that matters: it checks what passes through it."""
    return isinstance(layer, gym.wrappers.PassiveEnvChecker)


def _layer_state(layer: Layer) -> dict[str, Any]:
    if not speaks(layer):
        return {"name": name_of(layer), "attributes": {} if looks_on(layer) else _attributes(layer, (id(layer),))}
    own = encode(layer.state_dict())
    if own is MISSING:
        raise InputError(
            f"state_dict() of {name_of(layer)} gives a value that cannot be saved; it may hold None, numbers, strings, "
            f"NumPy arrays of numbers, and tuples, lists and dictionaries (by strings) of them"
        )
    generator = _saved(vars(layer).get("_np_random"), ())
    return {"name": name_of(layer), "own": own, "generator": generator}


def _attributes(holder: Any, within: tuple[int, ...]) -> dict[str, Any]:
    """Attributes that can be saved. within: ids of the objects that hold this one."""
    found = {name: _saved(value, within) for name, value in vars(holder).items() if name not in NOT_STATE}
    return {name: value for name, value in found.items() if value is not MISSING}


def _saved(value: Any, within: tuple[int, ...]) -> Any:
    if is_generator(value):
        return {"generator": generator_state(value)}
    encoded = encode(value)
    if encoded is MISSING and isinstance(value, list | tuple | dict):
        # the generators among its parts; others may be many, and hold one another
        parts = {str(key): generator_state(part) for key, part in _parts(value) if is_generator(part)}
        return {"generators": parts} if parts else MISSING
    if encoded is not MISSING or id(value) in within or isinstance(value, NO_RECORD) or not hasattr(value, "__dict__"):
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
        if not is_generator(attributes.get(name)):
            attributes[name] = np.random.Generator(np.random.PCG64(0))
        restore_generator(attributes[name], saved[kind])
    elif kind == "generators":
        present = {str(key): part for key, part in _parts(attributes.get(name)) if is_generator(part)}
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
