"""Steps a CPU second of each algorithm on Hopper-v5, beside the same algorithm of other libraries.

    pip install -e '.[bench]' && python benchmarks/family.py [--algorithms sac td3] [--turns 15] [--steps 60]

Every program makes one update a step on batches of 256 with networks of 256 × 256 (TD3's actor moves every second
update), the environment included, on one thread. They take turns in one process, and what counts is CPU time, so that
what else the machine does weighs on all alike. Turns begin after 1,200 steps of each (`--begin`), as a training goes on
for hundreds of times as long: by then Adam's mean has become a subnormal number where a unit no longer fires, and
processors are slow with these. A row is the median over turns; a ratio is the median of the ratios turn by turn. Peers:
Stable-Baselines3 and sb3-contrib (PyTorch), SBX (JAX). The first line of the output names the kernels that our products
run on: where OPENBLAS_CORETYPE is set they can be half as fast as the processor allows.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import torch

from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.networks.compiled_passes import single_threaded_libraries
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.training.deep_trainee import DeepTrainee
from pyresac.training.run_options import RunOptions
from pyresac.training.versions import kernels_of_products

ENV = "Hopper-v5"
Work = Callable[[int], object]
COMMON: Mapping[str, Any] = {"buffer_size": 100_000, "random_steps": 0, "learning_starts": 0, "batch_size": 256}
PEER: Mapping[str, Any] = {"learning_starts": 0, "buffer_size": 100_000, "batch_size": 256, "seed": 0}


def ours(name: str, **options: Any) -> Work:
    """One of our algorithms."""
    kind = algorithm_type(name)
    known = {field.name for field in fields(kind.options_type)}
    settings = {key: value for key, value in {**COMMON, "updates": 1, **options}.items() if key in known}
    algorithm = kind(kind.options_type(**settings))
    trainee = DeepTrainee(BoxTask(ENV, {}, 1, 0), algorithm, RunOptions(), torch.device("cpu"))
    return trainee.advance


def torch_peer(library: str, name: str, **options: Any) -> Work:
    """Of Stable-Baselines3 or sb3-contrib."""
    model = getattr(__import__(library), name)("MlpPolicy", ENV, device="cpu", **{**PEER, **options})
    return lambda steps: model.learn(steps, reset_num_timesteps=False)


def sb3(name: str, **options: Any) -> Work:
    """Of Stable-Baselines3, with the widths that all have here."""
    return torch_peer("stable_baselines3", name, **{"policy_kwargs": {"net_arch": [256, 256]}, **options})


def contrib(name: str, **options: Any) -> Work:
    """Of sb3-contrib."""
    return torch_peer("sb3_contrib", name, **options)


def sbx(name: str, **options: Any) -> Work:
    """Of SBX."""
    model = getattr(__import__("sbx"), name)("MlpPolicy", ENV, **{**PEER, **options})
    return lambda steps: model.learn(steps, reset_num_timesteps=False)


NARROW = {"policy_kwargs": {"net_arch": [256, 256]}}
TWO_BY_25 = {"policy_kwargs": {"n_critics": 2, "n_quantiles": 25}}
ROWS: dict[str, dict[str, Callable[[], Work]]] = {
    "sac": {
        "pyresac": lambda: ours("sac"),
        "Stable-Baselines3": lambda: sb3("SAC"),
        "SBX": lambda: sbx("SAC"),
    },
    "sac, K = 10": {
        "pyresac": lambda: ours("sac", ensemble_size=10),
        "Stable-Baselines3": lambda: sb3("SAC", policy_kwargs={"net_arch": [256, 256], "n_critics": 10}),
        "SBX": lambda: sbx("SAC", policy_kwargs={"n_critics": 10}),
    },
    "td3": {
        "pyresac": lambda: ours("td3"),
        "Stable-Baselines3": lambda: sb3("TD3"),
        "SBX": lambda: sbx("TD3"),
    },
    "tqc, 2 × 25": {
        "pyresac": lambda: ours("tqc", ensemble_size=2, hidden=(256, 256)),
        "sb3-contrib": lambda: contrib("TQC", **TWO_BY_25),
        "SBX": lambda: sbx("TQC", **TWO_BY_25),
    },
    "crossq, width 256": {
        "pyresac": lambda: ours("sac", normalisation="batch", actor_every=3),
        "sb3-contrib": lambda: contrib("CrossQ", **NARROW),
        "SBX": lambda: sbx("CrossQ", **NARROW),
    },
    "resac, K = 2": {"pyresac": lambda: ours("resac", ensemble_size=2)},
    "sac and its options": {
        "pyresac": lambda: ours("sac"),
        "LayerNorm": lambda: ours("sac", normalisation="layer"),
        "CrossQ's form": lambda: ours("sac", normalisation="batch", actor_every=3),
        "normalised states": lambda: ours("sac", normalise_observations=True),
    },
}


def measure(works: Mapping[str, Work], steps: int, turns: int, begin: int) -> dict[str, list[float]]:
    """CPU seconds a step of each, turn by turn, after `begin` steps."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work(begin)
    for _ in range(turns):
        for name, work in works.items():
            start = time.process_time()
            work(steps)
            found[name].append((time.process_time() - start) / steps)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", nargs="*", default=list(ROWS), choices=list(ROWS), metavar="NAME")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--steps", type=int, default=60, help="steps of a turn")
    parser.add_argument("--begin", type=int, default=1200, help="steps of each program before its first turn")
    given = parser.parse_args()
    print(f"products: {kernels_of_products()}")
    print(f"{'Hopper-v5, one thread':30}{'program':20}{'steps/CPU s':>12}{'pyresac over it':>17}")
    with single_threaded_libraries():
        reference = ROWS["sac"]["pyresac"]()
        for row in given.algorithms:
            works = {name: make() for name, make in ROWS[row].items()}
            if len(works) == 1:
                works["pyresac, sac"] = reference
            found = measure(works, given.steps, given.turns, given.begin)
            for name, seconds in found.items():
                ratio = statistics.median(peer / own for peer, own in zip(seconds, found["pyresac"], strict=True))
                rate = 1.0 / statistics.median(seconds)
                print(f"{row:30}{name:20}{rate:12.1f}{'' if name == 'pyresac' else f'{ratio:.2f}':>17}", flush=True)


if __name__ == "__main__":
    main()
