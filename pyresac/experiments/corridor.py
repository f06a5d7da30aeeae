"""The corridor as the paper has it: curves, values beside what is earned, and rules tuned as hard as the agents.

Figures 3 and 4 and table 6. All agents have the paper's state and the whole holding as their action, on the default
corridor; the published corridor needs its workbooks (`--corridor published-slow:FOLDER`, docs/results.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyresac.experiments.deep_runs import (
    Cell,
    cell,
    curve_groups,
    curves_of_runs,
    draw_curves,
    mean_cell,
    measured,
    seeds_at,
)
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, held
from pyresac.figures.style import write
from pyresac.figures.training import CORRIDOR, value_bands
from pyresac.options import load_json

RUNS_IN = "corridor"
LABELS: Mapping[str, Mapping[str, Any]] = {
    **{f"RE-SAC K={k}": {"algorithm": "resac", "ensemble_size": k} for k in (2, 5, 10, 20, 40)},
    "SAC": {"algorithm": "sac"},
    "DSAC": {"algorithm": "dsac"},
    "BAC": {"algorithm": "bac"},
    "epistemic only": {"preset": "epistemic-only"},
    "aleatoric only": {"preset": "aleatoric-only"},
}
SMOKE = ("RE-SAC K=2", "SAC")
PROBLEM: Mapping[str, Any] = {"observation": "paper", "rule": None}
STEPS: Mapping[Scale, int] = {"smoke": 8_000, "cpu": 40_000, "paper": 2_600_000}
EVERY: Mapping[Scale, int] = {"smoke": 4_000, "cpu": 4_000, "paper": 52_000}
CURVE = ("eval_return", "q_eval", "sigma_eval", "earned_eval")
MEASURES = {"reward": 1e6, "wait": 1.0, "travel": 1.0}
VALUES = {"q": "mean value", "sigma": "σ_ens", "earned": "earned"}
PAPER = {"none": ("-0.841", "3.76", "10.93"), "headway": ("-0.437", "3.62", "12.19")}
"""Table 6: one day of the published corridor."""


REWARD, VALUES_FIGURE = "corridor-reward.png", "corridor-values.png"
PANELS = (
    [label for label in LABELS if label.startswith("RE-SAC")],
    ["RE-SAC K=10", "SAC", "DSAC", "BAC", "epistemic only", "aleatoric only"],
)
"""Rows of each figure: the numbers of critics; the algorithms and ablations."""
LEVELS = ("none", "headway", "linear")
"""Rules whose reward stands in the figure of the curves."""


def cells(scale: Scale) -> list[Cell]:
    """Every setting with every seed."""
    return [
        cell(label, {**settings, **PROBLEM}, "corridor", seed, STEPS[scale], EVERY[scale])
        for label, settings in LABELS.items()
        if scale != "smoke" or label in SMOKE
        for seed in seeds_at(scale)
    ]


def runs(scale: Scale) -> list[Run]:
    """See `Experiment`."""
    return [one.run for one in cells(scale)]


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: a run's curves, and what its last days came to, under its policy and under the rules."""
    found = {}
    for name, curve in curves_of_runs(folder, runs, CURVE).items():
        result = load_json(folder / name / "result.json")
        days = {controller: _means(table) for controller, table in result["controllers"].items()}
        found[name] = {"curve": curve, "days": days, "values": result["values"]}
    return found


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    days: dict[str, list[dict[str, float]]] = {}
    values: dict[str, list[dict[str, Any]]] = {}
    for one, own in measured(measures, cells(scale)):
        for name, means in own["days"].items():
            if name == "learned":
                days.setdefault(one.label, []).append(means)
            else:
                days.setdefault(name, [means])  # the same days in every run
        values.setdefault(one.label, []).append(own["values"])
    order = sorted(days, key=lambda label: label not in LABELS)
    rows = [
        (
            label,
            tuple(
                mean_cell((row[measure] / unit for row in days[label]), 4 if unit > 1 else 2)
                for measure, unit in MEASURES.items()
            ),
        )
        for label in order
    ]
    note = (
        "ten final days; learned: mean over seeds [95 %]; rules: the mean of those days. The paper's: another corridor"
    )
    groups = curve_groups((one.label, own["curve"]) for one, own in measured(measures, cells(scale)))
    if groups:
        levels = {name: float(np.mean([row["reward"] for row in days[name]])) for name in LEVELS if name in days}
        draw_curves(figures / REWARD, "Reward during training", CORRIDOR, groups, PANELS, levels)
        shown = [groups[label] for label in PANELS[1] if label in groups]
        bands = value_bands(shown or list(groups.values()), CORRIDOR, "Values beside what is earned")
        write(bands, figures / VALUES_FIGURE, dpi=130)
    found = Table("After training", ("reward, 10⁶", "wait, min", "travel, min"), rows, PAPER, note)
    return Outcome(
        [_collapse(values, days), _against_rules(days)],
        [found, _value_table(values)],
        (REWARD, VALUES_FIGURE) if groups else (),
    )


def _means(table: Mapping[str, list[float]]) -> dict[str, float]:
    return {measure: float(np.mean(table[measure])) for measure in MEASURES}


def _value_table(values: dict[str, list[dict[str, Any]]]) -> Table:
    rows = []
    for label, found in values.items():
        known = [one for one in found if one["earned"] is not None]
        rows.append((label, tuple(mean_cell(one[name] for one in known) if known else "" for name in VALUES)))
    note = "at the decisions of the final days, in seconds of reward; σ is between the heads"
    return Table("Values beside what is earned", tuple(VALUES.values()), rows, note=note)


def _collapse(values: dict[str, list[dict[str, Any]]], days: dict[str, list[dict[str, float]]]) -> Finding:
    claim = "Epistemic only collapses, to −1.2·10⁶ and values below −3,000 (figures 3 and 4)"
    if not {"epistemic only", "RE-SAC K=10"} <= days.keys():
        return Finding(claim, "not tried at this scale", "no finished runs of both")
    own, whole = (np.mean([row["reward"] for row in days[label]]) / 1e6 for label in ("epistemic only", "RE-SAC K=10"))
    value = np.mean([one["q"] for one in values["epistemic only"]])
    words = f"epistemic only {own:.3f}·10⁶ at a mean value of {value:,.0f}; RE-SAC, K = 10 {whole:.3f}·10⁶"
    return Finding(claim, held(bool(own < 1.5 * whole)), words)


def _against_rules(days: dict[str, list[dict[str, float]]]) -> Finding:
    claim = "Learned policies are the best on the corridor (abstract: highest cumulative reward of the DRL methods)"
    learned = {label: np.mean([row["reward"] for row in days[label]]) for label in LABELS if label in days}
    rules = {label: np.mean([row["reward"] for row in rows]) for label, rows in days.items() if label not in LABELS}
    if not learned or not rules:
        return Finding(claim, "not tried at this scale", "no finished runs")
    first, rule = max(learned, key=lambda label: learned[label]), max(rules, key=lambda label: rules[label])
    words = f"best learned: {first}, {learned[first] / 1e6:.4f}·10⁶; best rule: {rule}, {rules[rule] / 1e6:.4f}·10⁶"
    return Finding(claim, held(bool(learned[first] > rules[rule])), words)
