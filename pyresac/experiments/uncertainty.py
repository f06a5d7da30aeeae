"""Does Γ_epi see what data lack, and κ the noise? The disentanglement that the paper claims, measured.

Critics of RE-SAC learn a known function of state and action from n samples with noise of deviation σ, as a bandit: the
values have nothing to bootstrap from. So the error, the ensemble's variance Γ_epi at the data and away from them, and
the weight norm κ depend on n and σ alone. The paper says that Γ_epi falls with data and does not follow noise, and that
κ follows noise and not data (section 4.2, appendix F, claims C20, C21).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pyresac.deep.algorithms.resac import RESAC, RESACOptions
from pyresac.deep.heads import ensemble_variance
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.replay import Batch
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, verdict_of
from pyresac.experiments.kept import kept
from pyresac.experiments.statistics import Interval, rank_correlation

RUNS_IN = "uncertainty"
SAMPLES = (64, 256, 1024, 4096)
NOISES = (0.0, 0.5, 1.0, 2.0)
SEEDS: dict[Scale, int] = {"smoke": 2, "cpu": 5, "paper": 20}
UPDATES: dict[Scale, int] = {"smoke": 50, "cpu": 4_000, "paper": 20_000}
MEASURES = ("Γ_epi at data", "Γ_epi away", "κ", "error")
INPUTS, BATCH = 3, 128


def runs(scale: Scale) -> list[Run]:
    """See `Experiment`: everything is computed here."""
    return []


def truth(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) the function of inputs (n, INPUTS) in [−1, 1]."""
    return np.asarray(np.sin(3.0 * inputs[:, 0]) + inputs[:, 1] * inputs[:, 2])


def measured(samples: int, noise: float, updates: int, seed: int) -> dict[str, float]:
    """Train critics on `samples` draws with this noise; the measures of `MEASURES`, Γ_epi and error squared alike."""
    generator = np.random.default_rng([seed, samples, int(1000 * noise)])
    data = generator.uniform(-1.0, 1.0, (samples, INPUTS))
    labels = truth(data) + noise * generator.standard_normal(samples)
    options = RESACOptions(
        ensemble_size=10, hidden=(64, 64), actor_hidden=(8,), critic_lr=1e-3, beta_ood=0.0, batch_size=BATCH
    )
    learner = Learner(
        RESAC(options),
        actions=1,
        dense=INPUTS - 1,
        categories=(),
        log_volume=0.0,
        seed=seed,
        device=torch.device("cpu"),
    )
    ended = torch.ones(BATCH)
    for _ in range(updates):
        chosen = generator.integers(samples, size=BATCH)
        rows = torch.from_numpy(data[chosen].astype(np.float32))
        state = Inputs(rows[:, 1:], None)
        reward = torch.from_numpy(labels[chosen].astype(np.float32))
        learner.update(Batch(rows[:, :1].contiguous(), state, reward, ended, state))
    at_data, away = _values(learner, data), generator.uniform(-1.0, 1.0, (2_000, INPUTS))
    there = _values(learner, away)
    return {
        "Γ_epi at data": float(ensemble_variance(torch.from_numpy(at_data)).mean()),
        "Γ_epi away": float(ensemble_variance(torch.from_numpy(there)).mean()),
        "κ": float(learner.target.weight_norms().mean()),
        "error": float(((there.mean(0) - truth(away)) ** 2).mean()),
    }


def name_of(samples: int, noise: float, seed: int) -> str:
    """The name of a training."""
    return f"n{samples} sigma{noise:g} seed{seed}"


def made(folder: Path, samples: int, noise: float, updates: int, seed: int) -> dict[str, float]:
    """`measured`, or what an earlier call kept of it."""
    name = name_of(samples, noise, seed)
    found: dict[str, float] = kept(folder, name, updates, lambda: measured(samples, noise, updates, seed))
    return found


def _values(learner: Learner, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = torch.from_numpy(inputs.astype(np.float32))
    return learner.values(Inputs(rows[:, 1:], None), rows[:, :1]).double().numpy()


def grid_of(scale: Scale) -> list[tuple[int, float, int]]:
    """(samples, noise, seed) of every training."""
    return [(samples, noise, seed) for samples in SAMPLES for noise in NOISES for seed in range(SEEDS[scale])]


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: `measured` of every training."""
    return {
        name_of(samples, noise, seed): made(folder, samples, noise, UPDATES[scale], seed)
        for samples, noise, seed in grid_of(scale)
    }


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    grid = grid_of(scale)
    found = [measures[name_of(*place)] for place in grid]
    log_data = np.log([samples for samples, _, _ in grid])
    sigma = np.array([noise for _, noise, _ in grid])
    correlations = {
        measure: {
            "data": correlation(log_data, np.array([one[measure] for one in found])),
            "noise": correlation(sigma, np.array([one[measure] for one in found])),
        }
        for measure in MEASURES
    }
    rows = [
        (measure, tuple(f"{r:+.2f} [{low:+.2f}, {high:+.2f}]" for r, low, high in correlations[measure].values()))
        for measure in MEASURES
    ]
    note = f"rank correlation over {len(grid)} trainings [95 %, bootstrap]"
    table = Table("What goes with what", ("with log n", "with noise σ"), rows, note=note)
    means = _means(grid, found)
    return Outcome(_findings(correlations), [table, *means])


def correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    """Spearman's rank correlation with its 95 % bootstrap interval."""
    generator = np.random.default_rng(0)
    resamples = (generator.integers(len(x), size=len(x)) for _ in range(500))
    low, high = np.percentile([rank_correlation(x[rows], y[rows]) for rows in resamples], [2.5, 97.5])
    return rank_correlation(x, y), float(low), float(high)


def _means(grid: list[tuple[int, float, int]], found: list[dict[str, float]]) -> list[Table]:
    tables = []
    for measure in MEASURES:
        rows = []
        for samples in SAMPLES:
            cells = []
            for noise in NOISES:
                own = [one[measure] for place, one in zip(grid, found, strict=True) if place[:2] == (samples, noise)]
                cells.append(f"{np.mean(own):.4g}")
            rows.append((f"n = {samples}", tuple(cells)))
        tables.append(Table(f"{measure}, mean over seeds", tuple(f"σ = {noise:g}" for noise in NOISES), rows))
    return tables


def _side(found: tuple[float, float, float]) -> int:
    """Where the interval of a correlation lies: 1 above 0, −1 below it, 0 around it."""
    return Interval(*found).side()


def _findings(correlations: dict[str, Any]) -> list[Finding]:
    def words(measure: str, cause: str) -> str:
        r, low, high = correlations[measure][cause]
        return f"{r:+.2f} [{low:+.2f}, {high:+.2f}]"

    epi_data, epi_noise = correlations["Γ_epi away"]["data"], correlations["Γ_epi away"]["noise"]
    kappa_noise, kappa_data = correlations["κ"]["noise"], correlations["κ"]["data"]
    return [
        Finding(
            "Γ_epi vanishes with data (appendix F, C21)",
            verdict_of([-_side(epi_data)]),
            f"rank correlation of Γ_epi away from data with log n: {words('Γ_epi away', 'data')}",
        ),
        Finding(
            "Γ_epi does not follow the noise of rewards (section 4.2)",
            verdict_of([-abs(_side(epi_noise))]),  # an interval around 0 shows no independence
            f"rank correlation of Γ_epi away from data with σ: {words('Γ_epi away', 'noise')}; "
            f"at data: {words('Γ_epi at data', 'noise')}",
        ),
        Finding(
            "κ follows noise and is uncorrelated with data (section 4.2, C20)",
            verdict_of([-1 if _side(kappa_data) else _side(kappa_noise)]),
            f"rank correlation of κ with σ: {words('κ', 'noise')}; with log n: {words('κ', 'data')}",
        ),
    ]
