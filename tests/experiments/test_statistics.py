"""Statistics of a few runs, held to figures of rliable 1.2.0 (arch 7, in an environment of its own)."""

from __future__ import annotations

import numpy as np
import pytest

from pyresac.experiments.statistics import (
    improvement,
    improvement_interval,
    interquartile_mean,
    interval,
    paired_interval,
    performance_profile,
)

FIRST = np.array(
    [
        [0.12, 0.45, 0.9, 0.33],
        [0.5, 0.41, 1.2, 0.2],
        [0.31, 0.77, 1.0, 0.61],
        [0.25, 0.52, 0.7, 0.44],
        [0.9, 0.38, 1.1, 0.05],
    ]
)
SECOND = np.array([[0.1, 0.5, 0.8, 0.3], [0.45, 0.39, 1.25, 0.2], [0.2, 0.9, 0.95, 0.5], [0.3, 0.42, 0.75, 0.4]])


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def test_point_estimates_are_those_of_rliable() -> None:
    assert interquartile_mean(FIRST.reshape(-1)) == pytest.approx(0.511, abs=1e-12)
    assert improvement(FIRST, SECOND) == pytest.approx(0.54375, abs=1e-12)
    thresholds = np.array([0.1, 0.2, 0.4, 0.5, 0.75, 1.0])
    assert performance_profile(FIRST, thresholds).tolist() == pytest.approx([0.95, 0.85, 0.65, 0.45, 0.3, 0.1])


def test_the_interval_is_that_of_rliable() -> None:
    found = interval(FIRST, generator())
    assert found.point == pytest.approx(0.511, abs=1e-12)
    # rliable with 20,000 repetitions: [0.405, 0.642]; 2,000 of ours have a standard error of about 0.004 at the ends
    assert found.low == pytest.approx(0.405, abs=0.02)
    assert found.high == pytest.approx(0.642, abs=0.02)


def test_ties_count_a_half_and_the_two_sides_add_to_one() -> None:
    assert improvement(FIRST, FIRST) == pytest.approx(0.5)
    assert improvement(FIRST, SECOND) + improvement(SECOND, FIRST) == pytest.approx(1.0)
    assert improvement(FIRST + 10.0, SECOND) == 1.0


def test_runs_are_resampled_within_their_task() -> None:
    constant_tasks = np.tile([0.0, 1.0, 2.0, 9.0], (5, 1))
    found = interval(constant_tasks, generator(), lambda scores: np.asarray(scores.mean(-1)))
    assert found == (3.0, 3.0, 3.0)


def test_one_run_has_no_width_and_more_runs_a_narrower_interval() -> None:
    sample = np.random.default_rng(1).normal(size=(400, 1))
    few, many = interval(sample[:4], generator()), interval(sample, generator())
    assert interval(sample[:1], generator()).low == interval(sample[:1], generator()).high
    assert many.high - many.low < 0.3 * (few.high - few.low)


def test_paired_runs_see_through_what_they_share() -> None:
    shared = np.random.default_rng(2).normal(size=(6, 1)) * 100.0
    found = paired_interval(shared + 1.0, shared, generator())
    assert found == pytest.approx((1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match=r"\(6, 1\) and \(5, 1\)"):
        paired_interval(shared, shared[:5], generator())


def test_improvement_intervals_hold_their_point() -> None:
    found = improvement_interval(FIRST, SECOND, generator())
    assert found.low < found.point < found.high
