"""Agents: one module an algorithm, each with `Config` (a dataclass of options), `build` and `report`."""

from __future__ import annotations

import importlib
from typing import Any

from pyresac.errors import InputError

AGENTS = {"resac": "pyresac.training.deep_agent", "tabular": "pyresac.training.tabular_agent"}
"""Names on the command line to modules."""


def agent_module(name: object) -> Any:
    """Import the module of an agent, and only that one. Raises InputError for an unknown name."""
    if not isinstance(name, str) or name not in AGENTS:
        raise InputError(f"agent {name!r} is unknown; known are {', '.join(AGENTS)}")
    return importlib.import_module(AGENTS[name])
