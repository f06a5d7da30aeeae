"""Backward induction against rationals, stage by stage."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, L1Ball, Min, RevOperator, Soft, families, solve, solve_horizon
from pyresac.tabular.exact import ExactMDP, ExactRev, sets
from pyresac.tabular.solvers.certificate import Rounding


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_each_stage_is_within_its_bound(robust: bool, masked: bool) -> None:
    third = Fraction(1, 3)
    exact = ExactMDP(
        (((third, 2 * third), (1, 0)), ((0, 1), (third, 2 * third))),
        ((1, -2), (third, 5)),
        Fraction(9, 10),
        ((True, not masked), (True, True)),
    )
    mdp = FiniteMDP.from_exact(exact)
    solution = solve_horizon(
        RevOperator(mdp, kappa=0.25, expectation=L1Ball(0.5) if robust else None), 30, terminal=[2.0, -1.0]
    )
    twin = ExactRev(mdp.to_exact(), kappa=Fraction(1, 4), inner=sets.l1(Fraction(1, 2)) if robust else None)
    v: tuple[Fraction, ...] = (Fraction(2), Fraction(-1))
    for h in reversed(range(30)):
        q = twin.backup(v)
        for s in range(2):
            for a in exact.actions(s):
                assert abs(Fraction(float(solution.q[h, s, a])) - q[s][a]) <= Fraction(float(solution.error_bound[h]))
            assert q[s][solution.policy[h, s]] >= max(q[s][a] for a in exact.actions(s)) - 4 * Fraction(
                float(solution.error_bound[h])
            )
        v = twin.value_of(q)
    assert solution.error_bound[0] < 1e-11
    assert solution.v.shape == (31, 2)


def test_a_long_horizon_comes_to_the_fixed_point_and_early_stages_differ() -> None:
    mdp = families.chain(5, 0.9)
    operator = RevOperator(mdp, value=Min())
    solution, limit = solve_horizon(operator, 400), solve(operator, tolerance=1e-10)
    assert np.abs(solution.q[0] - limit.q).max() <= 0.9**400 * 1000 + solution.error_bound[0] + limit.error_bound
    assert (np.diff(solution.error_bound) <= 0).all()


def test_every_term_of_a_stage_s_bound_counts() -> None:
    """e_h = 1.0000001(e_B + γ(e_{h+1} + e_V)) of the sizes that are given, from 0 at the end."""
    operator = RevOperator(families.random_dense(3, 2, 0.75, seed=0), value=Soft(0.5))
    solution, rounding = solve_horizon(operator, 3, terminal=[1.0, -2.0, 0.5]), Rounding(operator, fused=False)
    error = 0.0
    for h in (2, 1, 0):
        v_size, q_size = np.abs(solution.v[h + 1]).max(), np.abs(solution.q[h]).max()
        error = 1.0000001 * (rounding.backup(v_size, q_size) + 0.75 * error)
        assert solution.error_bound[h] == pytest.approx(error, rel=1e-12, abs=0.0)
        error += rounding.value(q_size)


def test_policies_of_stages_are_those_of_their_own_values() -> None:
    """A reward now against three times as much a step later: the last stage takes it, all before wait."""
    rows = np.zeros((3, 2, 3))
    rows[0, 0, 1] = rows[0, 1, 2] = rows[1:, :, 2] = 1.0
    mdp = FiniteMDP.from_arrays(rows, [[0.0, 1.0], [3.0, 2.0], [0.0, 0.0]], 0.5)
    solution = solve_horizon(RevOperator(mdp), 3)
    assert solution.policy.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert solution.policy.dtype == np.int64
    assert solution.q.tolist() == [[[1.5, 1.0], [3.0, 2.0], [0.0, 0.0]]] * 2 + [[[0.0, 1.0], [3.0, 2.0], [0.0, 0.0]]]
    assert solution.v.tolist() == [[1.5, 3.0, 0.0]] * 2 + [[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    assert solve_horizon(RevOperator(mdp), 1).policy.tolist() == [[1, 0, 0]]
    with pytest.raises(InputError, match=r"^operator is a FiniteMDP; solve_horizon takes a RevOperator$"):
        solve_horizon(mdp, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"horizon": 0}, "horizon is 0"), ({"horizon": 2, "terminal": [0.0]}, r"terminal has shape \(1,\)")],
)
def test_bad_horizons_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve_horizon(RevOperator(families.chain(5, 0.9)), **options)  # type: ignore[arg-type]
