"""Errors of critics: against loops over steps, and what the published alignment forgives."""

from __future__ import annotations

import numpy as np
import pytest

from pyresac.experiments.critic_error import LCB, aligned, binned, errors, published_edges, rareness

HEADS = np.array([[1.0, 2.0, 4.0, 7.0], [0.0, 3.0, 3.0, 9.0], [2.0, 2.0, 5.0, 5.0]])
RETURNS = np.array([1.5, 1.0, 6.0, 6.0])


def test_errors_are_those_of_loops() -> None:
    found = errors(HEADS, RETURNS)
    nearest, mean, bound, least, bias, between = [], [], [], [], [], []
    for step, earned in enumerate(RETURNS):
        own = [float(head[step]) for head in HEADS]
        centre = sum(own) / 3.0
        sigma = (sum((value - centre) ** 2 for value in own) / 3.0) ** 0.5
        nearest.append(min(abs(value - earned) for value in own))
        mean.append(abs(centre - earned))
        bound.append(abs(centre + LCB * sigma - earned))
        least.append(abs(min(own) - earned))
        bias.append(centre - earned)
        between.append(sigma)
    assert found[:5] == pytest.approx([sum(part) / 4.0 for part in (nearest, mean, bound, least, bias)])
    assert found.between == pytest.approx(sum(between) / 4.0)
    within = []
    for head in HEADS:
        away = [float(value - earned) for value, earned in zip(head, RETURNS, strict=True)]
        middle = sum(away) / 4.0
        within.append((sum((error - middle) ** 2 for error in away) / 4.0) ** 0.5)
    assert found.within == pytest.approx(sum(within) / 3.0)


def test_within_is_blind_to_a_shift_and_between_to_a_common_error() -> None:
    shifted = errors(HEADS + 100.0, RETURNS)
    assert shifted.within == pytest.approx(errors(HEADS, RETURNS).within)
    assert errors(np.tile(RETURNS, (3, 1)) + RETURNS**2, RETURNS).between == 0.0


def test_alignment_gives_the_mean_head_the_moments_of_the_returns() -> None:
    found = aligned(HEADS, RETURNS).mean(0)
    assert found.mean() == pytest.approx(RETURNS.mean())
    assert found.std() == pytest.approx(RETURNS.std())


def test_alignment_forgives_any_bias_and_scale() -> None:
    wrong = -50.0 + 0.01 * RETURNS[None] + np.zeros((3, 1))
    assert errors(wrong, RETURNS).mean > 50.0
    assert errors(aligned(wrong, RETURNS), RETURNS).mean == pytest.approx(0.0, abs=1e-12)


def test_a_constant_head_gets_the_mean_alone() -> None:
    assert (aligned(np.full((2, 4), 3.0), RETURNS) == RETURNS.mean()).all()


def test_rareness_is_the_mahalanobis_distance() -> None:
    reference = np.random.default_rng(0).normal(size=(500, 2)) @ np.array([[2.0, 0.0], [1.0, 0.5]])
    covariance = np.cov(reference, rowvar=False) + 1e-6 * np.eye(2)
    point = np.array([[3.0, -1.0]])
    away = point[0] - reference.mean(0)
    assert rareness(point, reference)[0] == pytest.approx(float(np.sqrt(away @ np.linalg.inv(covariance) @ away)))
    # in one dimension it is the distance in deviations
    line = reference[:, :1]
    assert rareness(line[:1], line)[0] == pytest.approx(abs(line[0, 0] - line.mean()) / line.std(ddof=1), rel=1e-5)


def test_bins_and_their_edges() -> None:
    edges = published_edges(np.linspace(0.0, 10.2, 1000))
    assert len(edges) == 31
    assert edges[-1] == 10.5
    mean, doubt, count = binned(np.array([0.1, 0.2, 5.0]), np.array([1.0, 3.0, 7.0]), np.array([0.0, 1.0, 2.0, 6.0]))
    assert count.tolist() == [2, 0, 1]
    assert mean[0] == 2.0
    assert np.isnan(mean[1])
    assert doubt[0] == pytest.approx(1.0)
