"""Value iteration and its Gauss–Seidel form: v ← W v, whole or state by state."""

from __future__ import annotations

import math

from pyresac.tabular.checks import Floats
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import Model
from pyresac.tabular.solvers.progress import Progress

IN_PLACE_SWEEPS = 8
"""Gauss–Seidel sweeps between two that are certified: the certificate costs an eighth."""


def centre(model: Model, residual: Residual) -> float:
    """The shift of `model.image` to the middle of its interval, where it removes most of the error, else 0.

    It does where the whole table still moves together. Where some states have settled (an absorbing goal, say) the
    middle would move them away from their values.
    """
    if residual.half_span > 0.5 * residual.size:
        return 0.0
    return model.rate * (residual.low + residual.high) / 2


def take_image(model: Model, v: Floats, shift: float) -> Floats:
    """The image of the last sweep plus `shift` as the next v; the old v becomes the model's buffer."""
    v, model.image = model.image, v
    if shift:
        v += shift
    return v


class Shift:
    """The shift to the middle before sweeps in place, given up for good once it does not pay.

    The backup shrinks the span of the residual whatever constant is added. Sweeps in place only shrink the sup-norm of
    the error, which a shift may enlarge by up to 1/(2(1 − γ)), again and again. So an iteration with a shift must
    shrink the residual at least as the backup would.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._allowed = True
        self._limit = math.inf

    def of(self, residual: Residual) -> float:
        """The shift of `model.image`, whose residual this is; to be called once an iteration."""
        self._allowed = self._allowed and residual.size <= self._limit
        shift = centre(self._model, residual) if self._allowed else 0.0
        self._limit = self._model.discount * residual.size if shift else math.inf
        return shift


def value_iteration(model: Model, v: Floats, progress: Progress) -> Residual:
    """v ← W v until `progress` says stop. Returns the last residual, which belongs to `model.q`."""
    residual = model.sweep(v)
    while not progress.finished(residual):
        v = take_image(model, v, centre(model, residual))
        residual = model.sweep(v)
    return residual


def gauss_seidel(model: Model, v: Floats, progress: Progress) -> Residual:
    """Sweeps in place in alternating directions, each state reading what was just written; certified every so often."""
    shift = Shift(model)
    residual = model.sweep(v)
    while not progress.finished(residual):
        v = take_image(model, v, shift.of(residual))
        for k in range(IN_PLACE_SWEEPS):
            if model.in_place_sweep(v, backward=k % 2 == 0)[0] == 0.0:
                break
        residual = model.sweep(v)
    return residual
