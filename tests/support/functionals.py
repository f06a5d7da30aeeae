"""A set and a value functional of each kind."""

from __future__ import annotations

import numpy as np

from property_tests.floating import PARAMETERS, SETS
from pyresac.tabular import (
    ExpectationFunctional,
    Max,
    Mellowmax,
    Min,
    Nominal,
    PolicyEntropy,
    PolicyMean,
    Soft,
    ValueFunctional,
    WassersteinBall,
)


def every_set(n: int) -> dict[str, ExpectationFunctional]:
    """A set of each kind over n states."""
    kinds: dict[str, ExpectationFunctional] = {name: make(PARAMETERS[name][0]) for name, make in SETS.items()}
    return {
        **kinds,
        "nominal": Nominal(),
        "wasserstein": WassersteinBall(0.5, 1.0 - np.eye(n)),
    }


def every_value(states: int, actions: int) -> dict[str, ValueFunctional]:
    """A value functional of each kind; the policy takes each action as often."""
    policy = np.full((states, actions), 1.0 / actions)
    return {
        "max": Max(), "min": Min(), "soft": Soft(0.5), "mellowmax": Mellowmax(2.0), "mean": PolicyMean(policy),
        "entropy": PolicyEntropy(policy, 0.5),
    }  # fmt: skip
