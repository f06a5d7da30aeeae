"""The worst of finitely many kernels, and polytopes by their corners: by loops, with pairs that are not there."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, Nominal, WorstOfKernels
from pyresac.tabular.expectations.base import ExpectationFunctional, WorstRows
from pyresac.tabular.values import UNIT

ROWS = np.random.default_rng(0).multinomial(16, [0.5, 0.25, 0.25], size=(3, 3, 2)) / 16.0
"""Three kernels over three states and two actions."""
SOME = np.array([[True, True], [False, True], [True, False]])
V = np.array([1.0, -2.0, 5.0])


def model(available: Any = None) -> FiniteMDP:
    return FiniteMDP.from_arrays(ROWS[0], np.zeros((3, 2)), 0.5, available=available)


@pytest.mark.parametrize("mask", [None, SOME])
def test_each_pair_has_the_first_of_its_worst_kernels(mask: Any) -> None:
    mdp = model(mask)
    kernels = [ROWS[0], ROWS[1], ROWS[1].copy(), ROWS[2]]
    forms = (kernels, tuple(kernels), [kernels[0], *(sparse.csr_array(k.reshape(6, 3)) for k in kernels[1:])])
    for given in forms:
        functional = WorstOfKernels(given).bound_to(mdp)
        assert functional.bound_to(mdp) is functional
        values, worst = functional(mdp, V), functional.worst_kernel(mdp, V)
        for s, a in product(range(3), range(2)):
            if mask is not None and not mask[s, a]:
                assert values[s, a] == 0.0
                continue
            each = [float(k[s, a] @ V) for k in kernels]
            assert values[s, a] == min(each)
            assert worst[s, a].tolist() == kernels[each.index(min(each))][s, a].tolist()
        assert functional.worst_rows(mdp, V).shape == (6, 3)
        np.testing.assert_array_equal(functional.worst_rows(mdp, V).toarray(), worst.reshape(6, 3))


def test_a_set_that_was_bound_is_checked_again_for_another_model() -> None:
    """Of other shape, or with other pairs; of the same it is kept."""
    bound = WorstOfKernels([ROWS[0], ROWS[1]]).bound_to(model())
    assert bound.bound_to(model()) is bound
    assert bound.bound_to(model(SOME)) is not bound
    assert bound(model(SOME), V)[1, 0] == 0.0
    larger = FiniteMDP.from_arrays(np.ones((3, 1, 3)) / 3, np.zeros((3, 1)), 0.5, renormalise=True)
    with pytest.raises(InputError, match=r"kernels\[0\]"):
        bound.bound_to(larger)
    own = ROWS[1].copy()
    kept = WorstOfKernels([own]).bound_to(model())
    own[:] = np.eye(3)[0]
    assert kept(model(), V).tolist() == (ROWS[1] @ V).tolist(), "what was given may change afterwards"
    bad = ROWS[1].copy()
    bad[2, 1] *= 2.0
    with pytest.raises(InputError, match=r"kernels\[1\]: row \(s=2, a=1\) of transition sums to 2"):
        WorstOfKernels([ROWS[0], bad]).bound_to(model())


def test_the_bound_on_rounding_is_that_of_the_worst_kernel() -> None:
    """A kernel that misses 1 by more, or has longer rows, is the one that counts."""
    off = np.tile([0.1, 0.2, 0.7], (3, 2, 1))
    off[..., 0] += 6 * UNIT
    mdp = FiniteMDP.from_arrays(np.tile(np.eye(3)[0], (3, 2, 1)), np.zeros((3, 2)), 0.5)
    other = FiniteMDP.from_arrays(off, np.zeros((3, 2)), 0.5)
    both = WorstOfKernels([mdp.dense(), off])
    assert both.rounding(mdp, 3.0) == Nominal().rounding(other, 3.0) > Nominal().rounding(mdp, 3.0)


@pytest.mark.parametrize("shared", [True, False])
def test_corners_of_pairs_that_are_there(shared: bool) -> None:
    """p₀ ≤ ½, and at one pair p₀ ≤ ¼ besides; what stands where no action is does not matter, even an empty set."""
    mdp = model(SOME)
    matrix, bound = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.5, 0.75])
    matrices, bounds = np.tile(matrix, (3, 2, 1, 1)), np.tile(bound, (3, 2, 1))
    if not shared:
        bounds[0, 1, 0], bounds[1, 0] = 0.25, -1.0
    v = np.array([-1.0, 5.0, 1.0])
    given: tuple[tuple[Any, Any], ...] = (
        ((matrix, bound), (matrices, bound), (matrix, np.tile(bound, (3, 2, 1)))) if shared else
        ((matrix, bounds), (matrices, bounds))
    )  # fmt: skip
    for one, other in given:
        found = WorstOfKernels.of_polytope(mdp, one, other)
        values = found(mdp, v)
        for s, a in product(range(3), range(2)):
            least = 0.25 if (s, a) == (0, 1) and not shared else 0.5
            assert values[s, a] == (1.0 - 2.0 * least if SOME[s, a] else 0.0)
        # five corners or four; the last stands in for those that a pair lacks
        assert len(found.kernels) == 5
        assert found.worst_kernel(mdp, v)[0, 0].tolist() == [0.5, 0.0, 0.5]
    for wrong, said in (
        (((matrix[0]), bound), r"matrix has shape \(3,\); expected \(m, 3\) or \(3, 2, 'm', 3\)"),
        ((matrices[0], bound), r"matrix has shape \(2, 2, 3\)"),
        ((matrices[:, :1], bound), r"matrix has shape \(3, 1, 2, 3\)"),
        ((matrix[:, :2], bound), r"matrix has shape \(2, 2\); expected"),
        ((matrix, bound[:1]), r"bound has shape \(1,\); the matrix asks for \(2,\) or \(3, 2, 2\)"),
        ((matrix, bounds[..., :1]), r"bound has shape \(3, 2, 1\)"),
        ((matrix, bounds[0]), r"bound has shape \(2, 2\)"),
    ):
        with pytest.raises(InputError, match=said):
            WorstOfKernels.of_polytope(mdp, *wrong)
    bounds[2, 0], bounds[0, 1] = -1.0, -1.0
    with pytest.raises(InputError, match=r"the polytope of \(s=0, a=1\) is empty: no row obeys"):
        WorstOfKernels.of_polytope(mdp, matrix, bounds)


def test_what_a_set_of_kernels_is_made_of() -> None:
    for given, said in (
        ([], "kernels is empty"),
        ((), "kernels is empty"),
        (ROWS, "kernels is a ndarray; it must be a list or a tuple"),
        (None, "kernels is a NoneType"),
    ):
        with pytest.raises(InputError, match=said):
            WorstOfKernels(given)  # type: ignore[arg-type]


def test_a_functional_of_ones_own_defines_its_rows_or_its_kernel() -> None:
    """Each is made from the other; a set without options is bound to every model."""

    class ByKernel(ExpectationFunctional):
        lean = "none"

        def __call__(self, mdp: FiniteMDP, v: Any) -> Any:
            return mdp.expect(v)

        def worst_kernel(self, mdp: FiniteMDP, v: Any) -> Any:
            return ROWS[1]

        def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
            return 0.0

    own = ByKernel()
    assert own.bound_to(model()) is own
    np.testing.assert_array_equal(own.worst_rows(model(), V).toarray(), ROWS[1].reshape(6, 3))
    np.testing.assert_array_equal(Nominal().worst_kernel(model(), V), ROWS[0])
    room = WorstRows.for_pairs(np.array([2, 0, 3]))
    assert room.slots.tolist() == [0, 2, 2, 5]
    assert (room.columns.tolist(), room.weights.tolist()) == ([0] * 5, [0.0] * 5)
