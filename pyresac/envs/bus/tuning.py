"""Direct policy search: the numbers of a rule by CMA-ES on the compiled simulator (extra `tune`).

Every candidate plays the same days (common random numbers), drawn once. N. Hansen and A. Ostermeier, Completely
derandomized self-adaptation in evolution strategies, Evolutionary Computation 9 (2001) 159–195, as the package `cma`
has it. A family says where a search begins and how large a first step is; a search of another rule is another family.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyresac.envs.bus.controllers import (
    ForwardHeadway,
    PredictionBased,
    Rule,
    ScheduleHolding,
    SelfEqualising,
    SimpleRobust,
    SkippingRule,
    TargetHeadway,
    TwoWayLooking,
)
from pyresac.envs.bus.corridor import Array, Corridor
from pyresac.envs.bus.full_observation import COUNT, NAMES, SCALES
from pyresac.envs.bus.objectives import Objective
from pyresac.envs.bus.parametric import UNIT, LinearRule, NetworkRule
from pyresac.envs.bus.simulator import Simulator
from pyresac.errors import InputError

UNITS = 6
"""Hidden units of a network."""


@dataclass(frozen=True)
class Family:
    """Rules with n numbers: `make` of a point (n,); the search begins at `start` with steps of `scale`, inside the
    bounds."""

    make: Callable[[Array], Rule]
    start: Array
    scale: Array
    low: Array
    high: Array


def _bounded(rule: Callable[..., Rule], *numbers: tuple[float, float, float, float]) -> Family:
    """A family of a classical rule; (start, scale, low, high) of each parameter."""
    start, scale, low, high = np.array(numbers).T
    return Family(lambda point: rule(*map(float, point)), start, scale, low, high)


def _free(make: Callable[[Array], Rule], start: Array, scale: Array) -> Family:
    endless = np.full(len(start), math.inf)
    return Family(make, start, scale, -endless, endless)


def linear_family() -> Family:
    """Begins at the schedule rule with a slack of 30 s and half of the foretold delay."""
    start = np.zeros(COUNT + 1)
    start[0] = 0.0
    for name, weight in (("lateness", -1.0), ("link_delay", -0.5), ("stops_behind", 30.0)):
        start[1 + NAMES.index(name)] = weight
    # ten seconds for a typical deviation of each
    scale = 10.0 / np.concatenate([[1.0], SCALES])
    return _free(lambda point: LinearRule(float(point[0]), tuple(map(float, point[1:]))), start, scale)


def network_family() -> Family:
    """Begins at the same rule, in the first unit; the others are small and unlike each other."""
    numbers = np.zeros(1 + UNITS * UNIT)
    units = numbers[1:].reshape(UNITS, UNIT)
    units[:, 1:] = 0.3 * np.random.default_rng(0).standard_normal((UNITS, UNIT - 1))
    reach = 120.0
    units[0, 0], units[0, 1:] = reach, 0.0
    units[0, 2:] = linear_family().start[1:] * SCALES / reach
    scale = np.full(numbers.size, 0.1)
    scale[0], scale[1::UNIT] = 10.0, 10.0
    return _free(lambda point: NetworkRule(tuple(map(float, point))), numbers, scale)


FAMILIES: dict[str, Callable[[], Family]] = {
    "linear": linear_family,
    "network": network_family,
    "schedule": lambda: _bounded(ScheduleHolding, (30.0, 10.0, 0.0, 200.0), (1.0, 0.3, 0.0, 2.0), (0.5, 0.2, 0.0, 1.0)),
    "robust": lambda: _bounded(SimpleRobust, (20.0, 10.0, 0.0, 200.0), (0.3, 0.2, 0.0, 1.0)),
    "target": lambda: _bounded(TargetHeadway, (20.0, 10.0, -200.0, 200.0), (0.8, 0.3, 0.0, 3.0)),
    "self": lambda: _bounded(SelfEqualising, (0.1, 0.05, 0.0, 1.0)),
    "predictive": lambda: _bounded(PredictionBased, (0.9, 0.1, 0.0, 1.0)),
    "two-way": lambda: _bounded(TwoWayLooking, (10.0, 10.0, -200.0, 200.0), (0.5, 0.2, 0.0, 2.0), (0.3, 0.2, 0.0, 2.0)),
    "skip": lambda: _bounded(SkippingRule, (1.0, 0.3, 0.0, 2.0), (120.0, 30.0, 0.0, 3600.0)),
    "forward": lambda: _bounded(ForwardHeadway, (20.0, 10.0, 0.0, 200.0), (0.5, 0.2, 0.0, 1.0)),
}


class Panel:
    """The same days for every candidate, played on several threads; the simulator lets go of the interpreter's lock."""

    def __init__(self, corridor: Corridor, seeds: Sequence[int], objective: Objective, published: bool, workers: int):
        self.objective = objective
        shares = [list(seeds[worker::workers]) for worker in range(min(workers, len(seeds)))]
        self._simulators = []
        for share in shares:
            simulator = Simulator(corridor, len(share), published)
            simulator.start(share)
            self._simulators.append(simulator)
        self.days = len(seeds)
        self._pool = ThreadPoolExecutor(len(shares))

    def value(self, rule: Rule) -> float:
        """Mean objective over the days; summed exactly, so that it does not depend on the number of threads."""
        shares = self._pool.map(lambda simulator: self._play(simulator, rule), self._simulators)
        return math.fsum(value for share in shares for value in share) / self.days

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _play(self, simulator: Simulator, rule: Rule) -> list[float]:
        simulator.rewind()
        simulator.run(rule)
        return [self.objective(simulator.record(row)) for row in range(simulator.days)]


@dataclass(frozen=True)
class Search:
    """How long to search, on which days."""

    family: str = "linear"
    generations: int = 60
    population: int = 12
    days: int = 8
    """Days that every candidate plays."""
    check_days: int = 16
    """Days, other ones, on which the best candidates are compared with the start of the search at its end."""
    first_seed: int = 1_000_000
    """Seed of the first of these days."""
    seed: int = 0
    """Seed of the search's own draws."""
    workers: int = 2
    """Threads. The result does not depend on them."""

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise InputError(f"family {self.family!r} is unknown; expected one of {sorted(FAMILIES)}")
        for name, least, most in (
            ("generations", 1, 100_000),
            ("population", 4, 1000),
            ("days", 1, 1000),
            ("check_days", 2, 1000),
            ("first_seed", 0, 2**62),
            ("seed", 0, 2**31),
            ("workers", 1, 64),
        ):
            if not least <= getattr(self, name) <= most:
                raise InputError(f"{name} is {getattr(self, name)}; it must be in [{least}, {most}]")


@dataclass(frozen=True)
class Found:
    """What a search found: the rule, the mean objective on the check days of the start and of the rule."""

    rule: Rule
    start: float
    value: float
    generations: int
    """Generations made: fewer where the search converged."""
    seconds: float
    history: tuple[float, ...]
    """The best value on the search's days, a generation each."""


def tune(
    corridor: Corridor,
    objective: Objective,
    search: Search,
    published: bool = False,
    progress: Callable[[int, float], None] | None = None,
) -> Found:
    """Search; `progress(generation, best value)` after each generation. KeyboardInterrupt ends it at what it has."""
    try:
        import cma
    except ImportError as error:
        raise InputError("tune needs the package cma: pip install 'pyresac[tune]'") from error
    began = time.perf_counter()
    family = FAMILIES[search.family]()
    seeds = range(search.first_seed, search.first_seed + search.days)
    checks = range(seeds.stop, seeds.stop + search.check_days)

    def rule_at(point: Any) -> Rule:
        return family.make(np.clip(family.start + family.scale * np.asarray(point), family.low, family.high))

    low, high = (family.low - family.start) / family.scale, (family.high - family.start) / family.scale
    options = {
        "seed": search.seed + 1,
        "popsize": search.population,
        "verbose": -9,
        "bounds": [low.tolist(), high.tolist()] if np.isfinite(low).any() else [None, None],
    }
    strategy = cma.CMAEvolutionStrategy(np.zeros(len(family.start)), 1.0, options)
    history: list[float] = []
    panel = Panel(corridor, seeds, objective, published, search.workers)
    try:
        while len(history) < search.generations and not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, [-panel.value(rule_at(point)) for point in points])
            history.append(-float(strategy.best.f))
            if progress is not None:
                progress(len(history), history[-1])
    except KeyboardInterrupt:
        if not history:
            raise
    finally:
        panel.close()
    panel = Panel(corridor, checks, objective, published, search.workers)
    start, *finalists = [rule_at(point) for point in (np.zeros(len(low)), strategy.mean, strategy.best.x)]
    try:
        values = {rule: panel.value(rule) for rule in (start, *finalists)}
    finally:
        panel.close()
    rule = max(values, key=lambda found: values[found])
    return Found(rule, values[start], values[rule], len(history), time.perf_counter() - began, tuple(history))
