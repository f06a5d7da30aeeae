"""Faults of what the paper's tables are made of, and of the columns that show values beside returns."""

from __future__ import annotations

from property_tests.mutant import Mutant

MEASURES, ERRORS, VALUES = "test_measures", "test_critic_error", "test_values_beside_returns"


def measure(name: str, file: str, old: str, new: str, tests: str = MEASURES) -> Mutant:
    """A fault of an experiment."""
    return Mutant(name, f"{file}.py", old, new, (tests,), "experiments")


def column(name: str, old: str, new: str) -> Mutant:
    """A fault of a row of metrics.csv."""
    return Mutant(name, "deep_trainee.py", old, new, (VALUES,), "training")


EXPERIMENTS = (
    measure("oracle: values in scaled rewards", "oracle", "np.concatenate(blocks, 1) /", "np.concatenate(blocks, 1) *"),
    measure("oracle: the largest error decides", "oracle", "first = min(means", "first = max(means"),
    measure("oracle: raw errors decide", "oracle", 'for e in cell["aligned"]]', 'for e in cell["raw"]]'),
    measure("oracle: between heads, unbiased", "critic_error", "heads.std(0)", "heads.std(0, ddof=1)", ERRORS),
    measure("oracle: within a head, of its values", "critic_error", "away.std(1)", "heads.std(1)", ERRORS),
    measure("gravity: the best quartile", "nonstationary", "returns[: max(1,", "returns[-max(1,"),
    measure("gravity: always the training tasks", "nonstationary", "test_tasks=where)", 'test_tasks="training")'),
    measure("final return of the last third", "deep_runs", "len(found) // 4) :]", "len(found) // 3) :]"),
    measure(
        "odds of SAC against ours",
        "deep_runs",
        'for label in ("RE-SAC B0", "SAC"))',
        'for label in ("SAC", "RE-SAC B0"))',
    ),
    measure("uncertainty: labels without noise", "uncertainty", "truth(data) + noise *", "truth(data) + 0.0 *"),
    measure("uncertainty: a bandit that goes on", "uncertainty", "ended = torch.ones", "ended = torch.zeros"),
    measure("uncertainty: κ need not follow noise", "uncertainty", "kappa_noise[1] > 0.0 and ", ""),
    column(
        "values in scaled rewards",
        "heads.double().cpu().numpy() / self.options.reward_scale",
        "heads.double().cpu().numpy()",
    ),
    column("σ of the population", "ddof=1", "ddof=0"),
    column("batch values in scaled rewards", "row[name] /= scale", "row[name] *= 1.0"),
)
