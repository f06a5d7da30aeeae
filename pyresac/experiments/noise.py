"""Is κ a remedy for noise? Table 5: λ_ale with and without noise on observations and rewards of training.

Evaluation is clean, as published. The larger scales have a finer grid beside the paper's 2 × 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyresac.experiments.deep_runs import Cell, cell, every_at, last_quarters, mean_cell, paired_by_seed, seeds_at
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, verdict_of

RUNS_IN = "noise"
TASK = "HalfCheetah-v5"
OBSERVATION, REWARD = 0.1, 1.0
"""The paper's deviations at noise 1."""
LAMBDAS: Mapping[Scale, tuple[float, ...]] = {
    "smoke": (0.0, 1e-3),
    "cpu": (0.0, 1e-3),
    "paper": (0.0, 1e-4, 1e-3, 1e-2),
}
NOISES: Mapping[Scale, tuple[float, ...]] = {"smoke": (0.0, 1.0), "cpu": (0.0, 1.0), "paper": (0.0, 0.5, 1.0, 2.0)}
STEPS: Mapping[Scale, int] = {"smoke": 12_000, "cpu": 200_000, "paper": 8_000_000}
PAPER = {"λ_ale = 0": ("10303", "8086"), "λ_ale = 0.001": ("12541", "5673")}
"""Table 5, one seed, 8M steps on Brax, returns of up to 5,000 steps."""


def noise_options(size: float) -> dict[str, Any]:
    """Options of training for the paper's noise times `size`."""
    if size == 0.0:
        return {}
    return {
        "observation_noise": f"gaussian {OBSERVATION * size:g}",
        "reward_noise": f"gaussian {REWARD * size:g}",
        "noise_in": "training",
    }


def grid(scale: Scale) -> list[tuple[float, float, Cell]]:
    """(λ_ale, noise, run)."""
    found = []
    for lambda_ale in LAMBDAS[scale]:
        for noise in NOISES[scale]:
            settings = {"preset": "resac-b0", "lambda_ale": lambda_ale, **noise_options(noise)}
            label = f"lambda {lambda_ale:g} noise {noise:g}"
            found += [
                (lambda_ale, noise, cell(label, settings, TASK, seed, STEPS[scale], every_at(scale)))
                for seed in seeds_at(scale)
            ]
    return found


def runs(scale: Scale) -> list[Run]:
    """See `Experiment`."""
    return [one.run for _, _, one in grid(scale)]


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: a run's final return."""
    return last_quarters(folder, runs)


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    found: dict[tuple[float, float], dict[int, float]] = {}
    for lambda_ale, noise, one in grid(scale):
        if one.run.name in measures:
            found.setdefault((lambda_ale, noise), {})[one.seed] = measures[one.run.name]
    rows = [
        (
            f"λ_ale = {lambda_ale:g}",
            tuple(
                mean_cell(found[lambda_ale, noise].values()) if (lambda_ale, noise) in found else ""
                for noise in NOISES[scale]
            ),
        )
        for lambda_ale in LAMBDAS[scale]
    ]
    columns = tuple(f"noise ({OBSERVATION * noise:g}, {REWARD * noise:g})" for noise in NOISES[scale])
    paper = PAPER if scale != "paper" else {}
    note = (
        "last quarter of evaluations, clean, of 1,000 steps; mean over seeds [95 %]; "
        "the paper's: one seed, up to 5,000 steps, 8M on Brax"
    )
    table = Table(f"{TASK}: return by λ_ale and noise in training", columns, rows, paper, note)
    findings = [
        _effect(found, 1.0, "κ harms under injected noise (table 5: −30 %), so it is no remedy for it", -1),
        _effect(found, 0.0, "κ helps slightly without noise (table 5: +22 %)", 1),
    ]
    return Outcome(findings, [table])


def _effect(found: dict[tuple[float, float], dict[int, float]], noise: float, claim: str, side: int) -> Finding:
    """What λ_ale = 10⁻³ adds to λ_ale = 0 at this noise, paired by seed; `side` is the claim's sign."""
    with_kappa, without = found.get((1e-3, noise), {}), found.get((0.0, noise), {})
    seeds, gain = paired_by_seed(with_kappa, without)
    if gain is None:
        return Finding(claim, "not tried at this scale", f"{seeds} seeds with both")
    words = f"λ_ale = 0.001 changes the return by {gain.signed}, {seeds} seeds"
    return Finding(claim, verdict_of([side * gain.side()]), words)
