"""The physics of a Gymnasium MuJoCo environment as JSON.

MuJoCo's integration state (mjSTATE_INTEGRATION) decides what the next step computes, but not all that an environment
reads: mj_step leaves positions of bodies, inertias, velocities and contact forces as of its last substep, and Ant-v5
and Humanoid-v5 take rewards and observations from those. So each array of mjData with a size given by the model is
saved too, and how many of its bodies are awake. The others (contacts and constraints, in mjData's arena) are computed
anew in each step before any use. mj_forward would not do instead: it computes them for the last positions.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from pyresac.errors import CheckpointError
from pyresac.tasks.encoding import decode, encode


def present(inner: Any) -> bool:
    """Whether this innermost environment keeps MuJoCo's model and data."""
    mujoco: Any = sys.modules.get("mujoco")
    return mujoco is not None and isinstance(getattr(inner, "data", None), mujoco.MjData) and hasattr(inner, "model")


def save(inner: Any) -> dict[str, Any]:
    """The integration state, the arrays and the counters of `inner.data`."""
    mujoco: Any = sys.modules["mujoco"]
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    integration = np.empty(mujoco.mj_stateSize(inner.model, kind))
    mujoco.mj_getState(inner.model, inner.data, integration, kind)
    arrays = {name: encode(getattr(inner.data, name)) for name in _sized_by_model(inner.model)}
    counters = {name: int(getattr(inner.data, name)) for name in _counters(inner.data)}
    return {"integration": encode(integration), "arrays": arrays, "counters": counters}


def restore(inner: Any, state: Mapping[str, Any]) -> None:
    """Put back a state of `save`. Raises CheckpointError if it is one of another model."""
    mujoco: Any = sys.modules["mujoco"]
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    integration, size = decode(state["integration"]), mujoco.mj_stateSize(inner.model, kind)
    if integration.shape != (size,):
        raise CheckpointError(f"the saved MuJoCo state has {integration.size} numbers; this model's has {size}")
    names = _sized_by_model(inner.model)
    if set(state["arrays"]) != set(names):
        differing = ", ".join(sorted(set(state["arrays"]) ^ set(names)))
        raise CheckpointError(f"the saved MuJoCo state is of another model or version: {differing} on one side only")
    mujoco.mj_setState(inner.model, inner.data, integration, kind)
    for name in names:
        saved, own = decode(state["arrays"][name]), getattr(inner.data, name)
        if saved.shape != own.shape or saved.dtype != own.dtype:
            raise CheckpointError(
                f"MuJoCo's {name} was saved as {saved.dtype}{saved.shape}; this model's is {own.dtype}{own.shape}"
            )
        own[...] = saved
    for name in _counters(inner.data):
        setattr(inner.data, name, state["counters"][name])


def _counters(data: Any) -> list[str]:
    """Names of mjData's counts of what is awake."""
    return [name for name in dir(data) if name.startswith("n") and name.endswith("_awake")]


def _sized_by_model(model: Any) -> list[str]:
    """Names of mjData's arrays that are there before anything is simulated: not those in the arena."""
    mujoco: Any = sys.modules["mujoco"]
    fresh = mujoco.MjData(model)
    values = {name: getattr(fresh, name) for name in dir(fresh) if not name.startswith("_")}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray) and value.size}
    # where an array of the arena does not exist yet, MuJoCo gives a stand-in, a new one each time
    return [name for name, value in arrays.items() if np.shares_memory(value, getattr(fresh, name))]
