"""Policy iteration, exact and modified, for any value functional: Newton's method on v = W v.

At v the last sweep chose actions (weights, for a soft value) and a kernel (the worst, for a robust expectation), and so
an affine map that agrees with W at v. Policy iteration solves it; modified policy iteration sweeps it a few times.
"""

from __future__ import annotations

import numpy as np

from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations import Nominal
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import ExtremeModel, Model
from pyresac.tabular.solvers.progress import Progress
from pyresac.tabular.solvers.value_iteration import centre, take_image

KRYLOV_ACCURACY = 1e-6
OPENING_SWEEPS = 4
"""In-place sweeps of the whole operator before the first evaluation: they carry values from afar to every state."""
FAST_MIXING = 0.7
"""A factor per sweep on the span of the residual below which plain sweeps with a shift are the best evaluation."""
EVALUATION_SHARE = 0.05
"""An evaluation stops at this share of the residual of the policy's own choice: more would polish a passing policy."""
MOST_PLAIN_SWEEPS = 20
FEWEST_RELAXATIONS = 10
MOST_RELAXATIONS = 80
SETTLED = 1e-3
"""Share of states whose action changed, below which evaluations may grow longer."""


def policy_iteration(model: Model, v: Floats, progress: Progress) -> Residual:
    """Evaluate exactly, improve, repeat."""
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
    Gauss–Seidel sweeps in alternating directions, after a few of the whole operator.
    """
    guard = _Guard(model)
    residual = model.sweep(v)
    spans = [residual.half_span]
    fast, opened, cap = True, not isinstance(model, ExtremeModel), FEWEST_RELAXATIONS
    while not progress.finished(residual):
        guard.keep(residual)
        if fast:
            v = _plain_sweeps(model, v, centre(model, residual), MOST_PLAIN_SWEEPS if len(spans) > 2 else 0)
        elif not opened:
            opened = True
            v = take_image(model, v, 0.0)
            for k in range(OPENING_SWEEPS):
                model.in_place_sweep(v, backward=k % 2 == 0)
        else:
            cap = min(2 * cap, MOST_RELAXATIONS) if residual.changed <= SETTLED * len(v) else FEWEST_RELAXATIONS
            v = _relaxations(model, v, residual, cap)
        v, residual = guard.checked(v)
        spans.append(residual.half_span)
        fast = fast and spans[-1] <= FAST_MIXING * spans[-2]
    return residual


class _Guard:
    """Keeps evaluations from going astray where W is neither convex nor concave.

    With the nominal expectation it is one of them (or linear), and both iterations converge from anywhere. A maximum
    over actions of a minimum over kernels is not; there an evaluation that does not shrink the residual as W would is
    undone, and W's own step taken.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._needed = not isinstance(model.operator.expectation, Nominal)
        self._image: Floats | None = None
        self._allowed = np.inf

    def keep(self, residual: Residual) -> None:
        """Remember the image of the last sweep."""
        if self._needed:
            self._image = self._model.image.copy()
            self._allowed = self._model.discount * residual.size

    def checked(self, v: Floats) -> tuple[Floats, Residual]:
        """(v, its residual) if that is small enough, else the kept image and its residual."""
        residual = self._model.sweep(v)
        if self._image is None or residual.size <= self._allowed:
            return v, residual
        return self._image, self._model.sweep(self._image)


def _plain_sweeps(model: Model, v: Floats, shift: float, most: int) -> Floats:
    """The image, shifted, after up to `most` plain sweeps of the policy."""
    if not most:
        return take_image(model, v, shift)
    system = model.system(v, solve_loops=False)
    x, y = take_image(model, v, shift), model.image
    first = np.inf
    for _ in range(most):
        low, high = system.apply(x, y)
        x, y = y, x
        first = high - low if np.isinf(first) else first
        if high - low <= EVALUATION_SHARE * first:
            break
    model.image = y
    return x


def _relaxations(model: Model, v: Floats, residual: Residual, cap: int) -> Floats:
    """v after up to `cap` Gauss–Seidel sweeps of the policy, from the image."""
    system = model.system(v, solve_loops=True)
    v = take_image(model, v, 0.0)
    for k in range(cap):
        if system.relax(v, backward=k % 2 == 0) <= EVALUATION_SHARE * residual.size:
            break
    return v
