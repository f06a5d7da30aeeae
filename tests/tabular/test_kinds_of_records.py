"""Records of the tabular side do not change once made, and those that hold arrays are compared by identity: two equal
arrays have no one truth value."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from pyresac import tabular

BY_VALUE = {
    "EnsembleDeviation", "EnsembleVariance", "ExactLive", "ExactMDP", "ExactRev", "LearnerOptions", "Max", "Mellowmax",
    "Min", "Nominal", "NormPenalty", "Residual", "ScaledPenalty", "Soft", "TextLine",
}  # fmt: skip
"""Of numbers and words alone, and of tables of rationals."""
RESULTS = {"AffineSystem", "HorizonSolution", "RandomisedSolution", "Solution"}
"""What a solver returns, which nobody compares."""
WRITTEN = {"DrnModel", "Rows", "_Reader"}
"""What readers write into, line by line."""
SHORT = {"FiniteMDP", "Share"}
"""Those with a form of their own in print."""


def records() -> Iterator[type]:
    for module in pkgutil.walk_packages(tabular.__path__, "pyresac.tabular."):
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and kind.__module__ == module.name and "__dataclass_params__" in vars(kind):
                yield kind


def test_records_are_frozen_and_compared_as_they_say() -> None:
    found = set()
    for kind in records():
        name, flags = kind.__name__, kind.__dataclass_params__  # type: ignore[attr-defined]
        found.add(name)
        assert flags.frozen == (name not in WRITTEN), name
        assert flags.repr == (name not in SHORT), name
        if name not in RESULTS:
            assert flags.eq == (name in BY_VALUE | WRITTEN), name
    assert found >= BY_VALUE | RESULTS | WRITTEN | SHORT
