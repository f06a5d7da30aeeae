"""Robust solves beside the nominal one: time, ratio, true error, bound claimed; and beside an LP a row.

    python benchmarks/robust.py [--states 20000] [--repeats 5]

The model is the random family: 5 actions, 10 successors, γ = 0.99. All rows run in one process, in turns, so that the
ratios share whatever else the machine does; times are medians, of the wall clock and of the CPU time of all threads.
Compilation is not timed: a small model is solved first. The true error is ‖v − v_ref‖∞ against Anderson-accelerated
value iteration solved to all the digits that float64 can certify, whose own bound stands beside it. The last table
takes the l1 ball on a small model, by value iteration with one linear program (SciPy's HiGHS) a pair.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

import numpy as np
from scipy.optimize import linprog

from pyresac.tabular import (
    Chi2Ball,
    Contamination,
    CVaR,
    EntropicRisk,
    ExpectationFunctional,
    FiniteMDP,
    IntervalSet,
    KLBall,
    L1Ball,
    LInfinityBall,
    Nominal,
    RevOperator,
    families,
    solve,
)


def expectations(mdp: FiniteMDP) -> dict[str, ExpectationFunctional]:
    """What is measured on `mdp`."""
    return {
        "nominal": Nominal(),
        "l1 0.1": L1Ball(0.1),
        "interval 0.1": IntervalSet.around(mdp, 0.1),
        "L∞ 0.05": LInfinityBall(0.05),
        "contamination 0.1": Contamination(0.1),
        "entropic 1": EntropicRisk(1.0),
        "KL 0.1": KLBall(0.1),
        "χ² 0.1": Chi2Ball(0.1),
        "CVaR 0.5": CVaR(0.5),
    }


def compare(states: int, tolerance: float, repeats: int) -> None:
    """Print the table of one size."""
    small = families.random_sparse(400, 5, 10, 0.99, seed=0)
    for functional in expectations(small).values():
        solve(RevOperator(small, expectation=functional), tolerance=tolerance)
    mdp = families.random_sparse(states, 5, 10, 0.99, seed=0)
    operators = {name: RevOperator(mdp, expectation=e) for name, e in expectations(mdp).items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in operators}
    found = {}
    for _ in range(repeats):
        for name, operator in operators.items():
            wall, cpu = time.perf_counter(), time.process_time()
            found[name] = solve(operator, tolerance=tolerance)
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    print(f"\n**random sparse: {states} states, 5 actions, 10 successors, γ = 0.99; tolerance {tolerance:g}**\n")
    print("| set | s | CPU s | CPU, times nominal | full backups | true error | bound claimed | reference's |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    nominal = statistics.median(cpu for _, cpu in times["nominal"])
    for name, solution in found.items():
        wall, cpu = (statistics.median(x) for x in zip(*times[name], strict=True))
        reference = solve(operators[name], tolerance=0.0, method="anderson")
        error = np.abs(solution.v - reference.v).max()
        print(
            f"| {name} | {wall:.3f} | {cpu:.3f} | {cpu / nominal:.1f} | {solution.iterations} | {error:.1e} "
            f"| {solution.error_bound:.1e} | {reference.error_bound:.1e} |",
            flush=True,
        )


def by_linear_programs(tolerance: float) -> None:
    """The l1 ball on 20 states: value iteration with an LP a pair against `solve`."""
    mdp, radius = families.random_dense(20, 3, 0.9, seed=0), 0.1
    n, kernel = mdp.n_states, mdp.dense()
    eye, zero = np.eye(n), np.zeros((1, n))
    above = np.block([[eye, -eye], [-eye, -eye], [zero, np.ones((1, n))]])
    simplex = np.concatenate([np.ones(n), np.zeros(n)])[None, :]
    v, started, sweeps = np.zeros(n), time.process_time(), 0
    while True:
        e = np.empty(mdp.reward.shape)
        for s, a in np.ndindex(e.shape):
            p = kernel[s, a]
            limit = np.concatenate([p, -p, [radius]])
            e[s, a] = linprog(np.concatenate([v, np.zeros(n)]), above, limit, simplex, [1.0], method="highs").fun
        image = (mdp.reward + mdp.discount * e).max(axis=1)
        sweeps += 1
        gap, v = image - v, image
        if mdp.discount / (1 - mdp.discount) * (gap.max() - gap.min()) / 2 <= tolerance:
            v = v + mdp.discount / (1 - mdp.discount) * (gap.max() + gap.min()) / 2
            break
    seconds = time.process_time() - started
    operator = RevOperator(mdp, expectation=L1Ball(radius))
    solve(operator, tolerance=tolerance)  # compiles
    started = time.process_time()
    solution = solve(operator, tolerance=tolerance)
    ours = time.process_time() - started
    print(
        "\n**l1 ball of radius 0.1 on 20 dense states, 3 actions, γ = 0.9**\n\n"
        "| solver | CPU s | sweeps |\n|---|---|---|"
    )
    print(f"| HiGHS, one LP a pair | {seconds:.2f} | {sweeps} |")
    print(f"| pyresac, certified | {ours:.4f} | {solution.iterations} |")
    print(f"\nThe two values differ by {np.abs(solution.v - v).max():.1e}; HiGHS solves to 1e-7 by default.")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, nargs="+", default=[20_000])
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{sys.platform}, Python {sys.version.split()[0]}, NumPy {np.__version__}")
    for states in options.states:
        compare(states, options.tolerance, options.repeats)
    by_linear_programs(options.tolerance)


if __name__ == "__main__":
    main()
