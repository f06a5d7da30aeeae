"""The corridor's kernels as plain Python, which refuses an index beyond an array.

Compiled code checks no index: a loop over another axis reads what happens to stand beyond, writes over what is not its
own, and neither needs to show in a result.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from short_turns import corridor as line_of_short_turns

from pyresac.envs.bus import Corridor, Operations, save_corridor

DECISIONS = """
import json, sys
from itertools import product
import numpy as np
from pyresac.envs.bus import load_corridor
from pyresac.envs.bus.vector import VectorBusCorridor

line = load_corridor(sys.argv[1])
objectives = {
    "paper": "reward:neighbours=1", "full": "passengers:vehicle_hour=480,denied=5,followers=1", "published": "reward",
}
found = []
for (form, objective), days in product(objectives.items(), (1, 5)):
    env = VectorBusCorridor(days, line, form, form == "published", objective=objective)
    env.reset(seed=3)
    transitions = 0
    for _ in range(int(sys.argv[2])):
        infos = env.step(np.full((days, 1), 20.0))[4]
        transitions += len(infos["transitions"].reward)
    found.append(transitions)
print(json.dumps(found))
"""
RULES = """
import json, sys
import numpy as np
from pyresac.envs.bus import controller_named, load_corridor, simulate

line = load_corridor(sys.argv[1])
days = [simulate(line, controller_named(name), 3) for name in sys.argv[2:]]
print(json.dumps([int(np.isfinite(day.visits[..., 0]).sum()) for day in days]))
"""


def interpreted(script: str, *arguments: object) -> list[int]:
    """What a script prints where nothing is compiled."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[int] = json.loads(done.stdout)
    return found


def test_decisions_stay_within_their_arrays(small: Corridor, tmp_path: Path) -> None:
    """One day and five of them, in every form that is seen and for every reward: more rows than there are columns."""
    save_corridor(small, tmp_path / "line.json")
    assert min(interpreted(DECISIONS, tmp_path / "line.json", 30)) > 10


@pytest.mark.parametrize(
    "operations",
    [
        Operations(late_share=0.5, late_mean=240.0, open_doors=True, patience=600.0, berths=1),
        Operations(buses=3, layover=90.0, in_order=True, skipping=True),
    ],
)
def test_days_stay_within_their_arrays(operations: Operations, tmp_path: Path) -> None:
    """Short turns, so that most visits of the arrays are none of the timetable."""
    line = line_of_short_turns(operations=operations)
    save_corridor(line, tmp_path / "line.json")
    served = sum(int((last - first + 1).sum()) for first, last in (way.ends for way in line.directions))
    assert interpreted(RULES, tmp_path / "line.json", "predictive", "random") == [served, served]
