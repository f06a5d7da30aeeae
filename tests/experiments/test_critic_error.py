"""Errors of critics: against loops over steps, and what the published alignment forgives."""

from __future__ import annotations

import numpy as np
import pytest

from pyresac.experiments.critic_error import (
    CELLS,
    LCB,
    aligned,
    binned,
    by_cell,
    errors,
    pooled,
    published_edges,
    rareness,
)

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
    assert rareness(line[:1], line)[0] == pytest.approx(
        abs(line[0, 0] - line.mean()) / line.std(ddof=1), rel=1e-5, abs=0
    )


def test_bins_of_cells_are_those_of_the_decisions() -> None:
    """The published bins and a fifth as many, from cells of two runs, beside numpy's bins of the decisions."""
    generator = np.random.default_rng(0)
    distance = generator.gamma(1.5, 2.0, 3000)
    error = generator.exponential(30.0, 3000)
    parts = [by_cell(distance[half], error[half]) for half in (slice(0, 1000), slice(1000, None))]
    for bins in (30, 6):
        edges = published_edges(pooled(parts), bins)
        assert len(edges) == bins + 1
        top = np.ceil(2.0 * np.percentile(distance, 99.0)) / 2.0  # as published
        assert np.allclose(edges / CELLS, np.linspace(0.0, top, bins + 1), rtol=0, atol=1e-12)
        mean, count = binned(pooled(parts), edges)
        place = np.digitize(distance, edges / CELLS) - 1
        assert count.tolist() == [(place == b).sum() for b in range(bins)]
        expected = [error[place == b].mean() for b in range(bins)]
        assert mean == pytest.approx(expected, rel=1e-5, abs=0)
        assert count.sum() < 3000, "the rarest lie beyond the last edge"


def test_a_bin_without_a_decision_has_no_mean() -> None:
    found = by_cell(np.array([0.1, 0.2, 5.0]), np.array([1.0, 3.0, 7.0]))
    assert found == {"cell": [6, 12, 300], "count": [1, 1, 1], "error": [1.0, 3.0, 7.0]}
    mean, count = binned(found, CELLS * np.array([0, 1, 2, 6]))
    assert count.tolist() == [2, 0, 1]
    assert mean[0] == 2.0
    assert np.isnan(mean[1])
    assert published_edges(by_cell(np.array([0.0]), np.array([1.0])))[-1] == CELLS // 2, "half a unit at least"
