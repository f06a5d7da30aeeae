"""Distances between points given as (latitude, longitude) in degrees."""

from __future__ import annotations

import numpy as np

from pyresac.envs.bus.corridor import Array

EARTH_RADIUS = 6_371_008.8
"""m, the mean radius."""


def great_circles(points: Array) -> Array:
    """(n − 1,) metres between consecutive points (n, 2), by the haversine formula."""
    latitude, longitude = np.radians(points).T
    half_lat, half_lon = np.diff(latitude) / 2.0, np.diff(longitude) / 2.0
    chord = np.sin(half_lat) ** 2 + np.cos(latitude[:-1]) * np.cos(latitude[1:]) * np.sin(half_lon) ** 2
    return np.asarray(2.0 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(chord, 1.0))))


def along_shape(points: Array, shape: Array) -> Array:
    """(n − 1,) metres along the polyline `shape` (k, 2) between the places nearest to consecutive points (n, 2).

    Places are searched in order, each at or after the one before, in a plane that is true to scale at the first
    point. Where two of them fall together, the straight distance stands in.
    """
    scale = np.radians(1.0) * EARTH_RADIUS * np.array([1.0, np.cos(np.radians(points[0, 0]))])
    flat, line = points * scale, shape * scale
    segment = np.diff(line, axis=0)
    size = np.hypot(*segment.T)
    start = np.concatenate([[0.0], np.cumsum(size)])
    places, earliest = [], 0.0
    for point in flat:
        share = np.einsum("ij,ij->i", point - line[:-1], segment) / np.maximum(size**2, 1e-12)
        lowest = np.clip((earliest - start[:-1]) / np.maximum(size, 1e-12), 0.0, 1.0)
        share = np.clip(share, lowest, 1.0)
        away = np.hypot(*(line[:-1] + share[:, None] * segment - point).T)
        away[start[1:] < earliest] = np.inf
        best = int(away.argmin())
        earliest = float(start[best] + share[best] * size[best])
        places.append(earliest)
    length = np.diff(places)
    return np.where(length > 1.0, length, great_circles(points))
