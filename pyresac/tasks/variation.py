"""What makes a Gymnasium task change or noisy, as options: schedules of its physics, and noise.

Training and evaluation have wrappers of the same kinds, each with its own settings, so that one can be saved where the
other is restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import gymnasium as gym
from msgspec import Meta

from pyresac.errors import InputError
from pyresac.options import Checked
from pyresac.tasks.noisy import PLACES, NoiseOf, Noisy, parse_noise
from pyresac.tasks.physics import ARRAYS, ChangingPhysics
from pyresac.tasks.schedules import Schedule, parse_schedule

TRAINING, HELD_OUT = 0, 1
NOMINAL = Schedule("constant", (1.0,))


@dataclass(frozen=True)
class Variation(Checked):
    """How a Gymnasium task changes while an agent learns. Physics are factors of a MuJoCo model's own values.

    A schedule is a NUMBER, 'list A B …', 'uniform LOW HIGH' or 'log-uniform LOW HIGH', then 'per-episode' or
    'every STEPS', then 'tasks N'. Noise is 'gaussian DEVIATION', 'uniform HALF_WIDTH' or 'shift NUMBER'.
    """

    gravity: str | None = None
    """Schedule of gravity's factor, such as 'log-uniform 0.33 3 per-episode'."""
    mass: str | None = None
    """Schedule of the factor of all masses."""
    inertia: str | None = None
    """Schedule of the factor of all moments of inertia."""
    damping: str | None = None
    """Schedule of the factor of the joints' damping."""
    friction: str | None = None
    """Schedule of the factor of the surfaces' friction."""
    gear: str | None = None
    """Schedule of the factor of the motors' gear."""
    test_tasks: Literal["held-out", "training", "nominal"] = "held-out"
    """Physics of evaluation: draws of the same schedules that training does not see, the training ones, or factor 1."""
    task_seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] = 0
    """Seed of the tasks of 'tasks N', the same for all runs: (task_seed, 0) in training, (task_seed, 1) held out."""
    observation_noise: str | None = None
    """Noise added to every number that is seen, such as 'gaussian 0.1'."""
    reward_noise: str | None = None
    """Noise added to rewards."""
    action_noise: str | None = None
    """Noise added to actions, which are then clipped to their box."""
    noise_in: Literal["training", "evaluation", "both"] = "both"
    """Where there is noise."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, what was given and what is allowed."""
        super().__post_init__()
        schedules = self.schedules()
        if not self.noise() and self.noise_in != "both":
            raise InputError(f"noise_in = {self.noise_in!r}, but there is no noise; give observation_noise, say")
        if not schedules and self.test_tasks != "held-out":
            raise InputError(
                f"test_tasks = {self.test_tasks!r}, but no physics changes; give a schedule, of gravity say"
            )
        if self.task_seed and not any(schedule.tasks for schedule in schedules.values()):
            raise InputError(f"task_seed = {self.task_seed}, but no schedule has 'tasks N', which it is the seed of")

    def schedules(self) -> dict[str, Schedule]:
        """The schedules of the parameters that change, by their names."""
        given = {name: getattr(self, name) for name in ARRAYS}
        return {name: parse_schedule(text, name) for name, text in given.items() if text is not None}

    def noise(self) -> dict[str, NoiseOf]:
        """By place."""
        given = {place: getattr(self, f"{place}_noise") for place in PLACES}
        return {place: parse_noise(text, f"{place}_noise") for place, text in given.items() if text is not None}

    @property
    def words(self) -> str:
        """What changes, for a title; "" for nothing."""
        given: Mapping[str, Any] = {
            **{name: getattr(self, name) for name in ARRAYS},
            **{f"{place} noise": getattr(self, f"{place}_noise") for place in PLACES},
        }
        return ", ".join(f"{name} {text}" for name, text in given.items() if text is not None)

    def applied(self, env: gym.Env[Any, Any], evaluation: bool) -> gym.Env[Any, Any]:
        """The environment in the wrappers that it needs. Raises InputError for physics that it does not have."""
        schedules, noise = self.schedules(), self.noise()
        if schedules:
            tasks = HELD_OUT if evaluation and self.test_tasks == "held-out" else TRAINING
            if evaluation and self.test_tasks == "nominal":
                schedules = dict.fromkeys(schedules, NOMINAL)
            env = ChangingPhysics(env, schedules, (self.task_seed, tasks))
        if noise:
            here = self.noise_in in ("both", "evaluation" if evaluation else "training")
            env = Noisy(env, noise if here else {}, 0)
        return env


UNCHANGED = Variation()
"""A task as it is."""
