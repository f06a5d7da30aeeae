"""The report of a tabular run: the exact optimum of the environment beside what was learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import solve
from pyresac.tabular.tabular_learner import TabularLearner
from pyresac.tabular.values import PolicyMean
from pyresac.tasks.discrete import DiscreteEnv, PlayedEpisodes
from pyresac.training.mean_intervals import half_width


def result_of(env: DiscreteEnv, learner: TabularLearner, played: PlayedEpisodes) -> dict[str, Any]:
    """The numbers of the report, as JSON. The exact ones are None where the environment has no table `P`.

    "optimum" and "policy_value" are expectations over the start distribution, of the unpenalised problem at the
    learner's discount, each certified within its "_error".
    """
    lcb = learner.lower_confidence_bound()
    result: dict[str, Any] = {
        "steps": learner.step,
        "discount": learner.options.discount,
        "optimum": None,
        "optimum_error": None,
        "policy_value": None,
        "policy_value_error": None,
        "estimate": None,
        "episodes": len(played.returns),
        "measured_discounted": float(played.discounted.mean()),
        "measured_discounted_error": half_width(played.discounted),
        "measured_return": float(played.returns.mean()),
        "measured_return_error": half_width(played.returns),
        "measured_length": float(played.lengths.mean()),
        "measured_cut": played.cut,
    }
    if hasattr(env.unwrapped, "P"):
        result |= exact_values(FiniteMDP.from_gymnasium(env, learner.options.discount), learner.greedy_policy(), lcb)
    return result


def exact_values(mdp: FiniteMDP, policy: NDArray[np.int64], lcb: NDArray[np.float64]) -> dict[str, float]:
    """Optimum and value of the greedy policy (S,) from the start distribution, both solved on the model (S or S + 1).

    Where the model has one state more than the environment, for the end of episodes, every action does the same there.
    """
    start = mdp.initial
    assert start is not None
    chosen = np.zeros(mdp.n_states, dtype=np.int64)
    chosen[: len(policy)] = policy
    best = solve(RevOperator(mdp))
    own = solve(RevOperator(mdp, value=PolicyMean(np.eye(mdp.n_actions)[chosen])))
    estimate = np.zeros(mdp.n_states)
    estimate[: len(lcb)] = lcb.max(axis=1)
    return {
        "optimum": float(start @ best.v),
        "optimum_error": best.error_bound,
        "policy_value": float(start @ own.v),
        "policy_value_error": own.error_bound,
        "estimate": float(start @ estimate),
    }


def print_report(console: Console, env_name: str, result: Mapping[str, Any]) -> None:
    """Print the table."""
    table = Table(
        title=f"{env_name} after {result['steps']:,} steps", box=box.ROUNDED, title_style="bold", min_width=60
    )
    table.add_column("from the start distribution")
    table.add_column("value", justify="right")
    table.add_column("±", justify="right", style="dim")
    gamma = f"γ = {result['discount']:g}"
    if result["optimum"] is None:
        closing = "The environment has no transition table, so its optimum is not known."
    else:
        _add(table, f"exact optimum, {gamma}", result["optimum"], result["optimum_error"], style="bold green")
        _add(table, "learned greedy policy, exact", result["policy_value"], result["policy_value_error"], style="bold")
        table.add_row("learned estimate (penalties, entropy)", f"{result['estimate']:.4f}", "")
        slack = result["optimum_error"] + result["policy_value_error"]
        closing = verdict(result["optimum"], result["policy_value"], slack)
    episodes = f"measured in {result['episodes']:,} episodes"
    _add(table, f"{episodes}, {gamma}", result["measured_discounted"], result["measured_discounted_error"])
    _add(table, f"{episodes}, undiscounted", result["measured_return"], result["measured_return_error"])
    console.print(table)
    console.print("± is a guaranteed bound of exact values, the 95 % interval of measured ones.", style="dim")
    if result["measured_cut"]:
        cut = f"{result['measured_cut']:,} of {result['episodes']:,}"
        console.print(f"{cut} episodes hit a time limit, which the exact values do not have.", style="dim")
    console.print(closing, soft_wrap=True)


def verdict(optimum: float, policy_value: float, slack: float) -> str:
    """How far the learned policy is from the optimum, in words; `slack` is how far the two numbers may be off."""
    gap = optimum - policy_value
    if gap <= slack:
        return f"The learned policy is optimal, to within {slack:.1e}."
    share = f" ({gap / abs(optimum):.2%} of the optimum)" if optimum else ""
    return f"The learned policy is {gap:.4g} below the optimum{share}."


def _add(table: Table, name: str, value: float, error: float, style: str = "") -> None:
    table.add_row(name, f"{value:.4f}", f"{error:.1e}" if error < 1e-4 else f"{error:.4f}", style=style)
