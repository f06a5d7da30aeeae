"""Robust solves beside the nominal one: time, ratio, true error, bound claimed; and beside an LP a row.

    python benchmarks/robust.py [--states 20000 100000] [--sets nominal "l1 0.1"] [--repeats 5] [--storm 20000]

The model is the random family: 5 actions, 10 successors, γ = 0.99. All rows run in one process, in turns, so that the
ratios share whatever else the machine does; times are medians of the wall clock, and medians and least values of the
CPU time of all threads.
Compilation is not timed: a small model is solved first. The true error is ‖v − v_ref‖∞ against Anderson-accelerated
value iteration solved to all the digits that float64 can certify, whose own bound stands beside it. The last table
takes the l1 ball on a small model, by value iteration with one linear program (SciPy's HiGHS) a pair. `--storm S` adds
Storm (extra `storm`) on the interval set.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse
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


def compare(states: int, tolerance: float, repeats: int, wanted: list[str], *, with_reference: bool) -> None:
    """Print the table of one size."""
    small = families.random_sparse(400, 5, 10, 0.99, seed=0)
    for functional in expectations(small).values():
        solve(RevOperator(small, expectation=functional), tolerance=tolerance)
    mdp = families.random_sparse(states, 5, 10, 0.99, seed=0)
    operators = {name: RevOperator(mdp, expectation=e) for name, e in expectations(mdp).items() if name in wanted}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in operators}
    found = {}
    for _ in range(repeats):
        for name, operator in operators.items():
            wall, cpu = time.perf_counter(), time.process_time()
            found[name] = solve(operator, tolerance=tolerance)
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    print(f"\n**random sparse: {states} states, 5 actions, 10 successors, γ = 0.99; tolerance {tolerance:g}**\n")
    print("| set | s | CPU s | least CPU s | times nominal | full backups | true error | bound claimed | reference's |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    nominal = min(cpu for _, cpu in times["nominal"])
    for name, solution in found.items():
        wall, cpu = (statistics.median(x) for x in zip(*times[name], strict=True))
        least = min(cpu for _, cpu in times[name])
        row = f"| {name} | {wall:.3f} | {cpu:.3f} | {least:.3f} | {least / nominal:.1f} | {solution.iterations} "
        error, known = "–", "–"
        if with_reference:
            reference = solve(operators[name], tolerance=0.0, method="anderson")
            error, known = f"{np.abs(solution.v - reference.v).max():.1e}", f"{reference.error_bound:.1e}"
        print(f"{row}| {error} | {solution.error_bound:.1e} | {known} |", flush=True)


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


def by_storm(states: int, tolerance: float) -> None:
    """The interval set of P ± 0.1 by Storm and by `solve`.

    A discount is a chance of 1 − γ to stop. Storm wants lower ends above 0, here 1e-9, and rewards of at least 0, so
    that all are raised by a constant. For interval models each of its methods is value iteration, which ends when an
    iterate changes by less than its precision: the tolerance, and the tolerance times 1 − γ, which would imply it.
    """
    import stormpy
    from stormpy.environments import Environment

    mdp = families.random_sparse(states, 5, 10, 0.99, seed=0)
    rows, stop = mdp.matrix, 1.0 - mdp.discount
    low = np.minimum(np.maximum(rows.data - 0.1, 1e-9), rows.data)
    high = np.minimum(rows.data + 0.1, 1.0)
    intervals = IntervalSet(*(sparse.csr_array((x, rows.indices, rows.indptr), shape=rows.shape) for x in (low, high)))
    raised = mdp.reward - mdp.reward.min()
    print(f"\n**intervals ±0.1, {states} states, 5 actions, 10 successors, γ = 0.99; tolerance {tolerance:g}**\n")
    print("| solver | CPU s | error |\n|---|---|---|")
    operator = RevOperator(mdp, expectation=intervals)
    reference = solve(operator, tolerance=0.0)
    started = time.process_time()
    solution = solve(operator, tolerance=tolerance)
    ours = time.process_time() - started
    print(f"| pyresac, certified | {ours:.3f} | {np.abs(solution.v - reference.v).max():.1e} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.drn"
        with path.open("w") as file:
            head = f"@nr_states\n{states + 1}\n@nr_choices\n{raised.size + 1}\n@model\n"
            file.write(f"@type: MDP\n@parameters\n\n@reward_models\nr\n{head}")
            lows, highs = (mdp.discount * low).tolist(), (mdp.discount * high).tolist()
            for pair, reward in enumerate(raised.ravel().tolist()):
                s, a = divmod(pair, mdp.n_actions)
                file.write(f"state {s} [0]{'' if s else ' init'}\n" if a == 0 else "")
                file.write(f"\taction {a} [{reward!r}]\n")
                for k in range(rows.indptr[pair], rows.indptr[pair + 1]):
                    file.write(f"\t\t{rows.indices[k]} : [{lows[k]!r}, {highs[k]!r}]\n")
                file.write(f"\t\t{states} : [{stop!r}, {stop!r}]\n")
            file.write(f"state {states} [0] stop\n\taction 0 [0]\n\t\t{states} : [1, 1]\n")
        model = stormpy.build_model_from_drn[stormpy.Interval](str(path))
    formula = stormpy.parse_properties('R{"r"}max=? [F "stop"]')[0]
    for precision in (tolerance, tolerance * stop):
        environment = Environment()
        options = environment.solver().min_max()
        options.precision, options.relative_termination_criterion = stormpy.Rational(precision), False
        started = time.process_time()
        found = stormpy.model_checking(
            model,
            formula,
            uncertainty_resolution_mode=stormpy.UncertaintyResolutionMode.ROBUST,
            environment=environment,
        )
        seconds = time.process_time() - started
        v = np.array([found.get_value(s) for s in range(states)]) + mdp.reward.min() / stop
        error = np.abs(v - reference.v).max()
        print(f"| Storm {stormpy.__version__}, precision {precision:g} | {seconds:.2f} | {error:.1e} |", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, nargs="+", default=[20_000])
    parser.add_argument("--sets", nargs="+", default=list(expectations(families.chain(2, 0.9))))
    parser.add_argument("--no-reference", action="store_true", help="leave the true errors out")
    parser.add_argument("--storm", type=int, help="states of the model that Storm gets, too")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{sys.platform}, Python {sys.version.split()[0]}, NumPy {np.__version__}")
    for states in options.states:
        compare(states, options.tolerance, options.repeats, options.sets, with_reference=not options.no_reference)
    if options.storm:
        by_storm(options.storm, options.tolerance)
    by_linear_programs(options.tolerance)


if __name__ == "__main__":
    main()
