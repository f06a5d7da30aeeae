"""Changing physics: a wrapper that scales gravity, mass, inertia, damping, friction and gear of a MuJoCo task."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from pyresac.errors import InputError
from pyresac.tasks.schedules import Schedule, ScheduledFactor

ARRAYS: Mapping[str, str] = {
    "gravity": "opt.gravity",
    "mass": "body_mass",
    "inertia": "body_inertia",
    "damping": "dof_damping",
    "friction": "geom_friction",
    "gear": "actuator_gear",
}
"""Parameters that can change, and the array of MuJoCo's model that each scales."""
NEEDS_CONSTANTS = ("mass", "inertia")
"""Those from which MuJoCo derives other constants of the model."""


class ChangingPhysics(gym.Wrapper[Any, Any, Any, Any]):
    """Scales parameters of a Gymnasium MuJoCo environment by schedules; equal seeds give equal factors.

    A change comes between two steps or before an episode. With all factors 1 the model is exactly the nominal one.
    """

    def __init__(self, env: gym.Env[Any, Any], schedules: Mapping[str, Schedule], seed: int) -> None:
        """seed: of the factors alone. Raises InputError for an environment without MuJoCo, an unknown parameter, or one
        that has no effect in this model."""
        super().__init__(env)
        inner: Any = env.unwrapped
        if not hasattr(inner, "model") or not hasattr(inner.model, "body_mass"):
            raise InputError(f"{_name(env)} is no MuJoCo environment; its physics cannot be changed")
        self._nominal: dict[str, NDArray[Any]] = {}
        for name in schedules:
            if name not in ARRAYS:
                raise InputError(f"physics has no {name!r}; it has {', '.join(ARRAYS)}")
            self._nominal[name] = self._array(name).copy()
            if not self._nominal[name].any():
                raise InputError(f"{name} of {_name(env)} is 0 everywhere in its model: scaling it changes nothing")
        sources = np.random.SeedSequence(seed).spawn(len(ARRAYS))
        self._factors = {
            name: ScheduledFactor(schedules[name], source)
            for name, source in zip(ARRAYS, sources, strict=True)
            if name in schedules
        }
        self._apply()

    @property
    def factors(self) -> dict[str, float]:
        """The present factor of each parameter."""
        return {name: factor.value for name, factor in self._factors.items()}

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, with new factors where the schedule says so."""
        changed = [factor.episode_begins() for factor in self._factors.values()]
        if any(changed):
            self._apply()
        observation, info = self.env.reset(**keywords)
        return observation, {**info, "physics": self.factors}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step; factors that change every so many steps change after it."""
        result = self.env.step(action)
        changed = [factor.step() for factor in self._factors.values()]
        if any(changed):
            self._apply()
        return result

    def _array(self, name: str) -> NDArray[Any]:
        found: Any = self.env.unwrapped.model  # type: ignore[attr-defined]
        for part in ARRAYS[name].split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]

    def _apply(self) -> None:
        for name, factor in self._factors.items():
            self._array(name)[...] = self._nominal[name] * factor.value
        if any(name in self._factors for name in NEEDS_CONSTANTS):
            model: Any = self.env.unwrapped.model  # type: ignore[attr-defined]
            mujoco: Any = sys.modules["mujoco"]
            # it overwrites the data that it is given
            mujoco.mj_setConst(model, mujoco.MjData(model))

    def state_dict(self) -> dict[str, Any]:
        """The schedules' states, as JSON."""
        return {name: factor.state() for name, factor in self._factors.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        for name, factor in self._factors.items():
            factor.load(state[name])
        self._apply()


def _name(env: gym.Env[Any, Any]) -> str:
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__
