"""What a plan costs before it starts: core-hours from measured rates, and disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from pyresac.experiments.experiment import Run
from pyresac.training.command_line import planned
from pyresac.training.deep_agent import DeepConfig, build, threads
from pyresac.training.deep_trainee import DeepTrainee

STEPS = 60
"""Steps and updates that are timed."""


@dataclass(frozen=True)
class Cost:
    """What a plan costs."""

    core_hours: float
    disk_bytes: int


def cost_of(runs: Sequence[Run]) -> Cost:
    """Estimate by timing a few steps and updates of each kind of run. Raises InputError for a run that cannot start."""
    rates: dict[str, tuple[float, float]] = {}
    seconds, disk = 0.0, 0
    for run in runs:
        _, config = planned(run.flags)
        kind = repr({name: value for name, value in run.options.items() if name not in ("seed", "steps")})
        if kind not in rates:
            rates[kind] = _rates(config)
        a_step, an_update = rates[kind]
        options = config.options
        updates = max(0, config.run.steps - options.learning_starts) / options.update_every * options.updates
        seconds += config.run.steps * a_step + updates * an_update
        disk += _checkpoint_bytes(config)
    return Cost(seconds / 3600.0, disk)


def _rates(config: DeepConfig) -> tuple[float, float]:
    """CPU seconds of an environment step with its action, and of an update, on the one thread that a run has."""
    with threads():
        return _timed(build(config), config)


def _timed(trainee: DeepTrainee, config: DeepConfig) -> tuple[float, float]:
    copies = trainee.task.copies

    def step() -> None:
        trainee.buffer.add(trainee.task.step(trainee.learner.explore(trainee.features(*trainee.task.observe()))))

    def update() -> None:
        trainee.learner.update(
            trainee.buffer.sample(config.options.batch_size, np.random.default_rng(0), torch.device("cpu"))
        )

    return _seconds(step) / copies, _seconds(update)


def _seconds(work: Any) -> float:
    for _ in range(STEPS // 4):
        work()
    start = time.process_time()
    for _ in range(STEPS):
        work()
    return (time.process_time() - start) / STEPS


def _checkpoint_bytes(config: DeepConfig) -> int:
    """Two checkpoints of a run, whose replay buffer is most of them."""
    trainee = build(config)
    rows = min(config.options.buffer_size, config.run.steps)
    return config.run.keep_checkpoints * 4 * trainee.buffer.widths.row * rows
