"""The algorithms: one file each, with its options and formulas; `ALGORITHMS` names them all."""

from __future__ import annotations

import importlib
from typing import Any

from pyresac.deep.algorithms.algorithm import Algorithm
from pyresac.errors import InputError

ALGORITHMS = {
    "resac": "resac.RESAC",
    "sac": "sac.SAC",
    "td3": "td3.TD3",
    "redq": "redq.REDQ",
    "sac-n": "sac_n.SACN",
    "bac": "bac.BAC",
    "tqc": "tqc.TQC",
    "dsac": "dsac.DSAC",
}
"""Names on the command line; the file and class of each."""


def algorithm_type(name: str) -> type[Algorithm[Any]]:
    """The class of an algorithm, whose `options_type` are the options that it reads. InputError for an unknown name."""
    if name not in ALGORITHMS:
        raise InputError(f"algorithm {name!r} is unknown; known are {', '.join(ALGORITHMS)}")
    file, _, cls = ALGORITHMS[name].partition(".")
    found: type[Algorithm[Any]] = getattr(importlib.import_module(f"{__name__}.{file}"), cls)
    return found
