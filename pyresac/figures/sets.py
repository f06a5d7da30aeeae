"""`python -m pyresac.figures.sets OUT`: what each uncertainty set is on three states, drawn on the simplex.

Each region is the convex hull of the set's own worst rows, for values that point in every direction: the solver's inner
problem draws it.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pyresac.figures.style import BLUE, GREY, RED, figure_command, new_figure
from pyresac.tabular import (
    Chi2Ball,
    Contamination,
    CressieReadBall,
    CVaR,
    ExpectationFunctional,
    FiniteMDP,
    IntervalSet,
    KLBall,
    L1Ball,
    LikelihoodBall,
    LInfinityBall,
    RenyiBall,
    WassersteinBall,
    WorstOfKernels,
)

NOMINAL = np.array([0.5, 0.35, 0.15])
DIRECTIONS = 720
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
LINE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
INEQUALITIES = np.array([[1.0, -2.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 1.0]])
LIMITS = np.array([0.0, 0.0, 0.3, -0.1])


def mdp_of(row: NDArray[np.float64]) -> FiniteMDP:
    """Three states that all have the row `row`."""
    return FiniteMDP.from_arrays(np.tile(row, (3, 1, 1)).reshape(3, 1, 3), np.zeros((3, 1)), 0.9, renormalise=True)


def shown() -> dict[str, ExpectationFunctional]:
    """The sets, with sizes that make them alike."""
    width = np.array([0.1, 0.2, 0.05])
    low, high = (np.tile(row, (3, 1)).reshape(3, 1, 3) for row in (NOMINAL - width, NOMINAL + width))
    return {
        "l1, radius 0.3": L1Ball(0.3),
        "L∞, radius 0.12": LInfinityBall(0.12),
        "intervals ±0.1, ±0.2, ±0.05": IntervalSet(low, high),
        "KL, radius 0.05": KLBall(0.05),
        "χ², radius 0.1": Chi2Ball(0.1),
        "CVaR, share 0.7": CVaR(0.7),
        "contamination, share 0.2": Contamination(0.2),
        "Wasserstein-1, s₁–s₂–s₃ in line, radius 0.15": WassersteinBall(0.15, LINE),
        "likelihood, radius 0.05": LikelihoodBall(0.05),
        "Cressie–Read of order 4, radius 0.05": CressieReadBall(0.05, order=4.0),
        "Rényi of order 8, radius 0.15": RenyiBall(0.15, order=8.0),
        "q₂ ≤ q₁ ≤ 2q₂, q₃ ≤ 0.3, q₃ ≤ q₂ − 0.1": WorstOfKernels.of_polytope(mdp_of(NOMINAL), INEQUALITIES, LIMITS),
    }


def boundary(functional: ExpectationFunctional, row: NDArray[np.float64]) -> NDArray[np.float64]:
    """The worst rows (DIRECTIONS, 3) of the set around `row`, one for each direction of the values."""
    mdp, rows = mdp_of(row), []
    for angle in np.linspace(0.0, 2 * np.pi, DIRECTIONS, endpoint=False):
        # values that sum to 0, so that none of the direction is lost to the simplex
        v = np.cos(angle + np.array([0.0, 2, 4]) * np.pi / 3)
        rows.append(functional.worst_rows(mdp, v).toarray()[0])
    return np.array(rows)


def panel(axes: Axes, title: str, functional: ExpectationFunctional) -> None:
    """One simplex: the set around an inner row, and around a row that has no third state."""
    axes.fill(*CORNERS.T, facecolor="none", edgecolor=GREY, lw=1.0)
    for row, colour in ((NOMINAL, BLUE), (np.array([0.6, 0.4, 0.0]), RED)):
        if isinstance(functional, IntervalSet | WorstOfKernels) and colour == RED:  # these have no centre
            continue
        corners = boundary(functional, row) @ CORNERS
        axes.fill(*corners.T, facecolor=colour, alpha=0.25, lw=0)
        axes.plot(*np.vstack([corners, corners[:1]]).T, color=colour, lw=1.8)
        axes.plot(*(row @ CORNERS), "o", color=colour, ms=4)
    for corner, name, shift in zip(CORNERS, ("s₁", "s₂", "s₃"), ((0, -0.07), (0, -0.07), (0, 0.03)), strict=True):
        axes.text(corner[0] + shift[0], corner[1] + shift[1], name, ha="center", fontsize=8, color=GREY)
    axes.set_title(title, fontsize=8.5)
    axes.set_aspect("equal")
    axes.set_axis_off()


def figure() -> Figure:
    """All sets, a panel each."""
    result = new_figure(
        "Where the adversary may move a row: around (0.5, 0.35, 0.15) and around (0.6, 0.4, 0)", 11.0, 8.8
    )
    for axes, (title, functional) in zip(result.subplots(3, 4).flat, shown().items(), strict=True):
        panel(axes, title, functional)
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return figure_command(figure, "python -m pyresac.figures.sets", __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
