"""The compiled sweeps against plain loops, to the last bit: numbers are chosen so that nothing rounds."""

from __future__ import annotations

import numpy as np
import pytest
from interpreted_kernels import interpret
from scipy import sparse

from pyresac.tabular import affine_kernels, kernels, workers
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers.models import ExtremeModel
from pyresac.tabular.solvers.systems import AffineSystem
from pyresac.tabular.values import Max, Min
from pyresac.tabular.workers import Workers

BIT = 2.0**-50
GONE = np.nan
"""An action that is not available."""
CASES = [
    # what V reads, the action before, the action after
    ([1.0, 1.0, 0.5], -1, 0),
    ([0.5, 1.0, 1.0], -1, 1),
    ([1.0, 1.0, 0.5], 1, 1),
    ([1.0, 1.0 - BIT, 0.5], 1, 1),
    ([1.0, 1.0 - 2.0 * BIT, 0.5], 1, 0),
    ([-1.0, -1.0 - BIT, -1.5], 1, 1),
    ([-1.0, -1.0 - 2.0 * BIT, -1.5], 1, 0),
    ([0.0, 0.0, -1.0], 2, 0),
    ([0.0, 0.0, -1.0], 1, 1),
    ([1.5, 1.25, 2.0], 0, 2),
    ([2.0, 1.0, 0.5], 0, 0),
    ([GONE, -1.5, -2.0], 0, 1),
    ([-1.5, GONE, -1.5], 2, 2),
    ([GONE, GONE, -0.5], -1, 2),
]
"""An action that was chosen before stays while it ties, up to a few roundings; else the first of the best is taken."""
SCALE = 0.125
"""All is below 1."""
END = len(CASES)
"""A last state of value 0, where every action stays."""
V = np.append(np.arange(END) % 5 - 2.0, 0.0) / 8
PLACES = np.stack([np.arange(END), (np.arange(END) + 3) % END], axis=1)
"""Two successors of each state, with probabilities 1/4 and 3/4."""


def problem(sign: float, *, masked: bool, read: bool, moving: bool, dense: bool) -> RevOperator:
    """What V reads of the backup of V is the table of the cases, times sign and `SCALE`.

    masked: with the actions that are gone; without them these states are as the last. read: with a penalty that only
    V reads. moving: the states go on to others, else to the last one.
    """
    table = np.array([case[0] for case in CASES] + [[0.0] * 3])
    gone = np.isnan(table)
    table = sign * SCALE * (table if masked else np.where(gone.any(axis=1, keepdims=True), 0.0, table))
    rows = np.zeros((END + 1, 3, END + 1))
    rows[:, :, END] = 1.0
    if moving:
        rows[:END] = 0.0
        for a in range(3):
            rows[np.arange(END), a, PLACES[:, 0]] += 0.25
            rows[np.arange(END), a, PLACES[:, 1]] += 0.75
    penalty = np.tile([0.0, 0.25, -0.5], (END + 1, 1)) if read else np.zeros((END + 1, 3))
    reward = np.where(gone & masked, 0.0, table + penalty - 0.5 * rows @ V)
    reward[END] = penalty[END]
    mdp = FiniteMDP.from_arrays(
        rows if dense else sparse.csr_array(rows.reshape(-1, END + 1)), reward, 0.5, available=~gone if masked else None
    )
    return RevOperator(
        mdp, value=Max() if sign > 0 else Min(), epistemic=penalty if read else None, lambda_epi=1.0,
        penalty_at="next" if read else "pair",
    )  # fmt: skip


def expected(sign: float, masked: bool) -> tuple[np.ndarray, list[int], np.ndarray]:
    """(the values, the actions after, the actions before)."""
    values, after, before = [], [], []
    for row, old, new in CASES:
        gone = np.isnan(row).any() and not masked
        values.append(0.0 if gone else sign * SCALE * max(x for x in row if x == x))
        after.append((0 if old < 0 else old) if gone else new)
        before.append(old)
    return np.array([*values, 0.0]), [*after, 2], np.array([*before, 2], dtype=np.int32)


@pytest.mark.parametrize(("dense", "parts"), [(True, 1), (False, 1), (False, 4)])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_sweep_takes_the_first_of_the_best_and_keeps_what_ties(
    sign: float, masked: bool, read: bool, dense: bool, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "THREADED_ENTRIES", 1)
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda _: range(parts), raising=False)
    values, after, before = expected(sign, masked)
    operator = problem(sign, masked=masked, read=read, moving=True, dense=dense)
    with ExtremeModel(operator) as model:
        model._choice[:] = before
        found = model.sweep(V)
        np.testing.assert_array_equal(model.q, operator.backup(V))
        assert model.image.tolist() == values.tolist()
        assert model._choice.tolist() == after
        gap = values - V
        assert (found.low, found.high) == (gap.min(), gap.max())
        assert (found.v_size, found.q_size) == (0.25, np.abs(model.q[np.isfinite(model.q)]).max())
        assert found.changed == sum(x != y for x, y in zip(before, after, strict=True))
        assert model.sweep(V).changed == 0


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_so_does_a_sweep_in_place(sign: float, masked: bool, read: bool, dense: bool, backward: bool) -> None:
    """Every state goes to the last one, whose value stays 0: the order is nothing to them."""
    values, after, before = expected(sign, masked)
    operator = problem(sign, masked=masked, read=read, moving=False, dense=dense)
    operator = RevOperator(
        operator.mdp.replace(reward=operator.mdp.reward + 0.5 * operator.mdp.expect(V)),
        value=operator.value, epistemic=operator.scaled, lambda_epi=1.0, penalty_at=operator.penalty_at,
    )  # fmt: skip
    model, v = ExtremeModel(operator), V.copy()
    model._choice[:] = before
    largest, changed = model.in_place_sweep(v, backward=backward)
    assert v.tolist() == values.tolist()
    assert largest == np.abs(values - V).max() < 1.0
    assert model._choice.tolist() == after
    assert changed == sum(x != y for x, y in zip(before, after, strict=True))
    assert model.in_place_sweep(v, backward=backward) == (0.0, 0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_a_margin_goes_to_the_lowest_action_and_is_met_exactly(sign: float, read: bool, masked: bool) -> None:
    seen = np.array([[1.0, 1.5, 2.0], [1.5, 2.0, 1.75], [2.0, 1.0, 2.0], [1.25, 1.0, 2.0], [9.0, -1.5, -1.0]])
    allowed = np.array([[True] * 3] * 4 + [[False, True, True]]) if masked else np.empty((0, 0), dtype=np.bool_)
    offset = np.tile([0.0, 0.25, -0.5], (5, 1)) if read else np.empty((0, 0))
    q = sign * seen + (offset if read else 0.0)
    policy, best = np.full(5, -1, dtype=np.int64), np.full(5, np.nan)
    kernels.greedy_within(offset, allowed, sign, 0.5, q, policy, best)
    assert policy.tolist() == [1, 0, 0, 2, 1 if masked else 0]
    assert best.tolist() == [sign * x for x in (2.0, 2.0, 2.0, 2.0, -1.0 if masked else 9.0)]


def test_rows_that_were_written_are_left_alone_and_spare_slots_hold_nothing() -> None:
    """Rows of lengths 1 to 3 in slots for the longest of each state."""
    rows = np.zeros((3, 2, 3))
    rows[0, 0], rows[0, 1] = [0.5, 0.25, 0.25], [0.0, 1.0, 0.0]
    rows[1, 0], rows[1, 1] = [0.0, 0.0, 1.0], [0.25, 0.75, 0.0]
    rows[2, 0], rows[2, 1] = [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]
    reward = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    mdp = FiniteMDP.from_arrays(sparse.csr_array(rows.reshape(6, 3)), reward, 0.5)
    model = ExtremeModel(RevOperator(mdp))
    model._choice[:] = [1, 0, 1]
    system = model.system(np.zeros(3), solve_loops=False)
    assert system.indptr.tolist() == [0, 3, 5, 7]
    assert system.indices.tolist() == [1, 0, 0, 2, 1, 0, 2]
    assert system.data.tolist() == [0.5, 0.0, 0.0, 0.5, 0.0, 0.5, 0.0]
    assert system.rhs.tolist() == [2.0, 3.0, 6.0]
    system.data[:] = 7.0
    system.rhs[:] = 7.0
    model._choice[1] = 1
    system = model.system(np.zeros(3), solve_loops=False)
    assert system.data.tolist() == [7.0, 7.0, 7.0, 0.125, 0.375, 7.0, 7.0]
    assert system.rhs.tolist() == [7.0, 4.0, 7.0]
    # the loop of the second state is solved for: all is divided by 1 − 3/8
    system = model.system(np.zeros(3), solve_loops=True)
    assert system.indices.tolist() == [1, 0, 0, 0, 1, 0, 2]
    assert system.data.tolist() == [0.5, 0.0, 0.0, 0.125 * 1.6, 0.0, 0.5, 0.0]
    assert system.rhs.tolist() == [2.0, 6.4, 6.0]


def affine(parts: int, monkeypatch: pytest.MonkeyPatch) -> tuple[AffineSystem, np.ndarray, Workers]:
    """A system of 7 states with rows of 0 to 3 entries, its matrix, and its workers."""
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda _: range(parts), raising=False)
    matrix = np.zeros((7, 7))
    for s, columns in enumerate([(1, 6), (), (0, 2, 3), (3,), (0, 5), (6, 1, 2), (4,)]):
        matrix[s, list(columns)] = 0.125 * (s + 1) / (len(columns) or 1) if len(columns) != 3 else 0.25
    helpers = Workers(7, workers.THREADED_ENTRIES)
    plain = AffineSystem.of(sparse.csr_array(matrix), np.arange(7.0) / 16)
    return AffineSystem(plain.indptr, plain.indices, plain.data, plain.rhs, helpers), matrix, helpers


@pytest.mark.parametrize("parts", [1, 3])
def test_an_affine_sweep_is_the_plain_product_in_parts_as_in_one(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    system, matrix, helpers = affine(parts, monkeypatch)
    v, out = np.array([1.0, -2.0, 0.5, 4.0, -1.0, 3.0, -0.25]), np.full(7, np.nan)
    low, high = system.apply(v, out)
    helpers.close()
    assert out.tolist() == (system.rhs + matrix @ v).tolist()
    assert (low, high) == ((out - v).min(), (out - v).max())
    # all that is found may lie on one side
    for shift in (-64.0, 64.0):
        moved = AffineSystem(system.indptr, system.indices, system.data, system.rhs + shift)
        assert moved.apply(v, out) == ((out - v).min(), (out - v).max()) == (low + shift, high + shift)


@pytest.mark.parametrize("backward", [False, True])
def test_an_affine_sweep_in_place_reads_what_it_wrote(backward: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    system, matrix, helpers = affine(1, monkeypatch)
    helpers.close()
    v = np.array([1.0, -2.0, 0.5, 4.0, -1.0, 3.0, -0.25]) / 8
    wanted, largest = v.copy(), 0.0
    for s in range(6, -1, -1) if backward else range(7):
        new = float(system.rhs[s] + matrix[s] @ wanted)
        largest = max(largest, abs(new - wanted[s]))
        wanted[s] = new
    found = affine_kernels.affine_in_place(system.indptr, system.indices, system.data, system.rhs, v, backward)
    assert v.tolist() == pytest.approx(wanted.tolist(), abs=1e-15)
    assert found == pytest.approx(largest, abs=1e-15)
    assert largest < 1.0


def test_relaxation_turns_round_until_a_change_is_no_more_than_the_stop() -> None:
    """v = 1 + v/2 from 0, on one state: the changes are 1, 1/2, 1/4, …"""
    system = AffineSystem.of(sparse.csr_array([[0.5]]), np.ones(1))
    for stop, most, sweeps in ((0.25, 9, 3), (0.2499, 9, 4), (0.0, 2, 2), (1.0, 9, 1), (0.0, 0, 0)):
        for backward in (False, True):
            v = np.zeros(1)
            assert system.relax(v, stop, most, backward=backward) is (backward if sweeps % 2 == 0 else not backward)
            assert v[0] == 2.0 - 2.0 ** (1 - sweeps)


@pytest.mark.parametrize("rows_per_state", [1, 2])
def test_bandwidths_are_those_of_states(rows_per_state: int) -> None:
    """An entry above and one below the diagonal, the widest of either sign, in each row of a state."""
    for row in range(6 * rows_per_state):
        for column in range(6):
            matrix = np.zeros((6 * rows_per_state, 6))
            matrix[row, column], matrix[0, 0] = 1.0, 1.0
            system = AffineSystem.of(sparse.csr_array(matrix), np.zeros(6))
            apart = abs(column - row // rows_per_state)
            for limit in (5, 2):
                found = affine_kernels.bandwidth(system.indptr, system.indices, rows_per_state, limit)
                assert found == min(apart, limit + 1)


@pytest.mark.parametrize("width", [0, 1, 2, 3])
def test_elimination_and_rows_stay_in_their_arrays(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreted, where an index beyond an array is refused, with bands as wide as all but one state, too."""
    interpret(monkeypatch, affine_kernels, "solve_banded", "bandwidth")
    interpret(monkeypatch, kernels, "policy_rows")
    band = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= width
    rows = np.random.default_rng(width).random((4, 4)) * band
    rows /= rows.sum(axis=1, keepdims=True)
    system = AffineSystem.of(sparse.csr_array(0.75 * rows), np.zeros(4))
    right = np.array([1.0, -2.0, 4.0, 0.5])
    found = system.correction(right, 1e-9)
    assert found.tolist() == pytest.approx(np.linalg.solve(np.eye(4) - 0.75 * rows, right).tolist(), rel=1e-12, abs=0)
    assert right.tolist() == [1.0, -2.0, 4.0, 0.5]
    mdp = FiniteMDP.from_arrays(sparse.csr_array(rows), right[:, None], 0.75, renormalise=True)
    model = ExtremeModel(RevOperator(mdp))
    model.sweep(np.zeros(4))
    for solve_loops in (False, True):
        matrix = model.system(np.zeros(4), solve_loops=solve_loops).matrix.toarray()
        expected = 0.75 * rows
        if solve_loops:
            stay = expected.diagonal().copy()
            np.fill_diagonal(expected, 0.0)
            expected /= (1.0 - stay)[:, None]
        np.testing.assert_allclose(matrix, expected, rtol=1e-12)
