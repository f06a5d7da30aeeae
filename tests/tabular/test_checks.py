"""The checks of tabular input, where no model that other tests build comes to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import (
    as_float,
    check_available,
    check_initial,
    check_number,
    check_policy,
    check_whole,
    finite_array,
    largest_of,
    owned,
    real_matrix,
    same_mask,
)
from pyresac.tabular.mdp import FiniteMDP

HUGE = 10**400


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            lambda: real_matrix("t", sparse.csr_array(np.array([[1j]]))),
            "t is not a matrix of numbers: it holds",
        ),
        (lambda: finite_array("x", [HUGE]), "x is not an array of float64: int too large"),
        (lambda: check_available(np.ones((2, 3)), (2, 2)), r"available has shape \(2, 3\); expected \(2, 2\)"),
        (lambda: check_available(np.full((2, 2), 0.5), (2, 2)), "available must hold booleans"),
        (
            lambda: check_initial([0.5, 0.6], 2),
            r"initial has minimum 0\.5 and sum 1\.1; it must be a probability",
        ),
        (lambda: check_initial([-0.5, 1.5], 2), r"initial has minimum -0\.5 and sum 1\.0"),
        (lambda: check_policy("policy", np.zeros((0, 2))), r"policy has shape \(0, 2\); it needs at least one state"),
    ],
)
def test_what_is_refused(check: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check()


def test_a_number_too_large_for_a_float_is_none() -> None:
    assert as_float(HUGE) is None
    assert as_float(10**300) == 1e300


@pytest.mark.parametrize("sparse_form", [False, True])
def test_duplicates_of_a_sparse_row_are_added_up_and_what_was_given_stays(sparse_form: bool) -> None:
    """In any order, with indices of any width."""
    data, columns = np.array([0.5, 0.25, 0.25, 0.5, 0.5]), np.array([1, 0, 1, 1, 0], dtype=np.int64)
    given = sparse.csr_array((data, columns, np.array([0, 3, 5], dtype=np.int64)), shape=(2, 2))
    mdp = FiniteMDP.from_arrays(given if sparse_form else given.toarray()[:, None], [[0.0], [0.0]], 0.5)
    assert mdp.dense().tolist() == [[[0.25, 0.75]], [[0.5, 0.5]]]
    assert mdp.longest_row == 2
    assert [part.dtype for part in mdp.csr()] == [np.int32, np.int32, np.float64]
    assert mdp.matrix.indices.tolist() == [0, 1, 0, 1]
    assert given.data.tolist() == [0.5, 0.25, 0.25, 0.5, 0.5]
    assert given.indices.tolist() == [1, 0, 1, 1, 0]


ULP = 2.0**-52


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_row_may_miss_one_by_four_units_an_entry_and_one_more(sign: int, as_sparse: bool) -> None:
    """Of the entries that are stored, 2 of 3 here, or all."""
    most = 4 * ((2 if as_sparse else 3) + 1)

    def made(units: int) -> FiniteMDP:
        rows = np.array([[0.5 + sign * units * ULP, 0.5, 0.0]] * 3)
        return FiniteMDP.from_arrays(sparse.csr_array(rows) if as_sparse else rows[:, None], np.zeros((3, 1)), 0.5)

    assert made(most).row_error == pytest.approx(
        most * ULP + ((4 if as_sparse else 5) * 2.0**-53 * 1.0625), rel=1e-15, abs=0
    )
    with pytest.raises(InputError, match=r"^row \(s=0, a=0\) of transition sums to (1\.0000|0\.9999)\d{10,13}; rows"):
        made(most + 1)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_error_of_a_row_is_that_of_available_pairs(as_sparse: bool) -> None:
    """And so is the row that is named: the worst of them."""
    rows = np.array([[[1.0, 0.0], [0.7, 0.0]], [[0.5, 0.5], [0.0, 1.0]]])
    available = [[True, False], [True, True]]

    def made(kernel: np.ndarray, *, renormalise: bool = False) -> FiniteMDP:
        given = sparse.csr_array(kernel.reshape(4, 2)) if as_sparse else kernel
        return FiniteMDP.from_arrays(given, np.zeros((2, 2)), 0.5, available=available, renormalise=renormalise)

    for renormalise in (False, True):
        mdp = made(rows, renormalise=renormalise)
        assert mdp.dense()[0, 1].tolist() == [0.0, 0.0]
        assert mdp.row_error == np.nextafter(4 * 2.0**-53 * 1.0625, 1.0)
    for miss, hint in (
        (2e-3, ""),
        (0.987654321012345e-3, r" \(renormalise=True divides coarser rows by their sums\)"),
        (2e-12, r" \(renormalise=True divides coarser rows by their sums\)"),
        (0.9e-12, r" \(renormalise=True divides coarser rows by their sums\)"),
    ):
        spoilt = rows.copy()
        spoilt[1, 0, 0] -= miss
        spoilt[1, 1, 1] += miss / 2
        digits = f"{spoilt[1, 0].sum():.{17 if miss < 1e-12 else 12}g}"
        message = rf"^row \(s=1, a=0\) of transition sums to {re.escape(digits)}; rows must sum to 1"
        with pytest.raises(InputError, match=rf"{message}{hint}$"):
            made(spoilt)
        with pytest.raises(InputError, match=f"{message}$"):
            made(spoilt, renormalise=True)


@pytest.mark.parametrize(
    ("kind", "as_sparse"), [(np.float16, False), (np.float32, False), (np.float32, True), (np.float64, False)]
)
def test_rows_are_judged_by_their_own_rounding_where_they_are_divided(kind: type, as_sparse: bool) -> None:
    """Four units an entry and one more: of the given type with renormalise, of float64 without."""
    unit = float(np.finfo(kind).eps)
    for units, allowed in ((12, True), (13, False)):
        rows = np.array([[0.5 + units * unit, 0.5], [0.5, 0.5]], dtype=kind)
        given = sparse.csr_array(rows) if as_sparse else rows[:, None]
        if allowed:
            mdp = FiniteMDP.from_arrays(given, [[0.0], [0.0]], 0.5, renormalise=True)
            assert mdp.dense()[0, 0].sum() == pytest.approx(1.0, abs=ULP)
            assert mdp.row_error <= 3 * ULP
        else:
            with pytest.raises(InputError, match="rows must sum to 1"):
                FiniteMDP.from_arrays(given, [[0.0], [0.0]], 0.5, renormalise=True)
        if kind is not np.float64:
            with pytest.raises(InputError, match="rows must sum to 1"):
                FiniteMDP.from_arrays(given, [[0.0], [0.0]], 0.5)


def test_the_worst_row_of_a_policy_is_looked_at_and_all_are_divided() -> None:
    for rows, worst in (
        ([[0.5, 0.5], [0.4, 0.5], [0.5, 0.5]], 1),
        ([[0.5, 0.5], [0.5, 0.5], [0.6, 0.5]], 2),
        ([[0.6, 0.6], [0.2, 0.5]], 1),
        ([[0.8, 0.6], [0.3, 0.5]], 0),
    ):
        with pytest.raises(InputError, match=f"^row s={worst} of policy sums to {sum(rows[worst])}; rows must"):
            check_policy("policy", rows)
    for off in (9e-10, -9e-10):
        found = check_policy("policy", [[0.5, 0.5 + off], [1.0, 0.0]])
        assert found[0].sum() == pytest.approx(1.0, abs=ULP)
        assert found[0, 0] == pytest.approx(0.5 / (1.0 + off), rel=1e-15, abs=0)
        assert found[1].tolist() == [1.0, 0.0]


def test_masks_are_equal_whatever_array_they_are() -> None:
    mask = np.array([[True, False], [True, True]])
    for first, second, same in (
        (None, None, True), (None, mask, False), (mask, None, False), (mask, mask, True), (mask, mask.copy(), True),
        (mask, ~mask, False),
    ):  # fmt: skip
        assert same_mask(first, second) is same


def test_a_mask_may_be_of_zeros_and_ones() -> None:
    for kind in (np.bool_, np.int64, np.float64):
        found = check_available(np.array([[1, 0], [1, 1]], dtype=kind), (2, 2))
        assert found is not None
        assert found.dtype == np.bool_
        assert found.tolist() == [[True, False], [True, True]]
        assert check_available(np.ones((2, 2), dtype=kind), (2, 2)) is None
    for bad in (2, -1):
        with pytest.raises(InputError, match="available must hold booleans"):
            check_available(np.array([[1, 0], [1, bad]]), (2, 2))


def test_booleans_may_stand_in_an_array_but_not_alone() -> None:
    assert finite_array("x", [True, False]).tolist() == [1.0, 0.0]
    assert finite_array("x", 3).tolist() == 3.0
    for alone in (True, np.bool_(True), np.array(False)):
        with pytest.raises(InputError, match="x is not an array of numbers: it holds bool; real numbers are allowed"):
            finite_array("x", alone)


def test_indices_of_another_form_are_copied_too() -> None:
    """A coordinate matrix may share its columns with a row matrix."""
    rows = sparse.csr_array(np.eye(3))
    columns = rows.tocoo(copy=False)
    assert np.shares_memory(rows.indices, columns.coords[1])
    assert not np.shares_memory(owned(rows.indices, columns), rows.indices)


def test_a_number_may_lie_on_its_limits() -> None:
    """An open limit is none of them; what is refused is said as it was given."""
    for value in (1.0, 2.0, 3, Fraction(3, 2)):
        assert check_number("x", value, "in [1, 3]", low=1.0, high=3.0) == float(value)
    assert check_number("x", 1.5, "in (1, 3]", low=1.0, high=3.0, open_low=True) == 1.5
    for value, open_low in ((0.99, False), (3.01, False), (1.0, True), (np.inf, False), (np.nan, False)):
        with pytest.raises(InputError, match=f"^x is {value}; it must be so$"):
            check_number("x", value, "so", low=1.0, high=3.0, open_low=open_low)
    for whole in (2, np.int64(3)):
        assert check_whole("n", whole, low=2) == whole
    for bad in (1, True, 2.0, None):
        with pytest.raises(InputError, match=f"^n is {bad}; it must be a whole number of at least 2$"):
            check_whole("n", bad, low=2)


def test_the_largest_of_values_is_of_either_sign() -> None:
    assert (largest_of(np.array([1.0, -3.0])), largest_of(np.array([2.0, -1.0]))) == (3.0, 2.0)
    assert (largest_of(np.array([-1.0, -3.0])), largest_of(np.array([2.0, 1.0]))) == (3.0, 2.0)
