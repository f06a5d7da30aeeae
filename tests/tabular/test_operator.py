"""RevOperator, the value functionals and the live penalties: values by hand, rounding bounds, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import (
    EnsembleDeviation,
    EnsembleVariance,
    FiniteMDP,
    L1Ball,
    LiveOperator,
    Max,
    Mellowmax,
    Min,
    NormPenalty,
    PolicyEntropy,
    PolicyMean,
    RenyiBall,
    RevOperator,
    ScaledPenalty,
    Soft,
    empirical_modulus,
    ensemble_variance,
    families,
)

TWO = FiniteMDP.from_arrays([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]], [[1.0, 0.0], [0.0, 2.0]], 0.5)
Q = np.array([[1.0, 3.0], [2.0, -1.0]])
GAMMA = np.array([[1.0, 0.0], [4.0, 0.0]])


def test_the_two_forms_of_the_paper_by_hand() -> None:
    pair = RevOperator(TWO, epistemic=GAMMA, lambda_epi=0.5, kappa=0.25)
    # V(Q) = (3, 2); E = ((2.5, 2), (2, 3)); minus (0.75, 0.25; 2.25, 0.25), halved, plus R.
    np.testing.assert_array_equal(pair(Q), [[1.875, 0.875], [-0.125, 3.375]])
    nxt = RevOperator(TWO, epistemic=GAMMA, lambda_epi=0.5, kappa=0.25, penalty_at="next")
    # Q − Γ/2 = ((0.5, 3), (0, −1)); V = (3, 0); E = ((1.5, 0), (0, 3)); minus 0.25, halved, plus R.
    np.testing.assert_array_equal(nxt(Q), [[1.625, -0.125], [-0.125, 3.375]])


def test_unavailable_pairs_hold_minus_infinity_and_are_never_read() -> None:
    mask = np.array([[True, False], [True, True]])
    mdp = FiniteMDP.from_arrays(TWO.dense(), TWO.reward, 0.5, available=mask)
    q = np.where(mask, Q, np.nan)
    for value in (Max(), Min(), Soft(0.5), Mellowmax(2.0), PolicyMean([[1.0, 0.0], [0.5, 0.5]])):
        out = RevOperator(mdp, value=value)(q)
        assert out[0, 1] == -np.inf
        assert np.isfinite(out[mask]).all()
    with pytest.raises(InputError, match="unavailable action a=1 at s=0"):
        RevOperator(mdp, value=PolicyMean([[0.5, 0.5], [0.5, 0.5]]))(q)


def test_the_penalty_arrays_are_frozen() -> None:
    gamma = GAMMA.copy()
    operator = RevOperator(TWO, epistemic=gamma, lambda_epi=1.0)
    before = operator(Q)
    gamma[:] = 100.0
    np.testing.assert_array_equal(operator(Q), before)
    with pytest.raises(ValueError, match="read-only"):
        operator.frozen[0, 0] = 0.0


def test_the_radius_of_a_ball_is_frozen_with_the_operator() -> None:
    radius = np.full((2, 2), 0.5)
    operator = RevOperator(TWO, expectation=L1Ball(radius))
    before = operator(Q)
    radius[:] = 0.0
    np.testing.assert_array_equal(operator(Q), before)


@pytest.mark.parametrize("temperature", [1e-3, 0.5, 40.0])
def test_soft_values_are_within_their_rounding_bounds(temperature: float) -> None:
    rng = np.random.default_rng(0)
    q = rng.normal(size=(20, 5)) * 10.0 ** rng.integers(-3, 4, size=(20, 1))
    policy = rng.dirichlet(np.ones(5), size=20)
    policy[0] = [1, 0, 0, 0, 0]
    magnitude = float(np.abs(q).max())
    cases = (Soft(temperature), Mellowmax(1 / temperature), PolicyEntropy(policy, temperature), PolicyMean(policy))
    with mpmath.workdps(600):
        alpha = mpmath.mpf(temperature)
        for value in cases:
            got, bound = value(q), value.rounding(magnitude, 5)
            for s, row in enumerate(q):
                x = [mpmath.mpf(float(y)) for y in row]
                if isinstance(value, Soft):
                    exact = alpha * mpmath.log(mpmath.fsum(mpmath.exp(y / alpha) for y in x))
                elif isinstance(value, Mellowmax):
                    omega = mpmath.mpf(value.omega)
                    exact = mpmath.log(mpmath.fsum(mpmath.exp(omega * y) for y in x) / 5) / omega
                else:
                    given = [mpmath.mpf(float(p)) for p in value.policy[s]]
                    p = [y / mpmath.fsum(given) for y in given]
                    exact = mpmath.fsum(a * b for a, b in zip(p, x, strict=True))
                    if isinstance(value, PolicyEntropy):
                        exact -= alpha * mpmath.fsum(a * mpmath.log(a) for a in p if a > 0)
                assert abs(exact - float(got[s])) <= bound


def test_soft_lies_between_max_and_max_plus_entropy_and_does_not_overflow() -> None:
    q = np.array([[1e8, -1e8, 0.0], [700.0, 700.0, 700.0]])
    v = Soft(0.01)(q)
    assert (v >= q.max(axis=1)).all()
    assert (v <= q.max(axis=1) + 0.01 * np.log(3) * (1 + 1e-12)).all() or v[0] == 1e8
    np.testing.assert_allclose(Soft(0.5).policy(q).sum(axis=1), 1.0, rtol=1e-15)


def test_greedy_takes_the_lowest_action_among_equals() -> None:
    q = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]])
    assert Max().greedy(q).tolist() == [0, 1]
    assert Min().greedy(q).tolist() == [2, 0]


def test_ensemble_variance_divides_by_k_minus_one() -> None:
    heads = np.array([[[0.0]], [[2.0]]])
    assert ensemble_variance(heads).tolist() == [[2.0]]
    with pytest.raises(InputError, match="K = 1 heads"):
        ensemble_variance(heads[:1])


def test_live_penalties_by_hand() -> None:
    one = FiniteMDP.from_arrays([[[1.0]]], [[1.0]], 0.5)
    assert LiveOperator(one, ScaledPenalty(0.25))(np.array([[4.0]])).tolist() == [[1 + 2.0 + 1.0]]
    assert LiveOperator(one, NormPenalty(0.25))(np.array([[-4.0]])).tolist() == [[1 - 2.0 - 0.5]]
    heads = np.array([[[1.0]], [[3.0]]])
    assert LiveOperator(one, EnsembleVariance(1.0))(heads).ravel().tolist() == [1 + 0.5 - 1, 1 + 1.5 - 1]
    assert LiveOperator(one, EnsembleVariance(1.0, target="mean"))(heads).ravel().tolist() == [1.0, 1.0]
    assert LiveOperator(one, EnsembleDeviation(2.0, ddof=0))(heads).ravel().tolist() == [1 + 0.5 - 1, 1 + 1.5 - 1]


@pytest.mark.parametrize(
    ("penalty", "modulus"),
    [
        (ScaledPenalty(0.25), 0.75),
        (NormPenalty(0.5), 0.75),
        (EnsembleVariance(0.1), np.inf),
        (EnsembleDeviation(1.0, ddof=0), 1.0),
        (EnsembleDeviation(3.0, ddof=0, target="mean"), 1.5),
        (EnsembleDeviation(1.0, heads=3), None),
    ],
)
def test_exact_moduli_on_one_state_and_one_action(penalty: Any, modulus: float | None) -> None:
    one = FiniteMDP.from_arrays([[[1.0]]], [[1.0]], 0.5)
    assert LiveOperator(one, penalty).exact_modulus() == modulus


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "temperature": Soft,
    "temperature of a policy": lambda x: PolicyEntropy([[0.5, 0.5], [1.0, 0.0]], x),
    "omega": Mellowmax,
    "lambda_epi": lambda x: RevOperator(TWO, epistemic=GAMMA, lambda_epi=x),
    "kappa": lambda x: RevOperator(TWO, kappa=x),
    "discount": lambda x: FiniteMDP.from_arrays(TWO.dense(), TWO.reward, x),
    "discount of another": TWO.with_discount,
    "order": lambda x: RenyiBall(0.1, 1 + x),
    "lam": ScaledPenalty,
    "lam of the norm": NormPenalty,
    "lam of the variance": EnsembleVariance,
    "lam of the deviation": EnsembleDeviation,
}
"""What takes one number, and keeps it under the first word of its name."""


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_of_any_kind_is_kept_as_a_float(name: str) -> None:
    """Fractions and short floats would go on into tables, where fractions are objects, and into bounds on rounding,
    where a short float times a number is a short float."""
    for given in (Fraction(1, 2), np.float32(0.5), np.float16(0.5), 0.5, Fraction(5, 10)):
        kept = getattr(NUMBERS[name](given), name.split()[0])
        assert type(kept) is float
        assert kept == (1.5 if name == "order" else 0.5)
    if "lam of" in name or name == "lam":
        live = LiveOperator(TWO, NUMBERS[name](Fraction(1, 2)))
        tables = Q if live.penalty.heads is None else np.stack([Q, -Q])
        assert live(tables).dtype == np.float64
        np.testing.assert_array_equal(live(tables), LiveOperator(TWO, NUMBERS[name](0.5))(tables))


WITHOUT = [
    ScaledPenalty(0.0),
    NormPenalty(0.0),
    EnsembleVariance(0.0),
    EnsembleDeviation(0.0),
    EnsembleDeviation(0.0, heads=3),
    EnsembleDeviation(0.0, target="mean"),
]


@pytest.mark.parametrize("penalty", WITHOUT, ids=repr)
def test_without_a_penalty_a_live_operator_is_the_plain_one(penalty: Any) -> None:
    live = LiveOperator(TWO, penalty)
    assert live.exact_modulus() == TWO.discount
    table = np.arange(4.0).reshape(2, 2)
    tables = table if penalty.heads is None else np.stack([table] * penalty.heads)
    expected = RevOperator(TWO)(table)
    np.testing.assert_array_equal(live(tables), np.broadcast_to(expected, tables.shape))


@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf, "0.1", None], ids=repr)
@pytest.mark.parametrize("kind", [ScaledPenalty, NormPenalty, EnsembleVariance, EnsembleDeviation])
def test_every_live_penalty_refuses_a_size_that_is_none(kind: Any, lam: Any) -> None:
    with pytest.raises(InputError, match=r"lam is .*it must be a finite number of at least 0"):
        kind(lam)


def test_without_a_future_the_variance_changes_nothing() -> None:
    assert EnsembleVariance(1.0).exact_modulus(0.0) == 0.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RevOperator(TWO, penalty_at="here"), "penalty_at is 'here'; it must be 'pair' or 'next'"),  # type: ignore[arg-type]
        (lambda: RevOperator(TWO, lambda_epi=-1.0), "lambda_epi is -1.0; it must be a finite number of at least 0"),
        (lambda: RevOperator(TWO, kappa=np.nan), "kappa is nan; it must be a finite number"),
        (lambda: RevOperator(TWO, epistemic=np.zeros(3)), r"epistemic has shape \(3,\); the MDP asks for \(2, 2\)"),
        (lambda: RevOperator(TWO, epistemic=np.full((2, 2), np.inf)), r"epistemic\[0, 0\] is inf"),
        (lambda: RevOperator(TWO, value=PolicyMean(np.full((3, 2), 0.5))), r"policy has shape \(3, 2\)"),
        (lambda: Soft(0.0), "temperature is 0.0; it must be a finite number above 0"),
        (lambda: Soft(-1.0), "temperature is -1.0"),
        (lambda: Mellowmax(0.0), "omega is 0.0"),
        (lambda: PolicyMean([[0.5, 0.6]]), "row s=0 of policy sums to 1.1"),
        (lambda: PolicyMean([[1.5, -0.5]]), r"policy is -0.5 at \(s=0, a=1\)"),
        (lambda: PolicyEntropy([[0.5, 0.5]], 0.0), "temperature is 0.0"),
        (lambda: EnsembleVariance(1.0, heads=1), "K = 1 heads; a variance with divisor K − 1 needs at least 2"),
        (lambda: EnsembleDeviation(1.0, heads=1), "K = 1 heads"),
        (lambda: EnsembleDeviation(1.0, ddof=2), "ddof is 2"),  # type: ignore[arg-type]
        (lambda: EnsembleVariance(1.0, target="both"), "target is 'both'"),  # type: ignore[arg-type]
        (lambda: NormPenalty(-1.0), "lam is -1.0"),
        (lambda: LiveOperator(TWO, EnsembleVariance(1.0))(Q), r"Q has shape \(2, 2\); EnsembleVariance acts on"),
        (lambda: empirical_modulus(RevOperator(TWO), Q, Q), "two tables are equal"),
    ],
)
def test_bad_options_are_refused_by_name(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_dense_and_sparse_operators_agree_within_their_bounds() -> None:
    dense = families.random_dense(9, 3, 0.95, 5)
    twin = FiniteMDP.from_arrays(dense.matrix, dense.reward, 0.95)
    q = np.random.default_rng(1).normal(size=(9, 3))
    one, two = RevOperator(dense), RevOperator(twin)
    bound = one.rounding(float(np.abs(q).max())) + two.rounding(float(np.abs(q).max()))
    assert one.distance(one(q), two(q)) <= bound
