"""A holding rule of your own, beside the classical ones on the same days: python examples/your_own_bus_controller.py"""

from __future__ import annotations

import numpy as np

from pyresac.envs.bus import HeadwayEqualising, NoHolding, Observation, default_corridor, metrics_table, simulate_days

DAYS = range(6)
corridor = default_corridor()


def patient(observation: Observation) -> float:
    """Hold half of what the bus is too close to its leader, but never a full one: it would wait for nobody."""
    if observation.load >= 0.9 * corridor.vehicle.capacity:
        return 0.0
    return float(np.clip((observation.headway - observation.forward_headway) / 2, 0.0, corridor.holding_limit))


print("controller       wait, min   travel, min   bunched")
tables = {}
for name, controller in (("none", NoHolding()), ("headway", HeadwayEqualising()), ("patient", patient)):
    tables[name] = metrics_table(simulate_days(corridor, controller, list(DAYS)))
    wait, travel, bunching = (tables[name][metric].mean() for metric in ("wait", "travel", "bunching"))
    print(f"{name:16}{wait:10.2f}{travel:14.2f}{bunching:10.1%}")
# the same days: compare by differences, day by day
gain = tables["headway"]["wait"] - tables["patient"]["wait"]
print(f"patient waits less than headway by {gain.mean():+.3f} ± {2 * gain.std(ddof=1) / np.sqrt(len(gain)):.3f} min")
