"""Every radius and every interval of a robust MDP from counts, pair by pair in plain Python, for three states and two
actions: each is that of its theorem, and rounded to the safe side by a ten-millionth."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import IntervalSet, RevOperator, RobustMDP, Soft, confidence, solve
from pyresac.tabular.confidence import UNSEEN

COUNTS = np.array(
    [
        [[600, 300, 100], [0, 0, 0]],
        [[1, 0, 0], [1, 1, 0]],
        [[0, 5000, 1], [2, 0, 9]],
    ]
)
REWARD = np.array([[1.0, -2.0], [0.5, 3.0], [0.0, 1.0]])
PAIRS = list(product(range(3), range(2)))
DELTA = 0.2


def model(name: str) -> RobustMDP:
    return RobustMDP.from_counts(COUNTS, REWARD, 0.5, confidence=1.0 - DELTA, set=name)  # type: ignore[arg-type]


def test_the_nominal_row_is_what_was_seen() -> None:
    """Where nothing was seen, a pair stays where it is; counts that are sparse are the same."""
    kernel = model("l1").mdp.dense()
    for s, a in PAIRS:
        n = COUNTS[s, a].sum()
        np.testing.assert_allclose(kernel[s, a], COUNTS[s, a] / n if n else np.eye(3)[s], rtol=1e-15)
    rows = sparse.csr_array(COUNTS.reshape(6, 3))
    for name in ("l1", "kl", "bernstein", "bayes"):
        other = RobustMDP.from_counts(rows, REWARD, 0.5, confidence=0.8, set=name)  # type: ignore[arg-type]
        assert (other.mdp.dense() == kernel).all()
        v = np.array([1.0, -2.0, 0.25])
        assert (other.expectation(other.mdp, v) == model(name).expectation(model(name).mdp, v)).all()


def assert_just_above(found: float, exact: float) -> None:
    assert exact * (1.0 + 0.5e-7) <= found <= exact * (1.0 + 1.5e-7)


def test_radii_in_the_l1_norm() -> None:
    """√(2(log(2³ − 2) + log(6/δ))/n), and 2 at most."""
    radius = np.asarray(model("l1").expectation.radius)  # type: ignore[attr-defined]
    for s, a in PAIRS:
        n = COUNTS[s, a].sum()
        exact = math.sqrt(2.0 * math.log(6 * 6 / DELTA) / n) if n else 2.0
        if exact >= 2.0:
            assert radius[s, a] == 2.0
        else:
            assert_just_above(radius[s, a], exact)
    assert (radius == 2.0).sum() == 3


def test_radii_by_types() -> None:
    """(log C(n + 2, 2) + log(6/δ))/n: so many frequencies of n draws over three states there are."""
    radius = np.asarray(model("kl").expectation.radius)  # type: ignore[attr-defined]
    for s, a in PAIRS:
        n = int(COUNTS[s, a].sum())
        if n:
            assert_just_above(radius[s, a], (math.log(math.comb(n + 2, 2)) + math.log(6 / DELTA)) / n)
        else:
            assert radius[s, a] == UNSEEN


def test_intervals_by_the_variance() -> None:
    """Half-widths of Maurer and Pontil, with 4·6·3 events; fewer than two draws say nothing."""
    box = model("bernstein").expectation
    assert isinstance(box, IntervalSet)
    term = math.log(4 * 6 * 3 / DELTA)
    for s, a in PAIRS:
        n = COUNTS[s, a].sum()
        for t in range(3):
            low, high = float(box.lower[s, a, t]), float(box.upper[s, a, t])
            if n < 2:
                assert (low, high) == (0.0, 1.0)
                continue
            p = COUNTS[s, a, t] / n
            variance = n / (n - 1) * p * (1 - p)
            half = math.sqrt(2 * variance * term / n) + 7 * term / (3 * (n - 1))
            for found, exact, limit in ((high, p + half, 1.0), (1.0 - low, 1.0 - p + half, 1.0)):
                assert found == pytest.approx(min(exact, limit), abs=2e-7 * half)
                assert found >= min(exact, limit) - 1e-15


def test_intervals_by_the_posterior() -> None:
    """Each end leaves δ/(2·6·3) of Beta(1 + count, 2 + n − count) beyond it, in 30 digits, but for the safe side."""
    box = model("bayes").expectation
    assert isinstance(box, IntervalSet)
    tail = mpmath.mpf(DELTA) / 36
    with mpmath.workdps(30):
        for s, a in PAIRS:
            n = int(COUNTS[s, a].sum())
            for t in range(3):
                count = int(COUNTS[s, a, t])
                for end, flip in ((float(box.lower[s, a, t]), False), (float(box.upper[s, a, t]), True)):
                    # the same law from the other end
                    size = mpmath.mpf(1) - mpmath.mpf(end) if flip else mpmath.mpf(end)
                    hits, misses = 1 + count, 2 + n - count
                    one, other = (misses, hits) if flip else (hits, misses)
                    below = mpmath.betainc(one, other, 0, size / mpmath.mpf("0.9999999"), regularized=True)
                    assert float(below / tail) == pytest.approx(1.0, rel=1e-6, abs=0)
                    assert mpmath.betainc(one, other, 0, size, regularized=True) < tail


@pytest.mark.parametrize("name", ["l1", "kl", "bernstein", "bayes"])
def test_one_state_has_one_row(name: str) -> None:
    """No radius, and no division by the number of draws, which may be none."""
    robust = RobustMDP.from_counts([[[0], [4]]], [[1.0, 2.0]], 0.5, set=name)  # type: ignore[arg-type]
    assert robust.expectation(robust.mdp, np.array([3.0])).tolist() == [[3.0, 3.0]]
    if name in ("l1", "kl"):
        assert np.asarray(robust.expectation.radius).tolist() == [[0.0, 0.0]]  # type: ignore[attr-defined]
    if name == "bayes":
        for end in (robust.expectation.lower, robust.expectation.upper):  # type: ignore[attr-defined]
            assert end.tolist() == [[[1.0], [1.0]]]


def test_options_reach_the_operator_and_the_solver() -> None:
    robust = model("l1")
    operator = robust.operator(value=Soft(0.5), kappa=0.25)
    assert (operator.mdp, operator.kappa, operator.value) == (robust.mdp, 0.25, Soft(0.5))
    v = np.array([1.0, 0.0, -1.0])
    assert (operator.expectation(robust.mdp, v) == robust.expectation(robust.mdp, v)).all()
    solution, lower = robust.solve(tolerance=0.5, method="value_iteration")
    same = solve(RevOperator(robust.mdp, expectation=robust.expectation), tolerance=0.5, method="value_iteration")
    assert (solution.v == same.v).all()
    loss = 1.0000001 * solution.error_bound * 9.0
    assert (lower < solution.v - loss).all()
    assert (np.nextafter(lower, np.inf) == solution.v - loss).all()


@pytest.mark.parametrize("given", [0.0, -1e-300, 1.0, 1.0 + 2**-52, np.nan, True, "0.9", 1e-17])
def test_a_confidence_is_between_0_and_1(given: object) -> None:
    """1e-17 leaves a δ that is 1: that is allowed, and nothing is promised."""
    if given == 1e-17:
        assert RobustMDP.from_counts(COUNTS, REWARD, 0.5, confidence=1e-17).confidence == 0.0
        return
    with pytest.raises(InputError, match=r"confidence is .*\(0, 1\)"):
        RobustMDP.from_counts(COUNTS, REWARD, 0.5, confidence=given)  # type: ignore[arg-type]


def test_the_first_count_that_is_no_whole_number_is_named() -> None:
    counts = COUNTS.astype(float)
    counts[1, 1, 0], counts[2, 0, 1] = 1.5, 2.25
    with pytest.raises(InputError, match=r"counts holds 1\.5; counts are whole numbers"):
        RobustMDP.from_counts(counts, REWARD, 0.5)
    assert confidence.UNSEEN > 745.0, "exp(−radius) must be 0"
