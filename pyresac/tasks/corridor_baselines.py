"""The classical holding rules on a corridor task's days, with which learned policies are compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus.metrics import metrics_table
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.objectives import HeadwayReward, Objective, PassengerTime
from pyresac.envs.bus.simulator import Simulator
from pyresac.tasks.corridor_task import BLOCK, EVALUATION_DAYS, CorridorTask

Values = Mapping[str, NDArray[np.float64]]
"""Metrics by name, each (episodes,)."""
SEARCHES: Mapping[str, tuple[str, ...]] = {
    "best-slack": tuple(f"target:slack={slack}" for slack in range(0, 61, 10)),
    "best-robust": tuple(f"robust:slack={slack},memory=0" for slack in range(10, 61, 5)),
    "best-schedule": tuple(f"schedule:slack={slack}" for slack in range(10, 61, 5)),
    "best-threshold": tuple(
        f"target:slack={slack},gain={gain}" for slack in (0, 2, 5, 10, 20) for gain in (0.1, 0.15, 0.2, 0.3, 0.5)
    ),
}
"""Rules whose one or two parameters are searched."""
BASELINES: Mapping[type[Objective], tuple[str, ...]] = {
    HeadwayReward: ("none", "headway", "best-slack", "best-robust", "best-schedule", "linear"),
    PassengerTime: ("none", "headway", "best-threshold", "best-schedule", "linear-passengers"),
}
"""What a learned policy is compared with, by its objective; the last of each was found by a search, `linear` on the
default corridor and `linear-passengers` on the disturbed one."""
SEARCH_DAYS = 6
"""Days of that search; their seeds end just before those of evaluation."""


def baselines(task: CorridorTask) -> tuple[str, ...]:
    """Names of the rules that a policy of this task is compared with."""
    return BASELINES[type(task.worth)]


def rules_of(task: CorridorTask, names: tuple[str, ...], episodes: int, seed: int) -> dict[str, Values]:
    """Metrics of rules on the days that `CorridorTask.play` plays for `seed`; "return" is the task's objective."""
    found: dict[str, list[Values]] = {name: [] for name in names}
    for begin in range(0, episodes, BLOCK):
        days = min(BLOCK, episodes - begin)
        simulator = Simulator(task.corridor, days=days, published=task.published)
        for name in names:
            simulator.start([EVALUATION_DAYS + seed + begin + index for index in range(days)])
            simulator.run(controller_named(name))
            records = [simulator.record(row) for row in range(days)]
            worth = np.array([task.worth(record) for record in records])
            found[name].append({"return": worth, **metrics_table(records)})
    return {
        name: {metric: np.concatenate([part[metric] for part in parts]) for metric in parts[0]}
        for name, parts in found.items()
    }


def searched(task: CorridorTask, name: str) -> str:
    """For a name of `SEARCHES`, its rule with the highest objective on days that neither training nor evaluation plays;
    any other name as it is."""
    if name not in SEARCHES:
        return name
    found = rules_of(task, SEARCHES[name], SEARCH_DAYS, -SEARCH_DAYS)
    return max(found, key=lambda rule: float(found[rule]["return"].mean()))
