"""Actions on top of a rule: what is held, and what a learner is told of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, NoHolding, TargetHeadway
from pyresac.errors import InputError
from pyresac.tasks.corridor_days import CorridorDays

ALWAYS = TargetHeadway(slack=45.0, gain=0.0)
"""45 s everywhere; H_max is 60."""


def first_transitions(days: CorridorDays, unit: float) -> Any:
    days.reset([1])
    while True:
        found = days.step(np.array([[unit]], dtype=np.float32))[3]["transitions"]
        if len(found.action):
            return found


@pytest.mark.parametrize(("unit", "held"), [(-0.5, 30.0), (0.25, 52.5), (1.0, 60.0), (-1.0, 15.0)])
def test_a_unit_is_half_of_the_limit_on_top_of_the_rule(small: Corridor, unit: float, held: float) -> None:
    """Where the limits cut it, a learner is told what it asked for: more of it changes nothing."""
    days = CorridorDays(small, 1, False, "full", ALWAYS, "reward")
    found = first_transitions(days, unit)
    np.testing.assert_allclose(found.action, held)
    np.testing.assert_array_equal(days.units(found), np.full((len(found.action), 1), unit, dtype=np.float32))


def test_where_nothing_can_be_taken_away_nothing_is(small: Corridor) -> None:
    days = CorridorDays(small, 1, False, "full", NoHolding(), "reward")
    found = first_transitions(days, -0.75)
    np.testing.assert_array_equal(found.action, 0.0)
    np.testing.assert_array_equal(days.units(found), np.float32(-0.75))


def test_what_was_asked_is_restored(small: Corridor) -> None:
    first, second = (CorridorDays(small, 2, False, "full", ALWAYS, "reward") for _ in range(2))
    first.reset([1, 2])
    random = np.random.default_rng(0)
    for _ in range(6):
        first.step(random.uniform(-1.0, 1.0, (2, 1)).astype(np.float32))
    second.load(first.arrays())
    for _ in range(12):
        unit = random.uniform(-1.0, 1.0, (2, 1)).astype(np.float32)
        one, two = (days.step(unit)[3]["transitions"] for days in (first, second))
        np.testing.assert_array_equal(first.units(one), second.units(two))
    spoilt = first.arrays() | {"rule.asked": np.zeros((2, 1, 1), dtype=np.float32)}
    with pytest.raises(InputError, match="the asked actions are"):
        second.load(spoilt)
