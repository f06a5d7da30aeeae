"""One update in float32 beside one that another program, or float64, has computed."""

from __future__ import annotations

from torch import Tensor

UNIT32 = 2.0**-24
"""Half the distance of 1 from the next float32."""
ACCURACY = 64 * UNIT32
"""Of losses and gradients, relative to the largest of their kind: sums over 64 rows through layers of 32 units."""


def assert_close(ours: Tensor, theirs: Tensor, name: str) -> None:
    """To `ACCURACY` of the largest entry."""
    gap, size = (ours - theirs).abs().max(), theirs.abs().max()
    assert gap <= ACCURACY * size, f"{name}: they differ by {gap:.1e}, of {size:.1e}"


def first_step(gradient: Tensor, rate: float) -> Tensor:
    """What Adam's first step takes off: rate·g/(|g| + ε)."""
    return rate * gradient / (gradient.abs() + 1e-8)


def assert_moved_alike(
    ours: Tensor, theirs: Tensor, gradients: tuple[Tensor, Tensor], rate: float, size: Tensor, name: str
) -> None:
    """New parameters differ by no more than what Adam makes of the difference of the gradients, and by rounding.

    size: of the numbers that were added up, entry by entry.
    """
    steps = [first_step(gradient, rate) for gradient in gradients]
    allowed = (steps[0] - steps[1]).abs() + 8 * UNIT32 * (rate + size.abs())
    gap = (ours - theirs).abs()
    # a difference that is no number is no smaller than anything
    assert bool((gap <= allowed).all()), f"{name}: they differ by {(gap - allowed).max():.1e} more than they may"
