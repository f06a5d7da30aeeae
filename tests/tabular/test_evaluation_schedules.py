"""Which sweeps the solvers make, in what order and up to where: what they find is right with any of them, so that a
schedule that has been lost shows in no result, only in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from interpreted_kernels import plain

from pyresac.tabular import families
from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations import ExpectationFunctional, L1Ball, Nominal, filling
from pyresac.tabular.expectations.filling import FEW, fill_level
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import policy_iteration as solver
from pyresac.tabular.solvers import robust, solve
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import ExtremeModel
from pyresac.tabular.solvers.progress import Progress
from pyresac.tabular.solvers.value_iteration import IN_PLACE_SWEEPS
from pyresac.tabular.values import Max, Soft, ValueFunctional


class Told:
    """Stands for a model and its affine systems: notes what it is asked for, answers what it was told to.

    changes: what the sweeps in place change, (largest change, actions changed); spans: the ranges of image − v that
    sweeps of a fixed policy find.
    """

    rate = 0.0
    """γ = 0: no shift moves the values."""

    def __init__(
        self, changes: Sequence[tuple[float, int]] = (), spans: Sequence[tuple[float, float]] = (), states: int = 4
    ) -> None:
        self.changes, self.spans, self.asked = list(changes), list(spans), list[Any]()
        self.image: Floats = np.zeros(states)

    def in_place_sweep(self, v: Floats, *, backward: bool) -> tuple[float, int]:
        """A sweep of the whole operator."""
        self.asked.append(("sweep", backward))
        return self.changes.pop(0)

    def system(self, v: Floats, *, solve_loops: bool) -> Told:
        """Its own systems."""
        self.asked.append(("system", solve_loops))
        return self

    def without_loops(self) -> Told:
        """The system without loops."""
        self.asked.append("without loops")
        return self

    def relax(self, v: Floats, stop: float, most: int, *, backward: bool) -> bool:
        """An evaluation, of an even number of sweeps."""
        self.asked.append(("relax", stop, most, backward))
        return backward

    def apply(self, v: Floats, out: Floats) -> tuple[float, float]:
        """A plain sweep of the policy."""
        self.asked.append("apply")
        return self.spans.pop(0)

    def policy_sweep(self, v: Floats, out: Floats) -> Told:
        """An answer of the adversary, which moves the first state to the low end and all others to the high one."""
        self.asked.append("answer")
        low, high = self.spans.pop(0)
        out[:] = v + high
        out[0] = v[0] + low
        return self


def residual(size: float, *, changed: int) -> Residual:
    """image − v from −size to size."""
    return Residual(-size, size, 1.0, 1.0, changed)


MANY, NONE = 4, 0
"""Actions changed of 4 states' actions: the policy is passing, or has settled."""


def test_improvements_open_without_evaluations_and_turn_round_each_time() -> None:
    """Two sweeps, one backward and one forward, before the first evaluation; a passing policy is evaluated to a share
    of the last change, a settled one to the aim, with twice as many sweeps each time."""
    changes = [(8.0, MANY), (4.0, MANY), (2.0, MANY), (1.0, NONE), (1.0, NONE), (1.0, NONE), (1.0, NONE), (1.0, NONE)]
    model = Told(changes)
    solver._improvements(model, np.zeros(4), 1e-3, 2)  # type: ignore[arg-type]
    share, fewest, most = solver.EVALUATION_SHARE, solver.FEWEST_SWEEPS, solver.MOST_SWEEPS
    evaluated = [(share * 2.0, fewest)] + [(1e-3, min(2**k * fewest, most)) for k in (1, 2, 3, 4, 5)]
    expected: list[Any] = [("sweep", True), ("sweep", False)]
    for k, (stop, cap) in enumerate(evaluated):
        # an evaluation begins, and here ends, in the direction that comes next
        expected += [("sweep", k % 2 == 0), ("system", True), ("relax", stop, cap, k % 2 == 1)]
    assert model.asked == expected


def test_improvements_forget_how_long_they_evaluated_once_the_policy_moves_again() -> None:
    model = Told([(1.0, NONE), (1.0, NONE), (1.0, MANY), (1.0, NONE), (1e-3, NONE)])
    solver._improvements(model, np.zeros(4), 1e-3, 0)  # type: ignore[arg-type]
    caps = [what[2] for what in model.asked if what[0] == "relax"]
    assert caps == [2 * solver.FEWEST_SWEEPS, 4 * solver.FEWEST_SWEEPS, solver.FEWEST_SWEEPS, 2 * solver.FEWEST_SWEEPS]
    assert model.asked[-1][0] == "sweep", "a change of the aim, and no more, ends them"
    assert not model.changes


@pytest.mark.parametrize("changed", [MANY, NONE])
def test_plain_sweeps_go_on_to_a_share_of_the_residual_or_to_the_aim(changed: int) -> None:
    """The span 2·stop is met exactly by the third sweep, and missed by the second."""
    stop = 0.125 if changed == NONE else solver.EVALUATION_SHARE * 2.0
    model = Told(spans=[(0.0, 9.0), (0.0, 2.5 * stop), (0.0, 2 * stop), (0.0, 0.0)])
    solver._plain_sweeps(model, np.zeros(4), residual(2.0, changed=changed), 0.125 if changed == NONE else 0.0)  # type: ignore[arg-type]
    assert model.asked == [("system", False)] + ["apply"] * 3
    cap = solver.MOST_SWEEPS if changed == NONE else solver.FEWEST_SWEEPS
    model = Told(spans=[(0.0, 9.0)] * (cap + 1))
    solver._plain_sweeps(model, np.zeros(4), residual(2.0, changed=changed), 0.125)  # type: ignore[arg-type]
    assert model.asked == [("system", False)] + ["apply"] * cap


@pytest.mark.parametrize("changed", [MANY, NONE])
def test_relaxations_begin_backward_from_the_image(changed: int) -> None:
    model = Told()
    solver._relaxations(model, np.ones(4), residual(2.0, changed=changed), 0.125, 0.5)  # type: ignore[arg-type]
    stop = 0.125 if changed == NONE else solver.EVALUATION_SHARE * 2.0
    most = solver.MOST_SWEEPS if changed == NONE else solver.FEWEST_SWEEPS
    assert model.asked == [("system", True), ("relax", stop, most, True)]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("changed", [MANY, NONE])
def test_the_adversary_answers_anew_until_too_little_is_left(changed: int, fast: bool) -> None:
    """Half a span of 4, or a size of 4, is left after the first answer, and the stop after the second."""
    stop, width = (0.125 if changed == NONE else robust.GAIN * 2.0), (2.0 if fast else 1.0)
    target = max(stop, (robust.SETTLED_GAIN if changed == NONE else robust.GAIN) * 4.0)
    frozen = [(0.0, 9.0), (0.0, 2 * target)] if fast else []
    # a sum of values has to come below the stop
    spans = [(0.0, 4.0 * width), *frozen, (0.0, stop * width * (1.0 - 1e-12)), (0.0, 0.0)]
    model = Told(spans=spans)
    robust.answers(model, np.zeros(4), residual(2.0, changed=changed), 0.125 if changed == NONE else 0.0, fast=fast)  # type: ignore[arg-type]
    between: list[Any] = ["apply", "apply"] if fast else ["without loops", ("relax", target, robust.RELAXATIONS, True)]
    # with a passing policy and plain sweeps one answer is enough
    ends = [] if fast and changed == MANY else ["answer"]
    assert model.asked == ["answer", *between, *ends]


@pytest.mark.parametrize("fast", [False, True])
def test_the_adversary_answers_so_many_times_and_no_more(fast: bool) -> None:
    model = Told(spans=[(0.0, 4.0)] * 200)
    robust.answers(model, np.zeros(4), residual(2.0, changed=NONE), 0.0, fast=fast)  # type: ignore[arg-type]
    assert model.asked.count("answer") == robust.ANSWERS
    assert model.asked.count("apply") == (robust.ANSWERS * robust.FROZEN_SWEEPS if fast else 0)


GRID = families.grid(12, 0.999)
"""News takes many steps here: what is left of the residual's span shrinks slowly."""
MIXED = families.random_dense(12, 3, 0.9, seed=1)
"""Here each backup forgets where it was."""


@pytest.mark.parametrize("mdp", [GRID, MIXED], ids=["slow", "fast"])
@pytest.mark.parametrize(
    ("value", "expectation", "slow"),
    [
        (Max(), Nominal(), "_improvements"),
        (Soft(0.5), Nominal(), "_relaxations"),
        (Max(), L1Ball(0.1, "nominal"), "answers"),
    ],
    ids=["extreme", "general", "robust"],
)
def test_plain_sweeps_come_first_and_are_given_up_for_good(
    mdp: FiniteMDP,
    value: ValueFunctional,
    expectation: ExpectationFunctional,
    slow: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Modified policy iteration looks at the span after each evaluation; only its first improvements open without."""
    seen: list[Any] = []

    def noted(name: str) -> None:
        plain = getattr(solver, name)

        def call(*given: Any, **named: Any) -> Any:
            what = {"_improvements": given[3:], "answers": (named.get("fast"),)}.get(name, ())
            seen.append((name, *what))
            return plain(*given, **named)

        monkeypatch.setattr(solver, name, call)

    for name in ("_plain_sweeps", "_improvements", "_relaxations", "answers"):
        noted(name)
    solution = solve(
        RevOperator(mdp, value=value, expectation=expectation), method="modified_policy_iteration", tolerance=1e-6
    )
    assert solution.converged, solution.message
    quick: Any = ("answers", True) if slow == "answers" else ("_plain_sweeps",)
    later: Any = {"answers": ("answers", False), "_improvements": ("_improvements", 0)}.get(slow, (slow,))
    plain = seen.count(quick)
    assert plain > 0, "the first evaluation is of plain sweeps"
    rest = seen[plain:]
    assert (rest == []) == (mdp is MIXED)
    if slow == "_improvements" and rest:
        assert rest[0] == ("_improvements", solver.OPENING_SWEEPS)
        rest = rest[1:]
    assert rest == [later] * len(rest)
    assert seen[:plain] == [quick] * plain


def test_sweeps_in_place_turn_round_each_time_between_two_that_are_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, plain = list[bool](), ExtremeModel.in_place_sweep

    def noted(model: ExtremeModel, v: Floats, *, backward: bool) -> tuple[float, int]:
        seen.append(backward)
        return plain(model, v, backward=backward)

    monkeypatch.setattr(ExtremeModel, "in_place_sweep", noted)
    solution = solve(RevOperator(GRID), method="gauss_seidel", tolerance=1e-6)
    assert solution.iterations > 3
    assert seen == [True, False] * (IN_PLACE_SWEEPS // 2) * (solution.iterations - 1)


class Bounds:
    """Stands for a certificate: bounds are residuals' sizes, and float64 certifies down to `least`."""

    def __init__(self, least: float) -> None:
        self.least = least

    def estimate(self, found: Residual) -> float:
        """The bound."""
        return found.size

    def floor(self, found: Residual) -> float:
        """The least bound."""
        return self.least

    def bound(self, found: Residual, tolerance: float) -> tuple[float, float]:
        """No shift."""
        return 0.0, found.size


@pytest.mark.parametrize(
    ("tolerance", "least", "target"), [(2.0**-10, 0.0, 2.0**-10), (0.0, 2.0**-20, 2.0**-19), (0.0, 0.0, 1.0)]
)
def test_iterations_without_a_limit_are_those_of_the_contraction(tolerance: float, least: float, target: float) -> None:
    """A tenth more than halving needs from the first bound, 1, to the target, and the patience of the method. Where
    nothing is to be rounded and 0 is asked for there is no target: the patience alone is left."""
    progress = Progress(Bounds(least), tolerance, 0.5, None)  # type: ignore[arg-type]
    # patience: ⌈log(2/(1 − ½))/log 2⌉ + 8
    limit = 1 + int(np.ceil(1.1 * np.log2(1.0 / target))) + 2 + 8
    size = 1.0
    while not progress.finished(residual(size, changed=0)):
        size *= 0.98
    assert progress.message == f"max_iterations = {limit} is reached"
    assert progress.iterations == limit


@pytest.mark.parametrize("warm", [np.nan, 0.0, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("full", [0, 3, 32, 61])
def test_a_level_is_remembered_by_the_place_of_a_successor_on_it(full: int, warm: float) -> None:
    """Wherever the search began, and whether it stepped from value to value or sorted the row: the next one begins
    where it ended."""
    states = 64
    assert states > 2 * FEW
    x = np.random.default_rng(0).permutation(states).astype(float)
    left = full / states
    level, below, placed, place = fill_level(states, np.full(states, 1.0 / states), x, left, warm)
    assert x[int(place)] == level
    assert below + placed == left
    # from the other side the level is the first that stays empty
    assert level in (max(full - 1.0, 0.0), float(full))


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("steps", [0, 1, FEW - 1, FEW, FEW + 1, 3 * FEW])
def test_a_row_is_sorted_once_and_only_where_its_level_is_far(
    up: bool, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A level fewer than FEW values away is stepped to, from below as from above."""
    sorted_rows = []

    def noted(room: Floats, x: Floats, left: float) -> float:
        sorted_rows.append(left)
        return float(np.sort(x)[np.searchsorted(np.cumsum(room), left)])

    monkeypatch.setattr(filling, "level_by_sorting", noted)
    states, end = 64, 40 if up else 20
    x = np.random.default_rng(0).permutation(states).astype(float)
    begin = end - steps if up else end + steps
    # all up to the end are full, with half of its own; more than half of what it has room for is no tie
    left = (end + 0.5) / states
    warm = float(np.flatnonzero(x == begin)[0])
    level, below, placed, place = plain(fill_level)(states, np.full(states, 1.0 / states), x, left, warm)
    assert (level, below, placed, x[int(place)]) == (end, end / states, 0.5 / states, end)
    assert sorted_rows == [left] * (steps >= FEW)
