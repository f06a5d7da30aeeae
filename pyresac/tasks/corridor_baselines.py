"""The classical holding rules on a corridor task's days, with which learned policies are compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.metrics import metrics_table
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.simulator import Simulator
from pyresac.tasks.corridor_task import BLOCK, EVALUATION_DAYS, CorridorTask

Values = Mapping[str, NDArray[np.float64]]
"""Metrics by name, each (episodes,)."""
SEARCHES: Mapping[str, tuple[str, ...]] = {
    "best-slack": tuple(f"target:slack={slack}" for slack in range(0, 61, 10)),
    "best-robust": tuple(f"robust:slack={slack},memory=0" for slack in range(10, 61, 5)),
    "best-schedule": tuple(f"schedule:slack={slack}" for slack in range(10, 61, 5)),
}
"""Rules whose one parameter is searched."""
BASELINES = ("none", "headway", "best-slack", "best-robust", "best-schedule", "linear")
"""What a learned policy is compared with; `linear` was found by a search on the default corridor."""
SEARCH_DAYS = 6
"""Days of that search; their seeds end just before those of evaluation."""


def rules_of(task: CorridorTask, names: tuple[str, ...], episodes: int, seed: int) -> dict[str, Values]:
    """Metrics of rules on the days that `CorridorTask.play` plays for `seed`."""
    found: dict[str, list[Values]] = {name: [] for name in names}
    for begin in range(0, episodes, BLOCK):
        days = min(BLOCK, episodes - begin)
        simulator = Simulator(task.corridor, days=days, published=task.published)
        for name in names:
            simulator.start([EVALUATION_DAYS + seed + begin + index for index in range(days)])
            simulator.run(controller_named(name))
            found[name].append(metrics_table([simulator.record(row) for row in range(days)]))
    return {
        name: {metric: np.concatenate([part[metric] for part in parts]) for metric in parts[0]}
        for name, parts in found.items()
    }


def searched(task: CorridorTask, name: str) -> str:
    """For a name of `SEARCHES`, its rule with the highest reward on days that neither training nor evaluation plays;
    any other name as it is."""
    if name not in SEARCHES:
        return name
    found = rules_of(task, SEARCHES[name], SEARCH_DAYS, -SEARCH_DAYS)
    return max(found, key=lambda rule: float(found[rule]["reward"].mean()))
