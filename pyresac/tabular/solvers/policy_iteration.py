"""Policy iteration, exact and modified, for any value functional: Newton's method on v = W v.

At v the last sweep chose actions (weights, for a soft value) and a kernel (the worst, for a robust expectation), and so
an affine map that agrees with W at v. Policy iteration solves it; modified policy iteration sweeps it a few times.

In exact arithmetic policy iteration ends at the optimum within |A|^|S| improvements
(`RESAC.policyIteration_terminates`); from a table below its own backup modified policy iteration and Gauss–Seidel
sweeps rise at least as fast as value iteration (`RESAC.modifiedPolicyIteration_rate`, `RESAC.gaussSeidel_rate`; C49).
"""

from __future__ import annotations

from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations import Nominal
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import ExtremeModel, Model
from pyresac.tabular.solvers.progress import Progress
from pyresac.tabular.solvers.robust import RobustModel, answers
from pyresac.tabular.solvers.value_iteration import Shift, centre, take_image
from pyresac.tabular.values import Min

KRYLOV_ACCURACY = 1e-6
FAST_MIXING = 0.7
"""A factor per iteration on the span of the residual below which plain sweeps with a shift are the best evaluation."""
FAST_POWER = 10
"""So are they below γ to this power: sweeps in place, which no shift helps, may gain no more than γ each."""
OPENING_SWEEPS = 2
"""In-place sweeps before the first evaluation: they carry values from afar to every state."""
IMPROVEMENTS = 8
"""In-place sweeps of the whole operator between two that are certified."""
EVALUATION_SHARE = 0.05
"""An evaluation stops at this share of the residual that it started from: more would polish a passing policy."""
FEWEST_SWEEPS, MOST_SWEEPS = 10, 80
"""Bounds on the sweeps of one evaluation; they grow while the policy has settled."""
SETTLED = 1e-4
"""Share of states whose action changed, below which the policy counts as settled and is evaluated to the end."""


def policy_iteration(model: Model, v: Floats, progress: Progress) -> Residual:
    """Evaluate exactly, improve, repeat (`RESAC.policy_improvement`, C49)."""
    guard = _Guard(model)
    residual = model.sweep(v)
    while not progress.finished(residual):
        step = model.system(v, solve_loops=False).correction(model.image - v, KRYLOV_ACCURACY)
        guard.keep(residual)
        v, residual = guard.checked(v + step)
    return residual


def modified_policy_iteration(model: Model, v: Floats, progress: Progress) -> Residual:
    """Evaluate by a few sweeps over the rows of the policy alone, improve, repeat.

    Where the span of the residual shrinks fast (the chain forgets where it was), plain sweeps and a shift; elsewhere
    Gauss–Seidel sweeps in alternating directions, and improvements in place, too.
    """
    guard = _Guard(model)
    residual = model.sweep(v)
    shift = Shift(model)
    spans, fast, first = [residual.half_span], True, True
    while not progress.finished(residual):
        guard.keep(residual)
        aim = 0.2 * progress.aim / model.rate if model.rate > 0 else 0.0
        if isinstance(model, RobustModel):
            v = answers(model, v, residual, aim, fast=fast)
        elif fast:
            v = _plain_sweeps(model, v, residual, aim)
        elif isinstance(model, ExtremeModel):
            v = take_image(model, v, shift.of(residual))
            _improvements(model, v, aim, OPENING_SWEEPS if first else 0)
            first = False
        else:
            v = _relaxations(model, v, residual, aim, shift.of(residual))
        v, residual = guard.checked(v)
        spans.append(residual.half_span)
        fast = fast and spans[-1] <= max(FAST_MIXING, model.discount**FAST_POWER) * spans[-2]
    return residual


class _Guard:
    """Keeps evaluations from going astray where W is neither convex nor concave.

    Under the nominal expectation it is one of them (or linear), and concave where a linear V or a minimum over actions
    meets a worst case: there both iterations converge from anywhere, though the residual may grow at first. A maximum
    over actions of a minimum over kernels is neither, nor is a minimum over actions of a maximum over kernels; there an
    evaluation that does not shrink the residual as W would is undone, and W's own step taken.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        value, expectation = model.operator.value, model.operator.expectation
        against = isinstance(value, Min) == getattr(expectation, "optimistic", False)
        self._needed = against and not (isinstance(expectation, Nominal) or value.linear)
        self._kept: tuple[Floats, float] | None = None

    def keep(self, residual: Residual) -> None:
        """Remember the image of the last sweep, and what size of a residual it allows."""
        if self._needed:
            self._kept = self._model.image.copy(), self._model.discount * residual.size

    def checked(self, v: Floats) -> tuple[Floats, Residual]:
        """(v, its residual) if that is small enough, else the kept image and its residual."""
        residual = self._model.sweep(v)
        if self._kept is None:
            return v, residual
        image, allowed = self._kept
        return (v, residual) if residual.size <= allowed else (image, self._model.sweep(image))


def _plain_sweeps(model: Model, v: Floats, residual: Residual, aim: float) -> Floats:
    """The image after a few plain sweeps of the policy, moved to the middle of its interval after each."""
    settled = residual.changed <= SETTLED * len(v)
    stop = aim if settled else max(aim, EVALUATION_SHARE * residual.half_span)
    system = model.system(v, solve_loops=False)
    x, y = take_image(model, v, centre(model, residual)), model.image
    for _ in range(MOST_SWEEPS if settled else FEWEST_SWEEPS):
        low, high = system.apply(x, y)
        x, y = y, x
        x += model.rate * (low + high) / 2
        if high - low <= 2 * stop:
            break
    model.image = y
    return x


def _improvements(model: Model, v: Floats, aim: float, opening: int) -> None:
    """Some improvements of v in place, each but the first `opening` followed by an evaluation of what it chose."""
    cap, backward = FEWEST_SWEEPS, True
    for k in range(IMPROVEMENTS):
        largest, changed = model.in_place_sweep(v, backward=backward)
        backward = not backward
        if largest <= aim:
            break
        if k < opening:
            continue
        settled = changed <= SETTLED * len(v)
        cap = min(2 * cap, MOST_SWEEPS) if settled else FEWEST_SWEEPS
        stop = aim if settled else EVALUATION_SHARE * largest
        backward = model.system(v, solve_loops=True).relax(v, stop, cap, backward=backward)


def _relaxations(model: Model, v: Floats, residual: Residual, aim: float, shift: float) -> Floats:
    """v after some Gauss–Seidel sweeps of the policy, from the image plus `shift`."""
    settled = residual.changed <= SETTLED * len(v)
    system = model.system(v, solve_loops=True)
    v = take_image(model, v, shift)
    stop = aim if settled else EVALUATION_SHARE * residual.size
    system.relax(v, stop, MOST_SWEEPS if settled else FEWEST_SWEEPS, backward=True)
    return v
