"""Can an environment be saved and resumed exactly? Tried on a twin before any work.

Two checks, since neither sees all: a restored copy must go on alike, and what is not saved must not change. The second
finds a counter in an object of another kind whose effect comes later than the first one looks.
"""

from __future__ import annotations

import io
import pickle
import traceback
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from warnings import catch_warnings, simplefilter

import gymnasium as gym
import numpy as np

from pyresac.errors import DivergenceError, InputError
from pyresac.tasks.encoding import MISSING, encode
from pyresac.tasks.snapshots import (
    NO_RECORD,
    NOT_STATE,
    environment_state,
    is_generator,
    layers_of,
    looks_on,
    name_of,
    restore_environment,
    speaks,
)

WARM_UP = 7
"""Steps before the state is saved, so that it is none that a reset gives."""


SPEAKING = "state_dict() and load_state_dict() that cover all of its state"


def require_restorable(env: gym.Env[Any, Any], twin: gym.Env[Any, Any], where: str, steps: int = 200) -> None:
    """Check on a twin that the saved state is all of the state: both must go on alike for `steps` random actions and
    over a reset, and what is not saved must not change.

    The actions are those of a Discrete space or of a bounded Box. Raises InputError naming the environment, or its
    innermost wrapper that is to blame. Both environments are left reset and mid-episode.
    """
    with tried(where):
        _begin(env)
        unsaved = _unsaved(env)
        if _departure(env, twin, steps) is None:
            _require_unchanged(unsaved, _unsaved(env), where)
            return
        for inner, other in zip(reversed(layers_of(env)), reversed(layers_of(twin)), strict=True):
            departed = _departure(inner, other, steps)
            if departed is not None:
                break
    what = f"{where} cannot be saved and resumed: a restored copy"
    if isinstance(inner, gym.Wrapper):
        what += f" departs with its wrapper {name_of(inner)}, and without it does not; give that wrapper"
    else:
        what += f" departs after {departed} steps; give it"
    raise InputError(f"{what} {SPEAKING}")


def _require_unchanged(before: Mapping[str, bytes], after: Mapping[str, bytes], where: str) -> None:
    changed = [place for place, content in before.items() if after.get(place) != content]
    if changed:
        layer = changed[0].partition(".")[0]
        raise InputError(
            f"{where} cannot be saved and resumed: {', '.join(changed)} changes, and is of a kind that is not saved; "
            f"give {layer} {SPEAKING}"
        )


class _Fingerprint(pickle.Pickler):
    """Bytes that differ where a value does. What has its own way of being saved, and classes, count as equal."""

    def persistent_id(self, value: Any) -> str | None:
        return "apart" if _apart(value) else None


def _apart(value: Any) -> bool:
    """Whether it is saved in its own way, or is no part of a state."""
    of_mujoco = type(value).__module__.partition(".")[0] == "mujoco"
    return of_mujoco or is_generator(value) or isinstance(value, NO_RECORD)


def _unsaved(env: gym.Env[Any, Any]) -> dict[str, bytes]:
    """What no layer saves, as bytes by its place, such as `Counting.calls`. What cannot be pickled is left out."""
    found: dict[str, bytes] = {}
    for layer in layers_of(env):
        if not speaks(layer) and not looks_on(layer):
            _note_unsaved(layer, name_of(layer), (id(layer),), found)
    return found


def _note_unsaved(holder: Any, place: str, within: tuple[int, ...], found: dict[str, bytes]) -> None:
    """within: ids of the objects that hold this one."""
    attributes = {name: value for name, value in getattr(holder, "__dict__", {}).items() if encode(value) is MISSING}
    slots = [name for cls in type(holder).__mro__ for name in _slots_of(cls) if hasattr(holder, name)]
    attributes |= {name: getattr(holder, name) for name in slots}  # of these nothing is saved
    for name, value in attributes.items():
        if name in NOT_STATE or _apart(value) or id(value) in within:
            continue
        if isinstance(value, _CONTENT) or not (hasattr(value, "__dict__") or _slots_of(type(value))):
            file = io.BytesIO()
            with suppress(Exception), catch_warnings():  # of another's code: any kind
                simplefilter("ignore")
                _Fingerprint(file).dump(value)
                found[f"{place}.{name}"] = file.getvalue()
        else:
            _note_unsaved(value, f"{place}.{name}", (*within, id(value)), found)


_CONTENT = (list, tuple, dict, set, deque)
"""Whose parts are their state, also where a subclass has attributes besides."""


def _slots_of(cls: type[Any]) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


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
    generator = _begin(env)
    twin.reset(seed=1)
    restore_environment(twin, environment_state(env))
    for step in range(steps):
        action = _action(env.action_space, generator)
        if not _same(_advance(env, action), _advance(twin, action)):
            return step + 1
        if step == steps // 2 and not _same(env.reset()[0], twin.reset()[0]):  # what an episode's end changes
            return step + 1
    return None


def _begin(env: gym.Env[Any, Any]) -> np.random.Generator:
    """Into the middle of an episode; the generator that drew the actions."""
    generator = np.random.Generator(np.random.PCG64(0))
    env.reset(seed=0)
    for _ in range(WARM_UP):
        _advance(env, _action(env.action_space, generator))
    return generator


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
