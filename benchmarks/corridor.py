"""How fast a day of the corridor is: compiled, in a batch, in lockstep, through the Gymnasium and the vector step.

    python benchmarks/corridor.py [--json] [--corridor published-slow:FOLDER --published]

One thread. Each figure is the best of several repeats, of the CPU time of this process and of the wall clock; a day
includes drawing its speeds and passengers. Compilation is timed apart: a first day in a process of its own, with an
empty cache and with the one that this leaves.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pyresac.envs.bus import Corridor, HeadwayEqualising, Observation, Simulator
from pyresac.envs.bus.environment import BusCorridor
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.vector import VectorBusCorridor

REPEATS = 5
BATCH = 64
Times = tuple[float, float]
FIRST_DAY = (
    "import time; start = time.perf_counter();"
    "from pyresac.envs.bus import HeadwayEqualising, default_corridor, simulate;"
    "simulate(default_corridor(), HeadwayEqualising(), 0); print(time.perf_counter() - start)"
)


class Equalise:
    """The headway rule in NumPy, as a vectorised policy would act."""

    batched = True

    def __call__(self, observation: Observation) -> Any:
        return np.clip(
            (observation.backward_headway - observation.forward_headway) / 2.0, 0.0, observation.holding_limit
        )


def best(work: Callable[[], object]) -> Times:
    """Least CPU and wall seconds over REPEATS calls, after one that is not timed."""
    work()
    found = []
    for _ in range(REPEATS):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        found.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in found), min(wall for _, wall in found)


def day(corridor: Corridor, published: bool, days: int, controller: Any) -> Times:
    """Seconds a day."""
    simulator = Simulator(corridor, days, published)

    def work() -> None:
        simulator.start(list(range(days)))
        simulator.run(controller)

    cpu, wall = best(work)
    return cpu / days, wall / days


def steps(env: Any, count: int, decisions: int) -> Times:
    """Seconds a decision of `count` calls of step with `decisions` each."""
    env.reset(seed=0)
    action = np.full(env.action_space.shape, 20.0, dtype=np.float32)

    def work() -> None:
        for _ in range(count):
            env.step(action)

    cpu, wall = best(work)
    return cpu / (count * decisions), wall / (count * decisions)


def first_days() -> list[float]:
    """Seconds to the end of a first day, imports included: with an empty cache of compiled code, and again."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", FIRST_DAY]
        runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    return [float(run.stdout) for run in runs]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corridor", default="default", help="as for python -m pyresac.corridor")
    parser.add_argument("--published", action="store_true", help="keep the published program's accidents")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    corridor, published = corridor_named(options.corridor), options.published
    rule = HeadwayEqualising()
    a_day = {
        "one day, compiled rule": day(corridor, published, 1, rule),
        f"{BATCH} days, compiled rule": day(corridor, published, BATCH, rule),
        f"{BATCH} days in lockstep, NumPy policy": day(corridor, published, BATCH, Equalise()),
    }
    a_decision = {"Gymnasium step": steps(BusCorridor(corridor, published=published), 800, 1)}
    for count in (1, 16, 64, 256):
        env = VectorBusCorridor(count, corridor, published=published)
        a_decision[f"vector step, {count} days"] = steps(env, 12_800 // max(count, 16), count)
    cold, warm = first_days()
    if options.json:
        print(
            json.dumps(
                {"s_a_day": a_day, "s_a_decision": a_decision, "first_day_s": {"cold": cold, "cached": warm}}, indent=1
            )
        )
        return
    print(f"{corridor.name}, published={published}\n{'':42}{'CPU':>10}{'wall':>10}")
    for name, (cpu, wall) in a_day.items():
        print(f"{name + ', ms a day':42}{1e3 * cpu:10.1f}{1e3 * wall:10.1f}")
    for name, (cpu, wall) in a_decision.items():
        print(f"{name + ', decisions/s':42}{1 / cpu:10,.0f}{1 / wall:10,.0f}")
    print(
        f"{'first day, nothing compiled yet, s':42}{cold:20.1f}\n{'first day, compiled code cached, s':42}{warm:20.1f}"
    )


if __name__ == "__main__":
    main()
