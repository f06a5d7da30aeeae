"""When to stop: tolerance met, float64 exhausted, no progress where theory promises some, or iterations used up."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from pyresac.errors import InputError
from pyresac.tabular.solvers.certificate import Certificate, Residual

NEAR_FLOOR = 2.0
"""A tolerance that float64 cannot certify is replaced by this many floors."""
EXPECTED_GAIN = 0.99
"""Over the patience of a method the bound must shrink at least by this factor, else rounding dominates."""


class Progress:
    """Follows the bound over the iterations of one solve.

    contraction: in (0, 1), by how much each iteration of the method shrinks the error at least, in exact arithmetic.
    max_iterations: None for as many as that contraction needs from the first residual. follow: told the number of each
    iteration and about what the bound is after it.

    Where the error shrinks by c an iteration, the bound need not fall each time, as it is only known to lie between the
    error and 2/(1 − c) times it: so patience is what brings cⁿ·2/(1 − c) below 1.
    """

    def __init__(
        self,
        certificate: Certificate,
        tolerance: float,
        contraction: float,
        max_iterations: int | None,
        follow: Callable[[int, float], None] | None = None,
    ) -> None:
        self.aim = tolerance
        """The error bound that evaluations may aim at."""
        self._certificate = certificate
        self._tolerance = tolerance
        self._contraction = contraction
        self._limit = max_iterations
        self._follow = follow
        self._patience = math.ceil(math.log(2.0 / (1.0 - contraction)) / -math.log(contraction)) + 8
        self._patience_near_floor = math.ceil(0.5 / (1.0 - contraction)) + 8
        self._best = math.inf
        self._best_at = 0
        self.iterations = 0
        self.message = ""

    def finished(self, residual: Residual) -> bool:
        """Whether to stop after the sweep with this residual; `message` then says why."""
        self.iterations += 1
        if not math.isfinite(residual.size + residual.q_size):
            raise overflow()
        estimate, floor = self._certificate.estimate(residual), self._certificate.floor(residual)
        if not math.isfinite(floor):
            raise overflow()
        if self._follow is not None:
            self._follow(self.iterations, estimate)
        if estimate <= self._tolerance and self._certificate.bound(residual, self._tolerance)[1] <= self._tolerance:
            return self._stop("the tolerance is met")
        target = self._tolerance
        if self._tolerance < 1.25 * floor:
            target = self.aim = NEAR_FLOOR * floor
            if estimate <= target:
                return self._stop(
                    f"the tolerance {self._tolerance:g} is below what float64 can certify here (about {floor:.2g})"
                )
        if estimate < EXPECTED_GAIN * self._best:
            self._best, self._best_at = estimate, self.iterations
        else:
            idle = self.iterations - self._best_at
            if idle >= (self._patience_near_floor if estimate <= NEAR_FLOOR**5 * floor else self._patience):
                return self._stop(
                    f"rounding has stopped all progress for {idle} iterations; float64 can certify about {floor:.2g}"
                )
        if self._limit is None:
            # A target of 0 remains where nothing is to be rounded, or where the processor flushes what is tiny to 0.
            ratio = estimate / target if target > 0.0 else 1.0
            needed = math.log(min(max(ratio, 1.0), sys.float_info.max)) / -math.log(self._contraction)
            self._limit = self.iterations + math.ceil(1.1 * needed) + self._patience
        if self.iterations >= self._limit:
            return self._stop(f"max_iterations = {self._limit} is reached")
        return False

    def _stop(self, message: str) -> bool:
        self.message = message
        return True


def overflow() -> InputError:
    """What to say where values, or the bounds on their rounding, are beyond the range of float64."""
    return InputError(
        "the values overflow float64: rewards, or a temperature, of this size at this discount have no float64 table; "
        "divide the rewards by a constant"
    )
