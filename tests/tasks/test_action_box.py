"""A bounded action space: units in [−1, 1] and back, and what is refused."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pyresac.errors import InputError
from pyresac.tasks.action_box import ActionBox

EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=400)


def box_of(low: list[float], high: list[float]) -> ActionBox:
    return ActionBox.of(gym.spaces.Box(np.array(low, dtype=np.float32), np.array(high, dtype=np.float32)), "here")


def test_the_volume_is_that_of_half_the_ranges() -> None:
    assert box_of([0.0], [60.0]).log_volume == pytest.approx(math.log(30.0), rel=1e-7, abs=0)
    assert box_of([-4.0, 0.0], [-1.0, 60.0]).log_volume == pytest.approx(math.log(1.5 * 30.0), rel=1e-7, abs=0)


SUBNORMAL = 2.0**-149
"""The least positive number in float32, and the distance of those below 2⁻¹²⁶."""


@st.composite
def bounds(draw: st.DrawFn) -> tuple[float, float]:
    low = draw(st.floats(-1e6, 1e6, width=32))
    high = draw(st.floats(-1e6, 1e6, width=32).filter(lambda x: x != low))
    assume(abs(high - low) > SUBNORMAL)  # half of it is 0, which is refused
    return min(low, high), max(low, high)


@EXAMPLES
@given(bounds(), st.floats(-1.0, 1.0, width=32))
@example((0.0, 3 * SUBNORMAL), 1.0)
@example((-SUBNORMAL, SUBNORMAL), 0.3)
def test_actions_stay_inside_and_come_back(pair: tuple[float, float], inside: float) -> None:
    low, high = pair
    space = gym.spaces.Box(np.float32(low), np.float32(high), (1,))
    box = ActionBox.of(space, "here")
    for unit in (-1.0, 1.0, inside):
        action = box.to_action(np.array([unit], dtype=np.float32))
        assert action.dtype == np.float32
        assert space.contains(action), (unit, action)
    middle = box.to_action(np.zeros(1, dtype=np.float32))
    width = high - low
    # centre, half-width, their product and sum are rounded once each, below 2⁻¹²⁶ to multiples of SUBNORMAL
    rounding = 2.0**-22 * max(abs(low), abs(high)) + 4 * SUBNORMAL / 2
    assert abs(float(middle[0]) - (low + high) / 2) <= rounding
    if rounding < 1e-3 * width:
        back = box.to_unit(box.to_action(np.array([inside], dtype=np.float32)))
        assert abs(float(back[0]) - inside) <= 4 * rounding / width + 2.0**-22
        ends = box.to_action(np.array([[-1.0], [1.0]], dtype=np.float32))
        assert np.abs(ends[:, 0] - [low, high]).max() <= rounding


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (gym.spaces.Box(np.float32(0.0), np.float32(SUBNORMAL), (1,)), "half its width is 0 in float32"),
        (gym.spaces.Discrete(3), r"here has the action space Discrete\(3\); the deep agent needs a Box"),
        (gym.spaces.Box(-np.inf, 1.0, (2,)), r"action coordinate 0 lies in \[-inf, 1.0\]; it needs finite bounds"),
        (gym.spaces.Box(0.0, np.inf, (1,)), r"action coordinate 0 lies in \[0.0, inf\]; it needs finite bounds"),
        (
            gym.spaces.Box(np.float32([0, 2]), np.float32([1, 2])),
            r"action coordinate 1 lies in \[2.0, 2.0\]; it needs finite bounds, low < high$",
        ),
    ],
)
def test_spaces_without_bounds_are_refused(space: gym.Space[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ActionBox.of(space, "here")


def test_a_box_of_float64_contains_its_float32_actions() -> None:
    space = gym.spaces.Box(np.array([0.1, -0.3]), np.array([0.7, 0.1]), dtype=np.float64)
    for unit in (-1.0, 1.0):
        action = ActionBox.of(space, "here").to_action(np.full(2, unit, dtype=np.float32))
        assert space.contains(action.astype(np.float64))


LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 60.0), (-2.0, 0.5), (-LARGEST, LARGEST), (0.0, LARGEST), (-LARGEST, -1.0)]
)
def test_bounds_that_float32_holds_are_reached(low: float, high: float) -> None:
    """Not one step of float32 before them; the largest numbers of float32 are bounds like others."""
    box = ActionBox.of(gym.spaces.Box(np.array([low]), np.array([high]), dtype=np.float64), "here")
    assert (box.low.tolist(), box.high.tolist()) == ([low], [high])
    ends = box.to_action(np.array([[-1.0], [1.0]], dtype=np.float32))
    assert ends.ravel().tolist() == [low, high]
