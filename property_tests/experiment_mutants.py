"""Faults of what the paper's tables are made of, and of the columns that show values beside returns."""

from __future__ import annotations

from property_tests.mutant import Mutant

MEASURES, ERRORS, VALUES = "test_measures", "test_critic_error", "test_values_beside_returns"
TABLES, FILE = "test_tables", "test_results_file"


def measure(name: str, file: str, old: str, new: str, tests: str = MEASURES) -> Mutant:
    """A fault of an experiment."""
    return Mutant(name, f"{file}.py", old, new, (tests,), "experiments")


def column(name: str, old: str, new: str) -> Mutant:
    """A fault of a row of metrics.csv."""
    return Mutant(name, "deep_trainee.py", old, new, (VALUES,), "training")


EXPERIMENTS = (
    measure("oracle: values in scaled rewards", "oracle", "np.concatenate(blocks, 1) /", "np.concatenate(blocks, 1) *"),
    measure("oracle: the largest error decides", "oracle", "first = min(means", "first = max(means"),
    measure("oracle: raw errors decide", "oracle", 'for one in cell["aligned"]]', 'for one in cell["raw"]]'),
    measure("oracle: any task is enough", "oracle", "lowest >= 0.75", "lowest > 0.0"),
    measure("oracle: between heads, unbiased", "critic_error", "heads.std(0)", "heads.std(0, ddof=1)", ERRORS),
    measure("oracle: within a head, of its values", "critic_error", "away.std(1)", "heads.std(1)", ERRORS),
    measure("gravity: the best quartile", "nonstationary", "returns[: max(1,", "returns[-max(1,"),
    measure("gravity: always the training tasks", "nonstationary", "test_tasks=where)", 'test_tasks="training")'),
    measure("final return of the last third", "deep_runs", "len(found) // 4) :]", "len(found) // 3) :]"),
    measure(
        "odds of SAC against ours",
        "deep_runs",
        "for scores in (first, second))",
        "for scores in (second, first))",
    ),
    measure("the lead is over one rival", "deep_runs", "return min(one.side(0.5)", "return max(one.side(0.5)"),
    measure("results: another plan's measures", "results_file", "options != plan.get(run)", "run not in plan", FILE),
    measure(
        "results: the older measure stays", "results_file", "**before.measures, **own", "**own, **before.measures", FILE
    ),
    measure("results: nobody waits", "results_file", "fcntl.LOCK_EX", "fcntl.LOCK_SH", FILE),
    measure("sensitivity: a collapse by any margin", "sensitivity", "mean - abs(mean) / 2", "mean", TABLES),
    measure(
        "sensitivity: a part of a sweep decides",
        "sensitivity",
        "values.keys() == SWEEPS[sweep].keys()",
        "values",
        TABLES,
    ),
    measure("a claim is decided on every task", "experiment", "if task in tasks] or", "if task in ()] or", TABLES),
    measure("uncertainty: labels without noise", "uncertainty", "truth(data) + noise *", "truth(data) + 0.0 *"),
    measure("uncertainty: a bandit that goes on", "uncertainty", "ended = torch.ones", "ended = torch.zeros"),
    measure("uncertainty: κ need not follow noise", "uncertainty", "else _side(kappa_noise)", "else 1"),
    column(
        "values in scaled rewards",
        "heads.double().cpu().numpy() / self.options.reward_scale",
        "heads.double().cpu().numpy()",
    ),
    column("σ of the population", "ddof=1", "ddof=0"),
    column("batch values in scaled rewards", "row[name] /= scale", "row[name] *= 1.0"),
)
