"""Lower bounds from data hold as often as they promise, and say how conservative they are."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import (
    FiniteMDP,
    IntervalSet,
    L1Ball,
    LikelihoodBall,
    PolicyMean,
    RevOperator,
    RobustMDP,
    families,
    solve,
)

DATA_SETS = 500


@pytest.mark.slow
@pytest.mark.parametrize("name", ["l1", "kl", "bernstein"])
def test_the_lower_bound_covers_the_true_value(name: str) -> None:
    """Over 500 drawn data sets at confidence 0.9: the bound fails in at most a tenth of them, in any state."""
    rng = np.random.default_rng(3)
    true = families.random_dense(3, 2, 0.8, seed=1)
    covered, gaps = 0, []
    best = solve(RevOperator(true), tolerance=1e-10).v
    for _ in range(DATA_SETS):
        counts = np.array([[rng.multinomial(200, row) for row in state] for state in true.dense()])
        robust = RobustMDP.from_counts(counts, true.reward, 0.8, confidence=0.9, set=name)  # type: ignore[arg-type]
        solution, lower = robust.solve(tolerance=1e-6)
        policy = np.eye(2)[solution.policy]
        earned = solve(RevOperator(true, value=PolicyMean(policy)), tolerance=1e-10).v
        covered += bool((lower <= earned).all())
        gaps.append(float((best - lower).max()))
    assert covered >= 0.9 * DATA_SETS
    assert np.mean(gaps) > 0.0


def test_the_radii_are_those_of_the_theorems() -> None:
    counts = np.array([[[8, 2], [0, 0]], [[1, 0], [5, 5]]])
    reward = np.zeros((2, 2))
    robust = RobustMDP.from_counts(counts, reward, 0.9, confidence=0.95)
    assert isinstance(robust.expectation, L1Ball)
    radius = np.asarray(robust.expectation.radius)
    # log(2² − 2) + log(4/0.05), n = 10
    assert radius[0, 0] == pytest.approx(np.sqrt(2 * (np.log(2) + np.log(4 / 0.05)) / 10), rel=1e-6, abs=0)
    assert radius[0, 1] == 2.0, "nothing was seen: anything may happen"
    assert radius[1, 0] == 2.0
    np.testing.assert_allclose(robust.mdp.dense()[0, 0], [0.8, 0.2])
    bernstein = RobustMDP.from_counts(counts, reward, 0.9, set="bernstein").expectation
    assert isinstance(bernstein, IntervalSet)
    log_term = np.log(4 * 4 * 2 / 0.05)
    half = np.sqrt(2 * 0.16 * 10 / 9 * log_term / 10) + 7 * log_term / 27
    np.testing.assert_allclose(bernstein.upper[0, 0], np.minimum([0.8 + half, 0.2 + half], 1.0), rtol=1e-6)
    assert bernstein.lower[0, 1].tolist() == [0.0, 0.0]
    assert bernstein.upper[1, 0].tolist() == [1.0, 1.0], "one draw says nothing of its spread"


def test_radii_by_types_and_posterior_intervals() -> None:
    counts = np.array([[[8, 2], [0, 0]], [[1, 0], [5, 5]]])
    kl = RobustMDP.from_counts(counts, np.zeros((2, 2)), 0.9, set="kl").expectation
    assert isinstance(kl, LikelihoodBall)
    radius = np.asarray(kl.radius)
    assert radius[0, 0] == pytest.approx((np.log(11) + np.log(4 / 0.05)) / 10, rel=1e-6, abs=0)
    v = np.array([1.0, -1.0])
    mdp = RobustMDP.from_counts(counts, np.zeros((2, 2)), 0.9, set="kl").mdp
    assert kl(mdp, v)[0, 1] == -1.0, "nothing was seen: anything may happen"
    bayes = RobustMDP.from_counts(counts, np.zeros((2, 2)), 0.9, set="bayes").expectation
    assert isinstance(bayes, IntervalSet)
    low, high = bayes.lower[0, 0, 0], bayes.upper[0, 0, 0]
    with mpmath.workdps(30):
        for x, tail in ((low, 0.05 / 16), (high, 1 - 0.05 / 16)):
            assert float(mpmath.betainc(9, 3, 0, float(x), regularized=True)) == pytest.approx(tail, abs=1e-6)
    # never seen: the uniform prior itself
    assert bayes.lower[0, 1, 0] == pytest.approx(0.05 / 16, rel=1e-6, abs=0)


@pytest.mark.slow
def test_posterior_intervals_cover_truths_drawn_from_the_prior() -> None:
    rng, covered = np.random.default_rng(5), 0
    for _ in range(DATA_SETS):
        rows = rng.dirichlet(np.ones(3), size=(3, 2))
        counts = np.array([[rng.multinomial(30, row) for row in state] for state in rows])
        bayes = RobustMDP.from_counts(counts, np.zeros((3, 2)), 0.8, confidence=0.8, set="bayes").expectation
        assert isinstance(bayes, IntervalSet)
        covered += bool(((bayes.lower <= rows) & (rows <= bayes.upper)).all())
    assert 0.8 * DATA_SETS <= covered < DATA_SETS, "some truths must lie outside, or the intervals are too wide"


@pytest.mark.parametrize("name", ["l1", "kl", "bernstein", "bayes"])
def test_a_robust_model_says_how_sure_it_is(name: str) -> None:
    for options, expected in (({}, 0.95), ({"confidence": 0.75}, 0.75)):
        robust = RobustMDP.from_counts(np.ones((2, 2, 2)), np.zeros((2, 2)), 0.5, set=name, **options)  # type: ignore[arg-type]
        assert robust.confidence == pytest.approx(expected, abs=1e-15)


def test_the_lower_bound_is_what_the_solver_may_have_missed_below() -> None:
    """Four error bounds a step, and one: γ = 3/4, so 1 + 4/(1 − γ) = 17."""
    robust = RobustMDP.from_counts(np.arange(1, 9).reshape(2, 2, 2) * 50, np.array([[1.0, 0.0], [0.0, 2.0]]), 0.75)
    solution, lower = robust.solve(tolerance=1e-3, method="value_iteration")
    assert solution.error_bound > 1e-6
    np.testing.assert_allclose(solution.v - lower, 1.0000001 * 17.0 * solution.error_bound, rtol=1e-9)


@pytest.mark.parametrize("name", ["kl", "bayes"])
def test_one_state_leaves_nothing_to_learn(name: str) -> None:
    robust = RobustMDP.from_counts(np.array([[[3], [0]]]), [[1.0, 2.0]], 0.5, set=name)  # type: ignore[arg-type]
    assert robust.solve(tolerance=1e-12)[0].v[0] == pytest.approx(4.0)


def test_more_data_brings_the_bound_up_to_the_truth() -> None:
    true = families.random_dense(3, 2, 0.8, seed=1)
    best = solve(RevOperator(true), tolerance=1e-10).v
    lows = []
    for n in (10, 10**4, 10**8):
        counts = sparse.csr_array(np.round(true.dense() * n).reshape(6, 3))
        lows.append(RobustMDP.from_counts(counts, true.reward, 0.8).solve(tolerance=1e-8)[1].min())
    assert lows[0] < lows[1] < lows[2] < best.min()
    assert best.min() - lows[2] < 1e-2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": 1.0}, r"confidence is 1.0; it must be in \(0, 1\)"),
        ({"confidence": 0.0}, r"confidence is 0.0"),
        ({"set": "l2"}, "set is 'l2'; it must be one of 'l1', 'kl', 'bernstein', 'bayes'"),
        ({"counts": np.full((2, 2, 2), 0.5)}, "counts holds 0.5; counts are whole numbers"),
        ({"counts": np.full((2, 2, 2), -1.0)}, "counts holds -1.0"),
        ({"counts": np.ones((2, 1, 2))}, "rewards ask for"),
    ],
)
def test_bad_data_is_refused(change: dict[str, object], message: str) -> None:
    options: dict[str, object] = {"counts": np.ones((2, 2, 2)), "reward": np.zeros((2, 2)), "discount": 0.9} | change
    with pytest.raises(InputError, match=message):
        RobustMDP.from_counts(**options)  # type: ignore[arg-type]


def test_what_the_adversary_does_is_returned() -> None:
    mdp = FiniteMDP.from_arrays([[[1.0, 0.0]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    solution = solve(RevOperator(mdp, expectation=L1Ball(0.5)), tolerance=1e-10)
    np.testing.assert_allclose(solution.worst_case().toarray(), [[0.75, 0.25], [0.0, 1.0]])
    assert (solve(RevOperator(mdp)).worst_case() != mdp.matrix).nnz == 0
