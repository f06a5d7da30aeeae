"""One budget a state, step by step: each term of the bound, when it stops, which state has which budget."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from interpreted_kernels import interpret
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, L1Ball, LInfinityBall, RevOperator, families, s_rectangular, solve
from pyresac.tabular.s_rectangular import level_rounding, solve_s_rectangular

U = Fraction(1, 2**53)


def stub(monkeypatch: pytest.MonkeyPatch, images: Any) -> list[np.ndarray]:
    """Each backup gives the next of these changes of v; returns what was asked for."""
    asked: list[np.ndarray] = []

    def levels(*given: Any) -> None:
        v, image, policy = given[7], given[10], given[11]
        assert given[8] == v.min()
        asked.append(v.copy())
        image[:] = v + next(images)
        policy[:] = 0.5

    monkeypatch.setattr(s_rectangular, "levels", levels)
    return asked


def test_every_term_of_a_bound_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """γ = 3/4, so γ/(1 − γ) = 3: half the span with its last bits, the rounding of W v and of what it is for, of the
    differences, and of the shift."""
    mdp = FiniteMDP.from_arrays(np.full((2, 2, 2), 0.5), [[1.0, -4.0], [2.0, 0.0]], 0.75)
    # exact numbers would hide below half of the span, which is a few of its last bits here
    low, high = 1.0, 1.0 + 2.0**-50
    asked = stub(monkeypatch, iter([np.array([high, low])]))
    found = solve_s_rectangular(mdp, 0.1, max_iterations=1, tolerance=1e-3)
    assert asked[0].tolist() == [0.0, 0.0]
    size = high + 4.0
    half = 3 * (Fraction(high) + 2 * U - Fraction(low) + U) / 2
    backup = Fraction(level_rounding(mdp, size)) * 4
    differences = 3 * 4 * U * (Fraction(low) + Fraction(high))
    shift = 3 * (Fraction(low) + Fraction(high)) / 2
    total = half + backup + differences + 4 * U * (Fraction(size) + shift)
    assert found.error_bound == pytest.approx(float(total), rel=1e-13, abs=0.0)
    assert found.v.tolist() == [high + float(shift), low + float(shift)]
    assert found.policy.tolist() == [[0.5, 0.5]] * 2
    # below 0 sizes are sizes
    mirrored = stub(monkeypatch, iter([np.array([-high, -low])]))
    other = solve_s_rectangular(mdp, 0.1, max_iterations=1, tolerance=1e-3)
    assert other.error_bound == pytest.approx(float(total), rel=1e-13, abs=0.0)
    assert other.v.tolist() == (-found.v).tolist()
    assert len(mirrored) == 1


@pytest.mark.parametrize(("discount", "patience"), [(0.0, 9), (0.25, 10), (0.5, 10), (0.75, 16)])
def test_it_stops_where_nothing_is_gained_for_long_enough(
    discount: float, patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as a contraction, of a half at least, may hide what it gains: log(2/(1 − γ)), and eight."""
    mdp = FiniteMDP.from_arrays(np.full((2, 1, 2), 0.5), [[1.0], [0.0]], discount)
    gain = 0.98 if discount > 0.0 else 1.0
    changes = [np.array([-1e-3, 1e-3]) * gain ** min(k, 3) for k in range(99)]
    asked = stub(monkeypatch, iter(changes))
    found = solve_s_rectangular(mdp, 0.1, tolerance=0.0)
    begun = 4 if discount > 0.0 else 1
    assert found.iterations == len(asked) == begun + patience
    assert not found.converged
    assert found.message.startswith("rounding, or max_iterations, has stopped all progress; the error is at most ")


def test_what_gains_less_than_a_hundredth_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it comes to a hundredth in the end."""
    mdp = FiniteMDP.from_arrays(np.full((2, 1, 2), 0.5), [[1.0], [0.0]], 0.75)
    # a gain of 0.2 % each: a hundredth after six of them, well within the patience
    stub(monkeypatch, iter([np.array([-1.0, 1.0]) * 0.998**k for k in range(200)]))
    assert solve_s_rectangular(mdp, 0.1, tolerance=0.0, max_iterations=100).iterations == 100
    # 0.05 % each: a hundredth takes twenty
    stub(monkeypatch, iter([np.array([-1.0, 1.0]) * 0.9995**k for k in range(200)]))
    assert solve_s_rectangular(mdp, 0.1, tolerance=0.0, max_iterations=100).iterations == 17


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_each_iteration_has_a_bound_that_holds(norm: Any) -> None:
    """With so many as are allowed; a tolerance that is met exactly is met."""
    mdp = families.random_dense(5, 2, 0.75, seed=4)
    tight = solve_s_rectangular(mdp, 0.2, norm=norm, tolerance=1e-12)
    assert tight.converged
    assert tight.message.startswith("the tolerance is met; the error is at most ")
    bounds = []
    for limit in (1, 2, 5):
        found = solve_s_rectangular(mdp, 0.2, norm=norm, max_iterations=limit, tolerance=0.0)
        assert found.iterations == limit
        assert np.abs(found.v - tight.v).max() <= found.error_bound + tight.error_bound
        bounds.append(found.error_bound)
        exactly = solve_s_rectangular(mdp, 0.2, norm=norm, tolerance=found.error_bound)
        assert exactly.converged
        assert (exactly.iterations, exactly.error_bound) == (limit, found.error_bound)
        assert not solve_s_rectangular(
            mdp, 0.2, norm=norm, tolerance=float(np.nextafter(found.error_bound, 0.0)), max_iterations=limit
        ).converged
    assert bounds == sorted(bounds, reverse=True)


def forked() -> FiniteMDP:
    """Two states, then a good one worth 8 or a bad one worth 0, each for ever; γ = 1/2."""
    rows = np.zeros((4, 1, 4))
    rows[:2, 0, 2:] = 0.5
    rows[2, 0, 2] = rows[3, 0, 3] = 1.0
    return FiniteMDP.from_arrays(rows, [[0.0], [0.0], [4.0], [0.0]], 0.5)


def test_slow_gains_add_up() -> None:
    """Two states that never meet: each backup takes γ = 0.995 of what is left, and none a hundredth."""
    mdp = FiniteMDP.from_arrays(np.eye(2)[:, None], [[1.0], [0.0]], 0.995)
    found = solve_s_rectangular(mdp, 0.0, tolerance=1e-6)
    assert found.converged
    assert np.abs(found.v - [200.0, 0.0]).max() <= 1e-6 + 1e-10


@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_each_state_has_its_own_budget(norm: Any, optimistic: bool) -> None:
    """Of mass 1/4 to move where the budget is a half in l1, or a quarter in L∞; beyond what a row has, all of it."""
    enough = 2.0 if norm == "l1" else 1.0
    budget = 0.5 if norm == "l1" else 0.25
    sign = 1.0 if optimistic else -1.0
    for first, second, shares in (
        (budget, 0.0, (0.5 + sign * 0.25, 0.5)), (0.0, budget, (0.5, 0.5 + sign * 0.25)),
        (5.0 * enough, budget, (0.5 + sign * 0.5, 0.5 + sign * 0.25)),
    ):  # fmt: skip
        found = solve_s_rectangular(
            forked(), [first, second, 0.0, 0.0], norm=norm, optimistic=optimistic, tolerance=1e-12
        )
        assert found.v.tolist() == pytest.approx([0.5 * 8.0 * share for share in shares] + [8.0, 0.0], abs=1e-11)
        assert found.policy.tolist() == [[1.0]] * 4
        assert found.converged
        assert found.error_bound <= 1e-12


@pytest.mark.parametrize(("norm", "ball", "most"), [("l1", L1Ball, 2.0), ("linf", LInfinityBall, 1.0)])
def test_the_best_case_is_that_of_a_ball_a_pair(norm: Any, ball: Any, most: float) -> None:
    """With the budget of its state at each, or all there is; the action that gets it is taken."""
    mdp = families.random_dense(6, 3, 0.75, seed=4)
    budgets = np.array([0.0, 0.1, 0.3, 0.7, most, 9.0])
    sizes = np.repeat(np.minimum(budgets, most)[:, None], 3, axis=1)
    best = solve(RevOperator(mdp, expectation=ball(sizes, optimistic=True)), tolerance=1e-9, max_iterations=50)
    found = solve_s_rectangular(mdp, budgets, norm=norm, optimistic=True, tolerance=1e-9, max_iterations=50)
    np.testing.assert_array_equal(found.v, best.v)
    assert found.policy.argmax(axis=1).tolist() == best.policy.tolist()
    assert found.policy.sum() == 6.0
    assert (found.error_bound, found.iterations, found.message) == (best.error_bound, best.iterations, best.message)
    few = solve_s_rectangular(mdp, budgets, norm=norm, optimistic=True, tolerance=0.0, max_iterations=1)
    assert (few.iterations, few.converged) == (1, False)


@pytest.mark.parametrize("linf", [False, True])
def test_explicit_zeros_and_long_last_rows_stay_in_their_arrays(linf: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreted, where an index beyond an array is refused; a stored zero is no successor."""
    interpret(monkeypatch, s_rectangular, "l1_falls", "linf_falls", "levels")
    rows = np.zeros((9, 2, 9))
    rows[:, :, 0] = 1.0
    # several give and take at once, in the last row alone
    rows[8, 1] = [0.02, 0.03, 0.05, 0.0, 0.1, 0.1, 0.1, 0.2, 0.4]
    plain = sparse.csr_array(rows.reshape(18, 9))
    zeros = sparse.csr_array((rows.ravel(), np.tile(np.arange(9), 18), np.arange(0, 163, 9)), shape=(18, 9))
    assert (plain.nnz, zeros.nnz) == (25, 162)
    v = np.array([3.0, 1.0, 4.0, -9.0, 5.0, 9.0, 2.0, 6.0, 8.0])
    for radius in (0.0, 0.05, 0.3, 0.6, 1.5, 9.0):
        found = []
        for given in (plain, zeros):
            mdp = FiniteMDP.from_arrays(given, np.tile([-9.0, 0.0], (9, 1)), 0.5)
            image, policy = np.empty(9), np.empty((9, 2))
            s_rectangular.levels(
                *mdp.csr(), mdp.reward, np.empty((0, 0), dtype=np.bool_), np.full(9, radius), 0.5, v, float(v.min()),
                linf, image, policy,
            )  # fmt: skip
            found.append(image[8])
        assert found[0] == pytest.approx(found[1], abs=1e-13)
        ball = LInfinityBall(min(radius, 1.0)) if linf else L1Ball(min(radius, 2.0))
        wanted = RevOperator(
            FiniteMDP.from_arrays(plain, np.zeros((18, 1))[:9].repeat(2, axis=1), 0.5), expectation=ball
        )
        assert found[0] == pytest.approx(max(wanted.backup(v)[8, 1], -9.0 + wanted.backup(v)[8, 0]), abs=1e-12)


def test_only_full_kernels_are_taken() -> None:
    masked = forked().replace(continuation=np.ones((4, 1)))
    for given in (masked, forked().dense()):
        with pytest.raises(InputError, match=r"^mdp must be a FiniteMDP with full kernels$"):
            solve_s_rectangular(given, 0.1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^radius has shape \(1, 4\); expected a number or \(4,\)$"):
        solve_s_rectangular(forked(), [[0.1] * 4])
    with pytest.raises(InputError, match=r"^radius is -0.5; it must be a finite number of at least 0$"):
        solve_s_rectangular(forked(), [0.1, -0.5, 0.0, 3.0])
