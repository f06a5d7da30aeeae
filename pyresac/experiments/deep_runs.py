"""The runs that several experiments share: the eight algorithms and RE-SAC's variants at the paper's rhythm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyresac.errors import InputError
from pyresac.experiments.experiment import Run, Scale
from pyresac.training.restored import Restored, restore_run

ALGORITHMS: Mapping[str, Mapping[str, Any]] = {
    "SAC": {"preset": "published-sac"},
    "TD3": {"preset": "published-td3"},
    "DSAC": {"preset": "published-dsac"},
    "BAC": {"preset": "published-bac"},
    "REDQ": {"preset": "published-redq"},
    "SAC-N": {"preset": "published-sac-n"},
    "TQC": {"preset": "published-tqc"},
    "RE-SAC v1": {"preset": "resac-v1"},
    "RE-SAC B0": {"preset": "resac-b0"},
}
"""As the published program computes them, 250 updates for 4,000 steps."""
SEEDS = (8, 16, 24)
"""The paper's."""
TASKS: Mapping[Scale, tuple[str, ...]] = {
    "smoke": ("Hopper-v5",),
    "cpu": ("Hopper-v5", "HalfCheetah-v5"),
    "paper": ("Hopper-v5", "HalfCheetah-v5", "Walker2d-v5", "Ant-v5"),
}
STEPS: Mapping[Scale, int] = {"smoke": 12_000, "cpu": 200_000, "paper": 8_000_000}


def stationary_runs(scale: Scale, labels: Iterable[str] = ALGORITHMS) -> list[Run]:
    """Every algorithm on every task with every seed; at the scale `smoke` one seed."""
    steps = STEPS[scale]
    every = {"smoke": 4_000, "cpu": 10_000, "paper": 40_000}[scale]
    return [
        Run(
            f"{label.lower().replace(' ', '-')}-{task}-seed{seed}",
            {
                **ALGORITHMS[label],
                "env": task,
                "seed": seed,
                "steps": steps,
                "eval_every": every,
                "checkpoint_every": every,
                "keep_checkpoints": 1,
                "buffer_size": min(1_000_000, steps),
                "tensorboard": False,
                # its schedule of β_lcb and the rest are shares of the whole
                **({"beta_steps": steps} if label.startswith("RE-SAC") else {}),
            },
        )
        for task in TASKS[scale]
        for label in labels
        for seed in (SEEDS[:1] if scale == "smoke" else SEEDS)
    ]


def label_of(run: Run) -> str:
    """The algorithm of a run of `stationary_runs`."""
    return next(label for label, own in ALGORITHMS.items() if own["preset"] == run.options["preset"])


def restored(folder: Path, run: Run) -> Restored | None:
    """A finished run, or None for one that failed or is not finished."""
    if not (folder / run.name / "result.json").is_file():
        return None
    try:
        return restore_run(folder / run.name)
    except InputError:
        return None
