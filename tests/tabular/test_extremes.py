"""Parameters and rewards at the edges of float64: the certificate holds, or the refusal says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import torch

from property_tests.floating import PARAMETERS, SETS
from pyresac.errors import InputError
from pyresac.tabular import (
    EntropicRisk,
    FiniteMDP,
    KLBall,
    L1Ball,
    Max,
    Mellowmax,
    PolicyEntropy,
    RevOperator,
    Soft,
    ValueFunctional,
    solve,
    solve_horizon,
    solve_s_rectangular,
)
from pyresac.tabular.solvers import METHODS

ROWS = [[[0.7, 0.3]], [[0.7, 0.3]]]
TWO = [[[0.7, 0.3], [0.1, 0.9]], [[0.7, 0.3], [0.0, 1.0]]]


@pytest.mark.parametrize(
    ("beta", "scale"), [(1e-318, 1.0), (5e-324, 1.0), (1e-300, 1.0), (1e-170, 1e-150), (1e-20, 1e4), (1e300, 1e-10)]
)
@pytest.mark.parametrize("optimistic", [False, True])
def test_entropic_risk_of_any_beta_is_certified(beta: float, scale: float, optimistic: bool) -> None:
    """Where β·spread is far below rounding the risk is the mean: by Hoeffding they differ by β·spread²/8 at most."""
    mdp = FiniteMDP.from_arrays(ROWS, [[0.0], [scale]], 0.5)
    solution = solve(RevOperator(mdp, expectation=EntropicRisk(beta, optimistic)), tolerance=1e-12 * scale)
    with mpmath.workdps(60):
        # both rows are one, so v = r + γρ with one number ρ = risk of r + γρ; 0 and scale are the two rewards
        p, b = [mpmath.mpf(0.7), mpmath.mpf(0.3)], (-1 if optimistic else 1) * mpmath.mpf(beta)
        p = [x / sum(p) for x in p]
        risk_of_reward = p[1] * scale
        if beta * scale > 1e-15:
            low = min(mpmath.mpf(0), b * scale)
            terms = [w * mpmath.exp(low - b * x) for w, x in zip(p, (0, scale), strict=True)]
            risk_of_reward = (low - mpmath.log(sum(terms))) / b
        for s, reward in enumerate((0, scale)):
            # ρ = risk(r) + γρ, as the risk is monetary
            error = abs(mpmath.mpf(float(solution.q[s, 0])) - (reward + risk_of_reward))
            assert error <= solution.error_bound + 1e-16 * scale
    assert solution.converged or scale > 1


@pytest.mark.parametrize("radius", [1e-200, 5e-324, 1e-33, 1e-31, 1e-28, 1e-20, 1e-12])
def test_tiny_kl_balls_give_the_mean_less_what_little_there_is(radius: float) -> None:
    p, v = np.array([0.52, 0.17, 0.17, 0.03, 0.11]), np.array([7.0, 7, 3, 7, 3])
    mdp = FiniteMDP.from_arrays(np.tile(p, (5, 1, 1)).reshape(5, 1, 5), np.zeros((5, 1)), 0.9, renormalise=True)
    ball = KLBall(radius)
    exact = p @ v - math.sqrt(2 * radius * (p @ v**2 - (p @ v) ** 2))
    # The next term of the expansion is of the order of radius·spread.
    assert abs(ball(mdp, v)[0, 0] - exact) <= ball.rounding(mdp, 7.0) + 4 * radius


@pytest.mark.parametrize("value", [Max(), Soft(1.0), Soft(1.7e308), Mellowmax(1.0)])
@pytest.mark.parametrize("method", ["auto", "value_iteration", "anderson"])
@pytest.mark.parametrize("reward", [1e307, -1e307, 1.7e308])
def test_values_beyond_float64_are_refused_in_words(value: ValueFunctional, method: str, reward: float) -> None:
    mdp = FiniteMDP.from_arrays(TWO, [[reward, 0.0], [reward / 2, reward]], 0.99)
    for expectation in (None, L1Ball(0.1), KLBall(0.1), EntropicRisk(1.0)):
        with pytest.raises(InputError, match="the values overflow float64"):
            solve(RevOperator(mdp, value=value, expectation=expectation), method=method)


@pytest.mark.parametrize("omega", [1e-308, 5e-324, 1e-12, 1e-3, 1.0, 1e6, 1e308])
@pytest.mark.parametrize("method", ["auto", "anderson"])
def test_mellowmax_is_certified_from_the_mean_to_the_maximum(omega: float, method: str) -> None:
    mdp = FiniteMDP.from_arrays(TWO, [[0.0, 1.0], [1.0, 0.5]], 0.9)
    solution = solve(RevOperator(mdp, value=Mellowmax(omega)), tolerance=1e-11, method=method)
    assert solution.converged
    q = np.array([[1.0, 3.0, 2.0]])
    with mpmath.workdps(400):
        w = mpmath.mpf(omega)
        exact = 3 + mpmath.log(sum(mpmath.exp(w * (int(x) - 3)) for x in q[0]) / 3) / w
        assert abs(mpmath.mpf(float(Mellowmax(omega)(q)[0])) - exact) <= Mellowmax(omega).rounding(3.0, 3)


@pytest.mark.parametrize("build", [Soft, lambda t: PolicyEntropy([[0.5, 0.5], [0.5, 0.5]], t)])
@pytest.mark.parametrize("temperature", [5e-324, 1e-308, 1.0])
def test_temperatures_down_to_the_least_float(build: Callable[[float], ValueFunctional], temperature: float) -> None:
    mdp = FiniteMDP.from_arrays(TWO, [[0.0, 1.0], [1.0, 0.5]], 0.9)
    with np.errstate(over="ignore"):
        assert solve(RevOperator(mdp, value=build(temperature)), tolerance=1e-8).converged


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_the_largest_discount_ends_with_an_honest_bound(method: str) -> None:
    mdp = FiniteMDP.from_arrays(TWO, [[0.0, 1.0], [1.0, 0.5]], math.nextafter(1.0, 0.0))
    solution = solve(RevOperator(mdp), method=method)
    assert not solution.converged
    assert "float64" in solution.message


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_flushing_what_is_tiny_to_zero_is_in_the_bound(method: str) -> None:
    mdp = FiniteMDP.from_arrays(TWO, [[0.0, 1e-306], [1e-306, 5e-307]], 0.9)
    honest = solve(RevOperator(mdp), tolerance=0.0)
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor does not flush subnormal numbers")
    try:
        solution = solve(RevOperator(mdp), tolerance=0.0, method=method)
        apart, bound = solution.q - honest.q, solution.error_bound
    finally:
        torch.set_flush_denormal(False)
    assert np.abs(apart).max() <= bound + honest.error_bound
    assert bound >= 2.0**-1022


ONE = FiniteMDP.from_arrays([[[1.0]]], [[1e307]], 0.99)
"""Worth 1e309."""
APART = FiniteMDP.from_arrays([[[1.0, 0.0]], [[0.0, 1.0]]], [[8e307], [-8e307]], 0.99)
"""The span of the first residual is in the range, and a hundred times as much is not; the middle is 0."""
LARGEST = FiniteMDP.from_arrays([[[1.0]]], [[1.79e308]], 0.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda: solve(RevOperator(ONE), initial=[[0.0]], max_iterations=1),
        lambda: solve(RevOperator(LARGEST, epistemic=[[1.0]], lambda_epi=1.0, penalty_at="next")),
        lambda: solve_horizon(RevOperator(ONE), 100),
        lambda: solve_horizon(RevOperator(ONE), 1, terminal=[1.79e308]),
        lambda: solve_s_rectangular(ONE, 0.1),
        lambda: solve_s_rectangular(APART, 0.1, max_iterations=1),
        lambda: solve_s_rectangular(ONE, 0.1, optimistic=True),
    ],
    ids=["bound", "rounding", "a stage", "the last stage", "shift", "randomised", "the best case"],
)
def test_what_overflows_first_is_refused_whatever_it_is(use: Callable[[], object]) -> None:
    """All numbers seen may be finite where the values, or what they may be off by, are not."""
    with pytest.raises(InputError, match="the values overflow float64"):
        use()


def test_what_is_just_below_the_largest_number_is_solved() -> None:
    for found in (solve(RevOperator(LARGEST)).q, solve_horizon(RevOperator(LARGEST), 3).q[0]):
        assert found.tolist() == [[1.79e308]]


@pytest.mark.parametrize("name", [name for name in SETS if name != "entropic"])
@pytest.mark.parametrize("scale", [2.0**-700, 2.0**-540, 2.0**540, 2.0**1000])
def test_sets_know_no_unit_of_value(name: str, scale: float) -> None:
    """E(c·v) = c·E v for the smallest and the largest values, too: where squares of differences are 0 or infinite."""
    mdp = FiniteMDP.from_arrays(np.tile([0.2, 0.3, 0.5], (3, 1, 1)), np.zeros((3, 1)), 0.9)
    v = np.array([1.0, 0.0, -2.0])
    for parameter in PARAMETERS[name]:
        functional = SETS[name](parameter)
        apart = functional(mdp, scale * v) / scale - functional(mdp, v)
        assert np.abs(apart).max() <= 2.0 * functional.rounding(mdp, 2.0)
