"""Gymnasium environments by id, with one message for whatever keeps one from being made."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import gymnasium as gym

from pyresac.errors import InputError
from pyresac.mujoco_warnings import once_each
from pyresac.reading import parse_json

EXTRAS: Mapping[str, tuple[str, ...]] = {"mujoco": ("mujoco",), "brax": ("brax", "jax")}
"""Extras of the package, with words of the error where one is not installed; the first is its module."""


def keywords_in(env_options: str) -> dict[str, Any]:
    """Keyword arguments of an environment out of an option's text. Raises InputError unless it is a JSON object."""
    options = parse_json(env_options, f"env_options = {env_options!r}")
    if not isinstance(options, dict):
        raise InputError(f"env_options = {env_options!r}; it must be a JSON object")
    return options


def make_environment(env_id: str, keywords: Mapping[str, Any]) -> gym.Env[Any, Any]:
    """`gymnasium.make`; an id may be of a module that registers it, `module:Name-v0`, and may stand for wrappers too.

    Raises InputError for an unknown id, bad keywords, a missing extra, or whatever its constructor raises.
    """
    importlib.import_module("pyresac.envs")  # so that the package's own ids are known
    try:
        with once_each() if _of_mujoco(env_id) else nullcontext():
            return gym.make(env_id, **keywords)
    except KeyError as error:
        raise InputError(f"cannot make environment {env_id!r}: it knows no {error}") from error
    except (gym.error.Error, ImportError, TypeError, ValueError, OSError, AssertionError) as error:
        lacking = [
            extra
            for extra, words in EXTRAS.items()
            if any(word in str(error).lower() for word in words) and importlib.util.find_spec(words[0]) is None
        ]
        advice = f"; install it: pip install 'pyresac[{lacking[0]}]'" if lacking else ""
        raise InputError(f"cannot make environment {env_id!r}: {error}{advice}") from error
    except Exception as error:
        raise InputError(f"cannot make environment {env_id!r}: {type(error).__name__}: {error}") from error


def _of_mujoco(env_id: str) -> bool:
    entry = gym.registry[env_id].entry_point if env_id in gym.registry else None
    return str(entry).startswith("gymnasium.envs.mujoco") and importlib.util.find_spec("mujoco") is not None
