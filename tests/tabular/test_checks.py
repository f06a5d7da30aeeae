"""The checks of tabular input, where no model that other tests build comes to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular.checks import (
    as_float,
    check_available,
    check_initial,
    check_policy,
    finite_array,
    real_matrix,
)

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
