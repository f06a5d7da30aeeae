"""Registers the environments with Gymnasium; found by it through the entry point, so that importing pyresac is not needed."""

from __future__ import annotations

import gymnasium


def register_all() -> None:
    """Register BusCorridor-v0 in the namespace that Gymnasium gives to this plug-in, "pyresac"."""
    gymnasium.register(
        id="BusCorridor-v0",
        entry_point="pyresac.envs.bus.environment:BusCorridor",
        vector_entry_point="pyresac.envs.bus.vector:VectorBusCorridor",
    )
