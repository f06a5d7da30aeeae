"""The loops of the solvers step by step: what is asked of the model, what is kept, when and why they stop."""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, L1Ball, Max, PolicyMean, RevOperator, families, solve
from pyresac.tabular.solvers import anderson as extrapolation
from pyresac.tabular.solvers import policy_iteration as solver
from pyresac.tabular.solvers import robust, systems
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import ExtremeModel, GeneralModel, Model
from pyresac.tabular.solvers.progress import Progress
from pyresac.tabular.solvers.robust import RobustModel
from pyresac.tabular.solvers.systems import AffineSystem


def span(half: float, *, changed: int = 0) -> Residual:
    """image − v in [−half, half]."""
    return Residual(-half, half, 1.0, 1.0, changed)


class Rounds:
    """Progress that stops after so many looks."""

    def __init__(self, left: int, aim: float = 0.0) -> None:
        self.left, self.aim = left, aim

    def finished(self, residual: Residual) -> bool:
        """Whether they are over."""
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize(("kind", "slow"), [(ExtremeModel, "_improvements"), (GeneralModel, "_relaxations")])
@pytest.mark.parametrize(("discount", "gain"), [(0.75, 0.7), (0.99, 0.99**10)])
def test_modified_policy_iteration_turns_to_sweeps_in_place_for_good(
    kind: type[Model], slow: str, discount: float, gain: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gain of 7/10, or γ¹⁰, is enough; anything less is not, and what comes later does not count."""
    halves = [8.0, 8.0 * gain, 8.0 * gain * gain * (1 + 1e-12), 1e-3, 1e-9]
    seen: list[Any] = []

    class Guard:
        def __init__(self, model: Model) -> None:
            self.left = list(halves[1:])

        def keep(self, residual: Residual) -> None:
            seen.append(("keep", residual.half_span))

        def checked(self, v: Any) -> tuple[Any, Residual]:
            return f"checked {v}", span(self.left.pop(0))

    class Shifts:
        def __init__(self, model: Model) -> None:
            pass

        def of(self, residual: Residual) -> float:
            return residual.half_span + 100.0

    def note(name: str, out: str) -> None:
        def call(model: Model, v: Any, *given: Any) -> str:
            seen.append((name, v, *(x for x in given if not isinstance(x, Residual))))
            return out

        monkeypatch.setattr(solver, name, call)

    model = Model.__new__(kind)
    model.discount, model.rate = discount, 4.0
    model.sweep = lambda v: span(halves[0])  # type: ignore[method-assign]
    monkeypatch.setattr(solver, "_Guard", Guard)
    monkeypatch.setattr(solver, "Shift", Shifts)
    for name in ("_plain_sweeps", "_improvements", "_relaxations", "take_image"):
        note(name, name)
    solver.modified_policy_iteration(model, np.zeros(1), Rounds(4, aim=3.0))  # type: ignore[arg-type]
    aim, now = 0.2 * 3.0 / 4.0, "checked _plain_sweeps"
    expected: list[Any] = [("keep", halves[0]), ("_plain_sweeps", pytest.approx(np.zeros(1)), pytest.approx(aim))]
    expected += [("keep", halves[1]), ("_plain_sweeps", now, pytest.approx(aim))]
    for turn, half in enumerate(halves[2:4]):
        expected.append(("keep", half))
        if kind is ExtremeModel:
            opening = solver.OPENING_SWEEPS if turn == 0 else 0
            expected += [("take_image", now, half + 100.0), (slow, "take_image", pytest.approx(aim), opening)]
            now = "checked take_image"
        else:
            expected.append((slow, now, pytest.approx(aim), half + 100.0))
            now = "checked _relaxations"
    assert seen == expected


@pytest.mark.parametrize(("discount", "aim"), [(0.0, 0.0), (0.25, 0.6), (0.75, 0.2 / 3)])
def test_an_evaluation_aims_at_a_fifth_of_what_is_asked_for(
    discount: float, aim: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over γ/(1 − γ); without a future that is no divisor."""
    aims = []
    plain = solver._plain_sweeps

    def noted(model: Model, v: Any, residual: Residual, aim: float) -> Any:
        aims.append(aim)
        return plain(model, v, residual, aim)

    monkeypatch.setattr(solver, "_plain_sweeps", noted)
    operator = RevOperator(families.random_dense(4, 2, discount, seed=0))
    with ExtremeModel(operator) as model:
        solver.modified_policy_iteration(model, np.ones(4), Rounds(2, aim=1.0))  # type: ignore[arg-type]
    assert aims == pytest.approx([aim, aim], rel=1e-14, abs=0.0)


@pytest.mark.parametrize("sparse_form", [False, True])
def test_one_policy_is_evaluated_in_one_step(sparse_form: bool) -> None:
    """Exactly, with loops at each state: the second sweep finds nothing left."""
    source = families.random_dense(12, 1, 0.99, seed=5)
    rows = source.matrix if sparse_form else source.dense()
    mdp = FiniteMDP.from_arrays(rows, source.reward, 0.99)
    for operator in (RevOperator(mdp), RevOperator(mdp, value=PolicyMean(np.ones((12, 1))))):
        found = solve(operator, method="policy_iteration", tolerance=1e-9)
        assert found.converged
        assert found.iterations == 2


DISCOUNT = 0.999
CHAIN = families.random_dense(9, 1, DISCOUNT, seed=2)
"""It forgets where it was within a few steps, though values are a thousand rewards."""
RATE = DISCOUNT / (1 - DISCOUNT)


@pytest.mark.parametrize("most", [1, 2, 80])
def test_plain_sweeps_with_shifts_evaluate_a_chain_that_forgets(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is γ/(1 − γ) times half the span at which they stop; the model gets the other buffer."""
    monkeypatch.setattr(solver, "MOST_SWEEPS", most)
    exact = np.linalg.solve(np.eye(9) - DISCOUNT * CHAIN.dense()[:, 0], CHAIN.reward[:, 0])
    with ExtremeModel(RevOperator(CHAIN)) as model:
        start = np.zeros(9)
        residual = model.sweep(start)
        x = solver._plain_sweeps(model, start, Residual(residual.low, residual.high, 1.0, 1.0, 0), 1e-9)
        assert not np.shares_memory(x, model.image)
        assert model.image.shape == x.shape
        if most == 80:
            assert np.abs(x - exact).max() <= RATE * 1e-9 + 1e-9
        else:
            # each shrinks what is left, which began at about a thousand
            assert np.abs(x - exact).max() <= 1000.0 * 0.5**most


@pytest.mark.parametrize("fast", [True, False])
def test_answers_evaluate_a_policy_against_its_adversary(fast: bool) -> None:
    """One action: the fixed point itself. With plain sweeps near γ = 1, with those in place further off."""
    discount = DISCOUNT if fast else 0.9
    mdp = CHAIN.with_discount(discount)
    operator = RevOperator(mdp, expectation=L1Ball(0.1))
    exact = solve(operator, tolerance=1e-9, method="policy_iteration").v
    with RobustModel(operator) as model:
        start = np.zeros(9)
        residual = model.sweep(start)
        settled = Residual(residual.low, residual.high, residual.v_size, residual.q_size, 0)
        x = robust.answers(model, start, settled, 1e-10, fast=fast)
        assert np.abs(x - exact).max() <= 1e-6
        assert not np.shares_memory(x, model.image)


class Moving:
    """Stands for a model of two states, γ/(1 − γ) = 4, whose sweeps move the values by what they are told to."""

    rate, discount = 4.0, 0.8

    def __init__(self, *moves: tuple[float, float]) -> None:
        self.moves, self.image, self.relaxed = list(moves), np.zeros(2), list[list[float]]()

    def system(self, v: Any, *, solve_loops: bool) -> Moving:
        """Itself."""
        return self

    without_loops = system

    def relax(self, v: Any, stop: float, most: int, *, backward: bool) -> bool:
        """Notes where it begins."""
        self.relaxed.append(v.tolist())
        return backward

    def apply(self, v: Any, out: Any) -> tuple[float, float]:
        """The next move."""
        move = self.moves.pop(0)
        out[:] = v + np.array(move)
        return min(move), max(move)

    def policy_sweep(self, v: Any, out: Any) -> Any:
        """The next move, and a system that notes where it begins."""
        self.apply(v, out)
        model = self

        class Noted:
            apply = staticmethod(model.apply)

            def without_loops(self) -> Noted:
                return self

            def relax(self, v: Any, stop: float, most: int, *, backward: bool) -> bool:
                model.relaxed.append(v.tolist())
                v += 100.0
                return backward

        return Noted()


def test_values_move_by_each_sweep_and_to_the_middle() -> None:
    """By hand: γ/(1 − γ) = 4 times the middle of each range, until half of it is an eighth."""
    begun, after = Residual(1.0, 3.0, 1.0, 1.0, 0), [(0.0, 0.375), (0.5, 0.75)]
    model: Any = Moving(*after)
    x = solver._plain_sweeps(model, np.full(2, 9.0), begun, 0.125)
    # from the image, 0, moved by 4·2; then (0, 3/8) and 4·3/16; then (1/2, 3/4) and 4·5/8
    assert x.tolist() == [8.0 + 0.75 + 0.5 + 2.5, 8.0 + 0.375 + 0.75 + 0.75 + 2.5]
    assert not np.shares_memory(x, model.image)
    model = Moving((1.0, 3.0), *after, (1.0, 1.25))
    x = robust.answers(model, np.full(2, 9.0), begun, 0.125, fast=True)
    assert x.tolist() == [8.0 + 9.0 + 0.75 + 3.0 + 5.5, 8.0 + 11.0 + 1.125 + 3.25 + 5.75]
    assert not np.shares_memory(x, model.image)
    model = Moving()
    model.image = np.array([1.0, 2.0])
    assert solver._relaxations(model, np.full(2, 9.0), begun, 0.125, 0.5).tolist() == [1.5, 2.5]
    assert model.relaxed == [[1.5, 2.5]]
    # elsewhere nothing is moved to a middle: the size counts, of either sign, and sweeps in place follow
    model = Moving((-3.0, 1.0), (0.0, 0.25), (-0.125, 0.0625))
    x = robust.answers(model, np.full(2, 9.0), Residual(-1.0, 1.0, 1.0, 1.0, 0), 0.125, fast=False)
    assert model.relaxed == [[-3.0, 1.0], [97.0, 101.25]]
    assert x.tolist() == [196.875, 201.3125]
    assert not np.shares_memory(x, model.image)


def test_relaxations_evaluate_a_policy() -> None:
    operator = RevOperator(CHAIN.with_discount(0.5), value=PolicyMean(np.ones((9, 1))))
    exact = np.linalg.solve(np.eye(9) - 0.5 * CHAIN.dense()[:, 0], CHAIN.reward[:, 0])
    with GeneralModel(operator) as model:
        start = np.zeros(9)
        residual = model.sweep(start)
        x = solver._relaxations(model, start, residual, 1e-12, 0.25)
        np.testing.assert_allclose(x, exact, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("changed", "settled"), [(1, True), (2, False)])
def test_a_policy_has_settled_where_one_action_of_ten_thousand_changes(changed: int, settled: bool) -> None:
    """Exactly so many; whatever evaluates it."""

    class Noted:
        rate = 0.0

        def __init__(self) -> None:
            self.image, self.asked = np.zeros(10_000), list[Any]()
            self.largest = 1.0

        def system(self, v: Any, *, solve_loops: bool) -> Noted:
            return self

        def in_place_sweep(self, v: Any, *, backward: bool) -> tuple[float, int]:
            self.largest -= 0.5
            return self.largest, changed

        def relax(self, v: Any, stop: float, most: int, *, backward: bool) -> bool:
            self.asked.append(most)
            return backward

        def apply(self, v: Any, out: Any) -> tuple[float, float]:
            self.asked.append("apply")
            return 0.0, 9.0

        def policy_sweep(self, v: Any, out: Any) -> Noted:
            out[:] = v
            out[0] += 9.0
            self.asked.append("answer")
            return self

        def without_loops(self) -> Noted:
            return self

    found = span(1.0, changed=changed)
    fewest, most = solver.FEWEST_SWEEPS, solver.MOST_SWEEPS
    model: Any = Noted()
    solver._plain_sweeps(model, np.zeros(10_000), found, 0.0)
    assert model.asked == ["apply"] * (most if settled else fewest)
    model = Noted()
    solver._relaxations(model, np.zeros(10_000), found, 0.0, 0.0)
    solver._improvements(model, np.zeros(10_000), 0.0, 0)
    assert model.asked == [most, 2 * fewest] if settled else model.asked == [fewest, fewest]
    model = Noted()
    robust.answers(model, np.zeros(10_000), found, 0.0, fast=True)
    assert model.asked.count("answer") == (robust.ANSWERS if settled else 1)


class Bounds:
    """A certificate: the estimate is the residual's half span, the bound so many times that."""

    def __init__(self, least: float = 0.0, times: float = 1.0) -> None:
        self.least, self.times = least, times

    def estimate(self, found: Residual) -> float:
        """About what the bound is."""
        return found.half_span

    def floor(self, found: Residual) -> float:
        """The least bound."""
        return self.least

    def bound(self, found: Residual, tolerance: float) -> tuple[float, float]:
        """The bound."""
        return 0.0, found.half_span * self.times


def looks(progress: Progress, *halves: float) -> list[bool]:
    return [progress.finished(span(half)) for half in halves]


def progress_of(least: float, tolerance: float, limit: int | None = None, **options: Any) -> Progress:
    return Progress(Bounds(least, **options), tolerance, 0.5, limit)  # type: ignore[arg-type]


def test_a_tolerance_is_met_exactly_by_estimate_and_bound() -> None:
    progress = progress_of(0.0, 0.25)
    assert looks(progress, 1.0, 0.2500001, 0.25) == [False, False, True]
    assert (progress.message, progress.iterations, progress.aim) == ("the tolerance is met", 3, 0.25)
    doubtful = progress_of(0.0, 0.25, times=1.0000001)
    assert looks(doubtful, 0.25, 0.2499) == [False, True]


def test_a_tolerance_below_a_floor_and_a_quarter_is_replaced_by_two_floors() -> None:
    met = progress_of(1.0, 1.25)
    assert looks(met, 9.0, 1.5) == [False, False]
    assert met.aim == 1.25
    below = progress_of(1.0, 1.2499)
    assert looks(below, 9.0, 2.0001) == [False, False]
    assert below.aim == 2.0
    assert looks(below, 2.0) == [True]
    assert below.message == "the tolerance 1.2499 is below what float64 can certify here (about 1)"


@pytest.mark.parametrize(("level", "patience"), [(32.0, 9), (np.nextafter(32.0, 33.0), 10)])
def test_patience_ends_sooner_near_the_floor(level: float, patience: int) -> None:
    """With c = 1/2: ⌈½/(1 − c)⌉ + 8 within 32 floors, else ⌈log(2/(1 − c))/log 2⌉ + 8. A gain begins it anew."""
    progress = progress_of(1.0, 0.0)
    assert looks(progress, *[2.0 * level] * 5) == [False] * 5
    assert looks(progress, *[level] * (patience + 1)) == [False] * patience + [True]
    assert progress.message == (
        f"rounding has stopped all progress for {patience} iterations; float64 can certify about 1"
    )
    assert progress.iterations == 6 + patience


def test_a_gain_of_exactly_a_hundredth_is_none() -> None:
    best = 64.0
    for next_one, counted in ((0.99 * best, False), (np.nextafter(0.99 * best, 0.0), True)):
        progress = progress_of(1.0, 0.0)
        looks(progress, best, float(next_one))
        assert (progress._best_at, progress._best) == ((2, next_one) if counted else (1, best))


@pytest.mark.parametrize("limit", [1, 3])
def test_iterations_may_be_used_up_and_each_is_followed(limit: int) -> None:
    told: list[tuple[int, float]] = []
    progress = Progress(Bounds(), 0.0, 0.5, limit, lambda k, bound: told.append((k, bound)))  # type: ignore[arg-type]
    halves = [4.0, 2.0, 1.0][:limit]
    assert looks(progress, *halves) == [False] * (limit - 1) + [True]
    assert progress.message == f"max_iterations = {limit} is reached"
    assert told == list(zip(range(1, limit + 1), halves, strict=True))


@pytest.mark.parametrize("discount", [0.25, 0.75, 0.9])
def test_patience_is_what_brings_two_over_one_less_c_below_one(discount: float) -> None:
    progress = Progress(Bounds(), 0.0, discount, None)  # type: ignore[arg-type]
    needed = next(n for n in range(1000) if discount**n * 2.0 / (1.0 - discount) <= 1.0)
    assert progress._patience == needed + 8
    assert progress._patience_near_floor == next(n for n in range(99) if n * (1.0 - discount) >= 0.5) + 8


@pytest.mark.parametrize(
    "found",
    [
        Residual(-np.inf, 1.0, 1.0, 1.0, 0), Residual(0.0, np.inf, 1.0, 1.0, 0), Residual(0.0, 1.0, 1.0, np.inf, 0),
        Residual(np.nan, np.nan, 1.0, 1.0, 0),
    ],
)  # fmt: skip
def test_what_overflows_is_refused_at_once(found: Residual) -> None:
    for least, bad in ((0.0, found), (np.inf, span(1.0))):
        with pytest.raises(InputError, match=r"^the values overflow float64: .*; divide the rewards by a constant$"):
            progress_of(least, 0.1).finished(bad)


def test_an_extrapolation_ends_at_the_fixed_point_of_an_affine_map() -> None:
    """Three states, from four images."""
    matrix, rhs = 0.5 * np.random.default_rng(0).dirichlet(np.ones(3), size=3), np.array([1.0, -2.0, 3.0])
    v, images, gaps = np.zeros(3), list[np.ndarray](), list[np.ndarray]()
    for step in np.eye(4, 3):
        images.append(rhs + matrix @ v)
        gaps.append(images[-1] - v)
        v = images[-1] + step
    found = extrapolation._extrapolate(images, gaps)
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(3) - matrix, rhs), rtol=1e-12)


def test_extrapolations_that_do_not_pay_are_undone_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """γ = 1/2: the span must shrink by 3/4, which is met exactly once and then missed; at most six steps are kept."""
    spans = [8.0, 4.0, 3.0, 2.2501, 100.0, 100.0, *(float(50 - k) * 0.5**k for k in range(12))]
    swept, kept = list[float](), list[tuple[int, int]]()
    model = Model.__new__(GeneralModel)
    model.discount = 0.5

    def sweep(v: np.ndarray) -> Residual:
        swept.append(float(v[0]))
        model.image = v + 1.0
        return span(spans[len(swept) - 1])

    def extrapolate(images: list[np.ndarray], gaps: list[np.ndarray]) -> np.ndarray:
        kept.append((len(images), len(gaps)))
        # of each kept v, its image and what lies between
        assert [float(gap[0]) for gap in gaps] == [1.0] * len(gaps)
        assert [float(image[0]) for image in images][-2:] == [swept[-2] + 1.0, swept[-1] + 1.0]
        return images[-1] + 0.25

    model.sweep = sweep  # type: ignore[method-assign]
    monkeypatch.setattr(extrapolation, "_extrapolate", extrapolate)
    extrapolation.anderson(model, np.zeros(1), Rounds(15))  # type: ignore[arg-type]
    # W's own step, then two extrapolations; the second is undone; a step and extrapolations anew
    start = [0.0, 1.0, 2.25, 3.5, 3.25, 4.25]
    assert swept == start + [5.5 + 1.25 * k for k in range(10)]
    assert kept[:2] == [(2, 2), (3, 3)]
    assert kept[2:] == [(min(n, 7), min(n, 7)) for n in range(2, 12)]


def test_a_system_too_wide_is_iterated_and_factored_where_that_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the accuracy that is asked for, up to 300 steps; what did not converge, or is no number, is not taken."""
    monkeypatch.setattr(systems, "LARGEST_DENSE", 5)
    matrix = 0.5 * np.random.default_rng(1).dirichlet(np.ones(20), size=20)
    system = AffineSystem.of(sparse.csr_array(matrix), np.zeros(20))
    wanted = np.linalg.solve(np.eye(20) - matrix, np.ones(20))
    asked: list[dict[str, Any]] = []
    for answer, taken in (((wanted + 1.0, 0), True), ((wanted + 1.0, 1), False), ((np.full(20, np.nan), 0), False)):

        def stub(
            left: Any, right: Any, answer: tuple[np.ndarray, int] = answer, **options: Any
        ) -> tuple[np.ndarray, int]:
            np.testing.assert_allclose(left.toarray(), np.eye(20) - matrix)
            asked.append(options)
            return answer

        monkeypatch.setattr(systems.linalg, "bicgstab", stub)
        found = system.correction(np.ones(20), 1e-7)
        np.testing.assert_allclose(found, wanted + 1.0 if taken else wanted, rtol=1e-12)
    assert asked == [{"rtol": 1e-7, "maxiter": 300}] * 3


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_indices_keep_their_width_without_a_sign(width: type) -> None:
    matrix = sparse.csr_array(
        (np.array([0.5, 0.25]), np.array([1, 0], width), np.array([0, 1, 2], width)), shape=(2, 2)
    )
    system = AffineSystem.of(matrix, np.array([1.0, 2.0]))
    unsigned = np.uint32 if width is np.int32 else np.uint64
    assert (system.indptr.dtype, system.indices.dtype) == (unsigned, unsigned)
    assert np.shares_memory(system.indices, matrix.indices)
    assert system.matrix.toarray().tolist() == [[0.0, 0.5], [0.25, 0.0]]
    assert not np.shares_memory(system.matrix.data, matrix.data)
    twice = AffineSystem.of(
        sparse.csr_array((np.array([0.25, 0.25]), np.array([1, 1], width), np.array([0, 2, 2], width)), shape=(2, 2)),
        np.ones(2),
    )
    assert twice.matrix.nnz == 1
    assert twice.without_loops().matrix.toarray().tolist() == [[0.0, 0.5], [0.0, 0.0]]


def test_a_solution_says_how_it_ended_and_how_long_it_took() -> None:
    """Followed from the first iteration to the last; its time lies within that of the call."""
    operator = RevOperator(families.random_dense(5, 2, 0.75, seed=1), value=Max())
    told: list[tuple[int, float]] = []
    started = time.perf_counter()
    found = solve(operator, method="value_iteration", tolerance=1e-6, follow=lambda k, x: told.append((k, x)))
    assert 0.0 < found.seconds <= time.perf_counter() - started
    assert re.fullmatch(r"the tolerance is met; the error is at most \S+e-\d\d", found.message)
    assert float(found.message.split()[-1]) == pytest.approx(found.error_bound, rel=1e-2, abs=0.0)
    assert [k for k, _ in told] == list(range(1, found.iterations + 1))
    assert told[-1][1] <= 1e-6 < told[-2][1]
    assert found.error_bound == pytest.approx(told[-1][1], rel=1e-3, abs=0.0)
    assert found.converged
    assert found.method == "value_iteration"
    assert found.operator is operator
    assert found.worst_case().toarray().tolist() == operator.mdp.matrix.toarray().tolist()
    # the table is moved to the middle, and so it is one backup of itself
    assert operator.distance(operator(found.q), found.q) <= 2e-6
    again = solve(operator, method="value_iteration", tolerance=found.error_bound)
    assert again.converged
    assert again.error_bound == found.error_bound


def test_a_table_is_moved_to_the_middle_of_what_is_left() -> None:
    """After one backup of 0 on two states that exchange rewards 1 and 3, γ = 1/2: W 0 lies in [1, 3], and so Q* lies
    from 1 to 3 above the reward; by hand it is (10/3, 14/3)."""
    mdp = FiniteMDP.from_arrays([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [3.0]], 0.5)
    found = solve(
        RevOperator(mdp), method="value_iteration", tolerance=1e-9, max_iterations=1, initial=np.zeros((2, 1))
    )
    assert found.q.tolist() == [[1.0 + 2.0], [3.0 + 2.0]]
    assert found.v.tolist() == [3.0, 5.0]
    assert found.error_bound == pytest.approx(1.0, rel=1e-12, abs=0)
    assert np.abs(found.q[:, 0] - [10.0 / 3.0, 14.0 / 3.0]).max() == pytest.approx(1.0 / 3.0, rel=1e-12, abs=0)
