"""Is the error larger where states are rare? Figure 1: the oracle error in bins of Mahalanobis rareness.

Against the mean and covariance of the evaluation's own observations, as the published script has it, and against those
that the run trained on (its replay buffer), as the text says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from pyresac.deep.networks.inputs import Inputs
from pyresac.experiments.critic_error import CELLS, Cells, aligned, binned, by_cell, pooled, published_edges, rareness
from pyresac.experiments.deep_runs import by_task, mean_cell, measures_of_runs, stationary_cells
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, verdict_of
from pyresac.experiments.oracle import EPISODES, values_of
from pyresac.experiments.statistics import rank_correlation
from pyresac.figures.style import new_figure, plain, write
from pyresac.training.restored import Restored

RUNS_IN = "returns"
REFERENCES = ("evaluation", "training")
CLAIM = "Errors grow with rareness, least for RE-SAC (figure 1)"
Decisions: TypeAlias = dict[str, NDArray[np.float64]]
"""The "error" of every decision, and its rareness by each reference."""
Summaries: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""By label, a `summary` a seed."""
SHOWN = 6
"""Bins of the table; the figure has the published thirty."""


def runs(scale: Scale) -> list[Run]:
    """The runs of `returns`, which are trained once for all."""
    return [one.run for one in stationary_cells(scale)]


def trained_on(run: Restored) -> Inputs:
    """The n states in the replay buffer of the newest checkpoint."""
    saved = run.files.load_latest()
    assert saved is not None  # it was restored from there
    return run.trainee.buffer.batch(torch.from_numpy(saved.arrays["replay/rows"])).state


def decisions(run: Restored, episodes: int) -> Decisions:
    """Oracle error of every decision, and its rareness by both references."""
    played = run.play(episodes, 5_000)
    heads = aligned(values_of(run, played), played.discounted)
    states = np.asarray(played.dense, dtype=np.float64)
    return {
        "error": np.abs(heads - played.discounted).min(0),
        "evaluation": rareness(states, states),
        "training": rareness(states, trained_on(run).dense.double().numpy()),
    }


def summary(found: Decisions) -> dict[str, Any]:
    """What tables and figures need of a run's decisions, as JSON: by reference, the rank correlation of error and
    rareness, and the decisions by cells."""
    return {
        reference: {
            "correlation": rank_correlation(found[reference], found["error"]),
            "cells": by_cell(found[reference], found["error"]),
        }
        for reference in REFERENCES
    }


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: a run's `summary`."""
    return measures_of_runs(folder, runs, lambda run: summary(decisions(run, EPISODES[scale])))


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    tables, names = [], []
    numbers: dict[str, Any] = {}
    for task, found in by_task(measures, stationary_cells(scale)).items():
        tables += [table_of(task, reference, found) for reference in REFERENCES]
        names.append(f"rareness-{task}.png")
        draw(figures / names[-1], task, found)
        numbers[task] = correlations(found)
    return Outcome([finding(CLAIM, numbers)], tables, tuple(names))


def _all(found: Summaries, reference: str) -> Cells:
    return pooled(one[reference]["cells"] for seeds in found.values() for one in seeds)


def correlations(found: Summaries) -> dict[str, dict[str, list[float]]]:
    """Rank correlation of error and rareness, a number a seed, by label and reference."""
    return {
        label: {reference: [one[reference]["correlation"] for one in seeds] for reference in REFERENCES}
        for label, seeds in found.items()
    }


def table_of(task: str, reference: str, found: Summaries) -> Table:
    """Mean error in `SHOWN` bins of rareness."""
    edges = published_edges(_all(found, reference), SHOWN)
    rows = []
    for label, seeds in found.items():
        means = np.array([binned(one[reference]["cells"], edges)[0] for one in seeds])
        rows.append((label, tuple(_bin(means[:, place]) for place in range(SHOWN))))
    columns = tuple(f"{low:.1f}–{high:.1f}" for low, high in pairwise(edges / CELLS))
    note = "mean over seeds [95 %]; empty where no decision falls"
    return Table(f"{task}: oracle error by rareness, against the {reference}'s states", columns, rows, note=note)


def _bin(means: NDArray[np.float64]) -> str:
    known = means[np.isfinite(means)]
    return mean_cell(known, 1) if len(known) else ""


def draw(path: Path, task: str, found: Summaries) -> None:
    """Error in the published thirty bins, by both references."""
    figure = new_figure(f"{task}: oracle error by rareness", 12.0, 4.6)
    axes = figure.subplots(1, 2, sharey=True)
    for axis, reference in zip(axes, REFERENCES, strict=True):
        edges = published_edges(_all(found, reference))
        middle = (edges[:-1] + edges[1:]) / 2 / CELLS
        for label, seeds in found.items():
            means, count = binned(pooled(one[reference]["cells"] for one in seeds), edges)
            plain(axis).plot(middle[count > 0], means[count > 0], marker=".", linewidth=1, label=label)
        axis.set(title=f"against the {reference}'s states", xlabel="Mahalanobis rareness")
    axes[0].set_ylabel("oracle error")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8.5)
    write(figure, path, dpi=130)


def finding(claim: str, numbers: dict[str, Any]) -> Finding:
    """Whether errors grow least with rareness for a form of RE-SAC, on every task of `numbers` (`correlations`).

    Only where its seeds are all below, or all above, those of every other does that count.
    """
    lines, least = [], []
    for task, found in numbers.items():
        slopes = {label: float(np.mean(own["training"])) for label, own in found.items()}
        ours = [label for label in slopes if label.startswith("RE-SAC")]
        if ours and len(ours) < len(slopes):
            first = min(slopes, key=lambda label: slopes[label])
            rivals = [label for label in slopes if (label in ours) != (first in ours)]
            apart = max(found[first]["training"]) < min(min(found[label]["training"]) for label in rivals)
            least.append((1 if first in ours else -1) if apart else 0)
            lines.append(f"{task}: least correlation {first} {slopes[first]:+.2f}")
            lines[-1] += "".join(f", {label} {slopes[label]:+.2f}" for label in ours if label != first)
    if not lines:
        return Finding(claim, "not tried at this scale", "no finished runs of RE-SAC and of others")
    words = "rank correlation of error and rareness against the states trained on; " + "; ".join(lines)
    return Finding(claim, verdict_of(least), words)
