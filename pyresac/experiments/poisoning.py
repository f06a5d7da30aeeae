"""Over- and underestimation against the exact Q*: what does each algorithm's target, and each penalty, do to the error?

The paper's "Q-value poisoning" (appendix, claim C01) is a statement about the error of Q. On finite MDPs the error is
known: Q* is solved with a certificate, and every algorithm learns in its tabular form from the same kind of data.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyresac.experiments import poisoning_kernels as kernels
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, verdict_of
from pyresac.experiments.kept import kept
from pyresac.tabular import FiniteMDP, RevOperator, solve
from pyresac.tabular.values import PolicyMean
from pyresac.training.mean_intervals import half_width

RUNS_IN = "poisoning"
SEEDS: dict[Scale, int] = {"smoke": 3, "cpu": 10, "paper": 50}
SWEEPS: dict[Scale, int] = {"smoke": 50, "cpu": 1_000, "paper": 10_000}
"""Updates for each pair of state and action."""
POINTS = 12
"""Measurements over training, evenly spaced in the logarithm of the steps."""
RATE, FOLLOW, FIRST_VALUES = 0.1, 0.5, 0.1
"""Learning rate, share by which target tables follow at an update of their entry, deviation of the first values."""


@dataclass(frozen=True)
class Form:
    """An algorithm on tables."""

    heads: int
    actor: int = kernels.LEAST
    bootstrap: int = kernels.SHARED_LEAST
    beta: float = 0.0
    lambda_epi: float = 0.0
    lambda_ale: float = 0.0
    blend: float = 0.0
    quantiles: int = 0
    dropped: int = -1


FORMS: dict[str, Form] = {
    "Q-learning": Form(1, kernels.FIRST, kernels.OWN),
    "SAC": Form(2),
    "TD3": Form(2, kernels.FIRST),
    "REDQ": Form(10, kernels.MEAN, kernels.RANDOM_LEAST),
    "SAC-N": Form(10),
    "TQC": Form(5, quantiles=25, dropped=2),
    "DSAC": Form(2, quantiles=32),
    "BAC": Form(2, blend=0.5),
    "ensemble, no penalty": Form(10, kernels.MEAN, kernels.OWN),
    "RE-SAC": Form(10, kernels.BOUND, kernels.OWN, -2.0, 0.01, 0.0001),
    "RE-SAC, λ_epi × 100": Form(10, kernels.BOUND, kernels.OWN, -2.0, 1.0, 0.0001),
    "RE-SAC, λ_ale × 100": Form(10, kernels.BOUND, kernels.OWN, -2.0, 0.01, 0.01),
}


def noisy_chain(length: int = 8) -> FiniteMDP:
    """A corridor: going right leads on, at the far end out of it with a reward of 1; every other step pays 0."""
    P = np.zeros((length + 1, 2, length + 1))
    R = np.zeros((length + 1, 2))
    for state in range(length):
        P[state, 0, max(0, state - 1)] = 1.0
        P[state, 1, state + 1] = 1.0
    P[length, :, length] = 1.0
    R[length - 1, 1] = 1.0
    return FiniteMDP(P, R, 0.95)


@dataclass(frozen=True)
class Problem:
    """A finite MDP, its noise on rewards, and its exact solution."""

    mdp: FiniteMDP
    noise: float
    optimum: NDArray[np.float64]
    """(S, A) Q*, certified to 1e-9."""


def problems() -> dict[str, Callable[[], Problem]]:
    """Names to makers."""

    def made(mdp: FiniteMDP, noise: float) -> Problem:
        return Problem(mdp, noise, solve(RevOperator(mdp), tolerance=1e-9).q)

    return {
        "FrozenLake": lambda: made(FiniteMDP.from_gymnasium("FrozenLake-v1", 0.95), 0.0),
        "Taxi": lambda: made(FiniteMDP.from_gymnasium("Taxi-v4", 0.95), 0.0),
        "noisy chain": lambda: made(noisy_chain(), 1.0),
    }


def runs(scale: Scale) -> list[Run]:
    """See `Experiment`: everything is computed here."""
    return []


def sampled(mdp: FiniteMDP) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """(successors, cumulative chances, rewards) (S, A, N) and the pairs (n, 2) that data come from.

    A state that keeps to itself whatever is done and pays nothing is an end: it gives no data, and leads to −1.
    """
    P, R = mdp.dense(), mdp.reward
    S, A, _ = P.shape
    ends = np.array([bool((P[s, :, s] == 1.0).all() and (R[s] == 0.0).all()) for s in range(S)])
    width = int((P > 0.0).sum(2).max())
    successors, chances = np.full((S, A, width), -1, dtype=np.int64), np.ones((S, A, width))
    for s in range(S):
        for a in range(A):
            reached = np.flatnonzero(P[s, a])
            successors[s, a, : len(reached)] = np.where(ends[reached], -1, reached)
            chances[s, a, : len(reached)] = np.cumsum(P[s, a, reached])
    pairs = np.array([(s, a) for s in range(S) if not ends[s] for a in range(A)], dtype=np.int64)
    return successors, chances, np.repeat(R[:, :, None], width, 2), pairs


def curve(problem: Problem, form: Form, sweeps: int, seed: int) -> NDArray[np.float64]:
    """(POINTS, 3): mean of Q̄ − Q* over the pairs, mean of |Q̄ − Q*|, and what the greedy policy falls short of V*."""
    successors, chances, rewards, pairs = sampled(problem.mdp)
    S, A = problem.optimum.shape
    generator = np.random.default_rng([seed, 1])
    shape = (form.heads, S, A, form.quantiles) if form.quantiles else (form.heads, S, A)
    tables = FIRST_VALUES * generator.standard_normal(shape)
    target, expectile = tables.copy(), np.zeros(S)
    marks = np.unique(np.geomspace(len(pairs), sweeps * len(pairs), POINTS).astype(np.int64))
    found, done = np.full((POINTS, 3), np.nan), 0
    data = (successors, chances, rewards, pairs)
    # a step of quantile regression knows no unit of the values; it is given theirs
    unit = float(np.abs(problem.optimum).mean()) if form.quantiles else 1.0
    for point, mark in enumerate(marks):
        common = (int(mark - done), problem.mdp.discount, RATE * unit, FOLLOW, problem.noise)
        if form.quantiles:
            kernels.learn_quantiles(tables, target, *data, *common, form.dropped, generator)
        else:
            settings = (form.actor, form.beta, form.bootstrap, form.lambda_epi, form.lambda_ale, form.blend)
            kernels.learn(tables, target, expectile, *data, *common, *settings, generator)
        done = int(mark)
        values = tables.mean(3) if form.quantiles else tables
        away = (values.mean(0) - problem.optimum)[pairs[:, 0], pairs[:, 1]]
        found[point] = away.mean(), np.abs(away).mean(), shortfall(problem, values, form)
    return found


def shortfall(problem: Problem, values: NDArray[np.float64], form: Form) -> float:
    """Mean over states of V* less the exact value of the policy that is greedy in what the actor ascends."""
    S, A = problem.optimum.shape
    kind = kernels.MEAN if form.dropped >= 0 else form.actor
    chosen = [kernels.best_action(values, state, kind, form.beta) for state in range(S)]
    policy = solve(RevOperator(problem.mdp, value=PolicyMean(np.eye(A)[chosen])), tolerance=1e-6)
    return float((problem.optimum.max(1) - policy.v).mean())


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: of each problem, the mean of |Q*| and every form's curves."""
    found = {}
    for name, make in problems().items():
        problem = make()
        # JSON has no NaN
        curves = {label: _finite(curves_of(folder, name, problem, label, scale).tolist()) for label in FORMS}
        found[name] = {"size": float(np.abs(problem.optimum).mean()), "curves": curves}
    return found


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    tables = []
    for name, own in measures.items():
        curves = {label: np.array(found, dtype=np.float64) for label, found in own["curves"].items()}
        size, seeds = own["size"], len(next(iter(curves.values())))
        rows = [(label, [shown(found[:, -1, column]) for column in range(3)]) for label, found in curves.items()]
        tables.append(
            Table(
                f"{name}: mean |Q*| is {size:.3g}",
                ("Q̄ − Q*", "|Q̄ − Q*|", "V* − V of its policy"),
                rows,
                note=f"{seeds} seeds, {SWEEPS[scale]:,} updates a pair, ± half of the 95 % interval",
            )
        )
    return Outcome(verdicts({name: own["curves"] for name, own in measures.items()}), tables)


def _finite(curves: Any) -> Any:
    """Nested lists of numbers with None for those that are not finite."""
    if isinstance(curves, list):
        return [_finite(part) for part in curves]
    return curves if math.isfinite(curves) else None


def curves_of(folder: Path, name: str, problem: Problem, label: str, scale: Scale) -> NDArray[np.float64]:
    """(seeds, POINTS, 3) `curve` of a form with every seed, NaN where it has diverged.

    Seeds are made side by side on the cores: the loops hold no lock.
    """
    form, sweeps = FORMS[label], SWEEPS[scale]
    settings = {
        **asdict(form),
        "sweeps": sweeps,
        "learning": (POINTS, RATE, FOLLOW, FIRST_VALUES),
        # the sum of Q* stands for rewards and kernel, to less than it is certified to
        "problem": (problem.noise, problem.mdp.discount, problem.optimum.shape, f"{problem.optimum.sum():.6g}"),
    }

    def made(seed: int) -> Any:
        return kept(folder, f"{name} {label} seed{seed}", settings, lambda: curve(problem, form, sweeps, seed).tolist())

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = np.array(list(pool.map(made, range(SEEDS[scale]))), dtype=np.float64)
    # a table that has diverged has no policy
    found[~np.isfinite(found[..., 0])] = np.nan
    return found


def shown(sample: NDArray[np.float64]) -> str:
    """Mean ± half of its 95 % interval, by the normal approximation; how many seeds diverged, if any did."""
    lost = int((~np.isfinite(sample)).sum())
    if lost:
        return f"diverged, {lost} of {len(sample)} seeds"
    return f"{sample.mean():+.4f} ± {half_width(sample):.4f}"


def verdicts(numbers: dict[str, Any]) -> list[Finding]:
    """Verdicts on the paper's claims about the penalties and the error. A table that diverged is not accurate."""
    lines = []
    better = []
    for problem, found in numbers.items():
        plain, penalised = (
            np.array(found[label], dtype=np.float64)[:, -1, 1] for label in ("ensemble, no penalty", "RE-SAC")
        )
        lost = int((~np.isfinite(penalised)).sum())
        if lost:
            lines.append(f"{problem}: it diverges, {lost} of {len(penalised)} seeds")
            better.append(-1)
            continue
        gap = penalised - plain
        half = half_width(gap)
        lines.append(f"{problem} {gap.mean():+.4f} ± {half:.4f}")
        better.append(-1 if gap.mean() - half > 0.0 else 1 if gap.mean() + half < 0.0 else 0)
    return [
        Finding(
            "The two penalties make Q more accurate (section 5.1, abstract)",
            verdict_of(better),
            "change of the mean absolute error by RE-SAC's target and actor against the same ensemble without: "
            + "; ".join(lines),
        )
    ]
