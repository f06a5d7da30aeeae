"""The moments by which the inner problems of divergence balls are solved, in 40 digits: a wrong slope costs steps, and
shows in no result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from interpreted_kernels import plain

from pyresac.tabular.expectations.gibbs import MODERATE, tilt
from pyresac.tabular.expectations.likelihood import pulled
from pyresac.tabular.expectations.power import moments

P = np.array([0.25, 0.0, 0.125, 0.5, 0.0625, 0.25])
"""Not of sum 1, and of no mass at one place."""
D = np.array([0.0, 0.5, 1.0, 0.25, 0.75, 0.875])


def mean(of: Callable[[Any], Any], mass: float) -> Any:
    """Σ p·of(d)/mass."""
    return mpmath.fsum(mpmath.mpf(p) * of(mpmath.mpf(d)) for p, d in zip(P, D, strict=True) if p > 0) / mass


def assert_are(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.array(found, dtype=float), np.array(expected, dtype=float), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("eta", [0.6, 1.5, 1e3])
@pytest.mark.parametrize("s", [1.05, 2.0, 3.5, 21.0])
def test_moments_of_a_power_divergence(eta: float, s: float) -> None:
    """Below the greatest value a successor counts for nothing; far above, the moments are near 1."""
    w = np.full(6, np.nan)
    found = plain(moments)(P, D, P.sum(), eta, s, w)
    with mpmath.workdps(40):

        def moment(power: Any) -> Any:
            return mean(lambda d: (1 - d / eta) ** power if d < eta else mpmath.mpf(0), P.sum())

        k = mpmath.mpf(s)
        whole, less, least = moment(k), moment(k - 1), moment(k - 2)
        assert_are(found, [mpmath.log(whole), mpmath.log(less), less / whole - least / less, less])
        weights = [
            p / P.sum() * float((1 - mpmath.mpf(d) / eta) ** (k - 1)) if d < eta else 0.0
            for p, d in zip(P, D, strict=True)
        ]
    assert_are(w, weights)


@pytest.mark.parametrize("mu", [1e-3, 0.5, 30.0])
def test_moments_of_the_likelihood_ball(mu: float) -> None:
    total = P.sum()
    centre = float(P @ D / total)
    with mpmath.workdps(40):
        c = mean(lambda d: d, total)

        def log_ratio(m: Any) -> Any:
            return mean(lambda d: mpmath.log((d + m) / (c + m)), total)

        def divergence(m: Any) -> Any:
            return log_ratio(m) + mpmath.log((c + m) * mean(lambda d: 1 / (d + m), total))

        at = mpmath.mpf(mu)
        slope = mpmath.diff(divergence, at, h=mpmath.mpf(10) ** -15)
        expected = [log_ratio(at), divergence(at), slope, 1 / mean(lambda d: 1 / (d + at), total)]
    np.testing.assert_allclose(
        np.array(plain(pulled)(P, D, total, centre, mu)), np.array(expected, dtype=float), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("theta", [1e-6, 0.5 * MODERATE, MODERATE, 40.0])
def test_moments_of_a_gibbs_row(theta: float) -> None:
    p, w = P / P.sum(), np.full(6, np.nan)
    found = plain(tilt)(p, D, theta, w)
    with mpmath.workdps(40):
        total = mean(lambda d: mpmath.exp(-theta * d), P.sum())
        first = mean(lambda d: d * mpmath.exp(-theta * d), P.sum()) / total
        second = mean(lambda d: (d - first) ** 2 * mpmath.exp(-theta * d), P.sum()) / total
        assert_are(found, [first, second, mpmath.log(total)])
        assert_are(w, [q * mpmath.exp(-theta * mpmath.mpf(d)) / total for q, d in zip(p, D, strict=True)])
