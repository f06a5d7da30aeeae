"""Value iteration with Anderson acceleration and a safeguard: for operators of which only values are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pyresac.tabular.checks import Floats
from pyresac.tabular.solvers.certificate import Residual
from pyresac.tabular.solvers.models import Model
from pyresac.tabular.solvers.progress import Progress

MEMORY = 6
"""Past steps combined (Walker and Ni 2011 find little gain beyond five to ten)."""
RELATIVE_CUTOFF = 1e-10
"""Singular values of the differences below this share of the largest are rounding."""


def anderson(model: Model, v: Floats, progress: Progress) -> Residual:
    """Extrapolate from the last images the v whose residual would vanish if W were affine.

    Type II: with f = W v − v, x = W v − ΔG·argmin_γ ‖f − ΔF γ‖₂, ΔG and ΔF the differences of images and residuals. The
    span of the residual, which W shrinks by γ at least, must shrink at least half as much, else the memory is emptied
    and W's own step taken: so every second iteration makes value iteration's progress at the least.
    """
    demanded = (1.0 + model.discount) / 2
    images: list[Floats] = []
    gaps: list[Floats] = []
    residual = model.sweep(v)
    trusted: Floats | None = None
    trusted_span = residual.half_span
    while not progress.finished(residual):
        if trusted is not None and residual.half_span > demanded * trusted_span:
            images.clear()
            gaps.clear()
            v, trusted = trusted, None
        else:
            images.append(model.image.copy())
            gaps.append(model.image - v)
            del images[: -MEMORY - 1], gaps[: -MEMORY - 1]
            trusted_span = residual.half_span
            trusted, v = (images[-1], _extrapolate(images, gaps)) if len(gaps) > 1 else (None, images[-1].copy())
        residual = model.sweep(v)
    return residual


def _extrapolate(images: list[Floats], gaps: list[Floats]) -> Floats:
    gap_steps = np.stack([b - a for a, b in pairwise(gaps)], axis=1)
    image_steps = np.stack([b - a for a, b in pairwise(images)], axis=1)
    weights = np.linalg.lstsq(gap_steps, gaps[-1], rcond=RELATIVE_CUTOFF)[0]
    return np.asarray(images[-1] - image_steps @ weights, dtype=np.float64)
