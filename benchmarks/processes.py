"""What a sweep over a shared model costs, and what the exchange after it does.

    python benchmarks/processes.py DIR --make 1000000
    mpirun -n 2 python benchmarks/processes.py DIR [--set l1:0.1] [--sweeps 12]

`--make S` writes the random family (5 actions, 10 successors, γ = 0.99) with S states into DIR. Printed are the CPU
seconds of a sweep over the own rows, all threads, and the seconds of the exchange after it: the least over the sweeps,
since on a busy machine the rest is waiting, and the largest over the processes. The first sweep, which compiles and
touches memory for the first time, is not counted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from pyresac.solve import SETS, named
from pyresac.tabular import RevOperator, families
from pyresac.tabular.shares import MpiProcesses, Share, SharedModel
from pyresac.tabular.solvers.api import model_of
from pyresac.tabular.solvers.value_iteration import take_image


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", type=int)
    parser.add_argument("--set")
    parser.add_argument("--sweeps", type=int, default=12)
    options = parser.parse_args()
    if options.make:
        families.random_sparse(options.make, 5, 10, 0.99, seed=0).save_folder(options.folder)
        return
    processes = MpiProcesses()
    started = time.perf_counter()
    share = Share.load(options.folder, processes)
    loading = time.perf_counter() - started
    expectation = None
    if options.set:
        name, size = named(options.set, "set", list(SETS))
        expectation = SETS[name](share, size, False)
    seconds = []
    with model_of(RevOperator(share, expectation=expectation)) as model:
        assert isinstance(model, SharedModel)
        v = model.start(None)
        for _ in range(options.sweeps + 1):
            before = model.sweeping, model.gathering
            model.sweep(v)
            v = take_image(model, v, 0.0)
            seconds.append((model.sweeping - before[0], model.gathering - before[1]))
    sweep, exchange = (min(part) for part in zip(*seconds[1:], strict=True))
    worst = processes.largest(np.array([loading, sweep, exchange]))
    if processes.rank == 0:
        print(
            f"{share.cuts[-1]} states, {processes.size} processes, {options.set or 'nominal'}: reading and checking ",
            end="",
        )
        print(f"{worst[0]:.2f} s; a sweep {worst[1]:.4f} CPU s, the exchange {worst[2]:.4f} s")


if __name__ == "__main__":
    main()
