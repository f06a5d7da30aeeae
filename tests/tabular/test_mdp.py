"""FiniteMDP: what it accepts, what it refuses and how it says so, and that its constructors agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, families

KERNEL = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.25, 0.75], [1.0, 0.0]]])
REWARD = np.array([[1.0, 0.0], [0.0, 2.0]])


def with_entry(index: tuple[int, ...], value: float) -> np.ndarray:
    kernel = KERNEL.copy()
    kernel[index] = value
    return kernel


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (with_entry((1, 0, 1), 0.73), r"row \(s=1, a=0\) of transition sums to 0.98; rows must sum to 1"),
        (with_entry((0, 1, 1), 1.8), r"row \(s=0, a=1\) of transition sums to 1.8"),
        (with_entry((1, 1, 0), -1.0), r"transition is -1.0 at \(s=1, a=1, s'=0\); probabilities must be finite"),
        (with_entry((0, 0, 1), np.nan), r"transition.*nan.*at \(s=0, a=0, s'=1\)|transition\[0, 0, 1\] is nan"),
    ],
)
def test_rows_that_are_no_distributions_are_refused(kernel: np.ndarray, message: str, as_sparse: bool) -> None:
    given = sparse.csr_array(kernel.reshape(4, 2)) if as_sparse else kernel
    with pytest.raises(InputError, match=message):
        FiniteMDP.from_arrays(given, REWARD, 0.9)


@pytest.mark.parametrize("discount", [1.0, -0.1, 1.5, float("nan"), "high"])
def test_discounts_outside_the_unit_interval_are_refused(discount: float) -> None:
    with pytest.raises(InputError, match=r"discount is .* in \[0, 1\)"):
        FiniteMDP.from_arrays(KERNEL, REWARD, discount)


@pytest.mark.parametrize(
    ("kernel", "reward", "message"),
    [
        (KERNEL[:, :, :1], REWARD, r"transition has shape \(2, 2, 1\); reward asks for \(2, 2, 2\)"),
        (KERNEL, REWARD[:1], r"transition has shape \(2, 2, 2\); reward asks for \(1, 2, 1\)"),
        (KERNEL, REWARD.ravel(), r"reward has shape \(4,\); expected 2 dimensions"),
        (KERNEL, [["a", "b"], ["c", "d"]], "reward is not an array of numbers"),
        (KERNEL, np.where(REWARD == 2, np.inf, REWARD), r"reward\[1, 1\] is inf"),
        (sparse.csr_array(KERNEL.reshape(2, 4)), REWARD, r"transition is sparse of shape \(2, 4\)"),
        (np.zeros((0, 2, 0)), np.zeros((0, 2)), "at least one state and one action"),
    ],
)
def test_shapes_that_disagree_are_refused(kernel: np.ndarray, reward: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FiniteMDP.from_arrays(kernel, reward, 0.9)


def test_a_state_without_an_action_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="state s=1 has no available action"):
        FiniteMDP.from_arrays(KERNEL, REWARD, 0.9, available=[[True, True], [False, False]])


def test_what_stands_at_unavailable_pairs_is_ignored() -> None:
    available = [[True, False], [True, True]]
    spoilt = with_entry((0, 1, 1), np.nan)
    reward = np.where([[False, True], [False, False]], np.inf, REWARD)
    for kernel in (spoilt, sparse.csr_array(spoilt.reshape(4, 2))):
        mdp = FiniteMDP.from_arrays(kernel, reward, 0.9, available=available)
        assert mdp.dense()[0, 1].tolist() == [0.0, 0.0]
        assert mdp.reward[0, 1] == 0.0


def test_a_row_of_one_and_an_ulp_passes_and_is_carried() -> None:
    mdp = FiniteMDP.from_arrays([[[1 + 2.0**-52]]], [[1.0]], 0.9)
    assert 2.0**-52 <= mdp.row_error < 1e-14
    assert FiniteMDP.from_arrays([[[1 + 2.0**-52]]], [[1.0]], 0.9, renormalise=True).dense()[0, 0, 0] == 1.0


def test_float32_rows_pass_only_when_renormalisation_is_asked_for() -> None:
    rows = np.random.default_rng(0).random((6, 2, 6)).astype(np.float32)
    rows /= rows.sum(axis=2, keepdims=True)
    reward = np.zeros((6, 2))
    with pytest.raises(InputError, match="renormalise=True"):
        FiniteMDP.from_arrays(rows, reward, 0.9)
    for kernel in (rows, sparse.csr_array(rows.reshape(12, 6))):
        assert FiniteMDP.from_arrays(kernel, reward, 0.9, renormalise=True).row_error < 1e-14
    with pytest.raises(InputError, match=r"sums to 0.979999"):
        FiniteMDP.from_arrays(rows * np.float32(0.98), reward, 0.9, renormalise=True)


def test_row_error_bounds_the_exact_row_sums() -> None:
    from fractions import Fraction

    for mdp in (families.random_dense(7, 2, 0.9, 1), families.random_sparse(40, 3, 6, 0.9, 2)):
        sums = [sum(Fraction(float(p)) for p in row) for state in mdp.dense() for row in state]
        assert max(abs(total - 1) for total in sums) <= Fraction(mdp.row_error)


def test_dense_and_sparse_hold_the_same_kernel() -> None:
    dense = families.random_dense(5, 3, 0.9, 3)
    twin = FiniteMDP.from_arrays(dense.matrix, dense.reward, 0.9)
    v = np.random.default_rng(0).normal(size=5)
    assert twin.is_sparse
    assert not dense.is_sparse
    np.testing.assert_array_equal(twin.dense(), dense.dense())
    np.testing.assert_allclose(twin.expect(v), dense.expect(v), rtol=0, atol=1e-14)


def test_counts_give_frequencies_and_mark_what_was_never_seen() -> None:
    counts = np.zeros((3, 2, 3))
    counts[0, 0] = [1, 3, 0]
    counts[1, 1] = [0, 0, 2]
    sums = np.zeros((3, 2))
    sums[0, 0], sums[1, 1] = 8.0, -1.0
    mdp = FiniteMDP.from_counts(counts, sums, 0.9)
    assert mdp.available is not None
    assert mdp.available.tolist() == [[True, False], [False, True], [True, True]]
    assert mdp.dense()[0, 0].tolist() == [0.25, 0.75, 0.0]
    assert mdp.dense()[2, 0].tolist() == [0.0, 0.0, 1.0]
    assert mdp.reward.tolist() == [[2.0, 0.0], [0.0, -0.5], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("counts", "sums", "message"),
    [
        (-np.ones((1, 1, 1)), np.zeros((1, 1)), "counts must be finite and at least 0"),
        (np.zeros((1, 1, 1)), np.ones((1, 1)), r"reward_sums is 1.0 at \(s=0, a=0\), a pair that was never seen"),
        (np.zeros((2, 1, 2)), np.zeros((1, 1)), r"counts has \(2, 2\)"),
    ],
)
def test_counts_that_make_no_sense_are_refused(counts: np.ndarray, sums: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FiniteMDP.from_counts(counts, sums, 0.9)


@pytest.mark.parametrize(
    "build",
    [
        lambda: families.random_dense(0, 2, 0.9, 0),
        lambda: families.random_sparse(3, 2, 0, 0.9, 0),
        lambda: families.grid(3, 0.9, slip=1.0),
        lambda: families.queue(5, 0.9, arrival=0.9),
        lambda: families.chain(True, 0.9),
    ],
)
def test_families_refuse_sizes_and_rates_out_of_range(build: object) -> None:
    with pytest.raises(InputError, match="must"):
        build()  # type: ignore[operator]
