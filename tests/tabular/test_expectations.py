"""Each robust expectation against a linear or convex program for the same set; rounding bounds against mpmath."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint, linprog, minimize

from property_tests.floating import PARAMETERS, SETS
from pyresac.errors import InputError
from pyresac.tabular import (
    Chi2Ball,
    Contamination,
    CressieReadBall,
    CVaR,
    EntropicRisk,
    ExpectationFunctional,
    FiniteMDP,
    IntervalSet,
    KLBall,
    L1Ball,
    LikelihoodBall,
    LInfinityBall,
    Nominal,
    RenyiBall,
    RevOperator,
    TotalVariation,
    WorstOfKernels,
    families,
    solve,
)
from pyresac.tabular.expectations import RowSet, base
from pyresac.tabular.expectations.base import WorstRows
from pyresac.tabular.values import UNIT

MDPS = {
    "dense": families.random_dense(6, 3, 0.9, 0),
    "sparse": families.random_sparse(8, 2, 3, 0.9, 1),
    "grid": families.grid(3, 0.9),
    "some unavailable": FiniteMDP.from_arrays(
        families.random_dense(4, 3, 0.9, 2).dense(),
        np.zeros((4, 3)),
        0.9,
        available=np.arange(12).reshape(4, 3) % 4 != 0,
    ),
}
VALUES = [
    lambda n: np.random.default_rng(n).normal(size=n),
    lambda n: np.zeros(n),
    lambda n: 1e6 + np.random.default_rng(n).integers(-2, 3, size=n).astype(float),
    lambda n: np.where(np.arange(n) == n - 1, -1e4, 1e-3),
]
every_mdp = pytest.mark.parametrize("mdp", MDPS.values(), ids=MDPS)
every_value = pytest.mark.parametrize("make", VALUES, ids=["normal", "zero", "huge with ties", "one bad state"])


def pairs(mdp: FiniteMDP) -> list[tuple[int, int]]:
    return [
        (s, a)
        for s in range(mdp.n_states)
        for a in range(mdp.n_actions)
        if mdp.available is None or mdp.available[s, a]
    ]


def l1_program(p: np.ndarray, v: np.ndarray, radius: float) -> float:
    """Minimise q·v over q ≥ 0, Σq = 1, |q − p| ≤ t, Σt ≤ radius."""
    n = len(p)
    eye = np.eye(n)
    above = np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, n)), np.ones((1, n))]])
    limit = np.concatenate([p, -p, [radius]])
    simplex = np.concatenate([np.ones(n), np.zeros(n)])[None, :]
    return float(linprog(np.concatenate([v, np.zeros(n)]), above, limit, simplex, [1.0], method="highs").fun)


@every_mdp
@every_value
@pytest.mark.parametrize("radius", [0.0, 0.1, 0.9, 2.0])
def test_l1_ball_solves_its_linear_program(mdp: FiniteMDP, make: Callable[[int], np.ndarray], radius: float) -> None:
    v = make(mdp.n_states)
    ball = L1Ball(radius)
    got, worst = ball(mdp, v), ball.worst_kernel(mdp, v)
    scale = np.abs(v).max() + 1
    for s, a in pairs(mdp):
        p = mdp.dense()[s, a]
        # HiGHS works to feasibility and optimality tolerances of 1e-7.
        assert got[s, a] == pytest.approx(l1_program(p, v, radius), abs=3e-7 * scale)
        assert worst[s, a] @ v == pytest.approx(got[s, a], abs=1e-15 * 8 * scale)
        assert worst[s, a].min() >= 0
        assert abs(worst[s, a].sum() - 1) <= 1e-15 * 8
        assert np.abs(worst[s, a] - p).sum() <= radius + 1e-15 * 8


@every_mdp
@every_value
@pytest.mark.parametrize("radius", [0.0, 0.05, 0.4, 1.0])
def test_interval_set_solves_its_linear_program(
    mdp: FiniteMDP, make: Callable[[int], np.ndarray], radius: float
) -> None:
    v = make(mdp.n_states)
    box = IntervalSet.around(mdp, radius)
    got, worst = box(mdp, v), box.worst_kernel(mdp, v)
    scale = np.abs(v).max() + 1
    for s, a in pairs(mdp):
        p = mdp.dense()[s, a]
        bounds = [(max(x - radius, 0.0), min(x + radius, 1.0)) if x > 0 else (0.0, 0.0) for x in p]
        program = linprog(v, A_eq=np.ones((1, len(v))), b_eq=[1.0], bounds=bounds, method="highs")
        assert got[s, a] == pytest.approx(program.fun, abs=3e-7 * scale)
        assert worst[s, a] @ v == pytest.approx(got[s, a], abs=1e-15 * 8 * scale)
        assert abs(worst[s, a].sum() - 1) <= 1e-15 * 8
        assert all(low <= q <= high for q, (low, high) in zip(worst[s, a], bounds, strict=True))


def test_interval_bounds_may_live_off_the_nominal_support() -> None:
    mdp = FiniteMDP.from_arrays([[[1.0, 0.0]], [[0.0, 1.0]]], np.zeros((2, 1)), 0.9)
    lower = np.zeros((2, 1, 2))
    upper = np.array([[[1.0, 0.25]], [[0.5, 1.0]]])
    v = np.array([3.0, -1.0])
    for low, high in ((lower, upper), (sparse.csr_array(lower.reshape(2, 2)), sparse.csr_array(upper.reshape(2, 2)))):
        np.testing.assert_array_equal(IntervalSet(low, high)(mdp, v), [[0.25 * -1 + 0.75 * 3], [-1.0]])


@pytest.mark.parametrize("name", ["dense", "sparse"])
@pytest.mark.parametrize("radius", [1e-6, 0.02, 0.5, 2.0, 50.0])
def test_kl_ball_solves_its_convex_program(name: str, radius: float) -> None:
    mdp = MDPS[name]
    v = VALUES[0](mdp.n_states)
    ball = KLBall(radius)
    got, worst = ball(mdp, v), ball.worst_kernel(mdp, v)
    for s, a in pairs(mdp)[:6]:
        p = mdp.dense()[s, a]
        on = p > 0
        q = worst[s, a]
        assert q @ v == pytest.approx(got[s, a], abs=1e-14)
        assert not q[~on].any()
        assert (np.where(q > 0, q * np.log(np.where(q > 0, q, 1) / np.where(on, p, 1)), 0)).sum() <= radius + 1e-13
        primal = minimize(
            lambda x, on=on: x @ v[on],
            p[on],
            jac=lambda x, on=on: v[on],
            method="SLSQP",
            bounds=[(1e-300, 1)] * int(on.sum()),
            constraints=[
                LinearConstraint(np.ones((1, int(on.sum()))), 1, 1),
                {"type": "ineq", "fun": lambda x, p=p, on=on: radius - (x * np.log(x / p[on])).sum()},
            ],
            options={"ftol": 1e-13, "maxiter": 500},
        )
        # Every λ gives a lower bound (weak duality); the program's point gives an upper one.
        lambdas = np.geomspace(1e-6, 1e6, 4001)
        with np.errstate(over="ignore", divide="ignore"):
            low = v[on].min()
            dual = low - lambdas * np.log(np.exp(-(v[on] - low)[None, :] / lambdas[:, None]) @ p[on]) - lambdas * radius
        assert dual.max() <= got[s, a] + 1e-12
        if primal.success:
            assert got[s, a] == pytest.approx(primal.fun, abs=2e-6)


def test_radius_zero_is_nominal_and_the_largest_radius_is_the_worst_state() -> None:
    mdp = MDPS["dense"]
    v = VALUES[0](mdp.n_states)
    for zero in (L1Ball(0.0), KLBall(0.0), IntervalSet.around(mdp, 0.0), WorstOfKernels([mdp.transition])):
        np.testing.assert_allclose(zero(mdp, v), mdp.expect(v), rtol=0, atol=1e-15)
    for whole in (L1Ball(2.0), KLBall(1e3), IntervalSet(np.zeros((6, 3, 6)), np.ones((6, 3, 6)))):
        np.testing.assert_allclose(whole(mdp, v), v.min(), rtol=0, atol=1e-15)


def test_a_parameter_per_pair_is_the_same_as_one_at_a_time() -> None:
    mdp = MDPS["dense"]
    v = VALUES[0](mdp.n_states)
    radius = np.random.default_rng(0).random((6, 3))
    for kind in (L1Ball, KLBall, EntropicRisk):
        together = kind(radius)(mdp, v)
        for s, a in pairs(mdp):
            assert together[s, a] == kind(radius[s, a])(mdp, v)[s, a]


@pytest.mark.parametrize("beta", [1e-9, 1e-3, 1.0, 30.0, 1e5])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_entropic_risk_is_within_its_rounding_bound(beta: float, scale: float) -> None:
    mdp = MDPS["dense"]
    v = scale * VALUES[0](mdp.n_states)
    got = EntropicRisk(beta)(mdp, v)
    bound = EntropicRisk(beta).rounding(mdp, np.abs(v).max())
    with mpmath.workdps(400):
        for s, a in pairs(mdp):
            p = [mpmath.mpf(float(x)) for x in mdp.dense()[s, a]]
            total = mpmath.fsum(p)
            mean = mpmath.fsum(x / total * mpmath.exp(-mpmath.mpf(beta) * float(y)) for x, y in zip(p, v, strict=True))
            assert abs(-mpmath.log(mean) / mpmath.mpf(beta) - float(got[s, a])) <= bound


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: L1Ball(-0.1), r"radius is -0.1; it must be in \[0, 2\]"),
        (lambda: L1Ball(2.5), r"radius is 2.5; it must be in \[0, 2\]"),
        (lambda: L1Ball([]), "radius is empty"),
        (lambda: KLBall(-1.0), "radius is -1.0; it must be a finite number of at least 0"),
        (lambda: KLBall(np.inf), "radius.* is inf"),
        (lambda: EntropicRisk(0.0), "beta is 0.0; it must be a finite number above 0"),
        (lambda: WorstOfKernels([]), "kernels is empty"),
        (lambda: IntervalSet.around(MDPS["dense"], 1.5), r"radius is 1.5; it must be in \[0, 1\]"),
    ],
)
def test_parameters_out_of_range_are_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize(
    ("functional", "message"),
    [
        (L1Ball(np.full((2, 2), 0.1)), r"radius has shape \(2, 2\); expected a number or \(6, 3\)"),
        (WorstOfKernels([np.full((6, 3, 6), 0.2)]), r"kernels\[0\]: row \(s=0, a=0\) of transition sums to 1.2"),
        (IntervalSet(np.full((6, 3, 6), 0.3), np.ones((6, 3, 6))), r"Σ lower = 1.8"),
        (IntervalSet(np.zeros((6, 3, 6)), np.zeros((6, 3, 6))), r"Σ lower = 0 and Σ upper = 0"),
        (IntervalSet(np.zeros((6, 3, 6)), np.full((6, 3, 6), 0.1)), r"Σ upper = 0.6"),
        (IntervalSet(np.full((6, 3, 6), 0.1), np.zeros((6, 3, 6))), r"interval \[0.1, 0.0\] at \(s=0, a=0, s'=0\)"),
    ],
)
def test_sets_that_do_not_fit_the_mdp_are_refused(functional: ExpectationFunctional, message: str) -> None:
    with pytest.raises(InputError, match=message):
        functional.bound_to(MDPS["dense"])


def test_nominal_rounding_bounds_the_exact_expectation() -> None:
    from fractions import Fraction

    for mdp in MDPS.values():
        v = VALUES[0](mdp.n_states)
        got, bound = Nominal()(mdp, v), Nominal().rounding(mdp, float(np.abs(v).max()))
        for s, a in pairs(mdp):
            row = [Fraction(float(x)) for x in mdp.dense()[s, a]]
            exact = sum(p * Fraction(float(x)) for p, x in zip(row, v, strict=True)) / sum(row)
            assert abs(exact - Fraction(float(got[s, a]))) <= Fraction(bound)


@pytest.mark.parametrize("successors", [1, 2, 7, 40])
@pytest.mark.parametrize("optimistic", [False, True])
def test_where_a_row_begins_to_search_does_not_matter(successors: int, optimistic: bool) -> None:
    """Whatever a row remembers of another v: the value, and the weights' own, stay within the rounding bound."""
    mdp = families.random_sparse(60, 2, successors, 0.9, seed=successors)
    rng = np.random.default_rng(successors)
    for build in WARM:
        functional = build(mdp, optimistic)
        for scale in (0.0, 1.0, 1e6):
            # with ties
            v = scale * rng.integers(-4, 5, size=mdp.n_states) + rng.normal(size=mdp.n_states) * (scale > 1)
            cold = functional.expect(mdp, v)
            slack = 2 * functional.rounding(mdp, float(np.abs(v).max())) + 1e-300
            warm = np.full(mdp.reward.size, np.nan)
            for _ in range(3):
                functional.expect(mdp, rng.normal(size=mdp.n_states), warm=warm)
                room = WorstRows.for_pairs(functional.room(mdp))
                got = functional.expect(mdp, v, warm=warm, rows=room)
                assert np.abs(got - cold).max() <= slack, type(functional).__name__
                rows = sparse.csr_array((room.weights, room.columns, room.slots), shape=mdp.matrix.shape)
                assert np.abs(rows.sum(axis=1) - 1).max() <= 1e-13
                assert rows.data.min() >= 0
                if not isinstance(functional, EntropicRisk):
                    assert np.abs(rows @ v - got).max() <= slack, type(functional).__name__


@pytest.mark.parametrize("optimistic", [False, True])
def test_room_for_rows_may_be_used_again(optimistic: bool) -> None:
    """A solve does so with each policy: nothing of a longer row is left beside a shorter one."""
    mdp = MDPS["grid"]
    lengths = np.diff(mdp.matrix.indptr)
    pairs = np.array([lengths.argmax(), lengths.argmin()])
    assert lengths[pairs[0]] > lengths[pairs[1]]
    v = VALUES[0](mdp.n_states)
    for build in WARM:
        functional = build(mdp, optimistic).bound_to(mdp)
        used, fresh = (WorstRows.for_pairs(np.full(1, functional.room(mdp).max())) for _ in range(2))
        for pair in pairs:
            functional.expect(mdp, v, pairs=pairs[pairs == pair], rows=used)
        functional.expect(mdp, v, pairs=pairs[1:], rows=fresh)
        np.testing.assert_array_equal(used.weights, fresh.weights, err_msg=repr(functional))
        np.testing.assert_array_equal(used.columns, fresh.columns, err_msg=repr(functional))


@pytest.mark.parametrize(("order", "radius"), [(20.0, 0.1), (20.0, 0.5), (3.0, 2.0), (1.05, 0.5)])
def test_worst_rows_of_power_divergences_are_of_the_ball(order: float, radius: float) -> None:
    """Also where it is mixed: with the nominal row, where it was beyond the ball, and at high orders of the rows of two
    neighbouring floats, one of which may be all but the least value of a successor. It attains the value."""
    mdp = families.random_sparse(150, 2, 4, 0.9, seed=3)
    v = np.random.default_rng(4).normal(size=150)
    ball = RenyiBall(radius, order)
    got, slack = ball(mdp, v), 2 * ball.rounding(mdp, float(np.abs(v).max()))
    nominal, worst = mdp.dense(), ball.worst_kernel(mdp, v)
    assert np.abs(worst @ v - got).max() <= slack
    ratios = np.divide(worst, nominal, out=np.zeros_like(worst), where=nominal > 0)
    assert (nominal * ratios**order).sum(axis=2).max() <= np.exp((order - 1) * radius) * (1 + order * 1e-11)


WARM: list[Callable[[FiniteMDP, bool], RowSet]] = [
    lambda _, best: L1Ball(0.4, optimistic=best),
    lambda _, best: L1Ball(1.9, "nominal", optimistic=best),
    lambda mdp, best: IntervalSet.around(mdp, 0.07, optimistic=best),
    lambda _, best: LInfinityBall(0.2, optimistic=best),
    lambda _, best: CVaR(0.3, optimistic=best),
    lambda _, best: KLBall(0.2, optimistic=best),
    lambda _, best: LikelihoodBall(0.2, optimistic=best),
    lambda _, best: LikelihoodBall(1e-6, "nominal", optimistic=best),
    lambda _, best: KLBall(1e-6, optimistic=best),
    lambda _, best: EntropicRisk(2.0, optimistic=best),
    lambda _, best: Chi2Ball(0.3, optimistic=best),
    lambda _, best: CressieReadBall(0.3, 3.0, optimistic=best),
    lambda _, best: CressieReadBall(1e-6, 1.2, optimistic=best),
    lambda _, best: RenyiBall(0.2, 1.05, optimistic=best),
    lambda _, best: RenyiBall(5.0, 20.0, optimistic=best),
    lambda _, best: TotalVariation(0.3, optimistic=best),
    lambda _, best: Contamination(0.3, optimistic=best),
]


def test_a_polytope_is_the_linear_program_of_its_inequalities() -> None:
    """Moments bounded from both sides, which no ball says; HiGHS works to 1e-7."""
    mdp, rng = MDPS["dense"], np.random.default_rng(4)
    moments = rng.normal(size=(2, 6))
    centre = (mdp.dense() @ moments.T)[..., None, :]
    matrix = np.vstack([moments, -moments])
    bound = np.concatenate([centre + 0.1, 0.1 - centre], axis=-1)[..., 0, :]
    polytope = WorstOfKernels.of_polytope(mdp, matrix, bound)
    v = VALUES[0](6)
    got = polytope(mdp, v)
    for s, a in pairs(mdp):
        program = linprog(v, matrix, bound[s, a], np.ones((1, 6)), [1.0], (0, None), method="highs")
        assert got[s, a] == pytest.approx(program.fun, abs=1e-6)
    assert solve(RevOperator(mdp, expectation=polytope), tolerance=1e-8).converged


@pytest.mark.parametrize(
    ("matrix", "bound", "message"),
    [
        (np.ones((1, 6)), [0.5], r"the polytope of \(s=0, a=0\) is empty"),
        (np.ones((1, 5)), [0.5], r"matrix has shape \(1, 5\); expected \(m, 6\)"),
        (np.ones((1, 6)), [0.5, 1.0], r"bound has shape \(2,\); the matrix asks for \(1,\)"),
        (np.ones((40, 6)), np.ones(40), "the polytopes have .* bases; at most 200000"),
        (np.full((1, 6), np.nan), [1.0], "matrix.* is nan"),
    ],
)
def test_polytopes_that_are_none_are_refused(matrix: np.ndarray, bound: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        WorstOfKernels.of_polytope(MDPS["dense"], matrix, bound)


@pytest.mark.parametrize("shared", [True, False])
def test_so_many_bases_are_looked_at_and_no_more(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of n numbers and m slacks m + 1 are a basis: of two states and three inequalities 5 over 4, for each pair where
    the pairs have their own."""
    mdp = families.chain(2, 0.9)
    matrix, bound = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.ones(3)
    given = bound if shared else np.ones((2, 2, 3))
    bases = 5 * (1 if shared else 4)
    monkeypatch.setattr(base, "MOST_BASES", bases)
    assert WorstOfKernels.of_polytope(mdp, matrix, given)(mdp, np.array([1.0, 3.0])).tolist() == [[1.0, 1.0]] * 2
    monkeypatch.setattr(base, "MOST_BASES", bases - 1)
    with pytest.raises(InputError, match=f"the polytopes have {bases} bases; at most {bases - 1} are looked at"):
        WorstOfKernels.of_polytope(mdp, matrix, given)


def test_intervals_store_what_has_a_bound_and_nothing_else() -> None:
    """What rounding costs, and room, depend on it: a successor with the bounds 0 and 0 is none."""
    mdp = FiniteMDP.from_arrays([[[1.0, 0.0, 0.0]]] * 3, np.zeros((3, 1)), 0.9)
    lower = np.tile(np.array([1.0, 0.0, 0.0]), (3, 1, 1))
    upper = np.array([[[1.0, 0.0, 0.0]], [[1.0, 0.5, 0.0]], [[1.0, 0.0, 1.0]]])
    for low, high in ((lower, upper), (sparse.csr_array(lower.reshape(3, 3)), sparse.csr_array(upper.reshape(3, 3)))):
        bound = IntervalSet(low, high).of(mdp)
        assert bound.indptr.tolist() == [0, 1, 3, 5]
        assert bound.indices.tolist() == [0, 0, 1, 0, 2]
        assert bound.first.tolist() == [1.0, 1.0, 0.0, 1.0, 0.0]
        assert bound.second.tolist() == [1.0, 1.0, 0.5, 1.0, 1.0]


DIVIDED: dict[str, ExpectationFunctional] = {
    "kl, one row": KLBall(0.0),
    "kl": KLBall(0.1),
    "entropic, the mean": EntropicRisk(1e-300),
    "entropic": EntropicRisk(1.0),
    "chi2, one row": Chi2Ball(0.0),
    "chi2": Chi2Ball(0.1),
    "power, one row": CressieReadBall(0.0),
    "power": CressieReadBall(0.1),
    "renyi": RenyiBall(0.1),
    "likelihood, one row": LikelihoodBall(0.0),
    "likelihood": LikelihoodBall(0.1, "nominal"),
    "cvar, the mean": CVaR(1.0),
    "cvar": CVaR(0.5),
}
"""Sets that divide rows which miss 1 by their sums, as their bounds on rounding say or have as a rest."""


@pytest.mark.parametrize("missed", [-8.0, 8.0])
@pytest.mark.parametrize("name", DIVIDED)
def test_rows_that_miss_one_are_divided_by_their_sums(name: str, missed: float) -> None:
    """The mean of a constant is that constant, up to the rounding of a row of two; not what the row misses 1 by. What
    is not constant counts as under the row that was divided before."""
    functional, row = DIVIDED[name], np.array([0.25, 0.75]) * (1.0 + missed * 2 * UNIT)
    mdp = FiniteMDP.from_arrays(np.tile(row, (2, 1, 1)), np.zeros((2, 1)), 0.9)
    assert abs(row.sum() - 1.0) > 14 * UNIT
    assert np.abs(functional(mdp, np.full(2, 3.0)) - 3.0).max() <= 3.0 * 4 * UNIT
    whole = FiniteMDP.from_arrays(np.tile([0.25, 0.75], (2, 1, 1)), np.zeros((2, 1)), 0.9)
    v = np.array([3.0, 2.0])
    # where nothing is solved by steps, a few roundings each
    slack = 8 * 3.0 * UNIT if "row" in name or "mean" in name else 2 * functional.rounding(whole, 3.0)
    assert np.abs(functional(mdp, v) - functional(whole, v)).max() <= slack


def test_intervals_around_a_row_keep_off_stored_zeros() -> None:
    """A zero that is stored is no successor: P ± radius gives it nothing."""
    stored = sparse.csr_array(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    mdp = FiniteMDP.from_arrays(stored, [[0.0], [0.0]], 0.5)
    assert IntervalSet.around(mdp, 0.25)(mdp, np.array([1.0, 0.0])).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("name", [*SETS, "nominal"])
@pytest.mark.parametrize("beyond", [-5.0, 5.0])
def test_a_zero_that_is_stored_is_no_successor(name: str, beyond: float) -> None:
    """A row in CSR may hold one, here with the least or the greatest value."""
    row, v = np.array([0.5, 0.25, 0.25, 0.0]), np.array([1.0, 0.0, 2.0, beyond])
    stored = sparse.csr_array((np.tile(row, 4), np.tile(np.arange(4), 4), np.arange(0, 17, 4)), shape=(4, 4))
    dropped = stored.copy()
    dropped.eliminate_zeros()
    assert stored.nnz > dropped.nnz
    one, other = (FiniteMDP.from_arrays(kernel, np.zeros((4, 1)), 0.5) for kernel in (stored, dropped))
    functional: ExpectationFunctional = Nominal() if name == "nominal" else SETS[name](PARAMETERS[name][0])
    found, expected = functional(one, v), functional(other, v)
    size = float(np.abs(v).max())
    assert np.abs(found - expected).max() <= functional.rounding(one, size) + functional.rounding(other, size)
    rows = [functional.worst_rows(model, v).toarray() for model in (one, other)]
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-9)


# the lower bound of a single successor is at most 1, and so is its sum
@pytest.mark.parametrize(("which", "successors"), [("lower", 3), ("upper", 1), ("upper", 3)])
def test_bounds_may_miss_a_sum_of_one_by_their_rounding(which: str, successors: int) -> None:
    """By 8(n + 1) units, and by no more."""
    row = np.full(successors, 1.0 / successors)
    mdp = FiniteMDP.from_arrays(np.tile(row, (successors, 1, 1)), np.zeros((successors, 1)), 0.5, renormalise=True)
    missed = 8 * (successors + 1) * UNIT * (1.0 if which == "lower" else -1.0)
    halves = np.array([1.0]) if successors == 1 else np.array([0.5, 0.25, 0.25])
    for share, accepted in ((1.0, True), (1.25, False)):
        bound = np.tile(halves + np.eye(successors)[0] * missed * share, (successors, 1, 1))
        lower, upper = (bound, np.ones_like(bound)) if which == "lower" else (np.zeros_like(bound), bound)
        with nullcontext() if accepted else pytest.raises(InputError, match="a probability vector needs"):
            IntervalSet(lower, upper)(mdp, np.zeros(successors))


@pytest.mark.parametrize("functional", [L1Ball(0.1), KLBall(0.1)])
def test_values_of_another_model_are_refused(functional: ExpectationFunctional) -> None:
    mdp = families.chain(3, 0.9)
    with pytest.raises(InputError, match=r"v has shape \(2,\); the MDP asks for \(3,\)"):
        functional(mdp, np.zeros(2))


@pytest.mark.parametrize("radius", [1e-8, 0.04, 0.5])
@pytest.mark.parametrize("order", [2.0, 3.0, 4.0])
def test_power_divergences_of_a_coin_by_hand(order: float, radius: float) -> None:
    """A fair coin moved by t: ½(1 + 2t)^k + ½(1 − 2t)^k is 1 + 4t² for k = 2, 1 + 12t² for k = 3, and 1 + 24t² + 16t⁴
    for k = 4. The worst case of (0, 1) is ½ − t, its row (½ + t, ½ − t)."""
    mdp = FiniteMDP.from_arrays([[[0.5, 0.5]], [[0.5, 0.5]]], [[0.0], [0.0]], 0.5)
    v = np.array([0.0, 1.0])
    for ball, excess in (
        (CressieReadBall(radius, order), order * (order - 1.0) * radius),
        (RenyiBall(radius, order), np.expm1((order - 1.0) * radius)),
    ):
        square = {2.0: excess / 4, 3.0: excess / 12, 4.0: excess / 8 / (1.5 + np.sqrt(2.25 + excess / 4))}[order]
        t = min(np.sqrt(square), 0.5)
        assert ball(mdp, v)[0, 0] == pytest.approx(0.5 - t, abs=1e-12)
        assert ball.worst_kernel(mdp, v)[0, 0].tolist() == pytest.approx([0.5 + t, 0.5 - t], abs=1e-7)
