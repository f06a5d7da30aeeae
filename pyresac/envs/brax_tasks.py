"""Brax's Hopper, Walker2d, HalfCheetah and Ant under its `spring` simulator as Gymnasium environments (extra `brax`).

`gymnasium.make("brax/Hopper-v0")` after `import pyresac.envs`; episodes end after 1,000 steps. These are the tasks of
the paper's section 5 (Freeman et al. 2021, "Brax", arXiv 2106.13281). A step is compiled once for a task in a process,
whatever the physics: their factors are arguments of the compiled step. JAX keeps compiled steps in `pyresac-jax` of the
user's cache folder, unless its own option `jax_compilation_cache_dir` names another. All is computed on the CPU.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from pyresac.caches import user_cache
from pyresac.errors import CheckpointError
from pyresac.mujoco_warnings import once_each

FACTORS = ("gravity", "mass", "inertia", "friction", "gear")
"""Physics that can be scaled, where the task's simulator reads them."""


@dataclass(frozen=True)
class Compiled:
    """A task's functions; equal arguments give equal bits."""

    nominal: Any
    """Brax's environment."""
    reset: Callable[[Any, Mapping[str, np.float32]], Any]
    """State from a key and factors of the physics."""
    step: Callable[[Any, Any, Mapping[str, np.float32]], Any]
    """State from a state, an action (A,) and factors."""

    @cached_property
    def structure(self) -> Any:
        """Which arrays a state holds."""
        import jax

        with jax.default_device(_cpu()):
            return jax.tree.structure(jax.eval_shape(self.reset, jax.random.PRNGKey(0), _ones()))


@cache
def compiled(task: str) -> Compiled:
    """The functions of a task, shared by all its environments. Raises ImportError without the extra `brax`."""
    import jax

    if jax.config.jax_compilation_cache_dir is None:
        jax.config.update("jax_compilation_cache_dir", str(user_cache("pyresac-jax")))
    with jax.default_device(_cpu()):
        nominal = _made(task)
        reset = jax.jit(lambda key, factors: _typed(_scaled(nominal, factors).reset(key)))
        step = jax.jit(lambda state, action, factors: _typed(_scaled(nominal, factors).step(state, action)))
    return Compiled(nominal, reset, step)


def _made(task: str) -> Any:
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), once_each():
        # that its simulators are not developed on, and that MuJoCo's own GPU form is absent: neither is news here
        warnings.simplefilter("ignore")
        from brax import envs

        return envs.get_environment(task, backend="spring")


def _cpu() -> Any:
    import jax

    return jax.devices("cpu")[0]


def _ones() -> dict[str, np.float32]:
    return {name: np.float32(1.0) for name in FACTORS}


def _typed(tree: Any) -> Any:
    """Every leaf as an array of a fixed type: a Python number would be another type, and make JAX compile anew."""
    import jax

    return jax.tree.map(lambda leaf: jax.lax.convert_element_type(leaf, jax.numpy.asarray(leaf).dtype), tree)


def _scaled(nominal: Any, factors: Mapping[str, Any]) -> Any:
    """A shallow copy of Brax's environment whose system is scaled; the nominal one stays as it is."""
    system = nominal.sys
    inertia = system.link.inertia
    inertia = inertia.replace(mass=inertia.mass * factors["mass"], i=inertia.i * factors["inertia"])
    found = object.__new__(type(nominal))
    found.__dict__.update(nominal.__dict__)
    found.sys = system.replace(
        gravity=system.gravity * factors["gravity"],
        link=system.link.replace(inertia=inertia),
        geom_friction=system.geom_friction * factors["friction"],
        actuator=system.actuator.replace(gear=system.actuator.gear * factors["gear"]),
    )
    return found


class BraxTask(gym.Env[NDArray[np.float32], NDArray[np.float32]]):
    """One copy of a Brax task. Observations (D,) and actions (A,) are float32, actions in [−1, 1]."""

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(self, task: str) -> None:
        """task: Brax's name, such as "hopper". Raises ImportError without the extra `brax`."""
        self._task = compiled(task)
        size = self._task.nominal.observation_size
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (self._task.nominal.action_size,), np.float32)
        self._factors = _ones()
        self._state: Any = None

    def ignored_physics(self) -> dict[str, str]:
        """Parameters that the simulator does not read in this task, each with the reason."""
        system = self._task.nominal.sys
        found = {"damping": "Brax's spring simulator does not read the joints' damping"}
        for name, scale in (("mass", system.spring_mass_scale), ("inertia", system.spring_inertia_scale)):
            if float(scale) == 1.0:
                found[name] = f"Brax's spring simulator takes {name}^(1 − x) with x = 1 here, so all are 1"
        return found

    def scale_physics(self, factors: Mapping[str, float]) -> None:
        """Scale the nominal physics from the next step or reset on; what is not named is as it was."""
        self._factors = {**self._factors, **{name: np.float32(value) for name, value in factors.items()}}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode."""
        import jax

        super().reset(seed=seed)
        with jax.default_device(_cpu()):
            key = jax.random.PRNGKey(int(self.np_random.integers(2**31)))
            self._state = self._task.reset(key, self._factors)
        return np.array(self._state.obs), {}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """A step; it terminates where Brax says that the robot has fallen."""
        import jax

        if self._state is None:
            raise gym.error.ResetNeeded("step() before reset()")
        with jax.default_device(_cpu()):
            self._state = self._task.step(self._state, np.asarray(action, np.float32), self._factors)
        return np.array(self._state.obs), float(self._state.reward), bool(self._state.done), False, {}

    def state_dict(self) -> dict[str, Any]:
        """All that the next steps depend on, but the generator of `reset`, which Gymnasium keeps."""
        import jax

        arrays = [] if self._state is None else [np.array(leaf) for leaf in jax.tree.leaves(self._state)]
        return {"arrays": arrays, "factors": {name: float(value) for name, value in self._factors.items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state. Raises CheckpointError for one of another task or version of Brax."""
        import jax

        arrays, structure = state["arrays"], self._task.structure
        if arrays and len(arrays) != structure.num_leaves:
            raise CheckpointError(f"the saved state has {len(arrays)} arrays; Brax's has {structure.num_leaves}")
        with jax.default_device(_cpu()):
            own = [jax.numpy.asarray(array) for array in arrays]
        self._state = jax.tree.unflatten(structure, own) if arrays else None
        self.scale_physics(state["factors"])
