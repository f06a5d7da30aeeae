"""Gymnasium environments by id, with one message for whatever keeps one from being made."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from pyresac.errors import InputError
from pyresac.reading import parse_json


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
        return gym.make(env_id, **keywords)
    except KeyError as error:
        raise InputError(f"cannot make environment {env_id!r}: it knows no {error}") from error
    except (gym.error.Error, ImportError, TypeError, ValueError, OSError, AssertionError) as error:
        lacking = "mujoco" in str(error).lower() and importlib.util.find_spec("mujoco") is None
        advice = "; install it: pip install 'pyresac[mujoco]'" if lacking else ""
        raise InputError(f"cannot make environment {env_id!r}: {error}{advice}") from error
    except Exception as error:
        raise InputError(f"cannot make environment {env_id!r}: {type(error).__name__}: {error}") from error
