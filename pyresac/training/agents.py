"""The agents of the training command, each a module, and a first look at a command line before it is parsed.

A module has `base_config`, `reads`, `require_read`, `require_use`, `unlearned`, `description`, `build`, and `threads`,
a context for training.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from pyresac.errors import InputError

AGENTS = {"deep": "pyresac.training.deep_agent", "tabular": "pyresac.training.tabular_agent"}
"""Names on the command line to modules."""


FORMER = "resac"
"""What the deep agent was called when it had one algorithm."""


@dataclass(frozen=True)
class FirstLook:
    """The options that decide which other options there are and what their defaults are; None for one not given."""

    agent: str | None = None
    run_dir: str | None = None
    config: str | None = None
    algorithm: str | None = None
    preset: str | None = None
    env: str | None = None
    resume: bool = False


def require_known(name: object, where: str) -> None:
    """Raise InputError for an agent in a file that this version does not know."""
    if name == FORMER:
        raise InputError(
            f"{where} is of an earlier version, which called the deep agent {FORMER!r}; this one does not read its "
            f"runs: use the commit that versions.json beside it names, or start anew"
        )
    if not isinstance(name, str) or name not in AGENTS:
        raise InputError(f"{where}: agent {name!r} is unknown; known are {', '.join(AGENTS)}")


def agent_module(name: object) -> Any:
    """Import the module of an agent, and only that one. Raises InputError for an unknown name."""
    if not isinstance(name, str) or name not in AGENTS:
        raise InputError(f"agent {name!r} is unknown; known are {', '.join(AGENTS)}")
    return importlib.import_module(AGENTS[name])
