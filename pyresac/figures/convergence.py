"""`python -m pyresac.figures.convergence OUT`: what freezing buys, on one MDP.

Two tables are backed up n times by the same operator; drawn is how far apart they still are, as a fraction of the first
distance. Under a frozen penalty that is at most γⁿ whatever V and E are (C11); under a live one it depends on the
penalty's Lipschitz constant (C14, C37), and the live variance has none (C15).
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from pyresac.figures.style import BLUE, GREEN, ORANGE, PURPLE, RED, SKY, figure_command, new_figure, plain
from pyresac.tabular import (
    EnsembleVariance,
    ExpectationFunctional,
    L1Ball,
    LiveOperator,
    NormPenalty,
    RevOperator,
    Soft,
    ValueFunctional,
    ensemble_variance,
    families,
)
from pyresac.tabular.checks import Floats

GAMMA = 0.9
BACKUPS = 60
CEILING = 1e3
"""Distances above this multiple of the first leave the picture."""


def distances(operator: Callable[[Floats], Floats], first: Floats, second: Floats) -> list[float]:
    """‖Tⁿ first − Tⁿ second‖∞ relative to n = 0, for n = 0 … BACKUPS, cut after the first value above CEILING."""
    start = float(np.abs(first - second).max())
    ratios = [1.0]
    while len(ratios) <= BACKUPS and ratios[-1] <= CEILING:
        first, second = operator(first), operator(second)
        ratios.append(float(np.abs(first - second).max()) / start)
    return ratios


def curves() -> dict[str, tuple[list[float], str, str]]:
    """Label → (relative distances, colour, line style) for each operator on one random MDP (8 states, 3 actions)."""
    mdp = families.random_dense(8, 3, GAMMA, seed=3)
    # Costs: Q stays negative, where the live norm attains its modulus.
    mdp = mdp.replace(reward=mdp.reward - 4.0)
    rng = np.random.default_rng(0)
    heads = -2.0 - rng.random((2, 8, 3))
    others = heads - 1.0 + 0.9 * rng.random((2, 8, 3))
    q, p = heads[0], others[0]
    gamma = ensemble_variance(heads)
    # Two heads far apart in opposite directions: the pair of claim C15.
    apart = np.array([20.0, -20.0])[:, None, None]

    def frozen(value: ValueFunctional | None = None, expectation: ExpectationFunctional | None = None) -> RevOperator:
        return RevOperator(mdp, epistemic=gamma, lambda_epi=0.5, kappa=0.2, value=value, expectation=expectation)

    return {
        "frozen, max": (distances(frozen(), q, p), BLUE, "-"),
        "frozen, soft (α = 0.5)": (distances(frozen(value=Soft(0.5)), q, p), SKY, "--"),
        "frozen, robust (‖·‖₁ ≤ 0.4)": (
            distances(frozen(expectation=L1Ball(0.4)), q, p),
            PURPLE,
            ":",
        ),
        "live norm, λ = 0.05: γ(1 + λ) = 0.945": (
            distances(LiveOperator(mdp, NormPenalty(0.05)), q, p),
            GREEN,
            "-",
        ),
        "live norm, λ = 0.2: γ(1 + λ) = 1.08": (distances(LiveOperator(mdp, NormPenalty(0.2)), q, p), ORANGE, "-"),
        "live variance, λ = 0.2: no modulus (expands first)": (
            distances(LiveOperator(mdp, EnsembleVariance(0.2)), apart * heads, apart * heads + np.sign(apart)),
            RED,
            "--",
        ),
    }


def drawn() -> Figure:
    """The figure."""
    title = "Two tables under the same backup: frozen penalties contract, live ones need not"
    figure = new_figure(title)
    axes = plain(figure.subplots())
    n = np.arange(BACKUPS + 1)
    axes.fill_between(n, 1e-6, GAMMA**n, color=BLUE, alpha=0.07, lw=0)
    axes.plot(n, GAMMA**n, color="black", lw=1, label="γⁿ, γ = 0.9")
    for label, (ratios, colour, style) in curves().items():
        axes.plot(np.arange(len(ratios)), ratios, color=colour, ls=style, lw=1.8, label=label)
    axes.set(yscale="log", ylim=(1e-4, CEILING), xlim=(0, BACKUPS), xlabel="backups n")
    axes.set_ylabel("‖TⁿQ − TⁿQ′‖∞ / ‖Q − Q′‖∞")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8.5)
    return figure


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return figure_command(drawn, "python -m pyresac.figures.convergence", __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
