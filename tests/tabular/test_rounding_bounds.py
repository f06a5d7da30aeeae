"""Every bound on rounding stands once more, in corpus/rounding_bounds.json: a term that is lost is seen, however small.

That the bounds hold is shown elsewhere, and most examples are far below them. After a change that is meant:
`PYTHONPATH=.:tests/support python tests/tabular/test_rounding_bounds.py` writes the file anew, and its difference is
read before it is committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from functionals import every_set, every_value

from pyresac.tabular import (
    ExpectationFunctional,
    FiniteMDP,
    IntervalSet,
    RevOperator,
    WorstOfKernels,
    families,
)
from pyresac.tabular.s_rectangular import level_rounding

FILE = Path(__file__).parent.parent / "corpus" / "rounding_bounds.json"
MDPS = {
    "9 states, 5 successors": families.random_sparse(9, 2, 5, 0.75, seed=0),
    "4 states, all successors": families.random_dense(4, 3, 0.9, seed=1),
}
SIZES = (0.0, 1.0, 1e6)


def sets(mdp: FiniteMDP) -> dict[str, ExpectationFunctional]:
    """Those of any model, and those that are made of this one."""
    rows = mdp.dense()
    return every_set(mdp.n_states) | {
        "kernels": WorstOfKernels((rows, rows[::-1].copy())),
        "interval": IntervalSet.around(mdp, 0.1),
    }


def bounds() -> Iterator[tuple[str, float]]:
    """Names and bounds."""
    for kind, mdp in MDPS.items():
        for name, functional in sets(mdp).items():
            for size in SIZES:
                yield f"{name}, {kind}, |v| = {size:g}", functional.rounding(mdp, size)
        for name, value in every_value(*mdp.reward.shape).items():
            for size in SIZES:
                yield f"{name}, {mdp.n_actions} actions, |q| = {size:g}", value.rounding(size, mdp.n_actions)
                yield f"{name}, {mdp.n_actions} actions, |q| = {size:g}: |v|", value.magnitude(size, mdp.n_actions)
        for at in ("pair", "next"):
            operator = RevOperator(
                mdp, epistemic=np.full(mdp.reward.shape, 3.0), lambda_epi=0.5, kappa=0.1, penalty_at=at
            )
            for size in SIZES:
                yield f"operator, penalty at {at}, {kind}, |Q| = {size:g}", operator.rounding(size)
        for size in SIZES:
            yield f"level of an s-rectangular set, {kind}, |v| = {size:g}", level_rounding(mdp, size)


def test_every_bound_is_the_one_written_down() -> None:
    written = json.loads(FILE.read_text(encoding="utf-8"))
    found = dict(bounds())
    assert found.keys() == written.keys()
    for name, bound in found.items():
        # libraries' exponentials and sums may differ in their last bits, a lost term does not hide in them
        assert bound == pytest.approx(written[name], rel=1e-9, abs=1e-320), name
    assert all(mdp.row_error > 0.0 for mdp in MDPS.values()), "what rows miss 1 by must count in the bounds"


if __name__ == "__main__":
    FILE.write_text(json.dumps(dict(bounds()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
