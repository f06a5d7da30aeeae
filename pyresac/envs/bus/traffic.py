"""Traffic: what makes running times vary together, on a day and along the line. The defaults leave a day as it was.

A link's drawn speed is divided by F = exp(D + T − (σ_D² + σ_T²)/2), whose mean is 1: D ~ N(0, σ_D²) is one number a
day, T ~ N(0, σ_T²) one a direction, link and speed interval, correlated by ρ^k between links k apart and by π^m
between intervals m apart. The link's own draws (`speed_deviation`, or a direction's `deviation`) come on top and are
independent. The model is this project's own; `avl.calibration` finds its numbers in observed days.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from pyresac.envs.bus.number_checks import check_inside

LIMITS = {"day": (0.0, 1.0), "local": (0.0, 1.0), "along": (0.0, 0.999), "persistence": (0.0, 0.999)}


@dataclass(frozen=True)
class Traffic:
    """Shared variation of running times, as shares of a running time and as correlations."""

    day: float = 0.0
    """σ_D in [0, 1]: standard deviation of the logarithm of the day's factor."""
    local: float = 0.0
    """σ_T in [0, 1]: the same of the factor that neighbouring links share."""
    along: float = 0.0
    """ρ in [0, 0.999]: its correlation from a link to the next."""
    persistence: float = 0.0
    """π in [0, 0.999]: its correlation from a speed interval to the next."""

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            check_inside(f"traffic.{name}", getattr(self, name), least, most)

    @property
    def spread(self) -> float:
        """√(σ_D² + σ_T²)."""
        return math.hypot(self.day, self.local)


NAMES = tuple(field.name for field in fields(Traffic))
