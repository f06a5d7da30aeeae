"""A model shared among processes: the answer and its bound are those of one process, bit for bit."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property_tests.strategies import mdps
from property_tests.together import by_threads
from pyresac.tabular import (
    CVaR,
    ExpectationFunctional,
    FiniteMDP,
    IntervalSet,
    KLBall,
    L1Ball,
    Max,
    Min,
    Nominal,
    RevOperator,
    Solution,
    families,
    solve,
)
from pyresac.tabular.exact import ExactMDP
from pyresac.tabular.shares import Share

EXPECTATIONS = {
    "nominal": lambda mdp: Nominal(),
    "l1": lambda mdp: L1Ball(0.3),
    "l1 on the successors": lambda mdp: L1Ball(0.3, support="nominal"),
    "interval": lambda mdp: IntervalSet.around(mdp, 0.1),
    "best interval": lambda mdp: IntervalSet.around(mdp, 0.1, optimistic=True),
    "kl": lambda mdp: KLBall(0.1),
    "cvar": lambda mdp: CVaR(0.4),
}


def solved_by(size: int, path: Path, name: str, minimise: bool, tolerance: float) -> list[Solution]:
    """Each process's solution, its v and policy gathered."""

    def work(process: object) -> Solution:
        share = Share.load(path, process)  # type: ignore[arg-type]
        found = solve(operator(share, name, minimise), tolerance=tolerance)
        gathered = share.gathered(found.v), share.gathered(found.policy)
        return Solution(
            found.q, *gathered, found.error_bound, found.iterations, 0.0, found.converged, "", "", found.operator
        )

    return by_threads(size, work)


def operator(mdp: FiniteMDP, name: str, minimise: bool) -> RevOperator:
    """The backup that is solved."""
    expectation: ExpectationFunctional = EXPECTATIONS[name](mdp)
    return RevOperator(mdp, value=Min() if minimise else Max(), expectation=expectation, kappa=0.125)


def compare(mdp: FiniteMDP, sizes: list[int], name: str, minimise: bool, tolerance: float) -> None:
    """All bits of the answers of `sizes` processes are those of one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        mdp.save_folder(path)
        whole = FiniteMDP.load(path)
        one = solve(operator(whole, name, minimise), tolerance=tolerance, method="value_iteration")
        for size in sizes:
            parts = solved_by(size, path, name, minimise, tolerance)
            for part in parts:
                assert part.v.tobytes() == one.v.tobytes()
                assert part.policy.tolist() == one.policy.tolist()
                assert (part.error_bound, part.iterations, part.converged) == (
                    one.error_bound, one.iterations, one.converged,
                )  # fmt: skip
            assert np.concatenate([part.q for part in parts]).tobytes() == one.q.tobytes()


@settings(max_examples=12)
@given(
    st.data(),
    mdps(max_states=5, max_actions=3, masked=True, discount=st.sampled_from([Fraction(1, 2), Fraction(7, 8)])),
    st.sampled_from(sorted(EXPECTATIONS)),
    st.booleans(),
)
def test_every_number_of_processes_gives_the_same_bits(
    data: st.DataObject, source: ExactMDP, name: str, minimise: bool
) -> None:
    mdp = FiniteMDP.from_exact(source)
    sizes = data.draw(st.lists(st.integers(1, mdp.n_states), min_size=1, max_size=2, unique=True))
    compare(mdp, sizes, name, minimise, 1e-6 * (1.0 + mdp.reward_size))


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_rows_of_many_lengths_and_a_tolerance_out_of_reach(name: str) -> None:
    """The longest row and the largest reward, on which bounds depend, are in different processes; at tolerance 0 bounds
    say when to stop."""
    mdp = families.random_sparse(37, 3, 9, 0.75, seed=1)
    rows, reward = mdp.matrix.tolil(), mdp.reward.copy()
    rows[0] = 0.0
    rows[0, :20] = 0.05
    reward[36] *= 50.0
    uneven = FiniteMDP.from_arrays(rows.tocsr(), reward, 0.75)
    compare(uneven, [2, 3, 37], name, False, 0.0)
