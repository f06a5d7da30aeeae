"""What a solver asks of a model, number by number: the first values, the systems that it hands out, its threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pyresac.tabular import (
    FiniteMDP,
    L1Ball,
    LInfinityBall,
    Max,
    Mellowmax,
    Min,
    Nominal,
    PolicyMean,
    RevOperator,
    Soft,
    WorstOfKernels,
    families,
    workers,
)
from pyresac.tabular.expectations import ExpectationFunctional
from pyresac.tabular.solvers import api
from pyresac.tabular.solvers import policy_iteration as solver
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import ExtremeModel, GeneralModel, Model
from pyresac.tabular.solvers.robust import RobustModel
from pyresac.tabular.solvers.solution import policy_of
from pyresac.tabular.solvers.systems import AffineSystem
from pyresac.tabular.solvers.value_iteration import IN_PLACE_SWEEPS, Shift, centre, gauss_seidel, take_image
from pyresac.tabular.values import ValueFunctional

STATES, ACTIONS = 6, 3
SOURCE = families.random_dense(STATES, ACTIONS, 0.75, seed=3)
POLICY = np.random.default_rng(1).dirichlet(np.ones(ACTIONS), size=STATES)


def operator_of(
    *,
    dense: bool,
    read: bool = True,
    masked: bool = True,
    value: ValueFunctional | None = None,
    expectation: Any = None,
) -> RevOperator:
    available = np.array([[True, True, True], [False, True, True], [True, False, True]] * 2) if masked else None
    kernel = SOURCE.dense()
    mdp = FiniteMDP.from_arrays(
        kernel if dense else sparse.csr_array(kernel.reshape(-1, STATES)), SOURCE.reward, 0.75, available=available
    )
    penalty = np.random.default_rng(2).random((STATES, ACTIONS))
    return RevOperator(
        mdp, epistemic=penalty, lambda_epi=0.5, kappa=0.25, value=value, expectation=expectation,
        penalty_at="next" if read else "pair",
    )  # fmt: skip


MODELS: list[tuple[type[Model], ExpectationFunctional, ValueFunctional]] = [
    (ExtremeModel, Nominal(), Max()),
    (ExtremeModel, Nominal(), Min()),
    (GeneralModel, Nominal(), Max()),
    (GeneralModel, Nominal(), Min()),
    (GeneralModel, Nominal(), Soft(0.5)),
    (RobustModel, L1Ball(0.25), Max()),
    (RobustModel, L1Ball(0.25), Min()),
]


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize(("kind", "expectation", "value"), MODELS)
def test_a_solve_begins_below_its_own_backup_or_where_it_is_told(
    kind: type[Model], expectation: Any, value: ValueFunctional, read: bool, dense: bool
) -> None:
    """W 0 + γ·least/(1 − γ), with γ/(1 − γ) = 3; the greatest for a minimum. The backup moves it to one side."""
    operator = operator_of(dense=dense, read=read, value=value, expectation=expectation)
    model = kind(operator)
    assert model.rate == pytest.approx(3.0, rel=1e-15, abs=0.0)
    nothing = operator.value_of(operator.backup(np.zeros(STATES)))
    level = max(nothing) if isinstance(value, Min) else min(nothing)
    first = model.start(None)
    assert first.tolist() == pytest.approx([x + 3.0 * level for x in nothing], rel=1e-13, abs=0.0)
    after = operator.value_of(operator.backup(first))
    assert ((after <= first + 1e-13) if isinstance(value, Min) else (after >= first - 1e-13)).all()
    table = np.random.default_rng(4).normal(size=(STATES, ACTIONS))
    assert model.start(table).tolist() == operator.value_of(table).tolist()
    # they may be written to, and nobody else's
    first[:] = 7.0
    assert model.start(None)[0] != 7.0


@pytest.mark.parametrize("solve_loops", [False, True])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize(("kind", "expectation", "value"), MODELS)
def test_systems_of_dense_and_sparse_models_are_one(
    kind: type[Model], expectation: Any, value: ValueFunctional, read: bool, solve_loops: bool
) -> None:
    """Of what the last sweep chose: the same D and right-hand side, and W itself where it was made."""
    found = []
    for dense in (False, True):
        operator = operator_of(dense=dense, read=read, value=value, expectation=expectation)
        model = kind(operator)
        for seed in (0, 1):
            v = np.random.default_rng(seed).normal(size=STATES)
            model.sweep(v)
            system = model.system(v, solve_loops=solve_loops)
            matrix = system.matrix.toarray()
            image = operator.value_of(operator.backup(v))
            expected = image + (matrix @ v - v if solve_loops else 0.0)
            if solve_loops:
                assert not matrix.diagonal().any()
            else:
                np.testing.assert_allclose(system.rhs + matrix @ v, image, rtol=1e-12, atol=1e-13)
                np.testing.assert_allclose(matrix.sum(axis=1), 0.75, rtol=1e-12)
            assert expected.shape == system.rhs.shape
        found.append((matrix, np.array(system.rhs), np.linalg.solve(np.eye(STATES) - matrix, system.rhs)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_loops_are_solved_for_without_moving_the_solution() -> None:
    """Rows divided by 1 less their own diagonal, right-hand sides too."""
    matrix = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.5], [0.125, 0.0, 0.75]])
    found = AffineSystem.of(sparse.csr_array(matrix), np.array([1.0, 2.0, 3.0])).without_loops()
    assert found.matrix.toarray().tolist() == [[0.0, 0.5, 0.0], [0.0, 0.0, 0.5], [0.5, 0.0, 0.0]]
    assert found.rhs.tolist() == [2.0, 2.0, 12.0]
    assert found.matrix.nnz == 3


@pytest.mark.parametrize(
    ("value", "expectation", "kept"),
    [
        (PolicyMean(POLICY), Nominal(), True),
        (PolicyMean(POLICY), L1Ball(0.25), False),
        (Soft(0.5), Nominal(), False),
        (Mellowmax(2.0), L1Ball(0.25), False),
    ],
)
def test_a_general_model_makes_each_system_anew_unless_it_is_one(
    value: ValueFunctional, expectation: Any, kept: bool
) -> None:
    operator = operator_of(dense=True, masked=False, value=value, expectation=expectation)
    model, matrices = GeneralModel(operator), []
    for seed in range(3):
        v = 9.0 * np.random.default_rng(seed).normal(size=STATES)
        fresh = GeneralModel(operator)
        for each in (model, fresh):
            each.sweep(v)
        one, other = (each.system(v, solve_loops=False).matrix.toarray() for each in (model, fresh))
        np.testing.assert_array_equal(one, other)
        matrices.append(one)
    assert (model._fixed is not None) == kept
    assert np.array_equal(matrices[0], matrices[2]) == kept


@pytest.mark.parametrize("linear", [False, True])
def test_a_general_model_counts_the_actions_that_change(linear: bool) -> None:
    """All at first, for a value that chooses; none for a mean. Sizes are of available pairs."""
    operator = operator_of(dense=True, masked=not linear, value=PolicyMean(POLICY) if linear else Soft(0.5))
    model = GeneralModel(operator)
    counts, before = [], np.full(STATES, -1)
    for seed in (0, 0, 1, 2):
        v = 20.0 * np.random.default_rng(seed).normal(size=STATES)
        found = model.sweep(v)
        q = operator.backup(v)
        greedy = operator.seen(q).argmax(axis=1)
        counts.append((found.changed, 0 if linear else int((greedy != before).sum())))
        before = greedy
        there = q[np.isfinite(q)]
        assert (found.v_size, found.q_size) == (np.abs(v).max(), np.abs(there).max())
        gap = operator.value_of(q) - v
        assert (found.low, found.high) == (gap.min(), gap.max())
    assert all(one == other for one, other in counts)
    assert [count for count, _ in counts][:2] == ([0, 0] if linear else [STATES, 0])


@pytest.mark.parametrize("kind", [L1Ball, LInfinityBall])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("optimistic", [False, True])
def test_the_answer_to_a_policy_is_its_own_row_of_the_backup(kind: Any, read: bool, optimistic: bool) -> None:
    """And with that answer held, no value is below the worst case of any other answer (above the best)."""
    operator = operator_of(dense=False, read=read, expectation=kind(0.25, optimistic=optimistic))
    model = RobustModel(operator)
    assert model.work == 10
    draw = np.random.default_rng(5)
    v = draw.normal(size=STATES)
    first = model.sweep(v)
    assert first.changed == STATES
    assert model.sweep(v).changed == 0
    chosen = operator.seen(operator.backup(v)).argmax(axis=1)
    assert model._choice.tolist() == chosen.tolist()
    states = np.arange(STATES)
    for _ in range(2):
        out = np.full(STATES, np.nan)
        system = model.policy_sweep(v, out)
        wanted = operator.seen(operator.backup(v))[states, chosen]
        np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-13)
        matrix = system.matrix.toarray()
        np.testing.assert_allclose(system.rhs + matrix @ v, out, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(matrix.sum(axis=1), 0.75, rtol=1e-12)
        other = v + draw.normal(size=STATES)
        apart = system.rhs + matrix @ other - operator.seen(operator.backup(other))[states, chosen]
        assert ((apart <= 1e-12) if optimistic else (apart >= -1e-12)).all()
        assert np.abs(apart).max() > 1e-6
        v = other


@pytest.mark.parametrize(("kind", "work"), [(ExtremeModel, 1), (RobustModel, 10)])
@pytest.mark.parametrize("dense", [False, True])
def test_threads_begin_at_so_much_work_and_end_with_the_solve(
    kind: type[Model], work: int, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda _: range(3), raising=False)
    operator = operator_of(dense=dense, expectation=L1Ball(0.25) if kind is RobustModel else None)
    entries = work * operator.mdp.matrix.nnz
    for least, parts in ((1, 1 if dense else 3), (entries, 1 if dense else 3), (entries + 1, 1)):
        monkeypatch.setattr(workers, "THREADED_ENTRIES", least)
        with kind(operator) as model:
            assert model.workers._parts == parts
            pool = model.workers._pool
            assert (pool is not None) == (parts > 1)
        if pool is not None:
            with pytest.raises(RuntimeError, match="after shutdown"):
                pool.submit(print)


GUARDED = [
    # the value, the set, whether an evaluation may go astray
    (Max(), Nominal(), False), (Min(), Nominal(), False), (Soft(1.0), Nominal(), False),
    (Max(), L1Ball(0.25), True), (Min(), L1Ball(0.25), False),
    (Max(), L1Ball(0.25, optimistic=True), False), (Min(), L1Ball(0.25, optimistic=True), True),
    (Soft(1.0), L1Ball(0.25), True), (PolicyMean(POLICY), L1Ball(0.25), False),
    (Max(), WorstOfKernels([SOURCE.dense()]), True), (Min(), WorstOfKernels([SOURCE.dense()]), False),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expectation", "needed"), GUARDED)
def test_a_residual_that_grew_is_undone_where_two_players_meet(
    value: ValueFunctional, expectation: Any, needed: bool
) -> None:
    """γ times the residual before is small enough; anything more is not."""
    operator = operator_of(dense=True, masked=False, value=value, expectation=expectation)
    for size, undone in ((0.75 * 2.0, False), (np.nextafter(1.5, 2.0), needed)):
        model, guard = Model.__new__(GeneralModel), None
        model.operator, model.discount = operator, 0.75
        model.image = np.full(STATES, 3.0)
        swept: list[list[float]] = []

        def sweep(v: np.ndarray, swept: list[list[float]] = swept, size: float = float(size)) -> Residual:
            swept.append(v.tolist())
            return Residual(-size, size / 2, 1.0, 1.0, 0)

        model.sweep = sweep  # type: ignore[method-assign]
        guard = solver._Guard(model)
        guard.keep(Residual(-2.0, 1.0, 1.0, 1.0, 0))
        model.image[:] = 9.0
        v, residual = guard.checked(np.full(STATES, 5.0))
        assert v.tolist() == [3.0 if undone else 5.0] * STATES
        assert swept == [[5.0] * STATES] + [[3.0] * STATES] * undone
        assert residual.size == size


@pytest.mark.parametrize(
    ("low", "high", "shift"),
    [
        (1.0, 3.0, 3.0 * 2.0),
        (-3.0, -1.0, -6.0),
        (0.0, 2.0, 3.0),
        (-0.0625, 2.0, 0.0),
        (-2.0, 2.0, 0.0),
        (1.0, 1.0, 3.0),
    ],
)
def test_a_shift_is_taken_where_it_removes_half_of_the_residual(low: float, high: float, shift: float) -> None:
    """To the middle, times γ/(1 − γ) = 3; a state that has settled is the edge."""
    model = ExtremeModel(operator_of(dense=True))
    residual = Residual(low, high, 1.0, 1.0, 0)
    assert residual.size == max(abs(low), abs(high))
    assert residual.half_span == (high - low) / 2
    assert centre(model, residual) == pytest.approx(shift, rel=1e-14, abs=0.0)
    old, new = np.zeros(STATES), np.ones(STATES)
    model.image = new
    assert take_image(model, old, shift) is new
    assert model.image is old
    assert new.tolist() == [1.0 + shift] * STATES


def test_a_shift_that_does_not_pay_is_the_last() -> None:
    """After one, the residual must shrink by γ = 3/4 at least; after none, it may do what it likes."""
    model = ExtremeModel(operator_of(dense=True))
    shift = Shift(model)

    def moved(size: float) -> bool:
        return shift.of(Residual(size / 2, size, 1.0, 1.0, 0)) != 0.0

    assert [moved(size) for size in (4.0, 3.0, 2.25)] == [True] * 3
    assert shift.of(Residual(-1.0, 1.0, 1.0, 1.0, 0)) == 0.0
    assert [moved(size) for size in (100.0, 75.5, 1.0)] == [True, False, False]


def test_sweeps_in_place_end_where_nothing_changes() -> None:
    """And start from the image of the last whole sweep."""
    model = Model.__new__(GeneralModel)
    model.image, model.rate, model.discount = np.ones(2), 1.0, 0.5
    changes, seen = [1.0, 0.5, 0.0, 1.0] + [1.0] * 99, []

    def in_place_sweep(v: np.ndarray, *, backward: bool) -> tuple[float, int]:
        seen.append(("in place", backward, v.tolist()))
        return changes.pop(0), 0

    def sweep(v: np.ndarray) -> Residual:
        seen.append(("whole", None, v.tolist()))
        return Residual(-1.0, 1.0, 1.0, 1.0, 0)

    class Twice:
        left = 3

        def finished(self, residual: Residual) -> bool:
            self.left -= 1
            return self.left == 0

    model.in_place_sweep, model.sweep = in_place_sweep, sweep  # type: ignore[method-assign]
    gauss_seidel(model, np.zeros(2), Twice())  # type: ignore[arg-type]
    turns: list[Any] = [("in place", k % 2 == 0) for k in range(IN_PLACE_SWEEPS)]
    assert [entry[:2] for entry in seen] == [("whole", None), *turns[:3], ("whole", None), *turns, ("whole", None)]
    assert seen[0][2] == [0.0, 0.0]
    assert seen[1][2] == [1.0, 1.0]


@pytest.mark.parametrize(("bound", "size", "margin"), [(0.25, 2.0**40, 0.5), (2.0**20, 2.0**24, 0.5)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ties_are_as_wide_as_two_bounds_and_no_wider_than_rounding(
    bound: float, size: float, margin: float, sign: float
) -> None:
    """2·min(bound, 2⁻²⁶·size), met exactly."""
    mdp = FiniteMDP.from_arrays(np.full((2, 3, 2), 0.5), np.zeros((2, 3)), 0.5)
    operator = RevOperator(mdp, value=Max() if sign > 0 else Min())
    q = sign * np.array([[-9.0, 1.0 - margin, 1.0], [1.0 - margin - 2.0**-40, -9.0, 1.0]])
    policy, best = policy_of(operator, q, bound, size)
    assert policy.dtype == np.int64
    assert policy.tolist() == [1, 2]
    assert best.tolist() == [sign, sign]


def test_methods_shrink_what_is_left_by_so_much() -> None:
    """Anderson's every second step makes the progress of one halfway to γ; no factor is 1, and none below a half."""
    assert [api._contraction("policy_iteration", gamma) for gamma in (0.0, 0.25, 0.5, 0.75)] == [0.5, 0.5, 0.5, 0.75]
    assert api._contraction("anderson", 0.28) == pytest.approx(0.8, rel=1e-15, abs=0.0)
    assert api._contraction("anderson", 0.0) == pytest.approx(0.5**0.5, rel=1e-15, abs=0.0)
    assert api._contraction("anderson", np.nextafter(1.0, 0.0)) < 1.0


@pytest.mark.parametrize(
    ("states", "expectation", "value", "width", "method"),
    [
        (20, Nominal(), Max(), None, "policy_iteration"),
        (20, L1Ball(0.25), Soft(1.0), None, "policy_iteration"),
        (21, Nominal(), Max(), None, "modified_policy_iteration"),
        (21, Nominal(), Max(), 8, "policy_iteration"),
        (21, Nominal(), Soft(1.0), 8, "policy_iteration"),
        (21, Nominal(), Max(), 9, "modified_policy_iteration"),
        (21, L1Ball(0.25), Max(), 8, "modified_policy_iteration"),
        (21, L1Ball(0.25), Soft(1.0), 8, "anderson"),
        (21, WorstOfKernels([np.full((21, 2, 21), 1 / 21)]), Max(), None, "anderson"),
    ],
)
def test_the_method_is_chosen_by_size_band_and_functional(
    states: int, expectation: Any, value: ValueFunctional, width: int | None, method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """width: of the band of a sparse kernel; a dense one has none."""
    monkeypatch.setattr(api, "SMALL", 20)
    kernel = np.full((states, 2, states), 1 / states)
    if width is not None:
        places = np.maximum(np.arange(states) - width, 0)
        kernel = np.zeros_like(kernel)
        kernel[np.arange(states), :, places] = 1.0
    given = kernel if width is None else sparse.csr_array(kernel.reshape(-1, states))
    mdp = FiniteMDP.from_arrays(given, np.zeros((states, 2)), 0.5, renormalise=True)
    with api.model_of(RevOperator(mdp, value=value, expectation=expectation)) as model:
        assert api._choose(model) == method
