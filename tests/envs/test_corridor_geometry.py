"""Metres between the stops of a feed: on the sphere by the angle between vectors, along a shape worked by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.geometry import along_shape, great_circles

RADIUS = 6_371_008.8
DEGREE = math.radians(1.0) * RADIUS
"""m a degree of a great circle."""


def apart(first: Array, second: Array) -> float:
    """The angle between two vectors of the sphere, times its radius."""
    one, other = (
        np.array([math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)])
        for lat, lon in (np.radians(first), np.radians(second))
    )
    return RADIUS * math.atan2(float(np.linalg.norm(np.cross(one, other))), float(one @ other))


def test_great_circles_in_every_direction() -> None:
    """Towns, poles, the equator and the date line: every pair that follows another."""
    points = np.array(
        [[50.0, 8.0], [50.0, 8.1], [50.1, 8.1], [49.9, 7.8], [0.0, 0.0], [0.0, 90.0], [90.0, 5.0], [-33.0, 179.9],
         [-33.1, -179.9], [-90.0, 0.0], [60.0, -120.0]]
    )  # fmt: skip
    expected = [apart(first, second) for first, second in pairwise(points)]
    assert great_circles(points) == pytest.approx(expected, rel=1e-9, abs=0)


def test_the_other_side_of_the_earth_is_half_a_circle_away() -> None:
    """Also where rounding makes the chord longer than the diameter."""
    latitude = np.round(np.arange(-89.0, 89.0, 0.01), 2)
    pairs = np.stack([latitude, np.full_like(latitude, 10.0), -latitude, np.full_like(latitude, -170.0)], axis=1)
    assert great_circles(pairs.reshape(-1, 2))[::2] == pytest.approx(
        np.full(latitude.size, math.pi * RADIUS), rel=1e-7, abs=0
    )


THERE_AND_BACK = np.array([[0.0, 0.0], [0.0, 0.04], [0.01, 0.04], [0.01, 0.04], [0.01, 0.0]])
"""Along the equator, a corner with a point twice, and back 0.01° further north."""


def test_places_are_searched_along_the_line_and_never_back() -> None:
    """Of each point the nearest place that is not before the last one; in degrees along the line."""
    points = np.array([[0.001, 0.01], [0.0, 0.03], [0.009, 0.03], [0.004, 0.01], [0.01, -0.01]])
    # 0.06: on the way back above 0.03; 0.08: the way out is nearer to the fourth point, but lies behind; 0.09: the end
    expected = np.diff([0.01, 0.03, 0.06, 0.08, 0.09]) * DEGREE
    assert along_shape(points, THERE_AND_BACK) == pytest.approx(expected, rel=1e-6, abs=0)


def test_where_two_places_fall_together_the_straight_distance_stands_in() -> None:
    """A point whose nearest places lie behind, and points beyond the end of the line."""
    points = np.array([[0.009, 0.03], [0.0, 0.045], [0.01, 0.02], [0.0, 0.0], [0.01, -0.01], [0.02, -0.01], [0.0, 0.1]])
    straight = great_circles(points)
    expected = [straight[0], 0.01 * DEGREE, 0.02 * DEGREE, *straight[3:]]
    assert along_shape(points, THERE_AND_BACK) == pytest.approx(expected, rel=1e-6, abs=0)
    one_way = np.array([[0.0, 0.0], [0.0, 0.03], [0.0, 0.04]])
    beyond = np.array([[0.0, 0.01], [0.0, 0.05], [0.0, 0.06], [0.001, 0.06]])
    expected = [0.03 * DEGREE, *great_circles(beyond)[1:]]
    assert along_shape(beyond, one_way) == pytest.approx(expected, rel=1e-6, abs=0)


def test_points_of_a_shape_that_lie_closer_than_a_metre() -> None:
    """Half a metre each: a place inside one of them, one that lies behind it, which stays there, and one further on."""
    shape = np.stack([np.zeros(41), 0.5 * np.arange(41) / DEGREE], axis=1)
    points = np.stack([np.zeros(4), np.array([0.0, 7.2, 7.05, 12.1]) / DEGREE], axis=1)
    assert along_shape(points, shape) == pytest.approx([7.2, 0.15, 4.9], rel=1e-6, abs=0)


@pytest.mark.parametrize(("along", "shown"), [(0.5, 100.0), (0.9, 100.0), (1.1, 1.1), (1.9, 1.9)])
def test_a_metre_along_the_shape_is_a_length(along: float, shown: float) -> None:
    """Of two stops on both sides of a street, 100 m apart."""
    points = np.array([[50.0, 10.0], [-50.0, 10.0 + along]]) / DEGREE
    shape = np.array([[0.0, 0.0], [0.0, 50.0]]) / DEGREE
    assert along_shape(points, shape) == pytest.approx([shown], rel=1e-3, abs=0)


def test_the_plane_is_true_to_scale_at_the_first_point() -> None:
    """At 60° north a degree of longitude is half as long; the other stops lie elsewhere."""
    shape = np.array([[60.0, 8.0], [60.0, 8.1], [60.05, 8.1]])
    points = np.array([[60.0, 8.02], [60.0, 8.06], [60.03, 8.1]])
    expected = np.array([0.04 / 2, 0.04 / 2 + 0.03]) * DEGREE
    assert along_shape(points, shape) == pytest.approx(expected, rel=1e-9, abs=0)
    assert along_shape(points[::-1], shape[::-1]) == pytest.approx(
        np.array([0.03 + 0.04 * math.cos(math.radians(60.03)), 0.04 * math.cos(math.radians(60.03))]) * DEGREE,
        rel=1e-9,
        abs=0,
    )
