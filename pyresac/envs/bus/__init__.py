"""The bus corridor: one bidirectional line, its day, its control.

The value and its sources: `Corridor`, `default_corridor`, `load_corridor`, `save_corridor`, `published_corridor`,
`gtfs_corridor`. A day: `simulate`, `simulate_days`, `Simulator`, `Record`; `day_metrics`, `metrics_table`, `by_stop`,
`by_hour`. Control: `controllers`; the environments are in `environment`, `vector` and `aec`, transitions for agents
in `episodes`.
"""

from pyresac.envs.bus.controllers import (
    CONTROLLERS,
    Controller,
    ForwardHeadway,
    HeadwayEqualising,
    NoHolding,
    PredictionBased,
    RandomHolding,
    ScheduleHolding,
    SelfEqualising,
    SimpleRobust,
    SkippingRule,
    TargetHeadway,
    TwoWayLooking,
)
from pyresac.envs.bus.corridor import Corridor, Direction
from pyresac.envs.bus.corridor_files import load_corridor, save_corridor
from pyresac.envs.bus.default import default_corridor, disturbed_corridor
from pyresac.envs.bus.gtfs import gtfs_corridor
from pyresac.envs.bus.metrics import METRICS, Metrics, by_hour, by_stop, day_metrics, metrics_table
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.observation import Observation
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.record import Record
from pyresac.envs.bus.simulator import Simulator, simulate, simulate_days
from pyresac.envs.bus.traffic import Traffic
from pyresac.envs.bus.vehicle import Vehicle
from pyresac.envs.bus.workbooks import published_corridor

__all__ = [
    "CONTROLLERS",
    "METRICS",
    "Controller",
    "Corridor",
    "Direction",
    "ForwardHeadway",
    "HeadwayEqualising",
    "Metrics",
    "NoHolding",
    "Observation",
    "Operations",
    "PredictionBased",
    "RandomHolding",
    "Record",
    "ScheduleHolding",
    "SelfEqualising",
    "SimpleRobust",
    "Simulator",
    "SkippingRule",
    "TargetHeadway",
    "Traffic",
    "TwoWayLooking",
    "Vehicle",
    "by_hour",
    "by_stop",
    "controller_named",
    "day_metrics",
    "default_corridor",
    "disturbed_corridor",
    "gtfs_corridor",
    "load_corridor",
    "metrics_table",
    "published_corridor",
    "save_corridor",
    "simulate",
    "simulate_days",
]
