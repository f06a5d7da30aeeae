"""Algorithms by their options, as tests build them."""

from __future__ import annotations

from typing import Any

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.deep.algorithms.algorithm import Algorithm
from pyresac.deep.algorithms.deep_options import DeepOptions


def algorithm_of(options: DeepOptions) -> Algorithm[Any]:
    """The registry's algorithm whose options are of this type; no two have one type."""
    (found,) = [kind for kind in map(algorithm_type, ALGORITHMS) if kind.options_type is type(options)]
    return found(options)
