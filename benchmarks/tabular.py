"""Solve four families of MDPs with pyresac, QuantEcon and mdpsolver: time, memory, true error, bound claimed.

    pip install -e '.[bench]' && python benchmarks/tabular.py

Each row runs in a process of its own. Building the model in the form that each solver takes is not timed, and neither
is compilation: a small problem of the same form is solved first. Times are medians, of the wall clock and of the CPU
time of all threads (the steadier of the two where other programs run). Memory is what the process grew by
during the first solve, at its peak (Linux only). The true error is ‖v − v_ref‖∞ against a reference solved to all the
digits that float64 can certify; the bound of that reference stands beside each family. The tolerance is the same for
all: v to within it. QuantEcon promises v within ε/2, so it is given twice the tolerance.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyresac.tabular import families
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import solve

Floats = NDArray[np.float64]
Solve = Callable[[], tuple[Floats, float | None, str]]
"""Returns v, the bound claimed (None where the solver claims none in numbers), and a remark."""

FAMILIES: dict[str, tuple[str, Callable[[bool], FiniteMDP]]] = {
    "random": (
        "random sparse: 1e5 states, 5 actions, 10 successors, γ = 0.99",
        lambda small: families.random_sparse(500 if small else 100_000, 5, 10, 0.99, seed=0),
    ),
    "grid300": ("grid 300 × 300 with slip 0.2, γ = 0.999", lambda small: families.grid(10 if small else 300, 0.999)),
    "grid1000": (
        "grid 1000 × 1000 with slip 0.2, γ = 0.999",
        lambda small: families.grid(10 if small else 1000, 0.999),
    ),
    "queue": (
        "queue: 1e6 states, 2 actions, γ = 0.9999",
        lambda small: families.queue(499 if small else 999_999, 0.9999),
    ),
}
PEERS: dict[str, list[str]] = {
    "random": ["quantecon-mpi", "mdpsolver-standard", "mdpsolver-standard-parallel"],
    "grid300": ["quantecon-mpi", "mdpsolver-gs"],
    "grid1000": ["quantecon-mpi"],
    "queue": ["quantecon-pi", "mdpsolver-gs"],
}
"""The best methods of each peer by family, as found by trying all at smaller sizes."""


def pyresac_solve(mdp: FiniteMDP, tolerance: float, method: str) -> Solve:
    """`solve` with the certificate."""
    operator = RevOperator(mdp)

    def run() -> tuple[Floats, float | None, str]:
        solution = solve(operator, tolerance=tolerance, method=method)
        return solution.v, solution.error_bound, solution.method

    return run


def quantecon_solve(mdp: FiniteMDP, tolerance: float, method: str) -> Solve:
    """DiscreteDP on state–action pairs with a sparse kernel."""
    from quantecon.markov import DiscreteDP

    n_states, n_actions = mdp.reward.shape
    pairs = np.repeat(np.arange(n_states), n_actions), np.tile(np.arange(n_actions), n_states)
    model = DiscreteDP(mdp.reward.ravel(), sparse.csr_matrix(mdp.matrix), mdp.discount, *pairs)

    def run() -> tuple[Floats, float | None, str]:
        result = model.solve(method=method, epsilon=2 * tolerance, max_iter=10**7)
        return result.v, tolerance, f"{result.num_iter} iterations"

    return run


def mdpsolver_solve(mdp: FiniteMDP, tolerance: float, update: str, *, parallel: bool) -> Solve:
    """Its modified policy iteration, 100 evaluation sweeps (its default), from nested lists.

    Its runs are not repeated: a second solve of the same model starts from the answer of the first.
    """
    import mdpsolver

    indptr, indices, data = (x.tolist() for x in mdp.csr())
    n_states, n_actions = mdp.reward.shape
    spans = [
        [(indptr[s * n_actions + a], indptr[s * n_actions + a + 1]) for a in range(n_actions)] for s in range(n_states)
    ]
    model = mdpsolver.model()
    model.mdp(
        discount=mdp.discount,
        rewards=mdp.reward.tolist(),
        tranMatProbs=[[data[i:j] for i, j in state] for state in spans],
        tranMatColumns=[[indices[i:j] for i, j in state] for state in spans],
    )

    def run() -> tuple[Floats, float | None, str]:
        model.solve(algorithm="mpi", tolerance=tolerance, update=update, parallel=parallel)
        return np.array(model.getValueVector()), None, ""

    return run


def solver_of(name: str, mdp: FiniteMDP, tolerance: float) -> Solve:
    """The named solver, ready to run on `mdp`."""
    package, _, method = name.partition("-")
    if package == "pyresac":
        return pyresac_solve(mdp, tolerance, method or "auto")
    if package == "quantecon":
        return quantecon_solve(mdp, tolerance, method)
    update, _, parallel = method.partition("-")
    return mdpsolver_solve(mdp, tolerance, update, parallel=bool(parallel))


def memory(field: str) -> float:
    """VmRSS or VmHWM of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}")


def measure(family: str, name: str, tolerance: float, repeats: int, values: Path) -> dict[str, Any]:
    """Run one row in this process; v is saved to `values`."""
    build = FAMILIES[family][1]
    solver_of(name, build(True), tolerance)()
    mdp = build(False)
    run = solver_of(name, mdp, tolerance)
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    seconds: list[float] = []
    cpu: list[float] = []
    grown = 0.0
    repeats = 1 if name.startswith("mdpsolver") else repeats
    while len(seconds) < repeats and (not seconds or sum(seconds) < 20):
        started = time.perf_counter(), time.process_time()
        v, bound, remark = run()
        seconds.append(time.perf_counter() - started[0])
        cpu.append(time.process_time() - started[1])
        grown = grown or memory("VmHWM") - before
    np.save(values, v)
    matrix = mdp.matrix
    size = (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) / 2**20
    medians = {"seconds": statistics.median(seconds), "cpu": statistics.median(cpu), "runs": len(seconds)}
    return {**medians, "mb": grown, "bound": bound, "remark": remark, "csr_mb": size}


def row(family: str, name: str, options: argparse.Namespace, values: Path, tolerance: float) -> dict[str, Any] | None:
    """One row from a process of its own, or None where it took longer than the limit."""
    command = [sys.executable, __file__, "--worker", family, name, str(values), "--tolerance", str(tolerance)]
    command += ["--repeats", str(options.repeats)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{family}, {name}: {error.stderr[-2000:]}") from error
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare(family: str, options: argparse.Namespace, folder: Path) -> None:
    """Print the rows of one family."""
    truth = folder / f"{family}.npy"
    reference = row(family, "pyresac", argparse.Namespace(limit=None, repeats=1), truth, 0.0)
    assert reference is not None
    v_ref = np.load(truth)
    print(f"\n**{FAMILIES[family][0]}** (CSR {reference['csr_mb']:.0f} MB; reference certified to", end=" ")
    print(f"{reference['bound']:.1e})\n\n| solver | s | CPU s | runs | peak MB | true error | bound claimed | |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in ["pyresac", *PEERS[family]]:
        values = folder / "row.npy"
        found = row(family, name, options, values, options.tolerance)
        if found is None:
            print(f"| {name} | over {options.limit:.0f} | | | | | | stopped, model building included |", flush=True)
            continue
        error = float(np.abs(np.load(values) - v_ref).max())
        bound = "none" if found["bound"] is None else f"{found['bound']:.1e}"
        times = [f"{found['seconds']:.3f}", f"{found['cpu']:.3f}", str(found["runs"])]
        cells = [*times, f"{found['mb']:.0f}", f"{error:.1e}", bound]
        print(f"| {name} | {' | '.join(cells)} | {found['remark']} |", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--repeats", type=int, default=7, help="runs of a row, fewer once they took 20 seconds")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which a peer is stopped")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        family, name, values = options.worker
        print(json.dumps(measure(family, name, options.tolerance, options.repeats, Path(values))))
        return
    print(f"tolerance {options.tolerance:g}; {sys.platform}, Python {sys.version.split()[0]}, NumPy {np.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        for family in options.families:
            compare(family, options, Path(folder))


if __name__ == "__main__":
    main()
