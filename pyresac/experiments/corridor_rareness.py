"""Is the error larger where headways are rare? Figure 5: the corridor's oracle error in bins of Mahalanobis rareness.

Rareness is of the forward and backward headway, within each stop and direction (section 5.2): against the evaluation's
own decisions, as the published script has it, and against those that the run trained on, as the text says.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.observation import CATEGORICAL, CONTINUOUS
from pyresac.experiments import corridor
from pyresac.experiments.critic_error import rareness
from pyresac.experiments.deep_runs import measured, measures_of_runs
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, verdict_of
from pyresac.experiments.oracle import values_of
from pyresac.experiments.rareness import (
    REFERENCES,
    Decisions,
    correlations,
    draw,
    finding,
    summary,
    table_of,
    trained_on,
)
from pyresac.training.restored import Restored

RUNS_IN = "corridor"
CLAIM = "On the corridor errors grow with rareness, least for RE-SAC (figure 5)"
DAYS: dict[Scale, int] = {"smoke": 2, "cpu": 10, "paper": 50}
HEADWAYS = [CONTINUOUS.index(name) for name in ("forward_headway", "backward_headway")]
GROUP = [CATEGORICAL.index(name) for name in ("stop", "direction")]
PAPER = {"RE-SAC": 1647.0, "SAC": 4343.0}
"""Average oracle MAE of section 5.2, on the published corridor."""


def runs(scale: Scale) -> list[Run]:
    """The runs of `corridor`, which are trained once for both."""
    return corridor.runs(scale)


def grouped_rareness(
    states: NDArray[np.float64],
    groups: NDArray[np.int64],
    reference: NDArray[np.float64],
    reference_groups: NDArray[np.int64],
) -> NDArray[np.float64]:
    """(m,) `rareness` of states (m, C) against the reference states (n, C) of the same group; groups are rows (·, G).

    NaN in a group with fewer than two reference states, which has no covariance.
    """
    found = np.full(len(states), np.nan)
    for group in np.unique(groups, axis=0):
        own, its = (groups == group).all(1), (reference_groups == group).all(1)
        if its.sum() >= 2:
            found[own] = rareness(states[own], reference[its])
    return found


def decisions(run: Restored, days: int) -> Decisions:
    """Oracle error of every decision of evaluation days, in seconds of reward, and its rareness by both references."""
    played = run.play(days, 5_000)
    headways, groups = np.asarray(played.dense, dtype=np.float64)[:, HEADWAYS], played.codes[:, GROUP]
    buffer = trained_on(run)
    assert buffer.codes is not None  # the corridor has four
    found = {
        "error": np.abs(values_of(run, played) - played.discounted).min(0),
        "evaluation": grouped_rareness(headways, groups, headways, groups),
        "training": grouped_rareness(
            headways, groups, buffer.dense.double().numpy()[:, HEADWAYS], buffer.codes.numpy()[:, GROUP]
        ),
    }
    known = np.isfinite(found["evaluation"]) & np.isfinite(found["training"])
    return {name: values[known] for name, values in found.items()}


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: a run's `summary`, and its mean error."""

    def measure(run: Restored) -> dict[str, Any]:
        found = decisions(run, DAYS[scale])
        return {**summary(found), "error": float(found["error"].mean())}

    return measures_of_runs(folder, runs, measure)


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    found: dict[str, list[Any]] = {}
    for one, own in measured(measures, corridor.cells(scale)):
        found.setdefault(one.label, []).append(own)
    if not found:
        return Outcome([finding(CLAIM, {})], [])
    draw(figures / "corridor-rareness.png", "the corridor", found)
    numbers = {"the corridor": correlations(found)}
    mean = {label: [one["error"] for one in seeds] for label, seeds in found.items()}
    return Outcome(
        [finding(CLAIM, numbers), _ratio(mean)],
        [table_of("Corridor", reference, found) for reference in REFERENCES],
        ("corridor-rareness.png",),
    )


def _ratio(mean: dict[str, list[float]]) -> Finding:
    claim = f"RE-SAC's oracle error is below SAC's on the corridor ({PAPER['RE-SAC']:.0f} and {PAPER['SAC']:.0f}: 62 %)"
    if not {"RE-SAC K=10", "SAC"} <= mean.keys():
        return Finding(claim, "not tried at this scale", "no finished runs of both")
    own, other = (np.array(mean[label]) for label in ("RE-SAC K=10", "SAC"))
    words = (
        f"mean oracle error {own.mean():.0f} ({own.min():.0f} to {own.max():.0f}) for K = 10, "
        f"{other.mean():.0f} ({other.min():.0f} to {other.max():.0f}) for SAC, "
        f"{100.0 * (1.0 - own.mean() / other.mean()):.0f} % less, {len(own)} and {len(other)} seeds; "
        "the nearest of ten heads is nearer than the nearest of two by their number alone"
    )
    apart = -1 if own.min() > other.max() else 1 if own.max() < other.min() else 0
    return Finding(claim, verdict_of([apart]), words)
