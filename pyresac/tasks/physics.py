"""Changing physics: a wrapper that scales gravity, mass, inertia, damping, friction and gear of a task.

A task of MuJoCo is scaled through the arrays of its model. Any other innermost environment says itself what it can
(`Scalable`), as those of Brax do.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

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
"""Parameters that can change, and the array of MuJoCo's model that each scales there."""
NEEDS_CONSTANTS = ("mass", "inertia")
"""Those from which MuJoCo derives other constants of the model."""
_PHYSICS = 1
"""Tells these streams from those of other users of a seed."""


@runtime_checkable
class Scalable(Protocol):
    """An environment, or what stands for it, whose physics can be scaled."""

    def ignored_physics(self) -> Mapping[str, str]:
        """Parameters of `ARRAYS` that have no effect here, each with the reason."""

    def scale_physics(self, factors: Mapping[str, float]) -> None:
        """Set these factors of the nominal physics; what is not named stays. All factors 1 is exactly the nominal."""


class MujocoModel:
    """The physics of a Gymnasium MuJoCo environment, `Scalable`."""

    def __init__(self, model: Any) -> None:
        """model: MuJoCo's, with its nominal values."""
        self._model = model
        self._nominal = {name: self._array(name).copy() for name in ARRAYS}

    def ignored_physics(self) -> dict[str, str]:
        """See `Scalable`."""
        reason = "it is 0 everywhere in the model: scaling it changes nothing"
        return {name: reason for name, nominal in self._nominal.items() if not nominal.any()}

    def scale_physics(self, factors: Mapping[str, float]) -> None:
        """See `Scalable`."""
        for name, factor in factors.items():
            self._array(name)[...] = self._nominal[name] * factor
        if any(name in factors for name in NEEDS_CONSTANTS):
            mujoco: Any = sys.modules["mujoco"]
            # it overwrites the data that it is given
            mujoco.mj_setConst(self._model, mujoco.MjData(self._model))

    def _array(self, name: str) -> NDArray[Any]:
        found = self._model
        for part in ARRAYS[name].split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]


def scalable(env: gym.Env[Any, Any]) -> Scalable:
    """What scales the physics of an environment. Raises InputError if nothing does."""
    inner: Any = env.unwrapped
    if isinstance(inner, Scalable):
        return inner
    if not hasattr(inner, "model") or not hasattr(inner.model, "body_mass"):
        raise InputError(f"{_name(env)} is a task of neither MuJoCo nor Brax; its physics cannot be changed")
    return MujocoModel(inner.model)


class ChangingPhysics(gym.Wrapper[Any, Any, Any, Any]):
    """Scales parameters of a task's physics by schedules; equal seeds give equal factors.

    A change comes between two steps or before an episode. With all factors 1 the physics are exactly the nominal ones.
    `reset(seed=…)` begins the draws anew from that seed; tasks that a schedule draws once stay.
    """

    def __init__(self, env: gym.Env[Any, Any], schedules: Mapping[str, Schedule], seed: int | Sequence[int]) -> None:
        """seed: of the tasks, and of the factors until the first reset with a seed.

        Raises InputError for an environment that is not `scalable`, an unknown parameter, or one without effect in it.
        """
        super().__init__(env)
        self._scalable = scalable(env)
        ignored = self._scalable.ignored_physics()
        for name in schedules:
            if name not in ARRAYS:
                raise InputError(f"physics has no {name!r}; it has {', '.join(ARRAYS)}")
            if name in ignored:
                raise InputError(f"{name} cannot be changed in {_name(env)}: {ignored[name]}")
        sources = _sources(seed)
        self._factors = {name: ScheduledFactor(schedule, sources[name]) for name, schedule in schedules.items()}
        self._apply()

    @property
    def factors(self) -> dict[str, float]:
        """The present factor of each parameter."""
        return {name: factor.value for name, factor in self._factors.items()}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, with new factors where the schedule or a new seed says so."""
        if seed is not None:
            sources = _sources(seed)
            for name, factor in self._factors.items():
                factor.begin_anew(sources[name])
            self._apply()
        elif any([factor.episode_begins() for factor in self._factors.values()]):  # noqa: C419 (each must be told)
            self._apply()
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "physics": self.factors}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step; factors that change every so many steps change after it."""
        result = self.env.step(action)
        changed = [factor.step() for factor in self._factors.values()]
        if any(changed):
            self._apply()
        return result

    def _apply(self) -> None:
        self._scalable.scale_physics(self.factors)

    def state_dict(self) -> dict[str, Any]:
        """The schedules' states, as JSON."""
        return {name: factor.state() for name, factor in self._factors.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        for name, factor in self._factors.items():
            factor.load(state[name])
        self._apply()


def _sources(seed: int | Sequence[int]) -> dict[str, np.random.SeedSequence]:
    """A source for each parameter, whichever others there are; none is a source of the environment's own."""
    return dict(
        zip(ARRAYS, np.random.SeedSequence([*np.atleast_1d(seed).tolist(), _PHYSICS]).spawn(len(ARRAYS)), strict=True)
    )


def _name(env: gym.Env[Any, Any]) -> str:
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__
